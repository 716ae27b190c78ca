"""Target tokens a second in training: the forward pass, the backward pass and the update, beside what else there is.

Every contestant has the paper's network at 7.6 million parameters (d_model 256, 3 + 3 layers of 4 heads, d_ff 1024, a
vocabulary of 8,000 whose three matrices are one), dropout 0.1, label smoothing 0.1, clipping and Adam, and sees the
same bucketed batches of Multi30k; only the tutorials' batches are their own: 32 random pairs, filled up.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.measure import OURS, THEIRS, Dot, alternate, keep, machine, ratios, short, spread, table
from transformer.config import TrainConfig
from transformer.data.batches import Batch, BatchStream, Example, collate
from transformer.data.corpora import open_corpus
from transformer.data.encoded import Encoded
from transformer.data.tokenizers import PAD, Tokenizer
from transformer.model import Transformer, count_parameters
from transformer.presets import preset
from transformer.training.loop import Trainer
from transformer.training.steer import worker_environment

ROOT = Path(__file__).resolve().parents[1]
THREADS = 2
D_MODEL, LAYERS, HEADS, D_FF, DROPOUT, SMOOTHING = 256, 3, 4, 1024, 0.1, 0.1

OURS_BF16, OURS_F32 = "Headlight, bfloat16", "Headlight, float32"
TORCH_F32, TORCH_BF16 = "torch.nn.Transformer, float32", "torch.nn.Transformer, bfloat16"
MARIAN_F32, MARIAN_BF16 = "Marian in transformers, float32", "Marian in transformers, bfloat16"
TUTORIAL = "Headlight's network, float32, the tutorials' batches"
# Ours, theirs, how many times as fast it should be.
TARGETS = [
    (OURS_BF16, TORCH_F32, 2.0),
    (OURS_BF16, MARIAN_BF16, 1.2),
    (OURS_F32, TORCH_F32, 1.15),
    (OURS_F32, MARIAN_F32, 1.15),
]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--multi30k", type=Path, help="the folder of the corpus; downloaded without it")
    parser.add_argument("--batch-tokens", type=int, default=4096, help="tokens of a batch at most, padding included")
    parser.add_argument("--batches", type=int, default=20, help="batches that each contestant trains on in a round")
    parser.add_argument("--rounds", type=int, default=7)
    parser.set_defaults(run=run)


def run(multi30k: Path | None, batch_tokens: int, batches: int, rounds: int) -> None:
    """Measures, prints and writes everything. Raises ValueError where a peer or the corpus is missing."""
    names = [OURS_BF16, OURS_F32, TORCH_F32, TORCH_BF16, MARIAN_F32, MARIAN_BF16, TUTORIAL]
    result: dict[str, Any] = {"machine": machine("torch", "transformers"), "rounds": rounds, "threads": THREADS}
    workers = {name: Worker(name, multi30k, batch_tokens, batches) for name in names}
    try:
        result["parameters"] = {name: worker.parameters for name, worker in workers.items()}
        speeds = alternate(rounds, {name: worker.round for name, worker in workers.items()})
    finally:
        for worker in workers.values():
            worker.end()
    result |= {"batch_tokens": batch_tokens, "batches": batches, "load_after": round(os.getloadavg()[0], 1)}
    result["tokens_per_second"] = {name: spread(found) for name, found in speeds.items()}
    result["times"] = {f"{ours} / {theirs}": ratios(speeds[ours], speeds[theirs]) for ours, theirs, _ in TARGETS}
    print(told(result))
    keep("training", result, "Training: target tokens a second, forward, backward and update", panels(result))


class Worker:
    """A process of its own for each contestant, with the environment that it would have; one works at a time."""

    def __init__(self, name: str, *options: Any) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        before = dict(os.environ)
        # Ours as its worker is launched; the peers plain, as one trains them by hand.
        ours = name in (OURS_BF16, OURS_F32)
        os.environ.update(worker_environment(THREADS) if ours else {"OMP_NUM_THREADS": str(THREADS)})
        try:
            self.process = context.Process(target=compete, args=(theirs, name, *options), daemon=True)
            self.process.start()
        finally:
            os.environ.clear()
            os.environ.update(before)
        self.parameters: int = self._answer()

    def round(self) -> float:
        """Target tokens a second over the next batches."""
        self.pipe.send("go")
        return float(self._answer())

    def _answer(self) -> Any:
        answer = self.pipe.recv()
        if isinstance(answer, str):
            raise ValueError(answer)
        return answer

    def end(self) -> None:
        self.process.terminate()
        self.process.join()


def compete(pipe: Connection, name: str, multi30k: Path | None, batch_tokens: int, count: int) -> None:
    """What a contestant's process does: trains on the next `count` batches whenever it is told to."""
    torch.set_num_threads(THREADS)
    try:
        update, parameters = contestant(name)
        stream = random_batches(examples(multi30k)) if name == TUTORIAL else bucketed(examples(multi30k), batch_tokens)
    except (ImportError, ValueError) as error:
        pipe.send(f"{name} cannot take part: {error}")
        return
    pipe.send(parameters)
    while pipe.recv():
        batches = list(islice(stream, count))
        start = time.perf_counter()
        for batch in batches:
            update(batch)
        pipe.send(sum(batch.n_tokens for batch in batches) / (time.perf_counter() - start))


# ---- the corpus -----------------------------------------------------------------------------------


