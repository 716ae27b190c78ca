"""The attention viewer as one self-contained HTML file, which loads nothing from a server or the network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from headlight.charts.document import fonts_of
from headlight.language import current, gettext, translatable
from headlight.viewer.packing import (
    MAX_EXACT_WEIGHTS,
    Captions,
    EveryHead,
    checked,
    labels_header,
    overview_parts,
    pack,
)
from headlight.viewer.scripts import VIEWS, style, viewer_script
from transformer.quoting import quoted

CAUTION = translatable("Attention shows where a head looked, not why a word was chosen.")
WITHOUT_MODEL = translatable(
    "This file holds the attention of one sentence and not the model that computed it: no other sentence can be typed, "
    "no head switched off, and no search stepped through."
)
_ROUNDING = translatable(
    "To keep this file small, its weights are rounded to half precision: three significant digits."
)


@dataclass(frozen=True)
class KindView:
    """One kind of attention: `patterns` [L, H, Q, K], `masked` [Q, K] or None, and the labels of both axes.

    `rows_read` are the tokens read at each row where `rows` are those written; `captions` [L][H] say what each head
    does, after its name, in parts of which those at odd places are tokens. The first of the rows and columns, as many
    as `prompt_lengths` says, are a prompt.
    """

    patterns: NDArray[np.floating]
    masked: NDArray[np.bool_] | None
    rows: Sequence[str]
    columns: Sequence[str]
    rows_read: Sequence[str] | None
    captions: Captions
    prompt_lengths: tuple[int, int] | None = None


def standalone_html(
    title: str,
    kinds: Mapping[str, KindView],
    selected: tuple[str, int, int],
    theme: Literal["light", "dark"] | None,
    meta: Mapping[str, str],
) -> str:
    """Return the page: overview, head and lines of each of `kinds`; it opens on `selected` (kind, layer, head), and
    where `theme` is None in that of the browser.

    `meta` holds what to print, label to text: the first two (the sentence and its translation) above the
    views, the others at the foot. Beyond a million weights they are stored as float16 and the page says so.
    All text from outside is base64 in data blocks and becomes text nodes; the policy in the page lets only
    its own script and style run. Raises ValueError for a selection that is not in `kinds`.
    """
    kind, layer, head = selected
    if kind not in kinds:
        raise ValueError(f"The selected kind is {quoted(kind)}; choose one of {', '.join(kinds)}.")
    layers, heads = kinds[kind].patterns.shape[:2]
    if not (0 <= layer < layers and 0 <= head < heads):
        raise ValueError(f"Layer {layer}, head {head} is not among {layers} layers of {heads} heads, from 0.")
    page: dict[str, object] = {
        "title": title,
        "kinds": list(kinds),
        "selected": [list(kinds).index(kind), layer, head],
        "theme": theme,
        "meta": [[str(name), str(text)] for name, text in meta.items()],
        "caution": gettext(CAUTION),
        "without": gettext(WITHOUT_MODEL),
        "rounding": None if _is_exact(kinds) else gettext(_ROUNDING),
    }
    # The reader may lack the fonts, and the page's policy forbids loading any address, data URLs included.
    fonts = fonts_of(_written(title, kinds, meta))
    page["fonts"] = list(fonts)
    blocks = {"page": pack(page, {})}
    blocks |= {f"font-{n}": file.read_bytes() for n, file in enumerate(fonts.values())}
    blocks |= trace_blocks(kinds)
    look = style("page") + style("views") + style("viewer")
    return html_page(title, look, page_script(), blocks, theme=theme or "light")


def trace_blocks(kinds: Mapping[str, KindView], prefix: str = "") -> dict[str, bytes]:
    """Return the data blocks that js/page.js reads of each kind, by their ids."""
    exact = _is_exact(kinds)
    return {f"{prefix}kind-{n}": _kind(view, exact) for n, view in enumerate(kinds.values())}


def _is_exact(kinds: Mapping[str, KindView]) -> bool:
    """Whether the weights are stored as they are, not as float16."""
    return sum(view.patterns.size for view in kinds.values()) <= MAX_EXACT_WEIGHTS


def html_page(
    title: str,
    look: str,
    code: str,
    blocks: Mapping[str, bytes | str],
    *,
    later: Mapping[str, bytes | str] = MappingProxyType({}),
    theme: Literal["light", "dark"] = "light",
    sources: str = "",
    body: str = "",
) -> str:
    """Return an HTML page with one style sheet, one script, and data blocks that the script finds by their ids.

    The `later` blocks follow the script, which starts before the browser has read them. A block of bytes is in the
    page, in base64; a block that is a string is the address of a file, as its `data-file`. The content security policy
    lets only this script and style run, and nothing be loaded but what `sources` adds.
    """
    policy = (
        f"default-src 'none'; script-src '{digest(code)}'; style-src '{digest(look)}'; {sources}"
        "base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="{current()}" class="themed" data-theme="{escape(theme)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{look}</style>
</head>
<body>
{body}{_data(blocks)}
<script>{code}</script>
{_data(later)}
</body>
</html>
"""


def _data(blocks: Mapping[str, bytes | str]) -> str:
    return "\n".join(
        f'<script type="application/octet-stream" id="{escape(name)}"'
        + (f' data-file="{escape(block)}">' if isinstance(block, str) else f">{_base64(block)}")
        + "</script>"
        for name, block in blocks.items()
    )


def page_script() -> str:
    """Return the viewer's script, in its own scope."""
    code = viewer_script(*VIEWS, "sheet", "page")
    return f"(() => {{\n{code}\nnew Page(document.body);\n}})();\n"


def _written(title: str, kinds: Mapping[str, KindView], meta: Mapping[str, str]) -> str:
    """Return every text that the page may show."""
    texts = [title, *meta, *meta.values()]
    for view in kinds.values():
        texts += [
            *view.rows,
            *view.columns,
            *(view.rows_read or []),
            *(part for c in view.captions for h in c for part in h),
        ]
    return "".join(texts)


def _kind(view: KindView, exact: bool) -> bytes:
    weights = checked(view.patterns, 4)
    header, arrays = overview_parts(EveryHead(weights, view.captions, view.masked, columns=view.columns))
    header |= labels_header(weights.shape[2:], view.rows, view.columns, view.rows_read, view.prompt_lengths)
    masked = np.zeros(weights.shape[2:], bool) if view.masked is None else view.masked
    arrays |= {"weights": weights if exact else weights.astype(np.float16), "masked": masked.astype(np.uint8)}
    return pack(header, arrays)


def digest(text: str) -> str:
    """Return the source that a content security policy names for an inline block with exactly this text."""
    return "sha256-" + _base64(hashlib.sha256(text.encode("utf-8")).digest())


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
