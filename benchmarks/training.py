"""Target tokens per second in training (forward pass, backward pass and update), compared with the alternatives.

Every contestant has the paper's network at 7.6 million parameters (d_model 256, 3 + 3 layers of 4 heads, d_ff 1024, a
vocabulary of 8,000 whose three matrices are one), dropout 0.1, label smoothing 0.1, clipping and Adam, and sees the
same bucketed batches of Multi30k; only the tutorials' batches are their own: 32 random pairs, filled up.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from benchmarks.contest import THREADS, Contestant, compete, contest, joeynmt
from benchmarks.measure import (
    RATIO_HEADING,
    ROOT,
    aim_text,
    alternate,
    range_text,
    ratio_text,
    ratios,
    spread,
    table,
)
from benchmarks.peers import SMOOTHING, VOCABULARY, Joey, Marian, Peer, Torch, update_peer
from headlight.checkpoints import load_tokenizer
from headlight.corpora.corpora import open_corpus
from headlight.corpora.encoded import Encoded
from transformer.batches import Batch, BatchStream, Example, collate
from transformer.config import TrainConfig
from transformer.model import Transformer, count_parameters
from transformer.presets import preset
from transformer.tokenizers import PAD
from transformer.training.loop import Trainer

DROPOUT = 0.1

OURS_BF16, OURS_F32 = "Headlight, bfloat16", "Headlight, float32"
TORCH_F32, TORCH_BF16 = "torch.nn.Transformer, float32", "torch.nn.Transformer, bfloat16"
MARIAN_F32, MARIAN_BF16 = "Marian in transformers, float32", "Marian in transformers, bfloat16"
JOEY_F32 = "JoeyNMT, float32"  # which it uses on every processor
TUTORIAL = "Headlight's network, float32, the tutorials' batches"
PEERS: dict[str, type[Peer]] = {
    TORCH_F32: Torch,
    TORCH_BF16: Torch,
    MARIAN_F32: Marian,
    MARIAN_BF16: Marian,
    JOEY_F32: Joey,
}
# Ours, theirs, how many times as fast it should be, where that was asked for.
TARGETS = [
    (OURS_BF16, TORCH_F32, 2.0),
    (OURS_BF16, MARIAN_BF16, 1.2),
    (OURS_BF16, TORCH_BF16, None),
    (OURS_F32, TORCH_F32, 1.15),
    (OURS_F32, MARIAN_F32, 1.15),
    (OURS_BF16, JOEY_F32, None),
    (OURS_F32, JOEY_F32, None),
    (OURS_BF16, TUTORIAL, None),
    (OURS_F32, TUTORIAL, None),
]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--multi30k", type=Path, help="the folder of the corpus; downloaded without it")
    parser.add_argument("--batch-tokens", type=int, default=4096, help="tokens of a batch at most, padding included")
    parser.add_argument("--batches", type=int, default=20, help="batches that each contestant trains on in a round")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--joeynmt", type=Path, metavar="PYTHON", help="an interpreter that has JoeyNMT")


def run(multi30k: Path | None, batch_tokens: int, batches: int, rounds: int, joeynmt: Path | None) -> dict[str, Any]:
    """Return the measurements. Raises ValueError where a peer or the corpus is missing."""
    result: dict[str, Any] = {"rounds": rounds, "threads": THREADS, "batch_tokens": batch_tokens, "batches": batches}
    with contest() as contestants:
        for name, python in interpreters(joeynmt).items():
            options = name, multi30k or "", batch_tokens, batches
            contestants[name] = Contestant(__name__, *options, trains=True, python=python)
        result["parameters"] = {name: contestant.facts for name, contestant in contestants.items()}
        speeds = alternate(rounds, {name: contestant.round() for name, contestant in contestants.items()})
    result["tokens_per_second"] = {name: spread(values) for name, values in speeds.items()}
    result["times"] = {
        f"{ours} / {theirs}": ratios(speeds[ours], speeds[theirs]) for ours, theirs, _ in TARGETS if theirs in speeds
    }
    return result


def interpreters(joey: Path | None) -> dict[str, Path | str]:
    """Return the contestants, and the Python that each runs in."""
    pythons: dict[str, Path | str] = dict.fromkeys([OURS_BF16, OURS_F32, *PEERS, TUTORIAL], sys.executable)
    del pythons[JOEY_F32]
    python = joeynmt(joey)
    return pythons if python is None else {**pythons, JOEY_F32: python}


# ---- in a contestant's process --------------------------------------------------------------------


def contestant(name: str, multi30k: Path | None, batch_tokens: int, count: int) -> tuple[int, dict[str, Callable]]:
    """Return how many parameters a contestant has; and its round, which trains on the next `count` batches."""
    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    update, parameters, pad = trained(name)
    pairs = examples(multi30k)
    stream = random_batches(pairs) if name == TUTORIAL else iter(BatchStream(pairs, batch_tokens, pad))

    def round() -> float:
        """Return the target tokens per second over the next batches."""
        batches = list(islice(stream, count))
        start = time.perf_counter()
        for batch in batches:
            update(batch)
        return sum(batch.n_tokens for batch in batches) / (time.perf_counter() - start)

    return parameters, {"round": round}


def examples(multi30k: Path | None) -> list[Example]:
    """Return the training pairs of Multi30k as the shipped English-French model reads them."""
    tokenizer = load_tokenizer(ROOT / "checkpoints" / "en-fr" / "tokenizer.json")
    corpus = open_corpus("multi30k:en-fr", folder=multi30k).train
    return list(Encoded(corpus, tokenizer, tokenizer, max_tokens=128))


def random_batches(pairs: list[Example]) -> Iterator[Batch]:
    order = torch.Generator().manual_seed(0)
    while True:
        for chosen in torch.randperm(len(pairs), generator=order).split(32):
            yield collate([pairs[i] for i in chosen.tolist()])


def trained(name: str) -> tuple[Callable[[Batch], object], int, int]:
    """Return what updates the network on a batch, how many parameters it has, and the id that fills its batches up."""
    if name in PEERS:
        peer = PEERS[name](DROPOUT)
        return plainly(peer, bf16=name.endswith("bfloat16")), count_parameters(peer), peer.pad
    precision = "bfloat16" if name == OURS_BF16 else "float32"
    config = TrainConfig(precision=precision, label_smoothing=SMOOTHING)  # type: ignore[arg-type]
    model = Transformer(preset("small", VOCABULARY, VOCABULARY, dropout=DROPOUT, tied="all"))
    trainer = Trainer(model, config)
    return lambda batch: trainer.update(iter([batch])), count_parameters(model), PAD


def plainly(model: Peer, bf16: bool) -> Callable[[Batch], object]:
    """Return the training step that tutorials write."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
    model.train()
    return lambda batch: update_peer(model, optimizer, batch, bf16)


# ---- the report ---------------------------------------------------------------------------------


def report(result: dict[str, Any]) -> str:
    rows = [[name, range_text(stats)] for name, stats in result["tokens_per_second"].items()]
    times = [
        [ours, theirs, ratio_text(ratio), aim_text(ratio, target)]
        for ours, theirs, target in TARGETS
        if (ratio := result["times"].get(f"{ours} / {theirs}"))
    ]
    return "\n\n".join(
        [
            "Target tokens a second, median (least to most)",
            table(["", "tokens/s"], rows),
            "Times as fast, round by round",
            table(["ours", "theirs", RATIO_HEADING, "target"], times),
        ]
    )


if __name__ == "__main__":
    who, folder, *numbers = sys.argv[1:]
    compete(who, lambda: contestant(who, Path(folder) if folder else None, *map(int, numbers)))
