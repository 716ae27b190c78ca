"""The command `why`: explain why words were written, for one sentence as JSON or for a file as a table."""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

from headlight.analysis.head_changes import require_heads_off
from headlight.analysis.sites import by_kind
from headlight.analysis.stream import stream
from headlight.analysis.why.activation_patching import PARTS, Corruption, patching
from headlight.analysis.why.alti import contributions, head_contributions
from headlight.analysis.why.encoder_layers import decoder_lens
from headlight.analysis.why.gradients import gradient_times_input, integrated_gradients
from headlight.analysis.why.head_ablation import ABLATIONS, head_ablation
from headlight.analysis.why.leave_out import leave_one_out
from headlight.analysis.why.logit_difference import contrast, require_step
from headlight.analysis.why.score_parts import score_parts_of
from headlight.analysis.why.score_words import score_sentences, writer_name
from headlight.checkpoints import load_translator
from headlight.cli.checkpoints import Verb, takes_checkpoint, takes_device
from headlight.cli.tables import FILE_HELP, OUT_HELP, why_table
from headlight.formatting import plain_label
from headlight.importers.examples import examples
from transformer.quoting import quoted
from transformer.taps import Tap, chain
from transformer.translator import Translator


def add_verbs(verb: Verb) -> None:
    """Add the subcommand `why`; `verb(run, help)` returns its parser."""
    text = "Explain the words of a translation, as JSON: contributions, contrast, patching, DecoderLens; or of a file."
    sub = verb(why, text)
    takes_checkpoint(sub)
    takes_device(sub)
    sub.add_argument("sentence", metavar="SENTENCE|FILE", help=f"the sentence to translate; with --out {FILE_HELP}")
    sub.add_argument("--out", help=f"{OUT_HELP}; a row for each pair of a written token and a source or earlier token")
    text = "in a table: skip the measure that leaves each source token out, which takes a pass for each token"
    sub.add_argument("--no-left-out", action="store_true", help=text)
    sub.add_argument("--target", help="a translation to explain; the model's own if absent")
    sub.add_argument("--step", type=int, help="the written token to explain, from 0, [EOS] included")
    text = "heads to switch off in every pass, as encoder, decoder or cross, the layer and the head from 1: cross.3.4"
    text += "; the translation stays that of all heads"
    sub.add_argument("--off", nargs="+", default=(), metavar="HEAD", help=text)
    text = "explain an attention score: the head, the query token and the key token, by their texts or by their numbers"
    text += " from 0: cross.3.3 elle animal"
    sub.add_argument("--cell", nargs=3, metavar=("HEAD", "QUERY", "KEY"), help=text)
    text = "another token that --cell is compared with; without it, the mean of the row"
    sub.add_argument("--rather", metavar="KEY", help=text)
    sub.add_argument("--instead", help="the token that could stand there: its text, or its id")
    sub.add_argument("--corrupted", metavar="SENTENCE", help="the sentence with one word changed, to patch activations")
    sub.add_argument("--ablation", choices=ABLATIONS, help="replace each head by zeros, its mean or another sentence's")
    text = "the sentences from which --ablation takes the mean or another output; the model's examples if absent"
    sub.add_argument("--references", nargs="+", metavar="SENTENCE", help=text)
    text = "what is exchanged with the corrupted run, one at a time: heads and states if absent"
    sub.add_argument("--parts", nargs="+", choices=PARTS, default=("heads", "states"), help=text)
    text = "denoise gives the corrupted run parts of the true one (what is enough), noise the reverse (what is needed)"
    sub.add_argument("--direction", choices=("denoise", "noise"), default="denoise", help=text)


