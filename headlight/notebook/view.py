"""The viewer in a notebook cell (`headlight.show`), whose selection is the same on screen and in Python."""

from __future__ import annotations

import operator
import secrets
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import traitlets as t
from anywidget import AnyWidget
from IPython import get_ipython
from IPython.display import display

from headlight.analysis.layout import sharpest
from headlight.notebook.arrays import describe_value, trace_of
from headlight.notebook.payload import cell_payload, weights_message
from headlight.notebook.saved import saved_html, widget_module
from transformer.quoting import quoted
from transformer.trace import Kind, Trace

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

    Instead of a trace, give the attention of any model after its softmax: `encoder` [L, H, S, S], `decoder`
    [L, H, T, T] and `cross` [L, H, T, S], or those that the model has, as arrays, tensors, or the list of layers that
    transformers returns (each layer may have a batch of one). `source_tokens` are the S tokens that the encoder reads,
    and `target_tokens` the T that the decoder reads. Row t of `decoder` and `cross` reads target token t, and is
    labelled by the token that it writes, the next one; to label the last row too, give T + 1 tokens.

    `selected` (kind, layer, head) is the large head, layer and head from 0, as in the arrays; None chooses the head
    with the narrowest attention. `words` merges subwords. `theme` is "light" or "dark", else that of the notebook.
    Raises ValueError for arrays and tokens that do not fit together, and for a head that does not exist.
    """
    arrays = {"encoder": encoder, "decoder": decoder, "cross": cross}
    names = [name for name, value in arrays.items() if value is not None]
    if trace is None:
        trace = trace_of(**arrays, source_tokens=source_tokens, target_tokens=target_tokens)
    elif not isinstance(trace, Trace):
        raise ValueError(
            f"show was given {describe_value(trace)}; give a trace, as model.trace(text) makes it, "
            "or arrays: encoder=..."
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


class Selected(NamedTuple):
    """The head that is large: `view.trace.pattern(kind)[layer, head]`."""

    kind: Kind
    layer: int  # from 0
    head: int  # from 0


class _Head(t.TraitType[Selected, Any]):
    """A head of the view's trace; ValueError for any other."""

    def validate(self, obj: View, value: Any) -> Selected:
        return selected_in(obj.trace, value)


def selected_in(trace: Trace, value: Any) -> Selected:
    """Return `value` (kind, layer, head) as a head of the trace. Raises ValueError for a head that does not exist."""
    try:
        kind, layer, head = value
        layer, head = operator.index(layer), operator.index(head)
        hash(kind)  # arrays and lists are no kind, and comparing with an array gives no bool
    except (TypeError, ValueError):
        example = (trace.kinds[-1], 0, 0)
        raise ValueError(f"selected is {quoted(value)}; give (kind, layer, head), such as {example}.") from None
    layers, heads = trace.pattern(kind).shape[:2]
    if not (0 <= layer < layers and 0 <= head < heads):
        raise ValueError(
            f"selected is layer {layer}, head {head}, from 0; {kind} attention has {layers} layers of {heads} heads."
        )
    return Selected(kind, layer, head)


class View(AnyWidget):
    """The viewer of `trace` in the cell of a notebook, as `headlight.show` makes it.

    `selected`, a `Selected`, and `words`, whether subwords are merged, follow what is clicked, may be set, and can be
    observed: `view.observe(lambda change: ..., "selected")`. Setting a head that is not there is a ValueError.
    """

    _esm = widget_module()
    selected = _Head().tag(sync=True)
    words = t.Bool().tag(sync=True)
    _cell_id = t.Unicode().tag(sync=True)
    _payload = t.Bytes().tag(sync=True)  # empty until the widget asks for it, since the HTML has the same data

    def __init__(
        self, trace: Trace, *, selected: tuple[str, int, int], words: bool, theme: Literal["light", "dark"] | None
    ) -> None:
        self.trace = trace
        self.theme = theme
        super().__init__(selected=selected_in(trace, selected), words=words, _cell_id=secrets.token_hex(8))
        self.on_msg(self._on_message)
        if not _saves_html():
            self._payload = self._packed()

    def _packed(self) -> bytes:
        return cell_payload(self.trace, self.selected, self.words, self.theme)

    def _on_message(self, _widget: object, message: dict[str, Any], _buffers: object) -> None:
        if message.get("ask") == "page":
            self._payload = self._packed()
        elif message.get("ask") == "weights":
            head = message["kind"], message["layer"], message["head"]
            self.send({}, [weights_message(self.trace, *head, whole_layer=message["whole_layer"])])

    def _ipython_display_(self) -> None:
        """Display two outputs: HTML that is saved with the notebook, and the widget that connects it to the kernel."""
        bundle = self._repr_mimebundle_()
        assert bundle is not None
        data, metadata = bundle
        if _saves_html():
            html = saved_html(self._cell_id, self._packed(), self.trace, self.selected)
            display({"text/html": html, "text/plain": repr(self)}, raw=True)
            data["text/plain"] = ""
        display(data, metadata=metadata, raw=True)

    def __repr__(self) -> str:
        shapes = {kind: self.trace.pattern(kind).shape for kind in self.trace.kinds}
        parts = (f"{kind} {layers} × {heads}" for kind, (layers, heads, *_) in shapes.items())
        return f"View({', '.join(parts)} heads, selected={tuple(self.selected)})"


def _saves_html() -> bool:
    """Return whether a cell may have two outputs in one page.

    Colab saves a widget with its state; marimo, which is no IPython, shows a widget and nothing beside it.
    """
    shell = get_ipython()
    return shell is not None and "google.colab" not in type(shell).__module__
