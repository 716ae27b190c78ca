"""A sentence at every snapshot of a training: each head's attention and the model's translation at that step.

Shapes: N snapshots, L layers, H heads, Q queries, K keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import streamlit as st

from headlight import checkpoints
from headlight.analysis.layout import lay_out, sharpest
from headlight.analysis.passes import REQUEST_BYTES
from headlight.formatting import file_size, plural
from headlight.runs.folder import snapshots
from headlight.viewer.packing import MAX_EXACT_WEIGHTS, checked, pack
from transformer import Trace, Translator
from transformer.checkpoint import Checkpoint
from transformer.checkpoint.native import load_weights
from transformer.trace import KINDS, Kind
from ui.state.cache import cached
from ui.training.curves import FILM, take_step
from ui.training.view import TrainingView

MAX_SNAPSHOTS = 24


@dataclass(frozen=True)
class Snapshot:
    """Weights that were saved at `step`, and when the file was written."""

    step: int
    path: str
    modified_at: int


@dataclass(frozen=True)
class FilmFrame:
    """A sentence at one snapshot: its patterns on the common target, and its own translation."""

    step: int
    trace: Trace
    text: str
    log_prob: float


@dataclass(frozen=True)
class History:
    """The snapshots of a training, and the checkpoint folder that says which network and vocabulary they are of."""

    of: str
    base: Path
    version: int  # when the configuration was written
    snapshots: tuple[Snapshot, ...]
    left_out: int = 0
    damaged: int = 0  # snapshots that are not whole

    def frames(self, text: str) -> list[FilmFrame]:
        """Return a sentence at every snapshot."""
        return _frames(str(self.base), self.version, self.snapshots, text)


def history(of: str, base: Path, folder: Path, config_file: Path) -> History:
    """Return the snapshots in `folder`; if there are very many, an evenly spaced selection.

    `config_file` is written once, as the network is made, so that its age tells one network from the next.
    """
    readable, damaged = snapshots(folder)
    all_snapshots = [Snapshot(int(path.stem[5:]), str(path), _written_at(path)) for path in readable]
    selected = [
        all_snapshots[i]
        for i in np.unique(np.linspace(0, len(all_snapshots) - 1, min(MAX_SNAPSHOTS, len(all_snapshots))).astype(int))
    ]
    return History(of, base, _written_at(config_file), tuple(selected), len(all_snapshots) - len(selected), damaged)


def _written_at(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


@cached(4, turn=False)
def _open_checkpoint(base: str, version: int) -> Checkpoint:
    return checkpoints.load(base)


def _at(base: Checkpoint, snapshot: Snapshot) -> Translator:
    model = load_weights(base.model.config, Path(snapshot.path))
    if not all(p.isfinite().all() for p in model.parameters()):
        raise ValueError(f"The snapshot of step {snapshot.step:,} is damaged: it has weights that are NaN or infinite.")
    return Translator(Checkpoint(model, base.source_tokenizer, base.target_tokenizer, base.card))


@cached(4)
def _frames(base: str, version: int, snapshots: tuple[Snapshot, ...], text: str) -> list[FilmFrame]:
    """Return the sentence at every snapshot."""
    _, _, target = _translate_snapshot(base, version, snapshots[-1], text)
    _require_memory(_open_checkpoint(base, version), len(snapshots), text, len(target))
    frames = []
    for snapshot in snapshots:
        translation, log_prob, _ = _translate_snapshot(base, version, snapshot, text)
        frames.append(FilmFrame(snapshot.step, _trace(base, version, snapshot, text, target), translation, log_prob))
    return frames


def _require_memory(base: Checkpoint, snapshots: int, text: str, n_target: int) -> None:
    """Raise ValueError where every head of all snapshots would take more than half of what one request may."""
    config = base.model.config
    n_source = len(Translator(base).encode(text))
    weights = config.encoder.n_layers * config.encoder.n_heads * n_source**2
    weights += config.decoder.n_layers * config.decoder.n_heads * n_target * (n_target + n_source)
    size, max_size = 4 * weights * snapshots, REQUEST_BYTES // 2
    if size > max_size:
        raise ValueError(
            f"The film of {snapshots} snapshots would hold {file_size(size)} of attention weights for {n_source} "
            f"source and {n_target} target tokens, and may hold {file_size(max_size)}; choose a shorter sentence."
        )


@cached(200)
def _translate_snapshot(base: str, version: int, snapshot: Snapshot, text: str) -> tuple[str, float, tuple[int, ...]]:
    """Return a snapshot's own translation, its log-probability, and its ids from [SOS] on."""
    translator = _at(_open_checkpoint(base, version), snapshot)
    best = translator.translate(text, beam_size=1)
    return best.text, best.log_prob, (translator.model.config.sos_id, *best.ids)