def why(options: argparse.Namespace) -> None:
    """Print a JSON object, or write a table. Raises ValueError for an invalid step, token or sentence."""
    if options.out is not None:
        alone = "target", "step", "instead", "corrupted", "ablation", "cell"
        if any(getattr(options, name) is not None for name in alone):
            raise ValueError(
                "--target, --step, --instead, --corrupted, --ablation and --cell take one sentence; "
                "leave them out with --out."
            )
        return why_table(options)
    if options.instead is not None and options.step is None:
        raise ValueError("--instead needs --step: the written token that it is compared with.")
    if options.rather is not None and options.cell is None:
        raise ValueError("--rather needs --cell: the head, the query token and the key token.")
    translator = load_translator(options.checkpoint, options.device, options.dtype)
    target, tokenizer = options.target, translator.checkpoint.target_tokenizer
    if target is None:
        target = translator.translate(options.sentence).text
    source, written = translator.encode(options.sentence), translator.encode_target(target)
    off = require_heads_off(translator.model, options.off)
    tap = chain(*(head.tap() for head in off))
    instead = int(options.instead) if (options.instead or "").isdecimal() else options.instead
    shares = contributions(translator.model, source, written, tap)
    lens = decoder_lens(translator.model, source, written, tap=tap)
    facts: dict[str, Any] = {
        "source": translator.checkpoint.source_tokenizer.labels(source),
        "target": tokenizer.labels(written),
        "contributions": shares._asdict() | {"by head": head_contributions(translator.model, source, written, tap)},
        "left out": leave_one_out(translator.model, source, written, tap),
        "decoder lens": {"written": [tokenizer.decode(ids) for ids in lens.written], "log_probs": lens.log_probs},
    }
    if off:
        facts["off"] = {
            "heads": [str(head) for head in off],
            "log_probs": lens.log_probs[-1],  # the whole encoder: the model itself
            "log_probs of all heads": translator.trace_ids(source, written).log_probs,
        }
    if instead is not None:
        require_step(written, options.step)
        other = translator.token(instead, written[options.step + 1])
        parts = contrast(translator.model, source, written, options.step, other, tap)
        gradient = gradient_times_input(translator.model, source, written, options.step, parts.instead, tap)
        integrated = integrated_gradients(translator.model, source, written, options.step, parts.instead, tap=tap)
        facts["contrast"] = parts._asdict() | {
            "gradient times input": gradient.source,
            "integrated gradients": integrated._asdict() | {"total": integrated.total},
        }
    if options.cell is not None:
        facts["cell"] = _cell(translator, source, written, options.cell, options.rather, tap)
    if options.ablation is not None:
        texts = options.references or [example.text for example in examples(translator.card)]
        pairs = [translator.encode_pair(text) for text in texts]
        effects = head_ablation(translator.model, source, written, pairs, options.ablation, tap=tap)
        facts["ablation"] = [effect.site._asdict() | {"head": effect.head, "delta": effect.delta} for effect in effects]
    if options.corrupted is not None:
        if isinstance(instead, str):
            instead = translator.token(instead, written[options.step + 1])
        corrupted = translator.encode(options.corrupted)
        corruption = Corruption(source, corrupted, written, options.step, instead)
        patched = patching(translator.model, corruption, options.parts, options.direction, tap=tap)
        by_site = {name: getattr(patched, name) for name in ("restored", "patterns", "head_tokens")}
        facts["patching"] = vars(patched) | {
            name: by_kind(shares) if shares else {} for name, shares in by_site.items()
        }
    print(json.dumps(facts, ensure_ascii=False, default=_plain))


def _cell(
    translator: Translator,
    source: list[int],
    written: list[int],
    cell: tuple[str, str, str],
    rather: str | None,
    tap: Tap | None,
) -> dict[str, Any]:
    """Return an explanation of a head's score of a key. Raises ValueError for an unknown head or token."""
    named, *tokens = cell
    (head,) = require_heads_off(translator.model, [named])
    at, checkpoint = head.tap(), translator.checkpoint
    reads = checkpoint.target_tokenizer.labels(written[:-1])
    reading = checkpoint.source_tokenizer.labels(source)
    queries = reading if at.site.stack == "encoder" else reads
    keys = reads if at.site == ("decoder", at.site.layer, "self") else reading
    query, key = (_numbered(token, labels) for token, labels in zip(tokens, (queries, keys), strict=True))
    other = None if rather is None else _numbered(rather, keys)
    passed = stream(translator.model, source, written, tap)
    parts = score_parts_of(passed, at.site, at.head, query, key, "mean" if other is None else other)
    return {
        "head": named,
        "query": query,
        "key": key,
        "relative to": parts.relative_to,
        "sentences": score_sentences(
            parts,
            plain_label(queries[query]),
            plain_label(keys[key]),
            None if other is None else plain_label(keys[other]),
        ),
        "score": parts.score,
        "weight": parts.weights[key],
        "weight without the largest pair": parts.weights_without(parts.largest()[0])[key],
        "position bias": parts.position_bias,
        "query writers": [writer_name(writer) for writer in parts.query_writers],
        "key writers": [writer_name(writer) for writer in parts.key_writers],
        "pairs": parts.pairs,
    }


def _numbered(token: str, labels: list[str]) -> int:
    """Return the position of a token by its text or its number. Raises ValueError unless exactly one matches."""
    positions = [position for position, label in enumerate(labels) if plain_label(label) == token]
    if len(positions) == 1:
        return positions[0]
    if not positions and token.isdecimal() and int(token) < len(labels):
        return int(token)
    if positions:
        numbers = ", ".join(map(str, positions))
        raise ValueError(f"{quoted(token)} stands at {numbers}; give the number of the right one.")
    numbered = ", ".join(f"{position} {plain_label(label)}" for position, label in enumerate(labels))
    raise ValueError(f"There is no token {quoted(token)} there; choose one of {numbered}.")


def _plain(value: Any) -> Any:
    """Return arrays as lists, and NaN as null."""
    assert isinstance(value, np.ndarray | np.generic), type(value)
    numbers = np.asarray(value)
    return np.where(np.isnan(numbers), np.array(None), numbers.astype(object)).tolist()
