"""One model, and six sentences of different lengths."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from tests.decoding_by_hand import EOS, PAD, network
from transformer.model import Transformer


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def model() -> Transformer:
    return network()


@pytest.fixture(scope="session")
def src() -> Tensor:
    """Six sentences, padded."""
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(4, 11, (6, 9), generator=generator)
    for row, length in enumerate([9, 2, 5, 1, 7, 4]):
        ids[row, length - 1] = EOS
        ids[row, length:] = PAD
    return ids
