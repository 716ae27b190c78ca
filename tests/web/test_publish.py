"""What `publish` writes: one file, or a folder for a web server."""

import re
from pathlib import Path

import pytest

from headlight.web import publish

MODEL = "reverse"


def test_a_folder_has_the_page_and_the_model_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "page"
    written = publish.write_folder(MODEL, folder)
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert set(files) == {"index.html", "model.bin"}
    assert written == sum(map(len, files.values()))
    page = files["index.html"].decode()
    address = re.search(r'id="model" data-file="(.*?)"', page)
    assert address and address[1].startswith("model.bin?")
    assert "connect-src 'self'" in page
    # Written again it is the same; another model at the same place has another address.
    publish.write_folder(MODEL, folder)
    assert (folder / "index.html").read_text("utf-8") == page
    publish.write_folder("reverse-learned", folder)
    assert address[1] not in (folder / "index.html").read_text("utf-8")


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"has other files in it; name a folder that is new or empty"):
        publish.write_folder(MODEL, tmp_path)
    with pytest.raises(ValueError, match=r"thesis.txt is a file; name a folder, or write one file with --single"):
        publish.write_folder(MODEL, tmp_path / "thesis.txt")
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_single_page_reaches_no_address() -> None:
    assert "connect-src" not in publish.single_page(MODEL)


def test_a_single_page_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish, "MAX_FILE_BYTES", 100_000)
    message = r"The page with .* has \d\.\d MB, and may have 0\.1 MB; publish it as a folder"
    with pytest.raises(ValueError, match=message):
        publish.single_page(MODEL)
