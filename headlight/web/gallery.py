"""A gallery: a text with addresses of views as one page of live pictures. js/gallery.js draws it.

In the file, a line that is an address of the app is a picture, and so is one that names the .npz of a trace; a line
that begins with # is a heading, and all other lines are text, in paragraphs between empty lines.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from headlight import checkpoints
from headlight.importers.examples import examples
from headlight.language import gettext, translatable
from headlight.viewer.export import trace_blocks
from headlight.viewer.packing import pack
from headlight.web.model_file import check_model
from headlight.web.traces import facts_of, head_to_open, kind_views, load_trace
from transformer.checkpoint import Checkpoint
from transformer.files import read_bytes
from transformer.quoting import quoted, short
from transformer.trace import KINDS, Trace

DEFAULT_MODEL = "en-fr"  # for an address without a model, as in the app
MAX_TEXT_BYTES = 200_000
MAX_VIEWS = 60
MAX_TEXT_CHARACTERS = 5000  # of a sentence; also in web.js
PAGES = {"": "attention", "attention": "attention", "decoding": "decoding"}  # by their paths in the app
BEAM_SIZES = ("1", "2", "3", "5")  # SIZES in web.js
COMMON_FIELDS = ("model", "text", "kind", "layer", "head", "changes", "embed", "theme")
PAGE_FIELDS = {"attention": (), "decoding": ("strategy", "size", "step", "pruned", "future", "under")}
# Fields of the app's addresses that a published page draws with their default only: what they show, and what to do.
UNSUPPORTED_FIELDS = {
    "show": ("transformed weights", "show the weights themselves"),
    "scale": ("another colour scale", "choose the fixed one"),
    "words": ("whole words", "switch Whole words off"),
    "hide": ("hidden special tokens", "show them"),
    "lines": ("the lines of other heads", "show those of the chosen head"),
    "mass": ("another share of the lines", "set it to 90\u00a0%"),
    "second": ("a second sentence", "close it, or give it a picture of its own"),
    "compare": ("a second sentence", "close it, or give it a picture of its own"),
    "row": ("a token that is held", "release it with Escape"),
    "column": ("a token that is held", "release it with Escape"),
    "broken": ("a mistake", "run the model without it"),
    "target": ("a translation that was typed", "let the model write its own"),
    "path": ("another hypothesis", "step through the best one"),
    "branches": ("branches", "remove them"),
    "reference": ("a reference translation", "remove it"),
    "penalty": ("another length penalty", "set it to 1"),
    "temperature": ("another temperature", "set it to 1"),
}
DEFAULT_VALUES = {
    "show": ("raw",),
    "scale": ("fixed",),
    "words": ("0",),
    "hide": ("0",),
    "mass": ("90",),
    "penalty": ("1", "1.0"),
    "temperature": ("1", "1.0"),
}
_WITHOUT_MODEL = translatable(
    "This picture holds the attention of one sentence and not the model that computed it: no other sentence can be "
    "typed, no head switched off, and no search stepped through."
)
_ADDRESS = re.compile(r"(?:https?://|file://|/)\S*")
_HEADING = re.compile(r"(#{1,3})\s+(.+)")
_CHANGE = re.compile(r"(encoder|decoder|cross)\.(\d{1,3})\.(\d{1,3})")


@dataclass
class Gallery:
    """The data of the page: its parts in order, the models that it runs, and the blocks of traces."""

    title: str
    parts: list[dict[str, Any]] = field(default_factory=list)
    models: dict[str, Checkpoint] = field(default_factory=dict)  # by the names in the addresses
    blocks: dict[str, bytes] = field(default_factory=dict)

    def header(self) -> bytes:
        """Return the block "gallery"."""
        models = [block_of(n) for n in range(len(self.models))]
        return pack({"title": self.title, "models": models, "parts": self.parts}, {})


def block_of(n: int) -> str:
    """Return the id of the block of the n-th model."""
    return f"model-{n}"


def read_gallery(path: str | Path) -> Gallery:
    """Return the gallery in a file. Raises ValueError, with the line, for a view that the page cannot draw."""
    path = Path(path)
    try:
        text = read_bytes(path, MAX_TEXT_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        raise ValueError(f"There is no gallery at {short(path)}.") from None
    except UnicodeDecodeError:
        raise ValueError(f"{short(path)} is not a text in UTF-8; save it as one.") from None
    gallery = Gallery(path.stem)
    paragraph: list[str] = []

    def end_paragraph() -> None:
        if paragraph:
            gallery.parts.append({"text": "\n".join(paragraph)})
            paragraph.clear()

    titled = False
    for number, line in enumerate(map(str.strip, text.splitlines()), 1):
        heading, is_address = _HEADING.fullmatch(line), _ADDRESS.match(line) is not None
        is_trace = line.endswith(".npz") and not re.search(r"\s", line)
        if not (heading or is_address or is_trace or not line):
            paragraph.append(line)
            continue
        end_paragraph()
        if heading and heading[1] == "#" and not titled and not gallery.parts:
            gallery.title, titled = heading[2], True
        elif heading:
            gallery.parts.append({"heading": heading[2], "level": min(2 + (len(heading[1]) > 2), 3)})
        elif line:
            try:
                _add_picture(gallery, path.parent, line, is_trace and not is_address)
            except ValueError as error:
                raise ValueError(f"{short(path)}, line {number}: {error}") from None
    end_paragraph()
    if not any("view" in part or "trace" in part for part in gallery.parts):
        raise ValueError(
            f"{short(path)} has no picture: copy the address of a view of Attention or Decoding onto a line of its own."
        )
    return gallery


def _add_picture(gallery: Gallery, folder: Path, line: str, is_trace: bool) -> None:
    count = sum("view" in part or "trace" in part for part in gallery.parts)
    if count == MAX_VIEWS:
        raise ValueError(f"A gallery has at most {MAX_VIEWS} pictures; make two of it.")
    if is_trace:
        _add_trace(gallery, folder, line, f"trace-{count}-")
        return
    page, query = _page_and_query(line)
    name = query.pop("model", DEFAULT_MODEL) or DEFAULT_MODEL
    if name not in gallery.models:
        gallery.models[name] = _checkpoint(name)
    view = _view(gallery.models[name], page, query)
    index = list(gallery.models).index(name)
    page_name = gettext("Step by step") if page == "decoding" else gettext("Attention")
    gallery.parts.append({"view": view, "model": index, "name": f"{page_name}: {query['text']}"})


def _page_and_query(line: str) -> tuple[str, dict[str, str]]:
    """Return the page of an address, and what it says of the view: the app's, or that of a published page."""
    if re.search(r"\s", line):
        raise ValueError("An address has no spaces; write it on a line of its own, and text on another.")
    parts = urlsplit(line)
    try:
        query = dict(parse_qsl(parts.query or parts.fragment, keep_blank_values=True, max_num_fields=100))
    except ValueError:
        raise ValueError("The address says too much; copy it from the app.") from None
    published = not parts.query and bool(parts.fragment)
    path = query.pop("page", "attention") if published else parts.path.rpartition("/")[2].lower()
    if published and "model" not in query:
        raise ValueError("The address of a published page does not name its model; add &model= and its name.")
    if path not in PAGES:
        raise ValueError(
            f"{short(line)} is no view of Attention or Decoding, and a gallery draws no others; copy one's address "
            "from the app, or put a link into a sentence."
        )
    return PAGES[path], query


