"""Shared by all sessions: the loaded models with their cards, and the traces of the latest sentences."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Hashable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch

from headlight import folders
from headlight.analysis import Check, check
from headlight.checkpoints import load_translator
from headlight.language import current, gettext, translatable
from headlight.machine import cores
from headlight.runs import RunFolder
from headlight.runs.metrics import latest_evaluation
from headlight.teaching.mistakes import RUNNABLE, BrokenTranslator, break_translator
from transformer import Trace, Translation, Translator
from transformer.checkpoint.native import CARD, CONFIG, SHARED, SOURCE, TARGET, WEIGHTS
from transformer.config import LARGE_PARAMETERS
from transformer.files import read_json
from transformer.quoting import quoted
from transformer.taps import Intervention, Tap
from ui.state.batcher import RequestBatcher
from ui.state.cache import arguments_key, cached, read_only
from ui.state.public import card_without_places

log = logging.getLogger("headlight")
CHECKPOINTS, RUNS, MODELS, LESSONS = folders.checkpoints(), folders.runs(), folders.models(), folders.lessons()
DEFAULT_MODEL = "en-fr"  # which the app opens with, if it is installed
UPLOADS = "uploads"  # the folder among the runs in which uploaded corpora are kept
RUN_PREFIX = "runs/"  # of the name of a run's best checkpoint
IMPORTED_PREFIX = "models/"  # of the name of an imported model
MAX_BATCHED_TOKENS = 64  # of a sentence in a batch: a longer one would keep the others waiting
MISTAKE_SEPARATOR = "+"  # between the name of a model and that of the mistake that it is run with
MODEL_FILES = (WEIGHTS, CONFIG, CARD, SHARED, SOURCE, TARGET)  # of a model


def model_names() -> list[str]:
    """Return the names of all models.

    First the checkpoint folders, the one to open with at the beginning; then imported models as "models/NAME", and the
    finished runs as "runs/NAME".
    """
    names = sorted(path.parent.name for path in CHECKPOINTS.glob(f"[!.]*/{CONFIG}"))
    imported = sorted(f"{IMPORTED_PREFIX}{path.parent.name}" for path in MODELS.glob(f"[!.]*/{CONFIG}"))
    return [*sorted(names, key=lambda name: name != DEFAULT_MODEL), *imported, *finished_runs()]


def finished_runs() -> list[str]:
    """Return the names of the finished runs.

    A run that still trains replaces its best checkpoint while it might be read.
    """
    runs = (path.parent for path in sorted(RUNS.glob("[!.]*/checkpoints")))
    return [f"{RUN_PREFIX}{run.name}" for run in runs if _ended(run) and RunFolder(run).best() is not None]


def _ended(run: Path) -> bool:
    try:
        return read_json(run / "status.json")["state"] in ("finished", "stopped")
    except (ValueError, KeyError, TypeError):
        return False


def broken_name(name: str, mistake: str) -> str:
    """Return the name of a model run with one of `MISTAKES`: known wherever models are, and listed nowhere."""
    return f"{name}{MISTAKE_SEPARATOR}{mistake}"


def unbroken_name(name: str) -> str:
    """Return the name of the model as it is, from that of its broken variant."""
    return _split_name(name)[0]


def _split_name(name: str) -> tuple[str, str | None]:
    """Split a name into the name of the model as it is, and the mistake that it is run with."""
    base, separator, mistake = name.rpartition(MISTAKE_SEPARATOR)
    return (base, mistake) if separator and mistake in RUNNABLE else (name, None)


def own_taps(model: Translator) -> tuple[Tap, ...]:
    """Return the taps that every pass of this model needs: that of its mistake, if the mistake is a tap."""
    return (model.tap,) if isinstance(model, BrokenTranslator) and model.tap is not None else ()


def model_folder(name: str) -> Path:
    """Return the folder of a model of `model_names`, or of its broken variant."""
    name, _ = _split_name(name)
    if name.startswith(RUN_PREFIX):
        run = RunFolder(RUNS / name.removeprefix(RUN_PREFIX))
        return run.best() or run.checkpoints / "best"
    return MODELS / name.removeprefix(IMPORTED_PREFIX) if name.startswith(IMPORTED_PREFIX) else CHECKPOINTS / name


def shipped_file(name: str, file: str) -> Path | None:
    """Return a file of measurements that comes with a model that ships, None where there is none."""
    path = model_folder(name) / file
    return None if name.startswith((RUN_PREFIX, IMPORTED_PREFIX)) or not path.is_file() else path


def own_folder(name: str) -> Path:
    """Return the folder of the user's own model of a name, imported or saved. Raises ValueError for an invalid name."""
    if not re.fullmatch(r"\w[\w.-]{0,63}", name):
        raise ValueError(f"{quoted(name)} is not a valid model name; use letters, digits, dots and dashes.")
    return MODELS / name


def translator(name: str) -> Translator:
    """Open a model by its folder's name, again when its files change.

    Raises ValueError where it can't be, and where it can't be broken in that way.
    """
    if _split_name(name)[0] not in model_names():
        text = gettext("There is no model {name} in checkpoints/; choose one in the sidebar.", name=quoted(name))
        raise ValueError(text)
    return _translator(name, version(name))


