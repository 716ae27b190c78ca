"""The command `heads`: measure every head of a checkpoint over a corpus."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path

import numpy as np
import torch
from torch import distributed
from tqdm import tqdm

from headlight import checkpoints
from headlight.analysis.atlas import Atlas, Share, atlas
from headlight.analysis.atlas.aligner import truths
from headlight.analysis.atlas.report import History, facts, numbers, summary, table
from headlight.checkpoints import digest, snapshots, step_of
from headlight.cli.checkpoints import Verb, takes_checkpoint, takes_device, takes_split
from headlight.corpora.corpora import SPEC_FORMS, open_split
from headlight.corpora.truth import KnownPair
from transformer.checkpoint import Checkpoint
from transformer.checkpoint.native import load_weights
from transformer.files import write_text
from transformer.training.processes import Processes, is_distributed


def add_verbs(verb: Verb) -> None:
    """Add the subcommand `heads`; `verb(run, help)` returns its parser."""
    sub = verb(heads, "Measure every head over a corpus: what each does, how consistently, and since which step.")
    takes_checkpoint(sub)
    sub.add_argument("--corpus", required=True, help=f"the corpus: {SPEC_FORMS}")
    takes_split(sub)
    takes_device(sub)
    sub.add_argument(
        "--pairs", type=int, metavar="N", help="number of pairs, from the start of the split; all if absent"
    )
    text = "number of pairs for importance, agreement and shuffled sentences, which take more passes"
    sub.add_argument("--sample", type=int, default=100, metavar="N", help=text)
    sub.add_argument(
        "--history", action="store_true", help="also measure the snapshots, to tell since which step a head has a role"
    )
    sub.add_argument(
        "--json", type=Path, metavar="FILE", help="a file for all measurements, with their standard deviations"
    )
    sub.add_argument("--folder", help="the folder of Multi30k")


def heads(options: argparse.Namespace) -> None:
    checkpoint = checkpoints.load(options.checkpoint, options.device, options.dtype)
    # An aligner draws at random, so several processes would disagree about the links.
    pairs, by = truths(
        open_split(options.corpus, options.split, options.folder), options.pairs, align=not is_distributed()
    )
    with Processes.join() as processes:
        measured = _measure(checkpoint, pairs, options, processes, options.sample)
        history: History = []
        for path in snapshots(Path(options.checkpoint)) if options.history else []:
            then = Checkpoint(
                load_weights(checkpoint.model.config, path, str(checkpoint.model.output.weight.device), options.dtype),
                checkpoint.source_tokenizer,
                checkpoint.target_tokenizer,
            )
            history.append((step_of(path), _measure(then, pairs, options, processes, 0)))
        if not processes.first:
            return
        print("\n".join(summary(measured, by)))
        print("\n".join(table(measured, history)))
        if options.json:
            selection = options.corpus, options.split, options.pairs
            about = facts(options.checkpoint, digest(options.checkpoint), selection, date.today().isoformat(), by)
            write_text(options.json, json.dumps(about | numbers(measured, history), ensure_ascii=False) + "\n")


def _measure(
    checkpoint: Checkpoint,
    pairs: Callable[[], Iterable[KnownPair]],
    options: argparse.Namespace,
    processes: Processes,
    sample: int,
) -> Atlas:
    if processes.count > 1:  # a single process leaves the model on the device of --device
        checkpoint.model.to(processes.device)
    with tqdm(unit="pair", disable=None if processes.first else True) as bar:

        def progress(read: int) -> None:
            bar.update(read - bar.n)

        share = Share(processes.rank, processes.count, lambda array: gathered(array, processes))
        return atlas(checkpoint, pairs, options.pairs, sample, share, progress)


def gathered(array: np.ndarray, processes: Processes) -> list[np.ndarray]:
    """Return the array of every process, in their order."""
    mine = torch.from_numpy(np.ascontiguousarray(array)).to(processes.device)
    every = [torch.empty_like(mine) for _ in range(processes.count)]
    distributed.all_gather(every, mine)
    return [part.cpu().numpy() for part in every]
