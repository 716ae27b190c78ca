"""The tables of docs/tutorials: every target is there, and the pages are what they say."""

from __future__ import annotations

import pytest

from headlight.checkpoints import load
from headlight.importers.examples import examples
from tools.tutorial_tables import TITLES, page, require_current, require_target
from transformer.presets import DIFFERENCES

GERMAN = (
    "Ein junges Mädchen sitzt auf einer Bank und hält ein rotes Eis am Stiel.",
    "Die Katze schläft auf dem Sofa.",
    "Ich habe gestern einen interessanten Film gesehen.",
    "Der Klimawandel ist eine der größten Herausforderungen unserer Zeit.",
    "Ich freue mich darauf, dich bald wiederzusehen.",
)


def test_the_pages_are_what_the_tables_say() -> None:
    require_current()
    assert TITLES.keys() == DIFFERENCES.keys()


@pytest.mark.parametrize("name", TITLES)
def test_a_page_counts_its_items(name: str) -> None:
    text = page(name)
    items = text.partition("| item |")[2].partition("## Its settings")[0].count("\n| ")
    assert f"Of {items} things" in text


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("tests/test_nothing.py", "There is no tests/test_nothing.py"),
        ("tests/test_presets.py::test_nothing", "tests/test_presets.py has no test_nothing"),
        ("docs/pages/anatomy.md#nothing", "docs/pages/anatomy.md has no heading #nothing"),
    ],
)
def test_a_target_that_is_not_there_is_refused(target: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        require_target(target)


def test_the_tutorials_sentences_are_examples_of_the_models() -> None:
    offered = {example.text: example.why for example in examples(load("de-en").card)}
    assert all("Reference: “" in offered[text] for text in GERMAN)
    hindi = {example.text: example.why for example in examples(load("english-hindi").card)}
    assert "no translation" in hindi["Climate change is one of the biggest challenges facing humanity today."]
