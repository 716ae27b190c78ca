"""A trace: the attention patterns of every head in one forward pass, with the tokens that label them.

Shapes: L layers, H heads, S source tokens, T written target tokens, one fewer than `target` has.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from transformer.extras import require_package
from transformer.files import open_regular, require_folder
from transformer.quoting import quoted, short

if TYPE_CHECKING:
    import pandas

Kind = Literal["encoder", "decoder", "cross"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Tokens:
    """A tokenized sentence. `words` groups the indices of the tokens that form a word."""

    ids: list[int]
    pieces: list[str]  # as the vocabulary spells them
    labels: list[str]  # as shown to people
    words: list[list[int]]
    special: list[bool]

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def none(cls) -> Tokens:
        """Return an empty sentence: the source of a decoder-only model, or the target of an encoder-only one."""
        return cls([], [], [], [], [])

    def slice(self, start: int, stop: int) -> Tokens:
        """Return the tokens from `start` to `stop`; words are cut at the ends of the slice."""
        inside = [[i - start for i in word if start <= i < stop] for word in self.words]
        return Tokens(
            self.ids[start:stop],
            self.pieces[start:stop],
            self.labels[start:stop],
            [word for word in inside if word],
            self.special[start:stop],
        )


class LayerPatterns:
    """Patterns [L, H, Q, K] whose layers [H, Q, K] are computed by `compute(layer)` when they are read.

    Indexing works as in an array, and computes only the layers in question; NumPy's functions compute all.
    """

    ndim, dtype = 4, np.dtype(np.float32)

    def __init__(self, shape: tuple[int, ...], compute: Callable[[int], np.ndarray], nbytes: int):
        self.shape, self.nbytes = shape, nbytes  # `nbytes` is the memory that `compute` holds
        self._compute, self._latest = compute, (-1, np.empty(0))

    @property
    def size(self) -> int:
        """The number of weights."""
        return math.prod(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[np.ndarray]:
        return map(self._layer, range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        first, *further = index if isinstance(index, tuple) else (index,)
        if first is Ellipsis:
            first, further = slice(None), [Ellipsis, *further]
        layers = np.arange(len(self))[first]
        if layers.ndim == 0:
            return self._layer(int(layers))[tuple(further)]
        return np.stack([self._layer(int(layer))[tuple(further)] for layer in layers])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.stack(list(self)).astype(dtype or self.dtype, copy=False)

    def map(self, change: Callable[[np.ndarray], np.ndarray]) -> LayerPatterns:
        """Return these patterns with `change` applied to each layer [H, Q, K] when it is read."""
        shape = (len(self), *change(self._layer(0)).shape)
        return LayerPatterns(shape, lambda layer: change(self._layer(layer)), self.nbytes)

    def _layer(self, layer: int) -> np.ndarray:
        number, weights = self._latest  # one attribute, so that two threads agree
        if number != layer:
            weights = self._compute(layer)
            self._latest = layer, weights
        return weights


Patterns = np.ndarray | LayerPatterns


@dataclass(frozen=True)
class Trace:
    """The patterns of one forward pass, after the softmax; rows sum to 1 unless a tap changed a head.

    `target` runs from [SOS] to [EOS]. Row t of `decoder` and `cross` reads token t and predicts token t + 1. The first
    `given` tokens were not written by the model: [SOS], or the prompt of a decoder-only model.

    An encoder-only model has neither `decoder` nor `cross`, and no target; a decoder-only model has only `decoder`, and
    no source.

    The pass reads the whole target at once. With a look-ahead mask its rows equal those of the decoding steps. In a
    model without one (`look_ahead`) each row also attends to later tokens, as in training; `decoding.recorded` has the
    rows of the decoding steps.
    """

    text: str
    translation: str
    source: Tokens
    target: Tokens
    encoder: Patterns | None  # [L, H, S, S] float32
    decoder: Patterns | None  # [L, H, T, T] float32
    cross: Patterns | None  # [L, H, T, S] float32
    log_probs: np.ndarray  # [T] of the token that each row writes
    finished: bool = True  # False where the decode ran into its length limit
    interventions: list[str] = field(default_factory=list)
    model: str = ""  # a description of the model
    look_ahead: bool = False  # True if the decoder attends to later tokens
    given: int = 1  # target tokens that the model did not write itself

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that the model has."""
        return tuple(kind for kind in KINDS if self._patterns[kind] is not None)

    @property
    def _patterns(self) -> dict[str, Patterns | None]:
        return {"encoder": self.encoder, "decoder": self.decoder, "cross": self.cross}

    @property
    def reads(self) -> Tokens:
        """The target tokens that the rows read: all but the last."""
        return self.target.slice(0, len(self.target) - 1)

    @property
    def writes(self) -> Tokens:
        """The target tokens that the rows predict: all but the first."""
        return self.target.slice(1, len(self.target))

    @property
    def log_prob(self) -> float:
        """The log-probability of all tokens that the model wrote."""
        return float(self.log_probs[max(self.given - 1, 0) :].sum())

    def pattern(self, kind: str) -> Patterns:
        """Return the patterns of a kind, [L, H, queries, keys]. Raises ValueError for a kind that the trace lacks."""
        patterns = self._patterns.get(kind)
        if patterns is None:
            there = ", ".join(self.kinds)
            raise ValueError(f"This trace has no kind of attention called {quoted(kind)}; choose one of {there}.")
        return patterns

    def row_tokens(self, kind: str) -> Tokens:
        """Return the queries: the source tokens, or the target tokens being written."""
        self.pattern(kind)
        return self.source if kind == "encoder" else self.writes

    def column_tokens(self, kind: str) -> Tokens:
        """Return the keys: the tokens that are attended to."""
        self.pattern(kind)
        return self.reads if kind == "decoder" else self.source

    def rows(self, kind: str) -> list[str]:
        """Return the labels of the queries."""
        return self.row_tokens(kind).labels

    def columns(self, kind: str) -> list[str]:
        """Return the labels of the keys."""
        return self.column_tokens(kind).labels

    def masked(self, kind: str) -> np.ndarray:
        """Return True where a key is masked, [queries, keys]: later tokens in a decoder with a look-ahead mask."""
        queries, keys = self.pattern(kind).shape[-2:]
        later = np.triu(np.ones((queries, keys), dtype=bool), 1)
        return later if kind == "decoder" and not self.look_ahead else np.zeros_like(later)

    def weights(self) -> dict[str, np.ndarray]:
        """Return each weight that is not masked as the row of a table: columns [N] by name, for all kinds in turn.

        `kind`, `layer`, `head`, `query` and `key`, which count from 0, the labels of both tokens, and the `weight`.
        """
        parts = []
        for kind in self.kinds:
            rows, columns = (np.array(labels, object) for labels in (self.rows(kind), self.columns(kind)))
            query, key = np.nonzero(~self.masked(kind))
            for layer, pattern in enumerate(self.pattern(kind)):
                visible, heads = pattern[:, query, key], np.arange(len(pattern))
                count, many = visible.size, len(heads)
                site = {"kind": np.full(count, kind, object), "layer": np.full(count, layer)}
                site |= {"head": heads.repeat(len(query)), "query": np.tile(query, many), "key": np.tile(key, many)}
                tokens = {"query_token": rows[site["query"]], "key_token": columns[site["key"]]}
                parts.append(site | tokens | {"weight": visible.ravel()})
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def to_dataframe(self) -> pandas.DataFrame:
        """Return `weights` as a pandas DataFrame."""
        return require_package("pandas", "A DataFrame", "tables").DataFrame(self.weights())

    def save(self, path: str | Path) -> None:
        """Write a compressed .npz without pickled objects. Raises ValueError if the folder does not exist."""
        path = Path(path)
        require_folder(path)
        arrays: dict[str, Any] = {
            "model": np.array(self.model),
            "text": np.array(self.text),
            "translation": np.array(self.translation),
            "log_probs": self.log_probs,
            "finished": np.array(self.finished),
            "look_ahead": np.array(self.look_ahead),
            "given": np.array(self.given),
            "interventions": np.array(self.interventions, dtype=str),
        }
        arrays |= {kind: np.asarray(self.pattern(kind)) for kind in self.kinds}
        for side, tokens in (("source", self.source), ("target", self.target)):
            arrays[f"{side}_ids"] = np.array(tokens.ids, dtype=np.int64)
            arrays[f"{side}_pieces"] = np.array(tokens.pieces, dtype=str)
            arrays[f"{side}_labels"] = np.array(tokens.labels, dtype=str)
            arrays[f"{side}_words"] = np.array([w for w, word in enumerate(tokens.words) for _ in word], dtype=np.int64)
            arrays[f"{side}_special"] = np.array(tokens.special, dtype=bool)
        temporary = path.with_name(path.name + ".part")
        with open(temporary, "wb") as file:
            np.savez_compressed(file, **arrays)
        os.replace(temporary, path)

    @classmethod
    def load(cls, path: str | Path) -> Trace:
        """Read what `save` wrote. Raises ValueError naming the file if it is something else."""
        try:
            with open_regular(path) as file, np.load(file, allow_pickle=False) as data:
                patterns = {kind: data.get(kind) for kind in KINDS}
                if all(of_kind is None for of_kind in patterns.values()):
                    raise ValueError(f"it has none of {', '.join(KINDS)}")
                trace = cls(
                    text=str(data["text"]),
                    translation=str(data["translation"]),
                    source=_tokens(data, "source"),
                    target=_tokens(data, "target"),
                    **patterns,
                    log_probs=data["log_probs"],
                    finished=bool(data["finished"]),
                    interventions=data["interventions"].tolist(),
                    model=str(data["model"]) if "model" in data else "",  # not in older files
                    look_ahead="look_ahead" in data and bool(data["look_ahead"]),
                    given=int(data["given"]) if "given" in data else 1,
                )
                _require_consistent(trace)
                return trace
        except FileNotFoundError:
            raise ValueError(f"There is no trace at {short(path)}.") from None
        except Exception as error:
            raise ValueError(
                f"{short(path)} is not a trace that this program wrote ({short(error)}); save it again."
            ) from None


