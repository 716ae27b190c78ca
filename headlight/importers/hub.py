"""Models on the Hugging Face hub by their IDs: the files that an import reads are fetched into the hub's cache."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import huggingface_hub
from huggingface_hub import errors
from huggingface_hub.utils import tqdm

from headlight.importers.limits import MAX_FILES
from transformer.access import require_private
from transformer.checkpoint.weights import MAX_WEIGHTS_BYTES, Refused

Progress = Callable[[float, str], None]  # share done, from 0 to 1, and what is being done

_PART = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?"
_NAME = re.compile(f"{_PART}/{_PART}|{_PART}")
_CONFIG_FILES = ("config.json", "generation_config.json")
_TOKENIZERS = (
    "tokenizer.json",
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
# The best first: one file before many, and safetensors before pickles.
_WEIGHTS = (
    r"model\.safetensors",
    r"model\.safetensors\.index\.json|model-\d{5}-of-\d{5}\.safetensors",
    r"pytorch_model\.bin",
    r"pytorch_model\.bin\.index\.json|pytorch_model-\d{5}-of-\d{5}\.bin",
    r"model\.bin",  # of CTranslate2
)
_TIMEOUT_SECONDS = 6  # that the hub may take to answer


def is_name(text: str) -> bool:
    """Return whether a name has the form of a model ID of the hub: OWNER/NAME, or NAME for the few without an owner."""
    return _NAME.fullmatch(text) is not None and ".." not in text and "--" not in text


def fetch(name: str, progress: Progress | None = None, endpoint: str | None = None) -> Path:
    """Return the folder with the model's configuration, weights and tokenizer, as `import_model` takes it.

    What was fetched before is not fetched again, and serves without a network. `progress` may raise to stop. Raises
    Refused for a name that is not an ID, a model that is not there or too large, and a hub that cannot be reached;
    ValueError where nobody may bring any.
    """
    require_private()
    if not is_name(name):
        raise Refused(
            f"{name[:100]!r} is neither a file or folder here nor a Hub model ID.",
            remedy="Give a path, or a model ID such as Helsinki-NLP/opus-mt-en-fr.",
        )
    try:
        info = huggingface_hub.HfApi(endpoint=endpoint).model_info(name, timeout=_TIMEOUT_SECONDS, files_metadata=True)
        sizes = {file.rfilename: file.size or 0 for file in info.siblings or []}
        return _fetched(name, _files_to_fetch(name, sizes), progress, endpoint)
    except errors.GatedRepoError:
        raise Refused(
            f"{name} is on the hub, but its owner asks for consent to its terms first.",
            remedy="Accept them on its page, then run `hf auth login` on this machine.",
        ) from None
    except errors.RepositoryNotFoundError:
        raise Refused(f"There is no model {name} on the hub, or it is private.", remedy="Check its name.") from None
    except (errors.HfHubHTTPError, errors.OfflineModeIsEnabled, OSError) as error:
        return _cached(name, error)
    except Exception as error:
        if type(error).__module__.startswith("httpx"):  # the hub's client passes its own client's errors on
            return _cached(name, error)
        raise


def _files_to_fetch(name: str, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the files to fetch, with their sizes in bytes. Raises Refused."""
    if _CONFIG_FILES[0] not in sizes:
        raise Refused(f"{name} has no {_CONFIG_FILES[0]}, so nothing says what it is.")
    by_pattern = ([file for file in sizes if re.fullmatch(pattern, file)] for pattern in _WEIGHTS)
    weights = next((files for files in by_pattern if files), None)
    if weights is None:
        raise Refused(f"{name} has no weights that open here: no model.safetensors, pytorch_model.bin or model.bin.")
    sizes_to_fetch = {file: sizes[file] for file in (*_CONFIG_FILES, *_TOKENIZERS, *weights) if file in sizes}
    total = sum(sizes_to_fetch.values())
    if total > MAX_WEIGHTS_BYTES or len(sizes_to_fetch) > MAX_FILES:
        raise Refused(
            f"{name} has {total:,} bytes in {len(sizes_to_fetch)} files; at most {MAX_WEIGHTS_BYTES:,} bytes open here."
        )
    return sizes_to_fetch


def _fetched(name: str, sizes: Mapping[str, int], progress: Progress | None, endpoint: str | None) -> Path:
    total, before = sum(sizes.values()), 0
    folder, revision = Path(), None  # the newest, and then of the same
    for file, size in sizes.items():
        path = huggingface_hub.hf_hub_download(
            name,
            file,
            revision=revision,
            endpoint=endpoint,
            etag_timeout=_TIMEOUT_SECONDS,
            tqdm_class=_progress_bar(progress, f"Fetching {file}", before, total),
        )
        before += size
        if progress is not None:
            progress(min(1.0, before / max(total, 1)), f"Fetched {file}")
        folder, revision = Path(path).parent, Path(path).parent.name
    return folder


def _progress_bar(progress: Progress | None, what: str, before: int, total: int) -> type[tqdm]:
    """Return a progress bar that draws nothing and calls `progress` instead."""

    class Bar(tqdm):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **{**options, "disable": True})
            self.done = options.get("initial") or 0

        def update(self, n: float | None = 1) -> None:
            self.done += n or 0
            if progress is not None:
                progress(min(1.0, (before + self.done) / max(total, 1)), what)

    return Bar


def _cached(name: str, error: Exception) -> Path:
    """Return the folder of an earlier fetch. Raises Refused where it is not a complete model."""
    config = huggingface_hub.try_to_load_from_cache(name, _CONFIG_FILES[0])
    if isinstance(config, str):
        folder = Path(config).parent
        try:
            present = {path.name: 0 for path in folder.iterdir() if path.exists()}
            needed = _files_to_fetch(name, present)
        except Refused:
            needed = {}
        if {"model.safetensors", "pytorch_model.bin", "model.bin"} & needed.keys():
            return folder
    lines = str(error).strip().splitlines()
    raise Refused(
        f"The Hugging Face hub cannot be reached, and {name} was not fetched before.",
        (("The hub's client says", lines[0][:200] if lines else type(error).__name__),),
        "Check the network, or copy the model's folder here and give its path.",
    )
