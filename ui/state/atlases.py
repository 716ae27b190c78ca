"""Measurements on disk: those that ship with a model, and those that this server computed before.

A model's folder may hold `heads.json`, as `python -m headlight heads --history --json` writes it. Measurements that are
made here go to `runs/.heads`, under a key of the model's files, the corpus, the number of its sentences, and the
edition and the names of the measures. Measurements of an uploaded corpus are not written.
"""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from headlight.analysis.atlas import EDITION, Atlas
from headlight.analysis.atlas.aligner import installed
from headlight.analysis.atlas.report import places
from headlight.analysis.atlas.roles import ROLES, Role, roles
from headlight.analysis.measures import MEASURES
from headlight.checkpoints import digest
from transformer.files import read_json, write_text
from transformer.trace import Kind
from ui.state import models
from ui.state.cache import cached

log = logging.getLogger("headlight")
FILE = "heads.json"
MAX_FILES = 64  # of some hundred kilobytes each
EXAMPLES = "examples"  # the corpus that is the model's own examples
DIGEST_CHARACTERS = 16  # of a model's digest in the name of a file
Facts = dict[str, Any]


def shipped(name: str) -> Facts | None:
    """Return the measurements that come with a model, if they match its files."""
    file = models.shipped_file(name, FILE)
    return None if file is None else _shipped(file, _written_at(file), models.version(name))


@cached(8, seconds=3600, turn=False)
def _shipped(file: Path, modified_at: int, version: tuple[int, ...]) -> Facts | None:
    facts = _read(file)
    if facts is None or facts.get("edition") != EDITION or facts.get("model") != digest(file.parent):
        return None
    return facts


HeadIndex = tuple[Kind, int, int]  # of a head; layer and head from 0


@dataclass(frozen=True)
class Roles:
    """The heads of a model that have a role over a corpus."""

    corpus: str
    pairs: int
    of: dict[HeadIndex, list[Role]]

    @property
    def clearest(self) -> dict[str, tuple[HeadIndex, Role]]:
        """Return for each role, by its measure, the head in which it is clearest; in the order of `ROLES`."""
        best: dict[str, tuple[HeadIndex, Role]] = {}
        for head, head_roles in self.of.items():
            for role in head_roles:
                if role.kind.measure not in best or best[role.kind.measure][1].value < role.value:
                    best[role.kind.measure] = head, role
        return {role.measure: best[role.measure] for role in ROLES if role.measure in best}


def known_roles(name: str) -> Roles | None:
    """Return the latest measurement of a model: the one that ships with it, else one that was computed here."""
    path = models.model_folder(name) / FILE
    if shipped(name) is None:
        measured = sorted((models.RUNS / ".heads").glob(f"{_name_prefix('heads', name)}-*.json"), key=_written_at)
        if not measured:
            return None
        path = measured[-1]
    return _roles(path, _written_at(path))


def _written_at(file: Path) -> int:
    return file.stat().st_mtime_ns


@cached(16, seconds=3600, turn=False)
def _roles(file: Path, modified_at: int) -> Roles | None:
    facts = _read(file) or {}
    try:
        atlas = Atlas.from_dict(facts)
        of = {head: head_roles for head in places(atlas) if (head_roles := roles(atlas, *head))}
        return Roles(str(facts["corpus"]), atlas.pairs, of)
    except (KeyError, TypeError, ValueError, AttributeError):  # of another version, or other software
        return None


def find(kind: str, name: str, corpus: str, pairs: int) -> Facts | None:
    """Return the facts of a measurement that was made before, such as "heads" or "history", or None."""
    facts = _read(_cache_path(kind, name, corpus, pairs))
    if facts is not None:
        return facts
    facts = shipped(name)
    same = facts is not None and (facts["corpus"], facts["split"], facts["asked"]) == (corpus, None, pairs)
    return facts if same and facts and (kind == "heads" or facts.get(kind)) else None


def keep(kind: str, name: str, corpus: str, pairs: int, facts: Facts) -> None:
    """Write the measurements, and remove the oldest.

    A disk that is full or read-only is only logged.
    """
    path = _cache_path(kind, name, corpus, pairs)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps(facts, ensure_ascii=False))
        files = sorted(path.parent.glob("*.json"), key=_written_at)
        for old in files[:-MAX_FILES]:
            old.unlink(missing_ok=True)
    except OSError as error:
        log.warning("the measurements could not be cached: %s", error)


def today() -> str:
    return date.today().isoformat()


def _cache_path(kind: str, name: str, corpus: str, pairs: int) -> Path:
    examples = models.translator(name).card.get("examples")
    request = [kind, digest_of(name), corpus, pairs, EDITION, list(MEASURES), installed(), examples]
    key = hashlib.sha256(json.dumps(request).encode()).hexdigest()[:32]
    return models.RUNS / ".heads" / f"{_name_prefix(kind, name)}-{key}.json"


def _name_prefix(kind: str, name: str) -> str:
    """Return the prefix that all cached files of a kind and a model share."""
    return f"{kind}-{EDITION}-{digest_of(name)[:DIGEST_CHARACTERS]}"


def digest_of(name: str) -> str:
    """Return the digest of the model's current files."""
    return _digest(models.model_folder(name), models.version(name))


@cached(32, seconds=3600, turn=False)
def _digest(folder: Path, version: tuple[int, ...]) -> str:
    return digest(folder)


def _read(file: Path) -> Facts | None:
    try:
        facts = read_json(file)
    except ValueError:
        return None
    return facts if isinstance(facts, dict) else None
