"""Run a model over a corpus in windows of sentences, each in batches of similar length; results keep their order.

Memory is bounded by a window, whatever the length of the corpus.

Shapes: B sentences, L layers, H heads, S source tokens, T target tokens that are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, TypeVar

import numpy as np
import torch

from headlight.analysis.passes import BATCH_BYTES, log_probs_of, rows_per_pass
from headlight.analysis.stream import stream
from headlight.analysis.why.alti import contributions_of, heads_of
from headlight.analysis.why.leave_out import leave_one_out
from headlight.corpora.pairs import Pair, Rejected
from headlight.tables.columns import Explanation
from headlight.tables.sentences import Row, number_rows, windows
from headlight.watching import attention_of
from transformer.batches import collate
from transformer.taps import Recorder, Tap, chain
from transformer.trace import Trace
from transformer.translator import Translator, describe_tokens

TRACE_COST_FACTOR = 8  # a trace has all weights of all heads, so its sentence costs more
TRANSLATION_BATCH_TOKENS = 2048  # source tokens of a batch that is translated

OnWrong = Callable[[Rejected], None]
Result = TypeVar("Result")
Computed = tuple[Pair, Result] | Rejected


@dataclass(frozen=True)
class _Encoded:
    pair: Pair
    source: list[int]
    target: list[int]  # from [SOS] on; empty until it is translated
    finished: bool = True


def trace_over(
    model: Translator,
    sentences: Iterable[str | tuple[str, str]],
    *,
    interventions: Sequence[Tap] = (),
    beam_size: int = 5,
    on_wrong: OnWrong | None = None,
) -> Iterator[Trace]:
    """Yield the trace of each sentence, or of each (sentence, translation), in their order, as `model.trace` gives it.

    `sentences` may be any iterable, however long: windows (32 sentences of 125 characters, 256 short ones) are read,
    translated and recorded in batches sorted by length, so `interventions` see batches [B, H, Q, K]. A sentence that
    the model cannot read raises ValueError with its number; with `on_wrong`, that is called with its `line` and
    `reason`, and the sentence left out.
    """
    for window in windows(number_rows(sentences), TRACE_COST_FACTOR):
        yield from _results(trace_rows(model, window, lambda trace: trace, interventions, beam_size), on_wrong)


def why_over(
    model: Translator,
    sentences: Iterable[str | tuple[str, str]],
    *,
    left_out: bool = True,
    interventions: Sequence[Tap] = (),
    beam_size: int = 5,
    on_wrong: OnWrong | None = None,
) -> Iterator[Explanation]:
    """Yield an `Explanation` of each sentence, or of each (sentence, translation), in their order.

    `left_out` also measures what leaving out each source token costs, in a pass for each. Windows of 256 sentences are
    translated in batches sorted by length. `interventions` are in every pass that explains; the translation is that of
    the model without them, so that explanations with and without are of the same tokens. Sentences that the model
    cannot read are treated as in `trace_over`.
    """
    for window in windows(number_rows(sentences)):
        yield from _results(explain_rows(model, window, left_out, interventions, beam_size), on_wrong)


def watch_over(
    model: Any,
    tokenizer: Any,
    sentences: Iterable[str | tuple[str, str]],
    *,
    on_wrong: OnWrong | None = None,
    **generate_options: Any,
) -> Iterator[Trace]:
    """Yield the trace of each sentence, as `headlight.attention_of` gives it for one, of any Hugging Face model.

    Sentences are computed one at a time, since models differ in how they treat padding. Sentences that cannot be read
    are treated as in `trace_over`.
    """
    yield from _results(watch_rows(model, tokenizer, number_rows(sentences), generate_options), on_wrong)


def _results(computed: Iterable[Computed[Result]], on_wrong: OnWrong | None) -> Iterator[Result]:
    for result in computed:
        if not isinstance(result, Rejected):
            yield result[1]
        elif on_wrong is None:
            raise ValueError(f"Sentence {result.line:,}: {result.reason}")
        else:
            on_wrong(result)


def watch_rows(model: Any, tokenizer: Any, rows: Iterable[Row], options: dict[str, Any]) -> Iterator[Computed[Trace]]:
    """Yield the trace of each row, computed one at a time."""
    for row in rows:
        if isinstance(row, Rejected):
            yield row
            continue
        try:
            written = {} if row.target else options  # a target is forced, so nothing is generated
            trace = attention_of(model, tokenizer, row.source, row.target or None, **written)
        except ValueError as error:
            yield Rejected(row.line, str(error))
        else:
            yield row, trace


def trace_rows(
    model: Translator,
    window: Sequence[Row],
    make: Callable[[Trace], Result],
    interventions: Sequence[Tap] = (),
    beam_size: int = 5,
) -> Iterator[Computed[Result]]:
    """Yield what `make` returns for the trace of each row of a window, in its order; no trace is kept longer."""
    tap = chain(*interventions)
    wrong, sentences = _encoded(model, window, tap, beam_size)
    results: dict[int, tuple[Pair, Result]] = {}
    for batch in _batches(model, sentences):
        for sentence, trace in zip(batch, _record(model, batch, interventions), strict=True):
            line = sentence.pair.line
            try:
                results[line] = sentence.pair, make(trace)
            except ValueError as error:
                wrong[line] = Rejected(line, str(error))
    for row in window:
        yield wrong[row.line] if row.line in wrong else results.pop(row.line)


def explain_rows(
    model: Translator,
    window: Sequence[Row],
    left_out: bool = True,
    interventions: Sequence[Tap] = (),
    beam_size: int = 5,
) -> Iterator[Computed[Explanation]]:
    """Yield the explanation of each row of a window, in its order."""
    wrong, sentences = _encoded(model, window, None, beam_size)
    encoded = {sentence.pair.line: sentence for sentence in sentences}
    for row in window:
        if row.line in wrong:
            yield wrong[row.line]
            continue
        sentence = encoded[row.line]
        yield sentence.pair, _explain(model, sentence, left_out, chain(*interventions))


def _explain(model: Translator, sentence: _Encoded, left_out: bool, tap: Tap | None) -> Explanation:
    source, target, pair = sentence.source, sentence.target, sentence.pair
    network, tokenizer = model.model, model.checkpoint.target_tokenizer
    passed = stream(network, source, target, tap)
    shares = contributions_of(passed, heads_of(passed))
    written = torch.tensor(target[1:], device=passed.target.device)
    return Explanation(
        pair.line,
        pair.source,
        tokenizer.decode(target),
        describe_tokens(model.checkpoint.source_tokenizer, source, pair.source),
        describe_tokens(tokenizer, target, pair.target or None),
        log_probs_of(network, passed.decoder.last[None], written[None])[0].cpu().numpy(),
        shares.source,
        shares.prefix,
        leave_one_out(network, source, target, tap) if left_out and len(source) > 1 else None,
    )


def _encoded(
    model: Translator, window: Sequence[Row], tap: Tap | None, beam_size: int
) -> tuple[dict[int, Rejected], list[_Encoded]]:
    """Return the rejected rows by line, and the ids of the other rows, each with a translation."""
    wrong, sentences = dict[int, Rejected](), list[_Encoded]()
    for row in window:
        try:
            if isinstance(row, Rejected):
                wrong[row.line] = row
            else:
                target = model.encode_target(row.target) if row.target.strip() else []
                sentences.append(_Encoded(row, model.encode(row.source), target))
        except ValueError as error:
            wrong[row.line] = Rejected(row.line, str(error))
    start = model.model.config.sos_id
    done = [sentence for sentence in sentences if sentence.target]
    untranslated = sorted((each for each in sentences if not each.target), key=lambda each: len(each.source))
    while untranslated:
        count = max(1, TRANSLATION_BATCH_TOKENS // len(untranslated[-1].source))
        batch, untranslated = untranslated[-count:], untranslated[:-count]  # longest first: they take most memory
        texts = [sentence.pair.source for sentence in batch]
        for sentence, best in zip(batch, model.translate_batch(texts, beam_size, tap=tap), strict=True):
            done.append(_Encoded(sentence.pair, sentence.source, [start, *best.ids], best.finished))
    return wrong, done


def _batches(model: Translator, sentences: Sequence[_Encoded]) -> Iterator[Sequence[_Encoded]]:
    """Yield sentences of about the same length, as many as one recorded pass may hold.

    A model without a padding mask would attend to padding, so its batches hold sentences of equal length.
    """
    config, vocabulary = model.model.config, model.model.output.out_features
    padded = config.padding_mask == "applied"
    ordered = sorted(sentences, key=_lengths)
    for _, alike in groupby(ordered, key=(lambda sentence: 0) if padded else _lengths):
        unfinished = list(alike)
        while unfinished:
            n_source, n_target = len(unfinished[-1].source), max(len(sentence.target) for sentence in unfinished) - 1
            longest = max(n_source, n_target)
            heads = (
                config.encoder.n_layers * config.encoder.n_heads + 2 * config.decoder.n_layers * config.decoder.n_heads
            )
            bytes_each = max(4 * heads * longest**2, 12 * vocabulary * n_target)
            count = min(rows_per_pass(model.model, n_source, n_target), max(1, BATCH_BYTES // bytes_each))
            yield unfinished[-count:]
            del unfinished[-count:]


def _lengths(sentence: _Encoded) -> tuple[int, int]:
    return len(sentence.source), len(sentence.target)


def _record(model: Translator, batch: Sequence[_Encoded], interventions: Sequence[Tap]) -> Iterator[Trace]:
    """Yield the traces of one pass."""
    if len(batch) == 1:  # the patterns of a long sentence are computed when they are read
        (sentence,) = batch
        yield replace(model.trace_ids(sentence.source, sentence.target, interventions), **_texts(model, sentence))
        return
    recorder = Recorder()
    padded = collate([(sentence.source, sentence.target) for sentence in batch], model.model.config.pad_id)
    log_probs = model.log_probs(padded.src, padded.tgt[:, :-1], chain(*interventions, recorder))
    chosen = log_probs.gather(-1, padded.tgt[:, 1:, None].to(log_probs.device))[..., 0].cpu().numpy()
    del log_probs
    for row, sentence in enumerate(batch):
        n_source, n_read = len(sentence.source), len(sentence.target) - 1
        yield Trace(
            encoder=_patterns(recorder, "encoder", "self", row, (n_source, n_source)),
            decoder=_patterns(recorder, "decoder", "self", row, (n_read, n_read)),
            cross=_patterns(recorder, "decoder", "cross", row, (n_read, n_source)),
            log_probs=chosen[row, :n_read].copy(),
            interventions=[str(tap) for tap in interventions],
            model=str(model.card.get("title", "")),
            look_ahead=model.model.config.look_ahead_mask == "never",
            **_texts(model, sentence),
        )


def _texts(model: Translator, sentence: _Encoded) -> dict[str, Any]:
    """Return the fields of a trace that say what was read and written."""
    checkpoint, pair = model.checkpoint, sentence.pair
    return {
        "text": pair.source,
        "translation": checkpoint.target_tokenizer.decode(sentence.target),
        "source": describe_tokens(checkpoint.source_tokenizer, sentence.source, pair.source),
        "target": describe_tokens(checkpoint.target_tokenizer, sentence.target, pair.target or None),
        "finished": sentence.finished,
    }


def _patterns(recorder: Recorder, stack: str, kind: str, row: int, cut: tuple[int, int]) -> np.ndarray:
    """Return the patterns of one kind of attention of one sentence, without its padding: [L, H, Q, K]."""
    layers = sorted(site for site in recorder if (site.stack, site.kind) == (stack, kind))
    queries, keys = cut
    return np.stack([recorder[site][0][row, :, :queries, :keys].float().cpu().numpy() for site in layers])
