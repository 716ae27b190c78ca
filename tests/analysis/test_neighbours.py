"""The nearest rows of a matrix against a plain computation, and which matrices of a model are one."""

import numpy as np
import pytest

from headlight.analysis.neighbours import neighbours, tied
from tests.small import small_checkpoint

MATRIX = np.random.default_rng(0).normal(size=(40, 6)).astype(np.float32)


def test_neighbours_are_the_largest_cosines() -> None:
    def cosine(one: int, other: int) -> float:
        a, b = MATRIX[one].astype(float), MATRIX[other].astype(float)
        return sum(a * b) / (sum(a * a) ** 0.5 * sum(b * b) ** 0.5)

    for id in (0, 7, 39):
        others = [other for other in range(40) if other not in (id, 3, 4)]
        best = sorted(others, key=lambda other: -cosine(id, other))[:6]
        found = neighbours(MATRIX, id, without={3, 4, 99})
        assert [near.id for near in found] == best
        assert [near.cosine for near in found] == pytest.approx([cosine(id, other) for other in best], abs=1e-6)


def test_rows_without_a_direction_are_nobodys_neighbours() -> None:
    matrix = MATRIX.copy()
    matrix[5] = 0
    assert 5 not in [near.id for near in neighbours(matrix, 1, most=40)]
    assert neighbours(matrix, 5) == []
    with pytest.raises(ValueError, match="Token 40 has no row in a matrix of 40 rows"):
        neighbours(matrix, 40)


@pytest.mark.parametrize(
    ("how", "groups"),
    [
        ("none", [["encoder"], ["decoder"], ["output"]]),
        ("output", [["encoder"], ["decoder", "output"]]),
        ("all", [["encoder", "decoder", "output"]]),
    ],
)
def test_tied_matrices_are_named_together(how: str, groups: list[list[str]]) -> None:
    model = small_checkpoint(tied=how).model
    assert tied(model) == groups
