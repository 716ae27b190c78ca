"""The decoder read at every layer, beside a decoder that is really cut off there."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from headlight.analysis.stream import lens, stream
from tests.small import small_checkpoint, small_t5_checkpoint
from transformer.model import Transformer

SRC, TGT = [7, 11, 5, 9, 3], [2, 8, 6, 10, 12, 3]


def log_probs(model: Transformer) -> torch.Tensor:
    with torch.no_grad():
        return model(torch.tensor([SRC]), torch.tensor([TGT[:-1]]))[0].softmax(-1)


@pytest.mark.parametrize("changes", [{}, {"norm": "post", "final_norm": False}, {"tied": "all"}, None])
def test_each_row_is_a_decoder_that_stops_there(changes: dict[str, Any] | None) -> None:
    model = (small_t5_checkpoint() if changes is None else small_checkpoint(seed=7, **changes)).model
    predictions = lens(stream(model, SRC, TGT), top=4)
    assert predictions.ids.shape == predictions.probabilities.shape == (4, 5, 4)
    layers = model.decoder.layers
    for row in range(4):
        model.decoder.layers = nn.ModuleList(layers[:row])
        own = log_probs(model)
        expected = own.topk(4)
        np.testing.assert_allclose(predictions.probabilities[row], expected.values.numpy(), atol=1e-6)
        np.testing.assert_allclose(
            own.gather(1, torch.tensor(predictions.ids[row])).numpy(), predictions.probabilities[row], atol=1e-6
        )


def test_a_small_vocabulary_gives_what_it_has() -> None:
    model = small_checkpoint(seed=7).model
    vocabulary = model.config.target_vocab_size
    predictions = lens(stream(model, SRC, TGT), top=10_000)
    assert predictions.ids.shape[-1] == vocabulary
    np.testing.assert_allclose(predictions.probabilities.sum(-1), 1, atol=1e-5)
    assert (np.diff(predictions.probabilities, axis=-1) <= 0).all()
