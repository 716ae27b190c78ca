"""Why the chosen token rather than another candidate: the difference of two logits as a sum of direct effects."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from transformer import Trace, Translator
from transformer.analysis.why import Contrast
from transformer.charts import difference_spec
from transformer.charts.colours import LESS, MORE, theme_named
from ui.state.view import update, widget_key
from ui.viewer.plot import plot
from ui.why.passes import candidates_of, contrast_of
from ui.why.tables import Row, table
from ui.why.view import WhyView
from ui.widgets.text import literal, signed

NAMES = {
    "embedding": "Embedding",
    "self": "Decoder self-attention",
    "cross": "Cross-attention",
    "feed-forward": "Feed-forward",
    "bias": "Bias",
}


def section(name: str, model: Translator, view: WhyView, trace: Trace, step: int) -> None:
    """The choice of the other token, then the parts in order."""
    token, written = trace.writes.labels[step], trace.target.ids[step + 1]
    labels = model.checkpoint.target_tokenizer.labels
    offered = candidates_of(name, trace, step)
    instead = model.token(view.instead, written) if view.instead else offered[0][0]
    other = labels([instead])[0]
    st.subheader(f"“{literal(token)}” rather than “{literal(other)}”", anchor="rather-than")
    key, chances = widget_key("instead"), {labels([at])[0]: chance for at, chance in offered}
    st.selectbox(
        "Instead of",
        list(dict.fromkeys([*chances, other])),
        index=list(dict.fromkeys([*chances, other])).index(other),
        format_func=lambda one: f"{one} ({chances[one]:.2g})" if one in chances else one,
        accept_new_options=True,
        help="The most probable other tokens with their probabilities; or type a token of the vocabulary.",
        key=key,
        on_change=lambda: update(step=step + 1, instead=st.session_state[key]),
    )
    parts, gradient = contrast_of(name, trace, step, instead)
    st.markdown(
        f"The difference of the two logits is **{signed(parts.difference, plus=True)}**. Orange is towards "
        f"“{literal(token)}”, blue towards “{literal(other)}”."
    )
    theme = st.context.theme.type or "light"
    plot(waterfall(parts, theme), key="why-waterfall")
    st.caption(
        f":material/check_circle: The parts sum to the difference: {signed(parts.total)} = {signed(parts.difference)}. "
        "The scale of the final norm (post-norm: of every norm) is held at its value."
    )
    heads = np.concatenate([parts.parts["self"], parts.parts["cross"]], axis=1)
    count = heads.shape[1] // 2
    columns = [f"{kind} {head + 1}" for kind in ("self", "cross") for head in range(count)]
    rows = [f"layer {layer + 1}" for layer in range(len(heads))]
    spec = difference_spec(
        heads,
        rows,
        columns,
        name="the difference of the logits",
        theme=theme,
        row_title="decoder layer",
        column_title="head",
        height=130 + 40 * len(rows),
    )
    plot(spec, key="why-heads")
    st.caption("What each head adds to the difference, in logits, by what it writes itself.")
    with st.expander("As tables"):
        table(
            [{"Part": NAMES[part], "Logits": float(values.sum())} for part, values in parts.parts.items()], "why-parts"
        )
        by_head: list[Row] = [
            {"Head": f"{row}, {column}", "Logits": float(heads[a, b])}
            for a, row in enumerate(rows)
            for b, column in enumerate(columns)
        ]
        table(by_head, "why-by-head")
    st.markdown("**Gradient × input of the difference**, to first order, in logits")
    pairs = zip(trace.source.labels, gradient.tolist(), strict=True)
    table([{"Source token": label, "Logits": value} for label, value in pairs], "why-gradient")
    with st.expander("How it is measured"):
        st.markdown(
            "Direct logit attribution (Elhage et al. 2021, *A Mathematical Framework for Transformer Circuits*): the "
            "decoder's last state is a sum of what each part wrote. What a part does by way of others that read it is "
            "counted as theirs. Gradient × input of the difference: Yin and Neubig 2022, *Interpreting Language "
            "Models with Contrastive Explanations*."
        )


def waterfall(parts: Contrast, theme: str) -> go.Figure:
    """The parts one after another, and what they come to."""
    colours = theme_named(theme)
    effects = {NAMES[part]: float(values.sum()) for part, values in parts.parts.items()}
    figure = go.Figure(
        go.Waterfall(
            orientation="h",
            y=[*effects, "Difference"],
            x=[*effects.values(), 0.0],
            measure=["relative"] * len(effects) + ["total"],
            text=[signed(effect, plus=True) for effect in (*effects.values(), parts.difference)],
            increasing={"marker": {"color": MORE}},
            decreasing={"marker": {"color": LESS}},
            totals={"marker": {"color": colours.muted}},
        )
    )
    figure.update_layout(
        height=300,
        margin={"l": 8, "r": 8, "t": 8, "b": 48},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": colours.text},
        xaxis={"title": "logits", "gridcolor": colours.line},
        yaxis={"autorange": "reversed", "automargin": True},
        meta=f"The parts of a difference of two logits, {signed(parts.difference, plus=True)}.",
    )
    return figure
