"""A hostile visitor uses every widget of every page of a public demonstration, and every parameter of its addresses.

The server runs from the folder of a Space, so a file that the Space lacks is noticed. An audit hook of Python
(tests/watched/sitecustomize.py) logs which files, processes and addresses the server opens meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import pytest
import tokenizers

from headlight import checkpoints
from headlight.tokenizer_json import trial
from tests.every_widget import Visitor, ask_server
from tests.small import small_checkpoint
from tests.small_run import finished_run, small_recipe
from tools import space
from tools.healthy import problem
from tools.serving import free_port, wait_until_healthy
from tools.streamlit_client import open_session
from transformer.tokenizers import Tokenizer
from ui.anatomy.view import AnatomyView
from ui.attention.view import AttentionView
from ui.checkpoints.view import CheckpointsView
from ui.decoding.view import DecodingView
from ui.heads.view import HeadsView
from ui.lessons.view import LessonsView
from ui.positions.view import PositionsView
from ui.state.view import PageView
from ui.training.view import TrainingView
from ui.why.view import WhyView

pytestmark = pytest.mark.slow  # starts the server for real
ROOT = Path(__file__).resolve().parents[1]
SECRET = "SWORDFISH"  # the content of the files that no visitor may read
PAGES: dict[str, type[PageView]] = {
    "training": TrainingView, "checkpoints": CheckpointsView, "": AttentionView, "decoding": DecodingView,
    "positions": PositionsView, "anatomy": AnatomyView, "heads": HeadsView, "why": WhyView, "lessons": LessonsView,
}  # fmt: skip
READ, CHANGE = {"open", "os.listdir", "os.scandir"}, {"os.remove", "os.rename", "os.mkdir", "os.rmdir", "shutil.rmtree"}
# Files of the system that libraries read for every visitor: the time zone, the memory, the processors.
SYSTEM = (
    "/dev/null", "/dev/urandom", "/etc/localtime", "/etc/mime.types", "/proc/meminfo", "/proc/stat",
    "/proc/self/stat",
)  # fmt: skip


@dataclass(frozen=True)
class Public:
    """A running public server, its folders, and its audit log."""

    url: str
    folder: Path
    log: Path

    @property
    def secret(self) -> Path:
        return self.folder / "secret"

    @property
    def program(self) -> Path:
        return self.folder / "space"

    @property
    def trial(self) -> str:
        """Return the one command that the server may start: the trial of an imported tokenizer."""
        child = self.program / trial._CHILD.relative_to(ROOT)
        return str([sys.executable, "-I", "-S", str(child), str(trial._LIBRARY)])

    def outside(self, since: int) -> list[list[str]]:
        """Return the forbidden events of the audit log from line `since` on."""
        lines = dict.fromkeys(self.log.read_text().splitlines()[since:])  # without repetitions
        return [line for line in map(json.loads, lines) if not self._allowed(line)]

    def mark(self) -> int:
        return len(self.log.read_text().splitlines())

    def _allowed(self, line: list[str]) -> bool:
        event, path = line[0], line[1] if len(line) > 1 else ""
        if event == "subprocess.Popen" and line[2] == self.trial:
            return True
        if event not in READ | CHANGE:
            return False
        if event == "open" and path.isdecimal():  # a descriptor that is open already
            return True
        real = Path(os.path.realpath(self.program / path))
        ours = [self.folder / name for name in ("checkpoints", "runs", "models", "tmp", "multi30k")]
        code = ("server", "pages", "ui", "headlight", "transformer")
        rooms = ("app.py", *code, ".streamlit")
        texts = ("docs/exercises", "docs/glossary.md", "lessons")  # that pages show
        program = [self.program / name for name in (*rooms, *texts)]
        python = [Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve(), ROOT / "tests" / "watched"]
        if event == "os.listdir" and real == self.program:  # where Python looks for what is imported
            return True
        if event in CHANGE:
            return real.is_relative_to(self.folder / "tmp") or real.is_relative_to(self.folder / "runs" / ".heads")
        return any(real.is_relative_to(place) for place in (*ours, *program, *python)) or str(real) in SYSTEM


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Public]:
    folder = tmp_path_factory.mktemp("public")
    for name in ("checkpoints", "runs", "models", "tmp", "multi30k", "secret"):
        (folder / name).mkdir()
    (folder / "elsewhere.txt").write_text(f"{SECRET}\n")
    (folder / "secret" / "accounts").write_text("".join(f"{SECRET} {n}\t{SECRET} {n}\n" for n in range(40)))
    shutil.copytree(ROOT / "checkpoints" / "reverse", folder / "checkpoints" / "reverse", ignore=_most_snapshots)
    checkpoints.save(small_checkpoint(), folder / "models" / "small")
    _import(folder / "models" / "imported")
    checkpoints.save(small_checkpoint(), folder / "models" / "leads-out")
    _lead_out(folder, "models/leads-out/card.json")
    port, log = free_port(), folder / "watched.jsonl"
    environment = os.environ | {
        **{f"HEADLIGHT_{name.upper()}": str(folder / name) for name in ("checkpoints", "runs", "models", "multi30k")},
        **{"HEADLIGHT_PUBLIC": "1", "HEADLIGHT_WATCHED": str(log), "HEADLIGHT_SECRET": str(folder / "secret")},
        **{"HOST": "127.0.0.1", "PORT": str(port), "TMPDIR": str(folder / "tmp"), "OMP_NUM_THREADS": "1"},
        "PYTHONPATH": str(ROOT / "tests" / "watched"),
        "PYTHONDONTWRITEBYTECODE": "1",  # it need not be able to write to its own folder
        "HF_HUB_OFFLINE": "0",  # the server itself is to keep from asking
    }
    command = [sys.executable, "-m", "tools.production"]
    served = Public(f"http://127.0.0.1:{port}", folder, log)
    space.build(served.program)
    _measure_few(served.program / "ui" / "heads")
    with open(folder / "log.txt", "wb") as output:
        process = subprocess.Popen(
            command, cwd=served.program, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        wait_until_healthy(process, served.url, folder / "log.txt", 120)
        assert asyncio.run(problem(served.url)) is None
        yield served
    finally:
        process.kill()
        process.wait()


def _measure_few(rooms: Path) -> None:
    """Let the Heads page measure over few sentences, which open the same files as hundreds and take less time."""
    smaller = {
        "view.py": {"SENTENCE_COUNTS": "(5, 10, 20)"},
        "measurements.py": {"PRUNING_SENTENCES": "5", "SNAPSHOT_SENTENCES": "5"},
    }
    for file, constants in smaller.items():
        text = (rooms / file).read_text("utf-8")
        for name, value in constants.items():
            text, found = re.subn(rf"(?m)^{name} = [^#\n]+", f"{name} = {value}  ", text)
            assert found == 1, name
        (rooms / file).write_text(text, "utf-8")


def _most_snapshots(folder: str, names: list[str]) -> list[str]:
    return sorted(name for name in names if name.startswith("step-"))[2:]


def _import(folder: Path) -> None:
    """Save a model with a Unigram tokenizer, as only imported models have."""
    pieces = [[token, -1.0] for token in ("[PAD]", "[UNK]", "[SOS]", "[EOS]", *"abcdefghijklmnopqrstuvwxyz")]
    inner = tokenizers.Tokenizer.from_str(json.dumps({"model": {"type": "Unigram", "vocab": pieces, "unk_id": 1}}))
    checkpoint = small_checkpoint(source_vocab_size=len(pieces), target_vocab_size=len(pieces))
    checkpoint.source_tokenizer = checkpoint.target_tokenizer = Tokenizer(inner)
    checkpoints.save(checkpoint, folder)


def _lead_out(folder: Path, name: str) -> None:
    """Replace a file by a symbolic link that leads out of the server's folders."""
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(folder / "elsewhere.txt")


