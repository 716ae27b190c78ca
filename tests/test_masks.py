"""Attention masks, and models that apply none.

The second computation is a model with both masks whose attention is given, by a tap, the pattern that no mask made:
softmax(q kᵀ / √d_head), written out here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from headlight.analysis.atlas.reading import PairReading, batches
from headlight.analysis.checks import check
from headlight.analysis.stream import stream
from headlight.importers.marian_export import reason_against_marian
from tests.small import small_checkpoint, small_translator
from transformer import ModelConfig, StackConfig, Trace, Transformer, Translator
from transformer.batches import collate
from transformer.config import Masked
from transformer.decoding import DecodeStep, beam, finish, forced, greedy, recorded, rows_of, sample
from transformer.inference.prepared import Prepared
from transformer.masks import describe_missing_masks
from transformer.taps import Ablate, Inputs, Recorder, Site, Tap, chain
from transformer.training.loop import batch_loss

PAD, SOS, EOS = 0, 2, 3
SRC = torch.tensor([[5, 9, 4, 7, 8, EOS], [6, 4, EOS, PAD, PAD, PAD], [8, EOS, PAD, PAD, PAD, PAD]])
TGT = torch.tensor([[SOS, 4, 5, 6, 9], [SOS, 7, 8, PAD, PAD], [SOS, 10, PAD, PAD, PAD]])
CASES: list[tuple[Masked, Masked]] = [("never", "never"), ("applied", "never"), ("never", "applied")]
EVERY_CASE = pytest.mark.parametrize(("padding", "look_ahead"), CASES)


def network(padding: Masked = "applied", look_ahead: Masked = "applied") -> Transformer:
    torch.manual_seed(3)
    config = ModelConfig(11, 11, 16, StackConfig(2, 2, 32), StackConfig(2, 4, 32), max_length=40)
    model = Transformer(replace(config, padding_mask=padding, look_ahead_mask=look_ahead)).eval()
    with torch.no_grad():
        model.output.weight.mul_(2)
    return model


def unmasked(padding: Masked, look_ahead: Masked) -> Tap:
    """Undoes the masks of a whole pass that are "never" applied."""

    def tap(site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        q, k = inputs.q, inputs.k
        queries, keys = pattern.shape[-2:]
        seen = torch.ones(len(q), 1, queries, keys, dtype=torch.bool)
        if padding == "applied":
            ids = TGT if (site.stack, site.kind) == ("decoder", "self") else SRC
            ids = ids[:, :keys] if len(ids) == len(q) else torch.full((len(q), keys), SOS)
            seen &= (ids != PAD)[:, None, None, :]
        if look_ahead == "applied" and (site.stack, site.kind) == ("decoder", "self"):
            seen &= (torch.arange(keys)[None, :] <= torch.arange(queries)[:, None])[None, None]
        return ((q @ k.mT) / math.sqrt(q.size(-1))).masked_fill(~seen, -1e30).softmax(-1)

    return tap


@EVERY_CASE
@torch.no_grad()
def test_a_mask_that_is_never_applied_hides_nothing(padding: Masked, look_ahead: Masked) -> None:
    """In the plain modules, fused and recorded, and in the prepared ones."""
    model, due = network(padding, look_ahead), network()(SRC, TGT, unmasked(padding, look_ahead))
    for computed in (model(SRC, TGT), model(SRC, TGT, Recorder()), Prepared(model)(SRC, TGT)):
        torch.testing.assert_close(computed, due, atol=1e-5, rtol=0)
    assert (due - network()(SRC, TGT)).abs().max() > 0.01


@EVERY_CASE
def test_training_sees_the_same_as_running(padding: Masked, look_ahead: Masked) -> None:
    model, batch = network(padding, look_ahead), collate([([5, 4, 3], [2, 6, 7, 8, 3]), ([9, 3], [2, 4, 3])])
    with torch.no_grad():
        log_probs = model(batch.src, batch.tgt[:, :-1]).log_softmax(-1)
    chosen = log_probs.gather(-1, batch.tgt[:, 1:, None])[..., 0][batch.tgt[:, 1:] != PAD]
    torch.testing.assert_close(batch_loss(model, batch).detach(), -chosen.sum(), atol=1e-4, rtol=0)


# ---- decoding ------------------------------------------------------------------------------------------------------


def by_hand(model: Transformer, ids: list[int], row: int, tap: Tap | None = None) -> Tensor:
    """Return the log-probabilities after `ids` by a full pass without a look-ahead mask: [V]."""
    with torch.no_grad():
        hidden = unmasked("applied", "never") if tap is None else chain(unmasked("applied", "never"), tap)
        source = SRC[row : row + 1, : int((SRC[row] != PAD).sum())]
        return model(source, torch.tensor([[SOS, *ids]]), hidden)[0, -1].log_softmax(-1)


DECODES: dict[str, Callable[..., list[DecodeStep]]] = {
    "greedy": lambda model, **more: list(greedy(model, SRC, max_length=9, record=True, **more)),
    "beam": lambda model, **more: list(beam(model, SRC, 3, max_length=9, record=True, **more)),
    "sample": lambda model, **more: list(sample(model, SRC, seed=1, max_length=9, record=True, **more)),
    "forced": lambda model, **more: list(forced(model, SRC, [4, 5, 6, 9, 10, EOS], record=True, **more)),
}
HEAD = Ablate(Site("decoder", 0, "self"), 2)


@pytest.mark.parametrize("tap", [None, HEAD])
@pytest.mark.parametrize("name", DECODES)
def test_each_step_reads_the_whole_prefix_anew(name: str, tap: Tap | None) -> None:
    """Each step records the newest token's row of that pass."""
    steps, plain = DECODES[name](network("applied", "never"), tap=tap), network()
    assert len(steps) > 3
    for step in steps:
        for row, sentence in enumerate(step.sentences.tolist()):
            seen = Recorder()
            ids = step.written[row].tolist()
            due = by_hand(plain, ids, sentence, seen if tap is None else chain(tap, seen))
            torch.testing.assert_close(step.log_probs[row], due, atol=1e-5, rtol=0)
            assert step.patterns is not None
            for site, (pattern,) in seen.items():
                if site.stack == "decoder":
                    kept = step.patterns[site][row][:, : pattern.size(-1)]
                    torch.testing.assert_close(kept, pattern[0, :, -1], atol=1e-5, rtol=0)


