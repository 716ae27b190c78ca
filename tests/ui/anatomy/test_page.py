"""An open Anatomy page keeps traces in the cache only; and the view in its address."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from headlight import checkpoints
from headlight.analysis.masks import MASKS
from headlight.analysis.network import PART_NAMES, NetworkPart, network
from tests.small import TEXTS, small_checkpoint, small_translator
from transformer import Trace
from transformer.translator import Translator
from ui.anatomy.chosen import choose
from ui.anatomy.view import LOOKS, MATRICES_OF, AnatomyView
from ui.state import cache

numbers = st.none() | st.integers(1, 999)
views = st.builds(
    AnatomyView,
    model=st.none() | st.sampled_from(["en-fr", "de-en"]),
    text=st.none() | st.text(max_size=50),
    kind=st.sampled_from(["encoder", "decoder", "cross"]),
    layer=numbers,
    head=numbers,
    part=st.sampled_from(PART_NAMES),
    query=numbers,
    key=numbers,
    stage=st.integers(1, 9),
    unscaled=st.booleans(),
    unmasked=st.booleans(),
    look=st.sampled_from(LOOKS),
    matrices=st.sampled_from(MATRICES_OF),
    second=st.none() | st.text(min_size=1, max_size=50),
    mask=st.sampled_from(["", *MASKS]),
    cut=st.none() | st.text(max_size=40),
    learn=st.none() | st.text(max_size=900),
    vocabulary=st.none() | st.integers(1, 9999),
    plane=st.none() | st.text(max_size=200),
    lens=st.just(()) | st.tuples(st.integers(0, 12), st.integers(0, 500)),
)
PAGE = Path(__file__).resolve().parents[3] / "pages" / "anatomy.py"


def traces() -> list[Trace]:
    """Return all traces that are alive."""
    gc.collect()
    return [instance for instance in gc.get_objects() if isinstance(instance, Trace)]


def test_only_the_cache_keeps_the_trace_of_an_open_page(shelves: Path) -> None:
    checkpoints.save(small_checkpoint(), shelves / "checkpoints" / "small")
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


@given(views)
def test_a_view_survives_the_address(view: AnatomyView) -> None:
    assert AnatomyView.from_query(view.to_query()) == view


@given(st.dictionaries(st.sampled_from([*AnatomyView.__dataclass_fields__, "other"]), st.text(max_size=30)))
def test_no_address_is_too_strange(query: dict[str, str]) -> None:
    view = AnatomyView.from_query(query)
    assert view.part in PART_NAMES and 1 <= view.stage <= 9 and len(view.lens) in (0, 2)


@pytest.mark.parametrize(
    "query",
    [{"stage": "0"}, {"stage": "10"}, {"part": "soul"}, {"query": "0"}, {"key": "-3"}, {"lens": "1"}, {"lens": "1,x"}],
)
def test_nonsense_is_left_at_the_default(query: dict[str, str]) -> None:
    assert AnatomyView.from_query(query) == AnatomyView()


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
    chosen = choose(view, trace, parts)
    assert location(chosen.part) == expected
    assert parts[chosen.index] is chosen.part


def test_heads_and_tokens_that_are_not_there_are_chosen(trace: Trace, parts: list[NetworkPart]) -> None:
    there = choose(AnatomyView(kind="encoder", head=4, query=2), trace, parts)
    assert (there.head, there.query) == (3, 1)
    chosen = choose(AnatomyView(kind="encoder", head=5, query=99), trace, parts)
    row = trace.encoder[0, :, chosen.query].copy()
    row[:, [*[i for i, special in enumerate(trace.source.special) if special], chosen.query]] = 0
    assert chosen.head == row.max(1).argmax()
    assert 0 < chosen.query < len(trace.source) - 1
