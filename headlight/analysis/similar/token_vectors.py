"""Vectors of every token in a pass: its states by layer, the outputs of heads, and rows of attention relative to it.

Shapes: B sentences, S source tokens, T target tokens that are read, N of either, Q queries, K keys, H heads,
D = d_head, M = d_model.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from headlight.analysis.sites import attention_at, kind_of, site_of
from headlight.analysis.stream import layer_states
from transformer.masks import source_mask, target_mask
from transformer.model import Transformer
from transformer.quoting import quoted
from transformer.taps import Inputs, Site, Tap, chain
from transformer.tokenizers import Tokenizer
from transformer.trace import Kind

Form = Literal["state", "output", "row"]
ROW_REACH = 8  # distances up to this one, on either side, have entries of their own in a relative row
# The other five entries: tokens farther before and farther after, special tokens, and the first and the last token.
ROW_SIZE = 2 * ROW_REACH + 6
SITE_FORMS = (
    "encoder.3 or decoder.3, the state after layer 3 (0 is the embedding); encoder.2.output and cross.2.row, the "
    "outputs and the attention rows of the heads of layer 2"
)
_SITE = re.compile(r"(encoder|decoder|cross)\.([0-9]{1,3})(?:\.(output|row)(?:\.([1-9][0-9]{0,3}))?)?")


class TokenSite(NamedTuple):
    """A site whose vectors are compared: the state of a token, or the output or attention row of a head at a token.

    A token of the decoder or of cross-attention is a step: the token that is read, and the one that is written next.
    """

    kind: Kind
    layer: int  # of heads from 0; of a state the number of layers before it, 0 for the embedding
    form: Form = "state"
    head: int | None = None  # from 0; None for a state, and for all heads of the layer

    def __str__(self) -> str:
        if self.form == "state":
            return f"{self.kind}.{self.layer}"
        return f"{self.kind}.{self.layer + 1}.{self.form}" + (f".{self.head + 1}" if self.head is not None else "")

    @classmethod
    def parse(cls, text: str) -> TokenSite:
        """Parse the form that `str` writes, in which heads and their layers count from 1. Raises ValueError."""
        match = _SITE.fullmatch(text)
        if match is None or (match[3] and match[2].strip("0") == "") or (not match[3] and match[1] == "cross"):
            raise ValueError(f"{quoted(text)} is not a site that can be compared; write {SITE_FORMS}.")
        kind, layer, form, head = match.groups()
        if form is None:
            return cls(kind, int(layer))  # type: ignore[arg-type]
        return cls(kind, int(layer) - 1, form, int(head) - 1 if head else None)  # type: ignore[arg-type]

    @property
    def side(self) -> Literal["source", "target"]:
        """The side whose tokens have vectors at the site."""
        return "source" if self.kind == "encoder" else "target"

    @property
    def every_head(self) -> TokenSite:
        """The site of all heads of the layer, as an index stores it."""
        return self._replace(head=None)

    def shape(self, model: Transformer) -> tuple[int, ...]:
        """Return the shape of a token's vector: [M], [H, D] or [H, ROW_SIZE].

        Raises ValueError for a layer or head that the model lacks.
        """
        config = model.config
        stack = config.encoder if self.kind == "encoder" else config.decoder
        last = stack.n_layers if self.form == "state" else stack.n_layers - 1
        if not 0 <= self.layer <= last:
            first, end = (0, last) if self.form == "state" else (1, last + 1)
            raise ValueError(f"{self} is a layer that this model lacks; choose one from {first} to {end}.")
        if self.head is not None and self.head >= stack.n_heads:
            raise ValueError(f"{self} is a head that this model lacks; choose one from 1 to {stack.n_heads}.")
        if self.form == "state":
            return (config.d_model,)
        d_head = attention_at(model, site_of(self.kind, self.layer)).d_head
        return stack.n_heads, d_head if self.form == "output" else ROW_SIZE


class TokenVectors(NamedTuple):
    """The vectors of a pass by site, [B, N, M] or [B, N, H, ...] each, and the mean of all cross-attention heads."""

    by_site: dict[TokenSite, Tensor]
    cross: Tensor | None  # [B, T, S]; None where nothing needed the decoder


@torch.inference_mode()
def token_vectors(
    model: Transformer,
    source: Tensor,
    target: Tensor,
    sites: Collection[TokenSite],
    special: tuple[Tensor, Tensor],
    tap: Tap | None = None,
    with_cross: bool = False,
) -> TokenVectors:
    """Return the vectors of the `sites` (of all heads) in a pass over `source` [B, S] and `target` [B, T].

    A head's output is the weighted sum of its values, before the output projection. `special` says which tokens of
    `source` and `target` are special, or padding. `tap` may intervene. With `with_cross`, the decoder runs even where
    no site needs it.
    """
    collector = _Collector(sites, with_cross)
    taps = chain(tap, collector)
    read, written = source_mask(source, model.config), target_mask(target, model.config)
    states, memory = layer_states(model.encoder, source, lambda layer, x: layer(x, read, taps))
    vectors = {site: states[site.layer] for site in sites if site.form == "state" and site.kind == "encoder"}
    if with_cross or any(site.side == "target" for site in sites):
        states, _ = layer_states(model.decoder, target, lambda layer, x: layer(x, memory, written, read, taps))
        vectors |= {site: states[site.layer] for site in sites if site.form == "state" and site.kind == "decoder"}
    cross = collector.cross
    ordinary = {"encoder": ~special[0], "decoder": ~special[1], "cross": ~special[0]}
    for site, pattern in collector.patterns.items():
        queries = torch.arange(pattern.size(2), device=pattern.device).expand(len(pattern), -1)
        if site.kind == "cross":
            assert cross is not None
            queries = cross.masked_fill(special[0][:, None], -1).argmax(-1)
        vectors[site] = relative_rows(pattern, queries, ordinary[site.kind])
    return TokenVectors(vectors | collector.outputs, cross)


class _Collector:
    """A tap that collects what `sites` need: outputs of heads, patterns, and the mean of all cross-attention heads."""

    def __init__(self, sites: Collection[TokenSite], with_cross: bool) -> None:
        self.sites = set(sites)
        self.with_cross = with_cross or any(site.kind == "cross" and site.form == "row" for site in sites)
        self.outputs: dict[TokenSite, Tensor] = {}  # [B, Q, H, D]
        self.patterns: dict[TokenSite, Tensor] = {}  # [B, H, Q, K]
        self.layers: int = 0  # the number of cross-attention layers in the mean so far
        self.cross: Tensor | None = None  # [B, T, S]

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        kind = kind_of(site)
        output, row = (TokenSite(kind, site.layer, form) for form in ("output", "row"))
        if output in self.sites:
            self.outputs[output] = (pattern.float() @ inputs.v.float()).transpose(1, 2)
        if row in self.sites:
            self.patterns[row] = pattern.float()
        if kind == "cross" and self.with_cross:
            mean = pattern.float().mean(1)
            self.layers += 1
            self.cross = mean if self.cross is None else self.cross + (mean - self.cross) / self.layers
        return pattern


def relative_rows(pattern: Tensor, queries: Tensor, ordinary: Tensor) -> Tensor:
    """Return the rows of a pattern [B, H, Q, K] as weights by distance from a token: [B, Q, H, ROW_SIZE].

    `queries` [B, Q] is the position among the keys that each row is relative to: in self-attention the token's own, in
    cross-attention that of the source token which the mean of all heads looks at most. The entries are the weights on
    tokens farther before, at distances -ROW_REACH to ROW_REACH, and farther after; the weight on special tokens, which
    count at no distance; and, once more, the weights on the first and on the last of the `ordinary` tokens [B, K].
    """
    batch, heads, rows, keys = pattern.shape
    position = torch.arange(keys, device=pattern.device)
    bins = (position - queries[..., None]).clamp(-ROW_REACH - 1, ROW_REACH + 1) + ROW_REACH + 1  # [B, Q, K]
    bins = torch.where(ordinary[:, None], bins, 2 * ROW_REACH + 3)
    relative = pattern.new_zeros(batch, heads, rows, ROW_SIZE)
    relative.scatter_add_(-1, bins[:, None].expand(-1, heads, -1, -1), pattern)
    marks = ordinary.long()
    for column, key in ((-2, marks.argmax(-1)), (-1, keys - 1 - marks.flip(-1).argmax(-1))):
        weight = pattern.gather(-1, key[:, None, None, None].expand(-1, heads, rows, 1))[..., 0]
        relative[..., column] = weight * ordinary.any(-1)[:, None, None]
    return relative.transpose(1, 2)


def special_tokens(tokenizer: Tokenizer, ids: Tensor, pad_id: int) -> Tensor:
    """Return which of the ids are special tokens or padding: bool, as `ids`. An unknown token is not special."""
    special = {*tokenizer.special_ids, pad_id} - {tokenizer.unk_id}
    return torch.isin(ids, torch.tensor(sorted(special), device=ids.device))