def _require_consistent(trace: Trace) -> None:
    """Raise ValueError where the arrays of a file do not belong together."""
    for side, tokens in (("source", trace.source), ("target", trace.target)):
        counted = {len(tokens), len(tokens.pieces), len(tokens.labels), len(tokens.special)}
        if len(counted) > 1 or sorted(i for word in tokens.words for i in word) != list(range(len(tokens))):
            raise ValueError(f"its {side} tokens do not belong together")
        if not all(isinstance(text, str) for text in (*tokens.pieces, *tokens.labels)):
            raise ValueError(f"its {side} tokens are no texts")
    for kind in trace.kinds:
        pattern, shape = trace.pattern(kind), (len(trace.row_tokens(kind)), len(trace.column_tokens(kind)))
        if pattern.dtype.kind != "f" or pattern.ndim != 4 or 0 in pattern.shape or pattern.shape[2:] != shape:
            raise ValueError(f"its {kind} attention has shape {pattern.shape} of {pattern.dtype}, for {shape} tokens")
        if not np.isfinite(pattern).all() or np.min(pattern) < 0:
            raise ValueError(f"its {kind} attention holds negative or infinite weights")
    if trace.log_probs.shape != (len(trace.writes),):
        raise ValueError(f"it has {trace.log_probs.size} log-probabilities for {len(trace.writes)} tokens")


def _tokens(data: np.lib.npyio.NpzFile, side: str) -> Tokens:
    of_word = data[f"{side}_words"]
    words = [np.flatnonzero(of_word == w).tolist() for w in np.unique(of_word)]
    return Tokens(
        data[f"{side}_ids"].tolist(),
        data[f"{side}_pieces"].tolist(),
        data[f"{side}_labels"].tolist(),
        words,
        data[f"{side}_special"].tolist(),
    )
