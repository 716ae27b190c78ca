"""Which part carries the cause: parts of one run, put into the run of another sentence.

Activation patching (Vig et al. 2020, "Investigating Gender Bias in Language Models Using Causal Mediation Analysis";
Wang et al. 2023, "Interpretability in the Wild"). The model reads a corrupted source, which makes it prefer another
word. Denoising gives one part of this run what the part computed for the true source: how much of the preference comes
back? Noising gives one part of the true run what it computed for the corrupted source: how much is lost? Heimersheim
and Nanda 2024, "How to use and interpret activation patching": a part that restores is sufficient, a part that breaks
is necessary. Of two parts that can each do the work alone, both restore and neither breaks; of two that need each
other, both break and neither restores.

A pattern is exchanged without the values that it weighs, so that it is told apart where a head looks from what it
hands over (the attention of Vig et al.; interchange interventions on any variable are those of Geiger et al. 2021,
"Causal Abstractions of Neural Networks").

Shapes: S source tokens, T target tokens that are read, N tokens of a stack, L layers, H heads, B rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.passes import in_passes, rows_per_pass
from headlight.analysis.sites import all_heads, attention_at, require_intervened_heads
from headlight.analysis.why.logit_difference import require_step, require_token
from headlight.analysis.why.patched import FORWARD, HEADS, PATTERN, STATE, Point, patched
from transformer.decoding.search import allowed
from transformer.model import Transformer
from transformer.quoting import quoted
from transformer.taps import Inputs, Recorder, Site, Tap, chain

Head = tuple[Site, int]
Pairs = Sequence[tuple[int, int]]  # places in the true and in the corrupted source that belong together
Direction = Literal["denoise", "noise"]
PARTS = ("heads", "patterns", "head tokens", "feed-forward", "states")


@dataclass(frozen=True)
class Corruption:
    """A source with a corrupted one, both read with the same `target`, from [SOS] to [EOS], up to `step`.

    The difference of logits is between the token that `target` has at `step` and `instead`. Without a `step` it is the
    first one at which the corrupted run would rather write something else; without `instead`, what it would rather
    write there. `pairs` are the places of `source` and `corrupted` that belong together; not needed where both are
    equally long.
    """

    source: Sequence[int]
    corrupted: Sequence[int]
    target: Sequence[int]
    step: int | None = None
    instead: int | None = None
    pairs: Pairs | None = None


@dataclass(frozen=True)
class Patching:
    """What each part alone changes, as shares of the difference between both runs; no part changes 0.

    Denoising: the share that comes back, 1 is the true run. Noising: the share that is lost, 1 is the corrupted run.

    `restored` has for each site the shares of its heads [H], each exchanged at every token, and `patterns` those of
    their patterns [H]; a head that was pruned or not asked for is not a number; `analysis.sites.by_kind` makes [L, H]
    of them. `head_tokens` has them for one token at a time [H, N]. `feed_forward` has for each stack [L, N] what a
    feed-forward network gives at one token, and `states` [L + 1, N] the residual stream there, after the embedding and
    after each layer; a source token without a partner in the corrupted source is not a number. What was not asked for
    is empty. `everything` and `nothing` are what has to be 1 and 0.
    """

    step: int
    written: int
    instead: int
    direction: Direction
    true: float  # logit of `written` less that of `instead`, with the true source
    corrupted: float
    restored: dict[Site, np.ndarray]
    patterns: dict[Site, np.ndarray]
    head_tokens: dict[Site, np.ndarray]
    feed_forward: dict[str, np.ndarray]
    states: dict[str, np.ndarray]
    everything: float
    nothing: float


class _Patch(NamedTuple):
    """A part that is exchanged: one head of heads and patterns; one token of the true source or the target, or all."""

    point: Point
    head: int | None = None
    token: int | None = None


@dataclass(frozen=True)
class _Runs:
    """Both runs, with the intermediate results of the one that gives its parts to the other."""

    model: Transformer
    source: Sequence[int]
    corrupted: Sequence[int]
    target: Sequence[int]  # up to the word in question, which is not read
    pairs: Pairs
    direction: Direction
    tap: Tap | None = None  # intervenes in both runs

    @cached_property
    def giving(self) -> dict[Point, Tensor]:
        """The tensors of the run that gives: heads [H, N, D], feed-forward outputs and states [N, M]."""
        points: dict[Point, Tensor] = {}

        def record(point: Point, x: Tensor) -> Tensor:
            points[point] = x[0]
            return x

        patched(self.model, *self._given, record, self.tap)
        return points

    @cached_property
    def giving_patterns(self) -> dict[Point, Tensor]:
        """The patterns [H, Q, K] of the run that gives; by themselves, since they are large."""
        patterns = Recorder()
        patched(self.model, *self._given, tap=chain(self.tap, patterns))
        return {Point(PATTERN, *site): recorded[0][0] for site, recorded in patterns.items()}

    @property
    def _given(self) -> tuple[Tensor, Tensor]:
        source = self.source if self.direction == "denoise" else self.corrupted
        return self._rows(source, 1), self._rows(self.target, 1)

    @property
    def is_paired(self) -> bool:
        """Whether every token has a partner."""
        return len(self.pairs) == len(self.source) == len(self.corrupted)

    def tokens(self, stack: str) -> Pairs:
        """Return the indices of a stack's tokens in the true and in the corrupted run."""
        return self.pairs if stack == "encoder" else [(i, i) for i in range(len(self.target))]

    def difference(self, source: Sequence[int], written: int, instead: int) -> float:
        """Return the difference of two logits at the last token, with a source as it is."""
        last = patched(self.model, self._rows(source, 1), self._rows(self.target, 1), tap=self.tap)[0, -1]
        return self._difference(last, written, instead)

    def differences(self, rows: Sequence[Sequence[_Patch]], written: int, instead: int) -> list[float]:
        """Return the difference of two logits for each row, in which the patches that it lists are exchanged."""
        by_point: dict[Point, list[tuple[int, _Patch]]] = {}
        for row, patches in enumerate(rows):
            for patch in patches:
                by_point.setdefault(patch.point, []).append((row, patch))

        def exchange(point: Point, x: Tensor) -> Tensor:
            here = by_point.get(point, [])
            x = x.clone() if here else x
            for row, patch in here:
                into, given = self._places(point.stack, patch.token)
                if point.part == PATTERN:
                    key, of = self._places("encoder" if point.kind == "cross" else point.stack, None)
                    x[row, patch.head, into[:, None], key] = self.giving_patterns[point][patch.head, given[:, None], of]
                elif point.part == HEADS:
                    x[row, patch.head, into] = self.giving[point][patch.head, given]
                else:
                    x[row, into] = self.giving[point][given]
            return x

        def exchange_pattern(site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
            return exchange(Point(PATTERN, *site), pattern)

        patterns = exchange_pattern if any(point.part == PATTERN for point in by_point) else None
        source = self._rows(self.corrupted if self.direction == "denoise" else self.source, len(rows))
        last = patched(self.model, source, self._rows(self.target, len(rows)), exchange, chain(self.tap, patterns))[
            :, -1
        ]
        return [self._difference(row, written, instead) for row in last]

    def _places(self, stack: str, token: int | None) -> tuple[Tensor, Tensor]:
        """Return the indices of a token, or of all, in the run that receives and in the one that gives."""
        pairs = [pair for pair in self.tokens(stack) if token is None or pair[0] == token]
        true, corrupted = torch.tensor(pairs, dtype=torch.long).T
        return (corrupted, true) if self.direction == "denoise" else (true, corrupted)

    @torch.no_grad()
    def _difference(self, last: Tensor, written: int, instead: int) -> float:
        """Return the difference of two logits, from the decoder's last state [M]."""
        weight, bias = self.model.output.weight, self.model.output.bias
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
    """Exchange each of the asked parts between both runs, one at a time.

    `parts` are some of "heads", "patterns", "head tokens" (a head at one token), "feed-forward" and "states" (both at
    one token); of `heads` only, if given. Heads and patterns take a row of a batch for each head, the others a row for
    each token of each head or layer. `tap` intervenes in both runs; what is exchanged is what it leaves. Raises
    ValueError where the two runs do not differ, for a step, token, pair, part, direction or intervened head that there
    is not, and for patterns where a token has no partner.
    """
    _require(parts, PARTS, "part to exchange")
    runs, step, instead = _runs(model, corruption, direction, tap)
    share = _Share(runs, corruption.target[step + 1], instead)
    tokens = {stack: [true for true, _ in runs.tokens(stack)] for stack in ("encoder", "decoder")}
    layers = {"encoder": model.config.encoder.n_layers, "decoder": model.config.decoder.n_layers}
    heads = all_heads(model) if heads is None else heads
    patches: list[_Patch] = []
    if "heads" in parts:
        patches += [_patch(HEADS, head) for head in heads]
    if "patterns" in parts:
        _require_partners(runs)
        patches += [_patch(PATTERN, head) for head in heads]
    if "head tokens" in parts:
        patches += [_patch(HEADS, head, token) for head in heads for token in tokens[head[0].stack]]
    for part, asked, more in ((FORWARD, "feed-forward", 0), (STATE, "states", 1)):
        points = [Point(part, stack, at) for stack, count in layers.items() for at in range(count + more)]
        patches += [_Patch(at, None, token) for at in points for token in tokens[at.stack] if asked in parts]
    by_patch = dict(zip(patches, share([[patch] for patch in patches]), strict=True))

    def of_heads(part: str, asked: str) -> dict[Site, np.ndarray]:
        every = {site: range(attention_at(model, site).n_heads) for site in model.sites() if asked in parts}
        return {
            site: np.array([by_patch.get(_patch(part, (site, head)), np.nan) for head in numbers])
            for site, numbers in every.items()
        }

    def of_tokens(points: Sequence[_Patch]) -> np.ndarray:
        length = len(runs.source) if points[0].point.stack == "encoder" else len(runs.target)
        return np.array([[by_patch.get(at._replace(token=n), np.nan) for n in range(length)] for at in points])

    def of_layers(part: str, asked: str, more: int) -> dict[str, np.ndarray]:
        return {
            stack: of_tokens([_Patch(Point(part, stack, at)) for at in range(count + more)])
            for stack, count in layers.items()
            if asked in parts
        }

    embeddings = [_Patch(Point(STATE, "encoder", 0), None, token) for token in tokens["encoder"]]
    everything, nothing = share([embeddings, []])
    return Patching(
        step=step,
        written=share.written,
        instead=instead,
        direction=direction,
        true=share.true,
        corrupted=share.corrupted,
        restored=of_heads(HEADS, "heads"),
        patterns=of_heads(PATTERN, "patterns"),
        head_tokens={
            site: of_tokens([_patch(HEADS, (site, head)) for head in range(attention_at(model, site).n_heads)])
            for site in model.sites()
            if "head tokens" in parts
        },
        feed_forward=of_layers(FORWARD, "feed-forward", 0),
        states=of_layers(STATE, "states", 1),
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
    """Return the share that each set of heads changes together, exchanged as "heads" or as "patterns".

    The other arguments are those of `patching`.
    """
    _require([part], PARTS[:2], "part to exchange")
    runs, step, instead = _runs(model, corruption, direction, tap)
    if part == "patterns":
        _require_partners(runs)
    point = PATTERN if part == "patterns" else HEADS
    share = _Share(runs, corruption.target[step + 1], instead)
    return share([[_patch(point, head) for head in heads] for heads in sets])


def _patch(part: str, head: Head, token: int | None = None) -> _Patch:
    return _Patch(Point(part, *head[0]), head[1], token)


def _require(values: Iterable[str], allowed: Sequence[str], what: str) -> None:
    for value in values:
        if value not in allowed:
            raise ValueError(f"There is no {what} {quoted(value)}; choose among {', '.join(allowed)}.")


def _require_partners(runs: _Runs) -> None:
    if not runs.is_paired:
        raise ValueError(
            "A pattern is exchanged whole, and some token of one sentence has no partner in the other; "
            "give two sentences of the same length, or exchange another part."
        )


def first_difference(
    model: Transformer, corrupted: Sequence[int], target: Sequence[int], tap: Tap | None = None
) -> tuple[int, int]:
    """Return the first step at which the run on `corrupted` prefers another token than `target`, and that token.

    `tap` intervenes. Raises ValueError where there is no such step.
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


class _Share:
    """The logit difference as a share of the way from the run that receives parts to the one that gives them."""

    def __init__(self, runs: _Runs, written: int, instead: int) -> None:
        self.runs, self.written, self.instead = runs, written, instead
        self.true = runs.difference(runs.source, written, instead)
        self.corrupted = runs.difference(runs.corrupted, written, instead)
        if abs(self.true - self.corrupted) < 1e-6:
            raise ValueError("Both sentences lead to the same logits here; choose two that differ, or another word.")

    def __call__(self, rows: Sequence[Sequence[_Patch]]) -> list[float]:
        """Return the share of each row, which exchanges the patches that it lists."""
        ends = self.corrupted, self.true
        begin, end = ends if self.runs.direction == "denoise" else ends[::-1]
        longest = max(len(self.runs.source), len(self.runs.corrupted))
        shares = []
        for some in in_passes(rows, rows_per_pass(self.runs.model, longest, len(self.runs.target))):
            differences = self.runs.differences(some, self.written, self.instead)
            shares += [(difference - begin) / (end - begin) for difference in differences]
        return shares


def _question(
    model: Transformer,
    corrupted: Sequence[int],
    target: Sequence[int],
    step: int | None,
    instead: int | None,
    tap: Tap | None = None,
) -> tuple[int, int]:
    """Return the step and the other word, found where they are None."""
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


def _runs(model: Transformer, corruption: Corruption, direction: Direction, tap: Tap | None) -> tuple[_Runs, int, int]:
    """Return both runs, and the step and the other word, where they were not given."""
    require_intervened_heads(model, tap)
    _require([direction], ("denoise", "noise"), "direction")
    source, corrupted, target = corruption.source, corruption.corrupted, corruption.target
    pairs = aligned(source, corrupted) if corruption.pairs is None else corruption.pairs
    step, instead = _question(model, corrupted, target, corruption.step, corruption.instead, tap)
    for sentence, places in ((source, [a for a, _ in pairs]), (corrupted, [b for _, b in pairs])):
        if len(set(places)) < len(places) or not set(places) <= set(range(len(sentence))):
            raise ValueError(f"The pairs name tokens {places} of a sentence with {len(sentence)}; name each once.")
    read = list(target[: step + 1])
    return _Runs(model, list(source), list(corrupted), read, list(pairs), direction, tap), step, instead


def partners(source: Sequence[int], corrupted: Sequence[int]) -> list[tuple[int, int]]:
    """Return places in both that belong together: each with its own where both are equally long.

    Else the tokens that both have, in the longest runs in their order; and between two such runs those that were
    exchanged one for one. What was put in or left out has no partner.
    """
    if len(source) == len(corrupted):
        return [(i, i) for i in range(len(source))]
    pairs = []
    for _, i, j, k, m in SequenceMatcher(None, source, corrupted, autojunk=False).get_opcodes():
        if j - i == m - k:
            pairs += list(zip(range(i, j), range(k, m), strict=True))
    return pairs
