"""Models on the Hugging Face hub by their IDs: the files that an import reads are fetched into the hub's cache."""

from __future__ import annotations

import re
from pathlib import Path

from headlight import hub
from headlight.hub import Address, Progress, Sizes
from headlight.importers.limits import MAX_FILES
from transformer.access import require_private
from transformer.checkpoint.native import CARD, SHARED, SOURCE, TARGET
from transformer.checkpoint.weights import Refused

_CONFIG_FILES = (hub.CONFIG, "generation_config.json", CARD)
_TOKENIZERS = (
    *(SHARED, SOURCE, TARGET),  # tokenizer.json is Hugging Face's name, too
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.json",
    "target_vocab.json",
    "vocab-src.json",
    "vocab-tgt.json",
    "merges.txt",
    "vocab.txt",
    "source.spm",
    "target.spm",
    "sentencepiece.bpe.model",
    "spiece.model",
    "sentencepiece.model",
    *(f"{side}_vocabulary.{end}" for side in ("shared", "source", "target") for end in ("json", "txt")),  # CTranslate2
)
# In order of preference: one file before several, and safetensors before pickles.
_WEIGHTS = (
    r"model\.safetensors",
    r"model\.safetensors\.index\.json|model-\d{5}-of-\d{5}\.safetensors",
    r"pytorch_model\.bin",
    r"pytorch_model\.bin\.index\.json|pytorch_model-\d{5}-of-\d{5}\.bin",
    r"model\.bin",  # of CTranslate2
)


def is_name(text: str) -> bool:
    """Return whether a text has the form of a model ID: OWNER/NAME, or NAME for the few without an owner.

    It may begin with "hub:" and end in "@REVISION".
    """
    return hub.parse_address(text) is not None


def fetch(name: str, progress: Progress | None = None, endpoint: str | None = None) -> Path:
    """Return the folder with the model's configuration, weights and tokenizer, as `import_model` takes it.

    Raises Refused for a name that is not an ID, and as `headlight.hub.fetch` does; ValueError on a public server.
    """
    require_private()
    address = hub.parse_address(name)
    if address is None:
        raise Refused(
            f"{name[:100]!r} is neither a file or folder here nor a Hub model ID.",
            remedy="Give a path, or a model ID such as Helsinki-NLP/opus-mt-en-fr.",
        )
    return hub.fetch(address, lambda sizes: _files_to_fetch(address, sizes), None, progress, endpoint)


def _files_to_fetch(address: Address, sizes: Sizes) -> Sizes:
    """Return the files to fetch, with their sizes in bytes. Raises Refused."""
    if hub.CONFIG not in sizes:
        raise Refused(f"{address} has no {hub.CONFIG}, so nothing says what it is.")
    by_pattern = ([file for file in sizes if re.fullmatch(pattern, file)] for pattern in _WEIGHTS)
    weights = next((files for files in by_pattern if files), None)
    if weights is None:
        raise Refused(f"{address} has no weights that open here: no model.safetensors, pytorch_model.bin or model.bin.")
    sizes_to_fetch = {file: sizes[file] for file in (*_CONFIG_FILES, *_TOKENIZERS, *weights) if file in sizes}
    hub.require_small(address, sizes_to_fetch, MAX_FILES)
    return sizes_to_fetch
