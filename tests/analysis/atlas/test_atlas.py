"""Every head over a corpus: planted heads, and parts that add up to the whole."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from headlight import analysis
from headlight.analysis.atlas import Atlas, Share
from headlight.analysis.atlas.batch import MeasuredBatch, prepare
from headlight.analysis.atlas.reading import PairReading
from headlight.analysis.atlas.roles import MIN_OBSERVATIONS, roles
from headlight.corpora.gold import GoldCorpus
from headlight.corpora.grammars import GRAMMARS
from headlight.corpora.truth import KnownPair, Truth, known_pairs
from tests.analysis.measured import measured, pairs, plain
from tests.small import small_checkpoint, small_t5_checkpoint
from transformer import Translator
from transformer.checkpoint import Checkpoint
from transformer.taps import Inputs, Site
from transformer.trace import KINDS

pytestmark = pytest.mark.device


def test_the_atlas_is_the_mean_of_what_each_sentence_measures_alone(small: Checkpoint, measured_atlas: Atlas) -> None:
    """Each sentence is measured on its own trace, without padding."""
    translator = Translator(small)
    traces = [translator.trace(pair.source, pair.target) for pair in pairs()]
    assert measured_atlas.pairs == len(traces) == 40
    assert measured_atlas.loss.mean[0, 0] == pytest.approx(
        -np.concatenate([trace.log_probs for trace in traces]).mean(), abs=1e-5
    )
    for kind in KINDS:
        each = [analysis.measure_trace(trace, kind) for trace in traces]
        for name in ("entropy", "distance", "same", "previous", "first", "special", "punctuation"):
            values, spread = np.stack([one[name] for one in each]), measured_atlas.heads[kind][name]
            np.testing.assert_allclose(spread.mean, np.nanmean(values, 0), atol=1e-5)
            np.testing.assert_allclose(spread.deviation, np.nanstd(values, 0, ddof=1), atol=1e-4)


def test_importance_is_the_loss_without_the_head(small: Checkpoint, measured_atlas: Atlas) -> None:
    assert measured_atlas.sampled == 6
    total, tokens = 0.0, 0
    for pair in list(pairs())[:6]:
        translator = Translator(small)
        src, tgt = translator.encode(pair.source), translator.encode_target(pair.target)
        effects = analysis.head_importance(small.model, src, tgt)
        total -= next(e.delta for e in effects if e.site == Site("decoder", 1, "cross") and e.head == 1)
        tokens += len(tgt) - 1
    assert measured_atlas.heads["cross"]["importance"].mean[1, 1] == pytest.approx(total / tokens, abs=1e-5)


def test_without_gold_what_needs_it_is_absent(small: Checkpoint) -> None:
    bare = measured(small, plain, sample=0)
    for kind in bare.heads.values():
        assert "entropy" in kind and not kind.keys() & {"alignment", "reading", "antecedent", "importance", "agreement"}


def test_processes_find_together_bit_for_bit_what_one_finds(small: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three processes are simulated; the first one collects what each has found."""
    monkeypatch.setattr("headlight.analysis.atlas.over_corpus.BATCH_TOKENS", 64)
    alone = measured(small, sample=6)
    contributions: list[list[np.ndarray]] = []
    for rank in range(3):
        mine: list[np.ndarray] = []

        def keep(array: np.ndarray, rank: int = rank, mine: list[np.ndarray] = mine) -> list[np.ndarray]:
            mine.append(array.copy())
            nothing = np.zeros_like(array) if array.ndim == 3 else np.full_like(array, -1)
            return [array if other == rank else nothing for other in range(3)]

        part = measured(small, sample=6, share=Share(rank, 3, keep))
        assert 0 < part.pairs < alone.pairs
        contributions.append(mine)
    turn = zip(*contributions, strict=True)
    together = measured(small, sample=6, share=Share(0, 3, lambda array: list(next(turn))))
    assert json.dumps(together.to_dict()) == json.dumps(alone.to_dict())


def test_pieces_of_a_corpus_add_up(small: Checkpoint, monkeypatch: pytest.MonkeyPatch, measured_atlas: Atlas) -> None:
    monkeypatch.setattr("headlight.analysis.atlas.reading.CHUNK_PAIRS", 7)
    pieces = measured(small, sample=6)
    for kind, of in measured_atlas.heads.items():
        for name, spread in of.items():
            np.testing.assert_allclose(pieces.heads[kind][name].mean, spread.mean, atol=1e-5)
            assert (pieces.heads[kind][name].units == spread.units).all()


def test_json_keeps_everything(measured_atlas: Atlas) -> None:
    again = Atlas.from_dict(json.loads(json.dumps(measured_atlas.to_dict(), allow_nan=False)))
    assert json.dumps(again.to_dict()) == json.dumps(measured_atlas.to_dict())


def test_a_family_with_layers_of_its_own_is_measured() -> None:
    measured_atlas = measured(small_t5_checkpoint(), sample=2)
    assert measured_atlas.heads["cross"]["alignment"].units.min() > 0 and measured_atlas.sampled == 2


