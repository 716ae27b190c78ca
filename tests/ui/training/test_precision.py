"""The picture of float16's underflow: its counted shares against numpy's float16, on the model that it measures."""

from __future__ import annotations

from itertools import islice

import numpy as np
import torch
from streamlit.testing.v1 import AppTest
from torch.nn.functional import cross_entropy

from headlight import checkpoints
from headlight.charts.precision import TYPES
from headlight.corpora.encoded import Encoded
from headlight.corpora.generated import Generated
from headlight.formatting import percent_of
from transformer.batches import collate
from ui.state import models


def page() -> None:  # run from its text alone
    import streamlit as st

    from ui.training.precision import precision_picture

    st.session_state.setdefault("underflow", True)
    precision_picture()


def test_the_sentence_counts_what_numpy_s_float16_makes_of_the_gradients() -> None:
    app = AppTest.from_function(page, default_timeout=60).run()
    assert not app.exception
    checkpoint = checkpoints.load(models.CHECKPOINTS / "reverse")
    model, config = checkpoint.model.eval(), checkpoint.model.config
    pairs = Encoded(
        Generated("reverse"), checkpoint.source_tokenizer, checkpoint.target_tokenizer, config.max_length, config
    )
    batch = collate(list(islice(pairs, 256)), config.pad_id)
    logits = model(batch.src, batch.tgt[:, :-1])
    cross_entropy(logits.flatten(0, 1), batch.tgt[:, 1:].flatten(), ignore_index=config.pad_id).backward()
    values = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]).numpy()
    values = values[values != 0]
    (said,) = [element.value for element in app.markdown if "become 0" in element.value]
    with np.errstate(over="ignore", under="ignore"):
        plain, scaled = (
            np.count_nonzero((values * scale).astype(np.float16) == 0) for scale in (1, np.float32(65_536))
        )
    assert plain > 10 * scaled
    assert f"In float16 **{percent_of(plain, len(values))}** of them become 0" in said
    assert f"times 65,536, **{percent_of(scaled, len(values))}** become 0" in said
    assert "In bfloat16, without a scale, none become 0" in said


def test_it_is_not_there_without_its_model(shelves: object) -> None:
    app = AppTest.from_function(page, default_timeout=60).run()
    assert not app.exception and not app.expander


def test_the_limits_are_those_of_the_types() -> None:
    for name, limits in TYPES.items():
        type_ = torch.finfo(getattr(torch, name))
        assert limits == (type_.smallest_normal * type_.eps, type_.smallest_normal, type_.max)
