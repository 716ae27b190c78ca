"""The formula, filled in for one word and one dimension, next to the picture of the whole sentence."""

from __future__ import annotations

import streamlit as st

from headlight.analysis.positions import (
    DISTANCES,
    LONG_SENTENCE_POSITIONS,
    EncodingEntry,
    base_effects,
    encoding,
    entry,
    exp_log_difference,
)
from headlight.charts.colours import theme_named
from headlight.charts.order import sums
from headlight.formatting import minus, percent, two_digits
from headlight.importers.examples import examples
from transformer import Translator
from transformer.positions import SinusoidalPositions
from transformer.tokenizers import number_duplicates
from transformer.translator import describe_tokens
from ui.positions.view import PositionsView
from ui.state.view import bound, write_address
from ui.viewer.component import plot
from ui.widgets.errors import plain_errors

_MAX_WORDS = 40  # words in the picture
BASES = (10.0, 100.0, 1_000.0, 10_000.0, 100_000.0, 1_000_000.0)  # that are compared


@st.fragment
def draw_formula(model: Translator, width: int, base: float) -> None:
    """Draw the formula; choosing a word or a dimension redraws this part and nothing else."""
    view: PositionsView = st.session_state["view"]
    st.subheader("The formula, for one word of your sentence", anchor=False)
    st.caption(
        "Even dimensions hold sines, odd ones the cosines of the same angle: i counts the pairs, d is the width of an "
        "encoding, and pos counts the tokens from 0."
    )
    b = f"{base:.10g}"
    st.latex(rf"PE_{{(pos,\,2i)}}=\sin\!\left(\frac{{pos}}{{{b}^{{2i/d}}}}\right)")
    st.latex(rf"PE_{{(pos,\,2i+1)}}=\cos\!\left(\frac{{pos}}{{{b}^{{2i/d}}}}\right)")
    with plain_errors():
        _filled_in(model, view, width, base)
    _as_code(width, base)
    _why_this_base(width, base)
    write_address()


def _filled_in(model: Translator, view: PositionsView, width: int, base: float) -> None:
    tokens = describe_tokens(model.checkpoint.source_tokenizer, first_ids(model, sentence(model, view)))
    if not tokens.ids:
        st.caption("There is no word to fill in: the sentence is empty.")
        return
    labels = number_duplicates(tokens.labels)
    word = view.word if view.word is not None and view.word < len(labels) else min(2, len(labels) - 1)
    dim = view.dim if view.dim is not None and view.dim < width else default_dimension(width)
    left, right = st.columns([2, 3], gap="large")
    with left:
        with st.container(horizontal=True):
            st.selectbox(
                "Word",
                range(len(labels)),
                index=word,
                format_func=lambda i: f"{i}: {labels[i]}",
                **bound("word"),
                width=170,
            )
            st.number_input("Dimension", 0, width - 1, dim, width=140, **bound("dim"))
        chosen_entry = entry(word, dim, width, base)
        for line in filled_in(chosen_entry, width, base):
            st.latex(line)
        st.caption(_checked(chosen_entry, model, width, base))
    with right:
        table = encoding("sinusoidal", len(labels), width, base)
        theme = st.context.theme.type or "light"
        figure = sums({"A word a row, interleaved": table}, labels, theme=theme)
        frame = {"color": theme_named(theme).accent, "width": 2}
        across = max(0.5, width / 120)  # a cell of one dimension in many is too narrow to be seen
        figure.add_shape(
            type="rect", x0=dim - across, x1=dim + across, y0=word - 0.5, y1=word + 0.5, line=frame, layer="above"
        )
        with st.container(key="classic"):
            plot(figure, key="classic-plot")
        st.caption(
            "The picture as most tutorials draw it. The page's own picture of the sinusoidal scheme has the same "
            "numbers turned on their side, with the sines first: interleaved, neighbouring columns differ by a quarter "
            "of a turn, and the waves look like stripes. The frame is the number that is worked out here."
        )


def sentence(model: Translator, view: PositionsView) -> str:
    """Return what was typed on any page, else the model's first example."""
    if view.text is not None:
        return view.text
    offered = examples(model.card)
    return offered[0].text if offered else ""


def first_ids(model: Translator, text: str) -> list[int]:
    """Return what the encoder reads of a text, as far as the picture goes: a formula has no longest sentence."""
    config = model.model.config
    end = (config.eos_id,) if config.source_end is None else config.source_end
    return [*config.source_start, *model.checkpoint.source_tokenizer.encode(text), *end][:_MAX_WORDS]


