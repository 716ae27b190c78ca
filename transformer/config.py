"""The configurations of a network and of a training: immutable, validated, and stored as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from reprlib import repr as brief
from typing import Any, Literal, Self, get_args, get_origin, get_type_hints

Norm = Literal["pre", "post"]
Activation = Literal["relu", "gelu", "gelu-tanh", "silu", "none"]
Positions = Literal["sinusoidal", "no-exp", "learned", "stored", "none"]
NormForm = Literal["standard", "unbiased", "scalar", "none"]
Initialisation = Literal["scaled", "xavier", "torch"]
Tied = Literal["none", "output", "all"]
Schedule = Literal["paper", "linear", "constant"]
Masked = Literal["applied", "never"]
ScheduledSampling = Literal["never", "parallel", "prefix"]
Precision = Literal["auto", "float32", "bfloat16", "float16"]

# A configuration may come from an untrusted file: a size beyond these is refused before memory is taken for it.
# (`brief` keeps the refusal short as well, however long or deeply nested the value.)
MAX_SIZES = {"layers": 200, "width": 65_536, "vocabulary": 2_000_000, "length": 1_000_000}
_ATTENTIONS = [("encoder", "self"), ("decoder", "self"), ("decoder", "cross")]
LARGE_PARAMETERS = 30_000_000  # a larger model uses the weights of its file in place, without a copy
COMPUTED_POSITIONS = ("sinusoidal", "no-exp")  # tables that follow from the configuration, so no weights file has them
_MAX_POSITION_NUMBERS = 2**25  # of a table of positions: it is computed, so no weights file bounds its size


class ConfigError(ValueError):
    """An invalid setting: `field` is its name, and `reason` completes the message: "is 0; it must be ...".

    The message begins with `subject` instead of the field's name if a subject is passed.
    """

    def __init__(self, field: str, reason: str, subject: str | None = None):
        super().__init__(field, reason, subject)
        self.field, self.reason, self.subject = field, reason, subject

    def __str__(self) -> str:
        return f"{self.subject or self.field} {self.reason}"


def check_whole(name: str, value: object, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ConfigError(name, f"is {brief(value)}; it must be a whole number from {low} to {high:,}.")


def check_share(name: str, value: object, high: float = 1.0) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0.0 <= value < high:
        raise ConfigError(name, f"is {brief(value)}; it must be at least 0 and below {high:g}.")


def _check_positive(name: str, value: object) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < 1e30:
        raise ConfigError(name, f"is {brief(value)}; it must be a number above 0 and below 1e30.")


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ConfigError(name, f"is {brief(value)}; choose one of {', '.join(choices)}.")


def check_flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise ConfigError(name, f"is {brief(value)}; it must be true or false.")


_field_types = cache(get_type_hints)


def _check_options(config: object) -> None:
    """Check every field that is a flag, or has a `Literal` of choices as its type."""
    for name, kind in _field_types(type(config)).items():  # type: ignore[arg-type]
        if kind is bool:
            check_flag(name, getattr(config, name))
        elif get_origin(kind) is Literal:
            _check_choice(name, getattr(config, name), get_args(kind))


def _check_ids(name: str, value: object, vocab_size: int) -> None:
    if value is None and name == "source_end":
        return
    if not isinstance(value, tuple) or len(value) > 8:
        raise ConfigError(name, f"is {brief(value)}; it must be a list of at most 8 token ids.")
    if not all(isinstance(id, int) and not isinstance(id, bool) and 0 <= id < vocab_size for id in value):
        raise ConfigError(name, f"is {brief(value)}; its ids must be whole numbers from 0 to {vocab_size - 1:,}.")


def _check_pruned(value: object, stacks: Mapping[str, StackConfig]) -> None:
    if not isinstance(value, tuple):
        raise ConfigError("pruned_heads", f"is {brief(value)}; it must be a list of heads.")
    for entry in value:
        if not (isinstance(entry, tuple) and len(entry) == 4 and (entry[0], entry[2]) in _ATTENTIONS):
            raise ConfigError(
                "pruned_heads",
                f'has {brief(entry)}; each must be a list as ["decoder", 0, "cross", 3]: '
                'the stack, its layer from 0, "self" or "cross", and the head from 0.',
            )
        stack, layer, kind, head = entry
        check_whole("The layer of a pruned head", layer, 0, stacks[stack].n_layers - 1)
        check_whole("The number of a pruned head", head, 0, stacks[stack].n_heads - 1)
    if len(set(value)) < len(value):
        raise ConfigError("pruned_heads", "names a head twice; name each once.")


def _keyword_arguments(cls: type, values: object, what: str) -> dict[str, Any]:
    """Return `values` as keyword arguments of `cls`. Raises ValueError naming an unknown field."""
    if not isinstance(values, Mapping):
        raise ValueError(f"{what} is {brief(values)}; it must be a JSON object.")
    names = [f.name for f in fields(cls) if f.init]
    for name in values:
        if name not in names:
            raise ValueError(f"{what} has an unknown field {brief(name)}; the fields are {', '.join(names)}.")
    return dict(values)


@dataclass(frozen=True)
class StackConfig:
    """The size of one stack, encoder or decoder: its layers, heads, and feed-forward width."""

    n_layers: int = 6
    n_heads: int = 8
    d_ff: int = 2048

    def validate_sizes(self, name: str) -> None:
        """Raise ConfigError for a size out of bounds; `name` is the stack's, for the message."""
        check_whole(f"{name}.n_layers", self.n_layers, 1, MAX_SIZES["layers"])
        check_whole(f"{name}.n_heads", self.n_heads, 1, MAX_SIZES["width"])
        check_whole(f"{name}.d_ff", self.d_ff, 1, MAX_SIZES["width"])

    def validate(self, name: str, d_model: int) -> None:
        """Raise ConfigError as `validate_sizes` does, and where the heads do not divide `d_model`."""
        self.validate_sizes(name)
        if d_model % self.n_heads:
            divisors = [n for n in range(1, min(d_model, 64) + 1) if d_model % n == 0]
            raise ConfigError(
                f"{name}.n_heads",
                f"is {self.n_heads}, which does not divide d_model = {d_model}; "
                f"choose one of {', '.join(map(str, divisors))}, or change d_model.",
            )


