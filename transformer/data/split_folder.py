"""A folder with the splits of a corpus as tables, SOURCE-TARGET.train.tsv.gz and so on: Tatoeba's form here."""

from __future__ import annotations

import os
import re
from pathlib import Path

from transformer import folders
from transformer.data.files import Table
from transformer.data.pairs import MAX_CHARACTERS
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
        path = _table(folder, source, target, split)
        if path is None:
            missing = quoted(f"{source}-{target}.{split}.tsv")
            raise ValueError(f"There is no {missing}, plain or gzipped, in {short(folder)}.")
        forwards = path.name.startswith(f"{source}-{target}.")
        super().__init__(path, int(not forwards), int(forwards), max_characters)
        self.name = f"{name} {source}-{target} {split}"


def has_split(folder: str | Path, source: str, target: str, split: str) -> bool:
    return _table(folder, source, target, split) is not None


def _table(folder: str | Path, source: str, target: str, split: str) -> Path | None:
    """The table of that split, in this direction or the other."""
    names = (f"{a}-{b}.{split}.tsv{packed}" for a, b in ((source, target), (target, source)) for packed in ("", ".gz"))
    return next((path for name in names if (path := Path(folder) / name).is_file()), None)


def language_pairs(folder: str | Path) -> list[tuple[str, str]]:
    """The languages of the tables to train on in `folder`, each pair once."""
    matches = (re.fullmatch(r"(\w+)-(\w+)\.train\.tsv(\.gz)?", path.name) for path in Path(folder).glob("*.train.tsv*"))
    return sorted({(match[1], match[2]) for match in matches if match})


def tatoeba_folder() -> Path:
    """Where Tatoeba's sentences lie: HEADLIGHT_TATOEBA, or data/tatoeba."""
    return Path(os.environ.get("HEADLIGHT_TATOEBA") or folders.data() / "tatoeba")
