"""Measurements over a corpus that come with a model, in its folder: of the causes of words, and of word alignment.

`python -m tools.why_agreement` writes `why.json`, `python -m tools.antecedents` `antecedents.json`, and `python -m
headlight align --out` `align.json`.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from headlight.checkpoints import digest
from transformer.files import read_json
from ui.state import models
from ui.state.cache import cached

log = logging.getLogger("headlight")
FILE, ANTECEDENTS, ALIGNMENT = "why.json", "antecedents.json", "align.json"
ATTENTION = "raw attention"


def why_measured(name: str) -> dict[str, Any] | None:
    """Return the measurements that come with a model; None where there are none that match its files."""
    return _of_model(name, FILE)


def antecedents_measured(name: str) -> dict[str, Any] | None:
    """Return which heads cause "il" and "elle", layers and heads from 0; None as in `why_measured`."""
    return _of_model(name, ANTECEDENTS)


def alignment_measured(name: str) -> dict[str, Any] | None:
    """Return which sum of heads aligns words best, as `headlight align` writes it; None as in `why_measured`."""
    return _of_model(name, ALIGNMENT)


def _of_model(name: str, kind: str) -> dict[str, Any] | None:
    file = models.shipped_file(name, kind)
    return None if file is None else _read(file, file.stat().st_mtime_ns, models.version(name))


@cached(8, seconds=3600, turn=False)
def _read(file: Path, modified_at: int, version: tuple[int, ...]) -> dict[str, Any] | None:
    try:
        facts: dict[str, Any] = read_json(file)
        if file.name == FILE:
            for measure in facts["measures"].values():
                [float(by[name]) for by in (measure, measure["signed"]) for name in ("mean", "spread", "low", "high")]
            facts["best"], facts["not_told_apart_from_best"]
        elif file.name == ALIGNMENT:
            best = facts["best_sum"]
            [float(best["second_half"][name]) for name in ("rate", "low", "high")]
            [(int(head["layer"]), int(head["head"])) for head in best["heads"]], best["row"], str(facts["data"])
        else:
            [float(number) for part in ("top", "named", "random") for number in facts[part]["restored"]]
        is_current = facts["model"] == digest(file.parent)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        log.warning("%s cannot be read", file)
        return None
    return facts if is_current else None
