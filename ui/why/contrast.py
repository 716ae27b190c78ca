"""Why the chosen token rather than another candidate: the difference of two logits as a sum of direct effects."""

from __future__ import annotations

import math
import zlib
from functools import partial

import numpy as np
import streamlit as st

from headlight.analysis.why import Contrast
from headlight.charts.document import Drawing
from headlight.charts.why import Effect, Map, MapScale, maps, waterfall
from headlight.formatting import signed
from headlight.glossary import term
from ui.state.view import bound, update
from ui.why.cause import Cause
from ui.why.components import TOLERANCE, Row, check, draw_picture, head_grid, table
from ui.why.downloads import COLUMN_PIXELS, Picture
from ui.why.passes import WrittenToken, candidates, contrast
from ui.why.view import WhyView
from ui.widgets.text import literal

NAMES = {
    "embedding": "Embedding",
    "self": "Decoder self-attention",
    "cross": "Cross-attention",
    "feed-forward": "Feed-forward",
    "bias": "Bias",
}
KIND_OF_BLOCK = {"self": "decoder", "cross": "cross"}  # a block of the decoder as the kind of attention that pages show


def other_token(token: WrittenToken, cause: Cause | None) -> int:
    """Return the id of the token that could have been written.

    It is the chosen token, or else the one that the other sentence makes the model write here, or else the most
    probable one. Raises ValueError for a chosen token that does not exist.
    """
    if token.view.instead:
        return token.model.token(token.view.instead, token.trace.target.ids[token.step + 1])
    if cause is not None and cause.first == token.step and cause.instead is not None:
        return cause.instead
    return candidates(*token.forced, token.step)[0][0]


def choose(token: WrittenToken, cause: Cause | None) -> int:
    """Draw the heading and the box to choose the other token in; return its id.

    Raises ValueError for an invalid token, after drawing the box, so that another can be chosen.
    """
    try:
        instead = other_token(token, cause)
    except ValueError:
        _heading(token, token.view.instead or "")
        raise
    _heading(token, token.label_of(instead))
    return instead


def _heading(token: WrittenToken, instead: str) -> None:
    st.subheader(f"“{literal(token.label)}” rather than “{literal(instead)}”", anchor="rather-than")
    chances = {token.label_of(id): chance for id, chance in candidates(*token.forced, token.step)}
    # Each step has a box of its own: a shared one would take the choice at the last step for a typed token.
    trace = token.trace
    digest = zlib.crc32(repr((trace.source.ids, trace.target.ids[: token.step + 2], token.view.corrupted)).encode())
    offered = list(dict.fromkeys([*chances, instead]))
    st.selectbox(
        "Rather than",
        offered,
        index=offered.index(instead),
        format_func=lambda label: f"{label} ({signed(chances[label])})" if label in chances else label,
        accept_new_options=True,
        help="The most probable other tokens with their probabilities; or type a token of the vocabulary.",
        **bound("instead", f"instead-{digest}", step=token.step + 1),
        width=240,
    )


def draw_contrast(token: WrittenToken, instead: int) -> list[Picture]:
    """Draw the parts in order, the check, every head's part, and the gradient's view of the same difference."""
    view, label, rival = token.view, token.label, token.label_of(instead)
    parts, gradient = contrast(*token.forced, token.step, instead)
    largest = largest_head(parts)
    st.markdown(sentence(parts, label, rival, largest))
    falls = Picture(f"{label} rather than {rival}", partial(_waterfall, parts, label, True), _rows(parts))
    draw_picture(partial(_waterfall, parts, label, view.parts), COLUMN_PIXELS, key="why-waterfall")
    st.toggle("Layer by layer", view.parts, **bound("parts"))
    check(
        abs(parts.total - parts.difference) < TOLERANCE,
        f"The parts sum to the difference: {signed(parts.total)} = {signed(parts.difference)}. "
        "The scale of the final norm (post-norm: of every norm) is held at its value.",
    )
    here = _chosen(view, largest)
    heads = Picture("Each head's part", partial(_heads, parts, label, rival, here), _head_rows(parts), 465)
    st.markdown(f"**Each head's part**, in {term('logit', 'logits')}")
    draw_picture(heads.draw, heads.across, key="why-heads", on_pick=_pick)
    st.caption(_caption(token, parts, here))
    effects = [Effect(*pair) for pair in zip(token.trace.source.labels, gradient.tolist(), strict=True)]
    gradients: list[Row] = [{"Source token": effect.name, "Logits": effect.value} for effect in effects]

    def by_gradient(theme: str, across: int) -> Drawing:
        return waterfall(effects, label, theme, total_name="Sum", across=across)

    with st.expander("Gradient × input of the difference, over the source tokens"):
        draw_picture(by_gradient, COLUMN_PIXELS, key="why-gradient")
        st.caption(
            "To first order, in logits. The sum is not the difference: it leaves out the "
            f"{term('prefix')}, and all that is not linear."
        )
    with st.expander("As tables"):
        table(falls.rows, "why-parts")
        table(heads.rows, "why-by-head")
        table(gradients, "why-by-gradient")
    with st.expander("How it is measured"):
        st.markdown(
            "Direct logit attribution (Elhage et al. 2021, *A Mathematical Framework for Transformer Circuits*): the "
            "decoder's last state is a sum of what each part wrote. What a part does by way of others that read it is "
            "counted as theirs. Gradient × input of the difference: Yin and Neubig 2022, *Interpreting Language "
            "Models with Contrastive Explanations*."
        )
    return [falls, heads, Picture("Gradient × input of the difference", by_gradient, gradients)]


