"""Taps record attention patterns or change them: each receives every pattern and returns the one to continue with.

Shapes: B sentences, H heads, Q queries, K keys, D = d_head.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeGuard

from torch import Tensor


class Site(NamedTuple):
    """The place of an attention module in the network, fixed when its layer is built. Layers count from 0."""

    stack: str  # "encoder" or "decoder"
    layer: int
    kind: str  # "self" or "cross"


class Inputs(NamedTuple):
    """The tensors from which a pattern was computed.

    The mask tells a masked key from one whose weight is 0, the values say how much a weight contributes, and queries
    and keys show where the pattern comes from.
    """

    q: Tensor  # [B, H, Q, D]
    k: Tensor  # [B, H, K, D]
    v: Tensor  # [B, H, K, D]
    mask: Tensor  # bool, broadcasts to [B, H, Q, K]; True where the query may look
    scale: float | None = None  # of the scores; None is 1 / √D
    bias: Tensor | None = None  # added to the scores, broadcasts to [B, H, Q, K]


Tap = Callable[[Site, Tensor, Inputs], Tensor]


class Observer:
    """A tap that changes nothing and reads only the patterns, not the tensors behind them.

    Attention may then be computed in the fastest way, as long as `see` is given the pattern.
    """

    def see(self, site: Site, pattern: Tensor) -> None:
        """Look at the pattern [B, H, Q, K] of one attention module."""
        raise NotImplementedError

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        self.see(site, pattern)
        return pattern


class Recorder(Observer, dict[Site, list[Tensor]]):
    """Records every pattern [B, H, Q, K], one per pass, by site."""

    def see(self, site: Site, pattern: Tensor) -> None:
        """Append the pattern to those of its site."""
        self.setdefault(site, []).append(pattern.detach())


class InputRecorder(dict[Site, Inputs]):
    """Records the inputs of each pattern of the latest pass, by site."""

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        q, k, v, mask, scale, bias = inputs
        detached = None if bias is None else bias.detach()
        self[site] = Inputs(q.detach(), k.detach(), v.detach(), mask.detach(), scale, detached)
        return pattern


def _with_head(pattern: Tensor, head: int, new: Tensor) -> Tensor:
    assert 0 <= head < pattern.size(1), f"head {head} of {pattern.size(1)}"
    changed = pattern.clone()
    changed[:, head] = new
    return changed


@dataclass(frozen=True)
class Scale:
    """Multiplies the weights of one head by `factor`, and with them the head's output."""

    site: Site
    head: int
    factor: float

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        if site != self.site:
            return pattern
        return _with_head(pattern, self.head, pattern[:, self.head] * self.factor)


@dataclass(frozen=True)
class Ablate:
    """Switches one head off: its weights become 0, and so does its output."""

    site: Site
    head: int

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        return Scale(self.site, self.head, 0.0)(site, pattern, inputs)


@dataclass(frozen=True)
class Uniform:
    """Makes one head attend equally to every key that is not masked."""

    site: Site
    head: int

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        if site != self.site:
            return pattern
        visible = inputs.mask.expand_as(pattern)[:, self.head].to(pattern.dtype)
        return _with_head(pattern, self.head, visible / visible.sum(-1, keepdim=True))


@dataclass(frozen=True)
class Replace:
    """Replaces the weights of one head by `rows[q][k]`, or by a single row for all queries."""

    site: Site
    head: int
    rows: tuple[tuple[float, ...], ...]

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        if site != self.site:
            return pattern
        return _with_head(pattern, self.head, pattern.new_tensor(self.rows))


class WholePass:
    """A tap whose result for one row depends on other rows.

    For it, decoding recomputes the whole prefix at each step, and passes it patterns [N, H, T, K], where other taps get
    only the newest token's row.
    """

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        raise NotImplementedError


def reads_whole_pass(tap: Tap | None) -> bool:
    return any(isinstance(part, WholePass) for part in (tap.taps if isinstance(tap, Chain) else (tap,)))


