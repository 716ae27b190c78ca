"""The decoding strategies: a function for each, and one registry from which everything else that names them is derived.

A new strategy is a function that returns the steps of a decode, and an entry in `STRATEGIES`. The Decoding page's
controls, its links and downloads, and the options of the command line follow from the entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Unpack

import torch
from torch import Tensor

from transformer.decoding.choosers import Beam, Greedy, Sample, draws, tempered
from transformer.decoding.diverse_beam import diverse_beam
from transformer.decoding.search import Ids, Options, decode
from transformer.decoding.step import DecodeStep
from transformer.inference.prepared import Prepared
from transformer.model import Transformer

LENGTH_PENALTY = 1.0  # Wu et al. 2016, equation 14; chosen on the Multi30k validation sets


def greedy(model: Transformer | Prepared, src: Tensor, **options: Unpack[Options]) -> Iterator[DecodeStep]:
    """Write the most probable token at each step."""
    return decode(model, src, Greedy, options)


def beam(
    model: Transformer | Prepared,
    src: Tensor,
    size: int = 5,
    *,
    length_penalty: float = 0.6,
    temperature: float = 1.0,
    **options: Unpack[Options],
) -> Iterator[DecodeStep]:
    """Keep the `size` best hypotheses of each sentence at each step; a beam of 1 is greedy.

    A score is log_prob / ((5 + length) / 6) ** length_penalty, the length counted with [EOS] (Wu et al. 2016, equation
    14): 0 compares plain sums, and larger values favour longer sentences. At a `temperature` other than 1 the sum is
    over `tempered(allowed(log_probs, config), temperature)`: above 1 it matters less how confident the model was of
    each token. `totals` sum the model's own log-probabilities at every temperature.
    """
    check_beam(size, length_penalty)
    tempered(torch.zeros(1), temperature)  # refuses a wrong one before the first step
    return decode(model, src, lambda eos, bounds: Beam(eos, bounds, size, length_penalty, temperature), options)


def sample(
    model: Transformer | Prepared,
    src: Tensor,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float = 1.0,
    seed: int = 0,
    **options: Unpack[Options],
) -> Iterator[DecodeStep]:
    """Draw each token from `tempered(allowed(log_probs, config), ...)`; the scores stay the model's own.

    The same seed gives the same tokens. Equal sentences of a batch are drawn independently.
    """
    if seed < 0:
        raise ValueError(f"The seed is {seed}; it must not be below 0.")
    tempered(torch.zeros(1), temperature, top_k, top_p)  # refuses wrong ones before the first step

    def chooser(eos: int, bounds: Tensor) -> Sample:
        drawn = draws(seed, len(bounds), max(bounds.tolist(), default=0)).to(bounds.device)
        return Sample(eos, bounds, drawn, temperature, top_k, top_p)

    return decode(model, src, chooser, options)


def forced(model: Transformer | Prepared, src: Tensor, target: Ids, **options: Unpack[Options]) -> Iterator[DecodeStep]:
    """Return the steps in which the model would write `target`, which has the form of a prefix and ends in [EOS]."""
    return decode(model, src, Greedy, {**options, "prefix": target}, whole=True)


def check_beam(size: int, length_penalty: float) -> None:
    """Raise ValueError for a beam size or a length penalty out of bounds."""
    if not 1 <= size <= 1000:
        raise ValueError(f"The size of the beam is {size}; it must be from 1 to 1000.")
    if not 0 <= length_penalty <= 10:
        raise ValueError(f"length_penalty is {length_penalty}; it must be from 0 to 10.")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a strategy, as the page's controls, its links and the command line offer it.

    The bounds are those of the page and its links; the function has its own, which may be wider. Strategies that share
    a link field share its bounds.
    """

    name: str  # the keyword argument of the function
    label: str
    help: str
    least: float
    most: float
    step: float  # an int where only whole numbers make sense
    default: float | None  # on the command line; None leaves the parameter out
    opens_with: float | None = None  # on the page, where that differs from `default`
    link: str = ""  # the field of a link, where that is not `name`
    option: str = ""  # of the command line, where that is not derived from `name`
    quiet: bool = False  # whether descriptions leave it out at its default

    @property
    def field(self) -> str:
        """The field of a link."""
        return self.link or self.name

    @property
    def flag(self) -> str:
        """The option of the command line."""
        return self.option or "--" + self.name.replace("_", "-")

    @property
    def initial(self) -> float | None:
        """The value that the page opens with."""
        return self.default if self.opens_with is None else self.opens_with

    @property
    def type(self) -> type[int] | type[float]:
        return int if isinstance(self.step, int) else float


@dataclass(frozen=True)
class Strategy:
    """A way of choosing the next tokens."""

    name: str  # in links, on the command line and in downloads
    label: str
    title: str  # in a sentence
    help: str
    steps: Callable[..., Iterator[DecodeStep]]  # takes a model, `src` [B, S], the parameters and `Options`
    parameters: tuple[Parameter, ...] = ()
    searches: bool = False  # whether it keeps several hypotheses, which the page draws as a tree
    draws: bool = False  # whether it draws tokens at random, by the parameter "seed"


