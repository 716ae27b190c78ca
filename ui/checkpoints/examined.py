"""The contents of a file to import, and the questions that it leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from headlight.formatting import file_size
from headlight.importers.doctor import Diagnosis
from headlight.importers.importing import Examination
from headlight.importers.questions import Answers, ImportQuestion
from transformer.checkpoint.weights import Refused
from ui.checkpoints import uploads
from ui.checkpoints.parts import shape_text
from ui.checkpoints.uploads import ImportSource
from ui.widgets.table import facts_html
from ui.widgets.text import literal

MAX_RADIO_OPTIONS = 16  # with more, a menu is drawn
MAX_LISTED_NAMES = 6  # names of a list before the rest is folded away
MAX_VOCABULARY_MEGABYTES = 50


def heading(examination: Examination, name: str) -> None:
    icon = "stethoscope" if examination.diagnosis is None else "help"
    st.markdown(f"#### :material/{icon}: {literal(examination.title)}")
    st.caption(literal(f"{name[:200]}, {file_size(examination.size)}, {examination.tensors:,} tensors"))


def contents(examination: Examination) -> None:
    """Draw what the file says, and what is converted to another form."""
    columns = st.columns(2, gap="large") if examination.facts and examination.folded else [st.container()] * 2
    if examination.facts:
        with columns[0]:
            st.markdown("**Read from the file**")
            st.html(facts_html("", examination.facts))
    if examination.folded:
        with columns[1]:
            st.markdown("**Converted, with the same output**")
            st.html(facts_html("", examination.folded))


# ---- the questions -------------------------------------------------------------------------------------------------


def questions(import_questions: Sequence[ImportQuestion], source: ImportSource) -> Answers:
    """Draw every question, and return the answers so far. Only optional choices have an answer from the start."""
    answers: dict[str, Any] = {}
    needed = [question for question in import_questions if question.required or question.choices]
    ids = [question for question in needed if question.below]
    if needed:
        with st.container(key="ask"):
            for question in needed:
                if question not in ids:
                    answers[question.field] = _ask(question, source)
            if ids:
                _ids(ids, answers, source)
    optional = [question for question in import_questions if question not in needed]
    if optional:
        box = st.expander("Add a vocabulary", key="add-vocabulary", icon=":material/dictionary:")
        with box:
            for question in optional:
                answers[question.field] = _ask(question, source)
    return Answers(**{field: answer for field, answer in answers.items() if answer is not None})


def _ask(question: ImportQuestion, source: ImportSource) -> int | str | Path | None:
    key = f"answer-{question.field}-{source.path}"
    if question.below:
        return _id(question, key)
    if not question.choices:
        return _vocabulary(question, key)
    st.markdown(f"**:material/help: {literal(question.text)}**")
    usual = f" The original code uses {question.usual}." if question.required and question.usual is not None else ""
    st.caption(literal(f"{question.why}{usual}"))
    options = list(question.choices)
    if not question.required:
        return st.segmented_control(
            question.text, options, default=question.usual, required=True, key=key, label_visibility="collapsed"
        )
    if len(options) <= MAX_RADIO_OPTIONS:
        return st.pills(question.text, options, key=key, label_visibility="collapsed")
    return st.selectbox(
        question.text, options, index=None, key=key, placeholder="Choose one", label_visibility="collapsed"
    )


def _ids(import_questions: Sequence[ImportQuestion], answers: dict[str, Any], source: ImportSource) -> None:
    """Draw the special ids side by side."""
    st.markdown("**:material/help: Which ids are special?**")
    st.caption("The weights do not say which ids mark padding, the start and the end of a sequence.")
    with st.grid(len(import_questions), min_column_width=130, vertical_alignment="bottom"):
        for question in import_questions:
            answers[question.field] = _ask(question, source)


def _id(question: ImportQuestion, key: str) -> int | None:
    value = st.number_input(
        question.text,
        min_value=0,
        max_value=question.below - 1,
        value=None,
        step=1,
        key=key,
        placeholder=f"e.g. {question.usual}" if question.usual is not None else f"0 to {question.below - 1}",
        help=question.why,
    )
    return None if value is None else int(value)


def _vocabulary(question: ImportQuestion, key: str) -> Path | None:
    """Draw a box for a small file, and return where the latest one is stored."""
    upload = st.file_uploader(question.text, max_upload_size=MAX_VOCABULARY_MEGABYTES, key=key, help=question.why)
    sources: dict[str, ImportSource] = st.session_state.setdefault("answer-files", {})
    if upload is None:
        uploads.forget(sources.pop(question.field, None))
        return None
    uploaded_key = f"{question.field}-id"
    if question.field not in sources or st.session_state.get(f"answer-{uploaded_key}") != upload.file_id:
        uploads.forget(sources.pop(question.field, None))
        sources[question.field] = uploads.keep(upload, upload.name)
        st.session_state[f"answer-{uploaded_key}"] = upload.file_id
    return sources[question.field].path


# ---- the doctor ----------------------------------------------------------------------------------------------------


def diagnosis(report: Diagnosis) -> None:
    """Draw a state dict of no known format: what it contains, and how it differs from the closest format."""
    if report.guesses:
        st.markdown("**What the names and shapes suggest**")
        st.html(facts_html("", report.guesses))
    if report.nearest:
        st.markdown(f"The closest known format is **{literal(report.nearest)}**.")
    _names("Missing tensors", report.missing)
    _names("Unexpected tensors", report.unexpected)
    _names(
        "Wrong shape",
        tuple(
            f"{name}: {shape_text(actual)} instead of {shape_text(expected)}"
            for name, actual, expected in report.misshapen
        ),
    )
    st.markdown("**Groups of tensors**")
    st.dataframe(
        {
            "Name": [family.name for family in report.families],
            "Tensors": [family.count for family in report.families],
            "Shape": [shape_text(family.shape) for family in report.families],
        },
        hide_index=True,
        key="families",
        height=min(33 * (len(report.families) + 1) + 2, 360),
    )


def _names(title: str, names: Sequence[str]) -> None:
    if not names:
        return
    st.markdown(f"**{title}** :gray[{len(names):,}]")
    st.code("\n".join(names[:MAX_LISTED_NAMES]), language=None, wrap_lines=True)
    if len(names) > MAX_LISTED_NAMES:
        with st.expander(f"{len(names) - MAX_LISTED_NAMES:,} more", key=f"more-{title}"):
            st.code("\n".join(names[MAX_LISTED_NAMES:2000]), language=None, height=300)


def refusal_card(refused: Refused, name: str) -> None:
    with st.container(border=True, key="refused"):
        st.markdown(f"#### :material/gpp_bad: {literal(refused.what or str(refused))}")
        if name:
            st.caption(literal(name[:200]))
        if refused.facts:
            st.html(facts_html("", refused.facts))
        if refused.remedy or refused.command:
            st.markdown("**What to do**")
        if refused.remedy:
            st.markdown(literal(refused.remedy))
        if refused.command:
            st.code(refused.command, language=None, wrap_lines=True)
