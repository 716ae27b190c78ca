"""Imports run one way: navigation -> pages -> ui -> transformer, and downwards inside `ui` and the library.

`server`, which answers before all of them, imports none of them but `classroom`, the service of a class, which the
pages use as well.

A room is `app`, a page, a folder of `ui/`, or a file or folder of `transformer/` ("transformer.layers"). `MAY_IMPORT`
says which rooms of the library each may import, `SHARED` which of `ui/`; the sources are parsed, never run.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Inside the library, from the bottom up.
# What may be opened, how it is, and what is quoted of it; how shares are written; where a text may be cut; where things
# lie.
_ANYWHERE = {"access", "quoting", "shares", "files", "folders", "graphemes", "yielding"}
_NETWORK = {"config", "taps", "folded", "cache", "masks", "attention", "positions", "layers", "model"}
_BELOW_THE_FACE = _NETWORK | _ANYWHERE | {"t5", "pruned", "prepared", "decoding", "presets", "data", "trace"}
MAY_IMPORT: dict[str, set[str]] = {
    "config": set(),
    "taps": set(),
    "folded": set(),
    "cache": {"taps", "folded"},
    "access": set(),
    "quoting": set(),
    "shares": set(),
    "files": {"access", "quoting"},
    "folders": set(),
    "memory": set(),
    "yielding": set(),
    "graphemes": set(),
    "charts": {"quoting", "graphemes", "yielding"},
    "presets": {"config", "quoting"},
    "positions": {"config"},
    "attention": {"config", "taps"},
    "linear": set(),
    "layers": {"config", "taps", "attention"},
    "masks": {"config"},
    "model": {"config", "taps", "masks", "attention", "positions", "layers"},
    "pruned": _NETWORK,
    "t5": _NETWORK,
    "prepared": _NETWORK | {"linear"},
    "decoding": _NETWORK | {"prepared", "yielding"},
    "data": _ANYWHERE | {"config"},
    "trace": _ANYWHERE | {"taps"},
    "exercises": _ANYWHERE,  # solutions of their own, which tests hold to the library's
    "checkpoints": _BELOW_THE_FACE,
    "analysis": _BELOW_THE_FACE,
    "translator": _BELOW_THE_FACE | {"checkpoints", "analysis"},
    "broken": _BELOW_THE_FACE | {"checkpoints", "translator"},
    "lessons": _BELOW_THE_FACE | {"checkpoints", "analysis", "translator", "broken", "charts"},
    "training": _BELOW_THE_FACE | {"checkpoints", "translator", "broken", "memory"},  # it scores what is translated
    # Files that stand higher than the room around them: what the command line offers.
    "analysis.atlas.commands": _BELOW_THE_FACE | {"checkpoints", "analysis", "training"},
    "analysis.pruning.checkpoint": _BELOW_THE_FACE | {"checkpoints", "analysis", "training"},
    "analysis.pruning.commands": _BELOW_THE_FACE | {"checkpoints", "analysis", "analysis.pruning.checkpoint"},
    "analysis.why.commands": _BELOW_THE_FACE | {"analysis", "translator"},
}
MAY_IMPORT["__init__"] = set(MAY_IMPORT)  # the public face
MAY_IMPORT["__main__"] = set(MAY_IMPORT)  # and the command line stand above them all

# Inside `ui/`: what all pages share, and which of it each of these rooms may import. Every other folder is a page's
# room, a leaf: it may import itself and these, and only the script of its name in pages/ imports it.
SHARED: dict[str, set[str]] = {"state": set(), "widgets": {"state"}, "viewer": {"state"}}
# All that the state may use of streamlit: it draws nothing, but that something is waited for.
OF_STATE = {"session_state", "query_params", "cache_data", "cache_resource", "spinner"}

# Who may never import what from outside the library.
FORBIDDEN = {
    "pages": {"torch"},
    "server": {"torch"},
    "classroom": {"torch", "streamlit"},
    "transformer": {"streamlit"},
    "headlight.viewer": {"torch", "streamlit"},
    "headlight.notebook": {"torch", "streamlit"},
    "transformer.charts": {"torch", "streamlit"},
}
# Who may never import whom among the top rooms.
_TOP = {"app", "navigation", "server"}
UPWARDS = {
    "transformer": {"headlight", "ui", "pages", "classroom", *_TOP},
    "headlight": {"ui", "pages", "classroom", *_TOP},
    "classroom": {"ui", "pages", *_TOP},
    "ui": {"pages", *_TOP},
    "pages": _TOP,
    "server": {"transformer", "headlight", "ui", "pages", "app", "navigation"},
}


def module_name(path: Path, root: Path) -> str:
    """`root`/transformer/data/bpe.py -> "transformer.data.bpe"; a package is named by its __init__."""
    return ".".join(path.relative_to(root).with_suffix("").parts)


def imported_modules(path: Path, root: Path) -> Iterator[tuple[int, str]]:
    """(line, module) for each import of the file, wherever in it; `from a import b` gives "a.b"."""
    package = module_name(path, root).split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            source = ".".join([*base, node.module] if node.module else base)
            yield from ((node.lineno, f"{source}.{alias.name}") for alias in node.names)


def library_room(module: str, rooms: set[str]) -> str:
    """The room of a module inside the library: "transformer.load" is a name of the face, not a room.

    A file that has a place of its own in MAY_IMPORT is a room by itself.
    """
    parts = module.split(".")[1:]
    for end in range(len(parts), 1, -1):
        if (file := ".".join(parts[:end])) in MAY_IMPORT:
            return file
    return parts[0] if parts and parts[0] in rooms else "__init__"


def wrong_in_ui(name: str, target: str) -> bool:
    """Whether the module "ui.room.file" or "pages.page" may not import the module `target` of `ui`."""
    room, other = (f"{module}.".split(".")[1] for module in (name, target))
    may = SHARED[room] if name.startswith("ui.") and room in SHARED else SHARED
    return other not in may and other != room


def drawn(path: Path) -> Iterator[tuple[int, str]]:
    """(line, name) of what a file uses of streamlit under its usual name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "st":
            yield node.lineno, node.attr


