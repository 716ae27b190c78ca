import gzip
import io
import zipfile
from pathlib import Path

import pytest

from headlight.corpora import files, uploads
from headlight.corpora.corpora import open_file
from headlight.corpora.files import columns
from headlight.corpora.uploads import check_corpus, remove, save_upload

GOOD = "one\tun\ntwo\tdeux\nthree\ttrois\n"


def write(folder: Path, name: str, content: str | bytes) -> str:
    data = content if isinstance(content, bytes) else content.encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return str(folder / name)


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz"])
def test_a_good_file_is_reported(tmp_path: Path, name: str) -> None:
    report = check_corpus(write(tmp_path, name, GOOD))
    assert (report.read, report.accepted) == (3, 3)


def test_a_few_bad_lines_are_no_reason_to_refuse_a_file(tmp_path: Path) -> None:
    lines = ["x\ty"] * 99
    lines[41] = "only one side"
    report = check_corpus(write(tmp_path, "a.tsv", "\n".join(lines)))
    assert report.accepted == 98 and report.first == [(42, "missing column")]


def archive() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("a.tsv", GOOD)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.tsv", b"", "a.tsv is empty"),
        ("a.tsv", b" \n\n", "a.tsv is empty"),
        ("a.tsv", GOOD.encode() + b"\x00\x01\x02\n", "a.tsv, line 4: this is a binary file"),
        ("a.tsv.gz", GOOD.encode() + b"\x00\x01\x02\n", "a.tsv.gz, line 4: this is a binary file"),
        ("a.csv", archive(), "line 1: this is a zip file"),
        ("a.csv", b"%PDF-1.7", "line 1: this is a PDF"),
        ("a.csv", b"\x89PNG\r\n", "line 1: this is a picture"),
        ("a.tsv", GOOD.encode("utf-16"), "line 1: this is UTF-16 text; save it as UTF-8"),
        ("a.tsv", "one\tun\nété\tsummer\n".encode("latin-1"), "line 2 is not UTF-8 text"),
        ("a.tsv", "one\t\ntwo\t\nthree\ttrois\n", "line 1 has nothing on the target side (2 of its 3 lines"),
        ("a.tsv", "one\ntwo\n", "line 1 is missing one of the two columns (2 of its 2 lines"),
        ("a.csv", "\n\n\none,un\n", "line 1 is empty (3 of its 4 lines"),
        ("a.jsonl", '{"source": "one", "target": "un"}\nnothing\n', "line 2 is not a JSON object"),
        ("a.jsonl", '{"source": "one", "target": 1}\n', "line 1 contains something other than text"),
        ("a.csv", "x" * 5000 + ",y\n", "line 1 is too long for a sentence"),
    ],
)
def test_what_is_no_corpus_is_refused_with_the_line_and_the_reason(
    tmp_path: Path, name: str, content: str | bytes, why: str
) -> None:
    with pytest.raises(ValueError) as error:
        check_corpus(write(tmp_path, name, content))
    assert why in str(error.value) and "\n" not in str(error.value)


def test_a_damaged_or_missing_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(GOOD.encode() * 100)[:40])
    with pytest.raises(ValueError, match="damaged gzip"):
        check_corpus(str(tmp_path / "a.tsv.gz"))
    with pytest.raises(ValueError, match="none.tsv cannot be read"):
        check_corpus(str(tmp_path / "none.tsv"))


def test_texts_of_different_lengths_are_misaligned_from_a_line_on(tmp_path: Path) -> None:
    source, target = write(tmp_path, "a.en", "x\n" * 100), write(tmp_path, "a.fr", "y\n" * 97)
    assert check_corpus(f"{source},{source}").accepted == 100
    for spec in (f"{source},{target}", f"{target},{source}"):
        with pytest.raises(ValueError, match="from line 98 on, one of them has 3 more"):
            check_corpus(spec)
    empty = write(tmp_path, "b.fr", "\n" * 50 + "y\n" * 50)
    with pytest.raises(ValueError, match=r"line 1 has nothing on the target side \(50 of its 100"):
        check_corpus(f"{source},{empty}")


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz"])
def test_gigabytes_are_refused_before_they_are_read(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compressed file is small; what it unpacks to is not."""
    monkeypatch.setattr(uploads, "MAX_UPLOAD_BYTES", 3_000_000)
    monkeypatch.setattr(uploads, "open_file", lambda spec: open_file(spec))
    path = write(tmp_path, name, b"one\tun\n" * 500_000)
    with pytest.raises(ValueError, match="holds more than 3,000,000 bytes"):
        check_corpus(path)
    with pytest.raises(ValueError, match="has over 3,000,000 bytes"):
        save_upload(io.BytesIO(b"x" * 3_000_001), "a.tsv", tmp_path / "kept")
    assert not list((tmp_path / "kept").iterdir())


@pytest.mark.parametrize("end", [b"", b"\n", b"\none\tun\n"])
def test_a_line_without_an_end_is_not_kept_in_memory(
    tmp_path: Path, end: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 3000)
    path = write(tmp_path, "a.tsv", b"zero\tz\n" + b"x" * 3000 * 5 + b"\ty" + end)
    lines = list(files.lines(path))
    assert lines[0] == "zero\tz" and lines[1] == "x" * 3000 and lines[2:] == ["one\tun"] * (end.count(b"\n") == 2)


def test_uploads_are_kept_under_safe_names_and_none_is_overwritten(tmp_path: Path) -> None:
    names = ["../../etc/passwd", "C:\\Users\\me\\a b.tsv", "a b.tsv", "..", ".hidden", "", "é<b>.csv.gz"]
    paths = [save_upload(io.BytesIO(name.encode()), name, tmp_path / "kept") for name in names]
    safe = ["passwd", "a_b.tsv", "a_b.tsv", "upload", "hidden", "upload", "é_b_.csv.gz"]
    assert [path.name for path in paths] == safe
    assert all(path.parent.parent == tmp_path / "kept" for path in paths)
    assert [path.read_bytes().decode() for path in paths] == names
    for path in paths:
        remove(path)
    assert not list((tmp_path / "kept").iterdir())


@pytest.mark.parametrize("wrong", [0, 1])
def test_of_two_files_the_one_that_is_no_utf_8_is_named(tmp_path: Path, wrong: int) -> None:
    contents = [b"\xe9t\xe9\n" if side == wrong else b"summer\n" for side in (0, 1)]
    files = [write(tmp_path, name, content) for name, content in zip(("a.en", "a.fr"), contents, strict=True)]
    with pytest.raises(ValueError) as error:
        check_corpus(",".join(map(str, files)))
    assert str(error.value) == f"{files[wrong]}: line 1 is not UTF-8 text; save the file as UTF-8."


def test_columns_are_offered_by_name(tmp_path: Path) -> None:
    assert columns(write(tmp_path, "a.tsv", "id\ten\tfr\n1\tone\tun\n")) == ["id", "en", "fr"]
    assert columns(write(tmp_path, "a.csv.gz", '"a,b",c\n')) == ["a,b", "c"]
    assert columns(write(tmp_path, "a.jsonl", '{"id": 1, "translation": {"en": "one", "fr": "un"}}\n')) == ["en", "fr"]
    assert columns(write(tmp_path, "b.tsv", "")) == []
    for content in ("", "nothing", "[" * 100_000):
        with pytest.raises(ValueError, match="line 1 has no columns"):
            columns(write(tmp_path, "b.jsonl", content))
