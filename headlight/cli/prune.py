"""The command `prune`: remove heads in the order of their importance."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from headlight import checkpoints, folders
from headlight.analysis.pruning.checkpoint import batches_of, bits_of, pruned_checkpoint, saved, study
from headlight.analysis.pruning.curve import DRAWS, Pruning, Score
from headlight.analysis.pruning.order import Head
from headlight.cli.checkpoints import Verb, progress_bar, takes_checkpoint, takes_split
from headlight.corpora.corpora import SPEC_FORMS, open_split
from headlight.corpora.truth import known_pairs
from headlight.formatting import percent, translation_score
from transformer.access import require_private
from transformer.config import check_share, check_whole
from transformer.files import write_json
from transformer.quoting import short


def add_verbs(verb: Verb) -> None:
    """Add the subcommand `prune`; `verb(run, help)` returns its parser."""
    text = "Remove the least important heads: print the scores by the number of removed heads, and write the smaller"
    sub = verb(prune, f"{text} checkpoint.")
    takes_checkpoint(sub)
    sub.add_argument("--data", required=True, help=f"the corpus: {SPEC_FORMS}")
    takes_split(sub)
    text = "number of pairs, from the start of the split: one half gives the order, the other the scores"
    sub.add_argument("--pairs", type=int, default=200, metavar="N", help=text)
    sub.add_argument("--keep", type=float, default=0.5, metavar="SHARE", help="the share of the heads that is kept")
    text = "measure importance again after every N removed heads; a twelfth of all heads if absent"
    sub.add_argument("--every", type=int, metavar="N", help=text)
    sub.add_argument("--draws", type=int, default=DRAWS, metavar="N", help="number of random orders to compare with")
    sub.add_argument("--out", type=folders.written, metavar="FOLDER", help="a folder for the smaller model")
    sub.add_argument("--json", type=Path, metavar="FILE", help="a file for the order and all scores")
    sub.add_argument("--folder", help="the folder of Multi30k")


def prune(options: argparse.Namespace) -> None:
    require_private()
    check_share("--keep", options.keep)
    check_whole("--pairs", options.pairs, 2, 1_000_000)
    check_whole("--draws", options.draws, 0, 100)
    if options.every is not None:
        check_whole("--every", options.every, 1, 1_000_000)
    if options.out is not None and options.out.exists():
        raise ValueError(f"{short(options.out)} exists already; choose another name, or delete it first.")
    checkpoint = checkpoints.load(options.checkpoint)
    corpus = open_split(options.data, options.split, options.folder)
    pairs = list(islice(known_pairs(corpus), options.pairs))
    with progress_bar() as progress:
        pruning = study(checkpoint, pairs, options.draws, options.every, progress)
    count = round((1 - options.keep) * len(pruning.order))
    print("\n".join([*table(pruning), *gone(pruning.first(count))]))
    words = ["python", "-m", "headlight", "prune", options.checkpoint, "--data", options.data]
    words += ["--split", options.split] if options.split else []
    words += ["--pairs", str(options.pairs), "--keep", f"{options.keep:g}"]
    words += ["--every", str(options.every)] if options.every else []
    facts = {"heads": count, "measured": pruning.measured, "every": pruning.every}
    smaller = pruned_checkpoint(checkpoint, pruning.first(count), facts, shlex.join([*words, "--out", "FOLDER"]))
    half = pairs[(len(pairs) + 1) // 2 :]
    print(saved(checkpoint.model, smaller.model, batches_of(checkpoint, half)))
    if options.out is not None:
        checkpoints.save(smaller, options.out, bits_of(smaller.model))
        print(f"Written to {options.out}")
    if options.json is not None:
        write_json(options.json, {"checkpoint": options.checkpoint, "on": corpus.name, **pruning.to_dict()})


def table(pruning: Pruning) -> Iterator[str]:
    """Yield the table of the curve, a line for each point."""
    yield (
        f"Order of importance on {pruning.measured} sentences, measured again every {pruning.every} heads; scores on "
        f"{pruning.scored} others, translated greedily."
    )
    yield "heads gone   log-probability     BLEU    exact   in random orders: log-probability, BLEU, exact"
    for point, (count, own) in enumerate(zip(pruning.gone, pruning.in_order, strict=True)):
        random = [draw[point] for draw in pruning.at_random]
        bleu, exact = translation_score(own.bleu, 2), percent(own.exact, 1)
        yield f"{count:>10}   {own.log_prob:15.4f} {bleu:>8} {exact:>8}   {_spread(random)}"


def _spread(scores: Sequence[Score]) -> str:
    """Return the ranges of the scores of several draws."""
    if not scores:
        return "-"
    logs, bleus, exacts = zip(*scores, strict=True)
    return (
        f"{min(logs):.4f} to {max(logs):.4f}, "
        f"{translation_score(min(bleus), 2)} to {translation_score(max(bleus), 2)}, "
        f"{percent(min(exacts), 1)} to {percent(max(exacts), 1)}"
    )


def gone(heads: Sequence[Head]) -> Iterator[str]:
    """Yield the names of heads, a line for each attention; layers and heads count from 1, as in the app."""
    by_site: dict[tuple[str, str, int], list[int]] = {}
    for site, head in heads:
        by_site.setdefault((site.stack, site.kind, site.layer), []).append(head + 1)
    yield f"{len(heads)} heads removed"
    for (stack, kind, layer), numbers in sorted(by_site.items()):
        yield f"  {stack} layer {layer + 1}, {kind}-attention: {', '.join(map(str, sorted(numbers)))}"