def examples(multi30k: Path | None) -> list[Example]:
    """The training pairs of Multi30k as the shipped English-French model reads them."""
    tokenizer = Tokenizer.load(ROOT / "checkpoints" / "en-fr" / "tokenizer.json")
    corpus = open_corpus("multi30k:en-fr", folder=multi30k).train
    return list(Encoded(corpus, tokenizer, tokenizer, max_tokens=128))


def bucketed(pairs: list[Example], batch_tokens: int) -> Iterator[Batch]:
    return iter(BatchStream(pairs, batch_tokens))


def random_batches(pairs: list[Example], rows: int = 32) -> Iterator[Batch]:
    order = torch.Generator().manual_seed(0)
    while True:
        for chosen in torch.randperm(len(pairs), generator=order).split(rows):
            yield collate([pairs[i] for i in chosen.tolist()])


# ---- the contestants ------------------------------------------------------------------------------


def contestant(name: str) -> tuple[Callable[[Batch], None], int]:
    """What updates it on a batch, and how many parameters it has."""
    torch.manual_seed(0)
    precision = "bfloat16" if name.endswith("bfloat16") else "float32"
    if name in (OURS_BF16, OURS_F32, TUTORIAL):
        config = TrainConfig(precision=precision, label_smoothing=SMOOTHING)  # type: ignore[arg-type]
        model = Transformer(preset("small", 8000, 8000, dropout=DROPOUT, tied="all"))
        trainer = Trainer(model, config)
        return lambda batch: void(trainer.update(iter([batch]))), count_parameters(model)
    peer = Torch() if name in (TORCH_F32, TORCH_BF16) else Marian()
    return plainly(peer, precision == "bfloat16"), sum(p.numel() for p in peer.parameters())


def void(_: object) -> None:
    pass


def plainly(model: nn.Module, bf16: bool) -> Callable[[Batch], None]:
    """The training step that tutorials write; `model` gives logits for (src, the tokens that are read)."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=SMOOTHING)
    model.train()

    def update(batch: Batch) -> None:
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            logits = model(batch.src, batch.tgt[:, :-1])
        loss = criterion(logits.float().flatten(0, 1), batch.tgt[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        loss.item()

    return update


class Torch(nn.Module):
    """torch.nn.Transformer with tied embeddings and sinusoidal positions."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(8000, D_MODEL, padding_idx=PAD)
        angles = torch.arange(256)[:, None] / 10000 ** (torch.arange(0, D_MODEL, 2) / D_MODEL)
        self.register_buffer("positions", torch.stack((angles.sin(), angles.cos()), -1).flatten(1))
        self.dropout = nn.Dropout(DROPOUT)
        sizes: dict[str, Any] = {"num_encoder_layers": LAYERS, "num_decoder_layers": LAYERS, "dim_feedforward": D_FF}
        self.transformer = nn.Transformer(D_MODEL, HEADS, **sizes, dropout=DROPOUT, batch_first=True, norm_first=True)

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        hidden = self.transformer(
            self.embed(src),
            self.embed(tgt),
            tgt_mask=torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).triu(1),
            src_key_padding_mask=src == PAD,
            tgt_key_padding_mask=tgt == PAD,
            memory_key_padding_mask=src == PAD,
            tgt_is_causal=True,
        )
        return F.linear(hidden, self.embedding.weight)

    def embed(self, ids: Tensor) -> Tensor:
        return self.dropout(self.embedding(ids) * D_MODEL**0.5 + self.positions[: ids.size(1)])


class Marian(nn.Module):
    """MarianMTModel of `transformers` at our sizes."""

    def __init__(self) -> None:
        super().__init__()
        from transformers import MarianConfig, MarianMTModel  # type: ignore[import-not-found]

        sides = {
            f"{side}_{name}": value
            for side in ("encoder", "decoder")
            for name, value in (("layers", LAYERS), ("attention_heads", HEADS), ("ffn_dim", D_FF))
        }
        config = MarianConfig(
            vocab_size=8000,
            d_model=D_MODEL,
            max_position_embeddings=256,
            pad_token_id=PAD,
            eos_token_id=3,
            decoder_start_token_id=2,
            dropout=DROPOUT,
            scale_embedding=True,
            use_cache=False,
            **sides,
        )
        self.model = MarianMTModel(config)

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        logits: Tensor = self.model(input_ids=src, attention_mask=src != PAD, decoder_input_ids=tgt).logits
        return logits


# ---- what is told ---------------------------------------------------------------------------------


def told(result: dict[str, Any]) -> str:
    speeds, rows = result["tokens_per_second"], []
    for name, one in speeds.items():
        rows.append([name, f"{short(one['median'])} ({short(one['least'])} to {short(one['most'])})"])
    times = []
    for ours, theirs, target in TARGETS:
        one = result["times"][f"{ours} / {theirs}"]
        reached = "reached" if one["median"] >= target else "missed"
        found = f"{one['median']:.2f} ({one['least']:.2f} to {one['most']:.2f})"
        times.append([ours, theirs, found, f"{target:g}: {reached}"])
    return "\n\n".join(
        [
            "Target tokens a second, median (least to most)",
            table(["", "tokens/s"], rows),
            "Times as fast, round by round",
            table(["ours", "theirs", "median (least to most)", "target"], times),
        ]
    )


def panels(result: dict[str, Any]) -> dict[str, list[Dot]]:
    dots = [
        Dot(name, one["median"], short(one["median"]), OURS if name in (OURS_BF16, OURS_F32) else THEIRS)
        for name, one in result["tokens_per_second"].items()
    ]
    return {"Target tokens a second, median": dots}
