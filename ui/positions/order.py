"""The same words in another order, through the encoder of the model with its positions and without."""

from __future__ import annotations

import html
from collections import Counter
from dataclasses import dataclass
from itertools import islice

import numpy as np
import streamlit as st

from headlight.analysis.order import encoder_states, reordering
from headlight.charts.order import reordered
from headlight.formatting import two_digits
from headlight.importers.examples import examples
from transformer import Translator
from transformer.trace import Tokens
from transformer.translator import describe_tokens
from ui.positions.codes import own_scheme
from ui.positions.view import PositionsView
from ui.state import models
from ui.state.cache import cached
from ui.state.view import write_address
from ui.viewer.component import plot
from ui.widgets.disclosure import draw_when_open
from ui.widgets.errors import plain_errors
from ui.widgets.sentence import token_notes
from ui.widgets.sentence_box import sentence_box

_DRAWN_DIMENSIONS = 12  # of each vector
# Sentences whose words can change positions, in the languages that the models here read.
_SENTENCES = {
    "English": ("the cat sat on the mat", "the mat sat on the cat"),
    "German": ("die Katze sieht den Hund", "den Hund sieht die Katze"),
    "Letters": ("listen", "silent"),
}


@dataclass(frozen=True)
class Orders:
    """Two orders of the same tokens, S of them, and their encodings; vectors are [S, d_model]."""

    tokens: tuple[Tokens, Tokens]
    order: list[int]  # where in the first each token of the second stands
    without_positions: tuple[np.ndarray, np.ndarray]
    with_positions: tuple[np.ndarray, np.ndarray]

    @property
    def labels(self) -> tuple[list[str], list[str]]:
        return self.tokens[0].labels, self.tokens[1].labels

    def differences(self, states: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Return for each token of the second sentence the largest difference to the same one of the first: [S]."""
        return np.abs(states[0][self.order] - states[1]).max(1)


def compare(model: Translator, sentence: str, reordered: str) -> Orders:
    """Compare the encoder states of two orders of the same words, with and without positions.

    Raises ValueError where a sentence can't be read, or where they are not the same tokens.
    """
    ids = model.encode(sentence), model.encode(reordered)
    tokenizer = model.checkpoint.source_tokenizer
    tokens = describe_tokens(tokenizer, ids[0]), describe_tokens(tokenizer, ids[1])
    order = reordering(*ids)
    if order is None:
        raise ValueError(_unshared_tokens(tokens[0].labels, tokens[1].labels))
    without_positions, with_positions = (
        (encoder_states(model.model, ids[0], positions), encoder_states(model.model, ids[1], positions))
        for positions in (False, True)
    )
    return Orders(tokens, order, without_positions, with_positions)


def _unshared_tokens(first: list[str], second: list[str]) -> str:
    """Return the tokens that only one of the sentences has."""
    only = {"first": Counter(first) - Counter(second), "second": Counter(second) - Counter(first)}
    unlike = ", ".join(
        f"{' '.join(islice(tokens.elements(), 8))} only in the {name}" for name, tokens in only.items() if tokens
    )
    return f"These are not the same tokens: {unlike}. Use the same words, equally often, in both sentences."


def default_sentences(model: Translator) -> tuple[str, str]:
    """Return two orders of the same words in the language that the model reads."""
    card = model.card
    if card.get("source") in _SENTENCES:
        return _SENTENCES[card["source"]]
    offered = examples(card)
    first = offered[0].text if offered else "one two three"
    source = model.checkpoint.source_tokenizer
    if not offered and source.unk_id is None:  # a vocabulary of ids only reads nothing else
        first = source.decode([id for id in range(source.vocab_size) if id not in source.special_ids][:4])
    words = first.split()
    return first, " ".join(reversed(words)) if len(words) > 1 else first[::-1]


@st.fragment
def draw_order(name: str, model: Translator) -> None:
    """Draw the comparison; typing here redraws this part and nothing else."""
    view: PositionsView = st.session_state["view"]
    st.subheader("The same words in another order", anchor=False)
    st.caption(
        "Both sentences go through the encoder of the model in use. Beside each word is its output vector; lines join "
        "the same word."
    )
    defaults = default_sentences(model)
    texts = [view.one if view.one is not None else defaults[0], view.other if view.other is not None else defaults[1]]
    for column, field, label, text in zip(
        st.columns(2, gap="large"), ("one", "other"), ("One order", "Another order"), texts, strict=True
    ):
        with column:
            sentence_box(label, text, field)
    with plain_errors():
        _draw(_compare(name, *texts), model)
    write_address()


@cached(20, "Reading both sentences", key=models.versioned)
def _compare(name: str, sentence: str, reordered: str) -> Orders:
    orders = compare(models.translator(name), sentence, reordered)
    for states in (*orders.without_positions, *orders.with_positions):
        states.setflags(write=False)
    return orders


def _draw(orders: Orders, model: Translator) -> None:
    token_notes(orders.tokens[0])
    every_state = (*orders.without_positions, *orders.with_positions)
    magnitudes = np.concatenate([np.abs(states[:, :_DRAWN_DIMENSIONS]).ravel() for states in every_state])
    limit = float(np.percentile(magnitudes, 98)) or 1.0
    kind = own_scheme(model.model.config)
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**Without positions**")
        _draw_states("without", orders, orders.without_positions, limit, _WITHOUT_POSITIONS)
    with right:
        if kind == "none":
            st.markdown("**With positions** :gray[this model has none, so nothing changes]")
        else:
            st.markdown(f"**With positions** :gray[{kind}]")
        caption = _WITHOUT_POSITIONS if kind == "none" else _WITH_POSITIONS
        same = orders.order == sorted(orders.order)
        _draw_states("with", orders, orders.with_positions, limit, _SAME_SENTENCES if same else caption)
    width = orders.with_positions[0].shape[1]
    st.caption(
        f"The first {min(_DRAWN_DIMENSIONS, width)} of {width} dimensions of each vector are drawn; the differences "
        f"are over all, [EOS] included. A word that occurs twice is joined in order. Colours saturate at ±{limit:.2g}."
    )
    draw_when_open("The differences as a table", "order-as-table", _table, orders)


_WITHOUT_POSITIONS = (
    "largest difference once the words are put back in order. The encoder gives the same vectors: who did what is lost."
)
_SAME_SENTENCES = "The two sentences are the same; move a word to see what its position does."
_WITH_POSITIONS = "largest difference for the same word, at “{token}”. A word's position is now part of its vector."


def _table(orders: Orders) -> None:
    differences = {
        "without positions": orders.differences(orders.without_positions).astype(float),
        "with positions": orders.differences(orders.with_positions).astype(float),
    }
    table = {
        "token": orders.labels[1],
        "position in the first": np.asarray(orders.order),
        "position in the second": np.arange(len(orders.order)),
        **differences,
    }
    config = dict.fromkeys(differences, st.column_config.NumberColumn(format="%.2e"))
    st.dataframe(table, hide_index=True, column_config=config, key="order-table")


def _draw_states(key: str, orders: Orders, states: tuple[np.ndarray, np.ndarray], limit: float, caption: str) -> None:
    figure = reordered(
        states[0][:, :_DRAWN_DIMENSIONS],
        states[1][:, :_DRAWN_DIMENSIONS],
        orders.labels,
        orders.order,
        limit=limit,
        theme=st.context.theme.type or "light",
    )
    plot(figure, key=f"order-{key}")
    differences = orders.differences(states)
    token = orders.labels[1][int(differences.argmax())]
    st.html(
        f'<div class="largest-difference difference-{key}"><span>{two_digits(differences.max())}</span>'
        f"<span>{html.escape(caption.format(token=token))}</span></div>"
    )
