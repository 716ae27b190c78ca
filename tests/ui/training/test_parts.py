"""A mixture's scores corpus by corpus, and the Training page's view."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.training.corpus import CHOICES
from ui.training.curves import parts
from ui.training.series import Columns
from ui.training.view import MAX_COMPARED_RUNS, TrainingView

names = st.from_regex(r"[a-z0-9_][a-z0-9_.-]{0,30}", fullmatch=True)
views = st.builds(
    TrainingView,
    kind=st.sampled_from(["encoder", "decoder", "cross"]),
    layer=st.none() | st.integers(1, 99),
    head=st.none() | st.integers(1, 99),
    run=st.none() | names | names.map(lambda name: f"checkpoints/{name}"),
    compare=st.lists(names, max_size=MAX_COMPARED_RUNS).map(tuple),
    step=st.none() | st.integers(0, 10**8),
    smooth=st.integers(0, 99),
    sentence=st.integers(1, 100),
    new=st.booleans(),
    data=st.none() | st.sampled_from([*CHOICES, "multi30k:en-fr"]),
    size=st.none() | st.sampled_from(["mini", "transformers-laid-out"]),
    start=st.none() | names,
)
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


@given(views)
def test_a_view_survives_the_address(view: TrainingView) -> None:
    assert TrainingView.from_query(view.to_query()) == view


@pytest.mark.parametrize(
    "query",
    [
        {"run": "../secrets"}, {"run": "checkpoints/../x"}, {"run": "a/b"}, {"run": ""}, {"compare": "../x,/etc"},
        {"step": "-1"}, {"step": "nine"}, {"sentence": "0"}, {"smooth": "100"}, {"new": "yes"},
        {"data": "/etc/passwd"}, {"size": "Tiny!"}, {"start": "a b"},
    ],
)  # fmt: skip
def test_nonsense_is_left_at_the_default(query: dict[str, str]) -> None:
    assert TrainingView.from_query(query) == TrainingView()
