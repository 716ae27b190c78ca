"""The histogram of sentence lengths loses no sentence, and stands where the lengths are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.charts.lengths import lengths

some = st.lists(st.integers(1, 400), min_size=1, max_size=200)


@given(some, some)
def test_every_sentence_is_in_a_bar(source: list[int], target: list[int]) -> None:
    for trace in lengths(source, target).data:
        assert np.asarray(trace.y).sum() == pytest.approx(1)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_short_sentences_have_a_bar_each(theme: str) -> None:
    bars, line = lengths([3, 3, 5], [4], theme).data
    assert {int(x): y for x, y in zip(bars.x, bars.y, strict=True) if y} == pytest.approx({3: 2 / 3, 5: 1 / 3})
    assert [int(x) for x, y in zip(line.x, line.y, strict=True) if y] == [4]
    assert bars.marker.color != line.line.color


def test_the_sentence_says_the_means() -> None:
    assert "3.7 tokens on average in the source, 4.0 in the target" in lengths([3, 3, 5], [4]).layout.meta