def _checkpoint(name: str) -> Checkpoint:
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise ValueError(f"The model is {quoted(name)}; name one that the app lists, such as {DEFAULT_MODEL}.")
    checkpoint = checkpoints.load(name)
    try:
        check_model(checkpoint.model)
    except ValueError as error:
        raise ValueError(f"{error} Publish a trace of it: a line with the name of its .npz file.") from None
    return checkpoint


def _view(checkpoint: Checkpoint, page: str, query: dict[str, str]) -> str:
    """Return the view as a published page's address has it; a missing sentence is put into `query`."""
    config = checkpoint.model.config
    for name, value in query.items():
        if name in (*COMMON_FIELDS, *PAGE_FIELDS[page]) or value in DEFAULT_VALUES.get(name, ("",)):
            continue
        if name not in UNSUPPORTED_FIELDS:
            raise ValueError(f"The address has {quoted(name)}, which says nothing on this page; copy it from the app.")
        feature, instead = UNSUPPORTED_FIELDS[name]
        raise ValueError(
            f"A published page does not draw {feature} ({short(f'{name}={value}')}); {instead}, and copy again."
        )
    if not query.get("text"):
        offered = examples(checkpoint.card, page) or examples(checkpoint.card)
        if not offered:
            raise ValueError("The address names no sentence; type one in the app, and copy the address again.")
        query["text"] = offered[0].text
    _require_text(checkpoint, query["text"])
    kind = _one_of(query, "kind", KINDS, "cross")
    side = config.encoder if kind == "encoder" else config.decoder
    _require_head(side.n_layers, side.n_heads, kind, query.get("layer"), query.get("head"))
    for change in filter(None, query.get("changes", "").split(",")):
        match = _CHANGE.fullmatch(change)
        if not match:
            raise ValueError(f"A published page switches heads off only, and {quoted(change)} is another change.")
        side = config.encoder if match[1] == "encoder" else config.decoder
        _require_head(side.n_layers, side.n_heads, match[1], match[2], match[3])
    if page == "decoding":
        _one_of(query, "strategy", ("beam", "greedy"), "beam")
        _one_of(query, "size", BEAM_SIZES, "3")
        _one_of(query, "under", ("total", "log_prob", "score"), "total")
        if not re.fullmatch(r"[1-9]\d{0,2}", query.get("step", "1")):
            raise ValueError(f"The step is {quoted(query['step'])}; it must be a whole number from 1.")
        return urlencode(query | {"page": page})
    return urlencode(query)


