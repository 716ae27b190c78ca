"""Leave out source tokens one by one: the reference that all other measures are compared with.

Shapes: S source tokens, T target tokens that are read, L layers, N tokens of a stack, M = d_model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.passes import in_passes, rows_per_pass, written_log_probs
from headlight.analysis.sites import require_intervened_heads
from headlight.analysis.stream import Stream, stream
from headlight.analysis.why.alti import Contributions
from transformer.layers import DecoderLayer, EncoderLayer
from transformer.model import Transformer
from transformer.taps import Tap

# The cosine distance of two vectors that differ by rounding alone: about the square of float32's precision.
COSINE_TOLERANCE = 1e-13


@torch.no_grad()
def leave_one_out(
    model: Transformer, source: Sequence[int], target: Sequence[int], tap: Tap | None = None
) -> np.ndarray:
    """Return how much less probable each written token is without each source token, in nats: [T, S].

    Each token of `source` in turn is taken out, so that the ones after it move up; `target` is forced. Negative
    where a token becomes more probable. `tap` intervenes in every pass. Raises ValueError for an intervention on a head
    that the model lacks.
    """
    require_intervened_heads(model, tap)
    assert len(source) > 1, "nothing would be left to read"
    device = model.output.weight.device
    tgt = torch.tensor([target], device=device)
    complete = written_log_probs(model, torch.tensor([source], device=device), tgt, tap)
    parts = []
    for places in in_passes(range(len(source)), rows_per_pass(model, len(source), len(target))):
        shorter = torch.tensor([[*source[:i], *source[i + 1 :]] for i in places], device=device)
        parts.append(complete - written_log_probs(model, shorter, tgt.expand(len(places), -1), tap))
    return torch.cat(parts).T.cpu().numpy()


def value_zeroing(
    model: Transformer, source: Sequence[int], target: Sequence[int], tap: Tap | None = None
) -> Contributions:
    """Return the shares of earlier tokens in each step, by the effect of zeroing their values on each layer's output.

    Mohebbi et al. 2023, "Quantifying Context Mixing in Transformers": the token keeps its attention, but its value is
    zero; a share is the cosine distance between the layer's outputs with and without the value, divided by the sum of
    its row. Layers are multiplied as in `contributions`, half of each being the residual connection, as in rollout
    (Abnar and Zuidema 2020). The paper covers only encoders; the extension to an encoder with a decoder is ours. `tap`
    intervenes in every pass.
    """
    passed = stream(model, source, target, tap)
    memory = np.eye(len(source))
    for layer in range(model.config.encoder.n_layers):
        memory = (memory + _encoder_layer(passed, layer) @ memory) / 2
    prefix, from_source = np.eye(len(target) - 1), np.zeros((len(target) - 1, len(source)))
    for layer in range(model.config.decoder.n_layers):
        own, looked_at = np.split(_decoder_layer(passed, layer), [len(prefix)], axis=1)
        from_source = (from_source + own @ from_source + looked_at @ memory) / 2
        prefix = (prefix + own @ prefix) / 2
    return Contributions(from_source, prefix)


@torch.no_grad()
def _encoder_layer(passed: Stream, layer: int) -> np.ndarray:
    """Return the cosine distance between each token's states with and without the values of each token: [S, S]."""
    module, x = passed.layer("encoder", layer), passed.encoder.states[layer]
    assert isinstance(module, EncoderLayer)
    attention = module.attention

    def without(tokens: Sequence[int]) -> Tensor:
        y = module.residuals[0](
            x.expand(len(tokens) + 1, -1, -1),
            lambda h: attention(h, _zeroed(attention.keys_values(h), tokens), passed.source_mask, passed.tap),
        )
        return module.residuals[1](y, module.feed_forward)

    return _shares(_distances(passed, len(x), without))


@torch.no_grad()
def _decoder_layer(passed: Stream, layer: int) -> np.ndarray:
    """Return the cosine distance between each token's states with and without the values of each earlier token and of
    each source token: [T, T + S].
    """
    module, x = passed.layer("decoder", layer), passed.decoder.states[layer]
    assert isinstance(module, DecoderLayer)
    own, cross, memory = module.self_attention, module.cross_attention, passed.encoder.last

    def without(prefix: Sequence[int], source: Sequence[int]) -> Tensor:
        count = len(prefix) + len(source) + 1
        looked_at = memory.expand(count, -1, -1)
        y = module.residuals[0](
            x.expand(count, -1, -1),
            lambda h: own(h, _zeroed(own.keys_values(h), prefix), passed.target_mask, passed.tap),
        )
        y = module.residuals[1](
            y, lambda h: cross(h, _zeroed(cross.keys_values(looked_at), source), passed.source_mask, passed.tap)
        )
        return module.residuals[2](y, module.feed_forward)

    of_prefix = _distances(passed, len(x), lambda tokens: without(tokens, ()))
    of_source = _distances(passed, len(memory), lambda tokens: without((), tokens))
    return _shares(np.concatenate([of_prefix, of_source], axis=1))


def _zeroed(keys_values: tuple[Tensor, Tensor], tokens: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Return keys and values [B, H, K, D], in row b with the values of `tokens[b]` zero; further rows are unchanged."""
    if not tokens:
        return keys_values
    keys, values = keys_values[0], keys_values[1].clone()
    values[range(len(tokens)), :, list(tokens)] = 0
    return keys, values


def _distances(passed: Stream, count: int, without: Callable[[Sequence[int]], Tensor]) -> np.ndarray:
    """Return the cosine distance between the states of N tokens with and without the values of each of `count` tokens:
    [N, count].

    `without` takes B tokens and gives the states without each of them, and in the last row as they are: [B + 1, N, M].
    """
    parts = []
    for tokens in in_passes(range(count), rows_per_pass(passed.model, len(passed.source), len(passed.target))):
        states = without(tokens).double()
        distances = 1.0 - torch.cosine_similarity(states[:-1], states[-1], dim=-1)
        parts.append(distances.masked_fill(distances < COSINE_TOLERANCE, 0.0))  # rounding errors count as 0
    return torch.cat(parts).T.cpu().numpy()


def _shares(distances: np.ndarray) -> np.ndarray:
    """Return rows divided by their sum; a row of zeros belongs to its own token."""
    total = distances.sum(-1, keepdims=True)
    rows = np.eye(*distances.shape)
    return np.divide(distances, total, out=rows, where=total > 0)
