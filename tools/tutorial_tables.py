"""What each tutorial has and where it is here: `python -m tools.tutorial_tables` writes docs/tutorials/NAME.md.

NAME.tsv has a line an item: what it is, whether it is "there", there in "part" or "missing", where (a file, the
`file::name` of something in it, or a document with its #anchor; several are cut by spaces), its test, and a note.
NAME.txt, if there, is what the page says before its tables, and settings.tsv has the settings of all presets. The build
of the documents and the tests refuse a target that is not there, and pages that are not what the tables say.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

from transformer.files import write_text
from transformer.presets import DIFFERENCES

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "tutorials"
TITLES = {
    "transformers-laid-out": "Transformers Laid Out (2024)",
    "transformer-from-scratch": "Transformer: implementing a transformer architecture from scratch (2025)",
    "ground-up": "Building a transformer from the ground up",
    "adeveloperdiary": "Coding transformer model from scratch, part 1",
    "nlp7-en-hi": "NLP 7: transformer implementation (2025; English to Hindi)",
}
STATES = ("there", "part", "missing")


def rows(table: str) -> list[dict[str, str]]:
    with open(FOLDER / f"{table}.tsv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def require_target(target: str) -> None:
    """Raise ValueError unless the file is there, with what is named in it."""
    path, separator, name = re.fullmatch(r"([^#:]+)(#|::)?(.*)", target, re.DOTALL).groups()  # type: ignore[union-attr]
    file = ROOT / path
    if not file.exists():
        raise ValueError(f"There is no {path}, which a tutorial's table names.")
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    if separator == "::" and not re.search(rf"^\s*(?:def |class )?\"?{re.escape(name)}\b", text, re.MULTILINE):
        raise ValueError(f"{path} has no {name}, which a tutorial's table names.")
    if separator == "#" and name not in {_anchor(title) for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}:
        raise ValueError(f"{path} has no heading #{name}, which a tutorial's table names.")


def _anchor(title: str) -> str:
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def page(name: str) -> str:
    """Return the document of a tutorial. Raises ValueError for a target that is not there."""
    items = rows(name)
    for item in items:
        if item["state"] not in STATES or (item["state"] == "missing") == bool(item["where"]):
            raise ValueError(f"“{item['item']}” of {name}.tsv is {item['state']!r}, at {item['where']!r}.")
        for target in (*item["where"].split(), *item["test"].split()):
            require_target(target)
    n = {state: sum(item["state"] == state for item in items) for state in STATES}
    table = [
        f"| {item['item']} | {_locations(item)} | {' '.join(map(_linked, item['test'].split())) or '-'} |"
        for item in items
    ]
    settings = [row for row in rows("settings") if row["tutorial"] == name]
    lines = [
        f"| `{row['setting']}` | {row['value']} | {row['what its text or code says']} | "
        f"{row['what ours says of the difference'] or 'the same'} |"
        for row in settings
    ]
    about = FOLDER / f"{name}.txt"
    return "\n".join(
        [
            f"# {TITLES[name]}",
            "",
            f"Of {len(items)} things, {n['there']} are there, {n['part']} in part, {n['missing']} missing.",
            f"Its network and how it trains: `headlight train --preset {name}`.",
            "",
            *([about.read_text(encoding="utf-8").strip(), ""] if about.exists() else []),
            "## What it has, and where it is here",
            "",
            "| item | where | test |",
            "|---|---|---|",
            *table,
            "",
            "## Its settings",
            "",
            DIFFERENCES[name],
            "",
            "| setting | its value | what its text or code says | ours |",
            "|---|---|---|---|",
            *lines,
            "",
        ]
    )


def _locations(item: dict[str, str]) -> str:
    paths = " ".join(map(_linked, item["where"].split())) or "missing"
    return f"{paths}{' (in part)' * (item['state'] == 'part')}{': ' * bool(item['note'])}{item['note']}"


def _linked(target: str) -> str:
    if target.startswith("docs/") and ".md" in target:
        return f"[{Path(target.partition('#')[0]).stem}](../{target.removeprefix('docs/')})"
    return f"`{target}`"


def require_current() -> None:
    """Raise ValueError for a target that is not there, and for a page that is not what the tables say."""
    for name in TITLES:
        file = FOLDER / f"{name}.md"
        if not file.is_file() or file.read_text(encoding="utf-8") != page(name):
            raise ValueError(f"{file.name} is not what its tables say; run python -m tools.tutorial_tables.")


if __name__ == "__main__":
    for name in TITLES:
        write_text(FOLDER / f"{name}.md", page(name))