@cached(4 * MAX_SNAPSHOTS)
def _trace(base: str, version: int, snapshot: Snapshot, text: str, target: tuple[int, ...]) -> Trace:
    translator = _at(_open_checkpoint(base, version), snapshot)
    return translator.trace_ids(translator.encode(text), target)


# ---- the head that is watched --------------------------------------------------------------------------------------


def heads(trace: Trace) -> list[tuple[Kind, int, int]]:
    """Return every head: kind, and layer and head from 1; cross-attention first."""
    every_head: list[tuple[Kind, int, int]] = []
    for kind in sorted(KINDS, key=lambda kind: kind != "cross"):
        n_layers, n_heads = trace.pattern(kind).shape[:2]
        every_head += [(kind, layer, head) for layer in range(1, n_layers + 1) for head in range(1, n_heads + 1)]
    return every_head


def watched_head(of: str, trace: Trace, view: TrainingView) -> tuple[Kind, int, int]:
    """Return the view's head where this network has it, else the sharpest of its kind in the last snapshot.

    The choice is made once, when the run `of` is opened, so that the film shows the same head while the run goes on.
    """
    available = heads(trace)
    chosen = (view.kind, view.layer or 0, view.head or 0)
    if chosen in available:
        return chosen
    first: dict[tuple[str, Kind], tuple[Kind, int, int]] = st.session_state.setdefault("film-heads", {})
    if first.get((of, view.kind)) not in available:
        layer, head = sharpest(trace, view.kind)
        first[of, view.kind] = view.kind, layer + 1, head + 1
    return first[of, view.kind]


def head_name(head: tuple[Kind, int, int]) -> str:
    kind, layer, number = head
    return f"{kind.capitalize()}, layer {layer}, head {number}"


def strip(frames: Sequence[FilmFrame], head: tuple[Kind, int, int]) -> np.ndarray:
    """Return the patterns of one head at every snapshot: [N, Q, K]."""
    kind, layer, number = head
    return np.stack([frame.trace.pattern(kind)[layer - 1, number - 1] for frame in frames])


def sureness(patterns: np.ndarray) -> np.ndarray:
    """Return for each snapshot the mean of its rows' largest weights, [N]."""
    mean_largest: np.ndarray = patterns.max(axis=2).mean(axis=1)
    return mean_largest


def settled(patterns: np.ndarray) -> np.ndarray:
    """Return for each snapshot how many rows have their largest weight where the last snapshot has it, [N]."""
    strongest = patterns.argmax(axis=2)
    counts: np.ndarray = (strongest == strongest[-1]).sum(axis=1)
    return counts


def payload(history: History, frames: Sequence[FilmFrame], head: tuple[Kind, int, int], step: int | None) -> bytes:
    """Return the message to film.js."""
    patterns, layout = strip(frames, head), lay_out(frames[-1].trace, head[0], words=False, hide=False)
    weights = checked(patterns, 3)
    note = "Every snapshot force-decodes the last snapshot's translation. "
    if history.left_out:
        note += f"{history.left_out} more snapshots between these are not shown. "
    if history.damaged:
        note += f"{plural(history.damaged, 'snapshot is', 'snapshots are')} damaged and not shown. "
    header = {
        "of": history.of,
        "steps": [frame.step for frame in frames],
        "step": step,
        "rows": layout.rows,
        "columns": layout.columns,
        "sure": [round(float(value), 4) for value in sureness(patterns)],
        "settled": settled(patterns).tolist(),
        "note": note + "Rows are queries, columns are keys.",
    }
    arrays = {
        "weights": weights if weights.size <= MAX_EXACT_WEIGHTS else weights.astype(np.float16),
        "masked": layout.masked.astype(np.uint8),
    }
    return pack(header, arrays)


def draw(history: History, frames: Sequence[FilmFrame], head: tuple[Kind, int, int], step: int | None) -> None:
    FILM(data=payload(history, frames, head, step), key="film", on_pick_change=lambda: take_step("film"))


def table(frames: Sequence[FilmFrame], head: tuple[Kind, int, int]) -> dict[str, list[float]]:
    """Return the strip in numbers, a snapshot per row."""
    patterns = strip(frames, head)
    return {
        "Step": [frame.step for frame in frames],
        "Mean of the rows' largest weights": sureness(patterns).tolist(),
        "Rows whose top key is already the final one": settled(patterns).tolist(),
    }
