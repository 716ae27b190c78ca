"""A small model whose encoder and decoder differ, and what it does with one pair of sentences."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch

from transformer.config import ModelConfig, StackConfig
from transformer.model import Transformer
from transformer.taps import Recorder, Tap, chain
from transformer.trace import Tokens, Trace

SRC, TGT = [5, 6, 7, 8, 9, 3], [2, 11, 12, 13, 3]


def tokens(ids: Sequence[int]) -> Tokens:
    names = [f"t{i}" for i in ids]
    return Tokens(list(ids), names, names, [[i] for i in range(len(ids))], [i < 4 for i in ids])


@torch.no_grad()
def log_prob(model: Transformer, trace: Trace, tap: Tap | None) -> float:
    """Return the log-probability of the trace's target, in nats, where `tap` intervenes."""
    log_probs = model(torch.tensor([trace.source.ids]), torch.tensor([trace.reads.ids]), tap).log_softmax(-1)[0]
    return sum(log_probs[t, token].item() for t, token in enumerate(trace.writes.ids))


@pytest.fixture
def model() -> Transformer:
    torch.manual_seed(0)
    config = ModelConfig(20, 30, 24, StackConfig(2, 4, 32), StackConfig(3, 3, 40), norm="pre", dropout=0.3)
    model = Transformer(config).eval()
    with torch.no_grad():  # biases start at 0, where a missing one would not be noticed
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return model


@pytest.fixture
def trace_of(model: Transformer) -> Callable[..., Trace]:
    @torch.no_grad()
    def make(*interventions: Tap) -> Trace:
        recorder = Recorder()
        logits = model(torch.tensor([SRC]), torch.tensor([TGT[:-1]]), chain(*interventions, recorder))
        log_probs = logits.log_softmax(-1)[0]

        def layers(stack: str, kind: str) -> np.ndarray:
            return np.stack([p[0].numpy() for s, (p,) in recorder.items() if (s.stack, s.kind) == (stack, kind)])

        return Trace(
            "",
            "",
            tokens(SRC),
            tokens(TGT),
            layers("encoder", "self"),
            layers("decoder", "self"),
            layers("decoder", "cross"),
            np.array([log_probs[t, i] for t, i in enumerate(TGT[1:])], dtype=np.float32),
        )

    return make


@pytest.fixture
def trace(trace_of: Callable[..., Trace]) -> Trace:
    return trace_of()
