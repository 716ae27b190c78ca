"""How a BPE is learned from a typed text: pair counts, merge by merge, beside the merges of the model's tokenizer."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from headlight.corpora.cutting import Merges, has_merges
from headlight.corpora.learned_merges import MAX_LEARNED_CHARACTERS, LearnedMerges, Pair, learn_merges
from headlight.formatting import plural
from headlight.glossary import explained
from transformer.tokenizers import SPECIALS, Tokenizer, label
from ui.anatomy.chosen import ChosenPart
from ui.anatomy.embedding import chips_html, joined_html, spelled, tokenizer_of
from ui.anatomy.view import AnatomyView
from ui.state.cache import cached
from ui.state.view import bound
from ui.widgets.errors import plain_errors
from ui.widgets.sentence_box import sentence_box
from ui.widgets.table import Html, table_html

# The example of Sennrich et al. (2016), section 3.2, with each word as often as their table says.
TEXT = "low low low low low lower lower newest newest newest newest newest newest widest widest widest"
FIRST_MERGES, MAX_PAIRS, MAX_MERGES = 3, 8, 10  # merges that the slider opens with; rows of the two tables


def offer(chosen: ChosenPart) -> None:
    """Draw an expander, closed at first unless the address has a text."""
    view: AnatomyView = st.session_state["view"]
    expander = st.expander(
        "Learn a BPE from your own text", expanded=view.learn is not None, key="learn-bpe", on_change="rerun"
    )
    if expander.open:
        with expander, plain_errors():
            _draw(tokenizer_of(chosen.model, chosen.stack), view)


def _draw(tokenizer: Tokenizer, view: AnatomyView) -> None:
    st.caption(
        explained(
            "BPE starts with single characters. It counts the pairs of neighbours within words, joins the most "
            "frequent pair wherever it occurs, and counts again. Each merge adds a token to the vocabulary.",
            "BPE",
            "vocabulary",
        )
    )
    text = sentence_box(
        "Text to learn from",
        TEXT if view.learn is None else view.learn,
        "learn",
        max_chars=MAX_LEARNED_CHARACTERS,
        placeholder="Type a text and press Enter",
    )
    if not text.replace("▁", " ").strip():
        st.caption("There is nothing to learn from: the text is empty.")
        return
    learned = _learned(text)
    merges = _chosen_merges(learned, view)
    _tables(learned, merges, tokenizer)
    _splits(learned, merges, text, tokenizer)


@cached(40, "Learning merges")
def _learned(text: str) -> LearnedMerges:
    return learn_merges(text)


def _chosen_merges(learned: LearnedMerges, view: AnatomyView) -> int:
    """Draw the slider of the vocabulary's size, and return how many merges fit into it."""
    least, most = learned.sizes[0], learned.sizes[-1]
    size = least
    if most > least:
        opening = learned.sizes[min(FIRST_MERGES, len(learned.merges))]
        size = st.slider(
            "Size of the vocabulary",
            least,
            most,
            min(max(view.vocabulary or opening, least), most),
            **bound("vocabulary", f"vocabulary-{least}-{most}"),
        )
    merges = learned.merges_within(size)
    st.caption(
        f"{size:,} tokens: {len(SPECIALS)} special ones, {plural(len(learned.alphabet), 'character')} and "
        f"{plural(size - least, 'joined piece')}. ▁ is the space before a word."
    )
    return merges


def _tables(learned: LearnedMerges, merges: int, tokenizer: Tokenizer) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**Merges so far**")
        if merges:
            st.html(merges_html(learned, merges, tokenizer))
        if merges > MAX_MERGES:
            st.caption(f"The last {MAX_MERGES} of {merges:,}.")
        if not merges:
            st.caption("None yet: each character is a token.")
    with right:
        st.markdown("**Pairs now**")
        pairs = learned.pairs(merges)
        if merges == len(learned.merges):
            st.caption("No pair occurs twice any more, so learning ends here.")
            return
        st.html(pairs_html(pairs))
        st.caption(
            f"{plural(len(pairs), 'different pair')}. Of pairs that occur equally often, the one whose first piece has "
            "been in the vocabulary longer is joined first, then the one whose second piece has."
        )


def merges_html(learned: LearnedMerges, merges: int, tokenizer: Tokenizer) -> str:
    """Return the last of the first `merges` merges with their counts, beside the tokenizer's own of the same number."""
    first = max(0, merges - MAX_MERGES)
    tokenizer_merges = Merges(tokenizer).learned(first, merges) if has_merges(tokenizer) else []
    rows = []
    for n in range(first, merges):
        cells: list[str] = [f"{n + 1}", _pair(learned.merges[n]), f"{learned.counts[n]:,}"]
        if tokenizer_merges:
            cells.append(
                joined_html(spelled(tokenizer, tokenizer_merges[n - first]))
                if n - first < len(tokenizer_merges)
                else ""
            )
        rows.append(cells)
    heads = ["", "Joined here", "Times", *["This model's tokenizer"] * bool(tokenizer_merges)]
    return table_html("merges lined", rows, heads, numbers=(2,))


def pairs_html(pairs: Sequence[tuple[Pair, int]]) -> str:
    """Return the first pairs with their counts; the first of all is joined next."""
    rows = [(_pair(pair), f"{count:,}", "joined next" * (not n)) for n, (pair, count) in enumerate(pairs[:MAX_PAIRS])]
    return table_html("merges lined", rows, ("Pair", "Times", ""), numbers=(1,))


def _pair(pair: Pair) -> Html:
    return joined_html([label(piece) for piece in pair])


def _splits(learned: LearnedMerges, merges: int, text: str, tokenizer: Tokenizer) -> None:
    pieces = [piece for word in learned.pieces(merges) for piece in word]
    newest = "".join(learned.merges[merges - 1]) if merges else ""
    st.markdown(f"**The text in this vocabulary** :gray[{plural(len(pieces), 'token')}]")
    st.html(f'<div class="cut">{chips_html([label(piece) for piece in pieces], label(newest))}</div>')
    if newest:
        st.caption("Outlined: the piece that the last merge made.")
    ids = tokenizer.encode(text)
    st.markdown(f"**The text in this model's tokenizer** :gray[{plural(len(ids), 'token')}]")
    st.html(f'<div class="cut">{chips_html(tokenizer.labels(ids))}</div>')