def hostile(server: Public) -> list[str]:
    accounts = server.secret / "accounts"
    return [
        *(f"{accounts},{accounts}", f"../{server.secret.name}/accounts", "/dev/zero,/dev/zero", "hub:owner/name:en:fr"),
        *("multi30k:en-fr", "file", "hub", "upload", "1"),
    ]


Place = tuple[str, dict[str, str]]  # a page, and the parameters of its address


def places(page: str, texts: list[str], run: str) -> list[Place]:
    """Return addresses of a page: each corpus parameter with each hostile text, and all parameters at once with two."""
    names = [field.name for field in fields(PAGES[page])]
    most = {"data": len(texts), "corpus": 2}  # a corpus is one of a list
    data = [{name: text} for name, count in most.items() if name in names for text in texts[:count]]
    forms = [{name: "1", "start": run, "data": "file"} for name in ("new", "bring") if name in names]
    every = [{}, *data, *forms, *({name: text for name in names} for text in (texts[0], "1"))]
    return [(page, {"pairs": "5", **address}) for address in every]  # sentences over which heads are measured


def visit(server: Public, visitor: Visitor, there: list[Place]) -> list[list[str]]:
    """Let the visitor use these pages; return the forbidden events of the audit log."""
    since = server.mark()

    async def come() -> None:
        for page, address in there:
            async with open_session(server.url, page, **address) as session:
                await visitor.use_all(session, page)
        async with open_session(server.url) as session:
            await session.run()
            await ask_server(session, str(server.secret / "accounts"))
            await session.run()

    asyncio.run(come())
    return server.outside(since)


