"""Activation patching: put parts of one run into the run of another sentence, to find the parts that matter.

Method (Vig et al. 2020, "Investigating Gender Bias in Language Models Using Causal Mediation Analysis";
Wang et al. 2023, "Interpretability in the Wild"). The model reads a corrupted source, which makes it prefer another
word. Denoising copies the activations of one part from the true run into the corrupted run: how much of the original
preference is restored? Noising copies them from the corrupted run into the true run: how much of it is lost?
Heimersheim and Nanda 2024, "How to use and interpret activation patching": a part that restores the preference is
sufficient for it, a part that breaks it is necessary. If two parts can each do the work alone, denoising either
restores the preference and noising neither breaks it; if they need each other, noising either breaks it and denoising
neither restores it.

A pattern can be exchanged without the values that it weighs, which separates where a head looks from what it hands over
(Vig et al. patch attention in this way; Geiger et al. 2021, "Causal Abstractions of Neural Networks", define such
interchange interventions for any variable).

Shapes: S source tokens, T target tokens that are read, N tokens of a stack, L layers, H heads, B rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.compared import pair_equal
from headlight.analysis.passes import in_passes, rows_per_pass
from headlight.analysis.sites import all_heads, attention_at, require_intervened_heads
from headlight.analysis.why.logit_difference import require_step, require_token
from headlight.analysis.why.patched import FEED_FORWARD, HEADS, PATTERN, STATE, Point, patched
from transformer.decoding.search import allowed
from transformer.model import Transformer
from transformer.quoting import quoted
from transformer.taps import Inputs, Recorder, Site, Tap, chain

Head = tuple[Site, int]
Pairs = Sequence[tuple[int, int]]  # the indices of tokens of the true and of the corrupted source that correspond
Direction = Literal["denoise", "noise"]
PARTS = ("heads", "patterns", "head tokens", "feed-forward", "states")


@dataclass(frozen=True)
class Corruption:
    """A source and its corrupted version, both read with the same `target`, from [SOS] to [EOS], up to `step`.

    The metric is the logit of the token of `target` at `step`, minus the logit of `instead`. `step` defaults to the
    first step at which the corrupted run prefers another token, and `instead` to that token. `pairs` are the indices
    of corresponding tokens of `source` and `corrupted`, needed only if the lengths differ.
    """

    source: Sequence[int]
    corrupted: Sequence[int]
    target: Sequence[int]
    step: int | None = None
    instead: int | None = None
    pairs: Pairs | None = None


@dataclass(frozen=True)
class Patching:
    """The effect of exchanging each part alone, as a share of the difference between the two runs.

    In denoising, it is the share of the logit difference that is restored, and 1 means the value of the true run. In
    noising, it is the share that is lost, and 1 means the value of the corrupted run.

    The dictionaries of parts that were not requested are empty. NaN stands for heads that were pruned or not requested,
    and for source tokens that correspond to none of the corrupted source. `analysis.sites.by_kind` turns the shares of
    heads by site into [L, H].
    """

    step: int
    written: int
    instead: int
    direction: Direction
    true: float  # logit of `written` less that of `instead`, with the true source
    corrupted: float  # the same with the corrupted source
    restored: dict[Site, np.ndarray]  # [H], of heads, each exchanged at every token
    patterns: dict[Site, np.ndarray]  # [H], of attention patterns
    head_tokens: dict[Site, np.ndarray]  # [H, N], of heads at one token
    feed_forward: dict[str, np.ndarray]  # by stack, [L, N], of the outputs of feed-forward networks at one token
    states: dict[str, np.ndarray]  # by stack, [L + 1, N], of the residual stream after the embedding and each layer
    everything: float  # the share of all source embeddings together: 1, unless some token has no counterpart
    nothing: float  # the share when nothing is exchanged: 0


class _Patch(NamedTuple):
    """A part that is exchanged."""

    point: Point
    head: int | None = None  # None unless the part is a head or its pattern
    token: int | None = None  # its index in the true source or the target; None for all tokens


@dataclass(frozen=True)
class _Runs:
    """Both runs: the donor, whose activations are recorded, and the recipient, into which they are put."""

    model: Transformer
    source: Sequence[int]
    corrupted: Sequence[int]
    target: Sequence[int]  # the tokens before the word in question
    written: int  # the token that the true run prefers
    instead: int
    pairs: Pairs
    direction: Direction
    tap: Tap | None = None  # intervenes in both runs

    @cached_property
    def true_difference(self) -> float:
        """The logit of `written` less that of `instead` in the true run, with nothing exchanged."""
        return self._difference_for(self.source)

    @cached_property
    def corrupted_difference(self) -> float:
        """The same in the corrupted run."""
        return self._difference_for(self.corrupted)

    @cached_property
    def donor_activations(self) -> dict[Point, Tensor]:
        """The donor's heads [H, N, D], feed-forward outputs and states [N, M]."""
        points: dict[Point, Tensor] = {}

        def record(point: Point, x: Tensor) -> Tensor:
            points[point] = x[0]
            return x

        patched(self.model, *self._donor_inputs, record, self.tap)
        return points

    @cached_property
    def donor_patterns(self) -> dict[Point, Tensor]:
        """The donor's patterns [H, Q, K]; recorded only where they are needed, since they are large."""
        patterns = Recorder()
        patched(self.model, *self._donor_inputs, tap=chain(self.tap, patterns))
        return {Point(PATTERN, *site): recorded[0][0] for site, recorded in patterns.items()}

    @property
    def _donor_inputs(self) -> tuple[Tensor, Tensor]:
        source = self.source if self.direction == "denoise" else self.corrupted
        return self._rows(source, 1), self._rows(self.target, 1)

    def tokens(self, stack: str) -> Pairs:
        """Return the indices of a stack's tokens in the true and in the corrupted run."""
        return self.pairs if stack == "encoder" else [(i, i) for i in range(len(self.target))]

    def shares(self, rows: Sequence[Sequence[_Patch]]) -> list[float]:
        """Return for each row the logit difference as a share of the way from the recipient's to the donor's.

        The patches of a row are exchanged together.
        """
        begin, end = self.corrupted_difference, self.true_difference
        if self.direction == "noise":
            begin, end = end, begin
        size = rows_per_pass(self.model, max(len(self.source), len(self.corrupted)), len(self.target))
        differences = [difference for batch in in_passes(rows, size) for difference in self._differences(batch)]
        return [(difference - begin) / (end - begin) for difference in differences]

    def _difference_for(self, source: Sequence[int]) -> float:
        last = patched(self.model, self._rows(source, 1), self._rows(self.target, 1), tap=self.tap)[0, -1]
        return self._difference(last)

    def _differences(self, rows: Sequence[Sequence[_Patch]]) -> list[float]:
        """Return the difference of the two logits for each row."""
        by_point: dict[Point, list[tuple[int, _Patch]]] = {}
        for row, patches in enumerate(rows):
            for patch in patches:
                by_point.setdefault(patch.point, []).append((row, patch))

        def exchange(point: Point, x: Tensor) -> Tensor:
            patches = by_point.get(point, [])
            x = x.clone() if patches else x
            for row, patch in patches:
                to, origin = self._indices(point.stack, patch.token)
                if point.part == PATTERN:
                    to_key, origin_key = self._indices("encoder" if point.kind == "cross" else point.stack, None)
                    pattern = self.donor_patterns[point][patch.head]
                    x[row, patch.head, to[:, None], to_key] = pattern[origin[:, None], origin_key]
                elif point.part == HEADS:
                    x[row, patch.head, to] = self.donor_activations[point][patch.head, origin]
                else:
                    x[row, to] = self.donor_activations[point][origin]
            return x

        def exchange_pattern(site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
            return exchange(Point(PATTERN, *site), pattern)

        patterns = exchange_pattern if any(point.part == PATTERN for point in by_point) else None
        source = self._rows(self.corrupted if self.direction == "denoise" else self.source, len(rows))
        target = self._rows(self.target, len(rows))
        states = patched(self.model, source, target, exchange, chain(self.tap, patterns))
        return [self._difference(last) for last in states[:, -1]]

    def _indices(self, stack: str, token: int | None) -> tuple[Tensor, Tensor]:
        """Return the indices of a token, or of all tokens, in the recipient and in the donor."""
        pairs = [pair for pair in self.tokens(stack) if token is None or pair[0] == token]
        true, corrupted = torch.tensor(pairs, dtype=torch.long).T
        return (corrupted, true) if self.direction == "denoise" else (true, corrupted)

    @torch.no_grad()
    def _difference(self, last: Tensor) -> float:
        """Return the difference of the two logits, from the decoder's last state [M]."""
        weight, bias, written, instead = self.model.output.weight, self.model.output.bias, self.written, self.instead
        difference = last.double() @ (weight[written].double() - weight[instead].double())
        if bias is not None:
            difference = difference + bias[written].double() - bias[instead].double()
        return float(difference)

    def _rows(self, ids: Sequence[int], count: int) -> Tensor:
        return torch.tensor([list(ids)], device=self.model.output.weight.device).expand(count, -1)


def patching(
    model: Transformer,
    corruption: Corruption,
    parts: Collection[str] = ("heads", "states"),
    direction: Direction = "denoise",
    heads: Collection[Head] | None = None,
    tap: Tap | None = None,
) -> Patching:
    """Exchange each requested part between both runs, one at a time.

    `parts` are some of "heads", "patterns", "head tokens" (a head at one token), "feed-forward" and "states" (both at
    one token). `heads` limits the heads that are exchanged; all by default. The cost is one batch row for each head
    ("heads", "patterns"), or for each token of each head or layer (the other parts). `tap` intervenes in both runs, and
    the exchanged activations are those after its intervention. Raises ValueError if the two runs do not differ, if a
    step, token, pair, part, direction or intervened head does not exist, and for patterns if a token has no
    counterpart.
    """
    _require(parts, PARTS, "part to exchange")
    runs = _runs(model, corruption, direction, tap)
    if "patterns" in parts:
        _require_partners(runs)
    tokens = {stack: [true for true, _ in runs.tokens(stack)] for stack in ("encoder", "decoder")}
    lengths = {"encoder": len(runs.source), "decoder": len(runs.target)}
    layers = {"encoder": model.config.encoder.n_layers, "decoder": model.config.decoder.n_layers}
    heads = all_heads(model) if heads is None else heads
    by_site = {site: [head for at, head in heads if at == site] for site in model.sites()}
    cells: list[tuple[np.ndarray, tuple[int, ...], _Patch]] = []  # an array, the index of a share in it, and its patch

    def grid(shape: tuple[int, ...], patches: dict[tuple[int, ...], _Patch]) -> np.ndarray:
        """Return an array for the shares of `patches`, by their indices; the shares are filled in later."""
        array = np.full(shape, np.nan)
        cells.extend((array, index, patch) for index, patch in patches.items())
        return array

    def of_heads(point: str) -> dict[Site, np.ndarray]:
        return {
            site: grid((attention_at(model, site).n_heads,), {(n,): _Patch(Point(point, *site), n) for n in numbers})
            for site, numbers in by_site.items()
        }

    def of_head_tokens(site: Site) -> np.ndarray:
        return grid(
            (attention_at(model, site).n_heads, lengths[site.stack]),
            {(n, t): _Patch(Point(HEADS, *site), n, t) for n in by_site[site] for t in tokens[site.stack]},
        )

    def of_layers(point: str, count: dict[str, int]) -> dict[str, np.ndarray]:
        return {
            stack: grid(
                (count[stack], lengths[stack]),
                {(n, t): _Patch(Point(point, stack, n), None, t) for n in range(count[stack]) for t in tokens[stack]},
            )
            for stack in count
        }

    restored = of_heads(HEADS) if "heads" in parts else {}
    patterns = of_heads(PATTERN) if "patterns" in parts else {}
    head_tokens = {site: of_head_tokens(site) for site in by_site} if "head tokens" in parts else {}
    feed_forward = of_layers(FEED_FORWARD, layers) if "feed-forward" in parts else {}
    states = of_layers(STATE, {stack: n + 1 for stack, n in layers.items()}) if "states" in parts else {}
    for (array, index, _), value in zip(cells, runs.shares([[patch] for _, _, patch in cells]), strict=True):
        array[index] = value
    embeddings = [_Patch(Point(STATE, "encoder", 0), None, token) for token in tokens["encoder"]]
    everything, nothing = runs.shares([embeddings, []])
    return Patching(
        step=len(runs.target) - 1,
        written=runs.written,
        instead=runs.instead,
        direction=direction,
        true=runs.true_difference,
        corrupted=runs.corrupted_difference,
        restored=restored,
        patterns=patterns,
        head_tokens=head_tokens,
        feed_forward=feed_forward,
        states=states,
        everything=everything,
        nothing=nothing,
    )


def restored_by(
    model: Transformer,
    corruption: Corruption,
    sets: Iterable[Sequence[Head]],
    part: str = "heads",
    direction: Direction = "denoise",
    tap: Tap | None = None,
) -> list[float]:
    """Return the share for each set of heads, whose outputs ("heads") or "patterns" are exchanged together.

    The other arguments are those of `patching`.
    """
    _require([part], PARTS[:2], "part to exchange")
    runs = _runs(model, corruption, direction, tap)
    if part == "patterns":
        _require_partners(runs)
    point = PATTERN if part == "patterns" else HEADS
    return runs.shares([[_Patch(Point(point, *site), head) for site, head in heads] for heads in sets])


def _require(values: Iterable[str], allowed: Sequence[str], what: str) -> None:
    for value in values:
        if value not in allowed:
            raise ValueError(f"There is no {what} {quoted(value)}; choose among {', '.join(allowed)}.")


def _require_partners(runs: _Runs) -> None:
    if not len(runs.pairs) == len(runs.source) == len(runs.corrupted):
        raise ValueError(
            "A pattern is exchanged whole, and some token of one sentence has no partner in the other; "
            "give two sentences of the same length, or exchange another part."
        )


def first_difference(
    model: Transformer, corrupted: Sequence[int], target: Sequence[int], tap: Tap | None = None
) -> tuple[int, int]:
    """Return the first step at which the run on `corrupted` prefers another token than `target`, and that token.

    `tap` intervenes. Raises ValueError if there is no such step.
    """
    return _question(model, corrupted, target, None, None, tap)


def aligned(source: Sequence[int], corrupted: Sequence[int]) -> Pairs:
    """Pair each token with the token at the same index. Raises ValueError if the two differ in length."""
    if len(source) != len(corrupted):
        raise ValueError(
            f"The two sentences have {len(source)} and {len(corrupted)} tokens; "
            "say which tokens belong together, or give two of the same length."
        )
    return [(i, i) for i in range(len(source))]


def _question(
    model: Transformer,
    corrupted: Sequence[int],
    target: Sequence[int],
    step: int | None,
    instead: int | None,
    tap: Tap | None = None,
) -> tuple[int, int]:
    """Return the step and the token to compare with; if either is None, a run on `corrupted` finds it."""
    if step is not None:
        require_step(target, step)
    if instead is not None:
        require_token(model, instead)
    if step is not None and instead is not None:
        return step, instead
    device = model.output.weight.device
    src, tgt = torch.tensor([corrupted], device=device), torch.tensor([target[:-1]], device=device)
    last = patched(model, src, tgt, tap=tap)[0]
    with torch.no_grad():
        best = allowed(model.output(last), model.config).argmax(-1).tolist()
    steps = range(len(best)) if step is None else [step]
    for at in steps:
        if best[at] != target[at + 1] and instead is None:
            return at, best[at]
        if instead is not None and best[at] == instead:
            return at, instead
    raise ValueError(
        "The other sentence leads to the same words; choose two that the model translates differently, "
        "or name the word to compare with."
    )


def _runs(model: Transformer, corruption: Corruption, direction: Direction, tap: Tap | None) -> _Runs:
    """Check the arguments of `patching`, and run both sentences."""
    require_intervened_heads(model, tap)
    _require([direction], ("denoise", "noise"), "direction")
    source, corrupted, target = corruption.source, corruption.corrupted, corruption.target
    pairs = aligned(source, corrupted) if corruption.pairs is None else corruption.pairs
    step, instead = _question(model, corrupted, target, corruption.step, corruption.instead, tap)
    for sentence, indices in ((source, [a for a, _ in pairs]), (corrupted, [b for _, b in pairs])):
        if len(set(indices)) < len(indices) or not set(indices) <= set(range(len(sentence))):
            raise ValueError(f"The pairs name tokens {indices} of a sentence with {len(sentence)}; name each once.")
    runs = _Runs(model, source, corrupted, target[: step + 1], target[step + 1], instead, pairs, direction, tap)
    if abs(runs.true_difference - runs.corrupted_difference) < 1e-6:
        raise ValueError("Both sentences lead to the same logits here; choose two that differ, or another word.")
    return runs


def partners(source: Sequence[int], corrupted: Sequence[int]) -> list[tuple[int, int]]:
    """Return the indices of corresponding tokens of two sentences.

    Sentences of the same length correspond token by token. Otherwise the longest runs of common tokens correspond, and
    between them stretches of the same length, which were replaced token by token. Inserted and deleted tokens have no
    counterpart.
    """
    if len(source) == len(corrupted):
        return [(i, i) for i in range(len(source))]
    return pair_equal(source, corrupted)