def test_a_cache_would_write_something_else() -> None:
    """A cache holds values of earlier tokens that were computed without the later ones."""
    model = network("applied", "never")
    prepared, ids = Prepared(model), [SOS, 4, 5, 6, 9, 10]
    cache = prepared.read(SRC[:1])
    held = [prepared.write(torch.tensor([[id]]), cache)[0, -1].log_softmax(-1) for id in ids][-1]
    due = by_hand(network(), ids[1:], 0)
    assert (held - due).abs().max() > 0.01
    cache = prepared.read(SRC[:1])
    written = [prepared.write_next(torch.tensor([ids[:end]]), cache)[0].log_softmax(-1) for end in range(1, 7)][-1]
    torch.testing.assert_close(written, due, atol=1e-5, rtol=0)


def test_the_rows_that_wrote_a_sentence_are_those_of_its_own_steps() -> None:
    steps = DECODES["beam"](network("applied", "never"))
    best = finish(iter(steps))[0][0].ids
    assert len(rows_of(steps, 0, best)) == len(best)
    for site, whole in recorded(steps, 0, best).items():
        if site.stack == "decoder":
            for place in range(len(best)):
                seen = Recorder()
                by_hand(network(), list(best[:place]), 0, seen)
                row = seen[site][0][0, :, -1]
                torch.testing.assert_close(whole[:, place, : row.size(-1)], row, atol=1e-5, rtol=0)
                assert not whole[:, place, row.size(-1) :].any()


@pytest.mark.parametrize("beam_size", [1, 3])
def test_texts_of_a_batch_are_not_padded_where_padding_would_be_seen(beam_size: int) -> None:
    translator = small_translator(padding_mask="never", look_ahead_mask="never")
    texts = ["a little girl .", "two dogs are running .", "snow .", "two dogs .", "a bench ."]
    together = translator.translate_batch(texts, beam_size)
    for text, one in zip(texts, together, strict=True):
        alone = translator.translate(text, beam_size)
        assert one.ids == alone.ids and one.log_prob == pytest.approx(alone.log_prob, abs=1e-4)


