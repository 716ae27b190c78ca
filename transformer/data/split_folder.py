"""A folder with the splits of a corpus as tables, SOURCE-TARGET.train.tsv.gz and so on: Tatoeba's form here."""

from __future__ import annotations

import os
import re
from pathlib import Path

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
        folder = Path(folder)
        names = [f"{pair}.{split}.tsv{packed}" for pair in _directions(source, target) for packed in ("", ".gz")]
        found = next((file for file in names if (folder / file).is_file()), None)
        if found is None:
            raise ValueError(f"There is no {quoted(names[0])}, plain or gzipped, in {short(folder)}.")
        forwards = found.startswith(f"{source}-{target}.")
        super().__init__(folder / found, int(not forwards), int(forwards), max_characters)
        self.name = f"{name} {source}-{target} {split}"


def has_split(folder: str | Path, source: str, target: str, split: str) -> bool:
    return any(
        (Path(folder) / f"{pair}.{split}.tsv{packed}").is_file()
        for pair in _directions(source, target)
        for packed in ("", ".gz")
    )


def language_pairs(folder: str | Path) -> list[tuple[str, str]]:
    """The languages of the tables to train on in `folder`, each pair once."""
    found = (re.fullmatch(r"(\w+)-(\w+)\.train\.tsv(\.gz)?", path.name) for path in Path(folder).glob("*.train.tsv*"))
    return sorted({(match[1], match[2]) for match in found if match})


def _directions(source: str, target: str) -> tuple[str, str]:
    return f"{source}-{target}", f"{target}-{source}"


def tatoeba_folder() -> Path:
    """Where Tatoeba's sentences lie: HEADLIGHT_TATOEBA, or data/tatoeba."""
    return Path(os.environ.get("HEADLIGHT_TATOEBA", "data/tatoeba"))
