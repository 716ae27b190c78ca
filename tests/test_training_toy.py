"""Few pairs: the toy run of a tutorial learns its five sentences, and nothing that it needs is kept from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from headlight.checkpoints import load_translator
from headlight.corpora.corpora import open_corpus
from headlight.corpora.encoded import SMALL_CORPUS, Encoded, learn_tokenizers
from headlight.corpora.pairs import Pair, Pairs
from headlight.runs import Recipe, work
from headlight.runs.preparing import known_by_heart
from headlight.runs.run_status import status
from tests.small_run import finished_run, new_run, small_recipe
from ui.training.draft import defaults, drafted


def numbered(count: int) -> Pairs:
    return Pairs("numbered", [Pair(n, f"the s{n}", f"le t{n}") for n in range(count)])


@pytest.mark.slow
def test_the_toy_run_learns_its_five_sentences(tmp_path: Path) -> None:
    """As the form offers it. Its words are seen once each; without them, or without the pair that was held out, it
    wrote "bonjour" for most of them."""
    recipe = drafted("toy", defaults("toy", "transformer-from-scratch"), ()).recipe
    assert recipe is not None and recipe.training.steps == 20
    run = finished_run(tmp_path, recipe=replace(recipe, threads=1))
    assert known_by_heart(run)
    assert "nothing is held out. The scores are on the pairs that are trained on" in run.log.read_text()
    best = run.best()
    assert best is not None
    pairs = open_corpus("toy").train
    written = load_translator(best).translate_batch([pair.source for pair in pairs], beam_size=1)
    assert [one.text for one in written] == [pair.target for pair in pairs]


@pytest.mark.parametrize(("count", "often"), [(5, 1), (SMALL_CORPUS - 1, 1), (SMALL_CORPUS, 2)])
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
    assert "67% of the source tokens are unknown to the vocabulary" in status(run.path).cause
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
