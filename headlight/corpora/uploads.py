"""Uploaded files: saved under a safe name, or refused with the line and the reason."""

import gzip
import os
import re
import zlib
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import BinaryIO

from headlight.corpora.corpora import JsonLines, TableCorpus, TextPair, open_file
from headlight.corpora.pairs import Corpus, Report
from transformer.access import require_private
from transformer.files import open_regular
from transformer.quoting import short

MAX_UPLOAD_BYTES = 2**30  # a larger corpus is named by its path instead
MAX_REJECTED_SHARE = 0.1  # of the lines; with more, the file has another format

_START_BYTES = 2**20  # of a file, searched for signs of a binary format
_MAGIC = {
    b"PK\x03\x04": "a zip file (or an Office document); unpack it, or save it as text",
    b"%PDF": "a PDF; save its text",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"\xd0\xcf\x11\xe0": "an Office document; save it as text",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
}
_REASONS = {
    "undecodable source": "is not UTF-8 text; save the file as UTF-8",
    "undecodable target": "is not UTF-8 text; save the file as UTF-8",
    "empty source": "has nothing on the source side",
    "empty target": "has nothing on the target side",
    "missing column": "is missing one of the two columns",
    "empty line": "is empty",
    "bad row": "is not a row of a table",
    "bad JSON": "is not a JSON object",
    "not text": "contains something other than text",
    "too long": "is too long for a sentence",
}


def save_upload(file: BinaryIO, name: str, folder: str | Path) -> Path:
    """Copy an upload in pieces into a new folder in `folder`, under its own name without unsafe characters.

    Raises ValueError where it is larger than MAX_UPLOAD_BYTES, and on a public server.
    """
    require_private()
    stem, *endings = re.sub(r"[^\w.-]", "_", name.replace("\\", "/").rpartition("/")[2]).lstrip(".").split(".")
    for number in count(1):
        upload_folder = Path(folder) / str(number)
        try:
            upload_folder.mkdir(parents=True)
        except FileExistsError:
            continue
        break
    path = upload_folder / ".".join([(stem or "upload")[:100], *endings])
    try:
        with open(path, "xb") as target:
            while piece := file.read(2**20):
                if target.tell() + len(piece) > MAX_UPLOAD_BYTES:
                    raise _too_large(f"{short(name)} has over")
                target.write(piece)
    except BaseException:
        remove(path)
        raise
    return path


def _too_large(start: str) -> ValueError:
    return ValueError(f"{start} {MAX_UPLOAD_BYTES:,} bytes; copy it to this machine, and give its path.")


def remove(path: Path) -> None:
    """Remove an upload that `save_upload` wrote, with its folder."""
    path.unlink(missing_ok=True)
    with suppress(OSError):
        path.parent.rmdir()


def check_corpus(spec: str) -> Report:
    """Read the corpus in the files that `spec` names, in one of the forms of `open_corpus`, to its end.

    Raises ValueError for files that are binary, empty, one-sided, misaligned, too large, or in another encoding. A few
    bad lines are accepted: the report lists them, and training leaves them out.
    """
    corpus = open_file(spec)
    for path in _paths(corpus):
        _require_text(path)
    for _ in corpus:
        pass
    report = corpus.report
    if isinstance(corpus, TextPair) and (extra := report.rejected["no counterpart"]):
        first = report.read - extra + 1
        raise ValueError(
            f"{short(corpus.source_path)} and {short(corpus.target_path)} do not have the same number of lines: "
            f"from line {first:,} on, one of them has {extra:,} more. Line for line, they must translate each other."
        )
    rejected = report.rejected.total()
    if rejected > MAX_REJECTED_SHARE * report.read:
        reason, many = report.rejected.most_common(1)[0]
        line = next((left_out.line for left_out in report.first if left_out.reason == reason), None)
        location = f"line {line:,}" if line else "a line"
        how_many = f" ({many:,} of its {report.read:,} lines are like that)" if many > 1 else ""
        raise ValueError(f"{_rejecting_file(corpus, reason)}: {location} {_REASONS[reason]}{how_many}.")
    return report


def _rejecting_file(corpus: Corpus, reason: str) -> str:
    """Return the file with the lines that were rejected for that reason, or both files where it can't be told."""
    if isinstance(corpus, TextPair) and reason.endswith((" source", " target")):
        return short(corpus.source_path if reason.endswith(" source") else corpus.target_path)
    return corpus.report.name


def _paths(corpus: Corpus) -> list[Path]:
    if isinstance(corpus, TextPair):
        return [Path(corpus.source_path), Path(corpus.target_path)]
    assert isinstance(corpus, TableCorpus | JsonLines)
    return [Path(corpus.path)]


def _require_text(path: Path) -> None:
    start, size = _start_and_size(path)
    file_name = short(path)
    if size > MAX_UPLOAD_BYTES:
        raise _too_large(f"{file_name} holds more than")
    if not start.strip():
        raise ValueError(f"{file_name} is empty.")
    for magic, kind in _MAGIC.items():
        if start.startswith(magic):
            raise ValueError(f"{file_name}, line 1: this is {kind}.")
    if b"\0" in start:
        line = start[: start.index(b"\0")].count(b"\n") + 1
        raise ValueError(f"{file_name}, line {line:,}: this is a binary file, not text.")


def _start_and_size(path: Path) -> tuple[bytes, int]:
    """Return the start and the size of the unpacked text: a small gzip file may hold any amount."""
    try:
        with open_regular(path) as file:
            start = file.read(_START_BYTES)
            if not start.startswith(b"\x1f\x8b"):
                return start, os.fstat(file.fileno()).st_size
            file.seek(0)
            unpacked = gzip.GzipFile(fileobj=file)
            start = unpacked.read(_START_BYTES)
            size = len(start)
            while size <= MAX_UPLOAD_BYTES and (piece := unpacked.read(2**20)):
                size += len(piece)
        return start, size
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise ValueError(f"{short(path)} is a damaged gzip file; download it again.") from None
    except OSError as error:
        raise ValueError(f"{short(path)} cannot be read: {error.strerror}.") from None