def sentence(parts: Contrast, label: str, rival: str, largest: tuple[str, int, int]) -> str:
    """Return "The difference of the two logits is +4.21: “elle” is 68 times as likely as “il”. ..."."""
    kind, layer, head = largest
    times = math.exp(min(abs(parts.difference), 50.0))
    likelier, other = (label, rival) if parts.difference >= 0 else (rival, label)
    often = f"{times:.2g}" if times < 10 else f"{times:,.0f}" if times < 1e6 else "over a million"
    return (
        f"The difference of the two logits is **{signed(parts.difference, plus=True)}**: “{literal(likelier)}” is "
        f"{often} times as likely as “{literal(other)}”. **{_name(kind, layer, head)}** alone adds "
        f"{signed(float(parts.parts[kind][layer, head]), plus=True)}."
    )


def largest_head(parts: Contrast) -> tuple[str, int, int]:
    """Return the head with the largest part, of either sign: block, layer and head from 0."""
    kind = max(KIND_OF_BLOCK, key=lambda block: float(np.abs(parts.parts[block]).max()))
    layer, head = divmod(int(np.abs(parts.parts[kind]).argmax()), parts.parts[kind].shape[1])
    return kind, layer, head


def _chosen(view: WhyView, largest: tuple[str, int, int]) -> tuple[str, int, int]:
    block = {"decoder": "self", "cross": "cross"}.get(view.kind)
    if block is None or view.layer is None or view.head is None:
        return largest
    return block, view.layer - 1, view.head - 1


def _pick(of: str) -> None:
    block, layer, head = of.split()
    update(kind=KIND_OF_BLOCK[block], layer=int(layer) + 1, head=int(head) + 1)


def _caption(token: WrittenToken, parts: Contrast, here: tuple[str, int, int]) -> str:
    block, layer, head = here
    kind = KIND_OF_BLOCK[block]
    weights = token.trace.pattern(kind)[layer, head, token.step]
    labels = token.trace.columns(kind)
    most = int(weights.argmax())
    fields = ("model", "text", "target", "changes")
    address = token.view.link("attention", *fields, kind=kind, layer=layer + 1, head=head + 1)
    does = f"at this step it looks at **{literal(labels[most])}**, {weights[most]:.2f}"
    if not weights[most]:
        does = "it is off"
    return (
        f"**{_name(block, layer, head)}**: {signed(float(parts.parts[block][layer, head]), plus=True)}; {does}. "
        f"[Open it]({address})"
    )


def _name(block: str, layer: int, head: int) -> str:
    return f"{'Cross-attention' if block == 'cross' else 'Decoder self-attention'}, layer {layer + 1}, head {head + 1}"


def _waterfall(parts: Contrast, label: str, opened: bool, theme: str, across: int) -> Drawing:
    effects = []
    for part, values in parts.parts.items():
        by_layer = values.sum(-1) if values.ndim == 2 else values
        inside = {f"layer {at + 1}": float(value) for at, value in enumerate(by_layer)} if values.ndim else {}
        effects.append(Effect(NAMES[part], float(values.sum()), inside))
    return waterfall(effects, label, theme, opened=opened, across=across)


def _heads(parts: Contrast, label: str, rival: str, here: tuple[str, int, int], theme: str, across: int) -> Drawing:
    layers, count = parts.parts["cross"].shape
    grids = []
    for block, name in (("self", "Self, head"), ("cross", "Cross, head")):
        picks = [[f"{block} {layer} {head}" for head in range(count)] for layer in range(layers)]
        grids.append(head_grid(name, parts.parts[block], picks))
    grids.append(Map("Feed-forward", parts.parts["feed-forward"][:, None], grids[0].rows, [""]))
    limit = max(1e-9, *(float(np.abs(grid.values).max()) for grid in grids))
    ends = f"{signed(-limit)} towards {rival}", f"towards {label} {signed(limit, plus=True)}"
    chosen = [" ".join(map(str, here))]
    return maps(grids, theme, MapScale(limit, ends, diverging=True), chosen=chosen, across=across, cell=35.0)


def _rows(parts: Contrast) -> list[Row]:
    rows: list[Row] = [{"Part": NAMES[part], "Logits": float(values.sum())} for part, values in parts.parts.items()]
    return [*rows, {"Part": "Difference, the model's own", "Logits": parts.difference}]


def _head_rows(parts: Contrast) -> list[Row]:
    rows: list[Row] = [
        {"Part": f"{_name(block, layer, head)}", "Logits": float(parts.parts[block][layer, head])}
        for block in KIND_OF_BLOCK
        for layer, head in np.ndindex(*parts.parts[block].shape)
    ]
    forward = parts.parts["feed-forward"].tolist()
    return rows + [{"Part": f"Feed-forward, layer {at + 1}", "Logits": value} for at, value in enumerate(forward)]
