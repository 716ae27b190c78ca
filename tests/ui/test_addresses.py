"""The view of every page in its address: what is written is read back, and nonsense is left at the default."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer.decoding.strategies import STRATEGIES
from ui.anatomy.view import AnatomyView
from ui.attention.view import AttentionView
from ui.checkpoints.view import CheckpointsView
from ui.decoding.view import DecodingView
from ui.heads.view import HeadsView
from ui.positions.view import PositionsView
from ui.state.view import PageView
from ui.training.view import TrainingView
from ui.why.view import WhyView

SHARED = {"model": "de-en", "text": "Ein Hund, \u0915", "target": "", "kind": "encoder", "layer": "2", "head": "3"}
# Each field of each view with another value than its default.
ADDRESSES: dict[type[PageView], dict[str, str]] = {
    AttentionView: {
        "show": "difference", "scale": "sqrt", "words": "1", "hide": "1", "lines": "3,1", "mass": "50",
        "changes": "encoder.1.2,cross.9.9u,decoder.3.2x0.25", "second": "", "compare": "difference", "row": "4",
        "column": "99", "broken": "no-scaling",
    },
    DecodingView: {
        "size": "10", "penalty": "0.5", "temperature": "1.25", "groups": "2", "diversity": "0.75", "top_k": "9",
        "top_p": "0.5", "seed": "7", "strategy": "sampling", "step": "99", "path": "4,0,9999", "pruned": "0",
        "under": "score", "future": "0", "branches": "4.5,~3,4~1~3.2_1", "reference": "un chien",
    },
    AnatomyView: {
        "kind": "cross", "part": "ff", "query": "9", "key": "2", "stage": "9", "unscaled": "1", "unmasked": "1",
        "look": "plane", "matrices": "batch", "second": "dogs", "mask": "none", "cut": "", "learn": "a b",
        "vocabulary": "40", "plane": "dogs, girl", "broken": "no-positions", "lens": "0,4",
    },
    PositionsView: {
        "scheme": "binary", "positions": "10000", "base": "123.25", "d_model": "64", "dims": "5,0", "at": "0",
        "shift": "100", "pair": "0", "word": "0", "dim": "1023", "one": "two dogs", "other": "", "added": "1",
    },
    TrainingView: {
        "run": "checkpoints/first.2", "compare": "a,b-c", "step": "0", "smooth": "99", "sentence": "2", "new": "1",
        "data": "multi30k:en-fr", "size": "transformers-laid-out", "start": "en-fr",
    },
    HeadsView: {
        "corpus": "copy", "pairs": "200", "measure": "next", "step": "40", "columns": "entropy,next", "sets": "1",
        "gone": "0", "slices": "1", "against": "en-fr", "only": "alignment",
    },
    WhyView: {
        "step": "2", "instead": "chien", "beside": "integrated", "every": "1", "ablation": "zero", "parts": "1",
        "corrupted": "", "exchanged": "states", "direction": "noise", "states": "decoder", "changes": "cross.1.2",
    },
    CheckpointsView: {
        "weight": "encoder", "ticked": "a,b", "beside": "b", "beside_layer": "2", "beside_head": "1", "importing": "1",
    },
}  # fmt: skip
views = pytest.mark.parametrize("view", ADDRESSES, ids=lambda view: view.__name__)


@views
def test_every_field_is_in_the_address(view: type[PageView]) -> None:
    query = SHARED | ADDRESSES[view]
    assert query.keys() == {field.name for field in fields(view)}
    assert view.from_query(query).to_query() == query
    assert view().to_query() == {}


@views
@given(data=st.data())
def test_no_address_is_too_strange(view: type[PageView], data: st.DataObject) -> None:
    query = SHARED | ADDRESSES[view]
    values = st.sampled_from(sorted(set(query.values()))) | st.text(max_size=50)
    read = view.from_query(data.draw(st.dictionaries(st.sampled_from([*query, "other"]), values)))
    assert view.from_query(read.to_query()) == read
    if isinstance(read, DecodingView):
        for parameter in STRATEGIES[read.strategy].parameters:
            value = read.value(parameter)
            assert value is None or parameter.least <= value <= parameter.most


NONSENSE: dict[type[PageView], list[dict[str, str]]] = {
    PageView: [{"layer": "-1"}, {"layer": "0"}, {"layer": "1e9"}, {"head": "zz"}, {"kind": "sideways"}],
    AnatomyView: [
        {"stage": "0"}, {"stage": "10"}, {"part": "soul"}, {"query": "0"}, {"key": "-3"}, {"lens": "1"},
        {"lens": "1,x"}, {"broken": "no-scaling"},
    ],
    AttentionView: [{"mass": "49"}, {"mass": "101"}, {"changes": "cross.0.x,a"}],
    DecodingView: [
        {"size": "11"}, {"size": "0"}, {"penalty": "nan"}, {"temperature": "0"}, {"top_k": "0"}, {"top_p": "1.01"},
        {"seed": "-1"}, {"step": "0"}, {"path": "1,x"}, {"under": "sideways"}, {"strategy": "luck"},
        {"branches": "1.x,~,~x,1~2~3.,"},
    ],
    HeadsView: [{"pairs": "17", "measure": "beauty", "step": "-3", "only": "none", "columns": "beauty,"}],
    PositionsView: [
        {"positions": "0"}, {"positions": "10001"}, {"base": "0.5"}, {"d_model": "4096"}, {"at": "-1"},
        {"scheme": "rope"},
    ],
    TrainingView: [
        {"run": "../secrets"}, {"run": "checkpoints/../x"}, {"run": "a/b"}, {"run": ""}, {"compare": "../x,/etc"},
        {"step": "-1"}, {"step": "nine"}, {"sentence": "0"}, {"smooth": "100"}, {"new": "yes"},
        {"data": "/etc/passwd"}, {"size": "Tiny!"}, {"start": "a b"},
    ],
}  # fmt: skip


@pytest.mark.parametrize(("view", "query"), [(view, query) for view, queries in NONSENSE.items() for query in queries])
def test_nonsense_is_left_at_the_default(view: type[PageView], query: dict[str, str]) -> None:
    assert view.from_query(query) == view()
