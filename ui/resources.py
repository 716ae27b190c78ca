"""What every session shares: the loaded models, and the traces of the latest sentences."""

from __future__ import annotations

import gc
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import streamlit as st
import torch

from transformer import Trace, Translator
from transformer.analysis import Check, check
from transformer.checkpoints.native import CARD, CONFIG, WEIGHTS
from transformer.taps import Intervention

log = logging.getLogger("headlight")
# Where the models are; the variable is for those who keep theirs elsewhere.
CHECKPOINTS = Path(os.environ.get("HEADLIGHT_CHECKPOINTS", Path(__file__).parent.parent / "checkpoints"))
FIRST = "en-fr"  # what the app opens with, where it is there


def model_names() -> list[str]:
    """The checkpoint folders, the one to open with first."""
    names = sorted(path.parent.name for path in CHECKPOINTS.glob(f"*/{CONFIG}"))
    return sorted(names, key=lambda name: name != FIRST)


@st.cache_resource
def prepare() -> None:
    """Once for the process: one core a request, and no full garbage collection after each script run.

    Streamlit collects after every run; over the objects of torch and plotly that takes a tenth of a second,
    holding everybody up. Frozen, they are not looked at again.
    """
    torch.set_num_threads(1)
    gc.collect()
    gc.freeze()


def translator(name: str) -> Translator:
    """A model by its folder's name, loaded again when its files change. Raises ValueError where it can't be."""
    if name not in model_names():
        raise ValueError(f"There is no model {name!r} in checkpoints/; choose one in the sidebar.")
    return _translator(name, version(name))


def version(name: str) -> tuple[int, ...]:
    """When a model's files last changed: a part of the key of whatever is computed from it."""
    files = (CHECKPOINTS / name / file for file in (WEIGHTS, CONFIG, CARD))
    return tuple(file.stat().st_mtime_ns for file in files if file.exists())


@st.cache_resource(max_entries=8, show_spinner="Loading the model")
def _translator(name: str, version: tuple[int, ...]) -> Translator:
    return Translator.load(CHECKPOINTS / name)


def trace(name: str, text: str, target: str | None, interventions: tuple[Intervention, ...] = ()) -> Trace:
    """The trace of a sentence, shared by the sessions that ask for the same; its arrays can't be written to."""
    return _trace(name, version(name), text, target, interventions)


def checks(name: str, text: str, target: str | None, interventions: tuple[Intervention, ...] = ()) -> list[Check]:
    """The checks of that very trace."""
    return _checks(name, version(name), text, target, interventions)


def forced_trace(name: str, source: list[int], target: list[int], interventions: tuple[Intervention, ...]) -> Trace:
    """The trace of one given target with heads changed."""
    return _forced_trace(name, version(name), tuple(source), tuple(target), interventions)


# Ten minutes are longer than anybody looks at a sentence, and 40 traces of 512 tokens fit in two gigabytes.
@st.cache_resource(max_entries=40, ttl=600, show_spinner="Translating")
def _trace(
    name: str, version: tuple[int, ...], text: str, target: str | None, interventions: tuple[Intervention, ...]
) -> Trace:
    return _frozen(_translator(name, version).trace(text, target, interventions))


@st.cache_resource(max_entries=40, ttl=600, show_spinner="Reading without these heads")
def _forced_trace(
    name: str,
    version: tuple[int, ...],
    source: tuple[int, ...],
    target: tuple[int, ...],
    interventions: tuple[Intervention, ...],
) -> Trace:
    return _frozen(_translator(name, version).trace_ids(source, target, interventions))


@st.cache_resource(max_entries=40, ttl=600, show_spinner=False)
def _checks(
    name: str, version: tuple[int, ...], text: str, target: str | None, interventions: tuple[Intervention, ...]
) -> list[Check]:
    shown = _trace(name, version, text, target, interventions)
    return check(shown, _translator(name, version).model, interventions)


def _frozen(trace: Trace) -> Trace:
    for array in vars(trace).values():
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
    return trace


@contextmanager
def plain_errors() -> Iterator[None]:
    """Says what went wrong in a sentence; what the program did not expect goes to the log, not to the page."""
    try:
        yield
    except ValueError as error:
        st.info(str(error), icon=":material/info:")
    except Exception:
        log.exception("a page failed")
        st.error(
            "Something went wrong here. The log has the details; try another sentence or model.",
            icon=":material/error:",
        )
