"""Words in a plane: their embeddings, and the queries and keys that the chosen head makes of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import streamlit as st

from headlight.analysis.plane import Plane, plane
from headlight.charts.colours import theme_named
from headlight.charts.plane import words_in_plane
from headlight.formatting import minus, percent, plural
from headlight.glossary import explained
from transformer.config import ModelConfig
from transformer.t5 import T5Config
from transformer.tokenizers import Tokenizer
from ui.anatomy.chosen import ChosenPart
from ui.anatomy.embedding import tokenizer_of
from ui.anatomy.matrix_table import MatrixAxes, matrix_html, side_by_side
from ui.anatomy.passes import words_at_head
from ui.anatomy.view import MAX_WORDS_CHARACTERS, AnatomyView
from ui.state.view import bound
from ui.viewer.component import plot
from ui.widgets.disclosure import draw_when_open
from ui.widgets.errors import plain_errors
from ui.widgets.table import number_table
from ui.widgets.text import literal

MAX_WORDS, DEFAULT_WORDS = 8, 5
MAX_LISTED_TOKENS = 12  # of a word that is spelled out in tokens


def draw(chosen: ChosenPart) -> None:
    """Draw typed words as embeddings, as queries and keys of the chosen head, and the scores between them."""
    if chosen.site.kind == "cross":
        st.info(
            "In cross-attention the queries come from the decoder and the keys from the encoder's output, so there is "
            "no embedding that both are made of. Choose a self-attention on the map.",
            icon=":material/info:",
        )
        return
    view: AnatomyView = st.session_state["view"]
    tokenizer = tokenizer_of(chosen.model, chosen.stack)
    st.caption(
        explained(
            "W_Q and W_K are two linear maps of the same embedding: the query is what a word looks for, the key what "
            "it is found by. Type words and see where this head's two maps move them.",
            "query",
            "key",
        )
    )
    default = " ".join(default_words(tokenizer, chosen.tokens.ids))
    typed = st.text_input(
        "Words",
        default if view.plane is None else view.plane,
        max_chars=MAX_WORDS_CHARACTERS,
        placeholder="apple market cellphone",
        help=f"Up to {MAX_WORDS} words, with spaces or commas between them.",
        **bound("plane"),
    )
    with plain_errors():
        words = split_words(typed)
        encoded = {word: ids for word in words[:MAX_WORDS] if (ids := tuple(tokenizer.encode(word)))}
        if not encoded:
            st.caption("There is nothing to draw: type a word or more.")
            return
        if len(words) > MAX_WORDS:
            st.caption(f"The first {MAX_WORDS} of {len(words)} words are drawn.")
        _pictures(chosen, encoded, tokenizer)


def default_words(tokenizer: Tokenizer, ids: Sequence[int]) -> list[str]:
    """Return the first words of the sentence, or of a single word (the tasks with letters) its first tokens."""
    for groups in (tokenizer.word_groups(ids), [[i] for i in range(len(ids))]):
        texts = [tokenizer.decode([ids[i] for i in group]) for group in groups]
        words = [word for text in texts for word in split_words(text) if any(map(str.isalnum, word))]
        if len(words) > 1:
            break
    return [*dict.fromkeys(words)][:DEFAULT_WORDS]


def split_words(text: str) -> list[str]:
    """Return the different words of a text; spaces and commas are between them."""
    return [word for word in dict.fromkeys(re.split(r"[\s,،、，]+", text)) if word]


def _pictures(chosen: ChosenPart, words: dict[str, tuple[int, ...]], tokenizer: Tokenizer) -> None:
    vectors = words_at_head(chosen.name, chosen.site, chosen.head, tuple(words.values()))
    names, theme = [*words], st.context.theme.type or "light"
    first, second = plane(vectors.embeddings), plane(np.vstack([vectors.queries, vectors.keys]))
    queries, keys = np.split(second.points, 2)
    d_model, d_head = vectors.embeddings.shape[1], vectors.queries.shape[1]
    left, right = st.columns(2, gap="large")
    with left:
        plot(
            words_in_plane(names, {"embedding": first.points}, first.origin, "Embeddings", theme=theme),
            key="plane-embeddings",
        )
        st.caption(describe_plane(first, f"these {plural(len(names), 'embedding')} of {d_model} numbers"))
    with right:
        kinds = {"key": keys, "query": queries}
        plot(words_in_plane(names, kinds, second.origin, "Queries and keys", theme=theme), key="plane-queries")
        several = f"these queries and keys of {d_head} numbers"
        st.caption(describe_plane(second, several))
    title = f"Scores, q · k / √{d_head}" if chosen.attention.scale is None else "Scores, q · k"
    limit = float(np.abs(vectors.scores).max())
    axes = MatrixAxes(names, names, np.zeros(vectors.scores.shape, bool))
    left, right = st.columns(2, gap="large")
    with left:
        table = matrix_html(title, vectors.scores, axes, theme_named(theme), (-limit, limit))
        st.html(side_by_side([table]))
    with right:
        st.caption(describe_scores(names, vectors.scores))
        st.caption(describe_embeddings(chosen.config, chosen))
        for split in describe_tokens(words, tokenizer):
            st.caption(split)
    draw_when_open("This plane as a table", "plane-as-table", _table, names, first, queries, keys)


def describe_plane(plane: Plane, vectors: str) -> str:
    """Say how much of the variance the plane shows."""
    if not plane.shares.any():
        return f"There is no plane to choose for {vectors}: nothing varies among them."
    return explained(
        f"The plane in which {vectors} vary most (PCA) shows {percent(float(plane.shares.sum()))} of their variance: "
        f"{percent(float(plane.shares[0]))} from left to right, {percent(float(plane.shares[1]))} up and down. All "
        "lines begin at the vector 0.",
        "PCA",
    )


def describe_scores(names: Sequence[str], scores: np.ndarray) -> str:
    """Say what the table has, and where its two halves differ most."""
    caption = "Rows are queries, columns keys. The scores use all numbers of the vectors, not the plane."
    if len(names) == 1:
        return f"{caption} Type a second word to see how two words score each other."
    differences = np.abs(scores - scores.T)
    i, j = divmod(int(differences.argmax()), len(names))
    if not differences[i, j]:
        return caption
    query, key = literal(names[i]), literal(names[j])
    return (
        f"{caption} The table is not symmetric, since what a word looks for is not what it is: {query} scores {key} "
        + minus(f"{scores[i, j]:.2f}, and {key} scores {query} {scores[j, i]:.2f}.")
    )


def describe_embeddings(config: ModelConfig, chosen: ChosenPart) -> str:
    """Say in what the vectors differ from those that the head reads in a sentence."""
    layer = chosen.site.layer + 1
    normed = " They are shown after the layer norm in front of this head." if config.norm == "pre" else ""
    if layer > 1:
        return (
            f"**Not what the model does:** in a sentence this head reads what the {plural(layer - 1, 'layer')} below "
            f"left in the residual stream. Here its maps are applied to the embeddings themselves.{normed}"
        )
    if isinstance(config, T5Config):
        added = "The bias of the distance, which the model adds to the scores, is left out here."
    elif config.positions == "none":
        added = "In a sentence the head reads the same vectors: this model has no positional encoding."
    else:
        added = "In a sentence each embedding has the encoding of its position added; here it is left out."
    return added + normed


def describe_tokens(words: dict[str, tuple[int, ...]], tokenizer: Tokenizer) -> list[str]:
    """Say which words are several tokens, or unknown to the vocabulary."""
    notes = []
    for word, ids in words.items():
        if len(ids) > 1:
            labels = [literal(label) for label in tokenizer.labels(ids[:MAX_LISTED_TOKENS])]
            more = " …" * (len(ids) > MAX_LISTED_TOKENS)
            notes.append(
                f"{literal(word)} is {len(ids)} tokens ({' · '.join(labels)}{more}). Its vector is their mean, so its "
                "query is the mean of their queries."
            )
        elif ids[0] == tokenizer.unk_id:
            unknown = literal(tokenizer.label(ids[0]))
            notes.append(f"{literal(word)} is not in the vocabulary: the model reads {unknown}.")
    return notes


def _table(names: Sequence[str], embeddings: Plane, queries: np.ndarray, keys: np.ndarray) -> None:
    columns: dict[str, list[str] | list[float]] = {"Word": list(names)}
    for kind, points in (("Embedding", embeddings.points), ("Query", queries), ("Key", keys)):
        columns |= {f"{kind}, {axis}": points[:, i].tolist() for i, axis in enumerate(("across", "up"))}
    number_table(columns, 3, "plane-table")