@dataclass(frozen=True)
class ModelConfig:
    """Everything needed to rebuild the network; the defaults are the paper's base model, but with untied embeddings.

    `tied` says which embeddings share one matrix: "none"; "output", where the output projection is the target
    embedding; or "all", where the source embedding is that matrix too (section 3.4 of the paper). `scale_embeddings`
    multiplies embeddings by √d_model (section 3.4); `embedding_norm` normalises the sum of embeddings and positions, in
    the decoder only with `decoder_embedding_norm`. `output_transform` puts a layer before the output projection, as
    BERT does (`transformer.layers.OutputTransform`), in place of the decoder's final norm.
    "stored" positions are a table that is loaded with the weights and not trained. For
    demonstrations, `residual` False leaves out the residual connections, and "none" the norms or the activation.

    `pruned_heads` lists the heads that were removed, each as (stack, layer, kind, head). The remaining heads keep their
    original numbers.

    The encoder reads `source_start`, the sentence's tokens, and `source_end`, which defaults to `eos_id`. The decoder's
    target is `sos_id`, `target_start` (such as the token of a language), the sentence's tokens, and `eos_id`.
    `padding_mask` and `look_ahead_mask` are "applied" or "never": in some models attention sees padding, or the decoder
    sees later tokens (`transformer.masks`). Raises ConfigError naming the field, the value and the remedy.
    """

    source_vocab_size: int
    target_vocab_size: int
    d_model: int = 512
    encoder: StackConfig = field(default_factory=StackConfig)
    decoder: StackConfig = field(default_factory=StackConfig)
    norm: Norm = "post"
    final_norm: bool = False
    norm_eps: float = 1e-5
    activation: Activation = "relu"
    positions: Positions = "sinusoidal"
    scale_embeddings: bool = True
    embedding_norm: bool = False
    max_length: int = 512
    qkv_bias: bool = True
    attention_output_bias: bool = True
    logits_bias: bool = True
    tied: Tied = "none"
    dropout: float = 0.1
    pad_id: int = 0
    sos_id: int = 2
    eos_id: int = 3
    source_start: tuple[int, ...] = ()
    source_end: tuple[int, ...] | None = None
    target_start: tuple[int, ...] = ()
    padding_mask: Masked = "applied"
    look_ahead_mask: Masked = "applied"
    pruned_heads: tuple[tuple[str, int, str, int], ...] = ()
    attention_dropout: float = 0.0
    activation_dropout: float = 0.0
    dropout_after_sum: bool = False
    norm_form: NormForm = "standard"
    position_base: float = 10_000.0
    initialisation: Initialisation = "scaled"
    residual: bool = True
    decoder_embedding_norm: bool = True
    output_transform: bool = False

    def __post_init__(self) -> None:
        check_whole("source_vocab_size", self.source_vocab_size, 2, MAX_SIZES["vocabulary"])
        check_whole("target_vocab_size", self.target_vocab_size, 2, MAX_SIZES["vocabulary"])
        check_whole("d_model", self.d_model, 1, MAX_SIZES["width"])
        check_whole("max_length", self.max_length, 1, MAX_SIZES["length"])
        for name in ("encoder", "decoder"):
            if not isinstance(getattr(self, name), StackConfig):
                raise ConfigError(name, f"is {brief(getattr(self, name))}; it must be a StackConfig.")
            self._validate_stack(name, getattr(self, name))
        _check_pruned(self.pruned_heads, {"encoder": self.encoder, "decoder": self.decoder})
        _check_options(self)
        _check_positive("norm_eps", self.norm_eps)
        _check_positive("position_base", self.position_base)
        for name in ("dropout", "attention_dropout", "activation_dropout"):
            check_share(name, getattr(self, name))
        both = min(self.source_vocab_size, self.target_vocab_size)  # sources contain padding and the end, too
        for name, size in (("pad_id", both), ("sos_id", self.target_vocab_size), ("eos_id", both)):
            check_whole(name, getattr(self, name), 0, size - 1)
        for name, size in (
            ("source_start", self.source_vocab_size),
            ("source_end", self.source_vocab_size),
            ("target_start", self.target_vocab_size),
        ):
            _check_ids(name, getattr(self, name), size)
        if self.positions in COMPUTED_POSITIONS and self.d_model % 2:
            raise ConfigError(
                "d_model",
                f"is {self.d_model}; sinusoidal positions pair a sine with a cosine, so choose an even number.",
            )
        if self.norm_form in ("unbiased", "scalar") and self.d_model == 1:
            raise ConfigError("norm_form", f"is '{self.norm_form}', and one number has no unbiased deviation.")
        if self.positions != "none" and self.max_length * self.d_model > _MAX_POSITION_NUMBERS:
            raise ConfigError(
                "max_length",
                f"is {self.max_length}, which at d_model = {self.d_model} makes a table of positions too "
                f"large to hold; choose at most {_MAX_POSITION_NUMBERS // self.d_model:,}.",
            )
        if self.tied == "all" and self.source_vocab_size != self.target_vocab_size:
            raise ConfigError(
                "tied",
                f"is 'all', but source_vocab_size is {self.source_vocab_size} and target_vocab_size is "
                f"{self.target_vocab_size}; use one shared vocabulary, or tied = 'output'.",
            )

    def _validate_stack(self, name: str, stack: StackConfig) -> None:
        stack.validate(name, self.d_model)

    def norms_embedding(self, stack: str) -> bool:
        """Return whether a stack, "encoder" or "decoder", normalises the sum of its embeddings and positions."""
        return self.embedding_norm and (stack == "encoder" or self.decoder_embedding_norm)

    def d_head(self, stack: StackConfig) -> int:
        """Return the size of each head in a stack."""
        return self.d_model // stack.n_heads

    @property
    def all_heads(self) -> int:
        """The number of heads of the network before pruning."""
        encoder, decoder = self.encoder, self.decoder
        return encoder.n_layers * encoder.n_heads + 2 * decoder.n_layers * decoder.n_heads

    def kept_heads(self, stack: str, layer: int, kind: str) -> tuple[int, ...]:
        """Return the remaining heads of an attention module, by their original numbers."""
        gone = {head for *site, head in self.pruned_heads if site == [stack, layer, kind]}
        count = (self.encoder if stack == "encoder" else self.decoder).n_heads
        return tuple(head for head in range(count) if head not in gone)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and their values, stacks as dicts too."""
        settable = {f.name for f in fields(self) if f.init}
        return {name: value for name, value in asdict(self).items() if name in settable}

    @classmethod
    def from_dict(cls, values: object) -> Self:
        """Return the configuration that `to_dict` wrote. Raises ValueError naming the unknown, missing or invalid
        field.
        """
        known = _keyword_arguments(cls, values, "The model configuration")
        for name in ("source_vocab_size", "target_vocab_size"):
            if name not in known:
                raise ValueError(f"The model configuration lacks {name}.")
        for name in ("encoder", "decoder"):
            if name in known:
                known[name] = StackConfig(
                    **_keyword_arguments(StackConfig, known[name], f"The model configuration's {name}")
                )
        for name in ("source_start", "source_end", "target_start"):
            if isinstance(known.get(name), list):  # JSON has no tuples
                known[name] = tuple(known[name])
        if isinstance(heads := known.get("pruned_heads"), list):
            known["pruned_heads"] = tuple(tuple(head) if isinstance(head, list) else head for head in heads)
        return cls(**known)


@dataclass(frozen=True)
class TrainConfig:
    """How a model is trained. Raises ConfigError naming the field, the value and the remedy.

    `steps` counts optimizer steps; each sees `batch_tokens * accumulate` tokens, padding included, however many
    processes share them. `schedule` is "paper" (equation 3 of section 5.3, scaled to peak at `learning_rate`), "linear"
    (rises over `warmup` steps, then falls to 0 at `steps`) or "constant" (rises over `warmup`, then stays). `clip`,
    `patience` and `average` are off at 0. Each evaluation also writes a checkpoint.
    """

    steps: int = 10_000
    batch_tokens: int = 2_048
    accumulate: int = 1
    learning_rate: float = 1.5e-3
    schedule: Schedule = "linear"
    warmup: int = 300
    label_smoothing: float = 0.1
    clip: float = 1.0
    scheduled_sampling: ScheduledSampling = "never"
    precision: Precision = "auto"
    evaluate_every: int = 500
    checkpoint_every: int = 500
    patience: int = 0
    snapshots: int = 0
    average: int = 0
    seed: int = 0
    adam_beta2: float = 0.98
    adam_eps: float = 1e-9
    padding_in_loss: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.scheduled_sampling, bool):
            object.__setattr__(self, "scheduled_sampling", "parallel" if self.scheduled_sampling else "never")
        check_whole("steps", self.steps, 1, 100_000_000)
        check_whole("batch_tokens", self.batch_tokens, 1, 10_000_000)
        check_whole("accumulate", self.accumulate, 1, 10_000)
        check_whole("warmup", self.warmup, 0, 100_000_000)
        check_whole("evaluate_every", self.evaluate_every, 1, 100_000_000)
        check_whole("checkpoint_every", self.checkpoint_every, 1, 100_000_000)
        check_whole("patience", self.patience, 0, 1_000)
        check_whole("snapshots", self.snapshots, 0, 1_000)
        check_whole("average", self.average, 0, 100)
        check_whole("seed", self.seed, 0, 2**63 - 1)
        _check_positive("learning_rate", self.learning_rate)
        check_share("clip", self.clip, 1e30)
        check_share("label_smoothing", self.label_smoothing)
        check_share("adam_beta2", self.adam_beta2)
        _check_positive("adam_eps", self.adam_eps)
        _check_options(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and their values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: object) -> TrainConfig:
        """Return the settings that `to_dict` wrote. Raises ValueError naming the wrong field."""
        return cls(**_keyword_arguments(cls, values, "The training configuration"))
