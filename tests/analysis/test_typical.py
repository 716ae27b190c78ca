"""Whether a sentence is like those that a model was trained on, and which of its words were never read."""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headlight import checkpoints
from headlight.analysis.typical import (
    MAX_NAMED_CHARACTERS,
    MIN_HELD_OUT_SENTENCES,
    UNLIKE_SHARE,
    find_threshold,
    guessed_words,
    has_unread,
    threshold_of,
    unlike,
    unread_note,
    unread_words,
    words_of,
)
from headlight.checkpoints import MAX_PACKED_BYTES, WORDS_FILE, load_translator, read_words, save_words
from tests.small import small_checkpoint
from tools.typical import MAX_SHARE_NOTED, threshold_of_unread
from transformer import Translator

ROOT = Path(__file__).resolve().parents[2]
SENTENCE = "The bliffle eats a zorgon in the kitchen."


def test_the_threshold_leaves_its_share_of_the_held_out_sentences_below() -> None:
    scores = [-n / 1000 for n in range(1000)]
    threshold = find_threshold({"captions": scores})
    assert sum(value < threshold for value in scores) == round(UNLIKE_SHARE * 1000)


def test_of_several_kinds_none_has_more_than_its_share_below() -> None:
    kinds = {"easy": [-n / 10_000 for n in range(1000)], "hard": [-1 - n / 1000 for n in range(MIN_HELD_OUT_SENTENCES)]}
    threshold = find_threshold(kinds)
    assert threshold == find_threshold({"hard": kinds["hard"]}) < min(kinds["easy"])
    assert all(sum(value < threshold for value in scores) <= UNLIKE_SHARE * len(scores) for scores in kinds.values())


def test_too_few_sentences_are_refused() -> None:
    with pytest.raises(ValueError, match="captions has 199 held-out sentences; at least 200 are needed"):
        find_threshold({"everyday": [-1.0] * MIN_HELD_OUT_SENTENCES, "captions": [-1.0] * (MIN_HELD_OUT_SENTENCES - 1)})
    with pytest.raises(ValueError, match="no held-out sentences"):
        find_threshold({})


def test_both_sides() -> None:
    card = {"typical": {"log_prob_per_token": -0.5}}
    assert unlike(card, -0.51)
    assert not unlike(card, -0.5) and not unlike(card, -0.1)


@pytest.mark.parametrize(
    "card",
    [
        {},
        {"typical": None},
        {"typical": -0.5},
        {"typical": {}},
        *({"typical": {"log_prob_per_token": value}} for value in ("-0.5", None, True, [], 0.5, math.nan, -math.inf)),
    ],
)
def test_a_card_that_says_nothing_sensible_has_no_threshold(card: dict[str, object]) -> None:
    assert threshold_of(card) is None
    assert not unlike(card, -1000.0)


@pytest.fixture(scope="module")
def model() -> Translator:
    return load_translator("en-fr")


def test_words_are_letters_in_lower_case() -> None:
    assert words_of("Don't PAY 12 €, café!") == ["don", "t", "pay", "café"]


def test_words_that_were_never_read_are_found_once_as_they_are_typed() -> None:
    read = {"the", "eats", "a"}
    assert unread_words("The Zorgon eats a bliffle, a Zorgon!", "rien", read) == ["Zorgon", "bliffle"]
    assert has_unread("a zorgon", read) and not has_unread("The a, EATS 12.", read)


def test_a_word_that_is_copied_needs_no_note(model: Translator) -> None:
    written = model.translate(SENTENCE)
    read = set(words_of(SENTENCE)) - {"zorgon"}
    assert unread_words(SENTENCE, "rien", read) == ["zorgon"]
    assert unread_words(SENTENCE, "Il mange un Zorgon.", read) == []
    assert unread_words(SENTENCE, written.text, set(words_of(SENTENCE))) == []


CARDS: list[dict[str, Any]] = [
    {},
    {"typical": []},
    *({"typical": {"unread_log_prob_per_token": value}} for value in (None, "-2", True, math.nan)),
]


