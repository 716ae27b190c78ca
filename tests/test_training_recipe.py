"""Recipes: validation, JSON, the equivalent command, and estimates of time and memory."""

from __future__ import annotations

import argparse
import json
import shlex
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from headlight.checkpoints import load
from headlight.cli.runs import _recipe
from headlight.cli.verbs import command_line
from headlight.corpora.corpora import open_corpus
from headlight.corpora.encoded import Encoded, learn_tokenizers
from headlight.corpora.preview import preview
from headlight.runs import Recipe, differences
from headlight.runs.estimate import Speed, estimate, measure
from headlight.runs.recipe import flat, usual_values
from tests.small_run import MODEL, TRAINING, pairs_file, small_recipe
from transformer import PRESETS, StackConfig, TrainConfig, Transformer, preset
from transformer.batches import BatchStream
from transformer.checkpoint import save
from transformer.model import count_parameters
from transformer.presets import DIFFERENCES, RECIPES
from transformer.pruned import prune_heads
from transformer.taps import Site
from transformer.training import learning_rate
from ui.training.draft import NETWORK, defaults

ROOT = Path(__file__).resolve().parents[1]
RECIPE = Recipe("reverse", MODEL, TRAINING, tokenizer="characters", vocabulary=100)
EVERYTHING = Recipe(
    "a file.tsv:1:0",
    replace(
        preset("base", 300, 300),
        encoder=StackConfig(1, 2, 30),
        decoder=StackConfig(3, 4, 30),
        final_norm=True,
        qkv_bias=False,
        dropout=0.25,
        attention_dropout=0.1,
        activation_dropout=0.2,
        dropout_after_sum=True,
        norm_form="scalar",
        initialisation="xavier",
        positions="no-exp",
        position_base=500.0,
    ),
    TrainConfig(steps=7, schedule="paper", clip=0.0, scheduled_sampling="prefix", precision="float16", patience=3),
    validation="copy",
    folder="some/where",
    tokenizer="words",
    vocabulary=300,
    separate=True,
    min_frequency=3,
    max_characters=511,
    max_tokens=64,
    framing="both",
    vary=0.1,
    slots=0.25,
    watch=("it's here", "-- and there"),
    threads=3,
    tensorboard=True,
)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("framing", "all"), ("data", ""), ("data", None), ("validation", ""), ("folder", 3), ("start", []),
        ("tokenizer", "letters"), ("vocabulary", 4), ("vocabulary", True), ("separate", 1), ("tensorboard", "yes"),
        ("threads", 0), ("slots", 1.5), ("watch", ("",)), ("watch", ("x" * 2001,)), ("watch", ("x",) * 101),
    ],
)  # fmt: skip
def test_a_wrong_field_is_refused_by_its_name(name: str, wrong: Any) -> None:
    with pytest.raises(ValueError, match=name):
        replace(RECIPE, **{name: wrong})


def test_one_matrix_for_all_needs_one_vocabulary() -> None:
    with pytest.raises(ValueError, match="tied is 'all', but the vocabularies are separate"):
        replace(RECIPE, model=replace(MODEL, tied="all"), separate=True)


@pytest.mark.parametrize("recipe", [RECIPE, EVERYTHING])
def test_a_recipe_survives_json(recipe: Recipe) -> None:
    assert Recipe.from_dict(json.loads(json.dumps(recipe.to_dict()))) == recipe


@pytest.mark.parametrize("junk", [None, [], {}, {"model": 1, "training": 2}, {**RECIPE.to_dict(), "data": 5}])
def test_junk_is_refused_with_the_file_that_holds_it(junk: Any, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(junk))
    with pytest.raises(ValueError, match="config.json is not the recipe of a run"):
        Recipe.load(path)


def test_the_configuration_of_an_older_run_is_read() -> None:
    """Older configurations also held the card and named the corpus data_spec."""
    old = {"model": MODEL.to_dict(), "training": {"steps": 5}, "data_spec": "reverse", "data": "Words", "title": "x"}
    assert Recipe.from_dict(old) == Recipe("reverse", MODEL, TrainConfig(steps=5))


def from_command_line(command: str) -> Recipe:
    options = command_line().parse_args(shlex.split(command)[3:], argparse.Namespace(arguments=[]))
    return _recipe(options)


