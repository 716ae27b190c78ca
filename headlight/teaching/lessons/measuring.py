"""Compute the expressions of a lesson from the model."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from headlight import analysis
from headlight.analysis.layout import measure_trace
from headlight.checkpoints import snapshots, step_of
from headlight.language import gettext
from headlight.teaching.lessons.language import FIRST_WORD, Expression, Head, Run, TokenReference, measure_names
from headlight.teaching.mistakes import break_translator
from transformer.checkpoint import Checkpoint
from transformer.checkpoint.native import load_weights
from transformer.positions import sinusoidal_rows
from transformer.quoting import quoted
from transformer.taps import Ablate, Site, chain
from transformer.trace import Tokens, Trace
from transformer.translator import Translator

Opener = Callable[[str], Translator]


@dataclass(frozen=True)
class Row:
    """A row of a head: the keys that are not masked, and their weights in per cent."""

    labels: list[str]
    shares: list[float]

    @property
    def top(self) -> int:
        return int(np.argmax(self.shares))


@dataclass(frozen=True)
class Extreme:
    """The head with the largest or smallest measure, [layer, head] from 1, and the measures of all heads, [L][H]."""

    head: list[int]
    values: list[list[float]]
    smallest: bool


class LessonComputer:
    """Computes expressions with the models that `open` returns by name.

    `base` is the view's sentence, target and model. `folder` gives the checkpoint folder of a model, for the snapshots
    of its training. Results are cached.
    """

    def __init__(self, open: Opener, folder: Callable[[str], Path], base: Run):
        self._open, self._folder, self.base = open, folder, base
        self._values: dict[Any, Any] = {}

    def __call__(self, expression: Expression) -> Any:
        """Return the value: a number, a text, a truth, a `Row` or an `Extreme`.

        Raises ValueError where the model has no such value.
        """
        return getattr(self, f"_{expression.what.replace('-', '_')}")(expression)

    def trace(self, run: Run | None = None) -> Trace:
        """Return the trace of a run."""
        run = self._with_model(run or Run())
        return self._compute_once(("trace", run), lambda: self._trace(run))

    def words(self, word: TokenReference, tokens: Tokens) -> int:
        """Return the position of a token. Raises ValueError naming the tokens that there are."""
        labels = [plain(label) for label in tokens.labels]
        if not word.text:
            spoken = [i for i, label in enumerate(labels) if is_word(label)]
            if not spoken:
                raise ValueError(
                    gettext("There is no word to ask about among the tokens: {tokens}.", tokens=" ".join(labels))
                )
            return spoken[0 if word.occurrence == FIRST_WORD else -1]
        same = [i for i, label in enumerate(labels) if label == word.text]
        if len(same) < word.occurrence:
            listed = " ".join(labels)
            raise ValueError(f"There is no {quoted(word.text)} number {word.occurrence} among the tokens: {listed}.")
        return same[word.occurrence - 1]

    # ---- runs ------------------------------------------------------------------------------------------------------

    def _with_model(self, run: Run) -> Run:
        """Fill in what the run leaves open from the view. A run with its own sentence takes no translation from the
        view.
        """
        target = self.base.target if run.text is None and run.model is None else None
        return replace(
            run,
            text=self.base.text if run.text is None else run.text,
            target=target if run.target is None else run.target,
            model=run.model or self.base.model,
        )

    def _compute_once(self, key: Any, compute: Callable[[], Any]) -> Any:
        if key not in self._values:
            self._values[key] = compute()
        return self._values[key]

    def translator(self, run: Run) -> Translator:
        run = self._with_model(run)
        return self._compute_once(("translator", run.model, run.snapshot, run.broken), lambda: self._translator(run))

    def _translator(self, run: Run) -> Translator:
        assert run.model is not None
        translator = self._open(run.model)
        if run.snapshot is not None:
            by_step = {step_of(path): path for path in snapshots(self._folder(run.model))}
            if run.snapshot not in by_step:
                steps = ", ".join(map(str, by_step)) or "none"
                raise ValueError(f"{run.model} has no snapshot of step {run.snapshot}; it has {steps}.")
            opened = translator.checkpoint
            weights = load_weights(opened.model.config, by_step[run.snapshot])
            checkpoint = Checkpoint(weights, opened.source_tokenizer, opened.target_tokenizer, opened.card)
            translator = Translator(checkpoint)
        return break_translator(translator, run.broken) if run.broken else translator

    def _interventions(self, run: Run) -> list[Ablate]:
        return [Ablate(site_of(head), head.head - 1) for head in run.without]

    def _trace(self, run: Run) -> Trace:
        """Return the trace of a run. A changed model reads the words that the unchanged model writes, unless the run
        has a target.
        """
        target = run.target
        if target is None and (run.without or run.broken or run.snapshot is not None):
            target = self.trace(Run(text=run.text, model=run.model)).translation
        return self.translator(run).trace(self._text(run), target, self._interventions(run))

    def _text(self, run: Run) -> str:
        text = self._with_model(run).text
        if text is None:
            raise ValueError("There is no sentence: give the view one, as “view: attention?text=...”.")
        return text

    # ---- what can be named -----------------------------------------------------------------------------------------

    def _constant(self, expression: Expression) -> float:
        return expression.number

    def _string(self, expression: Expression) -> str:
        return expression.string

    def _pattern(self, head: Head, run: Run) -> tuple[Trace, np.ndarray]:
        trace = self.trace(run)
        patterns = trace.pattern(head.kind)
        if not (1 <= head.layer <= patterns.shape[0] and 1 <= head.head <= patterns.shape[1]):
            raise ValueError(f"There is no {head}: the model has {patterns.shape[0]} layers of {patterns.shape[1]}.")
        return trace, patterns[head.layer - 1, head.head - 1]

    def _row(self, expression: Expression) -> Row:
        assert expression.head is not None
        trace, pattern = self._pattern(expression.head, expression.run)
        query = self.words(expression.words[0], trace.row_tokens(expression.head.kind))
        visible = np.flatnonzero(~trace.masked(expression.head.kind)[query])
        labels = trace.columns(expression.head.kind)
        return Row([labels[i] for i in visible], [round(100 * float(pattern[query, i]), 3) for i in visible])

    def _top(self, expression: Expression) -> Row:
        return self._row(expression)

    def _weight(self, expression: Expression) -> float:
        assert expression.head is not None
        trace, pattern = self._pattern(expression.head, expression.run)
        query, key = self._cell(expression, trace, expression.head.kind)
        return float(pattern[query, key])

    def _cell(self, expression: Expression, trace: Trace, kind: str) -> tuple[int, int]:
        row, column = expression.words
        return self.words(row, trace.row_tokens(kind)), self.words(column, trace.column_tokens(kind))

    def _measures(self, measure: str, kind: Any, run: Run) -> np.ndarray:
        """Return one measure of every head of a kind, [L, H]."""
        values = measure_trace(self.trace(run), kind)[measure_names()[measure]]
        if np.isnan(values).any():
            raise ValueError(f"{measure} means nothing in {kind} attention here; name another measure.")
        return values

    def _measure(self, expression: Expression) -> float:
        assert expression.head is not None
        self._pattern(expression.head, expression.run)
        values = self._measures(expression.measure, expression.head.kind, expression.run)
        return float(values[expression.head.layer - 1, expression.head.head - 1])

    def _extreme(self, expression: Expression) -> Extreme:
        if expression.measure:
            values = self._measures(expression.measure, expression.kind, expression.run)
        else:
            trace = self.trace(expression.run)
            query, key = self._cell(expression, trace, expression.kind)
            values = trace.pattern(expression.kind)[:, :, query, key]
        at = int(values.argmax() if expression.largest else values.argmin())
        layer, head = np.unravel_index(at, values.shape)
        exact = values.astype(np.float64).round(5).tolist()
        return Extreme([int(layer) + 1, int(head) + 1], exact, not expression.largest)

    def _count(self, expression: Expression) -> float:
        if expression.words:
            values = self._head_effects(expression.words[0], expression.kind, expression.run)
        else:
            values = self._measures(expression.measure, expression.kind, expression.run)
        return float((values > expression.number).sum())

    def _head_effects(self, word: TokenReference, kind: Any, run: Run) -> np.ndarray:
        """Return how much the log-probability of a written word falls without each head of a kind, in nats [L, H]."""
        layers, heads = self.trace(run).pattern(kind).shape[:2]

        def log_probability(*removed: Head) -> float:
            return self._word_log_prob(word, word, replace(run, without=run.without + removed))

        full_log_prob = log_probability()
        lost = [
            [full_log_prob - log_probability(Head(kind, layer + 1, head + 1)) for head in range(heads)]
            for layer in range(layers)
        ]
        return np.array(lost)

    def _probability(self, expression: Expression) -> float:
        word, at = expression.words
        return math.exp(self._word_log_prob(word, at, expression.run))

    def _word_log_prob(self, word: TokenReference, at: TokenReference, run: Run) -> float:
        """Return the log-probability of `word` where the unchanged model's translation has `at`, after the words before
        it.
        """
        run = self._with_model(run)
        plain_run = Run(text=run.text, target=run.target, model=run.model)
        trace = self.trace(plain_run)
        step = self.words(at, trace.writes)
        translator, ids = self.translator(run), trace.target.ids
        id = translator.checkpoint.target_tokenizer.named(word.text, ids[step + 1])
        tap = chain(*self._interventions(run))
        log_probs = translator.log_probs([trace.source.ids], [ids[: step + 1]], tap)
        return float(log_probs[0, -1, id])

    def _log_probability(self, expression: Expression) -> float:
        return self.trace(expression.run).log_prob

    def _translation(self, expression: Expression) -> str:
        run = self._with_model(expression.run)
        tap = chain(*self._interventions(run))
        key = ("translation", run, expression.number)
        write = self.translator(run).translate
        return self._compute_once(key, lambda: write(self._text(run), beam_size=int(expression.number), tap=tap).text)

    def _tokens(self, expression: Expression) -> float:
        return float(len(self.trace(expression.run).source))

    def _contribution(self, expression: Expression) -> float:
        return self._of_source_word(expression, lambda model, *ids: analysis.contributions(model, *ids).source)

    def _effect(self, expression: Expression) -> float:
        return self._of_source_word(expression, analysis.leave_one_out)

    def _of_source_word(self, expression: Expression, compute: Callable[..., np.ndarray]) -> float:
        """Return the entry of a source word and a written word in what `compute` returns, [T, S]."""
        trace, run = self.trace(expression.run), self._with_model(expression.run)
        values = self._compute_once(
            (expression.what, run), lambda: compute(self.translator(run).model, trace.source.ids, trace.target.ids)
        )
        key, step = self.words(expression.words[0], trace.source), self.words(expression.words[1], trace.writes)
        return float(values[step, key])

    def _similarity(self, expression: Expression) -> float:
        d_model = self.translator(expression.run).model.config.d_model
        left, right = sinusoidal_rows(torch.tensor(expression.positions), d_model)
        return float(left @ right / (left.norm() * right.norm()))

    def _compare(self, expression: Expression) -> bool:
        left, right = (comparable(self(part)) for part in expression.parts)
        if expression.measure == "has":
            return str(right).lower() in str(left).lower()
        if isinstance(left, str) != isinstance(right, str):
            raise ValueError(f"{quoted(expression.text)} compares a text with a number.")
        return bool(_COMPARE[expression.measure](left, right))

    def _and(self, expression: Expression) -> bool:
        return all(self(part) for part in expression.parts)


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def comparable(value: Any) -> float | str:
    """Return the value that comparisons use: the top word of a row, the name of a head."""
    if isinstance(value, Row):
        return plain(value.labels[value.top])
    if isinstance(value, Extreme):
        return ".".join(map(str, value.head))
    return value if isinstance(value, str) else float(value)


def plain(label: str) -> str:
    """Return a token's label without the mark of a space."""
    return label.lstrip("▁") or label


def is_word(label: str) -> bool:
    """Return whether a token has a letter and is not a special token, such as [EOS]."""
    return any(map(str.isalpha, label)) and not re.fullmatch(r"\[\w+\]|<.*>", label)


def site_of(head: Head) -> Site:
    if head.kind == "encoder":
        return Site("encoder", head.layer - 1, "self")
    return Site("decoder", head.layer - 1, "cross" if head.kind == "cross" else "self")
