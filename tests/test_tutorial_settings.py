"""Every setting of a tutorial's preset is that of the tutorial, or the difference is said."""

from __future__ import annotations

import csv
import json
from dataclasses import fields
from pathlib import Path

import pytest

from headlight.runs.recipe import flat, usual_values
from headlight.runs.settings import DERIVED_FIELDS
from transformer.config import ModelConfig
from transformer.presets import DIFFERENCES, RECIPES, preset

TABLE = Path(__file__).resolve().parents[1] / "docs" / "tutorials" / "settings.tsv"


def rows(name: str) -> list[dict[str, str]]:
    with open(TABLE, encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if row["tutorial"] == name]


def effective(name: str) -> dict[str, object]:
    """The settings that the preset makes, by their names in a run's configuration."""
    return usual_values(name) | flat(preset(name, 100, 100).to_dict(), "model.")


@pytest.mark.parametrize("name", DIFFERENCES)
def test_a_preset_is_the_tutorial_field_by_field(name: str) -> None:
    ours = effective(name)
    for row in rows(name):
        if not row["what ours says of the difference"]:
            value = ours[row["setting"]]
            assert row["value"] == (value if isinstance(value, str) else json.dumps(value)), row["setting"]


@pytest.mark.parametrize("name", DIFFERENCES)
def test_every_setting_of_the_network_and_of_the_recipe_has_a_row_that_says_why(name: str) -> None:
    own = [f.name for f in fields(ModelConfig) if f.name not in (*DERIVED_FIELDS, "encoder", "decoder")]
    due = {f"model.{field}" for field in own} | RECIPES[name].keys()
    listed = {row["setting"]: row["what its text or code says"] for row in rows(name)}
    assert due <= listed.keys() and all(listed.values())
    assert len(listed) == len(rows(name))


@pytest.mark.parametrize("name", DIFFERENCES)
def test_what_cannot_be_the_same_is_said_beside_the_preset(name: str) -> None:
    """In the very words of the table, which stand in the sentence that the form and the command line show."""
    different = [row for row in rows(name) if row["what ours says of the difference"]]
    assert different
    for row in different:
        assert row["what ours says of the difference"] in DIFFERENCES[name], row["setting"]
        assert row["setting"] not in effective(name)
