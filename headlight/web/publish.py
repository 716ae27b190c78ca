"""A page with a model in it: it translates, and draws every head, in the browser and without a server."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from headlight import checkpoints, folders
from headlight.formatting import file_size
from headlight.importers.examples import Example, examples, suggest_examples
from headlight.language import current, gettext, ngettext, translatable, using
from headlight.viewer.export import html_page
from headlight.viewer.scripts import VIEWS, style, viewer_script
from headlight.web.gallery import Gallery, block_of, read_gallery
from headlight.web.lessons import lessons_of
from headlight.web.model_file import model_bytes
from headlight.web.traces import MAX_FILE_BYTES
from transformer.checkpoint import Checkpoint
from transformer.files import write_bytes, write_text
from transformer.model import count_parameters
from transformer.quoting import short

Blocks = Mapping[str, bytes | str]  # by their ids; a text is the address of a file beside the page
SCRIPTS = Path(__file__).parent / "js"
# The modules of the worker, in their order.
ENGINE_SCRIPTS = ("errors", "weights", "network", "decoding", "tokenizer", "tree", "measures", "lessons", "worker")
PLAYER_SCRIPTS = ("drawing", "chips", "candidates", "looks", "tree", "beam", "hypotheses", "player")
LESSON_SCRIPTS = (
    *("prose", "storage", "progress", "question_head", "question_row", "question_order", "question"),
    *("lessons", "lesson", "judging", "terms", "web_lessons"),
)
EXPORT_SCRIPTS = ("pen", "figure", "web_export")
CARD_FIELDS = ("title", "source", "target", "typical")  # what the page reads of a card
_IMPORT = re.compile(r"^import \{[^}]*\} from [^;]+;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)
# Shown until the page's script, which follows the model, has run.
_OPENING = translatable(
    "Opening the page. If this stays, the file is not complete, or the browser is from before 2024: get the file "
    "again, and open it in a current Firefox, Chrome, Edge or Safari."
)
_NO_SCRIPT = translatable("This page computes a translation in your browser: allow it to run its script.")
_OPENED = 'document.getElementById("opening").remove();'
_PUBLISHED_FILE = re.compile(r"index\.html|model[\w.-]*\.bin")  # files that `write_folder` writes


def single_page(name: str | Path) -> str:
    """Return the page with the model of a folder, or of one that ships, as the text of one HTML file.

    Raises ValueError for a model that a page cannot compute, or that makes it larger than MAX_FILE_BYTES.
    """
    title, models = _models(name)
    return _within_limit(
        _document(title, models), f"The page with {title}", "publish it as a folder, or a smaller model"
    )


def single_gallery(path: str | Path) -> str:
    """Return the gallery of a file as the text of one HTML file.

    Raises ValueError for a gallery that a page cannot draw, with the line, or that makes it larger than MAX_FILE_BYTES.
    """
    gallery = read_gallery(path)
    page = _gallery_document(gallery, _gallery_models(gallery))
    names = " and ".join(gallery.models) or "its traces"
    return _within_limit(page, f"The gallery with {names}", "publish it as a folder, or with fewer models")


def _within_limit(page: str, subject: str, instead: str) -> str:
    size = len(page.encode())
    if size > MAX_FILE_BYTES:
        raise ValueError(f"{subject} has {file_size(size)}, and may have {file_size(MAX_FILE_BYTES)}; {instead}.")
    return page


def write_folder(name: str | Path, folder: str | Path) -> int:
    """Write the page into a folder for a web server: index.html, and each model in a file beside it.

    Returns the bytes written. A folder that this function wrote before is renewed. Raises ValueError for a model that a
    page cannot compute, and for a folder that holds anything else.
    """
    folder = _free_folder(folder)
    title, models = _models(name)
    return _write(folder, models, lambda files: _document(title, files))


def write_gallery(path: str | Path, folder: str | Path) -> int:
    """Write the gallery of a file into a folder for a web server, as `write_folder` does a model's page."""
    folder = _free_folder(folder)
    gallery = read_gallery(path)
    return _write(folder, _gallery_models(gallery), lambda files: _gallery_document(gallery, files))


def _free_folder(folder: str | Path) -> Path:
    """Return the folder. Raises ValueError where it holds other files than those of a page."""
    folder = Path(folder)
    if folder.is_file():
        raise ValueError(f"{short(folder)} is a file; name a folder, or write one file with --single.")
    if folder.is_dir() and not all(_PUBLISHED_FILE.fullmatch(entry.name) for entry in folder.iterdir()):
        raise ValueError(f"{short(folder)} has other files in it; name a folder that is new or empty.")
    return folder


def _write(folder: Path, models: Mapping[str, bytes], document: Callable[[Blocks], str]) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob("model*.bin"):
        if stale.stem not in models:
            stale.unlink()
    for block, data in models.items():
        write_bytes(folder / f"{block}.bin", data)
    # The digest makes browsers load a changed file again.
    files: Blocks = {block: f"{block}.bin?{hashlib.sha256(data).hexdigest()[:12]}" for block, data in models.items()}
    page = document(files)
    write_text(folder / "index.html", page)
    return len(page.encode()) + sum(map(len, models.values()))


