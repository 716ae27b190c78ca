"""Every head over a corpus: each measure by hand, planted heads, and parts that add up to the whole."""

from __future__ import annotations

import json
import sys
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.small import small_checkpoint, small_t5_checkpoint
from transformer import Translator, analysis
from transformer.analysis.atlas import Atlas, Share, atlas, faithfulness, parts_of, rank_correlation
from transformer.analysis.atlas.batch import Look, MeasuredBatch, Pronouns, Targets, prepare
from transformer.analysis.atlas.measuring import chances, measures
from transformer.analysis.atlas.reading import Reading
from transformer.analysis.atlas.roles import FEWEST, roles, shows, since
from transformer.analysis.atlas.spread import Sums
from transformer.checkpoints import Checkpoint
from transformer.data.gold import GoldCorpus, Pronoun
from transformer.data.grammars import GRAMMARS
from transformer.data.truth import Known, Truth, known
from transformer.taps import Inputs, Site

TEXTS = (
    ("a little girl is sitting on a bench .", "une petite fille & co"),
    ("two dogs are running in the snow .", "two dogs are running"),
    ("une petite fille", "a little girl is in the snow ."),
    ("two dogs", "une fille ."),
    ("a girl is running on the snow .", "une petite fille & co ."),
)


def pairs() -> Iterator[Known]:
    """Forty pairs; a target word is written for the source word of the same place from the end."""
    for turn in range(40):
        source, target = TEXTS[turn % len(TEXTS)]
        left, right = source.split(), target.split()
        links = [(len(left) - 1 - place, place) for place in range(len(right)) if place < len(left)]
        # Now the first word, now the second, so no rule is always right.
        antecedent = turn % len(TEXTS) % 2
        pronouns = (Pronoun(2, antecedent, 1),) if len(left) > 2 and len(right) > 1 else ()
        yield Known(source, target, Truth(tuple(left), tuple(right), tuple(sorted(links)), pronouns, nouns=(0, 1)))


def plain() -> Iterator[Known]:
    return (pair._replace(truth=None) for pair in pairs())


def measured(checkpoint: Checkpoint, of: object = pairs, **options: object) -> Atlas:
    return atlas(checkpoint.model, checkpoint.source_tokenizer, checkpoint.target_tokenizer, of, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def small() -> Checkpoint:
    return small_checkpoint()


@pytest.fixture(scope="module")
def measured_atlas(small: Checkpoint) -> Atlas:
    return measured(small, sample=6)


# ---- by hand -------------------------------------------------------------------------------------------------------


def look(queries: int, keys: int, causal: bool = False) -> Look:
    """One sentence without padding, whose first key is first, last special, and next to last punctuation."""
    visible = torch.ones(1, queries, keys, dtype=torch.bool)
    marks = torch.zeros(1, keys, 3)
    marks[0, 0, 0] = marks[0, -1, 1] = marks[0, -2, 2] = 1
    return Look(torch.ones(1, queries, dtype=torch.bool), visible.tril() if causal else visible, marks)


def values_of(rows: Sequence[Sequence[float]], at: Look) -> dict[str, float]:
    measured = measures(torch.tensor(rows)[None, None], at)
    return {name: float(values[0, 0]) for name, (values, _) in measured.items()}


def test_measures_of_constructed_patterns() -> None:
    same = values_of(torch.eye(4).tolist(), look(4, 4))
    assert same["same"] == 1 and same["previous"] == same["next"] == same["entropy"] == same["distance"] == 0
    assert same["first"] == same["special"] == same["punctuation"] == 0.25
    after = values_of([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]], look(4, 4))
    assert after["next"] == 1 and after["same"] == 0  # the last row has no key after it, and is not counted
    assert after["distance"] == (1 + 1 + 1 + 3) / 4
    wide = values_of([[0.25] * 4] * 4, look(4, 4))
    assert wide["entropy"] == pytest.approx(2) and wide["distance"] == pytest.approx(20 / 16)
    causal = values_of([[1, 0, 0], [1, 0, 0], [0, 1, 0]], look(3, 3, causal=True))
    assert causal["previous"] == 1 and np.isnan(causal["next"])


