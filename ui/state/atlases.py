"""Measurements on disk: those that come with a model, and those made here before.

A model's folder may hold `heads.json`, as `python -m transformer heads --history --json` writes it. What is measured
here goes to `runs/.heads`, by what it was measured of: the model's files, the corpus, how much of it, and the edition
of the measures. Measurements of an uploaded corpus are not written.
"""

from __future__ import annotations

import hashlib
import json
import logging
from datetime import date
from pathlib import Path
from typing import Any

import streamlit as st

from transformer.analysis.atlas import EDITION
from transformer.analysis.atlas.aligner import installed
from transformer.checkpoints.native import digest
from transformer.files import read_json, write_text
from ui.state import models

log = logging.getLogger("headlight")
FILE = "heads.json"
MOST = 64  # files; one is some hundred kilobytes
Facts = dict[str, Any]


def shipped(name: str) -> Facts | None:
    """The measurements that come with a model, if they match its files."""
    file = models.model_folder(name) / FILE
    if name.startswith((models.RUN, models.IMPORTED)) or not file.is_file():
        return None
    return _shipped(file, file.stat().st_mtime_ns, models.version(name))


@st.cache_resource(max_entries=8, show_spinner=False)
def _shipped(file: Path, written: int, version: tuple[int, ...]) -> Facts | None:
    facts = _read(file)
    if facts is None or facts.get("edition") != EDITION or facts.get("model") != digest(file.parent):
        return None
    return facts


def find(what: str, name: str, corpus: str, pairs: int) -> Facts | None:
    """The facts of a measurement ("heads" or "history") that was made before, or None."""
    facts = _read(_place(what, name, corpus, pairs))
    if facts is not None:
        return facts
    facts = shipped(name)
    same = facts is not None and (facts["corpus"], facts["split"], facts["asked"]) == (corpus, None, pairs)
    return facts if same and facts and (what == "heads" or facts["history"]) else None


def keep(what: str, name: str, corpus: str, pairs: int, facts: Facts) -> None:
    """Writes them, and removes the oldest. A disk that is full or read-only is only logged."""
    place = _place(what, name, corpus, pairs)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_text(place, json.dumps(facts, ensure_ascii=False))
        files = sorted(place.parent.glob("*.json"), key=lambda file: file.stat().st_mtime_ns)
        for old in files[:-MOST]:
            old.unlink(missing_ok=True)
    except OSError as error:
        log.warning("the measurements could not be cached: %s", error)


def today() -> str:
    return date.today().isoformat()


def _place(what: str, name: str, corpus: str, pairs: int) -> Path:
    examples = models.translator(name).card.get("examples")
    asked = [what, digest_of(name), corpus, pairs, EDITION, installed(), examples]
    key = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:32]
    return models.RUNS / ".heads" / f"{key}.json"


def digest_of(name: str) -> str:
    """The digest of the model's current files."""
    return _digest(models.model_folder(name), models.version(name))


@st.cache_resource(max_entries=32, show_spinner=False)
def _digest(folder: Path, version: tuple[int, ...]) -> str:
    return digest(folder)


def _read(file: Path) -> Facts | None:
    try:
        facts = read_json(file)
    except ValueError:
        return None
    return facts if isinstance(facts, dict) else None
