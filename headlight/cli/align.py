"""The command `align`: alignment error rates of heads and of sums of heads against gold word alignments."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from headlight import checkpoints, folders, hub
from headlight.analysis.alignment_error import (
    AlignmentErrors,
    Choice,
    ErrorRate,
    alignment_errors,
)
from headlight.analysis.word_alignment import Head
from headlight.cli.checkpoints import CHECKPOINT_HELP, Verb, takes_checkpoint, takes_device, takes_split
from headlight.corpora.corpora import SPEC_FORMS, open_split
from headlight.corpora.pharaoh import (
    GoldSentence,
    generated_gold,
    gold_of_file,
    links_of_times,
    read_links,
    read_times,
)
from headlight.corpora.truth import has_truth
from headlight.formatting import plural
from transformer.config import check_whole
from transformer.files import write_json
from transformer.quoting import short

MAX_PRINTED_HEADS = 20
_ROW_NAMES = ("written", "read")  # without and with the shift by one step


def add_verbs(verb: Verb) -> None:
    """Add the subcommand `align`; `verb(run, help)` returns its parser."""
    sub = verb(align, "Measure which heads align words: alignment error rates of heads and of sums of heads.")
    takes_checkpoint(sub)
    sub.add_argument("--data", required=True, help=f"the corpus: {SPEC_FORMS}")
    takes_split(sub)
    takes_device(sub)
    text = "gold alignments in the Pharaoh format, a line for each pair of --data, whose words spaces separate: 0-0 1-2"
    text += " 3p4, with p or ? for possible links; or a table FILE.tsv of times: WORD, START and END in each row and"
    text += " an empty line after each sentence; not needed for a grammar, which knows its alignments"
    sub.add_argument("--gold", type=Path, metavar="FILE", help=text)
    sub.add_argument("--one-based", action="store_true", help="words of --gold are counted from 1, not from 0")
    sub.add_argument("--target-first", action="store_true", help="links of --gold are TARGET-SOURCE, not SOURCE-TARGET")
    text = "the seconds that each word of the source stands for, with a table of times"
    sub.add_argument("--seconds", type=float, metavar="S", help=text)
    text = f"a model that translates back, for symmetrised alignments: {CHECKPOINT_HELP}"
    sub.add_argument("--reverse", type=folders.named, metavar="MODEL", help=text)
    sub.add_argument("--pairs", type=int, metavar="N", help="number of pairs, from the start; all if absent")
    sub.add_argument("--out", type=Path, metavar="FILE", help="a JSON file for all rates and the chosen heads")
    sub.add_argument("--folder", help="the folder of Multi30k")


def align(options: argparse.Namespace) -> None:
    if options.pairs is not None:
        check_whole("--pairs", options.pairs, 2, 100_000_000)
    sentences = _gold(options)
    checkpoint = checkpoints.load(options.checkpoint, options.device, options.dtype)
    reverse = None
    if options.reverse is not None:
        name = str(checkpoints.fetch(options.reverse)) if hub.is_address(options.reverse) else options.reverse
        reverse = checkpoints.load(name, options.device, options.dtype)
    with tqdm(unit="sentence", disable=None) as bar:
        errors = alignment_errors(
            checkpoint, sentences, options.pairs, reverse, lambda read: bar.update(read - bar.n) and None
        )
    print("\n".join(table(errors)))
    if options.out:
        about = {
            "checkpoint": options.checkpoint,
            "model": checkpoints.digest(checkpoints.find(options.checkpoint)),
            "reverse": options.reverse,
            "data": options.data,
            "split": options.split,
            "gold": None if options.gold is None else str(options.gold),
        }
        write_json(options.out, about | facts(errors))
        print(f"\nWritten to {short(options.out)}")


def _gold(options: argparse.Namespace) -> Callable[[], Iterable[GoldSentence]]:
    corpus = open_split(options.data, options.split, options.folder)
    if options.gold is not None and options.gold.name.endswith((".tsv", ".tsv.gz")):
        if options.seconds is None or not 0 < options.seconds < math.inf:
            raise ValueError(
                "A table of times needs --seconds S, the time above 0 that each word of the source stands for, such as "
                "--seconds 0.02."
            )
        times = read_times(options.gold)
        timed = [links_of_times(words, options.seconds) for words in times]
        return partial(
            gold_of_file, corpus, timed, short(options.gold), [[word.word for word in words] for words in times]
        )
    if options.seconds is not None:
        raise ValueError("--seconds is for a table of times; give one with --gold FILE.tsv, or leave --seconds out.")
    if options.gold is not None:
        links = read_links(options.gold, options.one_based)
        if options.target_first:
            links = [of.reversed for of in links]
        return partial(gold_of_file, corpus, links, short(options.gold))
    if not has_truth(corpus):
        raise ValueError(
            f"{short(options.data)} has no gold alignments; give a file of them with --gold, or a grammar such as "
            "english-french as --data."
        )
    return partial(generated_gold, corpus)


def table(errors: AlignmentErrors) -> Iterator[str]:
    """Yield the lines that `align` prints: each head, best first, then the chosen heads and sums."""
    left = f", {errors.left_out:,} left out" if errors.left_out else ""
    sentences = plural(errors.first_half + errors.second_half, "sentence")
    yield f"{sentences}{left}; alignment error rates, 95\u00a0% intervals"
    yield f"\n{'head':<8}{'row that writes the word':<26}row that reads it"
    ranked = sorted(errors.heads.items(), key=lambda item: min(rate.rate for rate in item[1]))
    for head, (written, read) in ranked[:MAX_PRINTED_HEADS]:
        yield f"{_name(head):<8}{_interval(written):<26}{_interval(read)}"
    if len(ranked) > MAX_PRINTED_HEADS:
        yield f"and {len(ranked) - MAX_PRINTED_HEADS:,} more, which --out has"
    yield f"\nChosen on {errors.first_half:,} sentences, tested on the other {errors.second_half:,}:"
    yield f"  best head     {_choice(errors.best_head)}"
    yield f"  best sum      {_choice(errors.best_sum)}"
    if errors.reverse_sum is not None:
        yield f"  reverse model {_choice(errors.reverse_sum)}"
    for name, rate in (errors.symmetrised or {}).items():
        yield f"  {name:<13} {_interval(rate)}"


def _name(head: Head) -> str:
    return f"{head[0] + 1}.{head[1] + 1}"


def _interval(rate: ErrorRate) -> str:
    return f"{rate.rate:.3f} ({rate.low:.3f} to {rate.high:.3f})"


def _choice(choice: Choice) -> str:
    return f"{_interval(choice.second_half)}  {' + '.join(map(_name, choice.heads))}, {_ROW_NAMES[choice.shifted]}"


def facts(errors: AlignmentErrors) -> dict[str, Any]:
    """Return the rates for JSON: layers and heads count from 1, but in `ctranslate2` from 0.

    CTranslate2's translator averages the first `alignment_heads` heads of `alignment_layer`, attributes of the decoder
    in its model file; the `alignment_heads` of its Whisper models, in config.json, are pairs of layer and head. Both
    take the rows that write a token.
    """
    first, pairs = errors.first_heads, errors.unshifted_sum
    return {
        "first_half": errors.first_half,
        "second_half": errors.second_half,
        "left_out": errors.left_out,
        "heads": [
            {**_head_numbers(head), **{row: rate._asdict() for row, rate in zip(_ROW_NAMES, rates, strict=True)}}
            for head, rates in errors.heads.items()
        ],
        "best_head": _chosen(errors.best_head),
        "best_sum": _chosen(errors.best_sum),
        "reverse_sum": None if errors.reverse_sum is None else _chosen(errors.reverse_sum),
        "symmetrised": {name: rate._asdict() for name, rate in (errors.symmetrised or {}).items()},
        "ctranslate2": {
            "translator": {"alignment_layer": first.heads[0][0], "alignment_heads": len(first.heads)},
            "translator_error": first.second_half._asdict(),
            "whisper": {"alignment_heads": [list(head) for head in pairs.heads]},
            "whisper_error": pairs.second_half._asdict(),
        },
    }


def _head_numbers(head: Head) -> dict[str, int]:
    return {"layer": head[0] + 1, "head": head[1] + 1}


def _chosen(choice: Choice) -> dict[str, Any]:
    return {
        "heads": [_head_numbers(head) for head in choice.heads],
        "row": _ROW_NAMES[choice.shifted],
        "first_half": choice.first_half,
        "second_half": choice.second_half._asdict(),
    }
