"""Pairs of a corpus as a model reads them: ids, and which words and antecedents their tokens belong to."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from headlight.corpora.gold import Pronoun
from headlight.corpora.truth import KnownPair, Truth
from transformer.config import ModelConfig
from transformer.tokenizers import SPACE, Tokenizer

# Simple rules that guess the antecedent of a pronoun, which a head must beat to count as finding it.
RULES = ("nearest noun", "first noun")  # before the pronoun, and of the sentence
PRONOUN_MEASURES = ("antecedent", "among_words")  # the measures that are compared with RULES
CHUNK_PAIRS = 2048  # pairs that are encoded and sorted by length at a time, the only ones in memory


@dataclass(frozen=True)
class PairReading:
    """A pair as ids, source up to its end and target from its start to its end.

    With gold, `source_words` and `target_words` say of each token which unit it belongs to, -1 for special ones.
    `guessed` says of each pronoun which of RULES are right.
    """

    index: int  # its place in the corpus, from 0
    source: list[int]
    target: list[int]
    source_words: list[int] | None = None
    target_words: list[int] | None = None
    links: tuple[tuple[int, int], ...] = ()
    pronouns: tuple[Pronoun, ...] = ()
    guessed: tuple[tuple[bool, bool], ...] = ()
    estimated: bool = False  # an aligner found the links

    @property
    def length(self) -> int:
        return max(len(self.source), len(self.target))


@dataclass
class SkippedPairs:
    """The number of pairs that could not be measured, by reason."""

    long: int = 0  # pairs that are longer than the model reads, or empty
    unmatched: int = 0  # pairs with gold whose words the model's tokens don't spell


class Reader:
    """Tokenizes sentence pairs with a model's tokenizers, and adds the start and end tokens of its configuration."""

    def __init__(self, config: ModelConfig, source: Tokenizer, target: Tokenizer) -> None:
        self.config, self.source, self.target = config, source, target
        self.units = "words"  # the units of the gold, from the pairs read so far

    def chunks(self, pairs: Iterable[KnownPair], skipped: SkippedPairs) -> Iterator[list[PairReading]]:
        """Yield the readings of CHUNK_PAIRS pairs at a time, and count pairs that cannot be measured in `skipped`."""
        remaining, start = iter(pairs), 0
        while chunk := list(islice(remaining, CHUNK_PAIRS)):
            yield self._read(chunk, start, skipped)
            start += len(chunk)

    def _read(self, chunk: Sequence[KnownPair], start: int, skipped: SkippedPairs) -> list[PairReading]:
        config, readings = self.config, []
        sources = self.source.encode_batch([pair.source for pair in chunk])
        targets = self.target.encode_batch([pair.target for pair in chunk])
        end = (config.eos_id,) if config.source_end is None else config.source_end
        for index, (pair, source, target) in enumerate(zip(chunk, sources, targets, strict=True), start):
            src = [*config.source_start, *source, *end]
            tgt = [config.sos_id, *config.target_start, *target, config.eos_id]
            if not source or not target or max(len(src), len(tgt)) > config.max_length:
                skipped.long += 1
                continue
            if pair.truth is None:
                readings.append(PairReading(index, src, tgt))
                continue
            truth = pair.truth
            self.units = truth.units
            of_source, of_target = units(self.source, src, truth.source), units(self.target, tgt, truth.target)
            if of_source is None or of_target is None:
                skipped.unmatched += 1
                readings.append(PairReading(index, src, tgt))
            else:
                gold = truth.links, truth.pronouns, guessed(truth), truth.estimated
                readings.append(PairReading(index, src, tgt, of_source, of_target, *gold))
        return readings


def units(tokenizer: Tokenizer, ids: Sequence[int], spelled: Sequence[str]) -> list[int] | None:
    """Return the unit that each token belongs to, -1 for special ones; None where the tokens do not spell the units.

    The units are words, or single tokens where a model reads letters. An unknown token may be any unit.
    """
    special_ids = tokenizer.special_ids - {tokenizer.unk_id}
    special = [id in special_ids for id in ids]
    plain = [position for position, is_special in enumerate(special) if not is_special]
    of_token = [-1] * len(ids)
    if [tokenizer.piece(ids[at]) for at in plain] == list(spelled):  # each token is a unit, as with letters
        for unit, position in enumerate(plain):
            of_token[position] = unit
        return of_token
    for grouped in (tokenizer.word_groups(ids), [[at] for at in range(len(ids))]):
        groups = [group for group in grouped if not special[group[0]]]
        if len(groups) == len(spelled) and all(
            _spells(tokenizer, [ids[at] for at in group], unit)
            for group, unit in zip(groups, spelled, strict=True)
        ):
            for unit, group in enumerate(groups):
                for position in group:
                    of_token[position] = unit
            assert all(of_token[at] >= 0 for at in plain)
            return of_token
    return None


def _spells(tokenizer: Tokenizer, ids: Sequence[int], unit: str) -> bool:
    if tokenizer.unk_id in ids:
        return True
    text = "".join(map(tokenizer.piece, ids))
    return text == unit or _plain(text.replace(SPACE, " ").strip()) == _plain(unit)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def batches(readings: Iterable[PairReading], budget: int, padded: bool = True) -> list[list[PairReading]]:
    """Sort readings by length and cut them into batches of at most `budget` tokens a side, padding included.

    A longer reading is a batch by itself. Where they may not be `padded`, since the model would attend to padding, the
    readings of a batch are equally long on both sides.
    """

    def sides(reading: PairReading) -> tuple[int, int]:
        return len(reading.source), len(reading.target)

    batched: list[list[PairReading]] = []
    for reading in sorted(readings, key=lambda reading: (reading.length, *(() if padded else sides(reading)))):
        fits = batched and (len(batched[-1]) + 1) * reading.length <= budget
        if fits and (padded or sides(batched[-1][0]) == sides(reading)):
            batched[-1].append(reading)
        else:
            batched.append([reading])
    return batched


def guessed(truth: Truth) -> tuple[tuple[bool, bool], ...]:
    """Return for each pronoun whether each of RULES finds its antecedent."""
    right = []
    for pronoun in truth.pronouns:
        before = [noun for noun in truth.nouns if noun < pronoun.word]
        right.append((before[-1:] == [pronoun.antecedent], list(truth.nouns[:1]) == [pronoun.antecedent]))
    return tuple(right)
