"""The network prepared for inference and decoding: the same results as `Transformer` in about half the time.

There is no dropout, linear layers with the same input are fused into one matrix product, and weights are stored in
oneDNN's layout. Weights may be in half precision; everything but linear layers is computed in float32, and so are
linear layers on a processor without fast half-precision products.

Shapes: B sentences, N hypotheses of them, a row each, H heads, Q queries, K keys, D = d_head, S source tokens,
T target tokens, V target vocabulary.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.attention import MultiHeadAttention, attend
from transformer.config import LARGE_PARAMETERS
from transformer.inference.cache import AbsorbedAttention, KeysValues, KeyValueCache
from transformer.inference.linear import PackedLinear, WeightSharingLinear, operators_for
from transformer.layers import DecoderLayer, EncoderLayer, FeedForward, Residual
from transformer.masks import source_mask, target_mask
from transformer.model import Decoder, Encoder, Transformer
from transformer.taps import Observer, Tap, reads_whole_pass, select_heads, with_pruned

LinearClass = type[PackedLinear]


class Prepared:
    """The prepared form of a model in evaluation mode.

    It holds no state of a run, so threads may share it. With `shares` it uses the model's own weights in place;
    otherwise it copies them, which can halve the time of a beam, and has to be prepared again after they change. By
    default weights are shared by models of more than LARGE_PARAMETERS, and by those in half precision on a processor
    that is slow at it.
    """

    @torch.inference_mode()
    def __init__(self, model: Transformer, shares: bool | None = None):
        assert not model.training, "dropout is left out"
        self.config, self.device = model.config, model.output.weight.device
        if shares is None:
            weight = model.output.weight
            slow = weight.device.type == "cpu" and operators_for(weight) is None and weight.dtype != torch.float32
            shares = slow or sum(p.numel() for p in model.parameters()) > LARGE_PARAMETERS
        linear = WeightSharingLinear if shares else PackedLinear
        self.encoder = PreparedEncoder(model.encoder, linear)
        self.decoder = PreparedDecoder(model.decoder, linear)
        self.output = linear(model.output)

    @torch.inference_mode()
    def __call__(self, src: Tensor, tgt: Tensor, tap: Tap | None = None) -> Tensor:
        """Return the next-token logits after each token of `tgt` [B, T], as `Transformer` does: [B, T, V]."""
        return self.write(tgt, self.read(src, tap), tap)

    @torch.inference_mode()
    def read(self, src: Tensor, tap: Tap | None = None) -> KeyValueCache:
        """Encode `src` [B, S] and return a cache from which a target can be decoded."""
        visible: Tensor | None = source_mask(src, self.config)
        if visible is not None and visible.all():
            visible = None
        memory = self.encoder(src, visible, tap)
        return KeyValueCache([layer.cross_attention.source(memory) for layer in self.decoder.layers], visible)

    @torch.inference_mode()
    def write(self, tgt: Tensor, cache: KeyValueCache, tap: Tap | None = None) -> Tensor:
        """Return the logits [N, T, V] after each token of `tgt` [N, T], which continues the tokens in `cache`.

        Several tokens at once are allowed only while the cache is empty.
        """
        mask = None
        if tgt.size(1) > 1:
            assert not cache.length, "after the first, tokens come one by one"
            mask = target_mask(tgt, self.config)
        return self.output(self.decoder(tgt, mask, cache, tap)).float()

    @torch.inference_mode()
    def write_next(self, prefix: Tensor, cache: KeyValueCache, tap: Tap | None = None) -> Tensor:
        """Return the next-token logits [N, V] after `prefix` [N, T], of which `cache` holds all tokens but the last.

        Without a look-ahead mask, and for a tap that depends on other rows, earlier states change with every new token;
        then the cache is dropped and the whole prefix is computed again.
        """
        if self.config.look_ahead_mask == "never" or reads_whole_pass(tap):
            cache.forget()
        mask = target_mask(prefix, self.config) if cache.length + 1 < prefix.size(1) else None
        return self.output(self.decoder(prefix[:, cache.length :], mask, cache, tap)[:, -1]).float()


class PreparedEncoder:
    def __init__(self, plain: Encoder, linear: LinearClass):
        self.embedding, self.norm = plain.embedding, Norm(plain.norm, linear)
        layers = children_of_type(EncoderLayer, plain.layers)
        self.layers = [PreparedEncoderLayer(layer, linear) for layer in layers]
        self.position_biases = position_biases([layer.attention for layer in layers], linear)

    def __call__(self, src: Tensor, mask: Tensor | None, tap: Tap | None) -> Tensor:
        x = self.embedding(src).float()
        biases = self.position_biases(src.size(1), src.size(1))
        for layer, bias in zip(self.layers, biases, strict=True):
            x = layer(x, mask, bias, tap)
        return self.norm(x)


class PreparedDecoder:
    def __init__(self, plain: Decoder, linear: LinearClass):
        self.embedding, self.norm = plain.embedding, Norm(plain.norm, linear)
        layers = children_of_type(DecoderLayer, plain.layers)
        self.layers = [PreparedDecoderLayer(layer, linear) for layer in layers]
        self.position_biases = position_biases([layer.self_attention for layer in layers], linear)

    def __call__(self, tgt: Tensor, mask: Tensor | None, cache: KeyValueCache, tap: Tap | None) -> Tensor:
        """Return the hidden states [N, T, d_model] of `tgt` [N, T], which continues the tokens in `cache`."""
        x = self.embedding(tgt, cache.length).float()
        biases = self.position_biases(tgt.size(1), cache.length + tgt.size(1))
        for layer, bias in zip(self.layers, biases, strict=True):
            x = layer(x, mask, bias, cache, tap)
        cache.length += tgt.size(1)
        return self.norm(x)


class PreparedEncoderLayer:
    def __init__(self, plain: EncoderLayer, linear: LinearClass):
        self.attention = SelfAttention(plain.attention, linear)
        self.feed_forward = PreparedFeedForward(plain.feed_forward, linear)
        self.residuals = [PreparedResidual(each, linear) for each in children_of_type(Residual, plain.residuals)]

    def __call__(self, x: Tensor, mask: Tensor | None, bias: Tensor | None, tap: Tap | None) -> Tensor:
        around_attention, around_feed_forward = self.residuals
        x = around_attention(x, lambda h, residual: self.attention(h, residual, mask, bias, tap))
        return around_feed_forward(x, self.feed_forward)


class PreparedDecoderLayer:
    def __init__(self, plain: DecoderLayer, linear: LinearClass):
        self.self_attention = SelfAttention(plain.self_attention, linear)
        self.cross_attention = CrossAttention(plain.cross_attention, linear)
        self.feed_forward = PreparedFeedForward(plain.feed_forward, linear)
        self.residuals = [PreparedResidual(each, linear) for each in children_of_type(Residual, plain.residuals)]

    def __call__(
        self, x: Tensor, mask: Tensor | None, bias: Tensor | None, cache: KeyValueCache, tap: Tap | None
    ) -> Tensor:
        around_self, around_cross, around_feed_forward = self.residuals
        x = around_self(x, lambda h, residual: self.self_attention(h, residual, mask, bias, tap, cache))
        x = around_cross(x, lambda h, residual: self.cross_attention(h, residual, cache, tap))
        return around_feed_forward(x, self.feed_forward)


class PreparedResidual:
    def __init__(self, plain: Residual, linear: LinearClass):
        self.norm, self.norm_first, self.shortcut = Norm(plain.norm, linear), plain.norm_first, plain.shortcut

    def __call__(self, x: Tensor, sublayer: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        """Apply `sublayer(x, residual)`, which returns its output plus the residual, fused into its last product."""
        if self.norm_first:
            return sublayer(self.norm(x), self.shortcut(x))
        return self.norm(sublayer(x, self.shortcut(x)))


class PreparedFeedForward:
    def __init__(self, plain: FeedForward, linear: LinearClass):
        self.inner, self.outer, self.activation = linear(plain.inner), linear(plain.outer), plain.activation
        self.gate = None if plain.gate is None else linear(plain.gate)

    def __call__(self, x: Tensor, residual: Tensor) -> Tensor:
        active = self.inner.relu(x) if self.activation is F.relu else self.activation(self.inner(x))
        return self.outer.plus(active if self.gate is None else active * self.gate(x), residual)


M = TypeVar("M", bound=nn.Module)


def children_of_type(kind: type[M], modules: nn.Module) -> list[M]:
    """Return the children of a module list that are of type `kind`."""
    return [module for module in modules.children() if isinstance(module, kind)]


class PreparedAttention:
    """Splitting and joining of heads, shared by self-attention and cross-attention."""

    def __init__(self, plain: MultiHeadAttention, linear: LinearClass):
        self.site, self.n_heads, self.scale = plain.site, plain.n_heads, plain.scale
        self.remaining, self.d_head = plain.remaining, plain.d_head
        self.output = linear(plain.output)

    def split(self, x: Tensor, projections: int) -> Tensor:
        """[N, Q, projections * H * D] -> [projections, N, H, Q, D]."""
        return x.float().view(*x.shape[:2], projections, len(self.remaining), self.d_head).permute(2, 0, 3, 1, 4)

    def wrap_tap(self, tap: Tap | None) -> Tap | None:
        """Wrap `tap` so that it sees all heads, including pruned ones."""
        return with_pruned(tap, self.remaining, self.n_heads)

    def join(self, heads: Tensor, residual: Tensor) -> Tensor:
        """Project the heads [N, H, Q, D] to [N, Q, d_model] and add `residual`."""
        return self.output.plus(heads.transpose(1, 2).flatten(-2), residual)


class SelfAttention(PreparedAttention):
    def __init__(self, plain: MultiHeadAttention, linear: LinearClass):
        super().__init__(plain, linear)
        self.query_key_value = linear(plain.query, plain.key, plain.value)

    def __call__(
        self,
        x: Tensor,
        residual: Tensor,
        mask: Tensor | None,
        bias: Tensor | None,
        tap: Tap | None,
        cache: KeyValueCache | None = None,
    ) -> Tensor:
        """Attend from `x` [N, Q, d_model] to itself and to the cached tokens, and add `residual`."""
        split = self.split(self.query_key_value(x), 3)
        k, v = (split[1:] if cache is None else cache.grow(self.site.layer, split[1:])).unbind()
        q = split[0]
        bias = None if bias is None else select_heads(self.remaining, bias)
        return self.join(attend(q, k, v, mask, self.site, self.wrap_tap(tap), self.scale, bias), residual)


class CrossAttention(PreparedAttention):
    def __init__(self, plain: MultiHeadAttention, linear: LinearClass):
        super().__init__(plain, linear)
        self.unpacked = plain.query, plain.output
        if linear is PackedLinear:  # `PackedLinear` copies the weights, so copy these too
            self.unpacked = copy.deepcopy(self.unpacked)
        self.query, self.key_value = linear(plain.query), linear(plain.key, plain.value)

    def source(self, memory: Tensor) -> KeysValues:
        """Project `memory` [B, S, d_model] to keys and values, each [B, H, S, D]."""
        k, v = self.split(self.key_value(memory), 2).contiguous().unbind()
        return k, v

    def __call__(self, x: Tensor, residual: Tensor, cache: KeyValueCache, tap: Tap | None) -> Tensor:
        (k, v), mask, rows = cache.source[self.site.layer], cache.visible, cache.rows
        tap = self.wrap_tap(tap)
        observer = tap if isinstance(tap, Observer) else None
        changing = tap is not observer
        if cache.absorbs and x.size(1) == 1 and not changing and self.remaining:
            return self.attend_absorbed(x, residual, cache, observer)
        if rows is None:
            return self.attend_to(x, residual, k, v, mask, tap)
        if changing or x.size(1) > 1:  # a tap that changes patterns expects one per row
            mask = None if mask is None else mask[rows.sentence]
            return self.attend_to(x, residual, k[rows.sentence], v[rows.sentence], mask, tap)
        # One matrix product for all rows of a sentence.
        by_row = None if observer is None else rows.by_row(observer)
        return rows.ungroup(self.attend_to(rows.group(x), rows.group(residual), k, v, mask, by_row))[:, None]

    def attend_to(
        self, x: Tensor, residual: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, tap: Tap | None
    ) -> Tensor:
        """Attend from `x` [B, Q, d_model] to `k` and `v` [B, H, K, D], and add `residual`."""
        q = self.split(self.query(x), 1)[0]
        return self.join(attend(q, k, v, mask, self.site, tap, self.scale), residual)

    def attend_absorbed(self, x: Tensor, residual: Tensor, cache: KeyValueCache, observer: Observer | None) -> Tensor:
        """Do as `attend_to`, with absorbed projections, for the newest token of a single sentence's hypotheses."""
        layer = self.site.layer
        if layer not in cache.absorbed:
            cache.absorbed[layer] = AbsorbedAttention(*self.unpacked, *cache.source[layer], self.scale)
        pattern, output = cache.absorbed[layer](x, residual)
        if observer is not None:
            observer.see(self.site, pattern)
        return output


