"""Training on few pairs: a tutorial's toy run as it ends there and with start and end tokens, and rare words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from headlight.checkpoints import load_translator
from headlight.corpora.corpora import open_corpus
from headlight.corpora.encoded import SMALL_CORPUS_PAIRS, Encoded, learn_tokenizers
from headlight.corpora.pairs import Pair, Pairs
from headlight.runs import Metrics, Recipe, work
from headlight.runs.preparing import is_scored_on_training
from headlight.runs.run_status import status
from tests.small_run import finished_run, new_run, small_recipe
from ui.training.draft import defaults, drafted


def numbered(count: int) -> Pairs:
    return Pairs("numbered", [Pair(n, f"the s{n}", f"le t{n}") for n in range(count)])


@pytest.mark.slow
def test_the_toy_run_ends_as_the_tutorials_does_and_with_a_start_and_an_end_it_translates(tmp_path: Path) -> None:
    """As the form offers it: a low loss and no translation. Its code, computed once more, came to losses of 0.014 to
    0.017 with four seeds, and to "le monde le" and "bientôt bientôt bientôt"."""
    values = defaults("toy", "transformer-from-scratch") | {"training.precision": "float32"}
    pairs, losses, written = list(open_corpus("toy").train), {}, {}
    assert {pair.source: pair.target for pair in pairs}["how are you"] == "comment ça va"
    for framing, limit in (("none", 3), ("usual", None)):
        recipe = drafted("toy", values | {"framing": framing}, ()).recipe
        assert recipe is not None and recipe.training.steps == 20
        run = finished_run(tmp_path, framing, replace(recipe, threads=1))
        assert is_scored_on_training(run)
        assert "nothing is held out. The scores are on the pairs that are trained on" in run.log.read_text()
        losses[framing] = Metrics(run.path).read()[-1]["loss"]
        last = load_translator(run.checkpoint(20))
        of_all = last.translate_batch([pair.source for pair in pairs], beam_size=1, max_length=limit)
        written[framing] = [one.text for one in of_all]
    assert losses["none"] < 0.03 and losses["usual"] < 0.1
    assert written["usual"] == [pair.target for pair in pairs]
    assert not set(written["none"]) & set(written["usual"])
    assert written["none"][-1] == "bientôt bientôt bientôt" and "bonjour" not in " ".join(written["none"])


@pytest.mark.parametrize(("count", "often"), [(5, 1), (SMALL_CORPUS_PAIRS - 1, 1), (SMALL_CORPUS_PAIRS, 2)])
def test_words_that_are_seen_once_are_kept_of_few_pairs(count: int, often: int) -> None:
    tokenizer, _ = learn_tokenizers(numbered(count), "words", 10_000, separate=True)
    assert (tokenizer.vocab_size == 4 + 1 + count) == (often == 1)
    for asked in (1, 2):  # whatever their number
        tokenizer, _ = learn_tokenizers(numbered(count), "words", 10_000, True, asked)
        assert tokenizer.vocab_size == (5 + count if asked == 1 else 5)


def test_what_share_of_the_tokens_is_unknown_is_counted() -> None:
    corpus = numbered(4)
    known, _ = learn_tokenizers(corpus, "words", 100)
    only_the, _ = learn_tokenizers(corpus, "words", 100, True, 2)
    examples = Encoded(corpus, only_the, known, 10)
    assert examples.unknown == (0.0, 0.0)
    for _ in range(2):  # of one pass
        assert len(list(examples)) == 4 and examples.unknown == (0.5, 0.0)


def test_a_run_whose_words_are_mostly_unknown_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rare.tsv"
    path.write_text("".join(f"a{n} b{n} c\tx{n} y{n}\n" for n in range(60)))
    recipe = replace(small_recipe(tmp_path, steps=1), data=str(path), watch=())
    run = new_run(tmp_path, "refused", replace(recipe, min_frequency=2))
    assert work(run.path) == "crashed"
    assert "67\u00a0% of the source tokens are unknown to the vocabulary" in status(run.path).cause
    assert work(new_run(tmp_path, "trained", replace(recipe, vocabulary=400)).path) == "finished"


@pytest.mark.slow
def test_long_pairs_are_left_out_as_asked(tmp_path: Path) -> None:
    path = tmp_path / "long.tsv"
    path.write_text("".join(f"{'a ' * n}a\tb\n" for n in range(8)) * 7)
    recipe: Recipe = replace(small_recipe(tmp_path, steps=1), data=str(path), watch=("a",))
    assert (
        recipe.longest == 16
        and replace(recipe, max_tokens=5).longest == 5
        and replace(recipe, max_tokens=99).longest == 16
    )
    for name, changes, kept in (
        ("all", {}, 8),
        ("characters", {"max_characters": 7}, 4),
        ("tokens", {"max_tokens": 4}, 3),  # with the end
    ):
        run = finished_run(tmp_path, name, replace(recipe, validation="copy", **changes))
        assert f"{7 * kept} kept" in run.log.read_text(), name
