"""An archive becomes plain files in one folder, or is refused and leaves nothing behind."""

import gzip
import io
import os
import stat
import struct
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headlight.importers.limits import MAX_COMPRESSION_RATIO, MAX_FILES
from tests.checkpoints.opening import flat_refusal, folder, refusal, tarred, zipped
from transformer.checkpoint.weights import HARMLESS_BYTES, MAX_WEIGHTS_BYTES


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Check that refused archives leave no files, neither in the temporary folder nor beside the archive."""
    room = tmp_path / "room"
    (room / "temporary").mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(room / "temporary"))
    yield
    assert [path.name for path in room.rglob("*")] == ["temporary"]
    assert not Path("/tmp/headlight-escaped").exists()


def tar_of(path: Path, *members: tuple[str, bytes, dict]) -> Path:
    with tarfile.open(path, "w") as archive:
        for name, content, fields in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            for field, value in fields.items():
                setattr(info, field, value)
            archive.addfile(info, io.BytesIO(content))
    return path


NAMES = [
    "../escaped", "a/../../escaped", "..", "/tmp/headlight-escaped", "//tmp/headlight-escaped", "..\\escaped",
    "C:/escaped", "C:escaped", "a\nb", "x/" * 20 + "deep",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    for path in (zipped(tmp_path / "a.zip", {name: b"x"}), tar_of(tmp_path / "a.tar", (name, b"x", {}))):
        assert "not a plain path" in str(refusal(path)), path


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, b"S", b"?"])
def test_a_link_or_a_device_in_a_tar(tmp_path: Path, kind: bytes) -> None:
    path = tar_of(tmp_path / "a.tar", ("model.safetensors", b"", {"type": kind, "linkname": "/etc/passwd"}))
    refusal(path)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO])
def test_a_link_or_a_device_in_a_zip(tmp_path: Path, kind: int) -> None:
    info = zipfile.ZipInfo("model.safetensors")
    info.external_attr = (kind | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    assert "link or a device" in str(refusal(tmp_path / "a.zip"))


def test_a_file_through_a_link(tmp_path: Path) -> None:
    """The classic: a link to a folder outside, then a file in it."""
    link = ("sub", b"", {"type": tarfile.SYMTYPE, "linkname": str(tmp_path)})
    refusal(tar_of(tmp_path / "a.tar", link, ("sub/escaped", b"x", {})))
    assert not (tmp_path / "escaped").exists()


@pytest.mark.parametrize("names", [("a.pt", "a.pt"), ("a.pt", "A.PT"), ("a", "a/b")])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_files_at_one_place(tmp_path: Path, names: tuple[str, str]) -> None:
    refusal(tar_of(tmp_path / "a.tar", *((name, b"x", {}) for name in names)))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    refusal(tmp_path / "a.zip")


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    zeros = {"model.safetensors": bytes(2 * HARMLESS_BYTES)}
    assert "which no model does" in str(flat_refusal(zipped(tmp_path / "a.zip", zeros)))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "model.safetensors").write_bytes(bytes(2 * HARMLESS_BYTES))
    assert "which no model does" in str(refusal(tarred(tmp_path / "a.tar.gz", tmp_path / "in", "w:gz")))


def test_what_is_packed_tighter_than_a_model_but_small_is_no_bomb(tmp_path: Path) -> None:
    content = b"[" + b"0," * 500_000 + b"0]"
    path = zipped(tmp_path / "a.zip", {"vocab.json": content})
    assert len(content) > MAX_COMPRESSION_RATIO * path.stat().st_size
    assert "vocab.json is not a weights file" in str(refusal(path))


def test_a_bomb_of_many_files(tmp_path: Path) -> None:
    names = [f"{n}.json" for n in range(MAX_FILES + 1)]
    assert "files or more" in str(refusal(zipped(tmp_path / "a.zip", dict.fromkeys(names, b""))))
    assert "files or more" in str(refusal(tar_of(tmp_path / "a.tar", *((name, b"", {}) for name in names))))


def test_many_empty_folders_are_no_reason(tmp_path: Path) -> None:
    folders = [(f"f{n}", b"", {"type": tarfile.DIRTYPE}) for n in range(300)]
    assert "holds no PyTorch weights" in str(refusal(tar_of(tmp_path / "a.tar", *folders)))


def lie(path: Path, old: int, new: int) -> Path:
    """Says another size, everywhere in a zip's own headers."""
    content = path.read_bytes()
    assert content.count(struct.pack("<I", old)) >= 2
    path.write_bytes(content.replace(struct.pack("<I", old), struct.pack("<I", new)))
    return path


