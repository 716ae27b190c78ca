"""A reference: the probability of each of its tokens, and how similar the model's translation is."""

from __future__ import annotations

import html
import math

import streamlit as st

from headlight.analysis.reference import Similarity, TokenRead, read_reference, similarity
from headlight.formatting import probability_text, signed, translation_score
from headlight.graphemes import right_to_left, sentence_dir, token_dir
from headlight.language import gettext, localized, translatable
from transformer import Translator
from transformer.tokenizers import Tokenizer
from ui.decoding.payload import output_text
from ui.decoding.player import horizon
from ui.decoding.search import Search
from ui.decoding.view import DecodingView
from ui.state import models
from ui.state.cache import cached
from ui.widgets.bleu import how_bleu_counts
from ui.widgets.disclosure import draw_when_open
from ui.widgets.errors import plain_errors
from ui.widgets.sentence import token_bar
from ui.widgets.sentence_box import sentence_box


def reference(name: str, text: str, model: Translator, search: Search, view: DecodingView) -> None:
    """Draw a box for the reference, and where there is one, its probabilities and scores."""
    st.subheader(gettext("Compare with a reference"), anchor="reference")
    sentence_box(
        gettext("Reference: a translation by a person, if you have one"),
        view.reference,
        "reference",
        convert=lambda typed: typed.strip() or None,
        placeholder=gettext("Type a translation and press Enter"),
    )
    if not view.reference:
        return
    if horizon(search, view) is not None:  # the scores are of the whole output
        text = gettext("The comparison is hidden until the last step is reached or what comes later is shown.")
        st.caption(f":material/visibility_off: {text}")
        return
    with plain_errors():
        output = output_text(model, search)
        read, similarity = _read(name, text, view.reference, output)
        tokenizer = model.checkpoint.target_tokenizer
        labels = tokenizer.labels([token.id for token in read])
        _strip(tokenizer, labels, read)
        _numbers(search, read, similarity)
        how_bleu_counts(output, view.reference)
        draw_when_open(gettext("The reference as a table"), "reference-as-table", _as_table, tokenizer, labels, read)


@cached(100, translatable("Reading the reference"), key=models.versioned)
def _read(name: str, text: str, reference: str, output: str) -> tuple[list[TokenRead], Similarity]:
    model = models.translator(name)
    ids = model.encode_target(reference)[1:]
    return read_reference(model.prepared, model.encode(text), ids), similarity(output, reference)


def _strip(tokenizer: Tokenizer, labels: list[str], read: list[TokenRead]) -> None:
    """Draw each token over a bar as long as its probability, and below it the number."""
    parts = []
    leftwards = right_to_left(labels)
    for label, token in zip(labels, read, strict=True):
        probability = math.exp(token.log_prob)
        more = [gettext("rank {rank}", rank=localized(f"{token.rank:,}"))]
        if token.rank > 1:
            number = signed(math.exp(token.likeliest_log_prob))
            more.append(
                gettext("most probable: {token}, {number}", token=tokenizer.label(token.likeliest), number=number)
            )
        below = f"<small>{html.escape(probability_text(probability))}</small>"
        parts.append(token_bar(html.escape(label), probability, token_dir(label, leftwards), more, below))
    spoken = html.escape(gettext("The reference; bars show token probabilities. The table below has the numbers."))
    st.html(
        f'<div class="reference tokens" role="group" aria-label="{spoken}" dir="{sentence_dir(labels)}">'
        f"{''.join(parts)}</div>"
    )


def _numbers(search: Search, read: list[TokenRead], similarity: Similarity) -> None:
    total = sum(token.log_prob for token in read)
    output_log_prob = search.tree.nodes[search.tree.winner].total
    with st.container(horizontal=True, gap="large"):
        nats = [gettext("{number} nats", number=signed(number)) for number in (total, output_log_prob)]
        st.metric(gettext("Sequence log-probability of the reference"), nats[0], width="content")
        st.metric(gettext("Sequence log-probability of the output"), nats[1], width="content")
        st.metric(
            gettext("Sentence BLEU"),
            translation_score(similarity.bleu),
            width="content",
            help=gettext(
                "Output against reference, 0 to 100: shared sequences of one to four words. sacreBLEU, {signature}",
                signature=similarity.signature,
            ),
        )
        st.metric(
            gettext("Sentence chrF"),
            translation_score(similarity.chrf),
            width="content",
            help=gettext("Output against reference, 0 to 100: shared sequences of one to six characters (sacreBLEU)."),
        )
    if total > output_log_prob + 1e-4:
        st.caption(
            gettext("The model gives the reference a higher probability than its own output: the search missed it.")
        )


def _as_table(tokenizer: Tokenizer, labels: list[str], read: list[TokenRead]) -> None:
    table = {
        gettext("Token"): labels,
        gettext("Probability"): [math.exp(token.log_prob) for token in read],
        gettext("Log-probability"): [token.log_prob for token in read],
        gettext("Rank"): [token.rank for token in read],
        gettext("Most probable"): tokenizer.labels([token.likeliest for token in read]),
        gettext("Its probability"): [math.exp(token.likeliest_log_prob) for token in read],
    }
    numbers = (gettext("Probability"), gettext("Log-probability"), gettext("Its probability"))
    columns = {label: st.column_config.NumberColumn(format="%.3f") for label in numbers}
    st.dataframe(table, hide_index=True, column_config=columns, key="reference-table")
