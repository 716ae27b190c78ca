"""Where the chosen token came from: its shares, beside attention and what leaving each source token out costs."""

from __future__ import annotations

import numpy as np
import streamlit as st

from transformer import Trace, Translator
from transformer.analysis.why import rank_correlation
from ui.why.passes import Origins, origins_of
from ui.why.tables import Row, table
from ui.widgets.text import literal, signed


def section(name: str, model: Translator, trace: Trace, step: int) -> None:
    """The sentence, the tables, the check, and how it is measured."""
    origins = origins_of(name, trace)
    token = trace.writes.labels[step]
    st.subheader(f"Where “{literal(token)}” came from", anchor="where-it-came-from")
    st.markdown(sentence(origins, model, trace, step))
    source, prefix = origins.shares.source[step], origins.shares.prefix[step]
    raw, left_out = origins.measures["raw attention"][step], origins.left_out[step]
    own = trace.decoder.mean((0, 1))[step]
    rows: list[Row] = [
        {"Token": label, "Side": "source", "Contribution, %": 100 * a, "Attention, %": 100 * b, "Left out, nats": c}
        for label, a, b, c in zip(trace.source.labels, source.tolist(), raw.tolist(), left_out.tolist(), strict=True)
    ]
    rows += [
        {"Token": label, "Side": "so far", "Contribution, %": 100 * a, "Attention, %": 100 * b, "Left out, nats": None}
        for label, a, b in zip(trace.reads.labels[: step + 1], prefix.tolist(), own.tolist(), strict=False)
    ]
    table(rows, "why-contributions", bars=("Contribution, %", "Attention, %"))
    st.caption(
        "Attention is the mean of all heads and layers, of cross-attention for the source and of the decoder's "
        "self-attention for what was written so far. Left out: how much less probable the token becomes without that "
        "source token; negative where it becomes more probable."
    )
    total = float(source.sum() + prefix.sum())
    st.caption(
        f":material/check_circle: Contributions sum to 1: {source.sum():.3f} + {prefix.sum():.3f} = {total:.3f}."
    )
    st.markdown("**Which measure agrees with leaving a token out?**")
    table(agreement(origins), "why-agreement")
    st.caption(
        f"Spearman's rank correlation over the source tokens, mean and standard deviation over the {len(trace.writes)} "
        "steps of this sentence: 1 is the same order, 0 is no relation."
    )
    with st.expander("How it is measured"):
        st.markdown(
            "Contributions: ALTI+ (Ferrando et al. 2022, *Towards Opening the Black Box of Neural Machine "
            "Translation*). Each attention block is taken apart into what every token gives; a token's share is how "
            "much nearer it brings the sum. Value zeroing: Mohebbi et al. 2023, *Quantifying Context Mixing in "
            "Transformers*. Norm-weighted attention: Kobayashi et al. 2020. Rollout: Abnar and Zuidema 2020. "
            "Gradient × input, by its size: Denil et al. 2014."
        )


def sentence(origins: Origins, model: Translator, trace: Trace, step: int) -> str:
    """ "68 % from the English, 32 % from the French so far. Leaving out X changes most." """
    part = 100 * float(origins.shares.source[step].sum())
    source, target = (str(model.card.get(side, side)) for side in ("source", "target"))
    most = trace.source.labels[int(np.abs(origins.left_out[step]).argmax())]
    cost = origins.left_out[step][int(np.abs(origins.left_out[step]).argmax())]
    return (
        f"**{part:.0f} %** from the source ({literal(source)}), **{100 - part:.0f} %** from what was written so far "
        f"({literal(target)}). Leaving out **{literal(most)}** changes most: {signed(cost)} nats."
    )


def agreement(origins: Origins) -> list[Row]:
    """Each measure's rank correlation with leaving out, the best first."""
    rows: list[Row] = []
    for name, values in origins.measures.items():
        each = np.array([rank_correlation(a, b) for a, b in zip(values, origins.left_out, strict=True)])
        known = each[~np.isnan(each)]
        mean, spread = (float(known.mean()), float(known.std())) if len(known) else (None, None)
        rows.append({"Measure": name, "Rank correlation, mean": mean, "Standard deviation": spread})
    return sorted(rows, key=lambda row: -float(row["Rank correlation, mean"] or -2))