def test_a_zip_that_says_less_or_more_than_it_holds(tmp_path: Path) -> None:
    content = os.urandom(3_000) * 20
    for size in (10, 59_999, 60_001, 10**6):
        refusal(lie(zipped(tmp_path / f"{size}.zip", {"model.pt": content}), len(content), size))
    refusal(lie(zipped(tmp_path / "a.zip", {"model.pt": content}), len(content), 2**32 - 2))


def tar_header(name: str, size: int, kind: bytes) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    return info.tobuf(tarfile.GNU_FORMAT)


LIARS: dict[str, Callable[[], bytes]] = {
    "declares more than the limit": lambda: tar_header("model.pt", MAX_WEIGHTS_BYTES + 1, b"0"),
    "ends before the file does": lambda: tar_header("model.pt", 10_000, b"0") + bytes(512),
    "a name without end": lambda: tar_header("x", 2**33, b"L") + b"n" * 2**20,
    "notes without end": lambda: tar_header("x", 2**33, b"x") + b"1" * 2**20,
    "notes on notes": lambda: (tar_header("x", 512, b"x") + b"16 comment=hello\n".ljust(512, b"\0")) * 2_000,
    "global notes": lambda: tar_header("x", 2**20, b"g") + b"1" * 2**20,
    "a negative size": lambda: tar_header("model.pt", 0, b"0").replace(b"00000000000\0", b"\xff" * 12, 1),
    "holes": lambda: sparse(),
}


def sparse() -> bytes:
    """A file of holes, whose map is in notes of its own."""
    notes = b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n27 GNU.sparse.name=model\n31 GNU.sparse.realsize=9999999\n"
    body = b"1000000000\n" + b"1\n" * 500_000
    return (
        tar_header("x", len(notes), b"x")
        + notes.ljust(512, b"\0")
        + tar_header("model.pt", len(body), b"0")
        + body
        + bytes(512)
    )


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", list(LIARS))
def test_a_tar_that_lies(tmp_path: Path, name: str, packed: bool) -> None:
    content = LIARS[name]() + bytes(1024)
    path = tmp_path / "a.tar"
    path.write_bytes(gzip.compress(content) if packed else content)
    flat_refusal(path)


def test_a_table_of_contents_without_end(tmp_path: Path) -> None:
    names = {f"{'n' * 200}{n}": b"" for n in range(20_000)}
    assert "metadata is larger" in str(flat_refusal(zipped(tmp_path / "a.zip", names)))


def test_a_locked_archive(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"model.pt": b"x"}, zipfile.ZIP_STORED)
    content = bytearray(path.read_bytes())
    content[content.rindex(b"PK\1\2") + 8] |= 1
    path.write_bytes(content)
    assert "encrypted" in str(refusal(path))


def test_damaged_archives(tmp_path: Path) -> None:
    of = folder(tmp_path / "model")
    for path in (
        zipped(tmp_path / "a.zip", {"model.pt": (of / "model.safetensors").read_bytes()}),
        tarred(tmp_path / "a.tar", of),
        tarred(tmp_path / "a.tar.gz", of, "w:gz"),
    ):
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2])
        refusal(path)
