"""What a release says about itself agrees: its version, its citation, its settings."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from babel import Locale
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager

import headlight
from tools import production

ROOT = Path(__file__).resolve().parents[1]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
FORMS = ROOT / ".github" / "ISSUE_TEMPLATE"
CATALOGUES = sorted(path.name for path in (ROOT / "headlight" / "locale").iterdir() if path.is_dir())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_readme_citation_and_package_have_one_version() -> None:
    """It is written in headlight/__init__.py, from which the wheel has it too."""
    assert ProjectMetadata(str(ROOT), PluginManager()).version == headlight.__version__
    assert CITATION["version"] == headlight.__version__
    (line,) = [line for line in (ROOT / "README.md").read_text("utf-8").splitlines() if "*Headlight*, version" in line]
    assert f"*Headlight*, version {headlight.__version__}." in line


def test_the_changelog_has_this_release_in_at_most_forty_lines() -> None:
    """Its date is that of the citation; what comes next stands above it, under "Unreleased"."""
    sections = re.split(r"^## ", (ROOT / "docs" / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)[1:]
    assert sections[0].startswith("Unreleased\n")
    heading, *lines = (line for line in sections[1].splitlines() if line.strip())
    assert heading == f"{headlight.__version__} ({CITATION['date-released']})"
    assert len(lines) <= 40


def test_the_command_says_its_version_without_torch() -> None:
    """Torch takes seconds to import."""
    code = "import atexit, runpy, sys; atexit.register(lambda: print('torch' in sys.modules))\n"
    code += "sys.argv[1:] = ['--version']; runpy.run_module('headlight', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"headlight {headlight.__version__}", "False"]


def test_the_citation_says_what_the_project_says() -> None:
    """The required keys of the schema of CFF 1.2.0, and what the licence and pyproject.toml say."""
    assert {"cff-version", "message", "title", "authors"} <= CITATION.keys()
    assert (CITATION["cff-version"], CITATION["type"], CITATION["license"]) == ("1.2.0", "software", PROJECT["license"])
    (author,) = CITATION["authors"]
    assert author["name"].removeprefix("The ") in (ROOT / "LICENSE").read_text("utf-8")
    assert author["name"] in (ROOT / "README.md").read_text("utf-8")


@pytest.mark.slow
def test_streamlit_sends_no_usage_statistics(tmp_path: Path) -> None:
    """Not from another folder either, where the user's own settings of Streamlit ask for it: the app's come last."""
    assert production.options()["browser.gatherUsageStats"] == "false"
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "config.toml").write_text("[browser]\ngatherUsageStats = true\n")
    code = "import sys; from streamlit import config; config._main_script_path = sys.argv[1]\n"
    code += "print(config.get_option('browser.gatherUsageStats'))"
    environment = {**os.environ, "HOME": str(tmp_path)}
    for app, expected in ((ROOT / "app.py", "False"), (tmp_path / "app.py", "True")):
        command = [sys.executable, "-c", code, str(app)]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == expected, app


def test_both_texts_on_security_promise_the_same() -> None:
    """The host shows the short one, where people report; docs/security.md has the reasons."""
    answer = "You get an answer within seven days, and a fix or a date for one within thirty."
    for path in (".github/SECURITY.md", "docs/security.md"):
        assert answer in " ".join((ROOT / path).read_text("utf-8").split()), path


def test_issue_forms_ask_each_thing_once_and_name_what_is_there() -> None:
    forms = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in FORMS.glob("*.yml")}
    assert forms.keys() == {"bug", "model", "translation"}
    for form in forms.values():
        questions = [part["id"] for part in form["body"] if part["type"] != "markdown"]
        assert form["name"] and form["description"] and len(set(questions)) == len(questions)
    languages = next(part for part in forms["translation"]["body"] if part["type"] == "dropdown")
    shipped = {Locale.parse(code).english_name for code in ("en", *CATALOGUES)}
    assert set(languages["attributes"]["options"]) == shipped
    texts = [path.read_text("utf-8") for path in (*FORMS.glob("*.yml"), ROOT / ".github/pull_request_template.md")]
    linked = {path for text in texts for path in re.findall(r"/blob/HEAD/([\w./-]+)", text)}
    assert linked and all((ROOT / path).is_file() for path in linked)