class Norm:
    """A norm called without its module: for a single token, the module call costs as much as the norm itself."""

    def __init__(self, plain: nn.Module, linear: LinearClass):
        self.plain = _with(plain, linear)
        self.of_layer: tuple[Any, ...] | None = None
        if isinstance(self.plain, nn.LayerNorm):
            self.of_layer = self.plain.normalized_shape, self.plain.weight, self.plain.bias, self.plain.eps

    def __call__(self, x: Tensor) -> Tensor:
        normed: Tensor = self.plain(x) if self.of_layer is None else torch.layer_norm(x, *self.of_layer)
        return normed


def position_biases(
    attentions: list[MultiHeadAttention], linear: LinearClass
) -> Callable[[int, int], list[Tensor | None]]:
    """Return each layer's position bias as a function of (queries, keys); what layers share is computed once."""
    of_layer = [attention.position_bias for attention in attentions]
    own = {bias: _with(bias, linear) for bias in of_layer if bias is not None}

    def compute(queries: int, keys: int) -> list[Tensor | None]:
        computed = {bias: prepared(queries, keys).float() for bias, prepared in own.items()}
        return [None if bias is None else computed[bias] for bias in of_layer]

    return compute


def _with(plain: nn.Module, linear: LinearClass) -> nn.Module:
    """Return a module with the model's own weights, or with a copy of them where `linear` copies too."""
    return plain if linear is WeightSharingLinear else copy.deepcopy(plain).requires_grad_(False).float()
