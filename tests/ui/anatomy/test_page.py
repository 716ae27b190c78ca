"""An open Anatomy page keeps traces in the cache only; and the part of the network that a view names."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from headlight.analysis.network import NetworkPart, network
from tests.small import TEXTS, small_translator
from transformer import Trace
from transformer.translator import Translator
from ui.anatomy.chosen import choose
from ui.anatomy.view import AnatomyView
from ui.state import cache

PAGE = Path(__file__).resolve().parents[3] / "pages" / "anatomy.py"


def traces() -> list[Trace]:
    """Return all traces that are alive."""
    gc.collect()
    return [instance for instance in gc.get_objects() if isinstance(instance, Trace)]


@pytest.mark.usefixtures("small_model")
def test_only_the_cache_keeps_the_trace_of_an_open_page() -> None:
    # In a module of its own, which does not outlive the run, as st.navigation runs a page.
    page = AppTest.from_string(f"import runpy; runpy.run_path({str(PAGE)!r})", default_timeout=60)
    page.query_params["text"] = TEXTS[0]
    forget()
    other_traces = set(map(id, elsewhere := traces()))  # of other tests
    page.run()
    assert not page.exception and not page.error
    assert sum(id(trace) not in other_traces for trace in traces()) == 1
    forget()
    assert all(id(trace) in other_traces for trace in traces()), elsewhere


def forget() -> None:
    for values in cache._CACHES:
        values.clear()


@pytest.fixture(scope="module")
def model() -> Translator:
    return small_translator(final_norm=False, norm="post")


@pytest.fixture(scope="module")
def trace(model: Translator) -> Trace:
    return model.trace("a little girl is sitting", "two dogs are running")


@pytest.fixture(scope="module")
def parts(model: Translator, trace: Trace) -> list[NetworkPart]:
    return network(model.model, len(trace.source), len(trace.reads))


def location(part: NetworkPart) -> tuple[str, str, int | None]:
    return part.name, part.kind, part.layer


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (AnatomyView(), ("attention", "decoder", 0)),
        (AnatomyView(kind="cross", layer=3), ("attention", "cross", 2)),
        (AnatomyView(kind="encoder", layer=3), ("attention", "encoder", 0)),
        (AnatomyView(kind="cross", part="ff", layer=2), ("ff", "decoder", 1)),
        (AnatomyView(kind="cross", part="attention-norm", layer=2), ("attention-norm", "cross", 1)),
        (AnatomyView(kind="encoder", part="output"), ("output", "decoder", None)),
        (AnatomyView(kind="cross", part="embedding", layer=2), ("embedding", "decoder", None)),
        (AnatomyView(kind="encoder", part="norm"), ("attention", "encoder", 0)),
    ],
)
def test_a_view_names_a_part_that_is_there(
    view: AnatomyView, expected: tuple[str, str, int | None], parts: list[NetworkPart], trace: Trace
) -> None:
    chosen = choose(view, "small", trace, parts)
    assert location(chosen.part) == expected
    assert parts[chosen.index] is chosen.part


def test_heads_and_tokens_that_are_not_there_are_chosen(trace: Trace, parts: list[NetworkPart]) -> None:
    there = choose(AnatomyView(kind="encoder", head=4, query=2), "small", trace, parts)
    assert (there.head, there.query) == (3, 1)
    chosen = choose(AnatomyView(kind="encoder", head=5, query=99), "small", trace, parts)
    row = trace.encoder[0, :, chosen.query].copy()
    row[:, [*[i for i, special in enumerate(trace.source.special) if special], chosen.query]] = 0
    assert chosen.head == row.max(1).argmax()
    assert 0 < chosen.query < len(trace.source) - 1
