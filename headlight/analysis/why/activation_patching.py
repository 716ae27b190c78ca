"""Which part carries the cause: parts of one run, put into the run of another sentence.

Activation patching (Vig et al. 2020, "Investigating Gender Bias in Language Models Using Causal Mediation Analysis";
Wang et al. 2023, "Interpretability in the Wild"). The model reads a corrupted source, which makes it prefer another
word, and one part of it is given what it computed for the true source: how much of the preference comes back?

Shapes: S source tokens, T target tokens that are read, N tokens of a stack, L layers, H heads, B rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.passes import in_passes, rows_per_pass
from headlight.analysis.sites import all_heads, attention_at
from headlight.analysis.why.logit_difference import require_step, require_token
from headlight.analysis.why.patched import Heads, ResidualSite, States, patched, same_heads, same_states
from transformer.decoding.search import allowed
from transformer.model import Transformer
from transformer.taps import Site

Part = TypeVar("Part")
Head = tuple[Site, int]
Pairs = Sequence[tuple[int, int]]  # places in the true and in the corrupted source that belong together


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
    """What comes back, as shares: 0 is the corrupted run's difference of logits, 1 that of the true one.

    `restored` has for each site the shares of its heads [H], each given at every token, a pruned one not a number;
    `analysis.sites.by_kind` makes [L, H] of them. `states` has for each stack [L + 1, N] the residual stream at one
    token, after the embedding and after each layer; a source token without a partner in the corrupted source is not a
    number; it is empty where no states were asked for. `everything` and `nothing` are what has to be 1 and 0.
    """

    step: int
    written: int
    instead: int
    true: float  # logit of `written` less that of `instead`, with the true source
    corrupted: float
    restored: dict[Site, np.ndarray]
    states: dict[str, np.ndarray]
    everything: float
    nothing: float


@dataclass(frozen=True)
class _Runs:
    """Both runs, with the intermediate results of the true one."""

    model: Transformer
    source: Sequence[int]
    corrupted: Sequence[int]
    target: Sequence[int]  # up to the word in question, which is not read
    pairs: Pairs

    @cached_property
    def true(self) -> tuple[dict[Site, Tensor], dict[ResidualSite, Tensor], Tensor]:
        """The true run: heads [1, H, N, D], states [1, N, M] and the decoder's last state [M]."""
        heads: dict[Site, Tensor] = {}
        states: dict[ResidualSite, Tensor] = {}

        def keep_heads(site: Site, outputs: Tensor) -> Tensor:
            heads[site] = outputs
            return outputs

        def keep_states(site: ResidualSite, state: Tensor) -> Tensor:
            states[site] = state
            return state

        last = patched(self.model, self._rows(self.source, 1), self._rows(self.target, 1), keep_heads, keep_states)
        return heads, states, last[0, -1]

    def places(self, stack: str) -> tuple[list[int], list[int]]:
        """Return the indices of a stack's tokens in the true and in the corrupted run."""
        own = list(self.pairs) if stack == "encoder" else [(i, i) for i in range(len(self.target))]
        return [true for true, _ in own], [corrupted for _, corrupted in own]

    def with_heads(self, rows: Sequence[Sequence[Head]]) -> Tensor:
        """Run the corrupted sentence with other heads' true output in each row: last states [B, M]."""

        def exchange(site: Site, outputs: Tensor) -> Tensor:
            true, corrupted = self.places(site.stack if site.kind == "self" else "decoder")
            outputs = outputs.clone()
            for row, exchanged in enumerate(rows):
                for at, head in exchanged:
                    if at == site:
                        outputs[row, head, corrupted] = self.true[0][site][0, head, true]
            return outputs

        return self._run(len(rows), exchange, same_states)

    def with_states(self, rows: Sequence[Sequence[tuple[ResidualSite, int]]]) -> Tensor:
        """Run the corrupted sentence with other true states in each row: last states [B, M]."""

        def exchange(site: ResidualSite, state: Tensor) -> Tensor:
            partner = dict(zip(*self.places(site.stack), strict=True))
            state = state.clone()
            for row, exchanged in enumerate(rows):
                for at, token in exchanged:
                    if at == site:
                        state[row, partner[token]] = self.true[1][site][0, token]
            return state

        return self._run(len(rows), same_heads, exchange)

    def _run(self, count: int, heads: Heads, states: States) -> Tensor:
        corrupted, target = self._rows(self.corrupted, count), self._rows(self.target, count)
        return patched(self.model, corrupted, target, heads, states)[:, -1]

    def _rows(self, ids: Sequence[int], count: int) -> Tensor:
        return torch.tensor([list(ids)], device=self.model.output.weight.device).expand(count, -1)


