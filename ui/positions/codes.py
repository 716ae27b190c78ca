"""The positional encoding of the page: a formula, a table of a model, or T5's bias instead of one.

Letters: N positions, D dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headlight.analysis.positions import Properties, encoding, frequencies, properties, widths_of
from transformer import ModelConfig, Translator
from transformer.checkpoint.native import CONFIG
from transformer.files import read_json
from transformer.model import Transformer
from transformer.positions import LearnedPositions, SinusoidalPositions, StoredPositions
from transformer.t5 import T5Config
from ui.positions.view import SCHEMES, PositionsView
from ui.state import models
from ui.state.cache import cached, read_only

MEASURED_POSITIONS = 1_000  # over which the properties are measured
MAX_MEASURED_DIMENSIONS = 256  # the cost of fitting a shift grows with their cube
_UNTRAINED_POSITIONS = 512  # positions of a table that no model has trained
_INITIAL_DEVIATION = 0.02  # of an untrained table's numbers, as in `LearnedPositions`


@dataclass(frozen=True, eq=False)  # one object a table, which keys a cache
class Learned:
    """A learned table, or an untrained one; of an imported model, the table that came with it."""

    table: np.ndarray  # [N, D]
    model: str | None  # the model that has this table; None: no model here has one, and the table is random numbers
    second_table: np.ndarray | None = None  # [N, D]: the same positions as the decoder learned them, if it did
    stored: bool = False  # it came with the model: it may have been learned, or be a formula in an order of its own


@dataclass(frozen=True)
class Code:
    """The scheme that is shown, and its table; all zeros for "relative", which adds nothing to the words."""

    scheme: str
    table: np.ndarray  # [N, D]
    base: float
    learned: Learned

    @property
    def paired(self) -> bool:
        """Whether sines and cosines alternate."""
        return self.scheme == "sinusoidal"

    @property
    def of_table(self) -> bool:
        """Whether the table is a model's or random, rather than computed by a formula."""
        return self.scheme in ("learned", "stored")


def own_scheme(config: ModelConfig) -> str:
    """Return the scheme of a model; a table that no formula of this page gives is drawn as a stored one."""
    if isinstance(config, T5Config):
        return "relative"
    return "stored" if config.positions == "no-exp" else config.positions


def schemes_of(config: ModelConfig) -> tuple[str, ...]:
    """Return the schemes that the page offers for this model: its own in place of the nearest, or before all."""
    model_scheme = own_scheme(config)
    if model_scheme == "stored":
        return tuple(model_scheme if scheme == "learned" else scheme for scheme in SCHEMES)
    return SCHEMES if model_scheme in SCHEMES else (model_scheme, *SCHEMES)


def scheme_of(view: PositionsView, config: ModelConfig) -> str:
    """Return the scheme that is shown; an address may ask for one that only another model has."""
    return view.scheme if view.scheme in schemes_of(config) else own_scheme(config)


def chosen(view: PositionsView, name: str, model: Translator) -> Code:
    """Return the encoding that the controls select, by default the model's.

    Raises ValueError where there is no such encoding.
    """
    config = model.model.config
    scheme = scheme_of(view, config)
    width = view.d_model or config.d_model
    learned_table = learned(name, model, width)
    if scheme in ("learned", "stored"):
        return Code(scheme, learned_table.table[: view.positions], view.base, learned_table)
    formula = "none" if scheme == "relative" else scheme
    return Code(scheme, encoding(formula, view.positions, width, view.base), view.base, learned_table)


def learned(name: str, model: Translator, width: int) -> Learned:
    """Return the table of this model, else the learned one of the first other that has any, else an untrained one."""
    other_models = [other for other in models.model_names() if other != name and _has_learned(other)]
    has_own = own_scheme(model.model.config) in ("learned", "stored")
    owner = name if has_own else other_models[0] if other_models else None
    return _learned(owner) if owner else _untrained(width)


def _has_learned(name: str) -> bool:
    try:
        config = read_json(models.model_folder(name) / CONFIG)
    except ValueError:  # a broken folder is reported where that model is opened
        return False
    return isinstance(config, dict) and config.get("positions") == "learned"


@cached(8, seconds=3600, turn=False)
def _untrained(width: int) -> Learned:
    table, second_table = (
        np.random.default_rng(seed).normal(0, _INITIAL_DEVIATION, (_UNTRAINED_POSITIONS, width)) for seed in (0, 1)
    )
    return Learned(read_only(table), None, read_only(second_table))


@cached(8, seconds=3600, turn=False, key=models.versioned)
def _learned(name: str) -> Learned:
    model = models.translator(name).model
    encoder = read_only(learned_table(model))
    if own_scheme(model.config) == "stored":
        return Learned(encoder, name, stored=True)
    return Learned(encoder, name, read_only(learned_table(model, "decoder")))


def learned_table(model: Transformer, stack: str = "encoder") -> np.ndarray:
    """Return what a stack of a model with a table of positions adds: [N, D]."""
    positions = (model.encoder if stack == "encoder" else model.decoder).embedding.positions
    assert isinstance(positions, LearnedPositions | StoredPositions | SinusoidalPositions)
    return positions.table.detach().double().cpu().numpy()


def table_difference(model: Transformer, width: int, base: float) -> float | None:
    """Return how far the model's own table is from the formula; None where it is not the table of this formula."""
    positions = model.encoder.embedding.positions
    if not isinstance(positions, SinusoidalPositions) or width != model.config.d_model:
        return None
    model_table = positions.table.double().cpu().numpy()
    return float(np.abs(model_table - encoding("sinusoidal", len(model_table), width, base)).max())


def shown_frequencies(view: PositionsView, model: Translator) -> np.ndarray:
    """Return ω of the sinusoid that the controls describe, whatever scheme is shown: [D / 2]."""
    return frequencies(view.d_model or model.model.config.d_model, view.base)


def measured(scheme: str, width: int, base: float, learned_table: Learned) -> Properties:
    """Return the properties of a scheme; of the learned table, over as many positions as it has."""
    if scheme == "learned":
        return _measured_learned(learned_table)
    return _measured(scheme, min(width, MAX_MEASURED_DIMENSIONS), base)


@cached(64, "Measuring", seconds=3600, turn=False)
def _measured(scheme: str, width: int, base: float) -> Properties:
    table, second_table = (encoding(scheme, MEASURED_POSITIONS, width, base) for _ in range(2))
    return properties(table, encoding(scheme, 2 * MEASURED_POSITIONS, width, base), second_table, widths_of(scheme))


@cached(8, "Measuring", seconds=3600, turn=False)
def _measured_learned(learned_table: Learned) -> Properties:
    part = np.s_[:MEASURED_POSITIONS, :MAX_MEASURED_DIMENSIONS]
    second_table = None if learned_table.second_table is None else learned_table.second_table[part]
    return properties(learned_table.table[part], None, second_table)
