"""Import a model: a file, a path or a Hub model ID, examined before it is imported."""

from __future__ import annotations

import logging
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import streamlit as st

from headlight.importers.forms.tutorials import TUTORIALS
from headlight.importers.hub import fetch, is_name
from headlight.importers.importing import FAMILIES, Examination, examine, import_model
from headlight.importers.limits import MAX_FILES
from headlight.importers.questions import Answers
from transformer.checkpoint.weights import Refused
from ui.checkpoints import examined, keeping, uploads
from ui.checkpoints.uploads import ImportSource
from ui.state import models
from ui.state.cache import cached
from ui.state.jobs import Cancelled, Job
from ui.state.public import private_only
from ui.state.view import set_view
from ui.widgets.table import facts_html
from ui.widgets.text import literal

log = logging.getLogger("headlight")
UPDATE_SECONDS = 0.4  # between two updates of the progress
SUPPORTED = (
    ("Headlight", "folders, zips, safetensors"),
    ("Tutorials", f"{len(TUTORIALS)}, in the format that each saves"),
    ("Hugging Face", FAMILIES),
    ("fairseq, JoeyNMT", "transformers, with their settings and vocabularies"),
    ("PyTorch", "models around torch.nn.Transformer, with their embeddings"),
    ("CTranslate2", "folders with model.bin, packages of Argos Translate (LibreTranslate)"),
    ("OpenNMT-py", "checkpoints of version 3"),
    ("Anything else", "listed tensor by tensor, with the closest known format"),
)


def draw_import() -> None:
    """Draw the page's body where a model is imported."""
    private_only()
    st.subheader("Import a model", anchor=False)
    st.markdown(
        ":gray[A file is described before it is imported. No code in it is run, and nothing is assumed without asking.]"
    )
    working: Job[Any] | None = st.session_state.get("import-job")
    if working is None:
        _source()
    left, right = st.columns([2, 1], gap="large")
    with right:
        st.markdown("**What Headlight opens**")
        st.html(facts_html("", SUPPORTED))
    with left:
        if working is not None:
            _at_work()
            return
        refused: Refused | None = st.session_state.get("import-refused")
        source: ImportSource | None = st.session_state.get("import-source")
        if refused is not None:
            examined.refusal_card(refused, st.session_state.get("import-name", ""))
        elif source is not None:
            _examined(source)


def _source() -> None:
    """Draw the sources from which a model may come."""
    drop, name = st.columns([2, 1], gap="large", vertical_alignment="bottom")
    number = st.session_state.setdefault("import-number", 0)
    with drop:
        upload = st.file_uploader(
            "Drop a file here",
            max_upload_size=uploads.MAX_UPLOAD_MEGABYTES,
            key=f"import-file-{number}",
            help=f"{', '.join('.' + ending for ending in uploads.ENDINGS[:-1])}, or a zip of a folder; up to 2 GB.",
        )
    with name:
        key = f"import-where-{number}"
        st.text_input(
            "Or a Hub model ID, or a path on this machine",
            key=key,
            placeholder="Helsinki-NLP/opus-mt-en-fr",
            on_change=_take_name,
            args=(key,),
            max_chars=1000,
        )
    if upload is not None:
        try:
            path = uploads.keep(upload, upload.name)
        except OSError as error:
            st.warning(f"The upload could not be saved: {error.strerror}.", icon=":material/error:")
            return
        _begin(path)
        st.rerun()  # with an empty box, so that the memory of the upload is free


def _begin(source: ImportSource | None) -> None:
    """Start with another source, or none; the previous one is forgotten."""
    uploads.forget(st.session_state.get("import-source"))
    for name in ("import-source", "import-refused", "import-name", "import-job"):
        st.session_state.pop(name, None)
    for name in [name for name in st.session_state if str(name).startswith("answer-")]:
        st.session_state.pop(name)
    if source is not None:
        st.session_state["import-source"] = source
    st.session_state["import-number"] += 1


def _take_name(key: str) -> None:
    """Take a path where there is one, else a Hub model ID."""
    private_only()
    text = str(st.session_state[key]).strip()
    if not text:
        return
    path = Path(text).expanduser()
    _begin(None)
    st.session_state["import-name"] = text
    try:
        exists = path.exists()
    except (OSError, ValueError):  # too long for a name, or with a zero byte
        exists = False
    if exists:
        st.session_state["import-source"] = ImportSource(path, path.name or text)
    elif is_name(text):
        st.session_state["import-job"] = Job(partial(_fetch, text))
    else:
        st.session_state["import-refused"] = Refused(
            "There is nothing at this path, and it is not a Hub model ID.",
            remedy="Give a file or folder on this machine, or a Hub model ID as OWNER/NAME.",
        )


