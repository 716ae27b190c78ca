"""The blocks of a network cover its parameters once, and are called as people call them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.analysis.blocks import blocks, groups, tensor_title
from tests.small import small_checkpoint
from transformer.model import Transformer, count_parameters

part = st.sampled_from(
    ["encoder", "decoder", "output", "layers", "0", "12", "²", "embedding", "norm", "query", "", "<b>"]
)
names = st.lists(part, min_size=1, max_size=6).map(".".join)


def counts(model: Transformer) -> dict[str, int]:
    return {name: p.numel() for name, p in model.named_parameters()}


@pytest.mark.parametrize(
    "changes", [{}, {"tied": "all"}, {"positions": "learned", "norm": "post", "final_norm": False}]
)
def test_each_level_covers_what_is_inside(changes: dict[str, Any]) -> None:
    model = small_checkpoint(**changes).model
    all_blocks = blocks(counts(model))
    outer = [block for block in all_blocks if block.level == 0]
    assert sum(block.parameters for block in outer) == count_parameters(model)
    assert [block.start for block in outer] == [sum(b.parameters for b in outer[:n]) for n in range(len(outer))]
    for block in outer:
        layers = [
            b for b in all_blocks if b.level == 1 and b.side == block.side and b.path.startswith(f"{block.path}.")
        ]
        if layers and block.side != "embedding":
            assert sum(b.parameters for b in layers) == block.parameters
    for layer in (b for b in all_blocks if b.level == 1 and ".layers." in b.path):
        inside = [b for b in all_blocks if b.level == 2 and b.path.startswith(f"{layer.path}.")]
        assert sum(b.parameters for b in inside) == layer.parameters
        assert inside[0].start == layer.start


def test_blocks_are_named() -> None:
    model = small_checkpoint().model
    titles = {block.path: block.title for block in blocks(counts(model))}
    assert titles["encoder.embedding"] == "Source embedding"
    assert titles["decoder.layers.1.cross_attention"] == "Decoder layer 2, cross-attention"
    assert titles["encoder.norm"] == "Encoder, final layer norm"
    assert tensor_title("decoder.layers.1.cross_attention.query.weight") == (
        "Decoder layer 2, cross-attention, query weight"
    )
    shared = small_checkpoint(tied="all").model
    assert "Embedding" in {block.title for block in blocks(counts(shared))}


def test_groups_hold_every_tensor_once() -> None:
    all_groups = groups(counts(small_checkpoint().model))
    listed = [name for group in all_groups for name in group.names]
    assert sorted(listed) == sorted(counts(small_checkpoint().model))
    assert [group.title for group in all_groups] == [
        "Source embedding", "Encoder, self-attention", "Encoder, feed-forward", "Target embedding",
        "Decoder, self-attention", "Decoder, cross-attention", "Decoder, feed-forward", "Output", "Norms",
    ]


@given(st.dictionaries(names, st.integers(0, 9), min_size=1, max_size=12))
def test_any_names_are_taken(sized: dict[str, int]) -> None:
    all_blocks = blocks(sized)
    assert sum(block.parameters for block in all_blocks if block.level == 0) == sum(sized.values())
    assert sorted(name for group in groups(sized) for name in group.names) == sorted(sized)
    assert all(isinstance(tensor_title(name), str) for name in sized)
