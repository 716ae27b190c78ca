"""The measurements of the Heads page, and their cache on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np

from headlight.analysis.atlas import Atlas, atlas
from headlight.analysis.atlas.report import History
from headlight.analysis.pruning import Pruning
from headlight.analysis.pruning.checkpoint import study
from headlight.checkpoints import snapshots, step_of
from headlight.corpora.truth import KnownPair
from transformer.checkpoint import Checkpoint
from transformer.checkpoint.native import load_weights
from ui.heads.corpus import ChosenCorpus, open_pairs
from ui.state import atlases, models
from ui.state.atlases import EXAMPLES
from ui.state.jobs import Progress
from ui.state.queue import TURNS

T = TypeVar("T")
SLOW_MEASURE_SENTENCES = 30  # for measures that need a forward pass for each head or word
PRUNING_SENTENCES = 200  # half for the order of the heads, half for the scores
SNAPSHOT_SENTENCES = 200
MAX_SNAPSHOTS = 12


@dataclass(frozen=True)
class MeasurementRequest:
    """A request for measurements: a model as its files are now, and a part of a corpus."""

    name: str
    version: tuple[int, ...]
    chosen: ChosenCorpus
    pairs: int

    @property
    def spec(self) -> str:
        assert self.chosen.spec is not None
        return self.chosen.spec


@dataclass(frozen=True)
class MeasuredAtlas:
    """Measurements of every head of a model.

    `by` is the origin of the alignments: "gold", the name of an aligner, or "" without alignments. `when` is a date,
    such as "2026-11-21".
    """

    atlas: Atlas
    by: str
    when: str


def measure(request: MeasurementRequest, progress: Progress) -> MeasuredAtlas:
    """Measure every head over the corpus."""
    progress(0.0, "Opening the corpus")
    model = models.translator(request.name)
    pairs, by = open_pairs(model, request.spec, request.pairs)
    with TURNS.turn():
        max_pairs = _count(request, pairs, request.pairs)
        atlas = _atlas(model.checkpoint, pairs, max_pairs, SLOW_MEASURE_SENTENCES, progress)
        measured = MeasuredAtlas(atlas, by, atlases.today())
    about = {"corpus": request.spec, "alignment": measured.by, "measured": measured.when}
    keep("heads", request, about | measured.atlas.to_dict())
    return measured


def measure_history(request: MeasurementRequest, progress: Progress) -> History:
    """Measure every head at each snapshot, leaving out the measures that take many passes."""
    base = models.translator(request.name)
    files, history = history_files(request.name), []
    pairs, _ = open_pairs(base, request.spec, SNAPSHOT_SENTENCES)
    with TURNS.turn():
        max_pairs = _count(request, pairs, SNAPSHOT_SENTENCES)
        for number, file in enumerate(files):
            old = base.checkpoint
            then = Checkpoint(load_weights(old.model.config, file), old.source_tokenizer, old.target_tokenizer)

            def report(share: float, doing: str, number: int = number) -> None:
                progress((number + share) / len(files), f"Snapshot {number + 1} of {len(files)}")

            history.append((step_of(file), _atlas(then, pairs, max_pairs, 0, report)))
    entries = [{"step": step, **replace(then, examples={}).to_dict()} for step, then in history]
    keep("history", request, {"history": entries})
    return history


def of_sets(request: MeasurementRequest) -> MeasurementRequest:
    """Return the request for sets of heads that belongs to a request for single heads."""
    return replace(request, pairs=min(request.pairs, PRUNING_SENTENCES))


def measure_sets(request: MeasurementRequest, progress: Progress) -> Pruning:
    """Return the heads in order of importance, and the model's scores as more and more of them are removed."""
    progress(0.0, "Opening the corpus")
    model = models.translator(request.name)
    pairs, _ = open_pairs(model, request.spec, request.pairs)
    with TURNS.turn():
        chosen = list(islice(pairs(), request.pairs))
        pruning = study(model.checkpoint, chosen, progress=progress)
    keep("sets", request, {"sets": pruning.to_dict()})
    return pruning


def find(request: MeasurementRequest) -> MeasuredAtlas | None:
    """Return what `measure` computed before."""
    return find_cached(
        "heads",
        request,
        lambda facts: MeasuredAtlas(Atlas.from_dict(facts), facts["alignment"] or "", facts["measured"]),
    )


def find_history(request: MeasurementRequest) -> History | None:
    """Return what `measure_history` computed before."""
    return find_cached(
        "history", request, lambda facts: [(entry["step"], Atlas.from_dict(entry)) for entry in facts["history"]]
    )


def find_sets(request: MeasurementRequest) -> Pruning | None:
    """Return what `measure_sets` computed before."""
    return find_cached("sets", request, lambda facts: Pruning.from_dict(facts["sets"]))


def find_cached(kind: str, request: MeasurementRequest, parse: Callable[[atlases.Facts], T]) -> T | None:
    """Return the cached measurement as `parse` reads it, or None where there is none that it can read."""
    if request.chosen.is_private:
        return None
    facts = atlases.find(kind, request.name, request.spec, request.pairs)
    try:
        return parse(facts) if facts else None
    except (KeyError, TypeError, ValueError, AttributeError):  # written by another version, or by other software
        return None


def keep(kind: str, request: MeasurementRequest, facts: atlases.Facts) -> None:
    """Write a measurement to the cache on disk, unless its corpus is private."""
    if not request.chosen.is_private:
        atlases.keep(kind, request.name, request.spec, request.pairs, facts)


def _count(request: MeasurementRequest, pairs: Callable[[], Iterable[KnownPair]], max_pairs: int) -> int:
    """Return the number of sentences to be measured.

    The corpora that come with the app have as many as can be asked for.
    """
    if request.chosen.is_private or request.chosen.spec == EXAMPLES:
        return max(1, sum(1 for _ in islice(pairs(), max_pairs)))
    return max_pairs


def _atlas(
    checkpoint: Checkpoint, pairs: Callable[[], Iterable[KnownPair]], max_pairs: int, sample: int, progress: Progress
) -> Atlas:
    def read(count: int) -> None:
        progress(count / max_pairs, f"{count:,} sentences" if count else "switching each off in turn")

    return atlas(checkpoint, pairs, max_pairs, sample, progress=read)


def history_files(name: str) -> list[Path]:
    """Return the snapshots of a model's training; if there are very many, an evenly spaced selection."""
    is_run = name.startswith(models.RUN_PREFIX)
    files = snapshots(models.RUNS / name.removeprefix(models.RUN_PREFIX) if is_run else models.model_folder(name))
    indices = np.unique(np.linspace(0, len(files) - 1, min(MAX_SNAPSHOTS, len(files))).astype(int))
    return [files[index] for index in indices]
