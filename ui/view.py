"""What a page shows, as one value that lives in the address bar: a link opens the same view again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Literal, get_args

import streamlit as st

from transformer.config import ModelConfig
from transformer.taps import Ablate, Intervention, Scale, Site, Uniform
from transformer.trace import KINDS, Kind

Show = Literal["raw", "value", "mean", "max", "rollout", "difference"]
ScaleName = Literal["fixed", "row", "sqrt"]
LONGEST_TEXT = 10_000  # characters that a link may carry

_SITES = {"encoder": ("encoder", "self"), "decoder": ("decoder", "self"), "cross": ("decoder", "cross")}


@dataclass(frozen=True)
class Change:
    """A head that is changed, as an address spells it: cross.2.3 is off, ...u uniform, ...x0.5 scaled."""

    kind: str
    layer: int  # from 1
    head: int  # from 1
    action: str = "off"  # "off", "uniform" or "scale"
    factor: float = 0.5

    def tap(self) -> Intervention:
        stack, kind = _SITES[self.kind]
        site = Site(stack, self.layer - 1, kind)
        if self.action == "off":
            return Ablate(site, self.head - 1)
        if self.action == "uniform":
            return Uniform(site, self.head - 1)
        return Scale(site, self.head - 1, self.factor)

    def exists_in(self, config: ModelConfig) -> bool:
        """Whether a model has this head; an address may have been written for another."""
        stack = config.encoder if self.kind == "encoder" else config.decoder
        return 1 <= self.layer <= stack.n_layers and 1 <= self.head <= stack.n_heads

    def __str__(self) -> str:
        ending = {"off": "", "uniform": "u", "scale": f"x{self.factor:g}"}[self.action]
        return f"{self.kind}.{self.layer}.{self.head}{ending}"

    @classmethod
    def parse(cls, text: str) -> Change | None:
        found = re.fullmatch(r"(encoder|decoder|cross)\.(\d{1,3})\.(\d{1,3})(u|x(\d{1,2}(?:\.\d{1,3})?))?", text)
        if found is None:
            return None
        kind, layer, head, ending, factor = found.groups()
        action = "off" if not ending else "uniform" if ending == "u" else "scale"
        return cls(kind, int(layer), int(head), action, float(factor) if factor else 0.5)


@dataclass(frozen=True)
class View:
    """Everything that defines the Attention page. `None` is the page's own choice."""

    model: str | None = None
    text: str | None = None
    target: str | None = None  # a translation that was typed; None is the model's own
    kind: Kind = "cross"
    layer: int | None = None  # from 1
    head: int | None = None  # from 1
    show: str = "raw"
    scale: str = "fixed"
    words: bool = False
    hide: bool = False
    lines: tuple[int, ...] = ()  # heads in the line view, from 1; none is the chosen one
    mass: int = 90  # percent of each row that the line view draws
    changes: tuple[Change, ...] = ()

    def to_query(self) -> dict[str, str]:
        """The parameters that differ from the defaults."""
        values: dict[str, str] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value == field.default:
                continue
            if isinstance(value, tuple):
                values[field.name] = ",".join(map(str, value))
            else:
                values[field.name] = "1" if value is True else str(value)
        return values

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> View:
        """The view that an address describes; what makes no sense in it is left at the default."""
        number = {name: _number(query.get(name, "")) for name in ("layer", "head", "mass")}
        changes = [Change.parse(part) for part in query.get("changes", "").split(",")[:1000]]
        heads = [_number(part) for part in query.get("lines", "").split(",")[:100]]
        return cls(
            model=query.get("model", "")[:200] or None,
            text=query["text"][:LONGEST_TEXT] if "text" in query else None,
            target=query["target"][:LONGEST_TEXT] if "target" in query else None,
            kind=_one_of(query.get("kind"), KINDS, cls.kind),  # type: ignore[arg-type]
            layer=number["layer"],
            head=number["head"],
            show=_one_of(query.get("show"), get_args(Show), cls.show),
            scale=_one_of(query.get("scale"), get_args(ScaleName), cls.scale),
            words=query.get("words") == "1",
            hide=query.get("hide") == "1",
            lines=tuple(head for head in heads if head),
            mass=mass if (mass := number["mass"]) and 50 <= mass <= 100 else cls.mass,
            changes=tuple(change for change in changes if change),
        )


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[1-9]\d{0,3}", text) else None


def _one_of(value: str | None, choices: tuple[str, ...], default: str) -> str:
    return value if value in choices else default


def current() -> View:
    """The view of this session: the address where it says something new (a link, Back), else what was last shown.

    Two places hold it: the session, since Streamlit drops the parameters when a page is chosen in the menu, and
    the address. Whichever changed last is right: after a widget's callback that is the session, for the browser may
    have sent the address of the moment before.
    """
    query = st.query_params.to_dict()
    if query and query != st.session_state.get("address") and not st.session_state.get("touched"):
        st.session_state["view"] = View.from_query(query)
        st.session_state["address"] = query
        reseed()
    return st.session_state.setdefault("view", View())


def update(**changes: object) -> None:
    """Changes the view of this session; the address follows when the page is drawn."""
    st.session_state["touched"] = True
    st.session_state["view"] = replace(st.session_state.get("view", View()), **changes)


def take(field: str, key: str) -> None:
    """A widget's callback: its value becomes that field of the view."""
    update(**{field: st.session_state[key]})


def reseed() -> None:
    """Makes every widget start anew from the view, after something else than the widget changed it."""
    st.session_state["seeds"] = st.session_state.get("seeds", 0) + 1


def write_address() -> None:
    """Makes the address bar say what is shown."""
    query = st.session_state["view"].to_query()
    if query != st.query_params.to_dict():
        st.query_params.from_dict(query)
    st.session_state["address"] = query
    st.session_state["touched"] = False


def widget_key(name: str) -> str:
    """The key of a widget that takes its first value from the view."""
    return f"{name}-{st.session_state.get('seeds', 0)}"
