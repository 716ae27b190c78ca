"""The map's facts, counted from the configuration by hand."""

import pytest

from headlight.analysis.network import network
from tests.small import small_checkpoint, small_t5_checkpoint
from transformer.model import count_parameters

S, T = 9, 10


@pytest.mark.parametrize(
    ("norm", "final_norm", "tied", "positions"),
    [
        ("pre", True, "none", "sinusoidal"), ("post", False, "output", "learned"), ("pre", False, "all", "learned"),
        ("post", True, "all", "stored"),
    ],
)  # fmt: skip
def test_the_parameters_of_the_parts_are_the_models(norm: str, final_norm: bool, tied: str, positions: str) -> None:
    model = small_checkpoint(norm=norm, final_norm=final_norm, tied=tied, positions=positions).model
    parts = network(model, S, T)
    assert sum(part.parameters for part in parts) == count_parameters(model)
    # Two encoder layers of two blocks and three decoder layers of three, a norm each; embeddings, norms, output.
    assert len(parts) == 2 * (2 * 2) + 2 * (3 * 3) + 2 + 2 * final_norm + 1
    assert len({(part.name, part.kind, part.layer) for part in parts}) == len(parts)


@pytest.mark.parametrize("tied", ["none", "all"])
def test_the_parameters_of_a_t5_are_the_models_and_its_bias_is_in_the_first_layer(tied: str) -> None:
    model = small_t5_checkpoint(tied=tied).model
    parts = network(model, S, T)
    assert sum(part.parameters for part in parts) == count_parameters(model)
    part_at = {(part.name, part.kind, part.layer): part for part in parts}
    first, second = part_at["attention", "encoder", 0], part_at["attention", "encoder", 1]
    maps, table = 4 * 16 * 20, 8 * 4
    assert (first.parameters, first.shared) == (maps + table, 0) and (second.parameters, second.shared) == (maps, table)
    assert part_at["attention", "cross", 1].parameters == 4 * 16 * 10
    assert part_at["ff", "encoder", 0].parameters == 3 * 16 * 32
    assert part_at["embedding", "decoder", None].parameters == 0
    assert {part.parameters for part in parts if "norm" in part.name} == {16}


def test_the_layer_before_the_output_counts_with_it() -> None:
    model = small_checkpoint(norm="post", final_norm=False, output_transform=True).model
    parts = network(model, S, T)
    assert sum(part.parameters for part in parts) == count_parameters(model)
    vocabulary = model.config.target_vocab_size
    assert parts[-1].name == "output" and parts[-1].parameters == vocabulary * 17 + 16 * 17 + 2 * 16


def test_each_part_counts_its_own() -> None:
    model = small_checkpoint(tied="output", positions="learned", logits_bias=True).model
    d, vocabulary = 16, model.config.target_vocab_size
    part_at = {(part.name, part.kind, part.layer): part for part in network(model, S, T)}
    assert part_at["attention", "encoder", 0].parameters == 4 * (d * d + d)
    assert part_at["attention", "cross", 2].parameters == 4 * (d * d + d)
    assert part_at["ff", "encoder", 1].parameters == d * 32 + 32 + 32 * d + d
    assert part_at["ff", "decoder", 1].parameters == d * 24 + 24 + 24 * d + d
    assert {part.parameters for part in part_at.values() if "norm" in part.name} == {2 * d}
    assert part_at["embedding", "encoder", None].parameters == vocabulary * d + 32 * d
    output = part_at["output", "decoder", None]
    assert (output.parameters, output.shared) == (vocabulary, vocabulary * d)
    assert sum(part.shared for part in part_at.values()) == vocabulary * d


def test_what_is_shared_by_all_counts_in_the_first() -> None:
    model = small_checkpoint(tied="all").model
    size = model.config.target_vocab_size * 16
    shared = [(part.name, part.kind, part.shared) for part in network(model, S, T) if part.shared]
    assert shared == [("embedding", "decoder", size), ("output", "decoder", size)]


def test_shapes_are_those_that_flow() -> None:
    model = small_checkpoint().model
    memory, stream = (S, 16), (T, 16)
    for part in network(model, S, T):
        encoder = part.kind == "encoder"
        if part.name == "embedding":
            assert part.reads == ((S if encoder else T,),)
        elif part.name == "attention" and part.kind == "cross":
            assert part.reads == (stream, memory)
        else:
            assert part.reads == (memory if encoder else stream,)
        assert part.gives == (
            (T, model.config.target_vocab_size) if part.name == "output" else memory if encoder else stream
        )


@pytest.mark.parametrize(("norm", "first"), [("pre", "attention-norm"), ("post", "attention")])
def test_the_order_is_that_of_the_pass(norm: str, first: str) -> None:
    parts = network(small_checkpoint(norm=norm).model, S, T)
    assert [part.name for part in parts[:2]] == ["embedding", first]
    assert parts[-1].name == "output"
    assert [part.kind for part in parts] == sorted((part.kind for part in parts), key=lambda kind: kind != "encoder")
