"""How good a model is on a grammar: sentences exactly right and pronouns understood, each split by itself."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from headlight import checkpoints
from headlight.cli.verbs import main
from headlight.corpora import gold
from headlight.corpora.gold import GoldCorpus
from headlight.corpora.grammars import GRAMMARS
from headlight.runs import Evaluator
from headlight.runs.export import _score
from transformer.checkpoint import Checkpoint
from transformer.config import ModelConfig, StackConfig
from transformer.model import Transformer
from transformer.tokenizers import Tokenizer
from transformer.translator import Translator

FRENCH = GRAMMARS["english-french"]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Checkpoint:
    """Splits of twenty sentences, and an untrained model that translates as `answers` say."""
    monkeypatch.setattr(gold, "SPLIT_PAIRS", dict.fromkeys(gold.SPLIT_PAIRS, 20))
    texts = [text for split in ("test", "combinations") for pair in GoldCorpus(FRENCH, split) for text in pair[1:3]]
    tokenizer = Tokenizer.train(texts, "words", 1000, min_frequency=1)
    size, stack = tokenizer.vocab_size, StackConfig(n_layers=1, n_heads=2, d_ff=16)
    config = ModelConfig(size, size, d_model=16, encoder=stack, decoder=stack, max_length=64)
    return Checkpoint(Transformer(config).eval(), tokenizer, tokenizer, {})


def answer(monkeypatch: pytest.MonkeyPatch, **others: str) -> None:
    """Let the model translate as the grammar does, with some words changed."""
    right = {pair.source: pair.target for split in ("test", "combinations") for pair in GoldCorpus(FRENCH, split)}

    def translate(self: Translator, sources: list[str], *_: object, **__: object) -> list[SimpleNamespace]:
        translations = []
        for source in sources:
            words = [others.get(word, word) for word in right[source].split()]
            translations.append(SimpleNamespace(text=" ".join(words)))
        return translations

    monkeypatch.setattr(Translator, "translate_batch", translate)


def test_each_part_of_a_grammar_is_scored_by_itself(small: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch)
    _score(small, "english-french", None, 1, 1.0, "checkpoints/x")
    test, apart = small.card["scores"], small.card["more_scores"][0]
    assert test["exact"] == test["pronouns"] == apart["exact"] == apart["pronouns"] == 1
    counts = [
        sum(len(pair.resolvable) for pair in GoldCorpus(FRENCH, split).gold()) for split in ("test", "combinations")
    ]
    assert [test["pronouns_counted"], apart["pronouns_counted"]] == counts and min(counts) > 3
    assert apart["on"] == "english-french (combinations)" and test["sentences"] == apart["sentences"] == 20
    assert "--data english-french --beam 1" in test["command"]
    assert "evaluate checkpoints/x --data english-french:combinations --beam 1" in apart["command"]


def test_a_wrong_gender_is_a_pronoun_that_was_not_understood(
    small: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(monkeypatch, **{"qu'il": "qu'elle"})
    corpus = GoldCorpus(FRENCH, "combinations")
    scores = Evaluator.of(small, corpus.name, corpus)(small)
    pairs = list(corpus.gold())
    wrong = sum("qu'il " in pair.target and "qu'il y" not in pair.target for pair in pairs)
    assert wrong > 1 and scores.pronouns is not None
    right, every = scores.pronouns
    assert every - right == sum(len(pair.resolvable) for pair in pairs if "parce qu'il " in pair.target)
    assert scores.exact == pytest.approx(1 - wrong / 20)


def test_the_command_says_and_writes_it(
    small: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(monkeypatch)
    checkpoints.save(small, tmp_path / "model")
    out = tmp_path / "scores.json"
    assert main(["evaluate", str(tmp_path / "model"), "--data", "english-french:combinations", "--json", str(out)]) == 0
    facts, output = json.loads(out.read_text()), capsys.readouterr().out
    assert f"pronouns resolved 100.0\u00a0% of {facts['pronouns_counted']}" in output
    assert facts["exact"] == 1 and facts["on"] == "english-french (combinations)"


def test_two_files_of_ones_own_are_scored_with_their_count_and_what_is_wrong_with_them_is_said(
    small: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoints.save(small, tmp_path / "small")
    sides = tmp_path / "own.en", tmp_path / "own.fr"
    pairs = list(GoldCorpus(FRENCH, "test"))[:3]
    for path, texts in zip(sides, zip(*((pair.source, pair.target) for pair in pairs), strict=True), strict=True):
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    given = ["evaluate", str(tmp_path / "small"), "--beam", "1", "--data", ",".join(map(str, sides))]
    assert main(given) == 0
    printed = capsys.readouterr()
    assert f"of {len({pair.source for pair in pairs})} sentences" in printed.out and "Fewer than 100" in printed.err
    sides[1].write_bytes(b"\xe9t\xe9\n" * 3)
    assert main(given) == 1
    assert "3 undecodable target: line 1, 2, 3" in capsys.readouterr().err


def test_translations_of_one_source_are_references_of_one_another(
    small: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "pairs.tsv"
    table.write_text("Run!\tCours !\nRun!\tCourez vite !\nHi.\tSalut !\n", encoding="utf-8")
    translation_of = {"Run!": "Courez vite !", "Hi.": "Salut !"}
    asked: list[str] = []

    def translate(self: Translator, texts: list[str], *_: object, **__: object) -> list[SimpleNamespace]:
        asked.extend(texts)
        return [SimpleNamespace(text=translation_of[text]) for text in texts]

    monkeypatch.setattr(Translator, "translate_batch", translate)
    checkpoints.save(small, tmp_path / "model")
    assert main(["evaluate", str(tmp_path / "model"), "--data", str(table)]) == 0  # all of it: it has no test split
    assert asked == ["Run!", "Hi."]
    output = capsys.readouterr().out
    assert all(text in output for text in ("3 pairs read", "exact 100.0\u00a0%", "chrF 100.00", "nrefs:var"))
