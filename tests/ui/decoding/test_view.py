"""The strategies and branches that the Decoding page's view names."""

import pytest

from transformer import ModelConfig, StackConfig
from transformer.decoding.strategies import Decoding
from transformer.taps import Replace, Site, chain
from ui.decoding.view import Branch, DecodingView

CONFIG = ModelConfig(12, 10, d_model=8, encoder=StackConfig(2, 4, 8), decoder=StackConfig(3, 2, 8))


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
