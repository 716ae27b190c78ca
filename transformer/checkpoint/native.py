"""The native checkpoint: `model.safetensors`, `config.json`, the tokenizers and `card.json`.

Nothing in it can run code: weights are safetensors, the rest is JSON, and every size is checked against the
configuration before memory is taken for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from transformer.checkpoint.safetensors_file import read_header, write_tensors
from transformer.checkpoint.weights import (
    DTYPES,
    Refused,
    Stored,
    map_file,
    quantize,
    read_dequantized,
    with_steps,
)
from transformer.config import COMPUTED_POSITIONS, LARGE_PARAMETERS, ModelConfig
from transformer.files import read_json, write_json
from transformer.model import Transformer
from transformer.quoting import quoted, short
from transformer.t5 import T5, T5Config
from transformer.tokenizers import ParseTokenizer, Tokenizer, parse

MAX_CONFIG_BYTES = 2**20  # bytes of a configuration or a card
WEIGHTS, CONFIG, CARD = "model.safetensors", "config.json", "card.json"
FLOATS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
SHARED, SOURCE, TARGET = "tokenizer.json", "source_tokenizer.json", "target_tokenizer.json"


class Architecture(NamedTuple):
    config: type[ModelConfig]
    model: type[Transformer]


_DEFAULT_ARCHITECTURE = "transformer"  # for a configuration that names none
_ARCHITECTURES = {_DEFAULT_ARCHITECTURE: Architecture(ModelConfig, Transformer), "t5": Architecture(T5Config, T5)}


def build(config: ModelConfig) -> Transformer:
    """Build the network of a configuration, randomly initialised."""
    return _ARCHITECTURES[_name(config)].model(config)


def to_json(config: ModelConfig) -> dict[str, Any]:
    name = _name(config)
    return config.to_dict() if name == _DEFAULT_ARCHITECTURE else {"architecture": name, **config.to_dict()}


def from_json(values: object) -> ModelConfig:
    """Return the configuration that `to_json` wrote. Raises ValueError naming what is unknown, missing or wrong."""
    name = _DEFAULT_ARCHITECTURE
    if isinstance(values, Mapping) and "architecture" in values:
        name, values = values["architecture"], {k: v for k, v in values.items() if k != "architecture"}
    if not isinstance(name, str) or name not in _ARCHITECTURES:
        raise ValueError(f"The architecture is {str(name)[:80]!r}; choose one of {', '.join(_ARCHITECTURES)}.")
    return _ARCHITECTURES[name].config.from_dict(values)


def _name(config: ModelConfig) -> str:
    return next(name for name, known in _ARCHITECTURES.items() if known.config is type(config))


@dataclass
class Checkpoint:
    """A network, its source and target tokenizers (one object if shared) and its card."""

    model: Transformer
    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer
    card: dict[str, Any] = field(default_factory=dict)


def save(checkpoint: Checkpoint, folder: str | Path, bits: Literal[16, 32] = 32) -> None:
    """Write the checkpoint folder with weights of `bits` bits; each file is written to a temporary name and renamed."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    save_weights(checkpoint.model, folder / WEIGHTS, bits)
    save_tokenizers(checkpoint.source_tokenizer, checkpoint.target_tokenizer, folder)
    write_json(folder / CONFIG, to_json(checkpoint.model.config))
    write_json(folder / CARD, checkpoint.card)


def load(
    folder: str | Path, parse_tokenizer: ParseTokenizer = parse, device: str = "cpu", dtype: str | None = None
) -> Checkpoint:
    """Read what `save` wrote, ready to run (evaluation mode); `device` and `dtype` as in `load_weights`.

    `parse_tokenizer` builds a tokenizer from its JSON; the default trusts the file. Raises ValueError in one sentence
    that names the file and what is wrong with it.
    """
    folder = Path(folder)
    config, card = read_facts(folder)
    source, target = load_tokenizers(folder, config, parse_tokenizer)
    return Checkpoint(load_weights(config, folder / WEIGHTS, device, dtype), source, target, card)


def read_facts(folder: Path) -> tuple[ModelConfig, dict[str, Any]]:
    """Read the configuration and the card of a folder. Raises ValueError naming the file and what is wrong with it."""
    if not os.path.isdir(folder):  # False for an invalid name, too
        raise ValueError(f"There is no checkpoint folder {short(folder)}.")
    config_file = folder / CONFIG
    values = read_json(config_file, MAX_CONFIG_BYTES)
    try:
        config = from_json(values)
    except ValueError as error:
        raise ValueError(f"{short(config_file)} does not describe a model: {error}") from None
    card = read_json(folder / CARD, MAX_CONFIG_BYTES) if (folder / CARD).exists() else {}
    if not isinstance(card, dict):
        raise ValueError(f"{short(folder / CARD)} is not a JSON object.")
    return config, card


def save_weights(model: Transformer, path: Path, bits: Literal[8, 16, 32] = 32) -> None:
    """Write the parameters by name; a tied matrix is written once, under its first name."""
    tensors: dict[str, Tensor] = {}
    for name, parameter in model.named_parameters():
        weights = parameter.detach().cpu().contiguous()
        tensors |= quantize(name, weights) if bits == 8 else {name: weights.to(DTYPES[f"F{bits}"])}
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    write_tensors(tensors, temporary)
    os.replace(temporary, path)


@lru_cache(32)  # building a small network takes longer than reading it, and the snapshots of a run share one
def expected_shapes(config: ModelConfig) -> Mapping[str, tuple[int, ...]]:
    """Return the shape of each parameter of a configuration, tied ones once, without allocating memory."""
    if config.positions in COMPUTED_POSITIONS:  # the table is computed and no parameter
        config = replace(config, positions="none")
    with torch.device("meta"), _SkipInitialisation():
        return MappingProxyType({name: tuple(p.shape) for name, p in build(config).named_parameters()})


