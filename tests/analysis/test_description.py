"""Descriptions of heads: only what the numbers support, and equal descriptions for equal numbers."""

import numpy as np
import pytest

from headlight.analysis import measure
from headlight.analysis.combine import normalise
from headlight.analysis.description import OFF_NOTE, describe, strongest_column
from transformer.trace import Kind

N = 8
KEYS = [f"k{i}" for i in range(N)]
NOTHING = np.zeros((N, N), bool)
UNIFORM = np.full((N, N), 1 / N)
FIRST = np.zeros((N, N)) + np.eye(N)[0]
CAUSAL = normalise(np.tril(np.ones((N, N))))


def causal_mask(size: int) -> np.ndarray:
    return np.triu(np.ones((size, size), bool), 1)


def described(
    pattern: np.ndarray, kind: Kind = "encoder", masked: np.ndarray = NOTHING, special: tuple[int, ...] = ()
) -> str:
    patterns, marked = pattern[None, None].astype(np.float32), np.isin(np.arange(N), special)
    (((*parts,),),) = describe(patterns, measure(patterns, masked, marked), masked, marked, KEYS, kind)
    tokens = parts[1::2]
    assert set(tokens) <= set(KEYS)
    return "".join(parts).replace("\u00a0", " ")


def mixed(pattern: np.ndarray, share: float) -> np.ndarray:
    return share * pattern + (1 - share) * UNIFORM


@pytest.mark.parametrize(
    ("offset", "words"), [(-1, "the previous token"), (0, "the same position"), (1, "the next token")]
)
def test_a_head_beside_its_query_is_said_to_be_there(offset: int, words: str) -> None:
    pattern = np.eye(N, k=offset)
    pattern[pattern.sum(1) == 0, 3] = 1
    text = described(mixed(pattern, 0.6))
    assert text == f"looks at {words}: 65 % of its weight"  # 0.6 and an eighth of the rest


def test_below_one_half_it_is_not_said() -> None:
    assert "previous" not in described(mixed(np.eye(N, k=-1), 0.3))


def test_a_column_is_named_by_its_token() -> None:
    pattern = np.zeros((N, N))
    pattern[:, 2] = 1
    assert described(mixed(pattern, 0.9)) == "looks at k2: 91 % of its weight"
    assert described(mixed(pattern, 0.9), special=(2,)) == "looks at k2: 91 % of its weight"
    pattern[::2] = np.eye(N)[5]
    assert described(mixed(pattern, 0.8), special=(2, 5)) == "looks at special tokens: 85 % of its weight"


def test_a_head_that_follows_an_alignment_is_not_described_by_a_column() -> None:
    """Each row looks at one key, and two rows at the same: no column has more than a quarter."""
    order = np.array([1, 0, 3, 2, 5, 4, 7, 7])
    text = described(mixed(np.eye(N)[order], 0.9), "cross")
    assert text == "looks mainly at one token in each row, 91 % on average: 7 different tokens in all"


def test_a_tie_is_a_tie() -> None:
    """An example from the opening screen: one key has 20.15 %, another 20.01 %."""
    row = np.array([0.2015, 0.2001, 0.15, 0.1, 0.1, 0.1, 0.1, 0.0484])
    rows = np.tile(row, (N, 1))
    assert described(rows, "cross") == "follows no single pattern: k0 and k1 get the most, 20 % each on average"
    rows[:, 1], rows[:, 7] = 0.15, 0.0985
    assert described(rows, "cross") == "follows no single pattern: k0 gets the most, 20 % on average"
    assert described(UNIFORM, "cross") == f"follows no single pattern: {N} tokens get the most, 13 % each on average"


def test_what_the_mask_does_is_no_pattern() -> None:
    """The first rows of a causal head can look at little but their own place and the one before it."""
    size = 3
    masked = causal_mask(size)
    pattern = (~masked / (~masked).sum(1, keepdims=True)).astype(np.float32)[None, None]
    special = np.zeros(size, bool)
    ((text,),) = describe(pattern, measure(pattern, masked, special), masked, special, KEYS[:size], "decoder")
    assert text[0].startswith("follows no single pattern")


def test_neighbours_mean_nothing_across_two_sentences() -> None:
    assert "previous" not in described(np.eye(N, k=-1) + np.eye(N)[0] * np.eye(N)[:, :1], "cross")


def test_two_patterns_are_both_said() -> None:
    pattern = (np.eye(N) + np.eye(N, k=-1)) / 2
    pattern[0] *= 2
    both = "looks at the same position: 56 % of its weight; looks at the previous token: 50 % of its weight"
    assert described(pattern) == both


def test_a_head_that_is_off_is_said_to_be_off_and_nothing_else() -> None:
    assert described(np.zeros((N, N))) == OFF_NOTE


@pytest.mark.parametrize(
    ("pattern", "masked", "index", "share"),
    [
        (FIRST, NOTHING, 0, 1.0),
        (FIRST[:, ::-1], NOTHING, N - 1, 1.0),
        (UNIFORM, NOTHING, 0, 1 / N),
        (CAUSAL, causal_mask(N), 0, float((1 / np.arange(1, N + 1)).mean())),
        (np.eye(N), causal_mask(N), 0, 1 / N),
    ],
)
def test_the_key_that_gets_most(pattern: np.ndarray, masked: np.ndarray, index: int, share: float) -> None:
    strongest = strongest_column(pattern, masked)
    assert (int(strongest[0]), float(strongest[1])) == (index, pytest.approx(share))


def test_a_key_counts_the_rows_that_may_see_it() -> None:
    masked = causal_mask(4)
    pattern = np.array([[1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0]], dtype=float)
    pattern[0, 0], pattern[1] = 1, [0.4, 0.6, 0, 0]
    index, share = strongest_column(pattern, masked)
    assert (int(index), float(share)) == (2, 1.0)  # two rows may see it, and both look at nothing else
    assert float(strongest_column(pattern, NOTHING[:4, :4])[1]) == 0.5


def test_a_key_that_one_row_sees_does_not_win_by_that() -> None:
    """Every row looks at the first key, but the last, which alone may see the last key, looks at that."""
    pattern = FIRST.copy()
    pattern[-1] = np.eye(N)[-1]
    index, share = strongest_column(pattern, causal_mask(N))
    assert (int(index), float(share)) == (0, pytest.approx((N - 1) / N))