def version(name: str) -> tuple[int, ...]:
    """Return when a model's files last changed: a part of the key of whatever is computed from it."""
    return tuple(_changed(model_folder(name) / file) for file in MODEL_FILES)


def versioned(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Hashable:
    """Return the cache key for a function of the model that its first argument names: another when its files change."""
    return version(args[0]), arguments_key(args, kwargs)


def _changed(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:  # there is none, or it was just removed
        return 0


@cached(8, translatable("Loading the model"), seconds=3600, turn=False)
def _translator(name: str, version: tuple[int, ...]) -> Translator:
    base, mistake = _split_name(name)
    if mistake is not None:
        return break_translator(_translator(base, version), mistake)
    translator = load_translator(model_folder(name), os.environ.get("HEADLIGHT_DEVICE", "cpu"))
    translator.checkpoint.card = card_without_places(translator.checkpoint.card)
    if sum(parameter.numel() for parameter in translator.model.parameters()) > LARGE_PARAMETERS:
        torch.set_num_threads(cores())  # from now on in this process: a sentence keeps one core busy for seconds
    return translator


def trace(name: str, text: str, target: str | None, interventions: tuple[Intervention, ...] = ()) -> Trace:
    """Return the trace of a sentence, which sessions share; its arrays can't be written to."""
    key = name, version(name), text, target, interventions
    with _in_line(*key):
        return _trace(*key)


def has_trace(name: str, text: str, target: str | None, interventions: tuple[Intervention, ...] = ()) -> bool:
    """Return whether that trace is cached."""
    return _trace.is_cached(name, version(name), text, target, interventions)


def checks(
    name: str,
    text: str,
    target: str | None,
    interventions: tuple[Intervention, ...] = (),
    as_of: tuple[int, ...] | None = None,
) -> list[Check]:
    """Return the checks of that very trace, which is computed in the same turn where it is not cached.

    `as_of` is the version of the model that gave it, where its files may have changed since.
    """
    key = name, as_of or version(name), text, target, interventions
    with _in_line(*key):
        return _checks(*key, current())


def forced_trace(name: str, source: list[int], target: list[int], interventions: tuple[Intervention, ...]) -> Trace:
    """Return the trace of a fixed target with heads changed."""
    return _forced_trace(name, version(name), tuple(source), tuple(target), interventions)


def _translated(model: tuple[str, tuple[int, ...]], texts: list[str]) -> list[Translation]:
    return _translator(*model).translate_batch(texts)


# The sentences that sessions wait for: those without a typed translation and without changed heads.
_TRANSLATIONS = RequestBatcher(_translated)


def _in_line(
    name: str, version: tuple[int, ...], text: str, target: str | None, interventions: tuple[Intervention, ...]
) -> AbstractContextManager[None]:
    """Let another session translate the sentence in its batch while the block waits."""
    if target is not None or interventions or _trace.is_cached(name, version, text, target, interventions):
        return nullcontext()
    # A sentence that the model cannot read is refused here, before anybody waits for it.
    return _TRANSLATIONS.waiting((name, version), text, _alone(_translator(name, version), text))


def _alone(translator: Translator, text: str) -> bool:
    """Return whether a sentence needs a batch of its own: a long one, or where a mistake may see a batch's padding."""
    return len(translator.encode(text)) > MAX_BATCHED_TOKENS or bool(own_taps(translator))


# Cached for ten minutes, longer than anybody studies one sentence.
@cached(40, translatable("Translating"))
def _trace(
    name: str, version: tuple[int, ...], text: str, target: str | None, interventions: tuple[Intervention, ...]
) -> Trace:
    translator = _translator(name, version)
    if target is not None or interventions:
        return _frozen(translator.trace(text, target, interventions))
    translation = _TRANSLATIONS.get((name, version), text, _alone(translator, text))
    return _frozen(translator.trace(text, own=translation))


@cached(40, translatable("Computing with the changed heads"))
def _forced_trace(
    name: str,
    version: tuple[int, ...],
    source: tuple[int, ...],
    target: tuple[int, ...],
    interventions: tuple[Intervention, ...],
) -> Trace:
    return _frozen(_translator(name, version).trace_ids(source, target, interventions))


@cached(40)
def _checks(
    name: str,
    version: tuple[int, ...],
    text: str,
    target: str | None,
    interventions: tuple[Intervention, ...],
    language: str,
) -> list[Check]:
    recorded = _trace(name, version, text, target, interventions)
    translator = _translator(name, version)
    return check(recorded, translator.model, (*own_taps(translator), *interventions))


def _frozen(trace: Trace) -> Trace:
    for array in vars(trace).values():
        if isinstance(array, np.ndarray):
            read_only(array)
    return trace


def latest_scores(run: Path) -> dict[str, Any]:
    """Return the scores of a run's latest evaluation, or nothing where it has none."""
    try:
        size = RunFolder(run).metrics.stat().st_size
    except OSError:
        return {}
    return _latest_scores(run, size)


@cached(200, seconds=3600, turn=False)
def _latest_scores(run: Path, size: int) -> dict[str, Any]:
    return latest_evaluation(RunFolder(run))


def model_card(folder: Path) -> dict[str, Any]:
    """Return a model's card as visitors may read it, or nothing where it has none that can be read."""
    try:
        values = read_json(folder / "card.json")
    except ValueError:
        return {}
    return card_without_places(values) if isinstance(values, dict) else {}
