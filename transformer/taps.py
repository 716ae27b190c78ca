"""Recording and intervening are one thing: a tap sees each attention pattern and returns the one to go on with.

Shapes: B sentences, H heads, Q queries, K keys, D = d_head.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeGuard

from torch import Tensor


class Site(NamedTuple):
    """Where an attention stands: fixed when its layer is built. Layers count from 0."""

    stack: str  # "encoder" or "decoder"
    layer: int
    kind: str  # "self" or "cross"


class Inputs(NamedTuple):
    """What a pattern was computed from.

    A tap needs the mask to tell a hidden key from one that merely weighs 0, the values to say how much a weight
    moves, and the queries and keys to show where the pattern comes from.
    """

    q: Tensor  # [B, H, Q, D]
    k: Tensor  # [B, H, K, D]
    v: Tensor  # [B, H, K, D]
    mask: Tensor  # bool, broadcasts to [B, H, Q, K]; True where the query may look


Tap = Callable[[Site, Tensor, Inputs], Tensor]


class Observer:
    """A tap that changes nothing and looks at the patterns alone, never at what they were computed from.

    So attention may be computed in whichever way is fastest, and `see` is shown what the pattern would have been.
    """

    def see(self, site: Site, pattern: Tensor) -> None:
        raise NotImplementedError

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        self.see(site, pattern)
        return pattern


class Recorder(Observer, dict[Site, list[Tensor]]):
    """Keeps the patterns it sees, [B, H, Q, K] a pass."""

    def see(self, site: Site, pattern: Tensor) -> None:
        self.setdefault(site, []).append(pattern.detach())


class InputRecorder(dict[Site, Inputs]):
    """A tap that keeps what the patterns of the latest pass were computed from."""

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        self[site] = Inputs(*(x.detach() for x in inputs))
        return pattern


def _with_head(pattern: Tensor, head: int, new: Tensor) -> Tensor:
    assert 0 <= head < pattern.size(1), f"head {head} of {pattern.size(1)}"
    changed = pattern.clone()
    changed[:, head] = new
    return changed


@dataclass(frozen=True)
class Scale:
    """Multiplies the weights of one head by `factor`, so that it adds that much of its value to the sum."""

    site: Site
    head: int
    factor: float

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        if site != self.site:
            return pattern
        return _with_head(pattern, self.head, pattern[:, self.head] * self.factor)


@dataclass(frozen=True)
class Ablate:
    """Switches one head off: its weights become 0, so it adds nothing."""

    site: Site
    head: int

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        return Scale(self.site, self.head, 0.0)(site, pattern, inputs)


@dataclass(frozen=True)
class Uniform:
    """Makes one head look at every key that it may see by the same share."""

    site: Site
    head: int

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        if site != self.site:
            return pattern
        visible = inputs.mask.expand_as(pattern)[:, self.head].to(pattern.dtype)
        return _with_head(pattern, self.head, visible / visible.sum(-1, keepdim=True))


@dataclass(frozen=True)
class Replace:
    """Gives one head the row or rows that the caller wrote: `rows[q][k]`, or one row for every query."""

    site: Site
    head: int
    rows: tuple[tuple[float, ...], ...]

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        if site != self.site:
            return pattern
        return _with_head(pattern, self.head, pattern.new_tensor(self.rows))


class WholePass:
    """A tap that makes a row of a pattern of other rows too, so that a decode computes the whole prefix at each step.

    It sees [N, H, T, K] there, where other taps see the newest token's row.
    """

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        raise NotImplementedError


def reads_whole_pass(tap: Tap | None) -> bool:
    return any(isinstance(one, WholePass) for one in (tap.taps if isinstance(tap, Chain) else (tap,)))


def among_all(kept: Sequence[int], count: int, by_head: Tensor) -> Tensor:
    """What the heads that are left give, [B, kept, ...], among all that there were, [B, count, ...]: others give 0."""
    if len(kept) == count:
        return by_head
    every = by_head.new_zeros(len(by_head), count, *by_head.shape[2:])
    every[:, list(kept)] = by_head
    return every


def only(kept: Sequence[int], by_head: Tensor) -> Tensor:
    """The other way round: of what all heads give, [B, H, ...], that of the heads that are left."""
    return by_head if len(kept) == by_head.size(1) else by_head[:, list(kept)]


@dataclass(frozen=True)
class _AmongAll:
    """Shows a tap the heads that are left by the numbers that they had; the others weigh 0, as if switched off."""

    tap: Tap
    kept: tuple[int, ...]
    count: int

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        q, k, v = (among_all(self.kept, self.count, x) for x in inputs[:3])
        changed = self.tap(site, among_all(self.kept, self.count, pattern), Inputs(q, k, v, inputs.mask))
        return only(self.kept, changed)


@dataclass(frozen=True)
class _ObservedAmongAll(Observer):
    observer: Observer
    kept: tuple[int, ...]
    count: int

    def see(self, site: Site, pattern: Tensor) -> None:
        self.observer.see(site, among_all(self.kept, self.count, pattern))


def with_pruned(tap: Tap | None, kept: tuple[int, ...], count: int) -> Tap | None:
    """`tap` for an attention that has left the heads `kept` of `count`: a tap sees all of them."""
    if tap is None or len(kept) == count:
        return tap
    return _ObservedAmongAll(tap, kept, count) if isinstance(tap, Observer) else _AmongAll(tap, kept, count)


Intervention = Ablate | Scale | Uniform | Replace


def switches_off(one: Tap) -> TypeGuard[Ablate | Scale]:
    """Whether nothing is left of the head."""
    return isinstance(one, Ablate) or (isinstance(one, Scale) and one.factor == 0)


def require_heads(tap: Tap | None, heads: Mapping[Site, Sequence[int]]) -> None:
    """Raises ValueError where an intervention is meant for a head that a model lacks: it would change nothing.

    `heads` are those that the model has at each site. Taps of other sorts are not asked.
    """
    for one in tap.taps if isinstance(tap, Chain) else (tap,):
        if not isinstance(one, Intervention):
            continue
        if one.site not in heads:
            layers = sum((site.stack, site.kind) == (one.site.stack, one.site.kind) for site in heads)
            there = f"such layers 0 to {layers - 1}" if layers else "none"
            raise ValueError(
                f"{one} is for {one.site.kind} attention in {one.site.stack} layer {one.site.layer}; this "
                f"model has {there}."
            )
        if one.head not in heads[one.site]:
            there = ", ".join(map(str, heads[one.site])) or "none"
            raise ValueError(f"{one} is for head {one.head}; the heads that this model has there: {there}.")


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
    """The taps one after the other, those that are None left out; None where nothing remains."""
    flat = (one for tap in taps for one in (tap.taps if isinstance(tap, Chain) else (tap,)))
    present = tuple(tap for tap in flat if tap is not None)
    if len(present) <= 1:
        return present[0] if present else None
    observers = tuple(tap for tap in present if isinstance(tap, Observer))
    return Observers(observers) if len(observers) == len(present) else Chain(present)