def expand_heads(remaining: Sequence[int], count: int, by_head: Tensor) -> Tensor:
    """Expand a tensor of the remaining heads [B, R, ...] to all heads [B, count, ...]; pruned ones are 0."""
    if len(remaining) == count:
        return by_head
    every = by_head.new_zeros(len(by_head), count, *by_head.shape[2:])
    every[:, list(remaining)] = by_head
    return every


def select_heads(remaining: Sequence[int], by_head: Tensor) -> Tensor:
    """Select the remaining heads of a tensor of all heads [B, H, ...]; the inverse of `expand_heads`."""
    return by_head if len(remaining) == by_head.size(1) else by_head[:, list(remaining)]


@dataclass(frozen=True)
class _ExpandedTap:
    """Passes a tap all heads by their original numbers; pruned ones have weight 0, as if switched off."""

    tap: Tap
    remaining: tuple[int, ...]
    count: int

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        q, k, v, every = (expand_heads(self.remaining, self.count, x) for x in (*inputs[:3], pattern))
        bias = None if inputs.bias is None else expand_heads(self.remaining, self.count, inputs.bias)
        return select_heads(self.remaining, self.tap(site, every, Inputs(q, k, v, inputs.mask, inputs.scale, bias)))


@dataclass(frozen=True)
class _ExpandedObserver(Observer):
    observer: Observer
    remaining: tuple[int, ...]
    count: int

    def see(self, site: Site, pattern: Tensor) -> None:
        self.observer.see(site, expand_heads(self.remaining, self.count, pattern))


def with_pruned(tap: Tap | None, remaining: tuple[int, ...], count: int) -> Tap | None:
    """Wrap `tap` for an attention module with the heads `remaining` of `count`, so that the tap sees all `count`."""
    if tap is None or len(remaining) == count:
        return tap
    return (
        _ExpandedObserver(tap, remaining, count) if isinstance(tap, Observer) else _ExpandedTap(tap, remaining, count)
    )


Intervention = Ablate | Scale | Uniform | Replace


def is_ablation(tap: Tap) -> TypeGuard[Ablate | Scale]:
    """Return whether an intervention sets a head's output to 0."""
    return isinstance(tap, Ablate) or (isinstance(tap, Scale) and tap.factor == 0)


def require_heads(tap: Tap | None, heads: Mapping[Site, Sequence[int]]) -> None:
    """Raise ValueError for an intervention on a head that the model lacks, which would otherwise do nothing.

    `heads` lists the model's heads by site. Taps that are not interventions are not checked.
    """
    for intervention in tap.taps if isinstance(tap, Chain) else (tap,):
        if not isinstance(intervention, Intervention):
            continue
        site, head = intervention.site, intervention.head
        if site not in heads:
            layers = sum((other.stack, other.kind) == (site.stack, site.kind) for other in heads)
            there = f"such layers 0 to {layers - 1}" if layers else "none"
            raise ValueError(
                f"{intervention} is for {site.kind} attention in {site.stack} layer {site.layer}; "
                f"this model has {there}."
            )
        if head not in heads[site]:
            there = ", ".join(map(str, heads[site])) or "none"
            raise ValueError(f"{intervention} is for head {head}; the heads that this model has there: {there}.")


@dataclass(frozen=True)
class Chain:
    taps: tuple[Tap, ...]

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        for tap in self.taps:
            pattern = tap(site, pattern, inputs)
        return pattern


@dataclass(frozen=True)
class Observers(Observer):
    observers: tuple[Observer, ...]

    def see(self, site: Site, pattern: Tensor) -> None:
        for observer in self.observers:
            observer.see(site, pattern)


def chain(*taps: Tap | None) -> Tap | None:
    """Compose taps, applied from left to right; None entries are dropped, and no tap at all gives None."""
    flat = (part for tap in taps for part in (tap.taps if isinstance(tap, Chain) else (tap,)))
    present = tuple(tap for tap in flat if tap is not None)
    if len(present) <= 1:
        return present[0] if present else None
    observers = tuple(tap for tap in present if isinstance(tap, Observer))
    return Observers(observers) if len(observers) == len(present) else Chain(present)