def sources(root: Path) -> list[Path]:
    """The files whose imports have a direction; a room that is not there yet has none."""
    folders = [root / top for top in ("pages", "server", "classroom", "ui", "headlight", "transformer")]
    return sorted([*root.glob("*.py"), *(path for folder in folders for path in folder.rglob("*.py"))])


def violations(root: Path) -> list[str]:
    """One sentence for each import that runs the wrong way in the tree at `root`."""
    rooms = {path.stem for path in (root / "transformer").glob("[!.]*")} - {"__pycache__"}
    complaints = []
    for path in sources(root):
        name = module_name(path, root)
        top = name.split(".")[0]
        room = library_room(name, rooms) if top == "transformer" else None
        if room is not None and room not in MAY_IMPORT:
            complaints.append(f"{path.relative_to(root)}: give the room {room!r} its place in MAY_IMPORT")
            continue
        outside = FORBIDDEN.get(top, set()) | FORBIDDEN.get(".".join(name.split(".")[:2]), set())
        for line, module in imported_modules(path, root):
            target = module.split(".")[0]
            wrong = target in outside or target in UPWARDS.get(top, set())
            if top in ("ui", "pages") and target == "ui":
                wrong = wrong_in_ui(name, module)
            if room is not None and target == "transformer":
                other = library_room(module, rooms)
                wrong = other not in MAY_IMPORT[room] and other != room
            if wrong:
                complaints.append(f"{path.relative_to(root)}:{line} imports {module}")
        if name.startswith("ui.state."):
            uses = [f"{path.relative_to(root)}:{line} draws st.{name}" for line, name in drawn(path)]
            complaints += [use for use in uses if use.rpartition(".")[2] not in OF_STATE]
    return complaints


def test_imports_run_one_way() -> None:
    assert violations(ROOT) == []


