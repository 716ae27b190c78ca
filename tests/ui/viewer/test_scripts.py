"""The scripts as the browser gets them: a component's files joined into one scope, in which every name is declared.

`make lint` checks each file and the types of all together; what a component leaves out is seen here.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = ROOT / "headlight/viewer/js"
LINT = Path(sys.executable).with_name("oxlint")

# In a process of its own, which has registered no component yet: the script of each, by its name.
_COLLECT = """
import importlib, json, re, sys
from pathlib import Path
import streamlit as st

given = {}
st.components.v2.component = lambda name, *, js, **_: given.update({name: js})
for path in Path("ui").rglob("*.py"):
    if re.search(r"= (st\\.components\\.v2\\.)?component\\(", path.read_text("utf-8")):
        importlib.import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
from headlight.notebook.saved import widget_module
from headlight.viewer.export import page_script
from headlight.web import publish
from server.classroom.routes import _files
web = {"published": publish.page_script("en"), "gallery": publish.gallery_script("en")}
web["worker"] = publish.engine_script()
json.dump(given | web | {"page": page_script(), "cell": widget_module(), "pupils": _files()["pupil.js"]}, sys.stdout)
"""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the script of every component, the offline file, a notebook's cell, and the pages of their own."""
    done = subprocess.run([sys.executable, "-c", _COLLECT], cwd=ROOT, capture_output=True, text=True, check=True)
    folder = tmp_path_factory.mktemp("scripts")
    for name, script in json.loads(done.stdout).items():
        (folder / f"{name}.js").write_text(script, "utf-8")
    return folder


def complaints(folder: Path, *rules: str) -> list[dict[str, Any]]:
    """Return what the linter reports about the files of a folder under these rules alone."""
    config = folder / ".oxlintrc.json"
    config.write_text(
        json.dumps({"env": {"browser": True, "es2024": True}, "categories": {}, "rules": dict.fromkeys(rules, "error")})
    )
    done = subprocess.run(
        [LINT, "--allow", "all", *(f"--deny={rule}" for rule in rules), "--format", "json", "--config", config, folder],
        capture_output=True,
        text=True,
    )
    diagnostics: list[dict[str, Any]] = json.loads(done.stdout)["diagnostics"]
    return diagnostics


def test_every_name_that_a_component_uses_is_in_its_scripts(scripts: Path) -> None:
    assert len(list(scripts.glob("*.js"))) > 20
    assert [f"{Path(one['filename']).name}: {one['message']}" for one in complaints(scripts, "no-undef")] == []


def test_a_missing_script_is_noticed(tmp_path: Path) -> None:
    text = (SCRIPTS / "chips.js").read_text("utf-8") + "\nexport default Chips;\n"
    (tmp_path / "chips.js").write_text(text, "utf-8")  # without core.js and texts.js
    assert {re.findall("'(.*?)'", one["message"])[0] for one in complaints(tmp_path, "no-undef")} == {
        "el", "clamp", "stepOf", "rightToLeft", "directionOf", "direction",
    }


def test_what_a_file_declares_is_used_by_some_component(scripts: Path) -> None:
    """In the scripts of one component something of core.js is always left over; of all, nothing may be."""
    unused: dict[str, set[str]] = {}
    for one in complaints(scripts, "no-unused-vars"):
        unused.setdefault(Path(one["filename"]).name, set()).add(re.findall("'(.*?)'", one["message"])[0])
    for path in SCRIPTS.glob("*.js"):
        text = path.read_text("utf-8")
        declared = set(re.findall(r"^(?:const |let |function |class |  (?=\w+ = ))(\w+)", text, re.M))
        users = [one.name for one in scripts.glob("*.js") if text.strip() in one.read_text("utf-8")]
        assert users, f"No component has {path.name}."
        assert declared.intersection(*(unused.get(user, set()) for user in users)) == set(), path.name


def test_nothing_but_storage_js_asks_for_what_the_browser_keeps() -> None:
    """In a frame of another site that throws, and a component that does so is drawn as an error."""
    rooms = ("classroom", "headlight", "server", "ui")
    files = [path for room in rooms for kind in ("js", "py", "html") for path in (ROOT / room).rglob(f"*.{kind}")]
    asking = re.compile(r"\b(localStorage|sessionStorage|indexedDB)\b\s*[.[?]")
    found = [path.name for path in files if "node_modules" not in path.parts and asking.search(path.read_text("utf-8"))]
    assert found == []
    assert asking.search("x = localStorage.getItem(1)") and asking.search("window.sessionStorage [a]")
