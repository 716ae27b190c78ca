"""Which rows and columns of a picture stand for a prompt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from headlight.analysis.layout import lay_out
from transformer.trace import Tokens, Trace

LABELS = ["<s>", "▁the", "▁sno", "w", "▁fall", "s", "."]  # the prompt is "<s> the snow"
WORDS = [[0], [1], [2, 3], [4, 5], [6]]
TARGET = Tokens(list(range(7)), LABELS, LABELS, WORDS, [True] + [False] * 6)
WEIGHTS = np.tril(np.full((1, 1, 6, 6), 1 / 6, np.float32))
TRACE = Trace("", "", Tokens.none(), TARGET, None, WEIGHTS, None, np.zeros(6, np.float32), given=4)


def test_a_row_is_called_by_what_it_writes_so_one_row_fewer_than_columns_is_the_prompt() -> None:
    layout = lay_out(TRACE, "decoder", words=False, hide=False)
    assert layout.prompt_lengths == (3, 4)
    assert (layout.rows[:3], layout.columns[:4]) == (["▁the", "▁sno", "w"], ["<s>", "▁the", "▁sno", "w"])


def test_words_count_once_and_what_is_hidden_not_at_all() -> None:
    assert lay_out(TRACE, "decoder", words=True, hide=False).prompt_lengths == (2, 3)
    assert lay_out(TRACE, "decoder", words=True, hide=True).prompt_lengths == (2, 2)


def test_there_is_none_where_only_the_start_was_given_or_nothing_was_written() -> None:
    for given in (1, 7):
        assert lay_out(replace(TRACE, given=given), "decoder", words=False, hide=False).prompt_lengths is None
