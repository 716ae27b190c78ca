"""The public API is listed, documented, and changes only with a line in the changelog."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

import headlight
from tools import public_api
from tools.public_api import CHANGELOG, DOCUMENT, RECORD, ROOT, Entry, Group, markdown, undocumented

UPDATE = "Run `python -m tools.public_api`"
LINE = 'and write a line about each name under "Unreleased" in docs/CHANGELOG.md'


@pytest.fixture(scope="module")
def groups() -> list[Group]:
    return public_api.sections()


def test_the_document_lists_the_public_names(groups: list[Group]) -> None:
    changed = DOCUMENT.read_text("utf-8") != markdown(groups)
    assert not changed, f"{UPDATE}; where a name is new or gone, or its signature differs, write a changelog line."


def test_every_public_name_says_what_it_is(groups: list[Group]) -> None:
    entries = [entry for _, _, group in groups for entry in group if entry.kind != "attribute"]
    assert len(entries) > 200
    assert [entry.path for entry in entries if not entry.sentence] == []


def test_a_change_since_the_release_has_a_line_in_the_changelog(groups: list[Group]) -> None:
    recorded = RECORD.read_text("utf-8")
    assert recorded.startswith(f"{headlight.__version__}\n"), "A release needs `python -m tools.public_api --release`."
    missing = undocumented(groups, recorded, CHANGELOG.read_text("utf-8"))
    assert not missing, f"{UPDATE}, {LINE}: {', '.join(missing)}"


RECORDED = "1.0.0\na.View\na.View.save(path: str) -> None\na.load(folder: str) -> View\na.old()\n"
CHANGES = {
    "nothing": ("a.View", "a.View.save(path: str) -> None", "a.load(folder: str) -> View", "a.old()"),
    "a.load": ("a.View", "a.View.save(path: str) -> None", "a.load(folder: str, dtype=None) -> View", "a.old()"),
    "a.old": ("a.View", "a.View.save(path: str) -> None", "a.load(folder: str) -> View"),
    "a.View.save": ("a.View", "a.View.save() -> None", "a.load(folder: str) -> View", "a.old()"),
    "a.View": ("a.load(folder: str) -> View", "a.old()"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_name_that_changes_without_a_line_is_found(change: str) -> None:
    """A changelog line names it in code, above the release; a member with its class."""
    lines = [line.partition("(") for line in CHANGES[change]]
    made = [("a", "", [Entry(path, bracket + rest, "") for path, bracket, rest in lines])]
    expected = [] if change == "nothing" else [change]
    assert undocumented(made, RECORDED, "## Unreleased\n\n## 1.0.0\n\n- `a.load`, `old`, `View.save`\n") == expected
    member = change.removeprefix("a.View.")
    assert undocumented(made, RECORDED, f"## Unreleased\n\n- {change}, or `{member}s`\n\n## 1.0.0\n") == expected
    for named in (change, change.removeprefix("a."), f"{change.removeprefix('a.')}(path)"):
        assert undocumented(made, RECORDED, f"## Unreleased\n\n- The `{named}` is new.\n\n## 1.0.0\n") == []


def test_documents_import_only_what_is_public(groups: list[Group]) -> None:
    """The guides of the library, their directives for the site, the notebooks and the example of a plugin."""
    paths = [entry.path for _, _, group in groups[:-1] for entry in group if not public_api.is_member(entry.path)]
    listed = {id(resolved(path)) for path in paths} | {id(import_module(path.rpartition(".")[0])) for path in paths}
    guides = [path for path in ROOT.glob("docs/*.md") if path.name != "translating.md"]  # is for our own code
    named = set()
    for path in (*guides, *ROOT.glob("docs/examples/*.ipynb"), *ROOT.glob("examples/plugin/**/*.py")):
        text = path.read_text("utf-8")
        for module, names in re.findall(r"\bfrom ((?:headlight|transformer)(?:\.\w+)*) import ([\w, ]+)", text):
            named |= {f"{module}.{name.strip()}" for name in names.split(",")}
        named |= set(re.findall(r"\.\. auto(?:function|class):: (\S+)", text))
        for module, members in re.findall(r"\.\. automodule:: (\S+)\n +:members:(.*)", text):
            named |= {f"{module}.{name.strip()}" for name in members.split(",") if name.strip()} or {module}
    assert len(named) > 40
    assert [name for name in sorted(named) if id(resolved(name)) not in listed] == []


def resolved(path: str) -> object:
    module, _, name = path.rpartition(".")
    found = import_module(module)
    return getattr(found, name) if hasattr(found, name) else import_module(path)
