"""The tokenizer of a model, to be tried."""

from __future__ import annotations

import html
from dataclasses import dataclass

import streamlit as st

from headlight.charts.colours import OKABE_ITO
from headlight.formatting import plural
from headlight.graphemes import right_to_left, sentence_dir, token_dir
from headlight.importers.examples import examples
from transformer import Translator
from transformer.tokenizers import SPACE, SPECIALS, Tokenizer, label
from ui.checkpoints.listing import ListedModel, open_listed
from ui.widgets.errors import plain_errors
from ui.widgets.sentence_box import sentence_box

_HUES = OKABE_ITO[:4]
_UNKNOWN = {SPECIALS[1], "<unk>", "<UNK>", "[unk]"}
MAX_LISTED_PIECES = 400
MAX_TEXT_CHARACTERS = 5_000
SENTENCE = "A little girl is sitting on a bench."
EXAMPLE_TOKENS = 12


@dataclass(frozen=True)
class TokenPiece:
    label: str
    id: int
    word: int  # of which it is a part, from 0
    first: bool  # of its word
    unknown: bool


def cut(tokenizer: Tokenizer, text: str) -> list[TokenPiece]:
    """Return the text as the tokenizer splits it."""
    ids = tokenizer.encode(text)
    pieces = [tokenizer.piece(id) for id in ids]
    labelled = []
    word, after_space = -1, False
    for group in tokenizer.word_groups(ids, text):
        word += not after_space  # a lone space belongs to what is unknown after it
        for at in group:
            first = at == group[0] and not after_space
            labelled.append(TokenPiece(label(pieces[at]), ids[at], word, first, pieces[at] in _UNKNOWN))
        after_space = all(pieces[at] in (SPACE, " ") for at in group)
    return labelled


@st.fragment
def draw_tokens(entry: ListedModel) -> None:
    st.markdown("**Try the tokenizer**")
    with plain_errors():
        model = open_listed(entry.name)
        tokenizer = _chosen(model)
        text = sentence_box(
            "Text for the tokenizer",
            example(model, tokenizer),
            key=f"tokenizer-{entry.name}-{id(tokenizer)}",
            max_chars=MAX_TEXT_CHARACTERS,
            placeholder="Type something and press Enter",
            label_visibility="collapsed",
        )
        pieces = cut(tokenizer, text)
        if pieces:
            st.html(chips(pieces[:MAX_LISTED_PIECES]))
        st.caption(summary(pieces))


def _chosen(model: Translator) -> Tokenizer:
    checkpoint = model.checkpoint
    if checkpoint.source_tokenizer is checkpoint.target_tokenizer:
        return checkpoint.source_tokenizer
    side = st.segmented_control(
        "Whose",
        ["Source", "Target"],
        default="Source",
        required=True,
        key="tokenizer-side",
        label_visibility="collapsed",
    )
    return checkpoint.source_tokenizer if side == "Source" else checkpoint.target_tokenizer


def example(model: Translator, tokenizer: Tokenizer) -> str:
    """Return a text that the tokenizer can split: one of the card's, a sentence, or else a few of its tokens."""
    in_card = examples(model.card)
    first = in_card[0].text if in_card else SENTENCE
    if tokenizer is model.checkpoint.source_tokenizer:
        try:
            tokenizer.encode(first)
            return first
        except ValueError:  # a vocabulary of ids knows no word
            pass
    return tokenizer.decode(range(min(EXAMPLE_TOKENS, tokenizer.vocab_size)))


def chips(pieces: list[TokenPiece]) -> str:
    """Return a chip per piece, with its id below it; a bar marks where a word begins."""
    tint = "44" if st.context.theme.type == "dark" else "33"
    parts, labels = [], [piece.label for piece in pieces]
    leftwards = right_to_left(labels)
    for piece in pieces:
        hue = _HUES[piece.word % len(_HUES)]
        bar = f";box-shadow:inset 0 -2.5px 0 {hue}" if piece.first else ""
        title = "not in the vocabulary" if piece.unknown else f"id {piece.id}"
        parts.append(
            f'<span class="piece {"unknown" * piece.unknown}" title="{title}" '
            f'dir="{token_dir(piece.label, leftwards)}" style="background:{hue}{tint}{bar}">'
            f"{html.escape(piece.label)}<small>{piece.id}</small></span>"
        )
    group = f'role="group" aria-label="Tokens and their ids" dir="{sentence_dir(labels)}"'
    return f'<div class="pieces" {group}>{"".join(parts)}</div>'


def summary(pieces: list[TokenPiece]) -> str:
    if not pieces:
        return "No tokens."
    words = pieces[-1].word + 1
    unknown = sum(piece.unknown for piece in pieces)
    unread = "none unknown" if not unknown else f"{unknown:,} unknown (dashed)"
    first_note = f" The first {MAX_LISTED_PIECES} are shown." if len(pieces) > MAX_LISTED_PIECES else ""
    return (
        f"{plural(len(pieces), 'token')} for {plural(words, 'word')}, {len(pieces) / words:.2f} per word, {unread}. "
        f"A bar below marks the start of a word.{first_note}"
    )
