"""The names of heads, and what they need for them; the words that can be left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from headlight.analysis import passes
from headlight.analysis.atlas import Atlas, faithfulness, parts_of
from headlight.analysis.atlas.roles import MIN_OBSERVATIONS, extreme_sentences, roles, since
from tests.analysis.measured import TEXTS, measured, pairs
from tests.small import small_checkpoint
from transformer import Translator
from transformer.checkpoint import Checkpoint
from transformer.yielding import on_yield


def test_a_name_needs_the_number_and_enough_of_them(measured_atlas: Atlas) -> None:
    def with_previous(
        value: float, deviation: float, sentences: int, chance: float, units: int | None = None
    ) -> list[str]:
        old = measured_atlas.heads["encoder"]["previous"]
        full = np.full_like(old.mean, value)
        count = np.full_like(old.units, sentences)
        of = count if units is None else np.full_like(count, units)
        spread = replace(old, mean=full, deviation=np.full_like(full, deviation), sentences=count, units=of)
        changed = replace(
            measured_atlas,
            heads={**measured_atlas.heads, "encoder": {"previous": spread}},
            chance={**measured_atlas.chance, "encoder": {"previous": chance}},
        )
        return [role.name for role in roles(changed, "encoder", 0, 0)]

    assert with_previous(0.8, 0.1, 100, 0.2) == ["previous token"]
    assert with_previous(0.49, 0.01, 100, 0.1) == []  # under half
    assert with_previous(0.55, 0.5, 100, 0.1) == []  # its interval begins under half
    assert with_previous(0.8, 0.1, MIN_OBSERVATIONS - 1, 0.2) == []  # too few
    assert with_previous(0.8, 0.1, 100, 0.41) == []  # not twice chance
    assert with_previous(1.0, 0.0, 1, 0.2, units=MIN_OBSERVATIONS) == []  # of one sentence


def test_a_head_is_named_after_antecedents_where_it_is_better_than_the_rules_that_guess_them(
    measured_atlas: Atlas,
) -> None:
    def with_pronouns(strict: float, among: float, nearest: float, first: float) -> list[str]:
        old = measured_atlas.heads["encoder"]["antecedent"]
        count, deviation = np.full_like(old.units, 100), np.full_like(old.mean, 0.3)  # ± 6 %
        spread = replace(old, deviation=deviation, sentences=count, units=count)
        of = {
            name: replace(spread, mean=np.full_like(old.mean, value))
            for name, value in (("antecedent", strict), ("among_words", among))
        }
        chance = {"nearest noun": nearest, "first noun": first}
        changed = replace(
            measured_atlas,
            heads={**measured_atlas.heads, "encoder": of},
            chance={**measured_atlas.chance, "encoder": chance},
        )
        return [str(role).replace("\u00a0", " ") for role in roles(changed, "encoder", 0, 0)]

    assert with_pronouns(0.9, 0.95, 0.7, 0.6) == ["looks at the antecedent: 90 % of 100 pronouns; nearest noun 70 %"]
    assert with_pronouns(0.9, 0.9, 0.2, 0.86) == []  # the first noun is right as often, as far as one can tell
    (among,) = with_pronouns(0.1, 0.9, 0.2, 0.8)
    assert among == (
        "looks at the antecedent more than at any other word, not counting the pronoun itself and special tokens: "
        "90 % of 100 pronouns; first noun 80 %"
    )
    assert with_pronouns(0.4, 0.4, 0.1, 0.1) == []  # better than the rules, and still under half


def test_the_sentences_that_show_a_measure_best_and_worst(small: Checkpoint, measured_atlas: Atlas) -> None:
    errors = []
    for pair in list(pairs())[: len(TEXTS)]:  # after which they come again
        alone = measured(small, lambda pair=pair: [pair], sample=0)
        errors.append(alone.heads["cross"]["alignment"].mean[1, 0])
    assert len(set(errors)) > 1
    best, worst = extreme_sentences(measured_atlas, "cross", 1, 0, "alignment")
    assert best.value == pytest.approx(min(errors), abs=1e-6) and worst.value == pytest.approx(max(errors), abs=1e-6)
    assert errors[best.position % len(TEXTS)] == min(errors) and errors[worst.position % len(TEXTS)] == max(errors)
    assert measured_atlas.examples[best.position].source == TEXTS[best.position % len(TEXTS)][0]


def test_since_when() -> None:
    steps, names = [1, 2, 3, 4], [{"a"}, set(), {"a", "b"}, {"a"}]
    assert since(steps, names, "a") == 3 and since(steps, names, "b") is None


def test_leaving_out_a_word_is_reading_the_sentence_without_it(small: Checkpoint) -> None:
    translator = Translator(small)
    text, target = "two dogs are running .", "une petite fille"
    src, tgt = translator.encode(text), translator.encode_target(target)
    agreement = faithfulness(small.model, src, tgt, parts_of(small.source_tokenizer, src))
    assert agreement is not None and len(agreement.words) == 5
    whole = translator.trace(text, target)
    without = translator.trace("two are running .", target)
    assert agreement.effect[1] == pytest.approx(whole.log_prob - without.log_prob, abs=1e-5)
    assert agreement.attention[2, 1, 1] == pytest.approx(whole.cross[2, 1, :, 1].sum(), abs=1e-5)
    assert agreement.by_head.shape == (3, 2) and -1 <= agreement.mean <= 1
    assert faithfulness(small.model, src, tgt, [[0], [1]]) is None


def test_leaving_words_out_can_be_interrupted(small: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "PASS_TOKENS", 1)  # a pass a word
    translator, calls = Translator(small), list[None]()
    src, tgt = translator.encode("two dogs are running ."), translator.encode_target("une petite fille")
    words = parts_of(small.source_tokenizer, src)
    with on_yield(lambda: calls.append(None)):
        faithfulness(small.model, src, tgt, words)
    assert len(calls) >= len(words) == 5


def test_letters_are_left_out_one_by_one() -> None:
    checkpoint = small_checkpoint("characters")
    ids = Translator(checkpoint).encode("girl")
    assert parts_of(checkpoint.source_tokenizer, ids) == [[0], [1], [2], [3]]


def test_an_unknown_word_is_left_out_like_any_other(small: Checkpoint) -> None:
    tokenizer = small.source_tokenizer
    ids = Translator(small).encode("two zebras are running")
    assert tokenizer.unk_id in ids and tokenizer.eos_id in ids
    assert parts_of(tokenizer, ids) == [[0], [1], [2], [3]]
