"""Import a live Hugging Face model by sharing its weights."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from weakref import finalize

import torch
from torch import Tensor

from headlight.importers.forms import ForeignModel
from headlight.importers.forms.hugging_face_config import CONFIG, GENERATION
from headlight.importers.forms.of_plugins import forms
from headlight.importers.importing import FAMILIES, KNOWN_MODEL_TYPES, Unready, examine_source
from headlight.importers.questions import Answers, ImportQuestion
from headlight.importers.source import Source
from headlight.watching.checks import WATCH_INSTEAD
from transformer import Transformer, Translator
from transformer.checkpoint import Checkpoint
from transformer.checkpoint.native import assemble
from transformer.checkpoint.weights import DTYPES, Refused, TensorInfo
from transformer.files import write_json
from transformer.inference.prepared import Prepared
from transformer.quoting import quoted

_LANGUAGES = {"source_language": "src_lang", "target_language": "tgt_lang"}  # ours, and the tokenizer's attribute
MAX_NAMED_LANGUAGES = 8  # in an error message
_DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}


class LiveWeights:
    """The tensors of a live model by name, with the interface of `Weights`; it records which were read."""

    def __init__(self, model: Any) -> None:
        self._tensors: dict[str, Tensor] = {name: tensor.detach() for name, tensor in model.state_dict().items()}
        self.infos = {
            name: TensorInfo(tuple(tensor.shape), _DTYPE_NAMES.get(tensor.dtype, str(tensor.dtype)))
            for name, tensor in self._tensors.items()
        }
        self.storages = {_storage(tensor) for tensor in self._tensors.values()}
        self.read: list[str] = []

    def tensor(self, name: str) -> Tensor:
        """Return the live tensor itself."""
        self.read.append(name)
        return self._tensors[name]

    @property
    def size(self) -> int:
        """The bytes of the weights; tensors that share their storage count once."""
        return sum({_storage(t): t.untyped_storage().nbytes() for t in self._tensors.values()}.values())


def _storage(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


@dataclass(frozen=True)
class Derived:
    """A parameter of our network that shares no memory: its value, and the live tensors that it is computed from."""

    compute: Callable[[], Tensor]
    sources: tuple[str, ...]  # none for a table that the configuration determines

    def __str__(self) -> str:
        return f"computed from {' and '.join(self.sources)}" if self.sources else "computed from the configuration"


class LiveTranslator(Translator):
    """A `Translator` whose network shares the tensors of a live model, so that it computes with its current weights.

    The parameters that are computed from live tensors are recomputed when those change.
    """

    def __init__(self, checkpoint: Checkpoint, derived: Mapping[str, Derived]):
        super().__init__(checkpoint)
        self._prepared: Prepared | None = None
        parameters = dict(checkpoint.model.named_parameters())
        self._derived = [(parameters[name], value.compute) for name, value in derived.items() if value.sources]

    @property
    def model(self) -> Transformer:
        for parameter, compute in self._derived:
            if not torch.equal(parameter, value := compute()):
                with torch.no_grad():
                    parameter.copy_(value)
        return self.checkpoint.model

    @property
    def prepared(self) -> Prepared:
        model = self.model  # recomputes the derived parameters
        self._prepared = self._prepared or Prepared(model, shares=True)
        return self._prepared


def share(model: Any, tokenizer: Any, languages: Answers, name: str) -> LiveTranslator:
    """Return the model as a `Translator` that shares its tensors; `languages` are those that the caller named.

    Raises ValueError where the model cannot be shared.
    """
    weights = LiveWeights(model)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="headlight-")))
        tokenizer.save_pretrained(folder)
        write_json(folder / CONFIG, {**_plain(model.config), "architectures": [type(model).__name__]})
        write_json(folder / GENERATION, _plain(model.generation_config))
        foreign = _read(Source(name, folder, weights, weights.size), model, tokenizer, languages)
        tensors: dict[str, Tensor] = {}
        derived: dict[str, Derived] = {}
        for parameter, compute in foreign.tensors.items():
            weights.read.clear()
            compute = partial(_in_place, compute, model.device)
            tensors[parameter] = compute()
            if _storage(tensors[parameter]) not in weights.storages:
                derived[parameter] = Derived(compute, tuple(dict.fromkeys(weights.read)))
        network = assemble(foreign.config, tensors)
        live = {"class": type(model).__name__, "copied": {name: str(value) for name, value in derived.items()}}
        tokenizers = foreign.source_tokenizer, foreign.target_tokenizer
        translator = LiveTranslator(Checkpoint(network, *tokenizers, {**foreign.card, "live": live}), derived)
        if any(value.sources for value in derived.values()):  # recomputing may need the configuration
            finalize(translator, stack.pop_all().close)
        return translator


def _in_place(compute: Callable[[], Tensor], device: torch.device) -> Tensor:
    """Return a matrix unchanged and a vector in float32, the dtype of everything but matrix products."""
    value = compute().to(device)
    return value if value.dim() > 1 else value.float()


def _plain(config: Any) -> dict[str, Any]:
    """Return a configuration as `config.json` would have it."""
    values: dict[str, Any] = json.loads(json.dumps(config.to_dict(), default=str))
    return values


def _read(source: Source, model: Any, tokenizer: Any, languages: Answers) -> ForeignModel:
    """Read the model with the import form of its family.

    Raises ValueError for a model that no form fits, and for a question about its languages that is still open.
    """
    form = next((form for form in forms() if form.fits(source)), None)
    if form is None:
        raise ValueError(_why_not(source, model))
    questions = {question.field: question for question in form.questions(source)}
    chosen: dict[str, str | None] = {}
    for field, attribute in _LANGUAGES.items():
        language = getattr(languages, field)
        if field in questions:
            chosen[field] = _language(questions[field], language, getattr(tokenizer, attribute, None), attribute)
        elif language is not None:
            raise ValueError(f"{type(model).__name__} has no choice of languages here; leave {field} out.")
    answers = Answers(source_language=chosen.get("source_language"), target_language=chosen.get("target_language"))
    return form.read(source, answers)


def _language(question: ImportQuestion, chosen: str | None, of_tokenizer: object, attribute: str) -> str | None:
    """Return the language that answers the question, or None. Raises ValueError for a missing or unknown language."""
    language = of_tokenizer if chosen is None and of_tokenizer in question.choices else chosen
    if language in question.choices or (language is None and not question.required):
        return None if language is None else str(language)
    named = ", ".join(map(str, question.choices[:MAX_NAMED_LANGUAGES]))
    more = len(question.choices) - MAX_NAMED_LANGUAGES
    named += f" and {more} more" if more > 0 else ""
    problem = "" if language is None else f" It cannot be {quoted(language)}."
    raise ValueError(
        f"{question.text} {question.why}{problem} Give {question.field}=..., one of {named}; or set "
        f"tokenizer.{attribute}."
    )


def _why_not(source: Source, model: Any) -> str:
    """Return the message of the error for a model that no import form fits."""
    name, kind = type(model).__name__, model.config.model_type
    if kind not in KNOWN_MODEL_TYPES:
        return (
            f"{name} is a model of type {quoted(kind)}, which cannot be opened as a Translator; those of {FAMILIES} "
            f"can. {WATCH_INSTEAD}"
        )
    try:
        why = str(Unready(examine_source(source, Answers())[0]))
    except Refused as error:
        why = str(error)
    return f"{name} cannot be opened as a Translator. {why} {WATCH_INSTEAD}"