def test_what_the_model_cannot_read_is_counted(small: Checkpoint) -> None:
    def long() -> Iterator[KnownPair]:
        yield KnownPair("two dogs " * 40, "une fille")
        yield from pairs()
        yield KnownPair("two dogs", "une fille", Truth(("twodogs",), ("une", "fille"), ((0, 0),)))

    measured_atlas = measured(small, long, sample=0)
    assert (measured_atlas.left.long, measured_atlas.left.unmatched, measured_atlas.pairs) == (1, 1, 41)
    with pytest.raises(ValueError, match="no pair that this model can read"):
        measured(small, lambda: iter([KnownPair("two dogs " * 40, "une fille")]))


# ---- planted heads -------------------------------------------------------------------------------------------------


class Planted:
    """A tap that gives the gold: cross head 2 of layer 1 looks at a word that is aligned with the one it writes, and
    encoder head 3 of layer 2 looks from the pronoun at its antecedent; every other row looks at the end."""

    def __init__(self, checkpoint: Checkpoint, gold: Sequence[KnownPair]):
        self.by_source = {}
        translator = Translator(checkpoint)
        for pair in gold:
            assert pair.truth is not None
            trace = translator.trace(pair.source, pair.target)
            source, tokens = trace.source, trace.target
            words = [[i for i in word if not tokens.special[i]] for word in tokens.words]
            of_source = [word for word in source.words if not source.special[word[0]]]
            self.by_source[tuple(source.ids), tuple(tokens.ids)] = (pair.truth, of_source, [w for w in words if w])

    def pattern(self, site: Site, src: list[int], tgt: list[int], queries: int, keys: int) -> Tensor:
        truth, source, target = self.by_source[tuple(src), tuple(tgt)]
        rows = torch.zeros(queries, keys)
        rows[:, len(src) - 1] = 1
        if site == Site("decoder", 0, "cross"):
            for here, there in reversed(truth.links):
                for token in target[there]:
                    rows[token - 1] = 0
                    rows[token - 1, source[here]] = 1 / len(source[here])
        else:
            for pronoun in truth.pronouns:
                for token in source[pronoun.word]:
                    rows[token] = 0
                    rows[token, source[pronoun.antecedent]] = 1 / len(source[pronoun.antecedent])
        return rows


@pytest.mark.slow
@pytest.mark.parametrize("of", ["words", "grammar"])
def test_a_planted_head_has_alignment_error_0_and_antecedent_100(of: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words of several tokens count too: the grammar's sentences are cut by a small vocabulary."""
    if of == "words":
        checkpoint, gold = small_checkpoint(), list(pairs())
    else:
        corpus = GoldCorpus(GRAMMARS["english-french"], "test", 60)
        gold = [pair for pair in known_pairs(corpus) if pair.truth and pair.truth.pronouns]
        checkpoint = small_checkpoint("bpe", max_length=80)
        texts = [text for pair in gold for text in (pair.source, pair.target)]
        tokenizer = type(checkpoint.source_tokenizer).train(texts, "bpe", 120)
        model = small_checkpoint(
            max_length=80, source_vocab_size=tokenizer.vocab_size, target_vocab_size=tokenizer.vocab_size
        ).model
        checkpoint = Checkpoint(model, tokenizer, tokenizer)
    planted = Planted(checkpoint, gold)
    batch: list[Sequence[PairReading]] = []

    def prepared(readings: Sequence[PairReading], *given: Any) -> MeasuredBatch:
        batch.append(readings)
        return prepare(readings, *given)

    monkeypatch.setattr("headlight.analysis.atlas.over_corpus.prepare", prepared)

    def tap(site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        if site not in (Site("decoder", 0, "cross"), Site("encoder", 1, "self")):
            return pattern
        pattern = pattern.clone()
        for b, one in enumerate(batch[-1]):
            rows = planted.pattern(site, one.source, one.target, *pattern.shape[-2:])
            pattern[b, 1 if site.kind == "cross" else 2] = rows
        return pattern

    measured_atlas = measured(checkpoint, lambda: gold, sample=0, tap=tap)
    assert measured_atlas.left.unmatched == 0
    alignment, antecedent = measured_atlas.heads["cross"]["alignment"], measured_atlas.heads["encoder"]["antecedent"]
    assert alignment.mean[0, 1] == 0 and alignment.units[0, 1] > 100
    assert alignment.mean[1:].min() > 0.1
    assert antecedent.mean[1, 2] == 1 and antecedent.units[1, 2] >= MIN_OBSERVATIONS
    (role, *_) = roles(measured_atlas, "cross", 0, 1)
    assert role.name == "alignment" and str(role).startswith("looks at what it is translating: 100\u00a0% of ")
    assert any(role.name == "antecedent" for role in roles(measured_atlas, "encoder", 1, 2))


def test_memory_does_not_grow_with_the_pairs(small: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare the peak memory of Python and numpy over one chunk and over many."""
    monkeypatch.setattr("headlight.analysis.atlas.reading.CHUNK_PAIRS", 40)

    def peak(chunks: int) -> int:
        tracemalloc.start()
        measured(small, lambda: (pair for _ in range(chunks) for pair in pairs()), sample=1)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(1)  # caches fill
    # Garbage that waits for its collector comes and goes; the readings of twelve chunks would be 0.6 MB more.
    assert peak(12) < peak(1) + 300_000
