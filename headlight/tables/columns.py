"""Traces and explanations as tables: columns of one length, for a file or a pandas DataFrame.

Shapes: L layers, H heads, Q queries, K keys, S source tokens, T target tokens that are read, N rows of a table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from headlight.analysis.layout import measure_trace
from headlight.analysis.measures import MEASURES
from transformer.extras import require_package
from transformer.trace import Tokens, Trace

if TYPE_CHECKING:
    import pandas

MAX_SENTENCE_WEIGHTS = 10_000_000  # rows of one sentence, which are in memory at once
ColumnType = Literal["integer", "number", "text"]
Columns = dict[str, np.ndarray]  # [N] each, by name
RowKind = Literal["heads", "weights", "steps"]

_HEAD: dict[str, ColumnType] = {"kind": "text", "layer": "integer", "head": "integer"}
_WEIGHTS: dict[str, ColumnType] = {
    **_HEAD, "query": "integer", "key": "integer", "query_token": "text", "key_token": "text", "weight": "number",
}  # fmt: skip
_STEPS: dict[str, ColumnType] = {
    "step": "integer", "written": "text", "log_prob": "number", "side": "text", "position": "integer", "token": "text",
    "contribution": "number", "left_out": "number",
}  # fmt: skip


@dataclass(frozen=True)
class Explanation:
    """The origins of each written token of a sentence. Step t writes `target` token t + 1."""

    line: int  # from 1, in the corpus
    text: str
    translation: str
    source: Tokens  # S
    target: Tokens  # T + 1, from [SOS] to [EOS]
    log_probs: np.ndarray  # [T] of the token that each step writes, in nats
    from_source: np.ndarray  # [T, S], the ALTI+ share of each source token; with `from_prefix` a row sums to 1
    from_prefix: np.ndarray  # [T, T], the share of each token that was written before
    left_out: np.ndarray | None  # [T, S], how much less probable a token is without a source token, in nats

    def steps(self) -> Columns:
        """Return a row for each written token and each token that it may come from: columns [N] by name.

        `step`, the `written` token and its `log_prob`; `side` ("source" or "prefix"), `position` and `token` of the
        token that it may come from, with its `contribution` and, on the source side, `left_out`.
        """
        written, unknown = _texts(self.target.labels[1:]), np.full_like(self.from_prefix, np.nan)
        left_out = np.full_like(self.from_source, np.nan) if self.left_out is None else self.left_out
        sides = (
            ("source", self.source, self.from_source, left_out, np.ones(self.from_source.shape, bool)),
            ("prefix", self.target, self.from_prefix, unknown, np.tri(*self.from_prefix.shape).astype(bool)),
        )
        parts = []
        for side, tokens, shares, cost, visible in sides:
            step, position = np.nonzero(visible | (shares != 0))  # some models look at later tokens of the target, too
            part = {"step": step, "written": written[step], "log_prob": self.log_probs[step]}
            part |= {"side": _texts([side] * len(step)), "position": position, "token": _texts(tokens.labels)[position]}
            parts.append(part | {"contribution": shares[step, position], "left_out": cost[step, position]})
        return _joined(parts)

    def to_dataframe(self) -> pandas.DataFrame:
        """Return `steps` as a pandas DataFrame."""
        return require_package("pandas", "A DataFrame", "tables").DataFrame(self.steps())


def column_types(rows: RowKind) -> dict[str, ColumnType]:
    """Return the columns of a table in a file, in their order.

    `rows` is "heads" (a row for each head of each sentence), "weights" (for each weight that is not masked) or "steps"
    (for each written token and each token that it may come from).
    """
    line: dict[str, ColumnType] = {"line": "integer"}
    if rows == "steps":
        return line | _STEPS
    if rows == "weights":
        return line | _WEIGHTS
    measures: dict[str, ColumnType] = {name: "number" for name in _measures()}
    return line | _HEAD | measures | {"log_prob": "number", "translation": "text"}


def _measures() -> list[str]:
    return [measure.name for measure in MEASURES.values() if measure.of_weights]


def columns_of(record: Trace | Explanation, rows: RowKind) -> Columns:
    """Return a record as the columns that `column_types` names, without the line."""
    if isinstance(record, Explanation):
        return record.steps()
    if rows == "weights":
        count = sum(math.prod(record.pattern(kind).shape) for kind in record.kinds)
        if count > MAX_SENTENCE_WEIGHTS:
            raise ValueError(f"It has {count:,} weights, more than {MAX_SENTENCE_WEIGHTS:,}; make a row for each head.")
        return record.weights()
    measured = _joined(_heads(record))
    count = len(measured["kind"])
    alone = {"log_prob": np.full(count, record.log_prob), "translation": _texts([record.translation] * count)}
    return measured | alone


def head_table(trace: Trace) -> pandas.DataFrame:
    """Return a row for each head of a trace: `kind`, `layer` and `head`, which count from 0, and each of its measures
    by its name in `headlight.MEASURES`, then the sentence's `log_prob` and `translation`."""
    return require_package("pandas", "A DataFrame", "tables").DataFrame(columns_of(trace, "heads"))


def _heads(trace: Trace) -> Iterator[Columns]:
    for kind in trace.kinds:
        layers, heads = trace.pattern(kind).shape[:2]
        layer, head = np.indices((layers, heads))
        values = measure_trace(trace, kind)
        absent = np.full((layers, heads), np.nan)
        numbers = {name: values.get(name, absent).ravel() for name in _measures()}
        yield {"kind": _texts([kind] * layers * heads), "layer": layer.ravel(), "head": head.ravel(), **numbers}


def _texts(texts: Sequence[str]) -> np.ndarray:
    """Return texts as an array of objects; NumPy's own strings would all take the memory of the longest."""
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array


def _joined(parts: Iterable[Columns]) -> Columns:
    """Return the parts one after the other."""
    every = list(parts)
    return {name: np.concatenate([part[name] for part in every]) for name in every[0]}
