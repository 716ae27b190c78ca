"""The `config.json` of a Hugging Face model. The file is untrusted, so each value is checked on access."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headlight.importers.source import Source
from transformer.checkpoint.weights import Refused
from transformer.files import read_json
from transformer.quoting import quoted

_GENERATION_FIELDS = ("forced_bos_token_id",)  # config.json says it only where there is no file for it
CONFIG, GENERATION, TOKENIZER = "config.json", "generation_config.json", "tokenizer_config.json"


class HuggingFaceConfig:
    """The values of the folder's JSON files. A missing or null value is the default."""

    def __init__(self, folder: Path, values: Mapping[str, Any]):
        self.folder, self.values = folder, values
        self.generation, self.tokenizer = _object(folder / GENERATION), _object(folder / TOKENIZER)

    @property
    def model_type(self) -> str:
        return self.text("model_type", "")

    def whole(self, name: str, high: int, default: int | None = None, low: int = 1) -> int:
        value = self.values.get(name)
        value = default if value is None else value
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise Refused(f"{name} in {CONFIG} is {quoted(value)}; it must be a whole number from {low} to {high:,}.")
        return value

    def flag(self, name: str, default: bool) -> bool:
        value = self.values.get(name)
        value = default if value is None else value
        if not isinstance(value, bool):
            raise Refused(f"{name} in {CONFIG} is {quoted(value)}; it must be true or false.")
        return value

    def text(self, name: str, default: str) -> str:
        value = self.values.get(name)
        return value if isinstance(value, str) else default

    def token(self, name: str) -> str:
        """Return the text of a special token that tokenizer_config.json names, such as `cls_token`; "" for none."""
        value = self.tokenizer.get(name)
        value = value.get("content") if isinstance(value, dict) else value
        return value if isinstance(value, str) else ""

    def id(self, name: str, below: int) -> int | None:
        """Return a token id, which may be in generation_config.json; of a list, the first."""
        value = self.generation.get(name)
        if value is None and not (self.generation and name in _GENERATION_FIELDS):
            value = self.values.get(name)
        if isinstance(value, list) and value:
            value = value[0]
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < below:
            raise Refused(f"{name} in {CONFIG} is {quoted(value)}; it must be an id from 0 to {below - 1:,}.")
        return value

    def known_id(self, name: str, below: int) -> int:
        value = self.id(name, below)
        if value is None:
            raise Refused(f"{CONFIG} does not say {name}, without which the model cannot run.", remedy="Add it there.")
        return value


def hugging_face_config(source: Source) -> HuggingFaceConfig | None:
    """Return the configuration beside the weights; None where there is no Hugging Face configuration."""
    if source.folder is None or not (source.folder / CONFIG).exists():
        return None
    values = read_json(source.folder / CONFIG)
    if not isinstance(values, dict) or not isinstance(values.get("model_type"), str):
        return None
    return HuggingFaceConfig(source.folder, values)


def _object(path: Path) -> dict[str, Any]:
    values = read_json(path) if path.exists() else {}
    return values if isinstance(values, dict) else {}
