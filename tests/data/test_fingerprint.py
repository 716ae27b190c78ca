"""A model's own training data is recognised, and other pairs are not."""

import base64
from pathlib import Path

import pytest

from headlight.checkpoints import load
from headlight.cli.verbs import main
from headlight.corpora import fingerprint
from headlight.corpora.fingerprint import CARD_KEY, SAMPLE_HASHES, Fingerprint, Overlap, overlap
from headlight.corpora.pairs import Pair
from tests.small_run import finished_run, small_recipe


def pairs(first: int, last: int) -> list[Pair]:
    return [Pair(n, f"The number {n}.", f"Le nombre {n}.") for n in range(first, last)]


def fingerprint_of(given: list[Pair]) -> Fingerprint:
    collected = Fingerprint()
    for pair in given:
        collected.add(pair)
    return collected


def test_a_small_corpus_is_known_whole() -> None:
    card = {CARD_KEY: fingerprint_of(pairs(0, 500)).to_card()}
    assert overlap(card, pairs(0, 100)) == Overlap(100, 100)
    assert overlap(card, pairs(500, 600)) == Overlap(0, 100)
    assert overlap(card, [Pair(1, "the NUMBER 7", "le nombre 7 !")]) == Overlap(1, 1)
    assert overlap({}, pairs(0, 9)) is None


def test_of_a_large_corpus_a_sample_is_kept_that_tells_its_pairs_from_others() -> None:
    card = {CARD_KEY: fingerprint_of(pairs(0, 50_000)).to_card()}
    sample = base64.b64decode(card[CARD_KEY]["sample"])
    assert len(sample) == SAMPLE_HASHES * fingerprint.HASH_BYTES and card[CARD_KEY]["pairs"] == 50_000
    own, other, half = (overlap(card, pairs(*ends)) for ends in ((10_000, 20_000), (60_000, 70_000), (45_000, 55_000)))
    assert own is not None and other is not None and half is not None
    assert own.in_training == own.looked_up > 300 and other.in_training == 0 and other.looked_up > 300
    assert 0.4 < half.in_training / half.looked_up < 0.6


def test_a_training_that_goes_on_from_another_knows_the_pairs_of_both() -> None:
    first = fingerprint_of(pairs(0, 30_000)).to_card()
    card = {CARD_KEY: fingerprint_of(pairs(30_000, 40_000)).to_card(first)}
    assert card[CARD_KEY]["pairs"] == 40_000
    both = overlap(card, pairs(0, 40_000))
    assert both is not None and both.in_training == both.looked_up > 1000


@pytest.mark.parametrize("value", [None, 3, {}, {"pairs": 1, "limit": 2, "sample": "not base 64!"}, {"sample": 3}])
def test_a_card_from_anywhere_is_no_error(value: object) -> None:
    assert overlap({CARD_KEY: value}, pairs(0, 9)) is None


@pytest.mark.slow
def test_evaluating_on_the_training_pairs_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = small_recipe(tmp_path, steps=2)
    run = finished_run(tmp_path, "run", recipe)
    folder = str(run.checkpoints / "last")
    assert CARD_KEY in load(folder).card
    assert main(["evaluate", folder, "--data", recipe.data, "--split", "train", "--beam", "1"]) == 0
    assert "Caution: about 99\u00a0% of these pairs were trained on" in capsys.readouterr().err
    assert main(["evaluate", folder, "--data", "copy", "--beam", "1"]) == 0
    assert "were trained on" not in capsys.readouterr().err
