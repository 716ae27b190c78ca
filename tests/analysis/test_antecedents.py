"""Antecedents in each kind of attention: which row asks, what is right, and the rules that guess."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from headlight.analysis.atlas import Atlas, atlas
from headlight.analysis.atlas.batch import MeasuredBatch, prepare
from headlight.analysis.atlas.reading import RULES, PairReading, guessed
from headlight.corpora.gold import GoldCorpus, Pronoun, antecedents
from headlight.corpora.grammars import GRAMMARS
from headlight.corpora.truth import KnownPair, Truth, known_pairs
from tests.small import small_checkpoint
from transformer.taps import Inputs, Site
from transformer.trace import Kind

# Each word is one token. The pronoun "is" stands for "girl", and "petite" shows it, the fourth word of the target.
SOURCE, TARGET = ("a", "girl", "two", "is"), ("une", "&", "fille", "petite", "co")
WORD, ANTECEDENT, WRITTEN = 3, 1, 3
# Where "girl" was translated to: long before "petite", right before it, at it, and after it.
TRANSLATED = (0, 2, 3, 4)
HEADS: dict[Kind, tuple[Site, int]] = {
    "encoder": (Site("encoder", 1, "self"), 2),
    "decoder": (Site("decoder", 2, "self"), 0),
    "cross": (Site("decoder", 1, "cross"), 1),
}


def pairs() -> list[KnownPair]:
    pronoun = Pronoun(WORD, ANTECEDENT, WRITTEN)
    truths = (Truth(SOURCE, TARGET, ((ANTECEDENT, to),), (pronoun,), nouns=(1, 2)) for to in TRANSLATED)
    return [KnownPair(" ".join(SOURCE), " ".join(TARGET), truth) for truth in truths]


def planted(kind: Kind, reading: PairReading, rows: int, keys: int, late: int = 0) -> Tensor:
    """The row that asks, or one `late` rows after it, looks at what is right; all others look at a special token."""
    pattern = torch.zeros(rows, keys)
    (link,) = reading.links
    if kind == "decoder":  # row r reads token r, which is word r - 1, and writes word r
        pattern[:, 0] = 1
        row, right = WRITTEN + late, link[1] + 1
    else:
        pattern[:, len(reading.source) - 1] = 1
        row, right = (WORD if kind == "encoder" else WRITTEN) + late, ANTECEDENT
    pattern[row] = 0
    pattern[row, right] = 1
    return pattern


def measured(monkeypatch: pytest.MonkeyPatch, pattern_of: Callable[[Kind, PairReading, int, int], Tensor]) -> Atlas:
    """Return the atlas of the pairs for a model with three planted heads."""
    checkpoint = small_checkpoint()
    batch: list[Sequence[PairReading]] = []

    def prepared(readings: Sequence[PairReading], *given: Any) -> MeasuredBatch:
        batch.append(readings)
        return prepare(readings, *given)

    def tap(site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        for kind, (where, head) in HEADS.items():
            if site == where:
                pattern = pattern.clone()
                for b, one in enumerate(batch[-1]):
                    pattern[b, head] = pattern_of(kind, one, *pattern.shape[-2:])
        return pattern

    monkeypatch.setattr("headlight.analysis.atlas.over_corpus.prepare", prepared)
    return atlas(checkpoint, pairs, sample=0, tap=tap)


@pytest.mark.parametrize(("late", "share"), [(0, 1.0), (1, 0.0), (-1, 0.0)])
def test_a_planted_head_finds_every_antecedent_and_one_row_late_or_early_none(
    late: int, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    atlas = measured(monkeypatch, partial(planted, late=late))
    assert atlas.left.unmatched == 0
    for kind, (site, head) in HEADS.items():
        for measure in ("antecedent", "among_words"):
            spread = atlas.heads[kind][measure]
            assert spread.mean[site.layer, head] == share, kind
            # What the decoder could look at was written before: not at the word that shows it, nor after.
            assert (spread.units == (2 if kind == "decoder" else len(TRANSLATED))).all(), kind


def test_the_largest_weight_of_all_is_another_measure_than_the_largest_among_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a head that rests on the end, on the pronoun itself, or in the decoder on the start."""

    def rests(kind: Kind, reading: PairReading, rows: int, keys: int) -> Tensor:
        pattern = planted(kind, reading, rows, keys) * 0.3
        pattern[:, {"encoder": WORD, "cross": len(reading.source) - 1, "decoder": 0}[kind]] += 0.7
        return pattern

    atlas = measured(monkeypatch, rests)
    for kind, (site, head) in HEADS.items():
        assert atlas.heads[kind]["antecedent"].mean[site.layer, head] == 0, kind
        assert atlas.heads[kind]["among_words"].mean[site.layer, head] == 1, kind


def test_rules_guess_by_nouns_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    source = ("the", "lion", "saw", "the", "cat", "as", "it", "ran")
    for antecedent, right in ((1, (False, True)), (4, (True, False))):
        truth = Truth(source, source, (), (Pronoun(6, antecedent, 6),), nouns=(1, 4))
        assert guessed(truth) == (right,)
    after = Truth(source, source, (), (Pronoun(0, 4, 6),), nouns=(4, 7))  # the nearest before it: there is none
    assert guessed(after) == ((False, True),)
    atlas = measured(monkeypatch, planted)
    for chance in atlas.chance.values():
        assert [chance[rule] for rule in RULES] == [0, 1]


@pytest.mark.slow
@pytest.mark.parametrize("name", GRAMMARS)
def test_nearly_every_antecedent_of_a_grammar_is_known_as_a_noun(name: str) -> None:
    assert not antecedents(GRAMMARS[name]) & {"it", "he", "she", "they", "the", "a", "was", "because", ".", ","}
    truths = (pair.truth for pair in known_pairs(GoldCorpus(GRAMMARS[name], "train", 1_200, seed=1)))
    asked = [truth for truth in truths if truth is not None and truth.pronouns]
    there = [pronoun.antecedent in truth.nouns for truth in asked for pronoun in truth.pronouns]
    assert len(there) > 100 and np.mean(there) > 0.98