@pytest.mark.parametrize("recipe", [replace(RECIPE, watch=("a",)), EVERYTHING])
def test_the_command_makes_the_same_recipe(recipe: Recipe) -> None:
    command = recipe.command("runs/x")
    assert command.startswith("python -m headlight train --data")
    assert from_command_line(command) == recipe


def test_a_start_decides_the_network_but_for_its_dropout() -> None:
    """The command has no flags for the sizes, which would have to be read from the start's configuration."""
    start = str(ROOT / "checkpoints" / "reverse")
    network = load(start).model.config
    command = f"python -m headlight train --data reverse --out x --start {start}"
    assert from_command_line(command).model == network
    recipe = replace(RECIPE, model=replace(network, dropout=0.35), start=start, watch=("a",))
    assert "--preset" not in recipe.command("x") and from_command_line(recipe.command("x")) == recipe


def test_a_start_that_was_pruned_is_trained_without_these_heads(tmp_path: Path) -> None:
    checkpoint = load(ROOT / "checkpoints" / "reverse")
    gone = [(Site("decoder", 1, "cross"), 0), *((Site("encoder", 0, "self"), head) for head in range(4))]
    save(replace(checkpoint, model=prune_heads(checkpoint.model, gone)), tmp_path / "smaller")
    recipe = from_command_line(f"python -m headlight train --data reverse --out x --start {tmp_path / 'smaller'}")
    assert len(recipe.model.pruned_heads) == 5
    assert Recipe.from_dict(json.loads(json.dumps(recipe.to_dict()))) == recipe


@pytest.mark.parametrize("name", PRESETS)
def test_the_command_of_a_preset_is_short(name: str) -> None:
    values = usual_values(name)
    training = TrainConfig(**{f.name: values.pop(f"training.{f.name}") for f in fields(TrainConfig)})
    recipe = Recipe("reverse", preset(name, 8000, 8000), training, **values)
    assert recipe.command("x") == f"python -m headlight train --data reverse --out x --preset {name}"


@pytest.mark.parametrize("name", RECIPES)
def test_a_tutorials_preset_brings_its_training(name: str) -> None:
    """This holds on the command line and in the form; explicit settings win over the preset."""
    command = f"python -m headlight train --data multi30k:de-en --out x --preset {name}"
    recipe = from_command_line(command)
    values = flat(recipe.to_dict())
    assert RECIPES[name].items() <= values.items() and name in DIFFERENCES
    form = defaults("multi30k", name)
    assert RECIPES[name].items() <= form.items()
    assert {setting: form[setting] for setting in NETWORK} == {setting: values[setting] for setting in NETWORK}
    other = from_command_line(f"{command} --steps 7 --no-separate --tokenizer characters --learning-rate 0.5")
    changed = {name for name, *_ in differences(recipe, other)}
    assert changed <= {"training.steps", "separate", "tokenizer", "training.learning_rate"}
    assert (other.training.steps, other.separate, other.tokenizer) == (7, False, "characters")
    assert from_command_line(other.command("x")) == other


