"""What a lesson names is what the library computes: each against another way to it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from headlight import checkpoints
from headlight.checkpoints import load_translator
from headlight.teaching.lessons.language import Run, measure_names, parse
from headlight.teaching.lessons.measuring import Extreme, LessonComputer, Row, plain
from tests.small import small_checkpoint
from transformer import Translator
from transformer.positions import sinusoidal
from transformer.taps import Ablate, Site

TEXT = "two dogs are running in the snow ."


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator(small_checkpoint())


@pytest.fixture(scope="module")
def measuring(translator: Translator) -> LessonComputer:
    target = "the dogs are running ."
    return LessonComputer(lambda name: translator, Path, Run(text=TEXT, target=target, model="small"))


def test_rows_weights_and_heads_are_those_of_the_trace(measuring: LessonComputer, translator: Translator) -> None:
    trace = translator.trace(TEXT, "the dogs are running .")
    source, writes = map(plain, trace.source.labels), list(map(plain, trace.writes.labels))
    dogs, snow = (words := list(source)).index("dogs"), words.index("snow")
    row = measuring(parse('row of cross 2.1 from "dogs"'))
    assert isinstance(row, Row)
    assert row.shares == pytest.approx(100 * trace.cross[1, 0, writes.index("dogs")], abs=1e-2)
    assert measuring(parse('weight of encoder 2.3 from "dogs" to "snow"')) == pytest.approx(
        trace.encoder[1, 2, dogs, snow]
    )
    extreme = measuring(parse('head with the smallest weight from "dogs" to "snow" in encoder'))
    assert isinstance(extreme, Extreme)
    values = trace.encoder[:, :, dogs, snow]
    assert extreme.head == [int(i) + 1 for i in np.unravel_index(values.argmin(), values.shape)]


def test_a_decoder_row_has_only_what_it_may_see(measuring: LessonComputer) -> None:
    row = measuring(parse('row of decoder 1.1 from "dogs"'))
    assert list(map(plain, row.labels)) == ["[SOS]", "the"]
    assert sum(row.shares) == pytest.approx(100, abs=0.01)


def test_probabilities_are_of_the_words_before(measuring: LessonComputer, translator: Translator) -> None:
    source, target = translator.encode(TEXT), translator.encode_target("the dogs are running .")
    tap = Ablate(Site("decoder", 1, "cross"), 0)
    with torch.inference_mode():
        logits = translator.model(torch.tensor([source]), torch.tensor([target[:-1]]), tap)[0]
    there = translator.checkpoint.target_tokenizer.encode("are")[0]
    measured = measuring(parse('probability of "are" at "are" without cross 2.1'))
    assert measured == pytest.approx(float(logits[2].softmax(-1)[there]), rel=1e-4)


def test_heads_are_counted_by_what_a_word_loses_without_them(measuring: LessonComputer, translator: Translator) -> None:
    source, target = translator.encode(TEXT), translator.encode_target("the dogs are running .")

    def log_prob(*taps: Ablate) -> float:
        with torch.inference_mode():
            logits = translator.model(torch.tensor([source]), torch.tensor([target[:-1]]), *taps)[0]
        return float(logits[2].log_softmax(-1)[target[3]])

    layers, heads = translator.trace(TEXT).cross.shape[:2]
    sites = [Ablate(Site("decoder", layer, "cross"), head) for layer in range(layers) for head in range(heads)]
    lost = sorted(log_prob() - log_prob(tap) for tap in sites)
    between = (lost[-2] + lost[-1]) / 2
    assert measuring(parse(f'number of heads with effect on "are" above {between:.9f} in cross')) == 1
    assert measuring(parse('number of heads with effect on "are" above -100 in cross')) == len(sites)


@pytest.mark.parametrize("measure", [name for name in measure_names() if name not in ("following", "previous")])
def test_every_measure_has_a_value(measuring: LessonComputer, measure: str) -> None:
    assert np.isfinite(measuring(parse(f"{measure} of decoder 1.1")))


def test_positions_far_apart_need_no_table_of_all_between(
    measuring: LessonComputer, monkeypatch: pytest.MonkeyPatch
) -> None:
    arange = torch.arange

    def short(*given: int, **options: Any) -> torch.Tensor:
        assert max(given) < 10_000, "a row for each position between"
        return arange(*given, **options)

    monkeypatch.setattr(torch, "arange", short)
    near, far = (measuring(parse(f"similarity of positions {at}")) for at in ("3 and 5", "3 and 1000000"))
    table = sinusoidal(6, measuring.translator(Run()).model.config.d_model)
    assert near == pytest.approx(float(torch.cosine_similarity(table[3], table[5], dim=0)), abs=1e-6)
    assert -1 <= far < near


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('row of cross 9.1 from "dogs"', "There is no cross 9.1"),
        ('row of cross 1.1 from "cats"', "There is no 'cats' number 1 among the tokens: the dogs"),
        ('row of cross 1.1 from "dogs"#2', "There is no 'dogs' number 2"),
        ("following of decoder 1.1", "following means nothing in decoder attention"),
        ("translation at step 7", "has no snapshot of step 7; it has none"),
        ("translation < tokens", "compares a text with a number"),
    ],
)
def test_what_is_not_there_is_said(measuring: LessonComputer, text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said.replace("(", r"\(")):
        measuring(parse(text))


@pytest.mark.parametrize(
    "text",
    ["", "weight", "row of", 'row of cross 2 from "a"', "tokens tokens", "1 <", "translation with magic", '"a', "ä"],
)
def test_what_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"missing|read|understood"):
        parse(text)


def test_snapshots_are_the_weights_of_that_step(tmp_path: Path) -> None:
    checkpoint = small_checkpoint()
    checkpoints.save(checkpoint, tmp_path / "small")
    (tmp_path / "small" / "history").mkdir()
    other = tmp_path / "other"
    checkpoints.save(small_checkpoint(seed=5), other)
    (other / "model.safetensors").rename(tmp_path / "small" / "history" / "step-0000007.safetensors")
    measuring = LessonComputer(load_translator, lambda name: Path(name), Run(text=TEXT, model=str(tmp_path / "small")))
    then = Translator(small_checkpoint(seed=5)).trace(TEXT, measuring.trace().translation)
    words = list(map(plain, then.source.labels))
    assert measuring(parse('weight of encoder 1.1 from "dogs" to "snow" at step 7')) == pytest.approx(
        then.encoder[0, 0, words.index("dogs"), words.index("snow")], abs=1e-5
    )
