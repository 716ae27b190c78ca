"""The recipe of a run: the data, network and training settings that `config.json` stores."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, get_args

from headlight import folders
from headlight.checkpoints import load
from headlight.corpora.about import NAMES_TERMS, about
from headlight.corpora.corpora import open_parts
from headlight.corpora.encoded import Framing
from headlight.corpora.pairs import MAX_CHARACTERS, FirstRows
from headlight.corpora.preview import PREVIEW_ROWS
from headlight.corpora.slots import Slots, slot_languages
from headlight.runs.intact import STATE_FILES, changed_file
from headlight.runs.settings import SEQUENCE_FIELDS
from headlight.teaching.mistakes import MISTAKES, TRAINABLE
from transformer.checkpoint.native import WEIGHTS
from transformer.config import (
    MAX_SIZES,
    ConfigError,
    ModelConfig,
    StackConfig,
    TrainConfig,
    check_flag,
    check_share,
    check_whole,
)
from transformer.files import read_json
from transformer.presets import PRESETS, RECIPES, preset
from transformer.quoting import quoted, short
from transformer.tokenizers import TokenizerKind

VALIDATE_ON_TRAINING = "train"  # the `validation` of a recipe that is scored on its training pairs
MAX_WATCHED_SENTENCES, MAX_WATCHED_CHARACTERS = 100, 2000


@dataclass(frozen=True)
class Recipe:
    """What is trained, on what, and how. Raises ConfigError naming the field, the value and the remedy.

    `data` and `validation` are specifications of `open_corpus`, or VALIDATE_ON_TRAINING as the validation; `folder` is
    where Multi30k lies. `vocabulary` is the largest size of a vocabulary; until the tokenizer is learned, the sizes in
    `model` are this bound too. Words and merges that occur fewer than `min_frequency` times are left out; 0 chooses by
    the number of pairs (see `learn_tokenizers`). Pairs with a side of more than `max_characters` or `max_tokens` are
    left out; 0 tokens stands for the model's maximum. `framing` says which special tokens stand around a pair (see
    `framed`). `vary` is the share of the training sources that are changed to how people type, `slots` the share of the
    pairs with names or numbers in which these are replaced on both sides. `watch` are sentences that are translated at
    each evaluation. `start` is a checkpoint folder, or the name of a shipped model, from whose weights and tokenizers
    the training starts. `threads` None stands for all cores. `broken` is a mistake made on purpose, one of
    `headlight.teaching.mistakes.TRAINABLE`, in the network or in its training.
    """

    data: str
    model: ModelConfig
    training: TrainConfig = field(default_factory=TrainConfig)
    validation: str | None = None
    folder: str | None = None
    tokenizer: TokenizerKind = "bpe"
    vocabulary: int = 8000
    separate: bool = False
    min_frequency: int = 0
    max_characters: int = MAX_CHARACTERS
    max_tokens: int = 0
    framing: Framing = "usual"
    vary: float = 0.0
    slots: float = 0.0
    watch: tuple[str, ...] = ()
    start: str | None = None
    threads: int | None = None
    tensorboard: bool = False
    broken: str | None = None

    def __post_init__(self) -> None:
        for name in ("data", "validation", "folder", "start"):
            value = getattr(self, name)
            if not (isinstance(value, str) and value) and not (value is None and name != "data"):
                raise ConfigError(name, f"is {quoted(value)}; it must be a text, and not an empty one.")
        for name, kind in (("tokenizer", TokenizerKind), ("framing", Framing)):
            if (value := getattr(self, name)) not in get_args(kind):
                raise ConfigError(name, f"is {quoted(value)}; choose one of {', '.join(get_args(kind))}.")
        check_whole("vocabulary", self.vocabulary, 5, 2_000_000)
        check_whole("min_frequency", self.min_frequency, 0, 1_000_000)
        check_whole("max_characters", self.max_characters, 1, 100_000)
        check_whole("max_tokens", self.max_tokens, 0, MAX_SIZES["length"])
        check_share("vary", self.vary)
        check_share("slots", self.slots)
        if self.threads is not None:
            check_whole("threads", self.threads, 1, 1024)
        for name in ("separate", "tensorboard"):
            check_flag(name, getattr(self, name))
        if self.broken is not None:
            self._check_broken(self.broken)
        if self.separate and self.model.tied == "all":
            raise ConfigError(
                "tied", "is 'all', but the vocabularies are separate; share one, or choose tied = 'output'."
            )
        if self.model.positions == "stored" and self.start is None:
            raise ConfigError(
                "positions",
                "is 'stored', a table that comes with weights; choose sinusoidal or learned positions, "
                "or give a checkpoint to start from.",
            )
        if self.model.pad_id == self.model.eos_id:
            raise ConfigError(
                "pad_id",
                f"is {self.model.pad_id}, which is also the end of a sentence; padding is not learned, so the end "
                "would not be either. Give padding an id of its own.",
            )
        if len(self.watch) > MAX_WATCHED_SENTENCES:
            wrong = f"are too many to watch; choose at most {MAX_WATCHED_SENTENCES}."
            raise ConfigError("watch", wrong, f"{len(self.watch)} sentences")
        for sentence in self.watch:
            if not isinstance(sentence, str) or not sentence.strip() or len(sentence) > MAX_WATCHED_CHARACTERS:
                wrong = f"is {quoted(sentence)}; write a text of 1 to {MAX_WATCHED_CHARACTERS}."
                raise ConfigError("watch", wrong, "A sentence to watch")

    def _check_broken(self, name: str) -> None:
        if name not in TRAINABLE:
            raise ConfigError("broken", f"is {quoted(name)}; choose one of {', '.join(TRAINABLE)}.")
        for part, value in MISTAKES[name].changes.items():
            if getattr(self.model, part) != value:
                raise ConfigError(
                    "broken", f"is {name}, but {part} is {getattr(self.model, part)!r}; it must be {value!r}."
                )

    @property
    def longest(self) -> int:
        """The most tokens of a side of a pair, special ones included."""
        return min(self.max_tokens or self.model.max_length, self.model.max_length)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and their values, those of the network and of the training as dicts too."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Any) -> Recipe:
        """Build the recipe that `to_dict` wrote. Unknown fields are ignored: older runs had their card there too."""
        if not isinstance(values, Mapping) or not {"model", "training"} <= set(values):
            raise ValueError("A run's configuration is a JSON object with model and training.")
        arguments = {f.name: values[f.name] for f in fields(cls) if f.name in values}
        arguments["data"] = values.get("data_spec", values.get("data"))
        arguments["model"] = ModelConfig.from_dict(values["model"])
        arguments["training"] = TrainConfig.from_dict(values["training"])
        arguments["watch"] = tuple(values.get("watch", ()))
        return cls(**arguments)

    @classmethod
    def load(cls, path: str | Path) -> Recipe:
        """Read the recipe of a run from its JSON file. Raises ValueError naming the file if it is something else."""
        try:
            return cls.from_dict(read_json(path))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{short(path)} is not the recipe of a run: {error}") from None

    def check(self) -> None:
        """Raise ValueError where the data cannot be opened or has no pair, before a run is started."""
        corpora = [open_parts(self.data, self.folder, self.max_characters)[0]]
        if self.slots:
            corpora = [Slots(corpora[0], self.slots, slot_languages(self.data))]
        if self.validation is not None and self.validation != VALIDATE_ON_TRAINING:
            opened, split, _ = open_parts(self.validation, self.folder, self.max_characters)
            if split is None and self.validation == self.data:
                raise ConfigError(
                    "validation",
                    "is the training data, so scores on it would mean nothing; choose another corpus, or none, and "
                    "pairs are held out.",
                )
            corpora.append(opened if split is None else split)
        for corpus in corpora:
            first = FirstRows(corpus, PREVIEW_ROWS)
            if next(iter(first), None) is None:
                raise ValueError(f"There is no pair to train on. {first.report}")
        if self.start is not None:
            self._check_start(folders.model(self.start))

    def _check_start(self, start: Path) -> None:
        """Raise ValueError unless the network has the paper's layers and special tokens as in training."""
        if not (start / WEIGHTS).is_file():
            raise ValueError(f"There is no checkpoint in {short(start)} to start from.")
        if wrong := changed_file(start, but=STATE_FILES):
            raise ValueError(f"{short(start)} is damaged: {wrong}. Start from another checkpoint.")
        network = load(start).model.config
        if type(network) is not ModelConfig:
            raise ValueError(
                f"{short(start)} is a {type(network).__name__.removesuffix('Config')}, which can be opened but not "
                "trained here; start from a checkpoint of the paper's own network."
            )
        other = [name for name in SEQUENCE_FIELDS if getattr(network, name) != getattr(self.model, name)]
        if other:
            start_value, own_value = getattr(network, other[0]), getattr(self.model, other[0])
            raise ValueError(
                f"{short(start)} has {other[0]} {start_value}, and a training here has {own_value}: it would read and "
                "write differently than it was trained to; start from a checkpoint that was trained here."
            )

    def card(self) -> dict[str, Any]:
        """Return the card of the checkpoints of this run, before there are scores."""
        facts = about(self.data)
        if self.slots and NAMES_TERMS not in facts["terms"]:
            facts = {**facts, "terms": f"{facts['terms']} {NAMES_TERMS}"}
        if self.broken is not None:
            facts = {**facts, "title": f"{facts['title']}, broken: {self.broken}", "broken": self.broken}
        return {**facts, "examples": facts["examples"] or list(self.watch), "command": self.command("RUN")}

    def command(self, out: str) -> str:
        """Return the command that trains this recipe, with the preset that needs the fewest other flags."""
        words = [*folders.COMMAND.split(), "train", "--data", self.data, "--out", out]
        if self.start is not None:  # the rest of the network is that of the start
            return shlex.join(words + self._flags(None, {"dropout": self.model.dropout}))
        every = [["--preset", name, *self._flags(name, _changes(self.model, name))] for name in PRESETS]
        return shlex.join(words + min(every, key=len))

    def _flags(self, preset: str | None, network: Mapping[str, Any]) -> list[str]:
        """Return the flags that a command needs with a preset; `network` are the changes in its network."""
        words: list[str] = []
        usual = usual_values(preset)
        for f in fields(self):
            if f.name not in ("data", "model", "training", "watch", "broken"):
                words += _flag(f.name, getattr(self, f.name), usual.get(f.name))
        words += _flag("break", self.broken, None)
        for sentence in self.watch:
            words += ["--watch", sentence]
        for name, value in network.items():
            words += _flag(name, value, None)
        for f in fields(TrainConfig):
            words += _flag(f.name, getattr(self.training, f.name), usual[f"training.{f.name}"])
        return words


