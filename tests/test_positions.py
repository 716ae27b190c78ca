"""The table of positions against its formula, and the property that it was chosen for."""

import math

import pytest
import torch

from transformer.config import ModelConfig, StackConfig
from transformer.model import Transformer
from transformer.positions import LearnedPositions, SinusoidalPositions, sinusoidal


@pytest.mark.parametrize("base", [10_000.0, 100.0])
@pytest.mark.parametrize("d_model", [2, 6, 512])
def test_the_table_is_the_formula(d_model: int, base: float) -> None:
    length = 5_000
    table = sinusoidal(length, d_model, base)
    assert table.shape == (length, d_model)
    assert table.dtype == torch.float32
    for p in (0, 1, 7, 100, 4_999):
        for i in {0, d_model // 4, d_model // 2 - 1}:
            angle = p / base ** (2 * i / d_model)
            assert table[p, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[p, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


@pytest.mark.parametrize("shift", [1, 5, 60])
def test_a_shift_is_a_rotation(shift: int) -> None:
    """PE(p + k) = M_k PE(p), with one 2 x 2 rotation a frequency that does not depend on p."""
    d_model, length = 32, 200
    table = sinusoidal(length, d_model).double()
    for i in range(d_model // 2):
        angle = shift / 10_000 ** (2 * i / d_model)
        sine, cosine = math.sin(angle), math.cos(angle)
        turn = torch.tensor([[cosine, sine], [-sine, cosine]], dtype=torch.float64)
        pair = table[:, 2 * i : 2 * i + 2]
        torch.testing.assert_close(pair[:-shift] @ turn.T, pair[shift:], atol=1e-5, rtol=0)


def test_every_position_is_another_vector_of_one_length() -> None:
    table = sinusoidal(500, 64)
    torch.testing.assert_close(table.norm(dim=-1), torch.full((500,), math.sqrt(32)), atol=1e-4, rtol=0)
    apart = torch.cdist(table, table) + torch.eye(500)
    assert apart.min() > 0.1


@pytest.mark.parametrize("positions", [SinusoidalPositions(sinusoidal(9, 4)), LearnedPositions(9, 4)])
def test_a_later_start_reads_later_rows(positions: torch.nn.Module) -> None:
    x = torch.zeros(2, 9, 4)
    whole = positions(x, 0)
    torch.testing.assert_close(positions(x[:, :3], 5), whole[:, 5:8])
    assert not torch.equal(whole[:, 0], whole[:, 1])


def model_of(positions: str) -> Transformer:
    torch.manual_seed(0)
    stack = StackConfig(2, 2, 32)
    return Transformer(ModelConfig(20, 20, 16, stack, stack, positions=positions, max_length=30)).eval()  # type: ignore[arg-type]


def test_learned_positions_are_trained_and_kept() -> None:
    model = model_of("learned")
    names = {name for name, _ in model.named_parameters()}
    assert {"encoder.embedding.positions.table", "decoder.embedding.positions.table"} <= names
    model(torch.tensor([[5, 6, 3]]), torch.tensor([[2, 7]])).sum().backward()
    table = model.encoder.embedding.positions.table
    assert isinstance(table, torch.nn.Parameter)
    gradient = table.grad
    assert gradient is not None
    assert gradient[:3].abs().sum() > 0
    assert gradient[3:].abs().sum() == 0


def test_the_fixed_table_is_no_weight() -> None:
    assert not any("positions" in name for name in model_of("sinusoidal").state_dict())


@pytest.mark.parametrize(("positions", "sees_order"), [("sinusoidal", True), ("learned", True), ("none", False)])
def test_without_positions_a_source_is_a_bag_of_words(positions: str, sees_order: bool) -> None:
    model = model_of(positions)
    tgt = torch.tensor([[2, 7, 8]])
    with torch.no_grad():
        one = model(torch.tensor([[5, 6, 9, 3]]), tgt)
        other = model(torch.tensor([[9, 5, 6, 3]]), tgt)
    assert torch.allclose(one, other, atol=1e-5) is not sees_order
