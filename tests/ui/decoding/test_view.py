"""The Decoding page's address: what is written is read back, and nonsense is left at the default."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer import ModelConfig, StackConfig
from transformer.decoding.strategies import STRATEGIES, Decoding, parameters
from transformer.taps import Replace, Site, chain
from ui.decoding.view import Branch, DecodingView

CONFIG = ModelConfig(12, 10, d_model=8, encoder=StackConfig(2, 4, 8), decoder=StackConfig(3, 2, 8))

heads = st.lists(st.tuples(st.integers(1, 9), st.none() | st.integers(1, 9)), max_size=3).map(tuple)
ids = st.lists(st.integers(0, 9_999), max_size=5).map(tuple)
branches = st.builds(Branch, ids.filter(bool)) | st.builds(Branch, ids, st.integers(1, 99), heads)
views = st.builds(
    DecodingView,
    strategy=st.sampled_from(list(STRATEGIES)),
    **{
        field: st.none() | st.sampled_from([parameter.type(parameter.least), parameter.type(parameter.most)])
        for field, ((_, parameter), *_) in parameters().items()
    },
    step=st.none() | st.integers(1, 99),
    path=st.lists(st.integers(0, 9_999), max_size=5).map(tuple),
    pruned=st.booleans(),
    under=st.sampled_from(["total", "log_prob", "score"]),
    future=st.booleans(),
    branches=st.lists(branches, max_size=3, unique=True).map(tuple),
    reference=st.none() | st.text(max_size=30),
)


@given(views)
def test_a_view_survives_the_address(view: DecodingView) -> None:
    assert DecodingView.from_query(view.to_query()) == view


def test_the_default_view_has_an_empty_address() -> None:
    assert DecodingView().to_query() == {}


@given(st.dictionaries(st.sampled_from([*DecodingView.__dataclass_fields__, "other"]), st.text(max_size=30)))
def test_no_address_is_too_strange(query: dict[str, str]) -> None:
    view = DecodingView.from_query(query)
    for parameter in STRATEGIES[view.strategy].parameters:
        value = view.value(parameter)
        assert value is None or parameter.least <= value <= parameter.most
    assert len(view.branches) <= 8


@pytest.mark.parametrize(
    "query",
    [
        {"size": "11"}, {"size": "0"}, {"penalty": "nan"}, {"temperature": "0"}, {"top_k": "0"}, {"top_p": "1.01"},
        {"seed": "-1"}, {"step": "0"}, {"path": "1,x"}, {"under": "sideways"}, {"strategy": "luck"},
        {"branches": "1.x,~,~x,1~2~3.,"},
    ],
)  # fmt: skip
def test_nonsense_is_left_at_the_default(query: dict[str, str]) -> None:
    assert DecodingView.from_query(query) == DecodingView()


def test_a_strategy_has_only_its_own_settings() -> None:
    """Two views with the same strategy then share one decode."""
    mixed = DecodingView(size=5, penalty=0.5, temperature=0.7, seed=4)
    assert mixed.decoding == Decoding.of("beam", size=5, length_penalty=0.5, temperature=0.7)
    assert DecodingView(strategy="greedy", size=5, seed=4).decoding == Decoding.of("greedy")
    assert DecodingView(strategy="sampling", size=5, temperature=0.7, seed=4).decoding == Decoding.of(
        "sampling", temperature=0.7, top_p=0.9, seed=4
    )


@pytest.mark.parametrize(
    ("branch", "fits"),
    [
        (Branch((4, 5)), True),
        (Branch((4, 3)), True),
        (Branch((), 5), True),
        (Branch((4,), 1, ((3, 2), (1, None))), True),
        (Branch(()), False),
        (Branch((10,)), False),  # no such token
        (Branch((2,)), False),  # [SOS] is never written
        (Branch((3, 4)), False),  # goes on after [EOS]
        (Branch((3,), 1), False),
        (Branch((4,) * 9), False),  # too long
        (Branch((4,) * 8, 1), False),
        (Branch((4,), 6), False),  # no such word
        (Branch((4,), 1, ((4, 1),)), False),  # no such layer
        (Branch((4,), 1, ((1, 3),)), False),  # no such head
    ],
)
def test_a_branch_fits_a_model_and_a_sentence(branch: Branch, fits: bool) -> None:
    assert branch.fits(CONFIG, source_length=5, bound=8) == fits


def test_a_branch_changes_the_rows_that_it_names_at_its_step_alone() -> None:
    def replaced(*places: tuple[int, int]) -> object:
        row = ((0.0, 0.0, 1.0, 0.0),)
        return chain(*(Replace(Site("decoder", layer, "cross"), head, row) for layer, head in places))

    tap_at = Branch((4, 5), 3, ((2, None), (3, 1))).tap_at(CONFIG, 4)
    assert tap_at is not None
    assert [tap_at(step) for step in (0, 1, 3)] == [None] * 3
    assert tap_at(2) == replaced((1, 0), (1, 1), (2, 0))
    every = Branch((), 3).tap_at(CONFIG, 4)
    assert every is not None
    assert every(0) == replaced(*((layer, head) for layer in range(3) for head in range(2)))
    assert Branch((4, 5)).tap_at(CONFIG, 4) is None


def test_sampling_keeps_to_words_and_a_beam_to_the_model() -> None:
    """At temperature 1 over the whole vocabulary a first sample read "une pomme rougeZbe.iennes."."""
    usual = DecodingView(strategy="sampling").decoding
    assert (usual.temperature, usual.values["top_p"]) == (0.7, 0.9)
    assert DecodingView(strategy="beam").decoding.temperature == 1.0
    chosen = DecodingView.from_query({"strategy": "sampling", "temperature": "1", "top_p": "1"})
    assert (chosen.decoding.temperature, chosen.decoding.values["top_p"]) == (1.0, 1.0)
    assert DecodingView.from_query(chosen.to_query()) == chosen
