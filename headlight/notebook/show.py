"""Show a trace, or attention that somebody else's model computed, in a notebook cell (`headlight.show`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from headlight.analysis.layout import sharpest
from headlight.notebook.arrays import described, trace_of
from headlight.notebook.view import View
from transformer.quoting import quoted
from transformer.trace import Trace

Forced = Literal["light", "dark"]


def show(
    trace: Trace | None = None,
    *,
    encoder: Any = None,
    decoder: Any = None,
    cross: Any = None,
    source_tokens: Sequence[str] | None = None,
    target_tokens: Sequence[str] | None = None,
    selected: tuple[str, int, int] | None = None,
    words: bool = False,
    theme: Forced | None = None,
) -> View:
    """Return every head of `trace`, one of them large and its lines, in the cell of a notebook.

    In place of a trace, the attention of any model after its softmax: `encoder` [L, H, S, S], `decoder` [L, H, T, T]
    and `cross` [L, H, T, S], or those that there are, as arrays, tensors, or a list of layers as transformers gives
    them (a batch of one may stand before the heads). `source_tokens` are the S tokens that the encoder reads, and
    `target_tokens` the T that the decoder reads: row t of `decoder` and `cross` is the position that reads token t.
    It is labelled by the token that it writes, the next one; where it is known what the last position wrote, give
    T + 1 tokens.

    `selected` (kind, layer, head) is the head that is large, layer and head from 0, as in the arrays; where it is None
    that is the head with the narrowest attention. `words` merges subwords. `theme` is "light" or "dark", else that of
    the notebook. Raises ValueError for arrays and tokens that do not fit, and for a head that is not there.
    """
    arrays = {"encoder": encoder, "decoder": decoder, "cross": cross}
    names = [name for name, value in arrays.items() if value is not None]
    if trace is None:
        trace = trace_of(**arrays, source_tokens=source_tokens, target_tokens=target_tokens)
    elif not isinstance(trace, Trace):
        raise ValueError(
            f"show was given {described(trace)}; give a trace, as model.trace(text) makes it, or arrays: encoder=..."
        )
    elif names or source_tokens is not None or target_tokens is not None:
        raise ValueError(
            "show was given a trace and arrays or tokens as well; the trace has its own, so leave them out."
        )
    if theme is not None and theme not in get_args(Forced):
        raise ValueError(f'theme is {quoted(theme)}; choose "light" or "dark", or leave it out for the notebook\'s.')
    kind = trace.kinds[-1]
    if selected is None:
        selected = (kind, *sharpest(trace, kind))
    return View(trace, selected=selected, words=words, theme=theme)
