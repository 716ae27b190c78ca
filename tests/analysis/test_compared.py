"""The same head in two sentences, against loops over plain lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.analysis.compared import LabelledPattern, compared, corresponding
from headlight.analysis.layout import lay_out
from headlight.checkpoints import load_translator

TIRED = "The animal did not cross the street because it was too tired ."
WIDE = TIRED.replace("tired", "wide")


def test_equal_tokens_correspond_and_replaced_ones_one_by_one() -> None:
    assert corresponding(list("abcd"), list("abxd")) == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert corresponding(list("abcd"), list("abd")) == [(0, 0), (1, 1), (3, 2)]
    assert corresponding(list("ab"), list("axyb")) == [(0, 0), (1, 3)]
    assert corresponding(["a₁", "b", "a₂"], ["a", "b"]) == [(0, 0), (1, 1)]  # numbered where there are two


words = st.lists(st.sampled_from("abcd"), max_size=7)


@given(words, words)
def test_pairs_rise_in_both_sentences(first: list[str], second: list[str]) -> None:
    pairs = corresponding(first, second)
    assert all(a < c and b < d for (a, b), (c, d) in zip(pairs, pairs[1:], strict=False))
    assert all(a < len(first) and b < len(second) for a, b in pairs)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_the_difference_is_that_of_the_weights_of_both_traces(kind: str) -> None:
    model = load_translator("checkpoints/english-french")
    traces = [model.trace(text) for text in (TIRED, WIDE)]
    places = [lay_out(trace, kind, words=False, hide=False) for trace in traces]  # type: ignore[arg-type]
    patterns = [trace.pattern(kind)[2, 3] for trace in traces]
    found = compared(
        *(
            LabelledPattern(cells, place.rows, place.columns, place.masked)
            for cells, place in zip(patterns, places, strict=True)
        )
    )
    # Both sentences have as many tokens here, so each stands where its counterpart does.
    assert [len(place.rows) for place in places] == [len(found.rows)] * 2
    for row in range(len(found.rows)):
        for column in range(len(found.columns)):
            due = float(patterns[1][row, column]) - float(patterns[0][row, column])
            assert found.difference[row, column] == pytest.approx(due, abs=1e-6)
    np.testing.assert_array_equal(found.masked, traces[0].masked(kind))
    most = found.largest(3)
    sizes = sorted(
        (abs(float(b - a)) for a, b in zip(patterns[0].ravel(), patterns[1].ravel(), strict=True)), reverse=True
    )
    assert [abs(one.difference) for one in most] == pytest.approx(sizes[:3], abs=1e-6)
    assert found.left_out == ([], [])


def test_tokens_without_a_counterpart_are_left_out_and_named() -> None:
    first = LabelledPattern(np.eye(3), ["a", "b", "c"], ["x", "y", "z"], np.zeros((3, 3), bool))
    second = LabelledPattern(np.ones((2, 2)), ["a", "c"], ["x", "z"], np.zeros((2, 2), bool))
    found = compared(first, second)
    assert (found.rows, found.columns) == (["a", "c"], ["x", "z"])
    assert found.difference.tolist() == [[0, 1], [1, 0]]
    assert found.left_out == (["b", "y"], [])


def test_a_cell_that_either_hides_is_hidden_and_not_listed() -> None:
    hidden = np.array([[False, True], [False, False]])
    found = compared(
        LabelledPattern(np.zeros((2, 2)), ["a", "b"], ["a", "b"], hidden),
        LabelledPattern(np.eye(2)[::-1], ["a", "b"], ["a", "b"], ~hidden & False),
    )
    assert found.masked.tolist() == hidden.tolist()
    assert [(one.row, one.column) for one in found.largest(4)] == [("b", "a"), ("a", "a"), ("b", "b")]


def test_replaced_tokens_have_both_names() -> None:
    side = LabelledPattern(np.zeros((1, 1)), ["il"], ["a"], np.zeros((1, 1), bool))
    assert compared(side, side._replace(rows=["elle"])).rows == ["il / elle"]
    nothing = compared(side, LabelledPattern(np.zeros((2, 1)), ["b", "c"], ["a"], np.zeros((2, 1), bool)))
    assert nothing.rows == [] and nothing.largest(3) == []
