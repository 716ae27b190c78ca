"""The patterns of long sentences are computed on access and equal those that short sentences store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from headlight.analysis.checks import check
from headlight.analysis.combine import max_heads, mean_heads, rollout_source
from headlight.analysis.description import row_note
from headlight.analysis.layout import descriptions, lay_out, measures
from headlight.notebook.payload import cell_payload
from headlight.viewer.packing import EveryHead, pack_kinds
from tests.small import TEXTS, small_checkpoint, small_t5_checkpoint
from tests.test_pruned import small_pruned
from transformer import Translator, translator
from transformer.checkpoint import Checkpoint
from transformer.taps import Ablate, Scale, Site, Tap, Uniform
from transformer.trace import KINDS, LayerPatterns, Trace

NONE: tuple[Tap, ...] = ()
# Heads that the pruned model has too.
CHANGED = (
    Ablate(Site("encoder", 1, "self"), 1),
    Uniform(Site("decoder", 1, "self"), 0),
    Scale(Site("decoder", 0, "cross"), 1, 1.5),
)


MODELS: dict[str, Callable[[], Checkpoint]] = {
    "pre-norm": small_checkpoint,
    "post-norm": lambda: small_checkpoint(norm="post"),
    "T5": small_t5_checkpoint,
    "without masks": lambda: small_checkpoint(padding_mask="never", look_ahead_mask="never"),
    "pruned": lambda: small_pruned(small_checkpoint()),
}


def both(model: Translator, monkeypatch: pytest.MonkeyPatch, taps: tuple[Tap, ...]) -> tuple[Trace, Trace]:
    """Return the trace of one sentence with stored patterns, and with patterns that are computed when they are read."""
    stored = model.trace(TEXTS[0], interventions=taps)
    monkeypatch.setattr(translator, "MAX_STORED_WEIGHTS", 0)
    return stored, model.trace(TEXTS[0], interventions=taps)


@pytest.mark.parametrize("taps", [NONE, CHANGED], ids=["plain", "changed"])
@pytest.mark.parametrize("name", MODELS)
def test_each_layer_is_what_the_pass_recorded(
    name: str, taps: tuple[Tap, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    stored, computed = both(Translator(MODELS[name]()), monkeypatch, taps)
    for kind in stored.kinds:
        whole, layers = stored.pattern(kind), computed.pattern(kind)
        assert isinstance(whole, np.ndarray) and isinstance(layers, LayerPatterns)
        assert layers.shape == whole.shape and (len(layers), layers.size) == (len(whole), whole.size)
        assert layers.nbytes > 0
        for layer, head in np.ndindex(whole.shape[:2]):
            assert np.array_equal(layers[layer, head], whole[layer, head])
        assert np.array_equal(np.asarray(layers), whole)
    assert np.array_equal(stored.log_probs, computed.log_probs)


def test_it_is_indexed_like_an_array() -> None:
    whole = np.random.default_rng(0).random((3, 2, 4, 5), np.float32)
    read: list[int] = []

    def compute(layer: int) -> np.ndarray:
        read.append(layer)
        return whole[layer]

    layers = LayerPatterns(whole.shape, compute, 0)
    assert np.array_equal(layers[1, 0, 2], whole[1, 0, 2]) and read == [1]
    assert np.array_equal(layers[1, :, ::2], whole[1, :, ::2]) and read == [1]  # the latest layer is still there
    assert np.array_equal(layers[-1], whole[-1]) and read == [1, 2]
    for index in (slice(1, None), [2, 0], (slice(None), slice(None), 1, 3), (..., 2), (slice(2), 1)):
        assert np.array_equal(layers[index], whole[index]), index
    assert np.array_equal(layers.map(lambda layer: layer[..., 1:])[2, 1], whole[2, 1, :, 1:])
    with pytest.raises(IndexError):
        layers[3]


def test_all_that_is_drawn_and_measured_is_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model = Translator(small_checkpoint())
    stored, computed = both(model, monkeypatch, NONE)
    for kind in stored.kinds:
        for words in (False, True):
            drawn = []
            for trace in (stored, computed):
                layout = lay_out(trace, kind, words, hide=True)
                values = measures(trace, layout)
                captions = descriptions(trace, layout, values)
                heads = EveryHead(layout.apply(trace.pattern(kind)), captions, layout.masked, columns=layout.columns)
                drawn.append((captions, np.stack([*values.values()]), pack_kinds({kind: heads}).payload))
            assert drawn[0][0] == drawn[1][0]
            np.testing.assert_allclose(drawn[0][1], drawn[1][1], atol=1e-6)  # words are sums, in another order
            assert words or drawn[0][2] == drawn[1][2]
        assert np.array_equal(mean_heads(stored.pattern(kind)), mean_heads(computed.pattern(kind)))
        assert np.array_equal(max_heads(stored.pattern(kind)), max_heads(computed.pattern(kind)))
    first, second = (rollout_source(*map(trace.pattern, KINDS)).source for trace in (stored, computed))
    assert np.array_equal(first, second)
    assert check(stored, model.model) == check(computed, model.model)
    assert cell_payload(stored, ("cross", 0, 0), True, None) == cell_payload(computed, ("cross", 0, 0), True, None)
    for name, trace in (("stored", stored), ("computed", computed)):
        trace.save(tmp_path / f"{name}.npz")
    assert (tmp_path / "stored.npz").stat().st_size == (tmp_path / "computed.npz").stat().st_size
    assert row_note(computed.pattern("cross")) == ""