def test_the_card_says_how_unsure_is_unsure() -> None:
    card = {"typical": {"unread_log_prob_per_token": -0.5}}
    text = "a b c d e"
    assert guessed_words(card, ["a", "b"], text, -0.6) == ["a", "b"]
    assert guessed_words(card, ["a", "b"], text, -0.5) == guessed_words(card, [], text, -2.0) == []
    assert [guessed_words(card, ["a"], text, -9.0) for card in CARDS] == [[]] * len(CARDS)


def test_a_text_of_unread_words_is_a_guess_however_sure_the_model_is() -> None:
    card = {"typical": {"unread_log_prob_per_token": -0.5}}
    for text, words, named in (("a b c", ["a"], []), ("a b", ["a"], ["a"]), ("a b c", ["a", "c"], ["a", "c"])):
        assert guessed_words(card, words, f"{text}!", -0.01) == named
    assert guessed_words(card, [], "?", -0.01) == []


@pytest.mark.parametrize("seed", range(2))
def test_as_many_are_named_as_may_be(seed: int) -> None:
    draw = np.random.default_rng(seed)
    every = draw.normal(-0.4, 0.2, 1000).tolist()
    new, below = every[::20], sorted(every)[10]
    limit = threshold_of_unread(every, new, below)
    noted = {n for n, value in enumerate(every) if value < below or (n % 20 == 0 and value < limit)}
    assert len(noted) == MAX_SHARE_NOTED * 1000
    assert threshold_of_unread(every, new[:3], below) == 0.0  # so few that all may be named
    assert threshold_of_unread(every, new, sorted(every)[100]) == min(one for one in new if one >= sorted(every)[100])


def test_a_note_names_three_words_and_counts_the_others() -> None:
    assert unread_note(["a"]) == 'The model has never read "a"; it will guess.'
    assert unread_note(["a", "b"]) == 'The model has never read "a" and "b"; it will guess.'
    assert unread_note(list("abcde")) == 'The model has never read "a", "b", "c" and 2 more; it will guess.'
    assert unread_note(["<b>"], "*M*", "_", str.upper) == "*M* has never read _<B>_; it will guess."
    assert len(unread_note(["x" * 10_000])) < MAX_NAMED_CHARACTERS + 60


def test_words_are_beside_the_model_and_the_rarest_go_first(tmp_path: Path) -> None:
    checkpoints.save(small_checkpoint(), tmp_path)
    assert read_words(tmp_path) == frozenset()
    assert save_words(tmp_path, {"b": 1, "a": 2}) == 2
    assert read_words(tmp_path) == {"a", "b"}
    draw = np.random.default_rng(0)
    many = {"".join(map(chr, draw.integers(97, 123, 12))): n for n in range(40_000)}
    listed = save_words(tmp_path, many)
    assert (tmp_path / WORDS_FILE).stat().st_size <= MAX_PACKED_BYTES and listed < len(many)
    assert read_words(tmp_path) == set(sorted(many, key=many.__getitem__)[-listed:])


# Without the time of packing, which would give the tests another name in each worker.
DAMAGED = [
    b"",
    b"no gzip",
    gzip.compress(b"\xff\xfe", mtime=0),
    gzip.compress(b"a\n" * 100, mtime=0)[:-30],
    b"x" * 300_000,
]


@pytest.mark.parametrize("content", DAMAGED)
def test_of_a_damaged_list_nothing_else_is_read(tmp_path: Path, content: bytes) -> None:
    (tmp_path / WORDS_FILE).write_bytes(content)
    assert read_words(tmp_path) <= {"a"}


def test_a_list_that_unpacks_to_much_is_read_to_its_bound(tmp_path: Path) -> None:
    (tmp_path / WORDS_FILE).write_bytes(gzip.compress(b"ab\n" * 30_000_000))
    assert read_words(tmp_path) <= {"ab", "a"}


@pytest.mark.parametrize("name", ["en-fr", "de-en", "english-french", "english-hindi"])
def test_models_that_ship_have_a_list_of_at_most_200_kilobytes(name: str) -> None:
    folder = ROOT / "checkpoints" / name
    assert (folder / WORDS_FILE).stat().st_size <= 200_000
    assert ("mädchen" if name == "de-en" else "girl") in read_words(folder)
