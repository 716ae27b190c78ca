"""The state of a page, as one value that lives in the address bar: a link opens the same view again, in its language.

The language of a session is that of its address, else the one that was chosen, else its browser's. It is in the address
where it is not English or where the browser would rather have another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, replace
from dataclasses import field as dataclass_field
from typing import Any, ClassVar, Self, TypeVar
from urllib.parse import quote, urlencode

import streamlit as st

from headlight.language import LANGUAGES, ORIGINAL_LANGUAGE, ask_for_language, preferred
from transformer.trace import KINDS, Kind
from ui.state.streamlit_internals import in_session

V = TypeVar("V", bound="PageView")
LANGUAGE_PARAMETER = "lang"
_CHOSEN, _BROWSER, _IN_USE = "language", "browser-language", "language-said"
MAX_TEXT_CHARACTERS = 10_000  # that a link may carry


def whole_number(text: str | None, least: float, most: float) -> int | None:
    """Return a parameter of an address as a whole number, or None where it is none or out of range."""
    value = int(text) if text and re.fullmatch(r"-?[0-9]{1,9}", text) else None
    return value if value is not None and least <= value <= most else None


def number(text: str | None, least: float, most: float) -> float | None:
    """Return a parameter of an address as a number, or None where it is none or out of range."""
    value = float(text) if text and re.fullmatch(r"-?[0-9]{1,9}(\.[0-9]{1,9})?", text) else None
    return value if value is not None and least <= value <= most else None


# ---- fields of a view ----------------------------------------------------------------------------------------------


def parsed(default: Any, parse: Callable[[str], object]) -> Any:
    """Return a field: `parse` reads the parameter of its name, and returns None where it is invalid."""
    return dataclass_field(default=default, metadata={"parse": parse})


def choice(default: str | None, choices: Collection[str]) -> Any:
    return parsed(default, lambda text: text if text in choices else None)


def switch(default: bool = False) -> Any:
    return parsed(default, {"0": False, "1": True}.get)


def integer(least: int, most: int, default: int | None = None) -> Any:
    return parsed(default, lambda text: whole_number(text, least, most))


def typed_text(max_characters: int = MAX_TEXT_CHARACTERS) -> Any:
    """Return a field for what somebody typed, which may be empty; None where nothing was."""
    return parsed(None, lambda text: text[:max_characters])


def nonempty_text(max_characters: int = 200) -> Any:
    return parsed(None, lambda text: text[:max_characters] or None)


# ---- the view ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PageView:
    """The fields that all pages share; a page's own view adds its fields. `None` is the page's own choice."""

    OF_MODEL: ClassVar[frozenset[str]] = frozenset({"layer", "head"})  # fields that are reset for another model,
    OF_SENTENCE: ClassVar[frozenset[str]] = frozenset()  # and those that are reset for another sentence, too
    # Where one of these changes, what the page chose itself stays chosen.
    INPUT_FIELDS: ClassVar[frozenset[str]] = frozenset({"text", "target"})
    TRANSIENT: ClassVar[frozenset[str]] = frozenset()  # fields that are reset when another page is opened
    MISTAKES: ClassVar[tuple[str, ...]] = ()  # that `broken` can name: the page then runs the model with that mistake
    FORMER_KEYS: ClassVar[Mapping[str, str]] = {}  # keys in links of earlier versions, and the fields that they are now
    PAGE: ClassVar[str | None] = None  # the page's name in its address, under which a model may offer it examples

    model: str | None = nonempty_text()
    text: str | None = typed_text()
    target: str | None = typed_text()  # a translation that was typed; None is the model's own
    kind: Kind = choice("cross", KINDS)
    layer: int | None = integer(1, 9999)
    head: int | None = integer(1, 9999)

    @property
    def unchanged(self) -> bool:
        """Whether the model runs unchanged and writes its own translation, so that what its card says of it holds."""
        return self.target is None

    @property
    def alone(self) -> bool:
        """Whether the page is shown without the app's menus."""
        return False

    @property
    def shareable(self) -> bool:
        """Whether the page offers a link to this view."""
        return True

    def head_within(self, layers: int, heads: int, default: Callable[[], tuple[int, int]]) -> tuple[int, int]:
        """Return layer and head from 0: the view's where they exist, else those of `default`."""
        layer = self.layer if self.layer and self.layer <= layers else None
        head = self.head if self.head and self.head <= heads else None
        if layer and head:
            return layer - 1, head - 1
        default_layer, default_head = default()
        return layer - 1 if layer else default_layer, head - 1 if head else default_head

    def to_query(self) -> dict[str, str]:
        """Return the parameters that differ from the defaults, as the address has them."""
        values: dict[str, str] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value == field.default:
                continue
            if isinstance(value, tuple):
                values[field.name] = ",".join(map(str, value))
            elif isinstance(value, bool):
                values[field.name] = str(int(value))
            else:
                values[field.name] = str(value)
        return values

    def link(self, page: str, *fields: str, **parameters: object) -> str:
        """Return the address of another page with these `fields` of this view, and further `parameters`."""
        query = {name: value for name, value in self.to_query().items() if name in fields}
        return f"{page}?{urlencode(query | parameters, quote_via=quote)}"

    def shared_query(self) -> dict[str, str]:
        """Return the parameters that other pages take over."""
        return self.to_query()

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> Self:
        """Return the view that an address describes; invalid values are left at the default."""
        values = {
            field.name: field.metadata["parse"](query[field.name])
            for field in fields(cls)
            if "parse" in field.metadata and field.name in query
        }
        valid = {name: value for name, value in values.items() if value is not None}
        return cls(**valid | cls.parse_fields(query))

    @classmethod
    def parse_fields(cls, query: Mapping[str, str]) -> dict[str, Any]:
        """Return the fields that a page reads from the address itself, as far as one depends on another."""
        return {}


