"""Every head of a checkpoint over a corpus, from the command line: `python -m transformer heads`."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import distributed
from tqdm import tqdm

from transformer import checkpoints
from transformer.analysis.atlas import EDITION, NAMES, Atlas, Share, atlas
from transformer.analysis.atlas.aligner import NAME, aligned, installed
from transformer.analysis.atlas.guesses import RULES
from transformer.analysis.atlas.roles import RULE, roles, since
from transformer.checkpoints import Checkpoint
from transformer.checkpoints.native import CONFIG, SHARED, SOURCE, TARGET, WEIGHTS, load_weights
from transformer.data.corpora import FORMS, PARTS, Corpus, open_split
from transformer.data.truth import Known, has_truth, known
from transformer.files import open_regular, write_text
from transformer.trace import KINDS, Kind
from transformer.training.processes import Processes, several

WIDTH = 16  # of a column
History = list[tuple[int, Atlas]]  # a step, and what was found there
Verb = Callable[[Callable[[argparse.Namespace], None], str], argparse.ArgumentParser]


def add_verb(verb: Verb) -> None:
    """Adds the verb by means of `verb(run, help)`, which makes its parser."""
    sub = verb(heads, "Measure every head over a corpus: which head does what, how surely, and since when.")
    sub.add_argument("checkpoint", help="a checkpoint folder, such as checkpoints/reverse")
    sub.add_argument("--corpus", required=True, help=f"the corpus: {FORMS}")
    sub.add_argument("--split", choices=PARTS, help="which part of it; test if absent, or all where there are none")
    sub.add_argument("--pairs", type=int, metavar="N", help="how many pairs to read, from the first; all if absent")
    text = "pairs for importance and agreement, which take a pass for each head and word"
    sub.add_argument("--sample", type=int, default=100, metavar="N", help=text)
    sub.add_argument("--history", action="store_true", help="also at each snapshot: since when a head has its role")
    sub.add_argument("--json", type=Path, metavar="FILE", help="a file for every number, with its spread")
    sub.add_argument("--folder", help="where Multi30k lies")


def heads(options: argparse.Namespace) -> None:
    checkpoint = checkpoints.load(options.checkpoint)
    pairs, by = truths(open_split(options.corpus, options.split, options.folder), options.pairs)
    with Processes.join() as processes:
        found = _measure(checkpoint, pairs, options, processes, options.sample)
        history: History = []
        for path in snapshots(Path(options.checkpoint)) if options.history else []:
            then = Checkpoint(load_weights(checkpoint.model.config, path), *_tokenizers(checkpoint))
            history.append((step_of(path), _measure(then, pairs, options, processes, 0)))
        if not processes.first:
            return
        print("\n".join(_told(found, by)))
        print("\n".join(_table(found, history)))
        if options.json:
            asked = options.corpus, options.split, options.pairs
            told = facts(options.checkpoint, digest(options.checkpoint), asked, date.today().isoformat(), by)
            write_text(options.json, json.dumps(told | numbers(found, history), ensure_ascii=False) + "\n")


def truths(corpus: Corpus, most: int | None = None) -> tuple[Callable[[], Iterable[Known]], str]:
    """The pairs with what is known of them, and who says so: "gold", the aligner's name, or "" for nobody."""

    def plain() -> Iterator[Known]:
        return known(corpus)

    if has_truth(corpus):
        return plain, "gold"
    # Each of several processes would draw other links.
    if installed() and not several():
        return aligned(plain, most), NAME
    return plain, ""


def digest(folder: str | Path) -> str:
    """Of what a model computes with: its weights, configuration and tokenizers."""
    found = hashlib.sha256()
    for name in (WEIGHTS, CONFIG, SHARED, SOURCE, TARGET):
        if (file := Path(folder) / name).is_file():
            with open_regular(file) as opened:
                found.update(f"{name} {hashlib.file_digest(opened, 'sha256').hexdigest()}\n".encode())
    return found.hexdigest()


def snapshots(folder: Path) -> list[Path]:
    """The weights that were kept while a checkpoint's model was trained, the first first."""
    return sorted((folder / "history").glob("step-*.safetensors"), key=step_of)


def step_of(path: Path) -> int:
    found = re.search(r"(\d+)$", path.stem)
    return int(found[1]) if found else 0


def _tokenizers(checkpoint: Checkpoint) -> tuple[Any, Any]:
    return checkpoint.source_tokenizer, checkpoint.target_tokenizer


