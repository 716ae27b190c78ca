"""One HTML file with a model in it: the page translates, and draws every head, in the browser and without a network."""

from __future__ import annotations

import base64
import json
import re
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from headlight import checkpoints, folders
from headlight.importers.examples import Example, examples, suggested
from headlight.viewer.export import digest
from headlight.viewer.scripts import VIEWS, style, viewer_script
from headlight.web.lessons import lessons_of
from headlight.web.model_file import model_bytes
from transformer.model import count_parameters

SCRIPTS = Path(__file__).parent / "js"
ENGINE = (
    "weights",
    "network",
    "decoding",
    "tokenizer",
    "tree",
    "measures",
    "lessons",
    "worker",
)  # the modules of the worker, in their order
PLAYER = ("drawing", "chips", "candidates", "looks", "tree", "beam", "hypotheses", "player")
LESSONS = (
    *("prose", "storage", "progress", "question_head", "question_row", "question_order", "question"),
    *("lessons", "lesson", "judging", "terms", "web_lessons"),
)
CARD_FIELDS = ("title", "source", "target", "typical")  # what the page reads of a card
LARGEST_FILE = 16_000_000  # bytes; more is refused by what sends and keeps such files
_IMPORT = re.compile(r"^import \{[^}]*\} from [^;]+;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


def single_page(name: str | Path) -> str:
    """Return the page with the model of a folder, or of one that ships, as the text of one HTML file.

    Raises ValueError for a model that a page cannot compute, or that makes it larger than LARGEST_FILE.
    """
    folder = folders.model(name)
    checkpoint = checkpoints.load(name)
    card = {field: checkpoint.card[field] for field in CARD_FIELDS if field in checkpoint.card}
    offered = examples(checkpoint.card) or map(Example, suggested(card.get("source"), checkpoint.source_tokenizer))
    card["examples"] = [{"text": example.text, "why": example.why} for example in offered]
    card["parameters"] = f"{count_parameters(checkpoint.model):,} parameters"
    facts: dict[str, Any] = {"name": folder.name, "card": card, "words": sorted(checkpoints.read_words(folder))}
    ships = folder.resolve().parent == folders.checkpoints().resolve()
    facts["lessons"], companions = lessons_of(folder.name) if ships else ([], {})
    page = _document(str(card.get("title") or folder.name), model_bytes(checkpoint, facts), companions)
    if len(page.encode()) > LARGEST_FILE:
        size = len(page.encode()) / 1e6
        raise ValueError(
            f"The page with {folder.name} has {size:.1f} MB, and may have {LARGEST_FILE / 1e6:.0f}; "
            "publish a smaller model."
        )
    return page


def _document(title: str, model: bytes, companions: dict[str, bytes]) -> str:
    code, look = page_script(), page_style()
    policy = (
        f"default-src 'none'; script-src '{digest(code)}'; worker-src blob:; style-src '{digest(look)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    blocks = "\n".join(
        f'<script type="application/octet-stream" id="{escape(name)}">{base64.b64encode(data).decode("ascii")}</script>'
        for name, data in {"model": model, **{f"model-{name}": data for name, data in companions.items()}}.items()
    )
    return f"""<!doctype html>
<html lang="en" class="themed" data-theme="light">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)} · Headlight</title>
<style>{look}</style>
</head>
<body>
<noscript>This page computes a translation in your browser: allow it to run its script.</noscript>
{blocks}
<script>{code}</script>
</body>
</html>
"""


def engine_script() -> str:
    """The worker's modules as one script."""
    return "\n".join(map(_without_exports, ENGINE))


def _without_exports(module: str) -> str:
    """A module as a part of a script that has what it imports."""
    return _EXPORT.sub("", _IMPORT.sub("", (SCRIPTS / f"{module}.js").read_text(encoding="utf-8")))


@cache
def page_script() -> str:
    """The script of every such page, in a scope of its own: the viewer's, the page's, and the worker's as a text."""
    constants = f'const MODEL_BLOCK = "model",\n  ENGINE = {json.dumps(engine_script())};\n'
    viewer = viewer_script(*VIEWS, *PLAYER, *LESSONS, "description", "web")
    return f"(() => {{\n{constants}{_without_exports('measures')}{viewer}\n}})();\n"


@cache
def page_style() -> str:
    """The style sheets of the page and its views: what the app has in shadow trees of their own stands apart."""
    apart = {".search": ("decoding",), ".lessons-page": ("question", "lessons", "terms")}
    nested = (f"{place} {{\n{''.join(map(style, names))}}}\n" for place, names in apart.items())
    return style("views") + style("viewer") + "".join(nested) + style("web")
