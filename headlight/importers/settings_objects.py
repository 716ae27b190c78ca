"""The settings that fairseq saves as objects of omegaconf, as plain dictionaries, lists and values.

A `DictConfig` or `ListConfig` has its content in `_content`, and each value is the `_val` of a node. A text
"${model.encoder.embed_dim}" stands for the value at that path from the root, and "???" for a missing value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from headlight.importers.limits import MAX_PICKLE_DEPTH
from headlight.importers.pickles import DataObject
from transformer.checkpoint.weights import Refused

MAX_SETTINGS = 50_000  # values; fairseq has about 700, and a file may refer to one value many times
MAX_REFERENCES = 10  # in a chain of paths that refer to paths
_MISSING, _REFERENCE = "???", re.compile(r"\$\{([\w.]+)\}")


def plain_settings(value: Any) -> Any:
    """Return settings without the objects around them. Raises Refused for more values or depth than settings have."""
    root = _SettingsReader().plain(value, 0)
    return _resolved(root, root)


class _SettingsReader:
    def __init__(self) -> None:
        self.values = 0

    def plain(self, value: Any, depth: int) -> Any:
        self.values += 1
        if self.values > MAX_SETTINGS or depth > MAX_PICKLE_DEPTH:
            raise Refused(
                f"The file's settings have over {MAX_SETTINGS:,} values, or lists inside lists that do not end.",
                remedy="Save the model again with fairseq.",
            )
        if isinstance(value, DataObject):
            state = value.state
            if isinstance(state, dict):
                state = next((state[name] for name in ("_content", "_val") if name in state), state)
            return self.plain(state, depth + 1)
        if isinstance(value, dict):
            return {name: self.plain(part, depth + 1) for name, part in value.items()}
        if isinstance(value, list | tuple):
            return [self.plain(part, depth + 1) for part in value]
        return value if isinstance(value, str | int | float) else None


def _resolved(value: Any, root: Any) -> Any:
    if isinstance(value, dict):
        return {name: _resolved(part, root) for name, part in value.items()}
    if isinstance(value, list):
        return [_resolved(part, root) for part in value]
    for _ in range(MAX_REFERENCES):
        path = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
        if path is None:
            return None if value == _MISSING else value
        value = root
        for name in path[1].split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
    return None