def _measure(
    checkpoint: Checkpoint,
    pairs: Callable[[], Iterable[Known]],
    options: argparse.Namespace,
    processes: Processes,
    sample: int,
) -> Atlas:
    model = checkpoint.model.to(processes.device)
    with tqdm(unit="pair", disable=None if processes.first else True) as bar:

        def progress(read: int) -> None:
            bar.update(read - bar.n)

        share = Share(processes.rank, processes.count, lambda array: gathered(array, processes))
        return atlas(model, *_tokenizers(checkpoint), pairs, options.pairs, sample, share, progress)


def gathered(array: np.ndarray, processes: Processes) -> list[np.ndarray]:
    """The array of every process, in their order."""
    mine = torch.from_numpy(np.ascontiguousarray(array)).to(processes.device)
    every = [torch.empty_like(mine) for _ in range(processes.count)]
    distributed.all_gather(every, mine)
    return [one.cpu().numpy() for one in every]


def places(found: Atlas) -> Iterator[tuple[Kind, int, int]]:
    """Every head: its kind, and layer and head from 0."""
    for kind in KINDS:
        n_layers, n_heads = found.heads[kind]["entropy"].mean.shape
        yield from ((kind, layer, head) for layer in range(n_layers) for head in range(n_heads))


# ---- what is printed -----------------------------------------------------------------------------------------------


def _told(found: Atlas, by: str) -> Iterator[str]:
    yield f"{found.pairs:,} pairs, loss {found.loss.mean[0, 0]:.4f} nats a token"
    if found.left.long:
        yield f"{found.left.long:,} pairs left out: empty, or longer than the model reads"
    if found.left.unmatched:
        yield f"{found.left.unmatched:,} pairs without alignment: the model's tokens are not those words"
    if by != "gold":
        yield f"no gold alignment: alignment is the disagreement with {by}" if by else "no gold alignment"
    if found.sampled:
        mean, spread = found.agreement.mean[0, 0], found.agreement.deviation[0, 0]
        yield (
            f"importance and agreement on the first {found.sampled} of them; "
            f"rank correlation of attention with leaving words out {mean:.2f} ± {spread:.2f}"
        )
    for kind in KINDS:
        chance = found.chance[kind]
        if guessed := [f"{rule} {100 * chance[rule]:.0f} %" for rule in RULES if rule in chance]:
            yield f"antecedents of {kind} heads, as rules guess them: {', '.join(guessed)}"
    yield f"mean ± standard deviation over sentences. {RULE}"


def _table(found: Atlas, history: History) -> Iterator[str]:
    names = [name for name in NAMES if any(name in of for of in found.heads.values())]
    yield "head".ljust(14) + "".join(name.rjust(WIDTH) for name in names) + "  role"
    for kind, layer, head in places(found):
        cells = []
        for name in names:
            spread = found.heads[kind].get(name)
            there = spread is not None and spread.sentences[layer, head]
            digits = 4 if name == "importance" else 2
            cell = "-"
            if spread and there:
                cell = f"{spread.mean[layer, head]:z.{digits}f} ±{spread.deviation[layer, head]:.{digits}f}"
            cells.append(cell.rjust(WIDTH))
        said = "; ".join(_with_since(found, history, kind, layer, head))
        yield f"{kind} {layer + 1}.{head + 1}".ljust(14) + "".join(cells) + f"  {said}".rstrip()


def _with_since(found: Atlas, history: History, kind: Kind, layer: int, head: int) -> Iterator[str]:
    steps = [step for step, _ in history]
    names = [{role.name for role in roles(then, kind, layer, head)} for _, then in history]
    for role in roles(found, kind, layer, head):
        first = since(steps, names, role.name)
        yield f"{role}" + (f"; since step {first:,}" if first is not None else "")


# ---- what is written -----------------------------------------------------------------------------------------------


def facts(
    checkpoint: str, model: str, asked: tuple[str | None, str | None, int | None], measured: str, by: str
) -> dict[str, Any]:
    """What was measured: a checkpoint of the digest `model`, on so many pairs of a split of a corpus, and when."""
    corpus, split, pairs = asked
    return {
        "checkpoint": checkpoint,
        "model": model,
        "edition": EDITION,
        "measured": measured,
        "corpus": corpus,
        "split": split,
        "asked": pairs,
        "alignment": by or None,
    }


def numbers(found: Atlas, history: History) -> dict[str, Any]:
    """What was found: every number, the names of the heads, and the same at each snapshot."""
    named = [
        {
            "kind": kind,
            "layer": layer + 1,
            "head": head + 1,
            "roles": list(_with_since(found, history, kind, layer, head)),
        }
        for kind, layer, head in places(found)
    ]
    return {
        **found.to_dict(),
        "roles": [one for one in named if one["roles"]],
        "history": [{"step": step, **then.to_dict(), "examples": {}} for step, then in history],
    }
