"""The command that tells how many held-out names and numbers a model copies."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from headlight import checkpoints
from headlight.corpora.framed import read_frames
from headlight.corpora.slot_words import held_out_slots
from tests.small import small_checkpoint
from tools import copying
from transformer.files import read_json


@pytest.mark.parametrize("source, target", [("en", "fr"), ("de", "en")])
def test_each_held_out_name_and_number_stands_in_two_frames(source: str, target: str) -> None:
    probes = copying.probes(source, target)
    assert len({probe.source for probe in probes}) == len(probes) == 800
    names = [probe.accepted[0] for probe in probes if probe.kind == "names"]
    assert sorted(names) == sorted(list(held_out_slots()[0]) * 2)
    frames = [*copying.NAME_FRAMES[source], *copying.NUMBER_FRAMES[source]]
    assert len(set(frames)) == 20 and all(sum(letter in frame for letter in "XN") >= 1 for frame in frames)
    trained = {
        frame.replace("{x}", "X").replace("{n}", "N").replace("{m}", "X") for frame, _ in read_frames(source, target)
    }
    assert len(set(frames) & trained) <= 3


@pytest.mark.parametrize(
    "kind, accepted, written, copied",
    [
        ("names", ("Nadine",), "Je m'appelle Nadine.", True),
        ("names", ("Nadine",), "Je m'appelle Nadines.", False),
        ("names", ("Nadine",), "je m'appelle nadine", False),
        ("numbers", ("108", "cent huit"), "Il a 108 pommes.", True),
        ("numbers", ("108", "cent huit"), "Cent huit pommes", True),
        ("numbers", ("108", "cent huit"), "Il a 1084 pommes.", False),
    ],
)
def test_a_copy_is_a_whole_word(kind: str, accepted: tuple[str, ...], written: str, copied: bool) -> None:
    assert copying.is_copied(copying.Probe(kind, "", accepted), written) == copied


def test_the_counts_are_written_into_the_card(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "small"
    checkpoints.save(small_checkpoint(), folder)
    before = read_json(folder / "card.json")

    def load(_: object) -> SimpleNamespace:
        def translate_batch(sentences: list[str], beam_size: int) -> list[SimpleNamespace]:
            return [SimpleNamespace(text=sentence) for sentence in sentences]

        return SimpleNamespace(card={"source": "English", "target": "French"}, translate_batch=translate_batch)

    monkeypatch.setattr(copying, "load_translator", load)
    assert copying.main([str(folder)]) == 0
    assert read_json(folder / "card.json") == before
    assert copying.main([str(folder), "--card"]) == 0
    counts = {"names": {"exact": 400, "of": 400}, "numbers": {"exact": 300, "of": 400}}
    command = f"python -m tools.copying {folder}"
    assert read_json(folder / "card.json") == before | {"copying": {**counts, "command": command}}
    assert "300 of 400 sentences with numbers exact (75.0\u00a0%)." in capsys.readouterr().out


def test_a_model_of_other_languages_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkpoints.save(small_checkpoint(), tmp_path / "small")
    assert copying.main([str(tmp_path / "small")]) == 1
    assert "choose a model that reads English or German" in capsys.readouterr().err
