"""What a mistake changes: the translation beside the model's own, and the size of the residual stream by layer."""

from __future__ import annotations

import numpy as np
import streamlit as st

from headlight.analysis.stream import StreamSize, stream, stream_sizes
from headlight.charts.lines import Curve, lines
from headlight.formatting import three_digits
from headlight.glossary import explained
from headlight.language import gettext, translatable
from headlight.teaching.mistakes import BrokenTranslator
from transformer import Translator
from transformer.trace import Trace
from ui.attention.view import AttentionView
from ui.state import models
from ui.state.cache import cached
from ui.viewer.component import plot
from ui.widgets.disclosure import draw_when_open
from ui.widgets.text import literal

STACKS = ("encoder", "decoder")
LENGTH_TITLES = {
    "encoder": translatable("Mean length of a vector, encoder"),
    "decoder": translatable("Mean length of a vector, decoder"),
}
SIZE_SENTENCES = {
    "encoder": translatable("In the encoder lengths go from {before} in the model as it is, and from {after} now."),
    "decoder": translatable("In the decoder lengths go from {before} in the model as it is, and from {after} now."),
}
BLOCK_NAMES = {  # as the axis has them
    "embedding": translatable("embedding"),
    "self": translatable("self"),
    "cross": translatable("cross"),
    "feed-forward": translatable("ff"),
}
LOGARITHMIC_FROM = 10  # how many times the smallest size the largest has to be for a logarithmic axis
Sizes = dict[str, list[StreamSize]]  # by stack


def mistake_effect(name: str, model: Translator, text: str, view: AttentionView, trace: Trace) -> None:
    """Draw what the model writes as it is, and the sizes of both streams; nothing where no mistake is made."""
    if not isinstance(model, BrokenTranslator):
        return
    whole = models.unbroken_name(name)
    own = models.trace(whole, text, view.target)
    if view.target is None:
        text_of = translatable("The model as it is writes: “{translation}”")
        if own.translation == trace.translation:
            text_of = translatable("The model as it is writes the same: “{translation}”")
        st.caption(gettext(text_of, translation=literal(own.translation)))
    if model.tap is not None:  # the residual stream is computed from the modules, which a tap does not change
        return
    draw_when_open(gettext("The residual stream by layer, with and without"), "left-out", _sizes, whole, name, own)


def _sizes(whole: str, name: str, own: Trace) -> None:
    source, target = tuple(own.source.ids), tuple(own.target.ids)
    both = [_measured(each, source, target) for each in (whole, name)]
    theme = st.context.theme.type or "light"
    for stack, column in zip(STACKS, st.columns(2, gap="large"), strict=True):
        with column:
            curves = [
                Curve(label, list(map(_size_title, sizes[stack])), np.array([size.mean for size in sizes[stack]]))
                for label, sizes in zip((gettext("as it is"), gettext("now")), both, strict=True)
            ]
            values = np.concatenate([curve.y for curve in curves])
            log = "y" if values.max() > LOGARITHMIC_FROM * values.min() > 0 else ""
            plot(
                lines(curves, gettext(LENGTH_TITLES[stack]), gettext("block"), logarithmic=log, theme=theme),
                key=f"left-out-{stack}",
            )
    st.caption(explained(f"{describe_sizes(*both)} {gettext(NOTE)}", "residual stream"))


NOTE = translatable(
    "The residual stream is measured where it enters the first layer and behind each block of a layer: self-attention, "
    "cross-attention, feed-forward network. A length is the root of the sum of squares, here the mean over the tokens; "
    "both networks read the same sentence and the translation that the model writes as it is."
)


def describe_sizes(own: Sizes, now: Sizes) -> str:
    """Return in a sentence for each stack where both streams begin and end."""
    sentences = []
    for stack in STACKS:
        ends = [
            gettext("{first} to {last}", first=three_digits(s[stack][0].mean), last=three_digits(s[stack][-1].mean))
            for s in (own, now)
        ]
        sentences.append(gettext(SIZE_SENTENCES[stack], before=ends[0], after=ends[1]))
    return " ".join(sentences)


def _size_title(size: StreamSize) -> str:
    block = gettext(BLOCK_NAMES[size.block])
    return block if size.layer is None else f"{size.layer + 1} {block}"


@cached(20, translatable("Measuring the residual stream"), key=models.versioned)
def _measured(name: str, source: tuple[int, ...], target: tuple[int, ...]) -> Sizes:
    passed = stream(models.translator(name).model, source, target)
    return {stack: stream_sizes(passed, stack) for stack in STACKS}
