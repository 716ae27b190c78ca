"""What really happens when a source token is missing: the measure that all others are compared with.

Shapes: S source tokens, T target tokens that are read, L layers, N tokens of a stack, M = d_model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from transformer.analysis.stream import CROSS, SELF, Stream, stream
from transformer.analysis.why.alti import Contributions
from transformer.layers import DecoderLayer, EncoderLayer
from transformer.model import Transformer

ROUNDING = 1e-13  # the square of what a float32 leaves open: the distance of two vectors that differ by rounding


@torch.no_grad()
def leave_one_out(model: Transformer, source: Sequence[int], target: Sequence[int]) -> np.ndarray:
    """How much less probable each written token is without each source token, in nats: [T, S].

    Each token of `source` in turn is taken out, so that the ones behind it move up; `target` is forced. Negative
    where a token becomes more probable.
    """
    assert len(source) > 1, "nothing would be left to read"
    device = model.output.weight.device
    written = torch.tensor(target[1:], device=device)
    shorter = [[*source[:i], *source[i + 1 :]] for i in range(len(source))]
    whole = _log_probs(model, torch.tensor([source], device=device), target, written)
    without = _log_probs(model, torch.tensor(shorter, device=device), target, written)
    return (whole - without).T.cpu().numpy()


def _log_probs(model: Transformer, src: Tensor, target: Sequence[int], written: Tensor) -> Tensor:
    """Of the written tokens, for each row of `src`: [B, T] float64."""
    tgt = torch.tensor([target[:-1]], device=src.device).expand(len(src), -1)
    log_probs = model(src, tgt).double().log_softmax(-1)
    return log_probs.gather(-1, written.expand(len(src), -1)[..., None])[..., 0]


def value_zeroing(model: Transformer, source: Sequence[int], target: Sequence[int]) -> Contributions:
    """The shares behind each step by how far each layer's output turns when a token's values are zero.

    Mohebbi et al. 2023, "Quantifying Context Mixing in Transformers": the token is still looked at, but hands over
    nothing; the cosine distance between what the layer leaves then and what it leaves otherwise, divided by the sum
    of its row. Layers are multiplied as in `contributions`.
    """
    passed = stream(model, source, target)
    memory = np.eye(len(source))
    for layer in range(model.config.encoder.n_layers):
        memory = _encoder_layer(passed, layer) @ memory
    prefix, from_source = np.eye(len(target) - 1), np.zeros((len(target) - 1, len(source)))
    for layer in range(model.config.decoder.n_layers):
        own, looked_at = np.split(_decoder_layer(passed, layer), [len(prefix)], axis=1)
        prefix, from_source = own @ prefix, own @ from_source + looked_at @ memory
    return Contributions(from_source, prefix)


@torch.no_grad()
def _encoder_layer(passed: Stream, layer: int) -> np.ndarray:
    """[S, S]: how far each token's state turns without the values of each."""
    module, x = passed.layer("encoder", layer), passed.encoder.states[layer]
    assert isinstance(module, EncoderLayer)
    attention, mask = module.attention, passed.source_mask
    rows = x.expand(len(x) + 1, -1, -1)
    y = module.residuals[0](rows, lambda h: attention(h, _zeroed(*attention.keys_values(h)), mask))
    return _turned(module.residuals[1](y, module.feed_forward))


@torch.no_grad()
def _decoder_layer(passed: Stream, layer: int) -> np.ndarray:
    """[T, T + S]: how far each token's state turns without the values of each before it, and of each of the source."""
    module, x = passed.layer("decoder", layer), passed.decoder.states[layer]
    assert isinstance(module, DecoderLayer)
    own, cross, memory = module.self_attention, module.cross_attention, passed.encoder.last
    turned = []
    for zeroed, count in ((SELF, len(x)), (CROSS, len(memory))):
        rows, looked_at = x.expand(count + 1, -1, -1), memory.expand(count + 1, -1, -1)

        def values(keys_values: tuple[Tensor, Tensor], here: bool) -> tuple[Tensor, Tensor]:
            return _zeroed(*keys_values) if here else keys_values

        in_self, in_cross = zeroed == SELF, zeroed == CROSS
        y = module.residuals[0](
            rows,
            lambda h, here=in_self, values=values: own(h, values(own.keys_values(h), here), passed.target_mask),
        )
        y = module.residuals[1](
            y,
            lambda h, here=in_cross, values=values, looked_at=looked_at: cross(
                h, values(cross.keys_values(looked_at), here), passed.source_mask
            ),
        )
        turned.append(_distances(module.residuals[2](y, module.feed_forward)))
    return _shares(np.concatenate(turned, axis=1))


def _zeroed(keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Keys and values [K + 1, H, K, D], those of token k zero in row k; the last row is as it was."""
    values = values.clone()
    token = torch.arange(values.size(2), device=values.device)
    values[token, :, token] = 0
    return keys, values


def _turned(states: Tensor) -> np.ndarray:
    return _shares(_distances(states))


def _distances(states: Tensor) -> np.ndarray:
    """Cosine distances of the rows of states [K + 1, N, M] from the last one: [N, K]; rounding alone is no distance."""
    changed, whole = states[:-1].double(), states[-1].double()
    distances = 1.0 - torch.cosine_similarity(changed, whole, dim=-1)
    return distances.masked_fill(distances < ROUNDING, 0.0).T.cpu().numpy()


def _shares(distances: np.ndarray) -> np.ndarray:
    """Rows divided by their sum; a row in which nothing turns belongs to its own token."""
    total = distances.sum(-1, keepdims=True)
    rows = np.eye(*distances.shape)
    return np.divide(distances, total, out=rows, where=total > 0)
