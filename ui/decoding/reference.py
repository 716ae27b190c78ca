"""A reference: the probability of each of its tokens, and how similar the model's translation is."""

from __future__ import annotations

import html
import math

import streamlit as st

from headlight.analysis.reference import Similarity, TokenRead, read_reference, similarity
from headlight.formatting import probability_text, signed
from headlight.graphemes import right_to_left, sentence_dir, token_dir
from transformer import Translator
from ui.decoding.player import horizon
from ui.decoding.search import Search
from ui.decoding.view import DecodingView
from ui.state import models
from ui.state.cache import cached
from ui.widgets.bleu import how_bleu_counts
from ui.widgets.errors import plain_errors
from ui.widgets.sentence import token_bar
from ui.widgets.sentence_box import sentence_box


def reference(name: str, text: str, model: Translator, search: Search, view: DecodingView) -> None:
    """Draw a box for the reference, and where there is one, its probabilities and scores."""
    st.subheader("Compare with a reference", anchor="reference")
    sentence_box(
        "Reference: a translation by a person, if you have one",
        view.reference,
        "reference",
        convert=lambda typed: typed.strip() or None,
        placeholder="Type a translation and press Enter",
    )
    if not view.reference:
        return
    if horizon(search, view) is not None:  # the scores are of the whole output
        st.caption(
            ":material/visibility_off: The comparison is hidden until the last step is reached or what comes later is "
            "shown."
        )
        return
    with plain_errors():
        read, similarity = _read(name, models.version(name), text, view.reference, output(model, search))
        _strip(model, read)
        _numbers(model, search, read, similarity)
        how_bleu_counts(output(model, search), view.reference)
        _as_table(model, read)


def output(model: Translator, search: Search) -> str:
    """Return what the search ended with, as text."""
    return model.checkpoint.target_tokenizer.decode(search.tree.ids(search.tree.winner))


@cached(100, "Reading the reference")
def _read(
    name: str, version: tuple[int, ...], text: str, reference: str, output: str
) -> tuple[list[TokenRead], Similarity]:
    model = models.translator(name)
    ids = model.encode_target(reference)[1:]
    return read_reference(model.prepared, model.encode(text), ids), similarity(output, reference)


def _names(model: Translator, read: list[TokenRead]) -> list[str]:
    return model.checkpoint.target_tokenizer.labels([token.id for token in read])


def _strip(model: Translator, read: list[TokenRead]) -> None:
    """Return each token over a bar as long as its probability, and below it the number."""
    name = model.checkpoint.target_tokenizer.label
    labels, parts = _names(model, read), []
    leftwards = right_to_left(labels)
    for label, token in zip(labels, read, strict=True):
        probability = math.exp(token.log_prob)
        alternative = ""
        if token.rank > 1:
            better = name(token.likeliest)
            alternative = f"; most probable: {better}, {signed(math.exp(token.likeliest_log_prob))}"
        below = f"<small>{html.escape(probability_text(probability))}</small>"
        more = f", rank {token.rank:,}{alternative}"
        parts.append(token_bar(html.escape(label), probability, token_dir(label, leftwards), more, below))
    spoken = html.escape("The reference; bars show token probabilities. The table below has the numbers.")
    st.html(
        f'<div class="reference tokens" role="group" aria-label="{spoken}" dir="{sentence_dir(labels)}">'
        f"{''.join(parts)}</div>"
    )


def _numbers(model: Translator, search: Search, read: list[TokenRead], similarity: Similarity) -> None:
    total = sum(token.log_prob for token in read)
    output_log_prob = search.tree.nodes[search.tree.winner].total
    with st.container(horizontal=True, gap="large"):
        st.metric("Sequence log-probability of the reference", f"{signed(total)} nats", width="content")
        st.metric("Sequence log-probability of the output", f"{signed(output_log_prob)} nats", width="content")
        st.metric(
            "Sentence BLEU",
            f"{similarity.bleu:.1f}",
            width="content",
            help="Output against reference, 0 to 100: shared sequences of one to four words. sacreBLEU, "
            f"{similarity.signature}",
        )
        st.metric(
            "Sentence chrF",
            f"{similarity.chrf:.1f}",
            width="content",
            help="Output against reference, 0 to 100: shared sequences of one to six characters (sacreBLEU).",
        )
    if total > output_log_prob + 1e-4:
        st.caption("The model gives the reference a higher probability than its own output: the search missed it.")


def _as_table(model: Translator, read: list[TokenRead]) -> None:
    expander = st.expander("The reference as a table", key="reference-as-table", on_change="rerun")
    if not expander.open:
        return
    name = model.checkpoint.target_tokenizer.label
    table = {
        "Token": _names(model, read),
        "Probability": [math.exp(token.log_prob) for token in read],
        "Log-probability": [token.log_prob for token in read],
        "Rank": [token.rank for token in read],
        "Most probable": [name(token.likeliest) for token in read],
        "Its probability": [math.exp(token.likeliest_log_prob) for token in read],
    }
    numbers = ("Probability", "Log-probability", "Its probability")
    columns = {label: st.column_config.NumberColumn(format="%.3f") for label in numbers}
    with expander:
        st.dataframe(table, hide_index=True, column_config=columns, key="reference-table")
