"""Multi30k: 31,000 image captions in English, German, French and Czech (Elliott et al., 2016).

The captions are from Flickr30k, and are for research and education.
"""

import hashlib
import http.client
import os
import urllib.request
from pathlib import Path

from headlight import folders
from headlight.corpora.files import TextPair
from transformer.access import require_private, require_readable
from transformer.quoting import quoted, short

# A commit rather than a branch, so that everybody gets the same files.
COMMIT = "a3d2e0d26b56f3846f66a952536ffed4e401d05a"
DEFAULT_URL = f"https://raw.githubusercontent.com/multi30k/dataset/{COMMIT}/data/task1/raw/"
SHA256 = {
    "train.cs.gz": "a65adb8b32e3bc664f21ecba7a6e7f6950fd1f405e135f7c312faabdb6255077",
    "train.de.gz": "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
    "train.en.gz": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    "train.fr.gz": "622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c",
    "val.cs.gz": "b63226e05c4bd5dd6a42897d74b86a1b9d2c31498252c572b1ea7f7996927fcc",
    "val.de.gz": "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
    "val.en.gz": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    "val.fr.gz": "ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9",
    "test_2016_flickr.cs.gz": "200a4a74cc9560f051924abb9803be008d1908d77f747e9141aeb86dfd2797f1",
    "test_2016_flickr.de.gz": "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
    "test_2016_flickr.en.gz": "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    "test_2016_flickr.fr.gz": "6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90",
}
MAX_DOWNLOAD_BYTES = 2**20  # the largest file has 637,044
LANGUAGES = ("cs", "de", "en", "fr")
FILES = {"train": "train", "validation": "val", "test": "test_2016_flickr"}


class Multi30k(TextPair):
    """One split ("train", "validation", "test") between two languages.

    `folder` defaults to HEADLIGHT_MULTI30K, or to data/multi30k; missing files are downloaded into data/multi30k.
    """

    def __init__(self, folder: str | Path | None, source: str, target: str, split: str = "train") -> None:
        for language in (source, target):
            if language not in LANGUAGES:
                raise ValueError(f"Multi30k has no language {quoted(language)}; it has {', '.join(LANGUAGES)}.")
        if split not in FILES:
            raise ValueError(f"Multi30k has no split {quoted(split)}; it has {', '.join(FILES)}.")
        source_path, target_path = (_path(folder, f"{FILES[split]}.{language}") for language in (source, target))
        super().__init__(source_path, target_path)
        self.name = f"Multi30k {source}-{target} {split}"


def default_folder() -> Path:
    """Return the default folder of Multi30k."""
    return Path(os.environ.get("HEADLIGHT_MULTI30K") or folders.data() / "multi30k")


def _path(folder: str | Path | None, name: str) -> Path:
    """Return the file, plain or gzipped; a missing file is downloaded unless a folder was chosen."""
    is_chosen = folder or os.environ.get("HEADLIGHT_MULTI30K")
    directory = Path(folder) if folder else default_folder()
    require_readable(directory)
    for path in (directory / name, directory / f"{name}.gz"):
        if path.is_file():
            return path
    if is_chosen:
        raise ValueError(
            f"There is no Multi30k file {name} or {name}.gz in {short(directory)}; leave the folder out to download it."
        )
    return fetch(directory, f"{name}.gz", DEFAULT_URL)


def fetch(folder: Path, name: str, base_url: str) -> Path:
    """Download a file that SHA256 lists into `folder`. Raises ValueError where its checksum differs."""
    require_private()
    url = base_url.rstrip("/") + "/" + name
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            content = answer.read(MAX_DOWNLOAD_BYTES + 1)
        digest = hashlib.sha256(content).hexdigest()
        if digest != SHA256[name]:
            raise ValueError(f"the download has the SHA-256 {digest}, not {SHA256[name]}")
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise ValueError(
            f"Multi30k cannot be downloaded from {url} ({error}); "
            f"put its files into {short(folder)}, or set HEADLIGHT_MULTI30K to their folder."
        ) from None
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f"{name}.{os.getpid()}.tmp"
    temporary.write_bytes(content)
    os.replace(temporary, folder / name)
    return folder / name
