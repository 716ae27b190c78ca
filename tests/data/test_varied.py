"""Sentences as people type them."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.corpora.corpora import Pair, Pairs
from headlight.corpora.varied import CHANGES, Varied, curly_quotes, no_apostrophe, no_capital, vary, without_end


@pytest.mark.parametrize(
    "change, before, after",
    [
        (no_capital, "The cat sleeps.", "the cat sleeps."),
        (no_capital, "NASA called.", "NASA called."),
        (without_end, "What time is it ?", "What time is it"),
        (without_end, "...", "..."),
        (no_apostrophe, "I don't like Tom's 'hat'.", "I dont like Toms 'hat'."),
        (curly_quotes, 'He\'s "here".', "He’s “here”."),
    ],
)
def test_what_each_change_does(change, before: str, after: str) -> None:
    assert change(before) == after


def test_a_varied_sentence_differs_from_its_own_where_it_can() -> None:
    rng = random.Random(0)
    for text in ("I don't know.", "Go on!", "What's up?"):
        assert all(vary(text, rng) != text for _ in range(20))
    assert vary("42", rng) == "42"


@given(st.text(min_size=1, max_size=40))
def test_no_change_leaves_nothing_of_a_text_or_fails(text: str) -> None:
    for change in CHANGES:
        assert change(text).strip() or not text.strip()


def test_a_share_of_the_sources_is_varied_and_no_target() -> None:
    plain = Pairs("plain", [Pair(n, f"Sentence {n} isn't long.", f"Satz {n}.") for n in range(1, 2001)])
    varied = list(Varied(plain, 0.25, seed=3))
    changed = sum(one.source != other.source for one, other in zip(plain, varied, strict=True))
    assert 0.2 < changed / 2000 < 0.3
    assert [pair.target for pair in varied] == [pair.target for pair in plain]
    assert varied == list(Varied(plain, 0.25, seed=3)) != list(Varied(plain, 0.25, seed=4))
