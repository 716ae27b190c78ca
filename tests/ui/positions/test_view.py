"""The view in the address, and what the page decides from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.positions.circle import read_shown
from ui.positions.view import SCHEMES, PositionsView

views = st.builds(
    PositionsView,
    model=st.none() | st.just("en-fr"),
    scheme=st.none() | st.sampled_from(SCHEMES),
    positions=st.integers(1, 10_000),
    base=st.integers(1, 1_000_000).map(float) | st.sampled_from([1.5, 123.25]),
    d_model=st.none() | st.integers(1, 1_024),
    dims=st.none() | st.lists(st.integers(0, 1_023), max_size=8, unique=True).map(tuple),
    at=st.integers(0, 9_999),
    shift=st.integers(0, 100),
    pair=st.none() | st.integers(0, 511),
    word=st.none() | st.integers(0, 9_999),
    dim=st.none() | st.integers(0, 1_023),
    one=st.none() | st.text(max_size=40),
    other=st.none() | st.text(max_size=40),
    added=st.booleans(),
)


@given(views)
def test_a_view_survives_the_address(view: PositionsView) -> None:
    assert PositionsView.from_query(view.to_query()) == view


@given(st.dictionaries(st.sampled_from([*PositionsView.__dataclass_fields__]), st.text(max_size=30)))
def test_no_address_is_too_strange(query: dict[str, str]) -> None:
    view = PositionsView.from_query(query)
    assert 1 <= view.positions <= 10_000
    assert 1 <= view.base <= 1_000_000
    assert view.scheme in (None, *SCHEMES)


@pytest.mark.parametrize(
    "query",
    [
        {"positions": "0"}, {"positions": "10001"}, {"base": "0.5"}, {"d_model": "4096"}, {"at": "-1"},
        {"scheme": "rope"},
    ],
)  # fmt: skip
def test_nonsense_is_left_at_the_default(query: dict[str, str]) -> None:
    assert PositionsView.from_query(query) == PositionsView()


@pytest.mark.parametrize("sent", [None, {}, {"at": 1, "shift": 2}, {"at": -1, "shift": 2, "pair": 3}, [1, 2, 3]])
def test_what_the_browser_sends_is_not_trusted(sent: object) -> None:
    assert read_shown(sent) is None


def test_what_makes_sense_is_taken() -> None:
    assert read_shown({"at": 7, "shift": 500, "pair": 3}) == {"at": 7, "shift": 100, "pair": 3}