def test_a_row_counts_as_shares_and_one_without_weight_does_not_count() -> None:
    rows = [[0.2, 0.2, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 3.0]]
    values = values_of(rows, look(3, 3))
    assert values["entropy"] == pytest.approx(0.5) and values["special"] == pytest.approx(0.5)
    assert all(np.isnan(value) for value in values_of([[0.0] * 3] * 3, look(3, 3)).values())


def test_alignment_and_antecedent_of_constructed_patterns() -> None:
    # Three rows write words 0, 0, 1; keys 0 and 1 are word 0, key 2 is word 1, key 3 is special.
    words = torch.tensor([[[1.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]])
    rows = torch.tensor([[[1.0, 1, 0], [0, 0, 1]]])
    right = torch.tensor([[[True, False, False], [False, True, False]]])
    pronouns = Pronouns(
        torch.tensor([0]),
        torch.tensor([[0.0, 0, 1]]),
        torch.tensor([[False, True, False]]),
        torch.tensor([[True, True, False]]),
        torch.tensor([[1.0, 0.0]]),
    )
    targets = Targets(rows, right)
    at = replace(look(3, 4), words=words, writes=targets, reads=targets, pronouns=pronouns)
    # Word 0 of the target gives its parts .3 + .3 and .5 to word 1; word 1 gives most to the special key.
    pattern = [[0.3, 0.3, 0.4, 0.0], [0.3, 0.3, 0.4, 0.0], [0.1, 0.0, 0.3, 0.6]]
    by_name = values_of(pattern, at)
    assert by_name["alignment"] == 0.5  # one of two: a special token that is looked at most is an error
    assert by_name["antecedent"] == 0  # the special key has more than the right word
    assert by_name["among_words"] == 1  # of the two words, .3 is more than .1
    by_chance = {name: float(values[0, 0]) for name, (values, _) in chances(at).items()}
    assert by_chance["alignment"] == pytest.approx(2 / 3) and "antecedent" not in by_chance
    assert by_chance["nearest noun"] == 1 and by_chance["first noun"] == 0
    assert by_chance["entropy"] == pytest.approx(2) and by_chance["special"] == pytest.approx(0.25)


def test_rank_correlation() -> None:
    effect = np.array([0.1, 2.0, 0.5, 0.7])
    assert rank_correlation(np.array([1.0, 9, 2, 3]), effect) == 1
    assert rank_correlation(np.array([9.0, 1, 3, 2]), effect) == pytest.approx(-1)
    assert np.isnan(rank_correlation(np.ones(4), effect))
    # Two are tied: ranks 1.5 1.5 3 4 and 1 4 2 3, whose correlation by Pearson's formula is 0.316...
    tied = rank_correlation(np.array([[1.0, 1, 2, 3]]), effect)
    expected = np.corrcoef([1.5, 1.5, 3, 4], [1, 4, 2, 3])[0, 1]
    assert tied == pytest.approx([expected])


def test_spread_is_mean_deviation_and_count_and_knows_the_ends() -> None:
    sums = Sums((1, 2))
    values = np.array([[0.1, np.nan], [0.4, 0.5], [0.9, np.nan]])
    sums.add(0, values, np.array([1, 2, 1]), np.array([7, 3, 5]), np.array([9, 9, 9]))
    spread = sums.spread()
    assert spread.mean[0] == pytest.approx([(0.1 + 2 * 0.4 + 0.9) / 4, 0.5])
    assert spread.deviation[0, 0] == pytest.approx(np.std([0.1, 0.4, 0.9], ddof=1), abs=1e-6)
    assert spread.sentences.tolist() == [[3, 1]] and spread.units.tolist() == [[4, 2]]
    assert spread.most.tolist() == [[5, 3]] and spread.least.tolist() == [[7, 3]]
    np.testing.assert_allclose(spread.largest, [[0.9, 0.5]], atol=1e-6)
    np.testing.assert_allclose(spread.smallest, [[0.1, 0.5]], atol=1e-6)


def test_the_spread_of_small_numbers_is_no_rounding_and_parts_of_it_add_up_exactly() -> None:
    """As importance has them, beside distances of large ones."""
    rng = np.random.default_rng(0)
    values = np.stack([rng.normal(0, 1e-5, 600), 500 + rng.normal(0, 1, 600)], 1)
    one, halves = np.ones(600, np.int64), (slice(0, 250), slice(250, 600))
    whole, together = Sums((1, 2), 10_000), Sums((1, 2), 10_000)
    whole.add(0, values, one, np.arange(600), 9 * one)
    for part in halves:
        other = Sums((1, 2), 10_000)
        other.add(0, values[part], one[part], np.arange(600)[part], 9 * one[part])
        together.join(other.parts, other.most)
    np.testing.assert_allclose(whole.spread().deviation[0], values.std(0, ddof=1), rtol=1e-2)
    assert (whole.parts == together.parts).all() and (whole.most == together.most).all()


def test_the_ends_of_small_numbers_are_found_by_finer_steps() -> None:
    ends = []
    for steps in (100, 10_000):
        sums = Sums((1, 1), steps)
        sums.add(0, np.array([[0.001], [0.002], [-0.001]]), np.ones(3, np.int64), np.arange(3), np.array([9, 8, 7]))
        ends.append((sums.spread().most[0, 0], sums.spread().least[0, 0]))
    assert ends == [(0, 0), (1, 2)]  # in steps of two digits they agree, and the longest is taken


# ---- over a corpus -------------------------------------------------------------------------------------------------


def test_the_atlas_is_the_mean_of_what_each_sentence_measures_alone(small: Checkpoint, measured_atlas: Atlas) -> None:
    """Against analysis.heads, on the trace of every sentence by itself, without padding."""
    translator = Translator(small)
    traces = [translator.trace(pair.source, pair.target) for pair in pairs()]
    assert measured_atlas.pairs == len(traces) == 40
    assert measured_atlas.loss.mean[0, 0] == pytest.approx(
        -np.concatenate([trace.log_probs for trace in traces]).mean(), abs=1e-5
    )
    for kind, theirs in (("encoder", "encoder"), ("decoder", "decoder"), ("cross", "cross")):
        each = [
            analysis.measure(t.pattern(theirs), t.masked(theirs), np.array(t.column_tokens(theirs).special))
            for t in traces
        ]
        for ours, name in (
            ("entropy", "entropy"), ("distance", "distance"), ("same", "diagonal"), ("previous", "previous"),
            ("special", "special"),
        ):  # fmt: skip
            values = np.stack([getattr(one, name) for one in each])
            spread = measured_atlas.heads[kind][ours]  # type: ignore[index]
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
    """As of three processes: each says what it found, and the first one hears it."""
    monkeypatch.setattr("transformer.analysis.atlas.over_corpus.BUDGET", 64)
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
    monkeypatch.setattr("transformer.analysis.atlas.reading.CHUNK", 7)
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
    def long() -> Iterator[Known]:
        yield Known("two dogs " * 40, "une fille")
        yield from pairs()
        yield Known("two dogs", "une fille", Truth(("twodogs",), ("une", "fille"), ((0, 0),)))

    measured_atlas = measured(small, long, sample=0)
    assert (measured_atlas.left.long, measured_atlas.left.unmatched, measured_atlas.pairs) == (1, 1, 41)
    with pytest.raises(ValueError, match="no pair that this model can read"):
        measured(small, lambda: iter([Known("two dogs " * 40, "une fille")]))


# ---- planted heads -------------------------------------------------------------------------------------------------


class Planted:
    """A tap that gives the gold: cross head 2 of layer 1 looks at a word that is aligned with the one it writes, and
    encoder head 3 of layer 2 looks from the pronoun at its antecedent; every other row looks at the end."""

    def __init__(self, checkpoint: Checkpoint, gold: Sequence[Known]):
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


@pytest.mark.parametrize("of", ["words", "grammar"])
def test_a_planted_head_has_alignment_error_0_and_antecedent_100(of: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On words of several tokens too: the grammar's sentences in the pieces of a small vocabulary."""
    if of == "words":
        checkpoint, gold = small_checkpoint(), list(pairs())
    else:
        corpus = GoldCorpus(GRAMMARS["english-french"], "test", 60)
        gold = list(known(corpus))
        checkpoint = small_checkpoint("bpe", max_length=80)
        texts = [text for pair in gold for text in (pair.source, pair.target)]
        tokenizer = type(checkpoint.source_tokenizer).train(texts, "bpe", 120)
        model = small_checkpoint(
            max_length=80, source_vocab_size=tokenizer.vocab_size, target_vocab_size=tokenizer.vocab_size
        ).model
        checkpoint = Checkpoint(model, tokenizer, tokenizer)
    planted = Planted(checkpoint, gold)
    batch: list[Sequence[Reading]] = []

    def prepared(readings: Sequence[Reading], *given: Any) -> MeasuredBatch:
        batch.append(readings)
        return prepare(readings, *given)

    monkeypatch.setattr("transformer.analysis.atlas.over_corpus.prepare", prepared)

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
    assert antecedent.mean[1, 2] == 1 and antecedent.units[1, 2] >= FEWEST
    (role, *_) = roles(measured_atlas, "cross", 0, 1)
    assert role.name == "alignment" and str(role).startswith("looks at what it is translating: 100\u00a0% of ")
    assert any(role.name == "antecedent" for role in roles(measured_atlas, "encoder", 1, 2))


# ---- names ---------------------------------------------------------------------------------------------------------


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
    assert with_previous(0.8, 0.1, FEWEST - 1, 0.2) == []  # too few
    assert with_previous(0.8, 0.1, 100, 0.41) == []  # not twice chance
    assert with_previous(1.0, 0.0, 1, 0.2, units=FEWEST) == []  # of one sentence


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
    best, worst = shows(measured_atlas, "cross", 1, 0, "alignment")
    assert best.value == pytest.approx(min(errors), abs=1e-6) and worst.value == pytest.approx(max(errors), abs=1e-6)
    assert errors[best.place % len(TEXTS)] == min(errors) and errors[worst.place % len(TEXTS)] == max(errors)
    assert measured_atlas.examples[best.place].source == TEXTS[best.place % len(TEXTS)][0]


def test_since_when() -> None:
    steps, names = [1, 2, 3, 4], [{"a"}, set(), {"a", "b"}, {"a"}]
    assert since(steps, names, "a") == 3 and since(steps, names, "b") is None


# ---- leaving words out ---------------------------------------------------------------------------------------------


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
    monkeypatch.setattr(sys.modules[faithfulness.__module__], "MOST_TOKENS", 1)  # a pass a word
    translator, passes = Translator(small), list[None]()
    src, tgt = translator.encode("two dogs are running ."), translator.encode_target("une petite fille")
    words = parts_of(small.source_tokenizer, src)
    faithfulness(small.model, src, tgt, words, between=lambda: passes.append(None))
    assert len(passes) == len(words) == 5


def test_letters_are_left_out_one_by_one() -> None:
    checkpoint = small_checkpoint("characters")
    ids = Translator(checkpoint).encode("girl")
    assert parts_of(checkpoint.source_tokenizer, ids) == [[0], [1], [2], [3]]


def test_an_unknown_word_is_left_out_like_any_other(small: Checkpoint) -> None:
    tokenizer = small.source_tokenizer
    ids = Translator(small).encode("two zebras are running")
    assert tokenizer.unk_id in ids and tokenizer.eos_id in ids
    assert parts_of(tokenizer, ids) == [[0], [1], [2], [3]]


def test_memory_does_not_grow_with_the_pairs(small: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Python and numpy hold at most, over one chunk and over many."""
    monkeypatch.setattr("transformer.analysis.atlas.reading.CHUNK", 40)

    def peak(chunks: int) -> int:
        tracemalloc.start()
        measured(small, lambda: (pair for _ in range(chunks) for pair in pairs()), sample=2)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(2)  # caches fill
    # Garbage that waits for its collector comes and goes; the readings of eighteen chunks would be 0.9 MB more.
    assert peak(18) < peak(1) + 500_000
