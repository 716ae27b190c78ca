"""The sum that the first layer receives: embeddings and positional encodings of the sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st

from headlight.analysis.order import Embedded, embedded
from headlight.charts.order import sums
from headlight.formatting import two_digits
from transformer import ModelConfig, Translator
from transformer.t5 import T5Config
from transformer.tokenizers import number_duplicates
from transformer.translator import describe_tokens
from ui.positions.view import PositionsView
from ui.state import models
from ui.state.cache import cached
from ui.state.view import bound, write_address
from ui.viewer.component import plot
from ui.widgets.disclosure import draw_when_open
from ui.widgets.errors import plain_errors
from ui.widgets.sentence import source_input, token_notes
from ui.widgets.table import number_table


def draw_added(name: str, model: Translator) -> None:
    """Draw an expander; once open, a sentence and three matrices."""
    view: PositionsView = st.session_state["view"]
    binding = bound("added")
    st.session_state.setdefault(binding["key"], view.added)
    part = st.expander("What it adds to your sentence: embeddings, positional encodings and their sum", **binding)
    if part.open:
        with part:
            text = source_input(model, view)
            with plain_errors():
                _draw(name, model, text)
    write_address()


def _draw(name: str, model: Translator, text: str) -> None:
    ids = model.encode(text)
    parts = _embedded(name, tuple(ids))
    tokens = describe_tokens(model.checkpoint.source_tokenizer, ids)
    token_notes(tokens)
    labels = number_duplicates(tokens.labels)
    matrices = _matrices(parts, model.model.config)
    figure = sums(matrices, labels, theme=st.context.theme.type or "light")
    with st.container(key="added-part"):
        plot(figure, key="added-plot")
    largest_difference = float(np.abs(parts.tokens + parts.positions - parts.both).max())
    st.caption(_caption(parts, model.model.config))
    st.caption(
        f":material/check_circle: Left plus middle equals what the model computed: they differ by "
        f"{two_digits(largest_difference)} at most."
    )
    draw_when_open("The lengths as a table", "added-as-table", _table, labels, matrices)


def _table(labels: Sequence[str], matrices: Mapping[str, np.ndarray]) -> None:
    lengths = {title: np.linalg.norm(part, axis=1).astype(float) for title, part in matrices.items()}
    number_table({"token": labels, **lengths}, 3, "added-table")


def _matrices(parts: Embedded, config: ModelConfig) -> dict[str, np.ndarray]:
    """Return what is drawn, by its title: a model with a layer norm of the sum has one more matrix."""
    scaled = ", scaled" if config.scale_embeddings else ""
    matrices = {f"Token embeddings{scaled}": parts.tokens, "+ encodings": parts.positions}
    if config.embedding_norm:
        return matrices | {"= their sum": parts.both, "layer norm: what layer 1 receives": parts.read}
    return matrices | {"= what layer 1 receives": parts.both}


def _caption(parts: Embedded, config: ModelConfig) -> str:
    length = [two_digits(float(np.linalg.norm(part, axis=1).mean())) for part in parts]
    scaled = f"Embeddings are multiplied by √d_model = {config.d_model**0.5:.3g} before the encodings are added. "
    caption = (
        f"{scaled if config.scale_embeddings else ''}Mean lengths: token embedding {length[0]}, positional encoding "
        f"{length[1]}, sum {length[2]}."
    )
    if config.embedding_norm:
        caption += (
            f" Layer norm brings the sum to mean 0 and variance 1, then applies a gain and a bias: length {length[3]}."
        )
    if config.positions == "none":
        caption += " This model adds nothing for positions"
        caption += ": they are a bias on the scores of its attention." if isinstance(config, T5Config) else "."
    return caption


@cached(20, key=models.versioned)
def _embedded(name: str, ids: tuple[int, ...]) -> Embedded:
    parts = embedded(models.translator(name).model, ids)
    for part in parts:
        part.setflags(write=False)
    return parts
