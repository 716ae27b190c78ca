import functools
import gzip
import hashlib
import http.server
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headlight.corpora import multi30k
from headlight.corpora.corpora import open_corpus
from headlight.corpora.multi30k import COMMIT, FILES, LANGUAGES, MAX_DOWNLOAD_BYTES, SHA256, Multi30k, fetch

HERE = os.environ.get("HEADLIGHT_MULTI30K")  # where the machine that runs the tests has the corpus
Server = tuple[Path, str, list[str]]  # its folder, its address, what was asked for


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide this machine's copy of the corpus, and the network."""
    monkeypatch.delenv("HEADLIGHT_MULTI30K", raising=False)
    monkeypatch.setattr(multi30k, "DEFAULT_URL", "http://127.0.0.1:9/")
    monkeypatch.chdir(tmp_path)


def fill(folder: Path, compress: Callable[[bytes], bytes] = gzip.compress, ending: str = ".gz") -> Path:
    folder.mkdir(parents=True)
    for name in FILES.values():
        for language in ("de", "en"):
            text = f"{name} {language} 1\n{name} {language} 2\n".encode()
            (folder / f"{name}.{language}{ending}").write_bytes(compress(text))
    return folder


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The public repository, on this machine, with short files whose checksums are known."""
    folder, asked = fill(tmp_path / "public"), list[str]()
    for path in folder.iterdir():
        monkeypatch.setitem(SHA256, path.name, hashlib.sha256(path.read_bytes()).hexdigest())

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            asked.append(self.path)

    service = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
    thread = threading.Thread(target=service.serve_forever)
    thread.start()
    yield folder, f"http://127.0.0.1:{service.server_port}/", asked
    service.shutdown()
    thread.join()
    service.server_close()


@pytest.mark.parametrize("split", FILES)
@pytest.mark.parametrize(("compress", "ending"), [(gzip.compress, ".gz"), (bytes, "")])
def test_reads_a_folder(tmp_path: Path, split: str, compress: Callable[[bytes], bytes], ending: str) -> None:
    corpus = Multi30k(fill(tmp_path / "here", compress=compress, ending=ending), "de", "en", split)
    assert [pair[1:3] for pair in corpus] == [
        (f"{FILES[split]} de {line}", f"{FILES[split]} en {line}") for line in (1, 2)
    ]


def test_folder_is_found_by_argument_then_environment_then_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, named, here = (fill(tmp_path / name) for name in ("given", "named", "data/multi30k"))
    assert Path(Multi30k(None, "de", "en").source_path).resolve().parent == here
    monkeypatch.setenv("HEADLIGHT_MULTI30K", str(named))
    assert Path(Multi30k(None, "de", "en").source_path).parent == named
    assert Path(Multi30k(given, "de", "en").source_path).parent == given


def test_opens_by_name_with_its_three_splits(tmp_path: Path) -> None:
    splits = open_corpus("multi30k:en-de", folder=fill(tmp_path / "here"))
    assert [next(iter(split)).source for split in splits if split] == [
        "train en 1",
        "val en 1",
        "test_2016_flickr en 1",
    ]


def test_unknown_languages_splits_and_missing_files_are_named(tmp_path: Path) -> None:
    folder = fill(tmp_path / "here")
    with pytest.raises(ValueError, match="'hi'.*cs, de, en, fr"):
        Multi30k(folder, "en", "hi")
    with pytest.raises(ValueError, match="'dev'.*train, validation, test"):
        Multi30k(folder, "en", "de", "dev")
    with pytest.raises(ValueError, match=r"train\.fr"):
        Multi30k(folder, "en", "fr")


def test_corpus_downloads_itself_when_no_folder_is_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: Server
) -> None:
    monkeypatch.setattr(multi30k, "DEFAULT_URL", server[1])
    public, _, asked = server
    assert len(list(Multi30k(None, "en", "de", "validation"))) == 2
    here = {path.name: path.read_bytes() for path in (tmp_path / "data/multi30k").iterdir()}
    assert here == {name: (public / name).read_bytes() for name in ("val.de.gz", "val.en.gz")}
    (tmp_path / "data/multi30k/val.en.gz").unlink()
    asked.clear()
    assert len(list(Multi30k(None, "en", "de", "validation"))) == 2
    assert asked == ["/val.en.gz"]  # what is there is not fetched again


def test_only_the_file_of_the_commit_is_kept(tmp_path: Path, server: Server) -> None:
    """A cut file, an error page, nothing, a file that opens and is another, and one that is recompressed."""
    public, url, _ = server
    good = (public / "val.en.gz").read_bytes()
    again = gzip.compress(gzip.decompress(good), compresslevel=1, mtime=1)
    for content in (good[:-5], b"<html>busy</html>", b"", gzip.compress(b"another\n"), again):
        (public / "val.en.gz").write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        with pytest.raises(ValueError, match=rf"val\.en\.gz .*{digest}, not {SHA256['val.en.gz']}.*HEADLIGHT_MULTI30K"):
            fetch(tmp_path / "got", "val.en.gz", url)
        assert not (tmp_path / "got").exists()
    (public / "val.en.gz").unlink()
    with pytest.raises(ValueError, match="404"):
        fetch(tmp_path / "got", "val.en.gz", url)


def test_what_is_downloaded_is_named_by_a_commit_and_known_by_its_checksum() -> None:
    assert len(COMMIT) == 40 and int(COMMIT, 16)
    assert set(SHA256) == {f"{name}.{language}.gz" for name in FILES.values() for language in LANGUAGES}
    assert all(len(value) == 64 and int(value, 16) for value in SHA256.values())


@pytest.mark.skipif(HERE is None, reason="HEADLIGHT_MULTI30K names no folder")
def test_the_checksums_are_those_of_the_corpus() -> None:
    assert HERE
    files = [path for path in Path(HERE).glob("*.gz") if path.name in SHA256]
    assert files and all(hashlib.sha256(path.read_bytes()).hexdigest() == SHA256[path.name] for path in files)


def answering(tmp_path: Path, answer: Callable[[http.server.BaseHTTPRequestHandler], None]) -> None:
    """Downloads from a server that answers so, and is refused."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as service:
        thread = threading.Thread(target=service.handle_request)
        thread.start()
        with pytest.raises(ValueError, match="cannot be downloaded"):
            fetch(tmp_path / "got", "val.en.gz", f"http://127.0.0.1:{service.server_port}")
        thread.join()
    assert not (tmp_path / "got").exists()


def test_answer_that_ends_early_is_no_file(tmp_path: Path) -> None:
    """The server announces more bytes than it sends."""

    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        content = gzip.compress(b"one\n")
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content) + 10))
        handler.end_headers()
        handler.wfile.write(content)

    answering(tmp_path, answer)


def test_answer_without_an_end_is_read_no_further_than_the_largest_file(tmp_path: Path) -> None:
    sent = 0

    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        nonlocal sent
        handler.send_response(200)
        handler.end_headers()
        try:
            while sent < 64 * MAX_DOWNLOAD_BYTES:
                sent += handler.wfile.write(bytes(2**16))
        except OSError:  # nobody listens any more
            pass

    answering(tmp_path, answer)
    assert MAX_DOWNLOAD_BYTES < sent < 32 * MAX_DOWNLOAD_BYTES  # what the system holds on its way comes on top


def test_without_network_one_sentence_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"cannot be downloaded from http.*put its files into"):
        fetch(tmp_path / "got", "val.en.gz", "http://127.0.0.1:9/")
