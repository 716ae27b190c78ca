"""Two views of an embedding: how a word is split into tokens, and the nearest neighbours of a token."""

from __future__ import annotations

import html
from collections.abc import Sequence

import streamlit as st

from headlight.analysis.neighbours import Neighbour, neighbours, tied, weights
from headlight.corpora.cutting import Merges, WordSplit, describe_splitting, has_merges
from headlight.formatting import minus, plural
from headlight.graphemes import token_dir
from headlight.language import listed
from transformer import Translator
from transformer.tokenizers import Tokenizer
from ui.anatomy.chosen import ChosenPart
from ui.anatomy.view import MAX_WORD_CHARACTERS, AnatomyView
from ui.state.view import bound
from ui.widgets.table import Html, bar, table_html
from ui.widgets.text import literal

_NAMES = {"encoder": "encoder's embedding", "decoder": "decoder's embedding", "output": "output projection"}


def draw(chosen: ChosenPart) -> None:
    """Draw a word merge by merge, then the neighbours of the chosen token."""
    tokenizer = tokenizer_of(chosen.model, chosen.stack)
    ids = chosen.tokens.ids
    st.space("small")
    st.subheader("How a word is cut into tokens", anchor=False)
    st.caption(describe_splitting(tokenizer))
    if has_merges(tokenizer):
        _cut(tokenizer, ids)
    st.space("small")
    st.subheader("What lies near this token", anchor=False)
    _nearest_tokens(chosen, tokenizer, ids[chosen.query])


def _cut(tokenizer: Tokenizer, ids: Sequence[int]) -> None:
    view: AnatomyView = st.session_state["view"]
    word = default_word(tokenizer, ids) if view.cut is None else view.cut
    st.text_input("Word to cut", word, max_chars=MAX_WORD_CHARACTERS, width=260, **bound("cut"))
    merges = Merges(tokenizer)
    cuts = merges.cut(word)
    if not cuts:
        st.caption("There is nothing to cut: the word is empty.")
        return
    for cut in cuts:
        st.html(cut_html(cut, tokenizer))
    pieces = [piece for cut in cuts for piece in cut.pieces]
    steps = sum(len(cut.merges) for cut in cuts)
    caption = f"{plural(steps, 'merge')}, {plural(len(pieces), 'token')}. "
    caption += f"A merge's number is its place among the {len(merges):,} learned."
    if pieces == [tokenizer.inner.id_to_token(id) for id in tokenizer.encode(word)]:
        caption += " :material/check_circle: The tokenizer's own encoding is the same."
    st.caption(caption)


def default_word(tokenizer: Tokenizer, ids: Sequence[int]) -> str:
    """Return the first word of the sentence that is several tokens, else its longest."""
    words = [[ids[i] for i in group] for group in tokenizer.word_groups(ids)]
    words = [word for word in words if not tokenizer.special_ids & {*word}]
    several = [tokenizer.decode(word) for word in words if len(word) > 1]
    return (several or sorted(map(tokenizer.decode, words), key=len, reverse=True) or [""])[0][:MAX_WORD_CHARACTERS]


def cut_html(cut: WordSplit, tokenizer: Tokenizer) -> str:
    """Return a table with a row per merge: its number, the pair, and the state of the word after it."""
    rows: list[tuple[str, tuple[str, ...], tuple[str, ...], str]] = [("as characters", (), cut.start, "")]
    rows += [(f"merge {step.rank + 1:,}", step.pair, step.pieces, step.joined) for step in cut.merges]
    cells = []
    for name, pair, pieces, new in rows:
        (of_new,) = spelled(tokenizer, [new])
        chips = chips_html(spelled(tokenizer, pieces), of_new)
        cells.append((Html(f"{name}<div>{joined_html(spelled(tokenizer, pair))}</div>"), Html(chips)))
    return table_html("cut lined", cells)


def chips_html(labels: Sequence[str], newest: str = "") -> str:
    """Return pieces side by side; those labelled as the `newest` are outlined."""
    return "".join(
        f'<span class="chip{" chosen" if text == newest else ""}" dir="{token_dir(text)}">{html.escape(text)}</span>'
        for text in labels
    )


def joined_html(labels: Sequence[str]) -> Html:
    """Return a pair with a plus between its pieces, each in a box of its own: a vowel sign would join the plus."""
    return Html(" + ".join(f"<span>{html.escape(text)}</span>" for text in labels))


def spelled(tokenizer: Tokenizer, pieces: Sequence[str]) -> list[str]:
    """Return pieces as people see them."""
    ids = [tokenizer.inner.token_to_id(piece) for piece in pieces]
    return [piece if id is None else tokenizer.label(id) for id, piece in zip(ids, pieces, strict=True)]


def tokenizer_of(model: Translator, stack: str) -> Tokenizer:
    """Return the tokenizer of what a stack reads."""
    checkpoint = model.checkpoint
    return checkpoint.source_tokenizer if stack == "encoder" else checkpoint.target_tokenizer


def _nearest_tokens(chosen: ChosenPart, tokenizer: Tokenizer, id: int) -> None:
    model = chosen.model
    st.caption(describe_matrices(tied(model.model)))
    if id in tokenizer.special_ids:
        st.caption(f"{literal(tokenizer.label(id))} is no word; choose another token above to see its neighbours.")
        return
    compared = matrices_of(model, chosen.stack)
    for column, names in zip(st.columns(2, gap="large"), compared, strict=False):
        matrix = weights(model.model)[names[0]].detach().float().cpu().numpy()
        with column:
            title = " = ".join(_NAMES[name] for name in names)
            st.markdown(f"**{title[0].upper()}{title[1:]}** :gray[nearest to {literal(tokenizer.label(id))}]")
            st.html(near_html(neighbours(matrix, id, without=tokenizer.special_ids), tokenizer))
    st.caption(
        "The numbers are cosines between rows of the matrix, the model's own weights: 1 is the same direction, 0 a "
        "right angle. Special tokens are left out."
    )


def matrices_of(model: Translator, stack: str) -> list[list[str]]:
    """Return the matrices with a row per token of a stack: its embedding, and the output where it writes the same."""
    same = model.checkpoint.source_tokenizer is model.checkpoint.target_tokenizer
    names = [stack, "output"] if stack == "decoder" or same else [stack]
    groups = [[name for name in group if name in names] for group in tied(model.model)]
    return [group for group in groups if group]


def describe_matrices(groups: list[list[str]]) -> str:
    """Say which of the three matrices are the same one."""
    names = [["the " + _NAMES[name] for name in group] for group in groups]
    shared = [group for group in names if len(group) > 1]
    if not shared:
        return (
            "The embeddings that read a token and the output projection that writes one are different matrices here: "
            "what is near in one need not be near in the other."
        )
    (group,) = shared
    together = listed(group)
    alone = "".join(f" {group[0][0].upper()}{group[0][1:]} is another." for group in names if len(group) == 1)
    reason = ", so a token is written by the row that reads it" if "output" in max(groups, key=len) else ""
    return f"{together[0].upper()}{together[1:]} are one matrix{reason}.{alone}"


def near_html(neighbours: list[Neighbour], tokenizer: Tokenizer) -> str:
    """Return a bar per neighbour, with its cosine."""
    rows = [
        (
            tokenizer.label(neighbour.id),
            bar(max(neighbour.cosine, 0), "var(--theme-accent)"),
            minus(f"{neighbour.cosine:.2f}"),
        )
        for neighbour in neighbours
    ]
    return table_html("near", rows, numbers=(2,))
