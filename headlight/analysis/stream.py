"""The residual stream of one pass: the output of each layer, and what each block of a layer reads and adds.

Shapes: B sentences, S source tokens, T target tokens that are read, N tokens of either stack, L layers, M = d_model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.sites import require_intervened_heads
from transformer.layers import DecoderLayer, EncoderLayer, Residual
from transformer.masks import source_mask, target_mask
from transformer.model import Decoder, Encoder, Transformer
from transformer.taps import Tap
from transformer.yielding import yield_turn

SELF, CROSS, FEED_FORWARD = "self", "cross", "feed-forward"
Sublayer = Callable[[Tensor], Tensor]  # [1, N, M] -> [1, N, M]


class StackStates(NamedTuple):
    """The residual stream of one stack, without the batch axis."""

    states: tuple[Tensor, ...]  # L + 1 of [N, M]: the embedding, then what each layer leaves
    last: Tensor  # [N, M], the output of the stack: the last state after the final norm, if there is one


class BlockStates(NamedTuple):
    """The input and output of one block of a layer, [N, M] each."""

    before: Tensor  # the stream before the block
    read: Tensor  # the input of the sublayer: the normed stream, or the stream itself in post-norm
    output: Tensor  # of the sublayer, before it is added
    after: Tensor  # the stream after the block, normed in post-norm


@dataclass(frozen=True)
class Stream:
    """A pass over a source and a target: the ids, the masks, and the states of both stacks."""

    model: Transformer
    source: Tensor  # [S]
    target: Tensor  # [T]
    source_mask: Tensor  # bool, broadcasts to [1, H, N, S]; True where a query may look
    target_mask: Tensor  # bool, broadcasts to [1, H, T, T]
    encoder: StackStates
    decoder: StackStates
    tap: Tap | None = None  # that changed the patterns of the pass

    def ids(self, stack: str) -> Tensor:
        return self.source if stack == "encoder" else self.target

    def stack(self, stack: str) -> StackStates:
        return self.encoder if stack == "encoder" else self.decoder

    def module(self, stack: str) -> Encoder | Decoder:
        return self.model.encoder if stack == "encoder" else self.model.decoder

    def layer(self, stack: str, layer: int) -> EncoderLayer | DecoderLayer:
        module = self.module(stack).layers[layer]
        assert isinstance(module, EncoderLayer | DecoderLayer)
        return module

    def residuals(self, stack: str, layer: int) -> dict[str, tuple[Residual, Sublayer]]:
        """Return the blocks of a layer in their order, each as its residual connection and the module within."""
        module = self.layer(stack, layer)
        source_mask, memory, tap = self.source_mask, self.encoder.last[None], self.tap
        blocks: dict[str, Sublayer] = {}
        if isinstance(module, EncoderLayer):
            around = module.attention
            blocks[SELF] = lambda h: around(h, around.keys_values(h), source_mask, tap)
        else:
            own, cross, target_mask = module.self_attention, module.cross_attention, self.target_mask
            blocks[SELF] = lambda h: own(h, own.keys_values(h), target_mask, tap)
            blocks[CROSS] = lambda h: cross(h, cross.keys_values(memory), source_mask, tap)
        blocks[FEED_FORWARD] = module.feed_forward
        paths = [path for path in module.residuals if isinstance(path, Residual)]
        return {name: (path, blocks[name]) for name, path in zip(blocks, paths, strict=True)}


def require_paper_layers(model: Transformer) -> None:
    """Raise ValueError for a model whose layers lack what the paper's have: norms and residual connections."""
    missing = [] if model.config.residual else ["residual connections"]
    missing += ["layer norms"] * (model.config.norm_form == "none")
    if missing:
        raise ValueError(
            f"This model has no {' and no '.join(missing)}, and the parts of a layer are shown as the paper has them; "
            "choose another model here, or look at this one's heads."
        )


@torch.no_grad()
def stream(model: Transformer, src_ids: Sequence[int], tgt_ids: Sequence[int], tap: Tap | None = None) -> Stream:
    """Run the model's own layers one after the other, and return the output of each.

    `tgt_ids` runs from [SOS] to [EOS]; its last token is written and never read. `tap` may intervene, and is called
    again where a block is computed again. Raises ValueError for an intervention on a head that the model lacks.
    """
    require_intervened_heads(model, tap)
    assert not model.training, "dropout would change the numbers from pass to pass"
    device = model.output.weight.device
    src, tgt = torch.tensor([src_ids], device=device), torch.tensor([tgt_ids[:-1]], device=device)
    read, written = source_mask(src, model.config), target_mask(tgt, model.config)
    encoder = _without_batch(*layer_states(model.encoder, src, lambda layer, x: layer(x, read, tap)))
    memory = encoder.last[None]
    decoder = _without_batch(*layer_states(model.decoder, tgt, lambda layer, x: layer(x, memory, written, read, tap)))
    return Stream(model, src[0], tgt[0], read, written, encoder, decoder, tap)


