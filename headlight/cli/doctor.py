"""The command `doctor`: report what is installed and where, and whether the shipped models open and translate."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil
import torch

from headlight import __version__, folders
from headlight.checkpoints import load_translator
from headlight.formatting import error_message
from headlight.machine import cores
from headlight.plugins import GROUPS, declared, plugins
from transformer import Translator
from transformer.inference.linear import operators

_PACKAGES = ("torch", "numpy", "streamlit", "plotly", "tokenizers", "safetensors", "anywidget", "transformers")
_LOG_PROB_TOLERANCE = 1e-3  # nats, between two ways of computing a log-probability
_GIB = 2**30


def report() -> Iterator[tuple[str, bool]]:
    """Yield the lines of the report, each with whether its check passed."""
    yield f"Headlight {__version__}, {'a clone' if folders.CLONE else 'installed'} in {_short(folders.ROOT)}", True
    yield f"Python {platform.python_version()} on {platform.platform()}", True
    yield ", ".join(f"{name} {_version(name)}" for name in _PACKAGES), True
    yield _machine(), True
    yield _graphics(), True
    yield from _folders()
    yield from _plugins()
    yield from _models()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _machine() -> str:
    memory = psutil.virtual_memory()
    kernels = operators()
    half = "in the processor" if kernels and kernels.half else "emulated, so float32 is faster"
    return (
        f"{cores()} cores for {torch.get_num_threads()} threads; {memory.available / _GIB:.1f} of "
        f"{memory.total / _GIB:.1f} GiB of memory free; bfloat16 {half}"
    )


def _graphics() -> str:
    names = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    return f"GPU: {', '.join(names)}" if names else "GPU: none, which is fine"


def _folders() -> Iterator[tuple[str, bool]]:
    """Yield the folders of imported models, runs and classes, and whether each can be written to."""
    ours = {"imported models": folders.models(), "runs": folders.runs(), "classes": folders.classes()}
    for what, folder in ours.items():
        existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
        writable = os.access(existing, os.W_OK)
        yield f"{what}: {_short(folder)}{'' if writable else ', which cannot be written to'}", writable


def _plugins() -> Iterator[tuple[str, bool]]:
    """Yield the entry points of other packages that extend this one, and whether each can be imported."""
    for group in GROUPS:
        names = [point.name for point in declared(group)]
        loaded = {plugin.name for plugin in plugins(group)}
        broken = [name for name in names if name not in loaded]
        if names:
            missing = f"; not imported: {', '.join(broken)}" if broken else ""
            yield f"{group}: {', '.join(names)}{missing}", not broken


def _models() -> Iterator[tuple[str, bool]]:
    names = folders.shipped()
    yield f"{len(names)} models ship, in {_short(folders.checkpoints())}", bool(names)
    for name in names:
        begun = time.perf_counter()
        try:
            model = load_translator(name)
            sentence = _first_example(model)
            translation = model.translate(sentence)
            # The translation was decoded with a cache; the recorded pass must find the same log-probability.
            again = model.trace(sentence, translation.text or None).log_prob
        except (ValueError, OSError) as error:
            yield f"{name}: {error_message(error)}", False
            continue
        seconds = time.perf_counter() - begun
        if abs(again - translation.log_prob) > _LOG_PROB_TOLERANCE:
            yield (
                f"{name}: the log-probability is {translation.log_prob:.4f} in decoding, but {again:.4f} in a trace",
                False,
            )
        else:
            yield f"{name}: {sentence} -> {translation.text} (opened and translated in {seconds:.1f} s)", True


def _first_example(model: Translator) -> str:
    first = model.card["examples"][0]
    return str(first["text"] if isinstance(first, dict) else first)


def _short(path: Path) -> str:
    """Return a path that can be shown to others, with "~" for the user's folder."""
    home = Path.home()
    return str("~" / path.relative_to(home)) if path.is_relative_to(home) else str(path)
