"""A small Hugging Face hub on the loopback: what files a model has, each of them, and what is uploaded."""

import base64
import hashlib
import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from huggingface_hub import constants

REVISION = "a" * 40


class Hub(BaseHTTPRequestHandler):
    """The addresses that a download asks for (what files there are, and each of them), and those of an upload."""

    files: dict[str, dict[str, bytes]] = {}
    sizes: dict[str, int] = {}  # announced instead of the true ones
    refused: dict[str, tuple[int, str]] = {}  # models by name: the status and the error code that a request gets
    cut: dict[str, int] = {}  # files of which so many bytes are sent, and the connection is closed
    shortened: dict[str, int] = {}  # files of which so many bytes are sent as if these were all
    asked: list[str] = []
    tokens: set[str | None] = set()  # what came as a token
    created: list[dict[str, object]] = []
    commits: list[tuple[dict[str, object], dict[str, bytes]]] = []  # the header, and the files
    large: dict[str, bytes] = {}  # uploaded through LFS, by SHA-256
    metadata: list[str] = []  # the model cards that were sent to be checked

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self._answer(with_body=True)

    def do_PUT(self) -> None:
        body = self._body()
        assert hashlib.sha256(body).hexdigest() == self.path.removeprefix("/storage/")
        self.large[self.path.removeprefix("/storage/")] = body
        self._send(b"", True)

    def do_POST(self) -> None:
        self.asked.append(self.path)
        self.tokens.add(self.headers["Authorization"])
        body, path = self._body(), self.path.split("?")[0]
        name = path.removeprefix("/api/models/").rsplit("/", 2)[0]
        if name in self.refused:
            return self._refuse(*self.refused[name])
        origin = f"http://{self.headers['Host']}"
        answer: dict[str, object]
        if path == "/api/repos/create":
            self.created.append(values := json.loads(body))
            answer = {"url": f"{origin}/{values['organization']}/{values['name']}"}
        elif path == "/api/validate-yaml":
            self.metadata.append(json.loads(body)["content"])
            answer = {"errors": [], "warnings": []}
        elif path.endswith("/preupload/main"):
            asked = [file["path"] for file in json.loads(body)["files"]]
            modes = {file: "lfs" if file.endswith((".safetensors", ".gz")) else "regular" for file in asked}
            answer = {"files": [{"path": f, "uploadMode": m, "shouldIgnore": False} for f, m in modes.items()]}
        elif path.endswith("/info/lfs/objects/batch"):
            objects = [
                {**entry, "actions": {"upload": {"href": f"{origin}/storage/{entry['oid']}"}}}
                for entry in json.loads(body)["objects"]
            ]
            answer = {"transfer": "basic", "objects": objects}
        else:
            assert path.endswith("/commit/main"), path
            lines = [json.loads(line) for line in body.splitlines()]
            self.commits.append((lines[0]["value"], {k: v for line in lines[1:] for k, v in self._committed(line)}))
            answer = {"commitUrl": f"{origin}/{name}/commit/{REVISION}", "commitOid": REVISION, "success": True}
        self._send(json.dumps(answer).encode(), True)

    def _committed(self, line: dict[str, dict[str, str]]) -> Iterator[tuple[str, bytes]]:
        value = line["value"]
        yield value["path"], base64.b64decode(value["content"]) if "content" in value else self.large[value["oid"]]

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        whole = b""
        while size := int(self.rfile.readline(), 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return whole

    def _answer(self, with_body: bool) -> None:
        path = self.path.split("?")[0]
        for name, (status, code) in self.refused.items():
            if path.startswith((f"/api/models/{name}", f"/{name}/")):
                return self._refuse(status, code)
        for name, files in self.files.items():
            if path in (f"/api/models/{name}", f"/api/models/{name}/revision/main", f"/api/models/{name}/revision/v1"):
                siblings = [{"rfilename": f, "size": self.sizes.get(f, len(b))} for f, b in files.items()]
                body = json.dumps({"id": name, "modelId": name, "sha": REVISION, "siblings": siblings}).encode()
                return self._send(body, with_body)
            if path.startswith(f"/api/models/{name}/revision/"):
                return self._refuse(404, "RevisionNotFound")
            for revision in ("main", "v1", REVISION):
                file = path.removeprefix(f"/{name}/resolve/{revision}/")
                if file in files:
                    return self._send(files[file], with_body, file)
        self._refuse(404, "RepoNotFound")

    def _refuse(self, status: int, code: str) -> None:
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, body: bytes, with_body: bool, file: str = "") -> None:
        self.send_response(200)
        sent = body[: self.shortened.get(file)] if with_body else body
        self.send_header("Content-Length", str(len(sent)))
        self.send_header("ETag", f'"{hashlib.sha1(body).hexdigest()}"')
        self.send_header("X-Repo-Commit", REVISION)
        self.end_headers()
        if with_body:
            self.wfile.write(sent[: self.cut.get(file)])
            self.close_connection = self.close_connection or file in self.cut

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    own_cache(tmp_path, monkeypatch)
    for fact in (Hub.files, Hub.sizes, Hub.refused, Hub.cut, Hub.shortened, Hub.asked, Hub.tokens):
        fact.clear()
    for uploaded in (Hub.created, Hub.commits, Hub.large, Hub.metadata):
        uploaded.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)  # as the other tests want it
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)  # this hub takes large files by LFS


def nobody_listens() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"
