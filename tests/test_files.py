"""Files that people name: only regular files are read, and reading always ends."""

from __future__ import annotations

import gzip
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headlight import checkpoints
from headlight.corpora import files
from headlight.corpora.corpora import open_file
from headlight.corpora.files import columns, lines
from headlight.corpora.pairs import Corpus, Pair, Rejected
from headlight.corpora.preview import preview
from headlight.corpora.uploads import check_corpus
from headlight.importers import sentencepiece_file, vocabularies
from headlight.importers.importing import examine
from tests.small import small_checkpoint
from transformer import Trace
from transformer.files import open_regular, read_json
from transformer.quoting import MAX_QUOTED_CHARACTERS, quoted, short
from transformer.yielding import on_yield

READERS: dict[str, Callable[[str], object]] = {
    "lines": lambda path: list(lines(path)),
    "a table": lambda path: list(open_file(f"{path}.tsv")),
    "two texts": lambda path: list(open_file(f"{path},{path}")),
    "columns": lambda path: columns(f"{path}.jsonl"),
    "an upload": lambda path: check_corpus(f"{path}.tsv"),
    "JSON": read_json,
    "a model": lambda path: examine(Path(f"{path}.safetensors")),
    "a trace": Trace.load,
    "a vocabulary": lambda path: vocabularies.open_vocabulary(Path(path), small_checkpoint().model.config),
    "pieces": lambda path: sentencepiece_file.read(Path(path)),
}


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("name", READERS)
def test_a_pipe_and_a_device_are_refused_in_a_sentence(tmp_path: Path, name: str, kind: str) -> None:
    """Nobody writes to the pipe, so opening it would block for ever, and reading the device would never end."""
    for ending in ("", ".tsv", ".jsonl", ".safetensors"):
        path = tmp_path / f"a{ending}"
        os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
    with pytest.raises(ValueError) as refused:
        READERS[name](str(tmp_path / "a"))
    assert "\n" not in str(refused.value)
    assert "pipe or a device" in str(refused.value) or "neither a file nor a folder" in str(refused.value)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "card.json", "model.safetensors"])
def test_a_pipe_in_a_model_is_refused(tmp_path: Path, name: str) -> None:
    checkpoints.save(small_checkpoint(), tmp_path)
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    with pytest.raises(ValueError):
        checkpoints.load(tmp_path)


def test_what_becomes_a_pipe_between_look_and_opening_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    regular, pipe, opened = tmp_path / "a", tmp_path / "b", os.open
    regular.touch()
    os.mkfifo(pipe)
    monkeypatch.setattr(os, "open", lambda path, *options: opened(pipe, *options))
    with pytest.raises(OSError, match="pipe or a device"):
        open_regular(regular)


def test_a_line_that_never_ends(tmp_path: Path) -> None:
    """A terabyte that takes no room on the disk."""
    path = tmp_path / "a.tsv"
    with open(path, "wb") as file:
        file.write(b"one\tun\n")
        file.truncate(10**12)
    begun = time.monotonic()
    with pytest.raises(ValueError, match=r"a.tsv, line 2 has over 100,000,000 bytes"):
        list(lines(path))
    assert time.monotonic() - begun < 20


@pytest.mark.slow
@pytest.mark.parametrize("line", [b"\n", b"one\tun\n"])
def test_a_gzip_file_that_unpacks_to_more_than_text_does(
    tmp_path: Path, line: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "HARMLESS_BYTES", 1_000_000)
    path = tmp_path / "a.tsv.gz"
    path.write_bytes(gzip.compress(line * 3_000_000))
    with pytest.raises(ValueError, match="more than text compresses into so small a file"):
        for _ in lines(path):
            pass
    path.write_bytes(gzip.compress(line * 10_000))  # as odd, but small
    assert len(list(lines(path))) == 10_000


def test_a_file_that_grows_is_read_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("0\n1\n")
    with open(path, "a", buffering=1) as growing:
        for read, _ in enumerate(lines(path), 1):  # noqa: B007
            assert read < 10
            growing.write("2\n" * 10_000)
    assert read < 10


def test_whoever_leaves_ends_the_preview() -> None:
    class Endless(Corpus):
        def rows(self) -> Iterator[Pair | Rejected]:
            while True:
                yield Rejected(1, "empty line")

    asked = 0

    def left() -> None:
        nonlocal asked
        asked += 1
        if asked > 100:
            raise InterruptedError

    with pytest.raises(InterruptedError), on_yield(left):
        preview(Endless("endless"))
    assert asked == 101


def test_refusals_quote_so_much_and_no_more(tmp_path: Path) -> None:
    long = "x" * 5000
    assert len(short(long)) == len(quoted(long)) == MAX_QUOTED_CHARACTERS and quoted("a") == "'a'"
    assert len(quoted([long] * 1000)) <= MAX_QUOTED_CHARACTERS and len(quoted(10**4000)) <= MAX_QUOTED_CHARACTERS
    asked = (lines, open_file, read_json, examine, Trace.load, lambda path: columns(f"{path}.tsv"), checkpoints.load)
    for ask in asked:
        with pytest.raises(ValueError) as refused:
            list(ask(f"{tmp_path}/{long}"))  # type: ignore[operator]
        assert len(str(refused.value)) < 700
