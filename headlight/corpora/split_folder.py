"""Tables of sentence pairs in a folder: a corpus' splits (en-fr.train.tsv.gz, Tatoeba's form here) or one table."""

from __future__ import annotations

import os
import re
from pathlib import Path

from headlight import folders
from headlight.corpora.files import Table
from headlight.corpora.pairs import MAX_CHARACTERS
from transformer.quoting import quoted, short

SPLITS = ("train", "validation", "test")


class SplitFolder(Table):
    """One split between two languages, from the table of that direction or of the other.

    Lines with the same source are several translations of it: references of one another. Raises ValueError where the
    folder has no such table.
    """

    def __init__(
        self,
        folder: str | Path,
        source: str,
        target: str,
        split: str,
        name: str,
        max_characters: int = MAX_CHARACTERS,
    ) -> None:
        path, forwards = _require_table(folder, f"{{}}-{{}}.{split}.tsv", source, target)
        super().__init__(path, int(not forwards), int(forwards), max_characters)
        self.name = f"{name} {source}-{target} {split}"


class NamedTable(Table):
    """The table of a folder whose file name is `pattern` with the two languages, such as "massive.{}-{}.tsv", or the
    table of the other direction.

    Raises ValueError where the folder has no such table.
    """

    def __init__(
        self,
        folder: str | Path,
        pattern: str,
        name: str,
        source: str,
        target: str,
        max_characters: int = MAX_CHARACTERS,
    ) -> None:
        path, forwards = _require_table(folder, pattern, source, target)
        super().__init__(path, int(not forwards), int(forwards), max_characters)
        self.name = f"{name} {source}-{target}"


def has_split(folder: str | Path, source: str, target: str, split: str) -> bool:
    return _find_table(folder, f"{{}}-{{}}.{split}.tsv", source, target) is not None


def _find_table(folder: str | Path, pattern: str, source: str, target: str) -> tuple[Path, bool] | None:
    """Return the table whose file name is `pattern` with the two languages, and whether it is in that direction."""
    for forwards, languages in ((True, (source, target)), (False, (target, source))):
        for packed in ("", ".gz"):
            if (path := Path(folder) / f"{pattern.format(*languages)}{packed}").is_file():
                return path, forwards
    return None


def _require_table(folder: str | Path, pattern: str, source: str, target: str) -> tuple[Path, bool]:
    found = _find_table(folder, pattern, source, target)
    if found is None:
        missing = quoted(pattern.format(source, target))
        raise ValueError(f"There is no {missing}, plain or gzipped, in {short(folder)}.")
    return found


def language_pairs(folder: str | Path) -> list[tuple[str, str]]:
    """The languages of the tables to train on in `folder`, each pair once."""
    matches = (re.fullmatch(r"(\w+)-(\w+)\.train\.tsv(\.gz)?", path.name) for path in Path(folder).glob("*.train.tsv*"))
    return sorted({(match[1], match[2]) for match in matches if match})


def tatoeba_folder() -> Path:
    """Where Tatoeba's sentences lie: HEADLIGHT_TATOEBA, or data/tatoeba."""
    return Path(os.environ.get("HEADLIGHT_TATOEBA") or folders.data() / "tatoeba")


def everyday_folder() -> Path:
    """Where more everyday text lies, a table for each source: HEADLIGHT_EVERYDAY, or data/everyday."""
    return Path(os.environ.get("HEADLIGHT_EVERYDAY") or folders.data() / "everyday")
