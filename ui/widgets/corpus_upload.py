"""An uploaded corpus: stored next to the runs, and refused with line and reason where it is not valid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from headlight.corpora.about import LANGUAGES
from headlight.corpora.files import columns, lines
from headlight.corpora.uploads import MAX_UPLOAD_BYTES, check_corpus, remove, save_upload
from headlight.formatting import plural
from ui.state import models
from ui.state.cache import cached
from ui.state.models import UPLOADS
from ui.state.public import private_only
from ui.widgets.errors import cannot

TABLE_SUFFIXES = tuple(ending + packed for ending in (".tsv", ".csv", ".jsonl") for packed in ("", ".gz"))
USUAL_COLUMN_NAMES = {"source", "target", "src", "tgt", *LANGUAGES, *(name.lower() for name in LANGUAGES.values())}


def upload() -> str | None:
    private_only()
    files = st.file_uploader(
        "File, or two text files",
        accept_multiple_files=True,
        max_upload_size=MAX_UPLOAD_BYTES // 2**20,
        key="training-upload",
        label_visibility="collapsed",
    )
    try:
        paths = _stored(files)
        if not paths:
            return None
        spec = _spec(paths)
        verdict = _verdict(spec, tuple(path.stat().st_mtime_ns for path in paths))
        if verdict is not None:
            raise ValueError(verdict)
    except ValueError as error:
        cannot(error, "This cannot be trained on")
        return None
    return spec


def _stored(files: list[Any]) -> list[Path]:
    """Copy each upload once, remove those that the user took back, and return the paths."""
    files_by_id: dict[str, Path] = st.session_state.setdefault("uploads", {})
    for removed in files_by_id.keys() - {file.file_id for file in files}:
        remove(files_by_id.pop(removed))
    for file in files:
        if file.file_id not in files_by_id:
            files_by_id[file.file_id] = save_upload(file, file.name, uploads())
    return [files_by_id[file.file_id] for file in files]


def hand_over_uploads() -> None:
    """Hand the uploads over to the run that was started with them."""
    st.session_state.pop("uploads", None)


def uploads() -> Path:
    return models.RUNS / UPLOADS


def _spec(paths: list[Path]) -> str:
    """Return the corpus in the uploaded files. Raises ValueError where they are no corpus."""
    tables = [path.name for path in paths if path.name.endswith(TABLE_SUFFIXES)]
    if len(paths) > 2 or (len(paths) == 2 and tables):
        problem = f"{tables[0]} is a table" if tables else f"These are {len(paths)} files"
        raise ValueError(f"{problem}; upload one table, or two text files, and nothing else.")
    if len(paths) == 2:
        alike = paths[0].name == paths[1].name

        def column_label(index: int) -> str:
            return f"{paths[index].name} ({('first', 'second')[index]})" if alike else paths[index].name

        first = st.selectbox("The source is", [0, 1], format_func=column_label, key="upload-source")
        return ",".join(map(str, paths[::-1] if first else paths))
    if not paths[0].name.endswith(TABLE_SUFFIXES):
        raise ValueError(
            f"{paths[0].name} alone is half a corpus: add the file with its translations, line for line, or upload a "
            "table (.tsv, .csv, .jsonl)."
        )
    return _table(paths[0])


def _table(path: Path) -> str:
    """Return the table with the two columns that are chosen. Raises ValueError where its first line has fewer."""
    start = next(lines(path), "")
    if "\0" in start or start != _printable(start):
        return str(path)  # the check says what it is instead
    try:
        names = [_printable(name) for name in columns(path)]
    except ValueError:
        names = []
    if len(names) < 2:
        problem = _verdict(str(path), (path.stat().st_mtime_ns,))
        raise ValueError(problem or f"{path.name}, line 1 has {plural(len(names), 'column')}; two are needed.")
    options = names
    if not path.name.endswith((".jsonl", ".jsonl.gz")):
        headed = sum(cell.strip().lower() in USUAL_COLUMN_NAMES for cell in names) >= 2
        if not st.checkbox("The first line names the columns", headed, key=f"headed-{path.name}"):
            options = [str(number) for number in range(len(names))]

    def column_label(option: str) -> str:
        return option if options is names else f"Column {int(option) + 1}: {names[int(option)][:30]}"

    sides, grid = [], st.grid(2, min_column_width=110, gap="small")
    for number, side in enumerate(("Source", "Target")):
        key = f"column-{path.name}-{side}-{options[0]}"
        sides.append(grid.selectbox(side, options, index=number, format_func=column_label, key=key))
    return ":".join([str(path), *sides])


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


@cached(20, "Checking the whole file", turn=False)
def _verdict(spec: str, modified_at: tuple[int, ...]) -> str | None:
    """Say what is wrong with the corpus, if anything: its line and the reason."""
    try:
        check_corpus(spec)
    except ValueError as error:
        return str(error)
    return None
