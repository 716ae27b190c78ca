"""Tables of sentence pairs in a folder: the splits of a corpus (en-fr.train.tsv.gz), or one table."""

from __future__ import annotations

import os
import re
from pathlib import Path

from headlight import folders
from headlight.corpora.files import Table
from transformer.quoting import quoted, short


def open_table(folder: Path, pattern: str, languages: tuple[str, str], name: str) -> Table:
    """Open the table whose file name is `pattern` with the two languages, such as "{}-{}.train.tsv", in either order.

    Lines with the same source are several translations of it: references of one another. Raises ValueError where the
    folder has no such table.
    """
    for forwards, names in ((True, languages), (False, languages[::-1])):
        for ending in ("", ".gz"):
            if (path := folder / f"{pattern.format(*names)}{ending}").is_file():
                table = Table(path, int(not forwards), int(forwards))
                table.name = f"{name} {'-'.join(languages)}"
                return table
    raise ValueError(f"There is no {quoted(pattern.format(*languages))}, plain or gzipped, in {short(folder)}.")


def language_pairs(folder: str | Path) -> list[tuple[str, str]]:
    """Return the languages of the tables to train on in `folder`, each pair once."""
    matches = (re.fullmatch(r"(\w+)-(\w+)\.train\.tsv(\.gz)?", path.name) for path in Path(folder).glob("*.train.tsv*"))
    return sorted({(match[1], match[2]) for match in matches if match})


def tatoeba_folder() -> Path:
    """Return the folder of Tatoeba's sentences: HEADLIGHT_TATOEBA, or data/tatoeba."""
    return Path(os.environ.get("HEADLIGHT_TATOEBA") or folders.data() / "tatoeba")


def everyday_folder() -> Path:
    """Return the folder of other everyday text, a table for each source: HEADLIGHT_EVERYDAY, or data/everyday."""
    return Path(os.environ.get("HEADLIGHT_EVERYDAY") or folders.data() / "everyday")