def test_imported_models_are_looked_at(server: Public) -> None:
    """The server tries the tokenizer of an imported model in a process of its own and starts nothing else."""
    since = server.mark()
    visitor = Visitor([], ["not a tokenizer that works here", "Something went wrong", "parameters"])

    async def come() -> None:
        for page in ("", "decoding", "heads", "checkpoints"):
            async with open_session(server.url, page, model="models/imported") as session:
                await session.run()
                visitor.look(session)

    asyncio.run(come())
    assert visitor.seen == {"parameters"}
    assert server.outside(since) == []
    did = map(json.loads, server.log.read_text().splitlines()[since:])
    assert server.trial in [line[2] for line in did if line[2:]]


def test_no_visitor_leads_a_public_server_out_of_its_folders(server: Public) -> None:
    """The visitor comes before there is a run, and again with two runs."""
    runs, texts, empty = server.folder / "runs", hostile(server), "There is no run yet"
    words = [SECRET, f"{runs}/", "start-training", "training-file", empty]
    visitor = Visitor(texts, words)
    outside = visit(server, visitor, [place for page in PAGES for place in places(page, texts, "done")])
    assert outside == [], outside[:10]
    assert visitor.seen == {empty}

    done = finished_run(server.folder / "tmp", "done", small_recipe(server.folder / "tmp", snapshots=2))
    shutil.copytree(done.path, runs / "done", symlinks=True)
    shutil.copytree(done.path, runs / "leads-out", symlinks=True)
    for name in ("log.txt", "metrics.jsonl"):
        _lead_out(server.folder, f"runs/leads-out/{name}")
    again = Visitor(texts, words, {used for used in visitor.used if used[0] != "training"})
    of_runs = [("training", {"run": name, "compare": "done,leads-out"}) for name in ("done", "leads-out")]
    others = [(page, {"model": "runs/done"}) for page in PAGES]
    # The first visit has asked for the other corpora.
    outside = visit(server, again, [*of_runs, *places("training", texts[:1], "done"), *others])
    assert outside == [], outside[:10]
    assert not again.seen
    assert again.used - visitor.used, "nothing of the runs was used"
