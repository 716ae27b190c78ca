"""Position against content: heads that can only go by one of them, a slow computation, and two shipped models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from headlight import checkpoints
from headlight.analysis.atlas import Atlas, atlas
from headlight.analysis.atlas.batch import Marks, MeasuredBatch, prepare
from headlight.analysis.atlas.exchanged import exchanged
from headlight.analysis.atlas.reading import PairReading
from headlight.corpora.corpora import open_split
from headlight.corpora.truth import known_pairs
from tests.analysis.measured import measured, plain
from tests.small import DEVICE, small_checkpoint
from transformer.model import Transformer
from transformer.taps import Recorder, Site
from transformer.trace import KINDS

SPECIAL = 5  # ids below are special tokens
SENTENCES = [([7, 11, 5, 9, 13, 3], [2, 8, 6, 10, 12, 3]), ([9, 6, 3], [2, 7, 9, 11, 5, 6, 8, 3]), ([8, 3], [2, 9, 3])]


def batch(model: Transformer, *numbers: int) -> MeasuredBatch:
    readings = [PairReading(number, *SENTENCES[number]) for number in numbers]
    special = np.arange(model.config.source_vocab_size) < SPECIAL
    marks = Marks(special, np.zeros_like(special))
    return prepare(readings, model.config, marks, marks, torch.device(DEVICE))


def remaining(model: Transformer, *numbers: int) -> dict[tuple[Site, str], np.ndarray]:
    return {(site, name): values.cpu().numpy() for site, name, values in exchanged(model, batch(model, *numbers))}


def test_a_model_without_positions_goes_by_content_and_one_without_tokens_by_positions() -> None:
    model = small_checkpoint(positions="none").model
    of = remaining(model, 0, 1, 2)
    for site in (Site("encoder", 0, "self"), Site("encoder", 1, "self"), Site("decoder", 0, "self")):
        np.testing.assert_allclose(of[site, "content"][:2], 1, atol=1e-5)
        assert (of[site, "positional"][0] < 0.999).all()
    assert all(np.isnan(values[2]).all() for values in of.values())  # a single token has no other place

    model = small_checkpoint(seed=3).model
    with torch.no_grad():
        for stack in (model.encoder, model.decoder):
            table = stack.embedding.tokens.weight
            table.copy_(table[:1].expand_as(table))
    of = remaining(model, 0, 1, 2)
    for site in model.sites():
        np.testing.assert_allclose(of[site, "positional"][:2], 1, atol=1e-5)
    assert (of[Site("encoder", 0, "self"), "content"][0] < 0.999).all()


@pytest.mark.parametrize("changes", [{}, {"norm": "post", "final_norm": False}, {"look_ahead_mask": "never"}], ids=str)
def test_a_slow_computation_finds_the_same(changes: dict[str, Any]) -> None:
    model = small_checkpoint(seed=4, **changes).model
    for number, (source, target) in enumerate(SENTENCES[:2]):
        of, prepared = remaining(model, number), batch(model, number)
        for site in model.sites():
            kind = "cross" if site.kind == "cross" else site.stack
            reads = target[:-1]
            moved = source if kind != "decoder" else reads
            # the new order, from the sentence's own random numbers: which token stands where
            places = [place for place, token in enumerate(moved) if token >= SPECIAL]
            draw, order = np.random.default_rng(number), np.array(places)
            while (order == places).any():
                order = draw.permutation(places)
            new_place = {place: place for place in range(len(moved))}
            new_place |= {int(old): new for new, old in zip(places, order, strict=True)}
            shuffled = [moved[old] for old in sorted(new_place, key=new_place.__getitem__)]
            assert shuffled != moved and sorted(shuffled) == sorted(moved)
            before, after = Recorder(), Recorder()
            with torch.no_grad():
                model(torch.tensor([source]), torch.tensor([reads]), before)
                pair = (source, shuffled) if kind == "decoder" else (shuffled, reads)
                model(torch.tensor([pair[0]]), torch.tensor([pair[1]]), after)
            one, other = before[site][0][0].numpy(), after[site][0][0].numpy()
            visible = prepared.contexts[kind].visible[0].numpy()  # type: ignore[index]
            for head in range(one.shape[0]):
                rows: dict[str, list[float]] = {"positional": [], "content": []}
                for query in range(one.shape[1]):
                    at = {"positional": query, "content": query if kind == "cross" else new_place[query]}
                    for name, row in at.items():
                        to = new_place if name == "content" else {key: key for key in range(len(moved))}
                        keys = [key for key in range(len(moved)) if visible[query, key] and visible[row, to[key]]]
                        if len(keys) > 1:
                            p = one[head, query, keys] / one[head, query, keys].sum()
                            q = other[head, row, [to[key] for key in keys]]
                            rows[name].append(float(np.minimum(p, q / q.sum()).sum()))
                for name, overlaps in rows.items():
                    assert of[site, name][0, head] == pytest.approx(np.mean(overlaps), abs=1e-5), (site, name)


def test_an_atlas_has_both_over_its_sample_and_the_same_whatever_the_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = small_checkpoint()
    together = measured(checkpoint, plain, sample=6)
    monkeypatch.setattr("headlight.analysis.atlas.over_corpus.SAMPLE_BATCH_TOKENS", 1)
    alone = measured(checkpoint, plain, sample=6)
    for kind in KINDS:
        for name in ("positional", "content"):
            spread = together.heads[kind][name]
            assert spread.sentences.max() == 6 and (spread.mean > 0).all() and (spread.mean <= 1).all()
            np.testing.assert_allclose(spread.mean, alone.heads[kind][name].mean, atol=1e-5)


def over(name: str) -> Atlas:
    corpus = open_split(name, None, None)
    return atlas(checkpoints.load(f"checkpoints/{name}"), lambda: known_pairs(corpus), 5, sample=5)


@pytest.mark.slow
def test_the_model_that_reverses_goes_by_positions_and_the_one_that_knows_a_grammar_by_words() -> None:
    reverse, grammar = over("reverse"), over("english-french")
    for kind in ("encoder", "cross"):
        assert (reverse.heads[kind]["positional"].mean > reverse.heads[kind]["content"].mean).all()
    for kind in ("decoder", "cross"):
        assert (grammar.heads[kind]["content"].mean > grammar.heads[kind]["positional"].mean).all()
