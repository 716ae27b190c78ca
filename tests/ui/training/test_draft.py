"""The settings of a run before it is started: defaults, what is typed, and the messages about mistakes."""

from __future__ import annotations

from typing import Any

import pytest

from headlight.cli.runs import _recipe
from headlight.cli.verbs import command_line
from headlight.runs import SETTING_HELP, Recipe
from headlight.runs.recipe import flat
from transformer import PRESETS
from ui.training import draft
from ui.training.corpus import CHOICES
from ui.training.draft import Values, defaults, drafted, kind_of, parsed, spelled

DATA = list(CHOICES)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("size", PRESETS)
def test_every_default_can_be_started(data: str, size: str) -> None:
    made = drafted("reverse", defaults(data, size), ("headlight",))
    assert made.wrong == {} and made.recipe is not None
    assert made.recipe.model.d_model == PRESETS[size]["d_model"]
    assert made.recipe.training.snapshots  # so that there is a film


def test_every_setting_is_there_with_its_sentence() -> None:
    settings = flat(drafted("reverse", defaults("reverse", "mini"), ()).recipe.to_dict())  # type: ignore[union-attr]
    decided = {"data", "watch", "start", "broken", *(f"model.{name}" for name in draft._DECIDED)}
    assert set(defaults("reverse", "mini")) == set(settings) - decided
    assert all(draft.help_of(name) in SETTING_HELP.values() for name in defaults("reverse", "mini"))
    assert set(draft.SWITCHES) <= {*draft.NETWORK, *draft.TRAINING}


def test_what_is_spelled_is_read_back() -> None:
    for data in DATA:
        for name, value in defaults(data, "small").items():
            if kind_of(name) in (int, float, str):
                assert parsed(name, spelled(value)) == value


def test_numbers_as_people_type_them() -> None:
    assert parsed("training.steps", " 10,000 ") == 10_000
    assert parsed("training.learning_rate", "3e-4") == 3e-4
    assert parsed("threads", "") is None


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"training.steps": "-3"}, "training.steps", "Steps is -3; it must be a whole number"),
        ({"training.steps": "ten"}, "training.steps", "Steps is 'ten'; type a whole number"),
        ({"training.learning_rate": "nan"}, "training.learning_rate", "Learning rate is nan; it must be"),
        ({"model.encoder.n_heads": "3"}, "model.encoder.n_heads", "does not divide d_model = 64"),
        ({"model.d_model": "0"}, "model.d_model", "d_model is 0; it must be a whole number"),
        ({"model.dropout": "1.5"}, "model.dropout", "Dropout is 1.5; it must be at least 0 and below 1"),
        ({"vocabulary": "2"}, "vocabulary", "Vocabulary is 2; it must be a whole number from 5"),
        ({"separate": True, "model.tied": "all"}, "model.tied", "Tied is 'all', but the vocabularies are separate"),
        ({"threads": "0"}, "threads", "Threads is 0; it must be a whole number from 1"),
    ],
)
def test_a_mistake_is_shown_at_its_field(changes: Values, field: str, message: str) -> None:
    made = drafted("reverse", {**defaults("reverse", "mini"), **changes}, ())
    assert made.recipe is None
    assert list(made.wrong) == [field] and message in made.wrong[field]


def test_several_mistakes_are_shown_at_once() -> None:
    values = {**defaults("reverse", "mini"), "training.steps": "x", "model.max_length": "0", "training.clip": "-1"}
    assert set(drafted("reverse", values, ()).wrong) == {"training.steps", "model.max_length", "training.clip"}


def test_sentences_that_cannot_be_watched() -> None:
    made = drafted("reverse", defaults("reverse", "mini"), ("a" * 3_000,))
    assert made.recipe is None and set(made.wrong) == {"watch"}


@pytest.mark.parametrize("data", ["reverse", "dates", "multi30k:de-en"])
def test_the_command_line_makes_the_same_recipe(data: str) -> None:
    values = {**defaults(data, "mini"), "training.scheduled_sampling": "parallel", "model.decoder.n_layers": "3"}
    values |= {"training.clip": "0", "tensorboard": True, "threads": "1"}
    recipe = drafted(data, values, ("a little girl", "it's 'quoted'")).recipe
    assert recipe is not None
    assert as_typed(recipe) == recipe


@pytest.mark.parametrize("size", PRESETS)
def test_a_size_is_called_as_on_the_command_line(size: str) -> None:
    recipe = drafted("multi30k:en-fr", defaults("multi30k", size), ()).recipe
    assert recipe is not None and f"--preset {size} " in recipe.command("x")


def as_typed(recipe: Recipe) -> Recipe:
    """Return the options that the parser of the command line reads from the command."""
    import shlex

    options: Any = command_line().parse_args(shlex.split(recipe.command("runs/x"))[3:])
    return _recipe(options)


def test_a_run_gives_its_settings_to_the_next() -> None:
    values = {**defaults("reverse", "tiny"), "training.steps": 77, "model.norm": "post", "vocabulary": 50}
    recipe = drafted("reverse", values, ()).recipe
    assert recipe is not None
    assert draft.from_recipe(recipe) == values


def test_after_a_divergence_the_rate_is_lower() -> None:
    values = defaults("reverse", "mini")
    calmer = draft.lower_rate(values)
    assert calmer["training.learning_rate"] < values["training.learning_rate"] / 2
    assert calmer["training.warmup"] >= values["training.warmup"]
    assert drafted("reverse", calmer, ()).wrong == {}