def default_dimension(width: int) -> int:
    """Return a sine whose angle at the first words is neither tiny nor makes full turns."""
    return 2 * (width * 3 // 32)


def filled_in(chosen_entry: EncodingEntry, width: int, base: float) -> list[str]:
    """Return the formula with its numbers, a step per line, in LaTeX."""
    function, exponent = rf"\{chosen_entry.function}", f"{2 * chosen_entry.pair}/{width}"
    return [
        rf"i=\lfloor {chosen_entry.dimension}/2\rfloor={chosen_entry.pair}",
        rf"{base:.10g}^{{{exponent}}}={chosen_entry.divisor:.5g}",
        rf"\frac{{{chosen_entry.position}}}{{{chosen_entry.divisor:.5g}}}={chosen_entry.angle:.5g}\text{{ radians}}",
        rf"PE_{{({chosen_entry.position},\,{chosen_entry.dimension})}}={function}({chosen_entry.angle:.5g})={chosen_entry.value:.4f}",
    ]


def _checked(chosen_entry: EncodingEntry, model: Translator, width: int, base: float) -> str:
    """Return the same number in the model's own table, or why there is none."""
    model_value = own_number(chosen_entry, model, width, base)
    if model_value is None:
        return "The model in use has no such number in a table, to compare with."
    return minus(
        f":material/check_circle: The model's own table has {model_value:.4f} there: it differs by "
    ) + two_digits(abs(model_value - chosen_entry.value))


def own_number(chosen_entry: EncodingEntry, model: Translator, width: int, base: float) -> float | None:
    """Return what the model adds at that position and dimension; None where it doesn't add this formula."""
    positions = model.model.encoder.embedding.positions
    if not isinstance(positions, SinusoidalPositions) or width != model.model.config.d_model or base != 10_000:
        return None
    if chosen_entry.position >= len(positions.table):  # the model reads no sentence so long
        return None
    return float(positions.table[chosen_entry.position, chosen_entry.dimension])


def exponent_lines(base: float) -> list[str]:
    """Return why a frequency is an exponential, a step per line, in LaTeX."""
    b = f"{base:.10g}"
    return [
        rf"\omega_i&=\frac{{1}}{{{b}^{{2i/d}}}}={b}^{{-2i/d}}",
        rf"&=\left(e^{{\ln {b}}}\right)^{{-2i/d}}",
        rf"&=\exp\!\left(-\frac{{2i}}{{d}}\,\ln {b}\right)",
    ]


def _as_code(width: int, base: float) -> None:
    with st.expander("Why code has exp and log in it"):
        st.latex(r"\begin{aligned}" + r"\\[6pt]".join(exponent_lines(base)) + r"\end{aligned}")
        st.markdown(
            "One divided by a power is the power with a minus. Every number is e to its logarithm. And a power of a "
            "power multiplies the exponents. So code takes one logarithm of the base, "
            "multiplies it by evenly spaced numbers, and raises e to all of them at once; positions are multiplied by "
            "these frequencies, not divided by powers. The numbers are the same: in single precision, the "
            f"{width // 2:,} frequencies here differ by a share of {two_digits(exp_log_difference(width, base))} at "
            "most. Without the exp, the frequencies would be negative numbers on a straight line."
        )


def _why_this_base(width: int, base: float) -> None:
    """Draw what other bases would do, from the frequencies of this width."""
    with st.expander("Why 10,000?"):
        st.markdown(
            "The paper gives no reason. The base sets how slow the slowest wave is, and with it what a network can "
            "tell apart. With a small base every wave is fast: two words ten apart already have little in common, and "
            "nothing says near from far. With a large one most waves hardly move within a sentence: numbers that say "
            "nothing, and neighbours that are almost the same. 10,000 is far above the length of a sentence and still "
            "leaves half of the waves something to do."
        )
        bases = sorted({*BASES, base})
        effects = [base_effects(width, each) for each in bases]
        similarity_columns = [f"Similarity {distance} apart" for distance in DISTANCES]
        table = {
            "Base": [f"{each:,.10g}" for each in bases],
            "Slowest wave, positions": [f"{effect.slowest:,.0f}" for effect in effects],
            **{name: [effect.similarities[i] for effect in effects] for i, name in enumerate(similarity_columns)},
            f"Waves that hardly move in {LONG_SENTENCE_POSITIONS}": [percent(effect.still) for effect in effects],
        }
        numbers = dict.fromkeys(similarity_columns, st.column_config.NumberColumn(format="%.3f"))
        st.dataframe(table, hide_index=True, column_config=numbers, key="bases")
        st.caption(
            f"At width {width:,}: the cosine of two encodings, and the share of waves that turn less than a tenth of a "
            f"circle in {LONG_SENTENCE_POSITIONS} positions."
        )