def test_readings_of_an_atlas_are_not_padded_either() -> None:
    lengths = [(3, 5), (5, 3), (3, 5), (5, 5), (3, 5)]
    readings = [PairReading(index, list(range(s)), list(range(t))) for index, (s, t) in enumerate(lengths)]
    cut = batches(readings, 1000, padded=False)
    assert sorted(len(batch) for batch in cut) == [1, 1, 3]
    assert len(batches(readings, 1000)) == 1


# ---- what is shown -------------------------------------------------------------------------------------------------


@EVERY_CASE
def test_a_trace_hatches_what_was_hidden_and_nothing_else(padding: Masked, look_ahead: Masked, tmp_path: Path) -> None:
    translator = small_translator(padding_mask=padding, look_ahead_mask=look_ahead)
    trace = translator.trace("a little girl .", "two dogs .")
    later = np.triu(np.ones(trace.decoder.shape[-2:], bool), 1)
    assert trace.masked("decoder").any() == (look_ahead == "applied")
    assert (trace.decoder[..., later] > 0).all() == (look_ahead == "never")
    assert not trace.masked("encoder").any() and not trace.masked("cross").any()
    trace.save(tmp_path / "trace.npz")
    loaded = Trace.load(tmp_path / "trace.npz")
    assert (loaded.masked("decoder") == trace.masked("decoder")).all() and loaded.look_ahead == trace.look_ahead


def test_a_trace_is_the_pass_over_the_whole_target() -> None:
    checkpoint = small_checkpoint(look_ahead_mask="never")
    trace = Translator(checkpoint).trace("a little girl .", "two dogs .")
    plain, seen = small_checkpoint().model, Recorder()
    src, tgt = torch.tensor([trace.source.ids]), torch.tensor([trace.target.ids])
    with torch.no_grad():
        log_probs = plain(src, tgt[:, :-1], chain(unmasked("never", "never"), seen)).log_softmax(-1)
    due = log_probs.gather(-1, tgt[:, 1:, None])[0, :, 0].numpy()
    np.testing.assert_allclose(trace.log_probs, due, atol=1e-5)
    for layer in range(3):
        pattern = seen[Site("decoder", layer, "self")][0][0].numpy()
        np.testing.assert_allclose(trace.decoder[layer], pattern, atol=1e-5)
    checks = {one.name: one for one in check(trace, checkpoint.model)}
    assert all(one.holds for one in checks.values())
    assert "no mask" in checks["Look-ahead"].detail and "No look-ahead" not in checks


def test_an_older_trace_is_of_a_model_that_hides_what_comes_later(tmp_path: Path) -> None:
    small_translator().trace("a little girl .", "two dogs .").save(tmp_path / "new.npz")
    with np.load(tmp_path / "new.npz") as arrays:
        np.savez(tmp_path / "old.npz", **{name: a for name, a in arrays.items() if name != "look_ahead"})
    assert Trace.load(tmp_path / "old.npz").masked("decoder").any()


@EVERY_CASE
def test_the_stream_sees_what_the_model_sees(padding: Masked, look_ahead: Masked) -> None:
    model = network(padding, look_ahead)
    seen = stream(model, SRC[1].tolist(), [*TGT[0].tolist(), EOS])
    with torch.no_grad():
        due = model.decode(TGT[:1], model.encode(SRC[1:2]), SRC[1:2])[0]
    torch.testing.assert_close(seen.decoder.last, due, atol=1e-5, rtol=0)


def test_it_is_said_in_a_sentence_and_refused_by_a_format_without_it() -> None:
    config = network().config
    assert describe_missing_masks(config) is None and "Marian hides" not in str(reason_against_marian(config))
    for padding, look_ahead in CASES:
        changed = replace(config, padding_mask=padding, look_ahead_mask=look_ahead)
        assert "applies no" in str(describe_missing_masks(changed))
        assert "what Marian hides" in str(reason_against_marian(changed))
