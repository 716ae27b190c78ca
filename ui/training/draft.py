"""The run that is about to be started: its settings as they are typed, and errors in them.

A setting is named as in a run's configuration: "training.steps", "model.encoder.n_heads", "tokenizer".
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, get_args, get_type_hints

from headlight.corpora.corpora import TASKS
from headlight.corpora.encoded import Framing, framed
from headlight.corpora.generated import TOY
from headlight.corpora.grammars import GRAMMARS
from headlight.runs import DERIVED_FIELDS, SETTING_HELP, Recipe
from headlight.runs.recipe import flat
from transformer import PRESETS, ModelConfig, StackConfig, TrainConfig
from transformer.config import ConfigError
from transformer.presets import RECIPES
from transformer.tokenizers import TokenizerKind

Values = dict[str, Any]

STACKS = ("encoder", "decoder")
_DECIDED = (*DERIVED_FIELDS, *STACKS)
_MODEL = [f.name for f in fields(ModelConfig) if f.name not in _DECIDED]

NETWORK = [f"model.{name}" for name in _MODEL[:1]]
NETWORK += [f"model.{stack}.{f.name}" for stack in STACKS for f in fields(StackConfig)]
NETWORK += [f"model.{name}" for name in _MODEL[1:]]
TRAINING = [f"training.{f.name}" for f in fields(TrainConfig)]
CORPUS = ["tokenizer", "vocabulary", "min_frequency", "separate", "max_characters", "max_tokens", "framing", "vary"]
CORPUS += ["slots", "validation", "folder", "threads", "tensorboard"]
# Training techniques that the tutorials teach, under the names that they use.
SWITCHES: dict[str, str] = {
    "training.scheduled_sampling": "Scheduled sampling instead of teacher forcing alone",
    "training.label_smoothing": "Label smoothing",
    "training.warmup": "Warm-up",
    "training.schedule": "Learning rate after the warm-up",
    "training.accumulate": "Gradient accumulation",
    "training.clip": "Gradient clipping",
    "training.precision": "Mixed precision",
    "training.patience": "Early stopping",
    "model.norm": "Pre- or post-norm",
    "model.final_norm": "Final layer norm",
}
CHANGEABLE_SETTINGS = ("model.dropout",)  # settings of the network that may change when a run starts from weights

_LETTERS: Values = {
    "tokenizer": "characters",
    "vocabulary": 64,
    "model.max_length": 64,
    "model.tied": "all",
    "model.dropout": 0.0,
    "training.steps": 1_000,
    "training.batch_tokens": 2_048,
    "training.learning_rate": 4e-3,
    "training.warmup": 100,
    "training.label_smoothing": 0.0,
    "training.evaluate_every": 200,
    "training.checkpoint_every": 200,
}
# As the included models of the grammars were trained.
_GRAMMAR: Values = {
    "vocabulary": 2500,
    "model.max_length": 64,
    "model.tied": "all",
    "training.steps": 4_500,
    "training.learning_rate": 2e-3,
    "training.warmup": 500,
    "training.label_smoothing": 0.0,
}
_SENTENCES: Values = {"model.tied": "all", "model.dropout": 0.25, "training.steps": 5_500, "training.warmup": 400}


@dataclass(frozen=True)
class Advice:
    """Default settings for some data."""

    size: str
    changes: Values


def advice(data: str) -> Advice:
    if data in TASKS:
        return Advice("mini", {**_LETTERS, "training.steps": 2_000} if data == "dates" else _LETTERS)
    if data in GRAMMARS:
        return Advice("tiny", _GRAMMAR)
    if data == TOY:
        return Advice("transformer-from-scratch", {})
    return Advice("small", _SENTENCES)


def defaults(data: str, size: str) -> Values:
    """Return the initial value of every setting in the form: what suits the data, or how a tutorial trains its network.

    The generated tasks are read letter by letter, so they keep their own vocabulary even with a tutorial's network.
    """
    values: Values = {f.name: f.default for f in fields(Recipe) if f.name in CORPUS}
    values |= flat(ModelConfig(8, 8, **PRESETS[size]).to_dict(), "model.")
    values |= flat(TrainConfig(snapshots=10).to_dict(), "training.")
    run_values = {name: values[name] for name in (*CORPUS, *NETWORK, *TRAINING)}
    suits = advice(data).changes
    if size not in RECIPES:
        return run_values | suits
    suits = {name: value for name, value in suits.items() if not name.startswith("model.")}
    letters = {name: value for name, value in suits.items() if data in TASKS and not name.startswith("training.")}
    return run_values | suits | RECIPES[size] | letters


def from_recipe(recipe: Recipe) -> Values:
    """Return the settings of an earlier run."""
    values = flat(recipe.to_dict())
    return {name: values[name] for name in (*CORPUS, *NETWORK, *TRAINING)}


# A network in which no setting depends on another.
_HARMLESS: Values = {
    "d_model": 64,
    "encoder": StackConfig(1, 1, 8),
    "decoder": StackConfig(1, 1, 8),
    "positions": "none",
}


# ---- one setting ---------------------------------------------------------------------------------------------------


def kind_of(name: str) -> type | tuple[Any, ...]:
    """Return the type of a setting: int, float, bool or str, or its choices.

    It is int and str where the setting may be left empty.
    """
    if name in ("tokenizer", "framing"):
        return get_args(TokenizerKind if name == "tokenizer" else Framing)
    owner: type = Recipe
    if name.startswith("training."):
        owner = TrainConfig
    elif name.startswith("model."):
        owner = StackConfig if name.count(".") == 2 else ModelConfig
    hint = get_type_hints(owner)[name.rpartition(".")[2]]
    members = get_args(hint)
    if type(None) in members:
        return next(part for part in members if part is not type(None))
    return members or hint


def help_of(name: str) -> str:
    return SETTING_HELP[name.rpartition(".")[2]]


def label_of(name: str) -> str:
    """Return the label of a setting.

    "training.learning_rate" is "Learning rate", "model.encoder.n_heads" is "Encoder n_heads".
    """
    words = name.removeprefix("model.").removeprefix("training.").replace(".", " ")
    if words == "d_model":
        return words
    if words.startswith(STACKS):  # whose sizes keep the names that the paper and the code have
        return words[0].upper() + words[1:]
    return words.replace("_", " ").capitalize().replace("Qkv", "QKV")


def parsed(name: str, typed: object) -> Any:
    """Parse what was typed as the setting's own type. Raises ValueError in plain words."""
    kind = kind_of(name)
    if not isinstance(typed, str) or kind not in (int, float, str):
        return typed
    text = typed.strip()
    if not text and name in ("threads", "validation", "folder"):
        return None
    if kind is str:
        return text
    form = "a whole number, such as 1000" if kind is int else "a number, such as 0.001"
    try:
        return int(text.replace(",", "").replace("_", "")) if kind is int else float(text)
    except ValueError:
        raise ValueError(f"{label_of(name)} is {text[:40]!r}; type {form}.") from None


