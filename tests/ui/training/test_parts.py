"""A mixture's scores corpus by corpus."""

import numpy as np

from ui.training.curves import parts
from ui.training.series import Columns

NONE = np.array([])


def columns(*evaluations: dict) -> Columns:
    return Columns(NONE, NONE, NONE, NONE, NONE, NONE, NONE, [*evaluations])


def test_each_part_of_the_last_evaluation_has_its_most_telling_score() -> None:
    old = {"step": 1, "parts": {"captions": {"bleu": 1.0, "exact": 0.0}}}
    captions, grammar = {"bleu": 35.38, "exact": 0.05}, {"bleu": 99.0, "exact": 0.981}
    new = {"step": 2, "parts": {"captions": captions, "a grammar": grammar}}
    assert parts(columns(old, new)) == ["captions BLEU 35.4", "a grammar 98.1\u00a0% exactly right"]


def test_one_corpus_has_no_parts_and_odd_ones_are_left_out() -> None:
    assert parts(columns()) == parts(columns({"step": 1, "bleu": 3.0})) == []
    assert parts(columns({"step": 1, "parts": {"odd": {"bleu": "many"}}})) == []
