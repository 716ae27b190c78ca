"""Headlight's own folder: as it is, in a zip, or in one safetensors file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from headlight import tokenizer_json
from headlight.importers.forms.form import ForeignModel, Form
from headlight.importers.questions import Answers
from headlight.importers.source import Source
from transformer.checkpoint.native import CARD, CONFIG, expected_shapes, from_json, load_tokenizers
from transformer.config import ModelConfig
from transformer.files import read_json


class Native(Form):
    """The native format as `checkpoints.save` writes it: there are no questions and no conversion."""

    name = "Headlight"
    title = "This is a model of Headlight's own"

    def fits(self, source: Source) -> bool:
        if "source_vocab_size" not in _values(source):
            return False
        return self.due(source) == {name: info.shape for name, info in source.weights.infos.items()}

    def due(self, source: Source) -> Mapping[str, tuple[int, ...]]:
        return expected_shapes(_config(source)) if "source_vocab_size" in _values(source) else {}

    def facts(self, source: Source) -> tuple[tuple[str, str], ...]:
        config = _config(source)
        encoder, decoder, gone = config.encoder, config.decoder, len(config.pruned_heads)
        return (
            ("Layers", f"{encoder.n_layers} and {decoder.n_layers}"),
            ("Heads", f"{encoder.n_heads} and {decoder.n_heads}" + (f"; {gone} pruned" if gone else "")),
            ("d_model, d_ff", f"{config.d_model:,}, {encoder.d_ff:,} and {decoder.d_ff:,}"),
            ("Vocabularies", f"{config.source_vocab_size:,} and {config.target_vocab_size:,}"),
        )

    def read(self, source: Source, answers: Answers) -> ForeignModel:
        config, folder = _config(source), source.folder
        assert folder is not None  # in which the configuration was found
        tensors = {name: partial(source.weights.tensor, name) for name in source.weights.infos}
        card = read_json(folder / CARD) if (folder / CARD).is_file() else {}
        return ForeignModel(
            config,
            tensors,
            *load_tokenizers(folder, config, tokenizer_json.opened),
            card if isinstance(card, dict) else {},
        )


def _values(source: Source) -> dict[str, Any]:
    """Return the values of `config.json`; none where it is absent or not ours."""
    path = source.file(CONFIG)
    values = read_json(path) if path is not None else {}
    return values if isinstance(values, dict) else {}


def _config(source: Source) -> ModelConfig:
    try:
        return from_json(_values(source))
    except ValueError as error:
        raise ValueError(f"{CONFIG} does not describe a model: {error}") from None