def _gallery_models(gallery: Gallery) -> dict[str, bytes]:
    models = enumerate(gallery.models.items())
    return {block_of(n): model_bytes(checkpoint, _facts(name, checkpoint)) for n, (name, checkpoint) in models}


def _models(name: str | Path) -> tuple[str, dict[str, bytes]]:
    """Return the page's title, and the model and its lessons' other models as bytes, by the ids of their blocks."""
    folder = folders.model(name)
    checkpoint = checkpoints.load(name)
    facts = _facts(name, checkpoint)
    ships = folder.resolve().parent == folders.checkpoints().resolve()
    facts["lessons"], companions = lessons_of(folder.name) if ships else ([], {})
    models = {f"model-{other}": data for other, data in companions.items()}
    return str(facts["card"].get("title") or folder.name), {"model": model_bytes(checkpoint, facts), **models}


def _facts(name: str | Path, checkpoint: Checkpoint) -> dict[str, Any]:
    """Return what the page says of a model."""
    folder = folders.model(name)
    card = {field: checkpoint.card[field] for field in CARD_FIELDS if field in checkpoint.card}
    card |= {field: gettext(str(card[field])) for field in ("title", "source", "target") if card.get(field)}
    offered = examples(checkpoint.card) or map(
        Example, suggest_examples(card.get("source"), checkpoint.source_tokenizer)
    )
    card["examples"] = [{"text": example.text, "why": example.why and gettext(example.why)} for example in offered]
    card["parameters"] = ngettext("{count} parameter", "{count} parameters", count_parameters(checkpoint.model))
    return {"name": folder.name, "card": card, "words": sorted(checkpoints.read_words(folder))}


def _gallery_document(gallery: Gallery, models: Blocks) -> str:
    blocks = {"gallery": gallery.header(), **gallery.blocks, **models}
    return _document(gallery.title, blocks, gallery_script(current()))


def _document(title: str, blocks: Blocks, script: str | None = None) -> str:
    fetched = any(isinstance(block, str) for block in blocks.values())
    sources = "worker-src blob:; " + ("connect-src 'self'; " if fetched else "")
    title = f"{title} · Headlight"
    if script:
        return html_page(title, page_style(), script, blocks, sources=sources, body=_opening())
    # The page's model precedes the script, and those of lessons follow it, so that the picture waits for one model.
    first, deferred = {"model": blocks["model"]}, {name: block for name, block in blocks.items() if name != "model"}
    script = page_script(current())
    return html_page(title, page_style(), script, first, later=deferred, sources=sources, body=_opening())


def _opening() -> str:
    return f'<p id="opening">{escape(gettext(_OPENING))}</p>\n<noscript>{escape(gettext(_NO_SCRIPT))}</noscript>\n'


def engine_script() -> str:
    """Return the worker's modules as one script."""
    return "\n".join(map(_without_exports, ENGINE_SCRIPTS))


def _without_exports(module: str) -> str:
    """Return a module without its imports and exports, for a script that contains its dependencies."""
    return _EXPORT.sub("", _IMPORT.sub("", (SCRIPTS / f"{module}.js").read_text(encoding="utf-8")))


def _all_scripts(*more: str, shared_on: str = "document") -> str:
    """Return the scripts of the viewer and of the page, and the measures, which the worker uses too."""
    names = (*VIEWS, *PLAYER_SCRIPTS, *LESSON_SCRIPTS, *EXPORT_SCRIPTS, "description", "sheet", "engine", "web", *more)
    viewer = viewer_script(*names, shared_on=shared_on, errors_of=ENGINE_SCRIPTS)
    return _without_exports("measures") + viewer


def _constants() -> str:
    return f'const MODEL_BLOCK = "model",\n  ENGINE = {json.dumps(engine_script())};\n'


@cache
def page_script(language: str) -> str:
    """Return the script of every page of a model, in its own scope; it contains the worker's script as text."""
    begin = "new App(document.body, new Engine(MODEL_BLOCK), new Sheet(document.body));"
    with using(language):
        return f"(() => {{\n{_constants()}{_all_scripts()}\n{begin}\n{_OPENED}\n}})();\n"


@cache
def gallery_script(language: str) -> str:
    """Return the script of every gallery: a function that runs all of it for each figure, and its call."""
    with using(language):
        scripts = _all_scripts("page", "gallery", shared_on="{}")
    viewer = f"const viewer = () => {{\n{scripts}\nreturn {{ App, Views, FileSource, Gallery }};\n}};\n"
    return f"(() => {{\n{_constants()}{viewer}new (viewer().Gallery)(document.body, viewer);\n{_OPENED}\n}})();\n"


@cache
def page_style() -> str:
    """Return the styles of the page and its views; what the app draws in shadow trees is nested under selectors."""
    scopes = {".search": ("decoding",), ".lessons-page": ("question", "lessons", "terms")}
    nested = (f"{selector} {{\n{''.join(map(style, names))}}}\n" for selector, names in scopes.items())
    return style("page") + style("views") + style("viewer") + "".join(nested) + style("web")