def open_view(page: type[V]) -> V:
    """Return the view of this session on a page.

    It is the address where that says something new (a link, Back), else what was last chosen, here or, of what all
    pages share, on another page. Two places hold it: the session, as the parameters of all pages, since Streamlit drops
    them from the address when a page is chosen in the menu; and the address, with those of this page. Whichever changed
    last is right: after a widget's callback that is the session, for the browser may have sent the address of the
    moment before.
    """
    st.session_state.setdefault("opened", set()).add(page)
    parameters = st.session_state.setdefault("parameters", {})
    query = {page.FORMER_KEYS.get(key, key): value for key, value in st.query_params.to_dict().items()}
    query.pop(LANGUAGE_PARAMETER, None)
    if st.session_state.get("page-class") is not page:
        st.session_state["page-class"] = page
        for name in page.TRANSIENT:
            parameters.pop(name, None)
    if query and query != st.session_state.get("address") and not st.session_state.get("touched"):
        page_fields = {field.name for field in fields(page)}
        for name in page_fields:
            parameters.pop(name, None)
        parameters |= {name: value for name, value in query.items() if name in page_fields}
        st.session_state["address"] = query
        reseed()
    st.session_state["view"] = view = page.from_query(parameters)
    st.session_state["settled"] = {}
    return view


def settle(**chosen: int) -> None:
    """Remember what the page chose where the view leaves it open, such as a head by what it does in the sentence.

    It becomes the view's when another sentence is read: a comparison of two would not be one if each were shown with a
    head of its own. Until then it is not in the address, which would get an entry that nobody asked for.
    """
    view: PageView = st.session_state["view"]
    unset = {name: value for name, value in chosen.items() if getattr(view, name) is None}
    st.session_state["settled"] = unset


def update(**changes: object) -> None:
    """Change the view of this session; the address follows when the page is drawn.

    With another model or sentence, every page drops what referred to the one before; what the page settled stays.
    """
    view: PageView = st.session_state["view"]
    if changes.keys() & view.INPUT_FIELDS and "model" not in changes:
        changes = st.session_state.get("settled", {}) | changes
    lost = _lost(changes)
    reset = {field.name: field.default for field in fields(view) if field.name in lost}
    if any(getattr(view, name) != value for name, value in reset.items()):
        reseed()
    st.session_state["touched"] = True
    st.session_state["view"] = view = replace(view, **reset | changes)  # type: ignore[arg-type]
    parameters, replaced = st.session_state["parameters"], lost | {field.name for field in fields(view)}
    st.session_state["parameters"] = {
        name: value for name, value in parameters.items() if name not in replaced
    } | view.shared_query()