def test_the_order_has_no_circle() -> None:
    placed: set[str] = set()
    for _ in MAY_IMPORT:
        placed |= {room for room, below in MAY_IMPORT.items() if below - {room} <= placed}
    assert placed == set(MAY_IMPORT)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("transformer/attention.py", "from transformer.layers import EncoderLayer"),
        ("transformer/attention.py", "from .layers import EncoderLayer"),
        ("transformer/attention.py", "from transformer import layers"),
        ("transformer/attention.py", "def late():\n    import transformer.model"),
        ("transformer/layers.py", "from transformer import Translator"),
        ("transformer/layers.py", "import transformer"),
        ("transformer/data/bpe.py", "from ..model import Transformer"),
        ("transformer/charts/heatmap.py", "from transformer.trace import Trace"),
        ("transformer/charts/heatmap.py", "import torch.nn"),
        ("transformer/model.py", "import streamlit as st"),
        ("transformer/model.py", "from ui.state import models"),
        ("transformer/unknown.py", "import math"),
        ("transformer/analysis/atlas/report.py", "from transformer.analysis.atlas import commands"),
        ("transformer/analysis/atlas/report.py", "from transformer.training.processes import several"),
        ("pages/attention.py", "import torch"),
        ("pages/attention.py", "from app import main"),
        ("pages/attention.py", "from ui.heads.view import HeadsView"),
        ("pages/attention.py", "from ui import attention, heads"),
        ("ui/viewer/plot.py", "from pages.attention import draw"),
        ("ui/viewer/plot.py", "from server import access"),
        ("ui/viewer/plot.py", "from ui.widgets.text import literal"),
        ("ui/viewer/plot.py", "from ui.decoding import player"),
        ("ui/widgets/text.py", "import ui.viewer.plot"),
        ("ui/widgets/frame.py", "from ui.attention.view import AttentionView"),
        ("ui/widgets/frame.py", "from ..attention.view import AttentionView"),
        ("ui/state/view.py", "from ui.widgets import sidebar"),
        ("ui/state/sweep.py", "def late():\n    from ui.heads.measurements import find"),
        ("ui/state/sweep.py", "from ui import viewer"),
        ("ui/state/queue.py", "import streamlit as st\nst.caption('Waiting')"),
        ("ui/heads/body.py", "from ui.training.view import TrainingView"),
        ("ui/checkpoints/compare.py", "from ui import attention"),
        ("server/login.py", "from ui.state.public import public"),
        ("classroom/routes.py", "from server.attempts import Attempts"),
        ("classroom/store.py", "import streamlit as st"),
        ("transformer/model.py", "from classroom.store import store"),
        ("transformer/trace.py", "import headlight"),
        ("headlight/viewer/packing.py", "import streamlit as st"),
        ("headlight/viewer/packing.py", "from ui.viewer import component"),
        ("headlight/notebook/view.py", "import torch"),
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, file: str, line: str) -> None:
    plant(tmp_path, file, line)
    (violation,) = violations(tmp_path)
    assert violation.startswith(file)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("app.py", "import streamlit\nfrom server import guards\nfrom ui.state.public import public"),
        ("navigation.py", "import streamlit\nfrom ui.state import models"),
        ("pages/attention.py", "import streamlit\nfrom transformer import charts\nfrom ui import viewer, attention"),
        ("ui/attention/heads.py", "from ui import viewer\nfrom ui.attention.view import Show\nfrom . import picture"),
        ("ui/widgets/frame.py", "from ui.state import models\nfrom ui.widgets.text import literal"),
        ("ui/viewer/plot.py", "import streamlit as st\nfrom ui.state import queue\nst.caption('Here')"),
        ("ui/viewer/component.py", "import streamlit as st\nfrom headlight.viewer.scripts import style"),
        ("headlight/viewer/export.py", "from transformer.charts.document import fonts_of"),
        ("ui/state/models.py", "import torch\nimport transformer\nimport streamlit as st\nst.session_state['a'] = 1"),
        ("transformer/__main__.py", "from transformer import Translator, training\nfrom .data import bpe"),
        ("transformer/__init__.py", "from transformer.translator import load\nfrom . import charts"),
        ("transformer/attention.py", "import torch\nfrom transformer.taps import Site"),
        ("transformer/analysis/atlas/commands.py", "from transformer.training.processes import several"),
        ("transformer/data/bpe.py", "from . import corpus\nfrom .corpus import pairs\nimport tokenizers"),
        ("transformer/charts/heatmap.py", "from .colours import THEMES\nimport plotly.graph_objects as go"),
    ],
)
def test_a_downward_import_is_allowed(tmp_path: Path, file: str, line: str) -> None:
    plant(tmp_path, file, line)
    assert violations(tmp_path) == []


def plant(root: Path, file: str, text: str) -> None:
    """A tree in which every room exists, and `file` holds `text`."""
    folder = root / "transformer"
    folder.mkdir()
    for room in MAY_IMPORT:
        if room in {"data", "training", "checkpoints", "analysis", "charts"}:
            (folder / room).mkdir(exist_ok=True)
            (folder / room / "__init__.py").touch()
        else:
            path = folder / f"{room.replace('.', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).write_text(text + "\n")
