"""Words that a model never read: which are named, by a second way to the tokens that were written for them."""

import gzip
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headlight import checkpoints
from headlight.analysis.unread import LONGEST_NAMED, Unread, guessed, note, threshold_of, unread, words_of
from headlight.checkpoints import MOST_PACKED, WORDS, load_translator, read_words, save_words
from tests.small import small_checkpoint
from transformer import Translator

ROOT = Path(__file__).resolve().parents[2]
SENTENCE = "The bliffle eats a zorgon in the kitchen."


@pytest.fixture(scope="module")
def model() -> Translator:
    return load_translator("en-fr")


def test_words_are_letters_in_lower_case() -> None:
    assert words_of("Don't PAY 12 €, café!") == ["don", "t", "pay", "café"]


def test_what_was_written_for_a_word_is_what_looked_most_at_it(model: Translator) -> None:
    trace = model.trace(SENTENCE)
    read = {"the", "eats", "a", "in", "kitchen"}
    found = dict(unread(trace, read))
    assert found and set(found) == {"bliffle", "zorgon"} - set(words_of(trace.translation))
    assert trace.cross is not None
    layers, heads = trace.cross.shape[:2]
    for word, log_prob in found.items():
        (group,) = [g for g in trace.source.words if "".join(trace.source.pieces[at] for at in g).strip("▁") == word]
        due = []
        for step, log_prob_of_step in enumerate(trace.log_probs):
            sums = [0.0] * len(trace.source)
            for layer in range(layers):
                for head in range(heads):
                    for at in range(len(sums)):
                        sums[at] += float(trace.cross[layer, head, step, at])
            if sums.index(max(sums)) in group:
                due.append(float(log_prob_of_step))
        assert due and log_prob == pytest.approx(min(due))


def test_a_word_that_nothing_looked_at_most_is_that_of_the_token_that_looked_most_at_it(model: Translator) -> None:
    trace = model.trace("Yes bliffle.")
    assert trace.cross is not None
    cross = np.full_like(trace.cross, 0.01)
    (group,) = [g for g in trace.source.words if "".join(trace.source.pieces[at] for at in g).strip("▁") == "bliffle"]
    cross[..., 0] = 0.9
    cross[..., 1, group[0]] = 0.05
    (one,) = unread(replace(trace, cross=cross, translation="Oui."), {"yes"})
    assert one == ("bliffle", pytest.approx(trace.log_probs[1]))


def test_a_word_that_is_copied_needs_no_note(model: Translator) -> None:
    trace = model.trace(SENTENCE)
    read = set(words_of(SENTENCE)) - {"zorgon"}
    assert [word for word, _ in unread(replace(trace, translation="rien"), read)] == ["zorgon"]
    assert unread(replace(trace, translation="Il mange un Zorgon."), read) == []
    assert unread(trace, set(words_of(SENTENCE))) == []


CARDS: list[dict[str, Any]] = [
    {},
    {"typical": []},
    *({"typical": {"unread_log_prob": value}} for value in (None, "-2", True, math.nan)),
]


def test_the_card_says_how_unsure_is_unsure() -> None:
    words = [Unread("a", -1.0), Unread("b", -3.0), Unread("c", -100.0)]
    assert guessed({"typical": {"unread_log_prob": -2.0}}, words) == ["b", "c"]
    assert [guessed(card, words) for card in CARDS] == [[]] * len(CARDS)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.1, 0.5, 1.0])
def test_no_more_than_the_share_is_named(share: float) -> None:
    draw = np.random.default_rng(0)
    scores = [*draw.normal(-2, 1, 60).round(1).tolist(), *[math.inf] * 140]
    limit = threshold_of(scores, share)
    assert sum(score <= limit for score in scores) <= share * 200
    if share >= 0.5:
        assert limit == 0.0  # all that there are


def test_a_note_names_three_words_and_counts_the_others() -> None:
    assert note(["a"]) == 'The model has never read "a"; it will guess.'
    assert note(["a", "b"]) == 'The model has never read "a" and "b"; it will guess.'
    assert note(list("abcde")) == 'The model has never read "a", "b", "c" and 2 more; it will guess.'
    assert note(["<b>"], "*M*", "_", str.upper) == "*M* has never read _<B>_; it will guess."
    assert len(note(["x" * 10_000])) < LONGEST_NAMED + 60


def test_words_are_beside_the_model_and_the_rarest_go_first(tmp_path: Path) -> None:
    checkpoints.save(small_checkpoint(), tmp_path)
    assert read_words(tmp_path) == frozenset()
    assert save_words(tmp_path, {"b": 1, "a": 2}) == 2
    assert read_words(tmp_path) == {"a", "b"}
    draw = np.random.default_rng(0)
    many = {"".join(map(chr, draw.integers(97, 123, 12))): n for n in range(40_000)}
    listed = save_words(tmp_path, many)
    assert (tmp_path / WORDS).stat().st_size <= MOST_PACKED and listed < len(many)
    assert read_words(tmp_path) == set(sorted(many, key=many.__getitem__)[-listed:])


DAMAGED = [b"", b"no gzip", gzip.compress(b"\xff\xfe"), gzip.compress(b"a\n" * 100)[:-30], b"x" * 300_000]


@pytest.mark.parametrize("content", DAMAGED)
def test_of_a_damaged_list_nothing_else_is_read(tmp_path: Path, content: bytes) -> None:
    (tmp_path / WORDS).write_bytes(content)
    assert read_words(tmp_path) <= {"a"}


def test_a_list_that_unpacks_to_much_is_read_to_its_bound(tmp_path: Path) -> None:
    (tmp_path / WORDS).write_bytes(gzip.compress(b"ab\n" * 30_000_000))
    assert read_words(tmp_path) <= {"ab", "a"}


@pytest.mark.parametrize("name", ["en-fr", "de-en", "english-french", "english-hindi"])
def test_models_that_ship_have_a_list_of_at_most_200_kilobytes(name: str) -> None:
    folder = ROOT / "checkpoints" / name
    assert (folder / WORDS).stat().st_size <= 200_000
    assert ("mädchen" if name == "de-en" else "girl") in read_words(folder)
