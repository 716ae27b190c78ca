"""What the page shows against the library's own decodes: the search, its branches, and what the browser gets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from headlight import checkpoints
from tests.small import small_checkpoint
from tests.unpacked import unpacked
from transformer import Translator
from transformer.decoding import Decoding, allowed, beam, finish, recorded, sample, tempered
from transformer.inference.prepared import Prepared
from transformer.taps import Replace, Site, chain
from ui.decoding import search as searching
from ui.decoding.downloads import steps_json, tree_facts
from ui.decoding.lanes import lanes
from ui.decoding.payload import Start, branches_payload, player_payload
from ui.decoding.player import horizon, picked, shown_fields, shown_head, shown_node
from ui.decoding.search import Search, TracedHypothesis, bound_of, fitting, line, search
from ui.decoding.tree_svg import tree_svg
from ui.decoding.view import FATES, NODE_NUMBERS, Branch, DecodingView
from ui.state import models

TEXT = "two dogs are running in the snow ."
BEAM = Decoding.of("beam", size=3, length_penalty=0.6)


@pytest.fixture(scope="module", autouse=True)
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("checkpoints")
    # This seed's untrained weights happen to write some tokens before they end.
    checkpoints.save(small_checkpoint(seed=7), folder / "small")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "CHECKPOINTS", folder)
        yield


@pytest.fixture
def model() -> Translator:
    return models.translator("small")


@pytest.fixture
def decoded() -> Search:
    return search("small", TEXT, BEAM)


def source(model: Translator) -> torch.Tensor:
    return model.source_batch([model.encode(TEXT)])


def writable(decoded: Search, node: int) -> int:
    """A token after a node that the search did not consider, and that may be written."""
    return next(c.id for c in decoded.candidates[decoded.answers[node]] if c.node is None and c.id not in (0, 2))


@pytest.mark.parametrize(
    "decoding",
    [BEAM, *(Decoding.of("diverse", size=5, groups=3, diversity=cost) for cost in (0.0, 0.5))],
    ids=str,
)
def test_the_search_is_the_librarys(decoding: Decoding, model: Translator) -> None:
    decoded = search("small", TEXT, decoding)
    steps = list(decoding.steps(model.model, source(model), record=True))
    best = finish(steps)[0]
    ended = [i for i in decoded.tree.hypotheses if decoded.tree.nodes[i].step == len(decoded.tree.ids(i))]
    assert [tuple(decoded.tree.ids(i)) for i in ended[: len(best)]] == [h.ids for h in best]
    assert len(decoded.row_nodes) == sum(len(step.sentences) for step in steps)
    for r, node in enumerate(decoded.row_nodes):
        step = steps[decoded.tree.nodes[node].step]
        row = step.written.tolist().index(decoded.tree.ids(node))
        for candidate in decoded.candidates[r]:
            assert (
                candidate.log_prob
                == candidate.filtered_log_prob
                == pytest.approx(float(step.log_probs[row, candidate.id]))
            )
            if candidate.node is not None:
                assert decoded.tree.ids(candidate.node) == [*decoded.tree.ids(node), candidate.id]
        assert len({candidate.id for candidate in decoded.candidates[r]}) == len(decoded.candidates[r])
        nodes = {candidate.node for candidate in decoded.candidates[r]}
        assert nodes >= set(decoded.tree.children[node])


def test_a_line_has_the_patterns_that_wrote_it(decoded: Search, model: Translator) -> None:
    steps = list(beam(model.model, source(model), 3, length_penalty=0.6, record=True))
    for end in decoded.tree.hypotheses[:2]:
        line = decoded.hypothesis(end)
        for site, pattern in recorded(steps, 0, line.ids).items():
            if site.stack == "encoder":
                patterns = decoded.encoder[site.layer]
            else:
                patterns = (line.cross if site.kind == "cross" else line.decoder)[site.layer]
            assert np.array_equal(patterns, pattern.numpy())
        assert line.log_prob == pytest.approx(sum(line.log_probs), abs=1e-4)


@pytest.mark.parametrize(
    "decoding",
    [
        Decoding.of("greedy"),
        BEAM,
        Decoding.of("diverse", groups=2),
        Decoding.of("sampling", temperature=1.4, top_k=9, seed=5),
    ],
    ids=lambda d: d.name,
)
def test_a_fork_is_a_decode_with_that_prefix(model: Translator, decoding: Decoding) -> None:
    first = search("small", TEXT, decoding)
    at = first.tree.path(first.tree.winner)[2]
    other = writable(first, at)
    ids = (*first.tree.ids(at), other)
    assert picked({"answer": first.answers[at], "id": other}, first) == Branch(ids)
    forked = line("small", TEXT, decoding, Branch(ids))
    best = finish(decoding.steps(model.model, source(model), prefix=ids, record=True))[0][0]
    assert forked.ids == best.ids and forked.ids[: len(ids)] == ids
    assert (forked.log_prob, forked.score, forked.finished) == (best.log_prob, best.score, best.finished)
    plain = {"greedy": 1, "beam": 3}.get(decoding.name)
    if plain:
        expected = model.n_best(TEXT, plain, decoding.length_penalty, prefix=list(ids))[0]
        assert forked.ids == tuple(expected.ids) and forked.log_prob == pytest.approx(expected.log_prob)


def test_pointing_a_step_is_a_decode_with_that_row_replaced(decoded: Search, model: Translator) -> None:
    at = decoded.tree.path(decoded.tree.winner)[2]
    branch = picked({"answer": decoded.answers[at], "word": 1, "heads": [[2, None], [0, 1]]}, decoded)
    assert branch == Branch(tuple(decoded.tree.ids(at)), 2, ((3, None), (1, 2)))
    pointed = line("small", TEXT, BEAM, branch)
    row = (tuple(float(k == 1) for k in range(len(decoded.source))),)
    tap = chain(*(Replace(Site("decoder", layer, "cross"), head, row) for layer, head in ((0, 1), (2, 0), (2, 1))))
    best = finish(
        beam(
            model.model,
            source(model),
            3,
            length_penalty=0.6,
            prefix=branch.ids,
            tap_at=lambda step: tap if step == 2 else None,
            record=True,
        )
    )[0][0]
    assert pointed.ids == best.ids and pointed.log_prob == best.log_prob
    rows = pointed.cross[:, :, 2]
    changed = np.zeros(rows.shape[:2], bool)
    changed[[0, 2, 2], [1, 0, 1]] = True
    assert np.array_equal(rows[changed], np.tile(row[0], (3, 1)))
    plain = decoded.best.cross
    assert np.allclose(rows[0, 0], plain[0, 0, 2], atol=1e-6)  # below every change
    assert not np.allclose(rows[1], plain[1, :, 2], atol=1e-6)  # above one


def passes(patch: pytest.MonkeyPatch) -> list[int]:
    counted: list[int] = []
    write = Prepared.write_next

    def counting(self: Prepared, *arguments: Any, **options: Any) -> Any:
        counted.append(1)
        return write(self, *arguments, **options)

    patch.setattr(Prepared, "write_next", counting)
    return counted


def test_a_temperature_rescales_the_same_log_probabilities(model: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    """No pass runs while the same tokens are drawn, and the result equals a fresh decode."""
    searching.search.clear()
    searching._resampler.clear()
    cold = Decoding.of("sampling", temperature=0.2, seed=1)
    first = search("small", TEXT, cold)
    counted = passes(monkeypatch)
    warmer, hot = (Decoding.of("sampling", temperature=t, seed=1) for t in (0.21, 2.0))
    again = search("small", TEXT, warmer)
    assert not counted
    assert again.tree == first.tree and again is not first
    assert again.candidates != first.candidates
    search("small", TEXT, hot)
    assert counted
    for decoding in (warmer, hot):
        decoded = search("small", TEXT, decoding)
        fresh = list(sample(model.model, source(model), temperature=decoding.temperature, seed=1, record=True))
        assert decoded.tree.ids(decoded.tree.winner) == [int(step.tokens) for step in fresh]
        for r, step in enumerate(fresh):
            filtered = tempered(allowed(step.log_probs, model.model.config), decoding.temperature)[0]
            assert [c.filtered_log_prob for c in decoded.candidates[r]] == [
                float(filtered[c.id]) for c in decoded.candidates[r]
            ]


def test_what_is_only_displayed_otherwise_needs_no_pass(
    decoded: Search, model: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = passes(monkeypatch)
    for view in (DecodingView(penalty=0.6), DecodingView(penalty=0.6, step=3, layer=1, head=2, pruned=False)):
        again = search("small", TEXT, view.decoding)
        assert again is decoded
        assert player_payload(model, again, start(again, view), None)
    assert not counted


def test_arrays_that_sessions_share_cannot_be_written_to(decoded: Search) -> None:
    for array in (decoded.encoder, *decoded.decoder.steps, *decoded.cross.steps):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


# ---- what the browser gets, and what it says ---------------------------------------------------------


def start(decoded: Search, view: DecodingView) -> Start:
    return Start(
        "0", *shown_node(decoded, view), *shown_head(decoded, view), True, view.pruned, view.under, view.future
    )


def test_the_player_gets_every_number(decoded: Search, model: Translator) -> None:
    header, arrays = unpacked(player_payload(model, decoded, start(decoded, DecodingView(step=2)), None))
    nodes, candidates = header["nodes"], header["candidates"]
    for i, node in enumerate(decoded.tree.nodes):
        assert nodes["parent"][i] == (-1 if node.parent is None else node.parent)
        assert arrays["total"][i] == np.float32(node.total) and arrays["score"][i] == np.float32(node.score)
        r = nodes["answer"][i]
        if r >= 0:
            row_slice = slice(candidates["first"][r], candidates["first"][r + 1])
            assert candidates["id"][row_slice] == [c.id for c in decoded.candidates[r]]
            assert np.allclose(arrays["probability"][row_slice], np.exp([c.log_prob for c in decoded.candidates[r]]))
    for kind in ("encoder", "decoder", "cross"):
        assert np.array_equal(arrays[kind], getattr(decoded, kind))
    assert header["start"]["node"] == decoded.tree.path(decoded.tree.winner)[2]
    names = [header["strings"][i] for i in nodes["name"]]
    path = decoded.tree.path(decoded.tree.winner)
    assert [names[i] for i in path] == model.checkpoint.target_tokenizer.piece(2).split() + [
        token for token in model.translation(finish(beam(model.model, source(model), 3))[0][0]).tokens
    ]


def test_one_head_travels_where_all_would_be_too_many(decoded: Search, model: Translator) -> None:
    header, arrays = unpacked(player_payload(model, decoded, start(decoded, DecodingView()), (2, 1)))
    assert header["only"] == [2, 1]
    assert np.array_equal(arrays["cross"], np.asarray(decoded.cross)[:, 2:, 1:].astype(np.float16))
    assert np.array_equal(arrays["encoder"], decoded.encoder[1:, 1:2].astype(np.float16))  # its last layer


def test_the_cards_get_where_each_branch_parts(decoded: Search, model: Translator) -> None:
    best = decoded.best
    other = writable(decoded, decoded.tree.path(decoded.tree.winner)[1])
    branch = Branch((best.ids[0], other))
    lines: list[tuple[Branch | None, TracedHypothesis]] = [(None, best), (branch, line("small", TEXT, BEAM, branch))]
    header, arrays = unpacked(branches_payload(model, decoded, lines, (0, 1), str(branch)))
    was, card = header["cards"]
    assert (was["branch"], card["branch"]) == (None, str(branch))
    assert (card["step"], card["forced"], card["shared"]) == (1, 1, 1)
    assert card["differs"][0] is False and was["differs"][0] is False
    assert card["score"] == lines[1][1].score and np.allclose(arrays["p1"], np.exp(lines[1][1].log_probs))
    assert np.array_equal(arrays["cross1"], lines[1][1].cross)


@pytest.mark.parametrize("pruned", [True, False])
def test_lanes_keep_sentences_apart(decoded: Search, pruned: bool) -> None:
    lane = lanes(decoded.tree, pruned)
    placed = [(node.step, lane[i]) for i, node in enumerate(decoded.tree.nodes) if lane[i] is not None]
    assert len(placed) == len(set(placed)) and min(place[1] or 0 for place in placed) == 0
    assert len({lane[i] for i in decoded.tree.path(decoded.tree.winner)}) == 1
    hidden = {i for i, place in enumerate(lane) if place is None}
    assert hidden == (set() if pruned else {i for i, n in enumerate(decoded.tree.nodes) if n.outcome == "pruned"})


def test_where_the_reader_is_becomes_the_view(decoded: Search, model: Translator) -> None:
    tree = decoded.tree
    node = tree.path(tree.hypotheses[1])[2]
    selection = {
        "node": node, "end": tree.hypotheses[1], "layer": 2, "head": 0, "pruned": True, "under": "score",
        "future": False,
    }  # fmt: skip
    fields = shown_fields(selection, decoded, model)
    assert fields is not None
    view = DecodingView(**fields)
    assert shown_node(decoded, view) == (node, tree.hypotheses[1])
    assert shown_head(decoded, view) == (2, 0)
    unasked = shown_fields({**selection, "layer": None, "head": None}, decoded, model)
    assert unasked is not None and "layer" not in unasked
    assert shown_fields({**selection, "end": tree.winner}, decoded, model)["path"] == ()  # type: ignore[index]
    for wrong in (
        {"node": 10_000}, {"node": -1}, {"end": 0}, {"layer": 3}, {"under": "x"}, {"pruned": "yes"}, {"future": 0},
    ):  # fmt: skip
        assert shown_fields({**selection, **wrong}, decoded, model) is None
    assert shown_fields(None, decoded, model) is None


def test_what_comes_later_is_hidden_until_the_winner_is_whole(decoded: Search) -> None:
    tree = decoded.tree
    last, other = tree.nodes[tree.winner].step, tree.hypotheses[1]
    hidden = DecodingView(future=False)
    assert [horizon(decoded, replace(hidden, step=step)) for step in (None, 2, last)] == [1, 2, None]
    assert horizon(decoded, DecodingView(step=2)) is None
    # Another hypothesis that ends does not say which one wins.
    elsewhere = replace(hidden, path=tuple(tree.ids(other)), step=tree.nodes[other].step)
    assert horizon(decoded, elsewhere) == tree.nodes[other].step


@pytest.mark.parametrize(
    "forged",
    [
        None,
        "x",
        {},
        {"answer": 99_999, "id": 4},
        {"answer": -1, "id": 4},
        {"answer": 0, "id": "4"},
        {"answer": 0, "word": 99, "heads": []},
        {"answer": 0, "word": 1, "heads": [[0]]},
        {"answer": 0, "word": 1, "heads": [["0", 1]]},
        {"answer": 0, "word": 1, "heads": "all"},
    ],
)
def test_a_forged_pick_is_no_branch(forged: object, decoded: Search) -> None:
    assert picked(forged, decoded) is None


def test_a_branch_of_another_sentence_is_left_out(decoded: Search, model: Translator) -> None:
    longest = bound_of(model, decoded.source.ids)
    branches = [Branch((9_999,)), Branch((4,) * (longest + 1)), Branch((4,)), Branch((), 99)]
    assert fitting(model, decoded.source.ids, branches) == [Branch((4,))]


def test_the_export_holds_the_tree(decoded: Search, model: Translator) -> None:
    branch = Branch((4,))
    lines: list[tuple[Branch | None, TracedHypothesis]] = [
        (None, decoded.best),
        (branch, line("small", TEXT, BEAM, branch)),
    ]
    content = json.loads(steps_json(TEXT, model, decoded, lines))
    assert content["hypotheses"][0]["ids"] == decoded.tree.ids(decoded.tree.winner)
    assert [node["total"] for node in content["nodes"]] == [node.total for node in decoded.tree.nodes]
    assert content["branches"][0]["ids"] == list(lines[1][1].ids)
    sampled = search("small", TEXT, Decoding.of("sampling", top_k=1))
    cut = json.loads(steps_json(TEXT, model, sampled, [(None, sampled.best)]))
    unseen = sorted(c["seen"] is None for c in cut["nodes"][0]["next"])
    assert unseen == [False] + [True] * (searching.MAX_SHOWN_CANDIDATES - 1)


def test_the_tree_as_a_picture(decoded: Search, model: Translator) -> None:
    from xml.etree import ElementTree

    names = list(decoded.labels)
    names[1] = "<script>&"
    facts = tree_facts("small", TEXT, model, decoded)

    def texts(**options: Any) -> list[str | None]:
        root = ElementTree.fromstring(tree_svg(decoded.tree, names, title="A <tree>", facts=facts, **options))
        return [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]

    all_texts, outcomes = texts(), {node.outcome for node in decoded.tree.nodes}
    about = [
        "A <tree>",
        "Model: Small (small)",
        f"Source (Words): {TEXT}",
        "Strategy: beam, size 3, length penalty 0.6",
        f"Below each token: {NODE_NUMBERS['total']}",
        *(FATES[outcome] for outcome in outcomes),
    ]
    assert set(about) < set(all_texts) and "<script>&" in all_texts
    other_texts = len(texts(under="score")) - 2 * len(names) + 1  # what stands beside the tree
    n_drawn = sum(node.outcome != "pruned" for node in decoded.tree.nodes)
    assert "pruned" in outcomes and len(texts(pruned=False, theme="dark")) == 2 * n_drawn - 1 + other_texts - 1


def test_a_sentence_that_never_ends_is_cut_and_marked_so(tmp_path: Path) -> None:
    endless = small_checkpoint(seed=7)
    with torch.no_grad():
        endless.model.output.bias[3] = -1e4
    model = Translator(endless)
    ids = model.encode(TEXT)
    steps = list(BEAM.steps(model.model, model.source_batch([ids]), record=True))
    decoded = searching.searched(model, ids, BEAM, steps)
    header, _ = unpacked(player_payload(model, decoded, start(decoded, DecodingView()), None))
    assert {entry["ended"] for entry in header["hypotheses"]} == {False}
    assert decoded.tree.nodes[decoded.tree.winner].step == header["bound"] == bound_of(model, ids)
    assert not decoded.best.finished