def without_missing_head(view: V, layers: int, heads: int) -> V:
    """Return the view without a layer or head that the model doesn't have.

    The address then doesn't name it either.
    """
    lost = [name for name, maximum in (("layer", layers), ("head", heads)) if (getattr(view, name) or 0) > maximum]
    if lost:
        view = replace(view, **dict.fromkeys(lost))  # type: ignore[arg-type]
        st.session_state["view"] = view
        parameters: dict[str, str] = st.session_state["parameters"]
        st.session_state["parameters"] = {name: value for name, value in parameters.items() if name not in lost}
    return view


def _lost(changes: Mapping[str, object]) -> set[str]:
    """Return the fields that the changes reset, of every page that this session opened; other pages have no state."""
    opened = st.session_state["opened"]
    of_model = {name for page in opened for name in page.OF_MODEL} if "model" in changes else set()
    other_sentence = changes.keys() & {"model", "text"}
    of_sentence = {name for page in opened for name in page.OF_SENTENCE} if other_sentence else set()
    return of_model | of_sentence


def reseed() -> None:
    """Make every widget take its value from the view again, after something other than the widget changed it."""
    st.session_state["seeds"] = st.session_state.get("seeds", 0) + 1


def set_view(**changes: object) -> None:
    """Change the view as `update` does, and make every widget show it."""
    update(**changes)
    reseed()


def write_address() -> None:
    """Make the address bar say what is shown."""
    query = st.session_state["view"].to_query()
    address = query | address_parameters()
    if address != st.query_params.to_dict():
        st.query_params.from_dict(address)
    st.session_state["address"] = query
    st.session_state["touched"] = False


def widget_key(name: str) -> str:
    """Return the key of a widget that takes its first value from the view."""
    return f"{name}-{st.session_state.get('seeds', 0)}"


def bound(
    field: str, name: str = "", *, convert: Callable[[Any], object] | None = None, reseeds: bool = False, **also: object
) -> dict[str, Any]:
    """Return the arguments that bind a widget to a field of the view: its key, and a callback that updates the field.

    The key is made of `name`, where it is not the field's. `convert` turns the widget's value into the field's. The
    fields in `also` change with it, to a value or to what a function makes of the widget's value; where they have
    widgets of their own, `reseeds` makes these follow.
    """
    key = widget_key(name or field)

    def take() -> None:
        value = st.session_state[key]
        changes = {other: change(value) if callable(change) else change for other, change in also.items()}
        update(**changes | {field: convert(value) if convert else value})
        if reseeds:
            reseed()

    return {"key": key, "on_change": take}


def settle_language(browser: str | None) -> str:
    """Return the language of this session, in which everything is said from now on; `browser` is the browser's own."""
    in_address = st.query_params.get(LANGUAGE_PARAMETER)
    st.session_state[_BROWSER] = preferred(browser)
    if in_address in LANGUAGES:
        st.session_state[_CHOSEN] = in_address
    language = str(st.session_state.setdefault(_CHOSEN, st.session_state[_BROWSER]))
    say_in(language)
    return language


def say_in(language: str) -> None:
    """Say what follows in that language, also in the fragments of the page that is opened now."""
    st.session_state[_IN_USE] = language


def choose_language(language: object) -> None:
    """Make this the language of the session, if the app has it."""
    if language in LANGUAGES:
        st.session_state[_CHOSEN] = st.query_params[LANGUAGE_PARAMETER] = language


def address_parameters() -> dict[str, str]:
    """Return the part of the address that says the language."""
    language = st.session_state.get(_CHOSEN, ORIGINAL_LANGUAGE)
    preferred_language = st.session_state.get(_BROWSER, ORIGINAL_LANGUAGE)
    return {} if language == preferred_language == ORIGINAL_LANGUAGE else {LANGUAGE_PARAMETER: language}


def _of_session() -> str | None:
    return st.session_state.get(_IN_USE) if in_session() else None


ask_for_language(_of_session)
