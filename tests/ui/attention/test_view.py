"""The view in the address: what is written is read back, and nonsense is left at the default."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.analysis.head_changes import HeadChange
from transformer import ModelConfig, StackConfig
from transformer.taps import Ablate, Scale, Site, Uniform
from ui.attention.view import AttentionView

CONFIG = ModelConfig(10, 10, d_model=8, encoder=StackConfig(2, 4, 8), decoder=StackConfig(3, 2, 8))

changes = st.builds(
    HeadChange,
    st.sampled_from(["encoder", "decoder", "cross"]),
    st.integers(1, 99),
    st.integers(1, 99),
    st.just("scale"),
    st.sampled_from([0.0, 0.25, 1.5, 3.0]),
) | st.builds(HeadChange, st.just("cross"), st.integers(1, 9), st.integers(1, 9), st.sampled_from(["off", "uniform"]))
views = st.builds(
    AttentionView,
    model=st.none() | st.sampled_from(["en-fr", "de-en"]),
    text=st.none() | st.text(max_size=50),
    target=st.none() | st.text(max_size=50),
    kind=st.sampled_from(["encoder", "decoder", "cross"]),
    layer=st.none() | st.integers(1, 99),
    head=st.none() | st.integers(1, 99),
    show=st.sampled_from(["raw", "value", "mean", "max", "rollout", "difference"]),
    scale=st.sampled_from(["fixed", "row", "sqrt"]),
    words=st.booleans(),
    hide=st.booleans(),
    lines=st.lists(st.integers(1, 16), max_size=4).map(tuple),
    mass=st.integers(50, 100),
    changes=st.lists(changes, max_size=3).map(tuple),
    second=st.none() | st.text(max_size=50),
)


@given(views)
def test_a_view_survives_the_address(view: AttentionView) -> None:
    assert AttentionView.from_query(view.to_query()) == view


def test_the_default_view_has_an_empty_address() -> None:
    assert AttentionView().to_query() == {}


@given(st.dictionaries(st.sampled_from([*AttentionView.__dataclass_fields__, "other"]), st.text(max_size=30)))
def test_no_address_is_too_strange(query: dict[str, str]) -> None:
    view = AttentionView.from_query(query)
    assert view.kind in ("encoder", "decoder", "cross")
    assert 50 <= view.mass <= 100


@pytest.mark.parametrize(
    "query",
    [
        {"layer": "-1"}, {"layer": "0"}, {"layer": "1e9"}, {"head": "zz"}, {"kind": "sideways"},
        {"changes": "cross.0.x,a"},
    ],
)  # fmt: skip
def test_nonsense_is_left_at_the_default(query: dict[str, str]) -> None:
    view = AttentionView.from_query(query)
    assert replace(view, changes=tuple(c for c in view.changes if c.exists_in(CONFIG))) == AttentionView()


def test_a_change_is_the_intervention_that_it_names() -> None:
    assert HeadChange.parse("cross.2.1").tap() == Ablate(Site("decoder", 1, "cross"), 0)  # type: ignore[union-attr]
    assert HeadChange.parse("encoder.1.4u").tap() == Uniform(Site("encoder", 0, "self"), 3)  # type: ignore[union-attr]
    assert HeadChange.parse("decoder.3.2x0.25").tap() == Scale(Site("decoder", 2, "self"), 1, 0.25)  # type: ignore[union-attr]
    assert HeadChange.parse("cross.2") is None
    assert (
        HeadChange.parse("cross.2.1x3") is not None and HeadChange.parse("cross.2.1x3.25") is None
    )  # the slider ends at 3


def test_a_change_exists_only_in_a_model_that_has_the_head() -> None:
    assert HeadChange("encoder", 2, 4).exists_in(CONFIG)
    assert not HeadChange("decoder", 2, 4).exists_in(CONFIG)
    assert not HeadChange("encoder", 3, 1).exists_in(CONFIG)
