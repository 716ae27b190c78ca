"""What the tutorials' code does, computed once more: their forward passes, and the lines of theirs that go wrong.

This is not their code, which is not part of this project: it is written from what is known of each, and the small files
in tests/fixtures, whose numbers their code made, say whether that is right. The names of tensors are those of
the importer's table; no number goes through the library. Where a line of theirs goes wrong, the same mechanism stands
here; where their code cannot run as it is, `REPAIRED` says what was mended before it gave the numbers in the fixtures.

Shapes: B sentences, T tokens, D = d_model, H heads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from headlight.importers.forms.tutorials import Tutorial

REPAIRED = {
    "transformers-laid-out": (
        "the padding mask is a float and meets `&` (float_masks); it is 1 at padding, so it would mask the words; "
        "cross-attention reshapes keys by the query's length (reshaped_by_the_query); the scheduler raises a whole "
        "number to the power of -0.5 (noam)"
    ),
    "nlp7-en-hi": "encoder and decoder never call `super().__init__()` (WithoutSuper)",
    "adeveloperdiary": (
        "the cosines are written over the sines (overwritten_table), which runs, and is read by the test as it is; "
        "attention returns one value where two are unpacked; the table is not cut to the sentence's length"
    ),
}
AS_THEY_RUN = ("ground-up", "transformer-from-scratch")  # whose masks have no effect, or are not passed

Hide = Callable[[Tensor, Tensor], Tensor]  # scores and mask (1 where a query may look) -> scores


# ---- what their code does with a mask ------------------------------------------------------------------------------


def kept(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(mask == 0, -1e9)


def dropped(scores: Tensor, mask: Tensor) -> Tensor:
    """*Building a transformer from the ground up*: without its underscore, `masked_fill` changes nothing."""
    scores.masked_fill(mask == 0, -1e9)
    return scores


def not_passed(scores: Tensor, mask: Tensor) -> Tensor:
    """The toy run of *Transformer from scratch* (2025): `if mask is not None` is never so."""
    given: Tensor | None = None
    if given is not None:
        scores = scores.masked_fill(given == 0, -1e9)
    return scores


# ---- lines that cannot run -----------------------------------------------------------------------------------------


def float_masks(tgt: Tensor, pad: int) -> Tensor:
    """*Transformers Laid Out*: 1 where there is padding, as a float, `&` the triangle."""
    padding = (tgt == pad).float()[:, None, None, :]
    return padding & torch.ones(tgt.size(1), tgt.size(1)).tril().bool()


def reshaped_by_the_query(query: Tensor, key: Tensor, heads: int) -> Tensor:
    """*Transformers Laid Out*: the keys [B, S, D] by the query's length T."""
    batch, length, width = query.shape
    return key.view(batch, length, heads, width // heads)


def noam(step: int, width: int, warmup: int) -> Tensor:
    """*Transformers Laid Out*: `torch.pow` of whole numbers that are no tensors."""
    return torch.pow(width, -0.5) * min(torch.pow(step, -0.5), step * torch.pow(warmup, -1.5))  # type: ignore[call-overload, no-any-return]


class WithoutSuper(nn.Module):
    """*NLP 7*: parts are set before there is a place for them."""

    def __init__(self) -> None:
        self.layers = nn.ModuleList()


def overwritten_table(length: int, width: int) -> Tensor:
    """*A developer diary*: both into the even columns, so the sines are lost and the odd ones stay 0."""
    position = torch.arange(length)[:, None].float()
    divisor = torch.exp(torch.arange(0, width, 2).float() * (-math.log(10_000.0) / width))
    table = torch.zeros(length, width)
    table[:, 0::2] = torch.sin(position * divisor)
    table[:, 0::2] = torch.cos(position * divisor)
    return table


# ---- their forward pass --------------------------------------------------------------------------------------------


class Model:
    """A tutorial's model on the tensors of its file."""

    def __init__(self, form: Tutorial, tensors: dict[str, Tensor], heads: int, pad: int, hide: Hide):
        self.form, self.tensors, self.heads, self.pad, self.hide = form, tensors, heads, pad, hide

    def log_probs(self, src: Tensor, tgt: Tensor) -> Tensor:
        seen = (src != self.pad).int()[:, None, None, :]
        triangle = torch.ones(tgt.size(1), tgt.size(1)).tril().int()
        memory = self.stack(0, src, [seen])
        out = self.stack(1, tgt, [(tgt != self.pad).int()[:, None, None, :] & triangle, seen], memory)
        return self.linear(out, self.form.output).log_softmax(-1)

    def stack(self, side: int, ids: Tensor, masks: list[Tensor], memory: Tensor | None = None) -> Tensor:
        form = self.form
        table = self.tensors[f"{form.embeddings[side]}.weight"]
        x = table[ids] * math.sqrt(table.size(1)) + self.tensors[form.tables[side]][0, : ids.size(1)]
        layer = 0
        while any(name.startswith(f"{form.layers[side]}.{layer}.") for name in self.tensors):
            at = f"{form.layers[side]}.{layer}"
            for place, (name, mask) in enumerate(zip(form.attentions[side], masks, strict=True)):
                x = self.around(x, f"{at}.{form.norms[place]}", self.attention(f"{at}.{name}", mask, memory, place))
            ff = f"{at}.{form.feed_forwards[side]}"
            x = self.around(x, f"{at}.{form.norms[len(masks)]}", partial(self.feed_forward, ff))
            layer += 1
        return x if form.final_norms is None else self.norm(x, form.final_norms[side])

    def around(self, x: Tensor, norm: str, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        return x + sublayer(self.norm(x, norm)) if self.form.norm == "pre" else self.norm(x + sublayer(x), norm)

    def attention(self, at: str, mask: Tensor, memory: Tensor | None, place: int) -> Callable[[Tensor], Tensor]:
        def run(x: Tensor) -> Tensor:
            read = memory if place and memory is not None else x
            q, k, v = (
                self.linear(of, f"{at}.{name}").unflatten(-1, (self.heads, -1)).transpose(1, 2)
                for of, name in zip((x, read, read), self.form.maps[:3], strict=True)
            )
            scores = self.hide(q @ k.transpose(-1, -2) / math.sqrt(q.size(-1)), mask)
            joined = (scores.softmax(-1) @ v).transpose(1, 2).flatten(-2)
            return self.linear(joined, f"{at}.{self.form.maps[3]}")

        return run

    def feed_forward(self, at: str, x: Tensor) -> Tensor:
        inner, outer = self.form.inner_outer
        return self.linear(self.linear(x, f"{at}.{inner}").relu(), f"{at}.{outer}")

    def linear(self, x: Tensor, name: str) -> Tensor:
        return nn.functional.linear(x, self.tensors[f"{name}.weight"], self.tensors.get(f"{name}.bias"))

    def norm(self, x: Tensor, name: str) -> Tensor:
        gain, bias = (self.tensors[f"{name}.{part}"] for part in self.form.gain_bias)
        how, centred = self.form.deviation, x - x.mean(-1, keepdim=True)
        variance = x.var(-1, keepdim=True, correction=1 if how.unbiased else 0)
        divisor = variance.sqrt() + how.eps if how.eps_outside else (variance + how.eps).sqrt()
        return gain * centred / divisor + bias
