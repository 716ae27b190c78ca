"""The lists of everyday sentences, the command that writes into a card what a model makes of them, and the cards."""

from __future__ import annotations

from pathlib import Path

import pytest

from headlight.analysis.accepted_translations import AcceptedSentence, normalised, sentences
from headlight.checkpoints import load_translator
from headlight.corpora.files import lines
from tests.small import TEXTS
from tools import everyday
from transformer.files import read_json

ROOT = Path(__file__).resolve().parents[1]
LISTS = ROOT / "tests" / "everyday"
PAIRS = ("en-fr", "de-en")
SHORT_LISTS = sorted(LISTS.glob("short.*.tsv"))  # single words, greetings, questions in lower case without a full stop
# What a translator of captions alone made nonsense of.
FIRST = (
    "I love pizza.",
    "Hello, how are you?",
    "What time is it?",
    "My name is Anna and I live in Paris.",
    "I don't know where he went yesterday.",
    "The animal didn't cross the street because it was too tired.",
)


def read_list(table: Path, count: int) -> tuple[list[AcceptedSentence], set[str]]:
    """Return the sentences of a list and its sources in lower case, after checks that hold for every list."""
    rows = list(lines(table))
    listed = sentences(rows)
    sources = {normalised(sentence.source).lower() for sentence in listed}
    assert len(listed) == len(sources) == count
    for row, sentence in zip(rows, listed, strict=True):
        assert row == "\t".join([sentence.source, *sentence.accepted])  # no space at an end
        assert "  " not in row and row.replace("\t", "").isprintable()
        unique = {normalised(translation) for translation in sentence.accepted}
        assert len(unique) == len(sentence.accepted), sentence.source
    return listed, sources


@pytest.mark.parametrize("pair", [*PAIRS, "en-hi"])
def test_a_list_is_whole(pair: str) -> None:
    for sentence in read_list(LISTS / f"{pair}.tsv", 100)[0]:
        assert len(sentence.accepted) >= 2, sentence.source
        for translation in sentence.accepted:
            assert translation[-1] in ".!?।" and translation[0] == translation[0].upper(), translation


@pytest.mark.parametrize("table", SHORT_LISTS, ids=lambda table: table.stem)
def test_a_short_list_is_whole(table: Path) -> None:
    assert not read_list(table, 40)[1] & read_list(LISTS / table.name.removeprefix("short."), 100)[1]


@pytest.mark.parametrize("name", ["en-fr.tsv", "short.en-fr.tsv"])
def test_the_french_is_typed_as_the_corpus_has_it(name: str) -> None:
    for sentence in sentences(lines(LISTS / name)):
        for translation in sentence.accepted:
            assert "’" not in translation
            assert all(translation[n - 1] == " " for n, mark in enumerate(translation) if mark in "!?:;»"), translation


def test_what_people_type_first_and_carelessly_is_there() -> None:
    english = {sentence.source for sentence in sentences(lines(LISTS / "en-fr.tsv"))}
    assert set(FIRST) <= english
    assert FIRST[-1].replace("tired", "wide") in english
    for pair in PAIRS:
        typed = [sentence.source for sentence in sentences(lines(LISTS / f"{pair}.tsv"))]
        assert sum(text[0].islower() or any(quote in text for quote in "’“„") for text in typed) >= 9


def test_the_command_writes_what_the_model_does_into_its_card(
    small_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = [load_translator(small_copy).translate(text).text for text in TEXTS[:2]]
    table = tmp_path / "list.tsv"
    table.write_text(f"{TEXTS[0]}\tnever\t{written[0]}\n{TEXTS[1]}\tnever\n", encoding="utf-8")
    before = read_json(small_copy / "card.json")
    assert everyday.main([str(small_copy), str(table)]) == 0
    assert capsys.readouterr().out == f"{TEXTS[1]}\t{written[1]}\n1 of 2 accepted.\n"
    assert read_json(small_copy / "card.json") == before | {
        "everyday": {
            "accepted": 1,
            "of": 2,
            "failed": [{"source": TEXTS[1], "written": written[1]}],
            "command": f"python -m tools.everyday {small_copy} {table}",
        }
    }
    assert load_translator(small_copy).card["title"] == "Small"


def test_what_cannot_be_read_is_reported_and_the_card_stays(
    small_copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (small_copy / "card.json").read_text(encoding="utf-8")
    table = tmp_path / "list.tsv"
    assert everyday.main([str(small_copy), str(table)]) == 1
    assert "cannot be read" in capsys.readouterr().err
    table.write_text("Hello.\n")
    assert everyday.main([str(small_copy), str(table)]) == 1
    assert capsys.readouterr().err.startswith("Line 1 of the list is 'Hello.'")
    table.write_text("Hello.\tBonjour.\n")
    assert everyday.main([str(tmp_path / "none"), str(table)]) == 1
    assert (small_copy / "card.json").read_text(encoding="utf-8") == before


@pytest.mark.slow
@pytest.mark.parametrize("pair", [*PAIRS, "en-hi"])
def test_a_shipped_card_says_what_its_model_does(pair: str) -> None:
    stated = read_json(ROOT / "checkpoints" / pair / "card.json").get(everyday.CARD_KEY)
    if stated is None:
        pytest.skip(f"The card of {pair} says nothing of everyday sentences.")
    judged = everyday.judged(ROOT / "checkpoints" / pair, LISTS / f"{pair}.tsv")
    assert judged == {name: stated[name] for name in judged}