def patching(model: Transformer, corruption: Corruption, states: bool = True) -> Patching:
    """Patch each head's output and each state of the true run into the corrupted run, one at a time.

    Without `states`, which cost a row for each token and layer, only heads are patched. Raises ValueError where the two
    runs do not differ, and for a step, token or pair that there is not.
    """
    runs, step, instead = _runs(model, corruption)
    written = corruption.target[step + 1]
    share = _Share(runs, written, instead)
    heads = all_heads(model)
    by_head = dict(zip(heads, share(runs.with_heads, [[head] for head in heads]), strict=True))
    sites = {site: _every(by_head, site, attention_at(model, site).n_heads) for site in model.sites()}
    places = list(runs.true[1])
    tokens = {stack: runs.places(stack)[0] for stack in ("encoder", "decoder")}
    each = [(site, token) for site in places for token in tokens[site.stack]] if states else []
    by_place = dict(zip(each, share(runs.with_states, [[patch] for patch in each]), strict=True))
    sources = [(ResidualSite("encoder", 0), token) for token in tokens["encoder"]]
    everything, nothing = share(runs.with_states, [sources, []])
    return Patching(
        step,
        written,
        instead,
        share.true,
        share.corrupted,
        sites,
        {stack: _table(by_place, places, stack, length) for stack, length in _lengths(runs)} if states else {},
        everything,
        nothing,
    )


def restored_by(model: Transformer, corruption: Corruption, sets: Iterable[Sequence[Head]]) -> list[float]:
    """Return the share that each set of heads restores together; the other arguments are those of `patching`."""
    runs, step, instead = _runs(model, corruption)
    return _Share(runs, corruption.target[step + 1], instead)(runs.with_heads, [list(heads) for heads in sets])


def first_difference(model: Transformer, corrupted: Sequence[int], target: Sequence[int]) -> tuple[int, int]:
    """Return the first step at which the run on `corrupted` prefers another token than `target`, and that token.

    Raises ValueError where there is none.
    """
    return _question(model, corrupted, target, None, None)


def aligned(source: Sequence[int], corrupted: Sequence[int]) -> Pairs:
    """Pair each token with the token at the same index. Raises ValueError if the two differ in length."""
    if len(source) != len(corrupted):
        raise ValueError(
            f"The two sentences have {len(source)} and {len(corrupted)} tokens; "
            "say which tokens belong together, or give two of the same length."
        )
    return [(i, i) for i in range(len(source))]


class _Share:
    """The logit difference as a share of the way from the corrupted to the true run."""

    def __init__(self, runs: _Runs, written: int, instead: int) -> None:
        self.runs, self.written, self.instead = runs, written, instead
        self.true = self._difference(runs.true[2])
        self.corrupted = self._difference(runs.with_heads([[]])[0])
        if abs(self.true - self.corrupted) < 1e-6:
            raise ValueError("Both sentences lead to the same logits here; choose two that differ, or another word.")

    def __call__(self, run: Callable[[Sequence[Sequence[Part]]], Tensor], rows: list[list[Part]]) -> list[float]:
        """Return the share of each row, which exchanges the parts that it lists."""
        size = rows_per_pass(self.runs.model, len(self.runs.corrupted), len(self.runs.target))
        shares = []
        for some in in_passes(rows, size):
            shares += [(self._difference(row) - self.corrupted) / (self.true - self.corrupted) for row in run(some)]
        return shares

    @torch.no_grad()
    def _difference(self, last: Tensor) -> float:
        """Return the difference of the two logits, from the decoder's last state [M]."""
        weight, bias = self.runs.model.output.weight, self.runs.model.output.bias
        difference = last.double() @ (weight[self.written].double() - weight[self.instead].double())
        if bias is not None:
            difference = difference + bias[self.written].double() - bias[self.instead].double()
        return float(difference)


def _question(
    model: Transformer, corrupted: Sequence[int], target: Sequence[int], step: int | None, instead: int | None
) -> tuple[int, int]:
    """Return the step and the other word, found where they are None."""
    if step is not None:
        require_step(target, step)
    if instead is not None:
        require_token(model, instead)
    if step is not None and instead is not None:
        return step, instead
    device = model.output.weight.device
    last = patched(model, torch.tensor([corrupted], device=device), torch.tensor([target[:-1]], device=device))[0]
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


def _runs(model: Transformer, corruption: Corruption) -> tuple[_Runs, int, int]:
    """Return both runs, and the step and the other word, where they were not given."""
    source, corrupted, target = corruption.source, corruption.corrupted, corruption.target
    pairs = aligned(source, corrupted) if corruption.pairs is None else corruption.pairs
    step, instead = _question(model, corrupted, target, corruption.step, corruption.instead)
    for sentence, places in ((source, [a for a, _ in pairs]), (corrupted, [b for _, b in pairs])):
        if len(set(places)) < len(places) or not set(places) <= set(range(len(sentence))):
            raise ValueError(f"The pairs name tokens {places} of a sentence with {len(sentence)}; name each once.")
    return _Runs(model, list(source), list(corrupted), list(target[: step + 1]), list(pairs)), step, instead


def _lengths(runs: _Runs) -> list[tuple[str, int]]:
    return [("encoder", len(runs.source)), ("decoder", len(runs.target))]


def _every(by_head: dict[Head, float], site: Site, count: int) -> np.ndarray:
    """Return the shares of a site's heads, [H]; NaN of one that is pruned."""
    return np.array([by_head.get((site, head), np.nan) for head in range(count)])


def _table(
    by_place: dict[tuple[ResidualSite, int], float], places: Sequence[ResidualSite], stack: str, length: int
) -> np.ndarray:
    layers = [site for site in places if site.stack == stack]
    return np.array([[by_place.get((site, token), np.nan) for token in range(length)] for site in layers])


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
