"""A sentence in many small batches has the numbers of one large batch, for every kind of model."""

import numpy as np
import pytest
import torch

from headlight.analysis import passes
from headlight.analysis.passes import log_probs_of, written_log_probs
from headlight.analysis.why import Corruption, decoder_lens, measured, patching
from tests.analysis.why.models import NAMES, SRC, TGT, build
from tests.small import id_rows

pytestmark = pytest.mark.device

OTHER = [7, 11, 4, 9, 3]


def sizes(monkeypatch: pytest.MonkeyPatch, tokens: int, size: int) -> None:
    monkeypatch.setattr(passes, "PASS_TOKENS", tokens)
    monkeypatch.setattr(passes, "BATCH_BYTES", size)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["post", "t5"])
def test_batches_change_no_number(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = build(name)
    calls = (
        lambda: measured(model, SRC, TGT),
        lambda: patching(model, Corruption(SRC, OTHER, TGT, 3, 9)),
        lambda: decoder_lens(model, SRC, TGT),
    )
    sizes(monkeypatch, 10**9, 10**12)
    whole = [call() for call in calls]
    sizes(monkeypatch, 1, 1)
    parts = [call() for call in calls]
    for measure, contributions in whole[0].by_measure.items():
        for side in ("source", "prefix"):
            np.testing.assert_allclose(
                getattr(parts[0].by_measure[measure], side), getattr(contributions, side), atol=1e-6, err_msg=measure
            )
    np.testing.assert_allclose(parts[0].left_out, whole[0].left_out, atol=1e-5)
    for site, shares in whole[1].restored.items():
        np.testing.assert_allclose(parts[1].restored[site], shares, atol=1e-3)
    for stack, states in whole[1].states.items():
        np.testing.assert_allclose(parts[1].states[stack], states, atol=1e-3)
    assert parts[2].written == whole[2].written
    np.testing.assert_allclose(parts[2].log_probs, whole[2].log_probs, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
@torch.no_grad()
def test_log_probabilities_of_a_few_tokens_at_a_time_are_those_of_all_logits(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = build(name)
    src, tgt = id_rows(SRC, OTHER), id_rows(TGT, TGT[::-1])
    due = model(src, tgt[:, :-1]).double().log_softmax(-1).gather(-1, tgt[:, 1:, None])[..., 0]
    torch.testing.assert_close(written_log_probs(model, src, tgt), due, atol=1e-5, rtol=0)
    sizes(monkeypatch, 1, 1)
    torch.testing.assert_close(written_log_probs(model, src, tgt), due, atol=1e-5, rtol=0)
    states = model.decode(tgt[:, :-1], model.encode(src), src)
    torch.testing.assert_close(log_probs_of(model, states, tgt[:, 1:]), due, atol=1e-5, rtol=0)
