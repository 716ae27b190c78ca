"""`headlight why --cell`: the parts of one cell of a head, as JSON and in words."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from headlight.analysis.why.residual_parts import Writer
from headlight.analysis.why.score_parts import ScoreParts, score_parts
from headlight.analysis.why.score_words import score_sentences, writer_name
from headlight.cli.verbs import main
from tests.small import TEXTS, small_checkpoint
from transformer import Translator
from transformer.taps import Site

TARGET = "two dogs are running"


def test_a_cell_is_explained_by_words_or_by_numbers(small_folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["why", small_folder, TEXTS[0], "--target", TARGET, "--cell", "cross.3.2"]
    assert main([*command, "dogs", "girl"]) == 0
    cell = json.loads(capsys.readouterr().out)["cell"]
    translator = Translator(small_checkpoint())
    query = translator.checkpoint.target_tokenizer.labels(translator.encode_target(TARGET)).index("▁dogs")
    key = translator.checkpoint.source_tokenizer.labels(translator.encode(TEXTS[0])).index("▁girl")
    parts = score_parts(translator, TEXTS[0], Site("decoder", 2, "cross"), 1, query, key, target=TARGET)
    assert (cell["query"], cell["key"], cell["relative to"]) == (query, key, "mean")
    np.testing.assert_allclose(cell["pairs"], parts.pairs)
    assert cell["score"] == pytest.approx(np.sum(cell["pairs"]), abs=1e-5)
    assert cell["query writers"] == [writer_name(writer) for writer in parts.query_writers]
    assert cell["weight"] == pytest.approx(parts.weights[key])
    assert cell["sentences"] == score_sentences(parts, "dogs", "girl")

    assert main([*command, str(query), str(key), "--rather", "little"]) == 0
    rather = json.loads(capsys.readouterr().out)["cell"]
    assert rather["relative to"] == key - 1 and "that of “little”" in rather["sentences"][0]
    assert rather["score"] == pytest.approx(parts.scores[key] - parts.scores[key - 1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cell", "cross.9.1", "dogs", "girl"], "The model has no head cross.9.1"),
        (["--cell", "cross.3.2", "cats", "girl"], "There is no token 'cats' there; choose one of 0 [SOS], 1 two"),
        (["--cell", "cross.3.2", "dogs", "a"], "'a' stands at 0, 3; give the number of the right one"),
        (["--cell", "decoder.1.1", "two", "running"], "The mask hides the key"),
        (["--rather", "girl"], "--rather needs --cell"),
        (["--cell", "cross.3.2", "dogs", "girl", "--out", "table.csv"], "take one sentence; leave them out"),
    ],
)
def test_what_is_wrong_is_a_sentence(
    arguments: list[str], message: str, small_folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = [] if "--out" in arguments else ["--target", TARGET]
    assert main(["why", small_folder, "a girl on a bench .", *target, *arguments]) == 1
    assert message in capsys.readouterr().err


def parts_of_scores(pairs: list[list[float]], relative_to: int | str | None = "mean") -> ScoreParts:
    writers = [Writer("decoder", "embedding"), Writer("decoder", "self", 0, 2)]
    keys = [Writer("encoder", "feed-forward", 1), Writer("encoder", "bias")]
    values = np.array(pairs)
    empty = np.zeros((2, 1)), np.zeros((3, 2, 1))
    site = Site("decoder", 1, "cross")
    score = float(values.sum())
    return ScoreParts(site, 0, 1, 2, relative_to, score, values, 0.0, writers, keys, np.zeros(3), *empty)  # type: ignore[arg-type]


def test_sentences_say_what_the_numbers_say() -> None:
    first, second, third = score_sentences(parts_of_scores([[0.1, 0.2], [1.5, -0.3]]), "elle", "street")
    assert first == "“street” has a score 1.50 above the mean of the row of “elle”."
    assert second == (
        "Mostly because of what decoder layer 1, head 3 wrote at “elle”, with what encoder feed-forward network 2 "
        "wrote at “street”: +1.50, 83\u00a0% of all pairs with that sign."
    )
    assert third.startswith(
        "Summed over its pairs, the largest part at “elle” is that of decoder layer 1, head 3 (+1.20)"
    )
    first, second, _ = score_sentences(parts_of_scores([[0.4, 0.3], [-0.5, 0.2]], 0), "elle", "street", "animal")
    assert first == "For “elle” the score of “street” is 0.40 above that of “animal”."
    assert second.startswith("No pair makes most of it. The largest is what decoder layer 1, head 3 wrote")
    against = score_sentences(parts_of_scores([[0.0, -0.1], [-2.0, 0.2]], None), "elle", "street")
    assert against[0] == "The score of “street” for “elle” is −1.90." and against[1].startswith("Mostly because")