class _SkipInitialisation(TorchFunctionMode):
    """Skips the initialisation of parameters that are about to be read from a file.

    Initialising takes longer than reading, and arithmetic on the meta device imports torch's compiler, which takes
    seconds.
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__module__", None) == "torch.nn.init" or func in (Tensor.uniform_, Tensor.normal_):
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)


def load_weights(config: ModelConfig, path: Path, device: str = "cpu", dtype: str | None = None) -> Transformer:
    """Build the network of `config` with the weights of `path`, in evaluation mode.

    Its matrices are in `dtype`, one of FLOATS; by default in float32 up to LARGE_PARAMETERS, and above that as they
    are stored, and used in place. Vectors are in float32. Raises ValueError where the file is missing, damaged or does
    not fit the configuration.
    """
    if dtype not in (None, *FLOATS):
        raise ValueError(f"The dtype is {quoted(dtype)}; choose one of {', '.join(FLOATS)}.")
    tensors = locate_tensors(config, path)
    large = sum(stored.numbers for stored, _ in tensors.values()) > LARGE_PARAMETERS
    chosen = FLOATS["float32"] if dtype is None else FLOATS[dtype]
    with _SkipInitialisation():
        model = build(config)
    mapped = map_file(path) if large else None
    for name, parameter in model.named_parameters():  # one by one, so that there is never a second copy of all
        numbers = read_dequantized(*tensors[name], mapped)
        as_stored = large and dtype is None and numbers.dtype in FLOATS.values()
        parameter.data = numbers.float() if numbers.dim() < 2 else numbers if as_stored else numbers.to(chosen)
    return model.to(device).eval()


def locate_tensors(config: ModelConfig, path: Path) -> dict[str, tuple[Stored, Stored | None]]:
    """Return where each parameter of `config` is in the file `path`, with its steps if it is quantized.

    Reads the header alone. Raises ValueError where the file is missing, damaged or does not fit the configuration.
    """
    due = expected_shapes(config)
    if not path.is_file():
        raise ValueError(f"{short(path)} is missing.")
    try:
        locations = read_header(path).tensors
    except (Refused, OSError) as error:
        raise ValueError(f"{short(path)} is not a complete safetensors file. {error}") from None
    try:
        tensors = with_steps(locations)
    except ValueError as error:
        raise ValueError(f"{short(path)} {error}") from None
    _check_shapes(due, {name: stored.shape for name, (stored, _) in tensors.items()}, path)
    for name, (stored, step) in tensors.items():
        if step is None and not DTYPES[stored.dtype].is_floating_point:
            raise ValueError(f"{short(path)} has {name} in {stored.dtype}, and weights are floating-point numbers.")
    return tensors


def assemble(config: ModelConfig, tensors: Mapping[str, Tensor]) -> Transformer:
    """Build the network of `config` around `tensors`, used in place, in evaluation mode.

    `tensors` has each parameter of `expected_shapes` by its name; parameters that are tied stay one.
    """
    with _SkipInitialisation():
        model = build(config)
    own = {id(p): nn.Parameter(tensors[name], p.requires_grad) for name, p in model.named_parameters()}
    tied = model.named_parameters(remove_duplicate=False)
    model.load_state_dict({name: own[id(parameter)] for name, parameter in tied}, assign=True)
    return model.eval()


def save_tokenizers(source: Tokenizer, target: Tokenizer, folder: Path) -> None:
    if source is target:
        source.save(folder / SHARED)
    else:
        source.save(folder / SOURCE)
        target.save(folder / TARGET)


def _check_shapes(due: Mapping[str, tuple[int, ...]], shapes: dict[str, tuple[int, ...]], path: Path) -> None:
    for name, shape in due.items():
        if name not in shapes:
            raise ValueError(f"{short(path)} is missing the tensor {name}; it belongs to another configuration.")
        if shapes[name] != shape:
            raise ValueError(f"{short(path)} has {name} of shape {shapes[name]}, but {CONFIG} makes it {shape}.")
    for name in shapes:
        if name not in due:
            raise ValueError(
                f"{short(path)} has a tensor {name[:80]!r} that {CONFIG} does not; it belongs to another configuration."
            )


def load_tokenizers(folder: Path, config: ModelConfig, parse_tokenizer: ParseTokenizer) -> tuple[Tokenizer, Tokenizer]:
    """Read the source and target tokenizers, the same object where there is one file.

    Each has as many tokens as its embedding has rows, even where the file has more or fewer.
    """
    sizes = (config.source_vocab_size, config.target_vocab_size)
    if (folder / SHARED).exists():
        shared = _load_tokenizer(folder / SHARED, config, sizes[1], parse_tokenizer)
        return shared if sizes[0] == sizes[1] else shared.of_size(sizes[0]), shared
    if not (folder / SOURCE).exists():
        raise ValueError(f"{short(folder / SHARED)} is missing (and so are {SOURCE} and {TARGET}).")
    source, target = (
        _load_tokenizer(folder / name, config, size, parse_tokenizer)
        for name, size in zip((SOURCE, TARGET), sizes, strict=True)
    )
    return source, target


def _load_tokenizer(path: Path, config: ModelConfig, size: int, parse_tokenizer: ParseTokenizer) -> Tokenizer:
    tokenizer = Tokenizer.load(path, config.pad_id, config.sos_id, config.eos_id, size, parse_tokenizer)
    return tokenizer if tokenizer.vocab_size == size else tokenizer.of_size(size)
