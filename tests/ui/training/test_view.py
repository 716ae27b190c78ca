"""The Training page's view in the address."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.training.corpus import CHOICES
from ui.training.view import MOST_COMPARED, TrainingView

names = st.from_regex(r"[a-z0-9_][a-z0-9_.-]{0,30}", fullmatch=True)
views = st.builds(
    TrainingView,
    kind=st.sampled_from(["encoder", "decoder", "cross"]),
    layer=st.none() | st.integers(1, 99),
    head=st.none() | st.integers(1, 99),
    run=st.none() | names | names.map(lambda name: f"checkpoints/{name}"),
    compare=st.lists(names, max_size=MOST_COMPARED).map(tuple),
    step=st.none() | st.integers(0, 10**8),
    smooth=st.integers(0, 99),
    sentence=st.integers(1, 100),
    new=st.booleans(),
    data=st.none() | st.sampled_from([*CHOICES, "multi30k:en-fr"]),
    size=st.none() | st.sampled_from(["mini", "transformers-laid-out"]),
    start=st.none() | names,
)


@given(views)
def test_a_view_survives_the_address(view: TrainingView) -> None:
    assert TrainingView.from_query(view.to_query()) == view


@pytest.mark.parametrize(
    "query",
    [
        {"run": "../secrets"},
        {"run": "checkpoints/../x"},
        {"run": "a/b"},
        {"run": ""},
        {"compare": "../x,/etc"},
        {"step": "-1"},
        {"step": "nine"},
        {"sentence": "0"},
        {"smooth": "100"},
        {"new": "yes"},
        {"data": "/etc/passwd"},
        {"size": "Tiny!"},
        {"start": "a b"},
    ],
)
def test_nonsense_is_left_at_the_default(query: dict[str, str]) -> None:
    assert TrainingView.from_query(query) == TrainingView()
