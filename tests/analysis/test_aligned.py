"""Two models on one sentence: common rows and columns where there are any, and the sums that must stay."""

from __future__ import annotations

import numpy as np
import pytest

from headlight.analysis.aligned import NotComparable, axis, column_change, pair, single_head
from tests.small import small_translator
from transformer import StackConfig, Trace, Translator
from transformer.trace import Tokens

TEXT = "two dogs are sitting on a bench ."


@pytest.fixture(scope="module")
def deep() -> Translator:
    """Another tokenizer, another depth, another number of heads."""
    return small_translator(kind="bpe", seed=1, encoder=StackConfig(1, 2, 16), decoder=StackConfig(4, 4, 16))


@pytest.fixture(scope="module")
def traces(deep: Translator) -> tuple[Trace, Trace]:
    return small_translator().trace(TEXT, "a little girl"), deep.trace(TEXT, "a little girl")


def tokens(pieces: list[str], words: list[list[int]] | None = None, special: tuple[int, ...] = ()) -> Tokens:
    words = words or [[i] for i in range(len(pieces))]
    return Tokens(list(range(len(pieces))), pieces, pieces, words, [i in special for i in range(len(pieces))])


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_unequal_models_stand_on_common_words(traces: tuple[Trace, Trace], kind: str) -> None:
    last = tuple((trace.pattern(kind).shape[0] - 1, trace.pattern(kind).shape[1] - 1) for trace in traces)
    aligned = pair(traces, kind, last)  # type: ignore[arg-type]
    for trace, (layer, head), cells in zip(traces, last, aligned.cells, strict=True):
        assert cells.shape == (len(aligned.rows), len(aligned.columns))
        np.testing.assert_allclose(cells.sum(axis=1), 1, atol=1e-5)  # a row still is shares of 1
        columns = [name.lstrip("▁") for name in aligned.columns]
        column = columns.index("two") if kind != "decoder" else columns.index("little")
        place = trace.column_tokens(kind)
        word = next(w for w in place.words if "".join(place.labels[i] for i in w).lstrip("▁") == columns[column])
        expected = trace.pattern(kind)[layer, head][:, word].sum()
        rows = [
            len(group)
            for group in axis(traces[0].row_tokens(kind), traces[1].row_tokens(kind)).groups[
                0 if trace is traces[0] else 1
            ]
        ]
        assert (cells[:, column] * rows).sum() == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(aligned.difference, aligned.cells[1] - aligned.cells[0])
    assert aligned.difference.sum() == pytest.approx(0, abs=1e-4)
    label, change = column_change(aligned)
    assert abs(change) == pytest.approx(np.abs(aligned.difference.mean(0)).max())
    assert label in aligned.columns


def test_a_model_beside_itself_differs_in_nothing() -> None:
    model = small_translator(kind="bpe")
    trace = model.trace(TEXT, "a little girl")
    aligned = pair((trace, trace), "cross", ((1, 1), (1, 1)))
    assert not aligned.merged and not aligned.difference.any()
    np.testing.assert_array_equal(aligned.cells[0], trace.cross[1, 1])
    assert aligned.rows[-1] == "[EOS]"


def test_another_translation_does_not_line_up(deep: Translator, traces: tuple[Trace, Trace]) -> None:
    other = deep.trace(TEXT, "a little bench")
    with pytest.raises(NotComparable, match="The rows do not line up. Where one has “girl”, the other has “bench”"):
        pair((traces[0], other), "cross", ((0, 0), (0, 0)))
    assert pair((traces[0], other), "encoder", ((0, 0), (0, 0))).columns[0] == "two"
    shorter = deep.trace(TEXT, "a little")
    with pytest.raises(NotComparable, match="One has 3 words, the other 2: from “girl” on"):
        pair((traces[0], shorter), "cross", ((0, 0), (0, 0)))
    lone = single_head(other, "cross", 3, 3)
    assert lone.cells.shape == (len(lone.rows), len(lone.columns))
    np.testing.assert_allclose(lone.cells.sum(1), 1, atol=1e-5)


def test_an_unknown_word_may_be_any() -> None:
    common = axis(
        tokens(["A", "[UNK]", "[EOS]"], special=(1, 2)), tokens(["a", "b", "c", "[EOS]"], [[0], [1, 2], [3]], (3,))
    )
    assert common.labels == ["A", "bc", "[EOS]"] and common.merged
    assert common.groups == ([[0], [1], [2]], [[0], [1, 2], [3]])


def test_several_special_tokens_share_a_place() -> None:
    common = axis(tokens(["a", "</s>", "en"], special=(1, 2)), tokens(["a", "</s>"], special=(1,)))
    assert common.labels == ["a", "special tokens"] and common.groups[0] == [[0], [1, 2]]
    first = axis(tokens(["<s>", "a"], special=(0,)), tokens(["[SOS]", "a"], special=(0,)))
    assert first.labels == ["special tokens", "a"]
    with pytest.raises(NotComparable, match="Only one of the two has special tokens"):
        axis(tokens(["a", "</s>"], special=(1,)), tokens(["a"]))


def test_equal_words_keep_apart() -> None:
    common = axis(tokens(["a", "a"]), tokens(["a", "a"]))
    assert len(set(common.labels)) == 2