def _one_of(query: Mapping[str, str], name: str, choices: tuple[str, ...], default: str) -> str:
    value = query.get(name, default)
    if value not in choices:
        raise ValueError(f"The address has {name}={short(value)}; a published page has {', '.join(choices)}.")
    return value


def _require_head(layers: int, heads: int, kind: str, layer: str | None, head: str | None) -> None:
    for name, value, count in (("layer", layer, layers), ("head", head, heads)):
        if value is not None and not (re.fullmatch(r"[1-9]\d{0,2}", value) and int(value) <= count):
            raise ValueError(f"The model has no {kind} {name} {short(value)}; it has {count}, counted from 1.")


def _require_text(checkpoint: Checkpoint, text: str) -> None:
    if len(text) > MAX_TEXT_CHARACTERS:
        raise ValueError(f"The sentence has {len(text)} characters, and may have {MAX_TEXT_CHARACTERS}; shorten it.")
    count, max_tokens = len(checkpoint.source_tokenizer.encode(text)), checkpoint.model.config.max_length - 1
    if not 0 < count <= max_tokens:
        raise ValueError(f"The sentence has {count} tokens, and this model reads 1 to {max_tokens}; change it.")


def _add_trace(gallery: Gallery, folder: Path, line: str, prefix: str) -> None:
    file = Path(line)
    if file.is_absolute() or ".." in file.parts:
        raise ValueError("A trace lies in the folder of the gallery, or in one below it; copy it there.")
    trace = load_trace(folder / file)
    kinds = kind_views(trace)
    about = facts_of(trace)
    gallery.blocks |= trace_blocks(kinds, prefix)
    kind, layer, head = head_to_open(trace)
    gallery.parts.append(
        {
            "trace": prefix,
            "name": f"{gettext('Attention')}: {_sentence(trace)}",
            "kinds": list(kinds),
            "selected": [list(kinds).index(kind), layer, head],
            "about": [[name, text] for name, text in about.items()],
            "without": gettext(_WITHOUT_MODEL),
        }
    )


def _sentence(trace: Trace) -> str:
    return short(trace.text) or gettext("a trace")