def differences(left: Recipe, right: Recipe) -> list[tuple[str, Any, Any]]:
    """Return the settings in which two recipes differ, such as ("training.steps", 1000, 2000)."""
    a, b = flat(left.to_dict()), flat(right.to_dict())
    return [(name, a[name], b[name]) for name in a if a[name] != b[name]]


def flat(values: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Flatten nested settings: {"training": {"steps": 5}} becomes {"training.steps": 5}."""
    flattened: dict[str, Any] = {}
    for name, value in values.items():
        flattened |= flat(value, f"{above}{name}.") if isinstance(value, Mapping) else {above + name: value}
    return flattened


def usual_values(preset: str | None) -> dict[str, Any]:
    """Return the default settings of a tutorial's preset, or ours, by full names such as "training.steps".

    Those of the network are not among them.
    """
    defaults = {f.name: f.default for f in fields(Recipe) if f.default not in (MISSING, None, ())}
    training = {f"training.{f.name}": f.default for f in fields(TrainConfig)}
    return {**defaults, **training, **RECIPES.get(preset or "", {})}


def _changes(model: ModelConfig, name: str) -> dict[str, Any]:
    """Return what has to be changed in a preset's network to get `model`, by the names of the flags."""
    start, changed = preset(name, model.source_vocab_size, model.target_vocab_size), {}
    for f in fields(ModelConfig):
        if f.name in SEQUENCE_FIELDS:  # these follow from the tokenizers and the framing
            continue
        value, usual = getattr(model, f.name), getattr(start, f.name)
        if isinstance(value, StackConfig):
            for g in fields(StackConfig):
                if getattr(value, g.name) != getattr(usual, g.name):
                    changed[f"{f.name}_{g.name}"] = getattr(value, g.name)
        elif value != usual:
            changed[f.name] = value
    return changed


def _flag(name: str, value: Any, default: Any) -> list[str]:
    if value == default:
        return []
    flag = name.replace("_", "-")
    if isinstance(value, bool):
        return [f"--{flag}" if value else f"--no-{flag}"]
    return [f"--{flag}", "" if value is None else str(value)]