def spelled(value: Any) -> str:
    """Return a value as the form writes it into a box; `parsed` reads it back."""
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


# ---- all of them ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Draft:
    """A recipe, or None and its errors: a sentence for each setting, "" for what belongs to none."""

    recipe: Recipe | None
    wrong: dict[str, str]


def drafted(data: str, typed: Values, watch: tuple[str, ...], start: str | None = None) -> Draft:
    """Return the draft; `typed` has every setting of `defaults`; `data` is as `open_corpus` reads it."""
    values, wrong = dict(typed), {}
    for name, value in typed.items():
        try:
            values[name] = parsed(name, value)
            _check_alone(name, values[name])
        except ConfigError as error:
            wrong[name] = _message(name, error)
        except ValueError as error:  # of `parsed`, which has the setting's label
            wrong[name] = str(error)
    if wrong:
        return Draft(None, wrong)
    try:
        return Draft(_recipe(data, values, watch, start), {})
    except ConfigError as error:
        name = _setting(error.field)
        return Draft(None, {name: _message(name, error)})


def _check_alone(name: str, value: Any) -> None:
    """Raise ConfigError where the setting is wrong, whatever the values of the other settings."""
    owner, field = name.rpartition(".")[::2]
    if owner == "training":
        TrainConfig(**{field: value})
    elif owner == "model":
        ModelConfig(8, 8, **{**_HARMLESS, field: value})
    elif owner:
        if field != "n_heads":  # which depends on d_model
            StackConfig(**{"n_heads": 1, field: value}).validate(owner.removeprefix("model."), 64)
        elif not isinstance(value, int) or value < 1:
            raise ConfigError(field, f"is {value}; it must be a whole number, at least 1.")


def _recipe(data: str, values: Values, watch: tuple[str, ...], start: str | None) -> Recipe:
    bound = values["vocabulary"]
    # Until the vocabulary is learned, its bound stands for the sizes; one that is too small is refused by the recipe.
    sizes = max(bound, 8)
    stacks = {
        stack: StackConfig(**{f.name: values[f"model.{stack}.{f.name}"] for f in fields(StackConfig)})
        for stack in STACKS
    }
    network: Values = {**stacks, **{name: values[f"model.{name}"] for name in _MODEL}}
    model = framed(ModelConfig(sizes, sizes, **network), values["framing"])
    training = TrainConfig(**{f.name: values[f"training.{f.name}"] for f in fields(TrainConfig)})
    corpus = {name: values[name] for name in CORPUS}
    return Recipe(data=data, model=model, training=training, watch=watch, start=start, **corpus)


def _setting(field: str) -> str:
    """Return the setting of a configuration's field, "watch", or "" where the form has none."""
    every = (*NETWORK, *TRAINING, *CORPUS, "watch")
    return next((name for name in (f"model.{field}", f"training.{field}", field) if name in every), "")


def _message(name: str, error: ConfigError) -> str:
    """Return what is wrong, with the setting's label for its name."""
    return str(error) if error.subject or not name else f"{label_of(name)} {error.reason}"


def lower_rate(values: Values) -> Values:
    """Return the settings that a run which diverged is advised to use: a third of the rate, twice the warm-up."""
    rate, warmup = values["training.learning_rate"], values["training.warmup"]
    return values | {"training.learning_rate": float(f"{rate / 3:.2g}"), "training.warmup": max(2 * warmup, 100)}
