"""An importer: weights whose names begin with "net.", beside a file lab.json with the configuration."""

from collections.abc import Mapping
from functools import partial

from headlight import tokenizer_json
from headlight.importers.forms.form import ForeignModel
from headlight.importers.questions import Answers, ImportQuestion
from headlight.importers.source import Source
from transformer.checkpoint.native import expected_shapes, from_json, load_tokenizers
from transformer.config import ModelConfig
from transformer.files import read_json

PREFIX, CONFIG = "net.", "lab.json"


class LabFormat:
    name = "Example lab"
    title = "This is a model of the example lab"

    def fits(self, source: Source) -> bool:
        names = source.weights.infos
        return source.file(CONFIG) is not None and all(name.startswith(PREFIX) for name in names)

    def due(self, source: Source) -> Mapping[str, tuple[int, ...]]:
        if source.file(CONFIG) is None:
            return {}
        return {PREFIX + name: shape for name, shape in expected_shapes(config_of(source)).items()}

    def facts(self, source: Source) -> tuple[tuple[str, str], ...]:
        config = config_of(source)
        return (("Layers", f"{config.encoder.n_layers} and {config.decoder.n_layers}"),)

    def folded(self, source: Source) -> tuple[tuple[str, str], ...]:
        return ()

    def questions(self, source: Source) -> tuple[ImportQuestion, ...]:
        return ()  # such as the number of heads, where the file cannot say

    def read(self, source: Source, answers: Answers) -> ForeignModel:
        assert source.folder is not None  # in which lab.json is
        config = config_of(source)
        tensors = {name: partial(source.weights.tensor, PREFIX + name) for name in expected_shapes(config)}
        tokenizers = load_tokenizers(source.folder, config, tokenizer_json.opened)
        return ForeignModel(config, tensors, *tokenizers, card={"title": "A model of the example lab"})


def config_of(source: Source) -> ModelConfig:
    path = source.file(CONFIG)
    assert path is not None
    return from_json(read_json(path))