SIZE = Parameter(
    "size", "Beam size", "Hypotheses that are kept at each step.", 1, 10, 1, 5, opens_with=3, option="--beam"
)
PENALTY = Parameter(
    "length_penalty",
    "Length penalty",
    "Each token lowers a hypothesis' log-probability, which favours short ones. The score divides it by "
    "((5 + length) / 6) to this power α: 0 changes nothing, larger values favour longer sentences.",
    0.0,
    2.0,
    0.1,
    LENGTH_PENALTY,
    link="penalty",
)
TEMPERATURE = Parameter(
    "temperature",
    "Temperature",
    "Divides the logits before the scores are summed: above 1 it matters less how sure the model was of each token. 1 "
    "changes nothing. Log-probabilities stay the model's own.",
    0.1,
    2.0,
    0.05,
    1.0,
    quiet=True,
)
SAMPLING = (
    replace(
        TEMPERATURE,
        help="Divides the logits: below 1 probable tokens become more probable, above 1 less. The model is not run "
        "again while the same tokens are drawn.",
        opens_with=0.7,  # with top-p 0.9: of 80 everyday sentences 56 are right, at 1 without a nucleus 39
        quiet=False,
    ),
    Parameter(
        "top_k", "Top-k", "Only the k most probable tokens can be drawn. Empty: all.", 1, 1_000_000, 1, None, quiet=True
    ),
    Parameter(
        "top_p",
        "Top-p",
        "Only tokens of the nucleus can be drawn: the smallest set of tokens whose probabilities reach p.",
        0.05,
        1.0,
        0.05,
        1.0,
        opens_with=0.9,
    ),
    Parameter(
        "seed",
        "Seed",
        "A different seed can draw a different sentence; the same seed repeats it.",
        0,
        999_999,
        1,
        0,
    ),
)

STRATEGIES: dict[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        Strategy("greedy", "Greedy", "greedy decoding", "The most probable token at each step.", greedy),
        Strategy(
            "beam",
            "Beam",
            "beam search",
            "The best hypotheses are kept at each step, and the best finished one wins.",
            beam,
            (SIZE, PENALTY, TEMPERATURE),
            searches=True,
        ),
        Strategy(
            "diverse",
            "Diverse",
            "diverse beam search",
            "The beam is split into groups, and each group avoids the tokens that the groups before it chose at this "
            "step.",
            diverse_beam,
            (
                SIZE,
                Parameter(
                    "groups",
                    "Groups",
                    "Groups of hypotheses, which choose in turn: with more of them the sentences differ more.",
                    1,
                    10,
                    1,
                    3,
                ),
                Parameter(
                    "diversity",
                    "Diversity",
                    "Subtracted from the log-probability of a token for each time that an earlier group chose it at "
                    "this step. 0 makes the groups equal.",
                    0.0,
                    5.0,
                    0.1,
                    0.5,
                ),
                PENALTY,
            ),
            searches=True,
        ),
        Strategy(
            "sampling",
            "Sampling",
            "sampling",
            "Each token is drawn at random by its probability.",
            sample,
            SAMPLING,
            draws=True,
        ),
    )
}


def parameters() -> dict[str, list[tuple[Strategy, Parameter]]]:
    """Return the parameters of all strategies by link field, each with the strategies that have it."""
    by_field: dict[str, list[tuple[Strategy, Parameter]]] = {}
    for strategy in STRATEGIES.values():
        for parameter in strategy.parameters:
            by_field.setdefault(parameter.field, []).append((strategy, parameter))
    return by_field


@dataclass(frozen=True)
class Decoding:
    """A strategy and a value for each of its parameters. Equal decodes are equal values, so they can key a cache."""

    name: str
    settings: tuple[tuple[str, Any], ...] = ()  # by the name of the parameter

    @classmethod
    def of(cls, name: str, **settings: Any) -> Decoding:
        """Return the strategy with these settings, and with defaults for the others.

        Raises ValueError for a strategy or a parameter that does not exist.
        """
        if name not in STRATEGIES:
            raise ValueError(f"There is no decoding strategy {name!r}; choose one of {', '.join(STRATEGIES)}.")
        defaults = {parameter.name: parameter.default for parameter in STRATEGIES[name].parameters}
        if unknown := settings.keys() - defaults:
            raise ValueError(
                f"{STRATEGIES[name].title} has no {min(unknown)}; it takes {', '.join(defaults) or 'none'}."
            )
        return cls(name, tuple((defaults | settings).items()))

    @property
    def strategy(self) -> Strategy:
        """The strategy of that name."""
        return STRATEGIES[self.name]

    @property
    def values(self) -> dict[str, Any]:
        """The value of each parameter, by its name."""
        return dict(self.settings)

    @property
    def size(self) -> int:
        """The largest number of hypotheses that are kept at a step."""
        return self.values.get("size", 1)

    @property
    def length_penalty(self) -> float:
        """The exponent of the length in the score of a hypothesis; 0 for strategies without one."""
        return self.values.get("length_penalty", 0.0)

    @property
    def temperature(self) -> float:
        """The temperature of the softmax; 1 for strategies without one."""
        return self.values.get("temperature", 1.0)

    def steps(self, model: Transformer | Prepared, src: Tensor, **options: Unpack[Options]) -> Iterator[DecodeStep]:
        """Return the steps of decoding `src` [B, S]. Raises ValueError for settings out of bounds."""
        return self.strategy.steps(model, src, **{**self.values, **options})

    def __str__(self) -> str:
        """Return the strategy and its settings in words: "beam, size 3, length penalty 1"."""
        parts = [self.name]
        for parameter in self.strategy.parameters:
            value = self.values[parameter.name]
            if value is not None and not (parameter.quiet and value == parameter.default):
                label = parameter.label.lower().removeprefix("beam ")
                parts.append(f"{label} {value}" if isinstance(value, int) else f"{label} {value:g}")
        return ", ".join(parts)


def beam_or_greedy(size: int, length_penalty: float = LENGTH_PENALTY) -> Decoding:
    """Return beam search of that size; a beam of 1 is greedy decoding."""
    return Decoding.of("greedy") if size == 1 else Decoding.of("beam", size=size, length_penalty=length_penalty)
