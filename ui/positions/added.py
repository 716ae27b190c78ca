"""What positions add to the sentence: its embeddings, their encodings, and the sum that the first layer receives."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from transformer import Translator
from transformer.analysis.order import Embedded, embedded
from transformer.charts.order import sums
from transformer.data.tokenizers import number_duplicates
from transformer.translator import describe_tokens
from ui import resources
from ui.positions.numbers import small
from ui.positions.view import PositionsView
from ui.resources import plain_errors
from ui.sentence import source_input, unknown_tokens
from ui.view import take, widget_key, write_address
from ui.viewer.plot import plot

_NAMES = ("Token embeddings, scaled", "+ encodings", "= what layer 1 receives")


def section(name: str, model: Translator) -> None:
    """Closed until it is asked for; then a sentence and three matrices."""
    view: PositionsView = st.session_state["view"]
    key = widget_key("added")
    st.session_state.setdefault(key, view.added)
    part = st.expander(
        "What it adds to your sentence: embeddings, encodings and their sum",
        key=key,
        on_change=take,
        args=("added", key),
    )
    if part.open:
        with part:
            text = source_input(model, view)
            with plain_errors():
                _draw(name, model, text)
    write_address()


def _draw(name: str, model: Translator, text: str) -> None:
    ids = model.encode(text)
    parts = _embedded(name, resources.version(name), tuple(ids))
    tokens = describe_tokens(model.checkpoint.source_tokenizer, ids)
    unknown_tokens(tokens)
    labels = number_duplicates(tokens.labels)
    figure = sums(dict(zip(_NAMES, parts, strict=True)), labels, theme=st.context.theme.type or "light")
    with st.container(key="added-part"):
        plot(figure, key="added-plot")
    lengths = [np.linalg.norm(part, axis=1) for part in parts]
    apart = float(np.abs(parts.tokens + parts.positions - parts.both).max())
    scale = model.model.encoder.embedding.scale
    said = (
        f"Embeddings are multiplied by √d_model = {scale:.3g} before the encodings are added. "
        f"A vector is then {small(lengths[0].mean())} long on average, its encoding {small(lengths[1].mean())}, "
        f"and the sum {small(lengths[2].mean())}."
    )
    if model.model.config.positions == "none":
        said += " This model adds nothing for positions."
    st.caption(said)
    st.caption(f":material/check_circle: Left plus middle is what the model computed: {small(apart)} apart at most.")
    twin = st.expander("The lengths as a table", key="added-twin", on_change="rerun")
    if twin.open:
        with twin:
            table: dict[str, Any] = {"token": labels}
            table |= {name: values.astype(float) for name, values in zip(_NAMES, lengths, strict=True)}
            config = {name: st.column_config.NumberColumn(format="%.3f") for name in _NAMES}
            st.dataframe(table, hide_index=True, column_config=config, key="added-table")


@st.cache_resource(max_entries=20, ttl=600, show_spinner=False)
def _embedded(name: str, version: tuple[int, ...], ids: tuple[int, ...]) -> Embedded:
    found = embedded(resources.translator(name).model, ids)
    for part in found:
        part.setflags(write=False)
    return found