def layer_states(
    stack: Encoder | Decoder, ids: Tensor, step: Callable[..., Tensor]
) -> tuple[list[Tensor], Tensor]:
    """Run the layers of a stack on ids [B, N]: `step(layer, x)` maps [B, N, M] to what the layer leaves.

    Returns L + 1 states [B, N, M], the embedding first, and what leaves the stack: the last through its final norm.
    """
    states = [stack.embedding(ids)]
    for layer in stack.layers:
        yield_turn()
        states.append(step(layer, states[-1]))
    return states, stack.norm(states[-1])


def _without_batch(states: Sequence[Tensor], last: Tensor) -> StackStates:
    return StackStates(tuple(state[0] for state in states), last[0])


@torch.no_grad()
def layer_blocks(stream: Stream, stack: str, layer: int) -> dict[str, BlockStates]:
    """Return the states of each block of a layer (from 0) by name: "self", "cross" (decoder), "feed-forward"."""
    x, blocks = stream.stack(stack).states[layer][None], {}
    for name, (residual, sublayer) in stream.residuals(stack, layer).items():
        recorded: list[Tensor] = []

        def record(h: Tensor, sublayer: Sublayer = sublayer, recorded: list[Tensor] = recorded) -> Tensor:
            recorded.extend((h, sublayer(h)))
            return recorded[1]

        after = residual(x, record)
        blocks[name] = BlockStates(x[0], recorded[0][0], recorded[1][0], after[0])
        x = after
    return blocks


@torch.no_grad()
def rest_of_layer(stream: Stream, stack: str, layer: int, block: str, after: Tensor) -> Tensor:
    """Return a layer's output at one token, [M], given the vector `after` [M] that leaves `block` at this token.

    The blocks that follow self-attention treat each token by itself, so one token is enough.
    """
    x, passed = after[None, None], False
    for name, (residual, sublayer) in stream.residuals(stack, layer).items():
        if passed:
            x = residual(x, sublayer)
        passed = passed or name == block
    return x[0, 0]


class StreamSize(NamedTuple):
    """The size of the residual stream at one point: the mean length of its vectors, over the tokens."""

    layer: int | None  # from 0; None for the embedding
    block: str  # "embedding", or the block that the stream has just left: "self", "cross", "feed-forward"
    mean: float


def stream_sizes(stream: Stream, stack: str) -> list[StreamSize]:
    """Return the size of a stack's residual stream as it enters the first layer, and after each block."""
    sizes = [StreamSize(None, "embedding", _mean_length(stream.stack(stack).states[0]))]
    for layer in range(len(stream.stack(stack).states) - 1):
        blocks = layer_blocks(stream, stack, layer).items()
        sizes += [StreamSize(layer, name, _mean_length(block.after)) for name, block in blocks]
    return sizes


def _mean_length(vectors: Tensor) -> float:
    return float(vectors.double().norm(dim=-1).mean())


class Lens(NamedTuple):
    """The most probable tokens after each token that was read, best first: [L + 1, T, top] each.

    Row 0 is from the embedding, the last row from the whole model.
    """

    ids: np.ndarray  # int64
    probabilities: np.ndarray  # float32


@torch.no_grad()
def lens(stream: Stream, top: int = 5) -> Lens:
    """Project each layer's state through the decoder's final norm (if any) and the output projection.

    The "logit lens" of nostalgebraist (2020). A layer was trained to be read by the next one, not by the output
    projection: an early row shows what the output projection can already read, not all that the layer encodes.
    """
    model = stream.model
    best = []
    for state in stream.decoder.states:  # a layer at a time: [T, V] is large
        yield_turn()
        probabilities = model.output(model.decoder.norm(state)).float().softmax(-1)
        best.append(probabilities.topk(min(top, probabilities.size(-1))))
    ids, shares = (torch.stack([layer[i] for layer in best]).cpu().numpy() for i in (1, 0))
    return Lens(ids, shares)