def test_what_the_tutorials_state_of_their_training() -> None:
    laid_out, ground_up, nlp7 = (RECIPES[name] for name in ("transformers-laid-out", "ground-up", "nlp7-en-hi"))
    noam = TrainConfig(**{k.removeprefix("training."): v for k, v in laid_out.items() if k.startswith("training.")})
    for step in (1, 4_000, 9_000):  # section 5.3 of the paper, as the tutorial writes it
        assert learning_rate(step, noam) == pytest.approx(512**-0.5 * min(step**-0.5, step * 4_000**-1.5), rel=1e-5)
    assert ground_up["training.steps"] == -(-29_000 // 32) * 10 and ground_up["training.scheduled_sampling"] == "prefix"
    assert ground_up["training.learning_rate"] == nlp7["training.learning_rate"] == 1e-4
    assert nlp7["training.accumulate"] == 4 and nlp7["max_characters"] == 511 and nlp7["vocabulary"] == 30_000


def test_letters_are_no_words_whatever_the_tutorial() -> None:
    assert defaults("reverse", "ground-up")["tokenizer"] == "characters"
    assert defaults("reverse", "ground-up")["training.scheduled_sampling"] == "prefix"


def test_the_flags_of_scheduled_sampling_that_older_commands_have() -> None:
    start = "python -m headlight train --data reverse --out x"
    for flag, meant in (
        ("", "never"),
        ("--scheduled-sampling", "parallel"),
        ("--scheduled-sampling prefix", "prefix"),
        ("--preset ground-up", "prefix"),
        ("--preset ground-up --no-scheduled-sampling", "never"),
    ):
        assert from_command_line(f"{start} {flag}").training.scheduled_sampling == meant


def test_a_preset_that_validates_on_the_training_data_can_be_told_not_to() -> None:
    recipe = from_command_line("python -m headlight train --data reverse --out x --preset ground-up")
    assert recipe.validation == "train"
    other = replace(recipe, validation=None)
    assert from_command_line(other.command("x")) == replace(other, watch=recipe.watch)


def test_flags_of_a_stack_change_both_or_one() -> None:
    start = "python -m headlight train --data reverse --out x --preset tiny --n-heads 2 --d-ff 30"
    model = from_command_line(f"{start} --decoder-d-ff 50").model
    assert (model.encoder, model.decoder) == (StackConfig(2, 2, 30), StackConfig(2, 2, 50))


def test_sentences_to_watch_are_the_examples_of_the_corpus_unless_given() -> None:
    start = "python -m headlight train --data reverse --out x"
    assert "headlight" in from_command_line(start).watch
    assert from_command_line(f"{start} --watch one --watch 'two three'").watch == ("one", "two three")


def test_differences_are_named_by_their_path() -> None:
    other = replace(RECIPE, vocabulary=50, training=replace(TRAINING, steps=5), model=replace(MODEL, d_model=32))
    assert differences(RECIPE, RECIPE) == []
    assert differences(RECIPE, other) == [("model.d_model", 16, 32), ("training.steps", 60, 5), ("vocabulary", 100, 50)]


def test_an_estimate_counts_the_parameters_and_the_updates_of_a_pass(tmp_path: Path) -> None:
    recipe = replace(small_recipe(tmp_path), vocabulary=12)
    corpus = open_corpus(recipe.data).train
    tokenizer, _ = learn_tokenizers(corpus, "words", 12)
    config = replace(MODEL, source_vocab_size=12, target_vocab_size=12)
    stream = BatchStream(Encoded(corpus, tokenizer, tokenizer, 16), recipe.training.batch_tokens)
    forecast = estimate(recipe, preview(corpus, "words", 12), Speed(1000.0, 5))
    assert forecast.parameters == count_parameters(Transformer(config))
    assert forecast.updates_per_epoch == pytest.approx(len(list(stream.epoch())), rel=0.1)
    words = 99 * 3  # two words and the end
    assert forecast.seconds_per_epoch == pytest.approx(words / 1000)
    assert forecast.seconds == pytest.approx(words / 1000 / (forecast.updates_per_epoch or 0) * 60)
    assert forecast.memory == 5 and estimate(recipe).memory > 16 * forecast.parameters
    assert estimate(recipe).seconds is None


def test_more_tokens_a_batch_take_more_memory_and_a_wider_model_too() -> None:
    base = estimate(RECIPE).memory
    assert estimate(replace(RECIPE, training=replace(TRAINING, batch_tokens=128))).memory > base
    assert estimate(replace(RECIPE, model=replace(MODEL, d_model=32))).memory > base


@pytest.mark.slow
def test_a_network_is_measured_in_a_process_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    speed = measure(replace(RECIPE, threads=1))
    assert speed.tokens_per_second > 0 and 50e6 < speed.memory < 5e9
    monkeypatch.setattr("headlight.runs.estimate.TIMEOUT_SECONDS", 0.05)
    with pytest.raises(ValueError, match="cannot make two steps"):
        measure(RECIPE)


def test_data_are_checked_before_a_run_begins(tmp_path: Path) -> None:
    Recipe(pairs_file(tmp_path), MODEL, validation="copy").check()
    with pytest.raises(ValueError, match="is not a corpus"):
        Recipe("nothing", MODEL).check()
    with pytest.raises(ValueError, match="is not a corpus"):
        Recipe("reverse", MODEL, validation="nothing").check()
