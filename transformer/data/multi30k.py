"""Multi30k: 31,000 image captions in English, German, French and Czech (Elliott et al., 2016).

For research and education; the captions stem from Flickr30k.
"""

import gzip
import http.client
import os
import urllib.request
import zlib
from collections.abc import Iterable
from pathlib import Path

from transformer.access import require_private, require_readable
from transformer.data.files import TextPair
from transformer.data.pairs import MAX_CHARACTERS
from transformer.quoting import quoted, short

DEFAULT_URL = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw/"
LANGUAGES = ("cs", "de", "en", "fr")
FILES = {"train": "train", "validation": "val", "test": "test_2016_flickr"}


class Multi30k(TextPair):
    """One split ("train", "validation", "test") between two languages.

    Without a `folder`, HEADLIGHT_MULTI30K names it, or it is data/multi30k; files that are in neither are
    downloaded into data/multi30k.
    """

    def __init__(
        self,
        folder: str | Path | None,
        source: str,
        target: str,
        split: str = "train",
        max_characters: int = MAX_CHARACTERS,
    ) -> None:
        for language in (source, target):
            if language not in LANGUAGES:
                raise ValueError(f"Multi30k has no language {quoted(language)}; it has {', '.join(LANGUAGES)}.")
        if split not in FILES:
            raise ValueError(f"Multi30k has no split {quoted(split)}; it has {', '.join(FILES)}.")
        source_path, target_path = (_path(folder, f"{FILES[split]}.{language}") for language in (source, target))
        super().__init__(source_path, target_path, max_characters)
        self.name = f"Multi30k {source}-{target} {split}"


def usual_folder() -> Path:
    """Where it lies when nobody says so."""
    return Path(os.environ.get("HEADLIGHT_MULTI30K") or "data/multi30k")


def _path(folder: str | Path | None, name: str) -> Path:
    """The file in its folder, plain or gzipped; downloaded if nobody said where it should be."""
    given = folder or os.environ.get("HEADLIGHT_MULTI30K")
    place = Path(folder) if folder else usual_folder()
    require_readable(place)
    for path in (place / name, place / f"{name}.gz"):
        if path.is_file():
            return path
    if given:
        raise ValueError(
            f"There is no Multi30k file {name} or {name}.gz in {short(place)}; name no folder to download it."
        )
    return _fetch(place, f"{name}.gz", DEFAULT_URL)


def download(folder: str | Path, languages: Iterable[str], base_url: str = DEFAULT_URL) -> None:
    """Fetch what is missing of all splits into `folder`. Raises ValueError when it cannot be had whole."""
    for language in languages:
        for name in FILES.values():
            if not (Path(folder) / f"{name}.{language}.gz").is_file():
                _fetch(Path(folder), f"{name}.{language}.gz", base_url)


def _fetch(folder: Path, name: str, base_url: str) -> Path:
    require_private()
    url = base_url.rstrip("/") + "/" + name
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            content = answer.read()  # raises when the answer ends before its announced length
        if not gzip.decompress(content):  # which fails for an error page, or a file that was cut on its way
            raise EOFError("the file is empty")
    except (OSError, EOFError, ValueError, zlib.error, http.client.HTTPException) as error:
        raise ValueError(
            f"Multi30k cannot be downloaded from {url} ({error}); "
            f"put its files into {folder}, or name their folder in HEADLIGHT_MULTI30K."
        ) from None
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f"{name}.{os.getpid()}.tmp"
    temporary.write_bytes(content)
    os.replace(temporary, folder / name)
    return folder / name