def _fetch(name: str, progress: Any) -> ImportSource:
    return ImportSource(fetch(name, progress), name)


# ---- work in progress ----------------------------------------------------------------------------------------------


@st.fragment(run_every=UPDATE_SECONDS)
def _at_work() -> None:
    """Draw how far a download or an import is; when it is done, the page is redrawn."""
    working: Job[Any] | None = st.session_state.get("import-job")
    if working is None:
        return
    if working.done:
        st.session_state.pop("import-job")
        _finished(working)
        st.rerun()
    st.progress(working.share, working.doing or "Starting")
    st.button("Cancel", icon=":material/close:", key="import-cancel", on_click=working.cancel)


def _finished(working: Job[Any]) -> None:
    match working.error, working.result:
        case (Cancelled(), _):
            pass
        case (Refused() as refused, _):
            st.session_state["import-refused"] = refused
        case (ValueError() | OSError() as error, _):
            st.session_state["import-refused"] = Refused(str(error))
        case (Exception() as error, _):
            log.error("an import failed", exc_info=error)
            st.session_state["import-refused"] = Refused(
                "The import failed unexpectedly. The server's log has the details."
            )
        case (None, ImportSource() as source):
            st.session_state["import-source"] = source
        case (None, str() as name):
            _begin(None)
            st.session_state["import-done"] = name
            set_view(model=f"{models.IMPORTED_PREFIX}{name}", text=None, target=None, importing=False, beside=None)


def done_note() -> None:
    if name := st.session_state.pop("import-done", None):
        st.toast(f"{literal(name)} was imported.", icon=":material/check_circle:")


# ---- what it is ----------------------------------------------------------------------------------------------------


def _examined(source: ImportSource) -> None:
    try:
        first = examination(source.path, Answers())
    except Refused as refused:
        examined.refusal_card(refused, source.name)
        return
    with st.container(border=True, key="examined"):
        examined.heading(first, source.name)
        if first.diagnosis is not None:
            examined.diagnosis(first.diagnosis)
            return
        answers = examined.questions(first.questions, source)
        try:
            current = examination(source.path, answers)
        except Refused as refused:
            st.warning(literal(str(refused)), icon=":material/error:")
            current = None
        examined.contents(current or first)
        for warning in (current or first).warnings:
            st.warning(literal(warning), icon=":material/warning:")
        _import(source, answers, current)


def _import(source: ImportSource, answers: Answers, current: Examination | None) -> None:
    """Draw the button that imports, and why it waits."""
    waits = [question for question in current.questions if question.required] if current is not None else []
    name = st.text_input("Name for the model", keeping.suggested_name(source.name), key=f"answer-name-{source.path}")
    reason = ""
    try:
        out = keeping.free_path((name or "").strip())
    except ValueError as error:
        out, reason = None, str(error)
    if current is None:
        reason = "Correct the invalid answer to import."
    elif waits:
        reason = f"Answer this to import: {waits[0].text}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        pressed = st.button(
            "Import",
            icon=":material/download_done:",
            type="primary",
            key="import",
            disabled=bool(reason) or out is None,
        )
        st.button("Discard", key="put-away", on_click=_begin, args=(None,))
        st.caption(literal(reason), width="stretch")
    if pressed and out is not None:
        models.MODELS.mkdir(parents=True, exist_ok=True)
        st.session_state["import-name"] = source.name
        st.session_state["import-job"] = Job(partial(_make, source, out, answers))
        st.rerun()


def _make(source: ImportSource, out: Path, answers: Answers, progress: Any) -> str:
    import_model(source.path, out, answers, progress)
    return out.name


def examination(path: Path, answers: Answers) -> Examination:
    """Examine a source, once for each set of answers. Raises Refused."""
    try:
        files = [path, *islice(path.iterdir(), MAX_FILES)] if path.is_dir() else [path]
        changed = tuple(file.stat().st_mtime_ns for file in files)
    except OSError as error:
        raise Refused(f"{path.name} cannot be read: {error.strerror}.") from None
    return _examination(str(path), changed, answers)


@cached(100, "Examining the file", turn=False)
def _examination(path: str, changed: tuple[int, ...], answers: Answers) -> Examination:
    return examine(Path(path), answers)
