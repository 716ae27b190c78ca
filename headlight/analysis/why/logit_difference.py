"""Why this word rather than that one: the difference of their two logits, taken apart.

The last state of the decoder is a sum of what the embedding and every head, feed-forward network and bias before it
wrote into the residual stream, and a logit is a product with it: the direct logit attribution of Elhage et al. 2021,
"A Mathematical Framework for Transformer Circuits". What a part does by way of others that read it is counted as
theirs. Norms divide by a number that all parts have in common; it is held at the value that it had. So is the factor by
which the activation of BERT's output transform multiplies each number.

Shapes: L decoder layers, H heads, T target tokens that are read, M = d_model, P parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.sites import attention_at
from headlight.analysis.stream import CROSS, FEED_FORWARD, SELF, Stream, layer_blocks, stream
from headlight.analysis.why.alti import frozen, heads_of, projected
from transformer.layers import OutputTransform, Residual
from transformer.model import Transformer
from transformer.quoting import quoted
from transformer.taps import Site, Tap

EMBEDDING, BIAS = "embedding", "bias"
Named = tuple[str, int, int]  # what it is, its layer and its head


class Contrast(NamedTuple):
    """The difference of the logits of `written` and `instead` at one step, and each part's contribution.

    `parts` has a number for "embedding" and for "bias" (those of the projections, norms and logits together), heads of
    "self" and "cross" attention as [L, H], and the "feed-forward" networks as [L]. They sum to `difference`.
    """

    step: int
    written: int
    instead: int
    difference: float  # the model's own
    parts: dict[str, np.ndarray]

    @property
    def total(self) -> float:
        """The sum of the parts; how far it is from `difference` is the error of taking it apart."""
        return float(sum(part.sum() for part in self.parts.values()))


def require_step(target: Sequence[int], step: int) -> None:
    """Raise ValueError unless a token of `target` (from [SOS] on) was written at `step`, from 0."""
    if not 0 <= step < len(target) - 1:
        raise ValueError(f"The step is {step}; the {len(target) - 1} written tokens have steps 0 to {len(target) - 2}.")


def require_token(model: Transformer, token: int) -> None:
    """Raise ValueError for an id that the target's vocabulary lacks."""
    count = model.config.target_vocab_size
    if not 0 <= token < count:
        raise ValueError(f"The token to compare with is {quoted(token)}; the vocabulary has ids 0 to {count - 1}.")


@torch.no_grad()
def contrast(
    model: Transformer, source: Sequence[int], target: Sequence[int], step: int, instead: int, tap: Tap | None = None
) -> Contrast:
    """Take apart the logit of the token written at `step`, less that of `instead`.

    `source` are ids up to [EOS], `target` from [SOS] to [EOS]; steps count from 0 over the tokens after [SOS]. Raises
    ValueError for a step or a token that there is not. `tap` intervenes in the pass, so that the parts are those of the
    model with the intervention; raises ValueError for a head that the model lacks.
    """
    require_step(target, step)
    require_token(model, instead)
    written = target[step + 1]
    passed = stream(model, source, target[: step + 2], tap)  # nothing later is read, whatever the masks
    weight, own = model.output.weight, model.output.bias
    last = passed.decoder.last[-1]
    logits = model.output(last).double()
    direction = weight[written].double() - weight[instead].double()
    parts = _parts(passed)
    effects = {name: float(vector @ direction) for name, vector in parts.items()}
    if own is not None:
        effects[BIAS, 0, 0] += float(own[written].double() - own[instead].double())
    difference = float(logits[written] - logits[instead])
    return Contrast(step, written, instead, difference, _by_name(effects))


def _parts(passed: Stream) -> dict[Named, Tensor]:
    """Return the contribution of each part to the decoder's last state at the last token, [M] each, float64."""
    heads, model = heads_of(passed), passed.model
    parts: dict[Named, Tensor] = {(EMBEDDING, 0, 0): passed.decoder.states[0][-1].double()}
    parts[BIAS, 0, 0] = torch.zeros_like(parts[EMBEDDING, 0, 0])
    for layer in range(model.config.decoder.n_layers):
        blocks = layer_blocks(passed, "decoder", layer)
        for name, (residual, _) in passed.residuals("decoder", layer).items():
            output, around = blocks[name].given[-1].double(), residual.around(blocks[name].before[-1]).double()
            if not residual.connected:  # what was in the stream before is not in it any more
                parts = {part: torch.zeros_like(vector) for part, vector in parts.items()}
            if name == FEED_FORWARD:
                parts[name, layer, 0] = output
            else:
                site = Site("decoder", layer, name)
                pattern = heads.patterns[site][:, -1].double()  # [H, K]
                moved = torch.einsum("hk,hkm->hm", pattern, projected(model, site, heads.values[site]))
                parts.update(((name, layer, head), vector) for head, vector in enumerate(moved))
                bias = attention_at(model, site).output.bias
                if bias is not None:
                    parts[BIAS, 0, 0] = parts[BIAS, 0, 0] + bias.double()
            if not residual.norm_first:
                parts = _through(residual.norm, around + output, parts)
    last, norm = passed.decoder.states[-1][-1].double(), model.decoder.norm
    return _transformed(norm, last, parts) if isinstance(norm, OutputTransform) else _through(norm, last, parts)


def _transformed(transform: OutputTransform, x: Tensor, parts: dict[Named, Tensor]) -> dict[Named, Tensor]:
    """Return the parts of `x` [M] as they leave the layer before the output projection."""
    weight, bias = transform.linear.weight.double(), transform.linear.bias.double()
    inner = weight @ x + bias
    active = transform.activation(inner)
    factor = torch.where(inner == 0, 0.0, active / inner)
    images = dict(zip(parts, torch.stack(list(parts.values())) @ weight.T * factor, strict=True))
    images[BIAS, 0, 0] = images[BIAS, 0, 0] + bias * factor
    return _through(transform.norm, active, images)


def _through(norm: Residual | torch.nn.Module, x: Tensor, parts: dict[Named, Tensor]) -> dict[Named, Tensor]:
    """Return the parts of `x` [M] as they leave a norm; its own bias joins the biases."""
    fixed = frozen(norm, x[None])
    images = fixed.linear(torch.stack(list(parts.values()))[None])[0]
    through = dict(zip(parts, images, strict=True))
    through[BIAS, 0, 0] = through[BIAS, 0, 0] + fixed.bias
    return through


def _by_name(effects: dict[Named, float]) -> dict[str, np.ndarray]:
    """Return the effects as arrays: [L, H] for heads, [L] for feed-forward networks, a number for the rest."""
    arrays: dict[str, np.ndarray] = {}
    for kind in (EMBEDDING, SELF, CROSS, FEED_FORWARD, BIAS):
        by_head = {(layer, head): effect for (name, layer, head), effect in effects.items() if name == kind}
        layers, heads = (1 + max(key[axis] for key in by_head) for axis in (0, 1))
        array = np.array([[by_head[layer, head] for head in range(heads)] for layer in range(layers)])
        arrays[kind] = array if kind in (SELF, CROSS) else array[:, 0] if kind == FEED_FORWARD else array[0, 0]
    return arrays
