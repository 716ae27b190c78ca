"""The training loop: flat, deterministic from a seed, and silent: it yields reports and never draws."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import torch
from torch.nn import functional as F

from transformer.config import TrainConfig
from transformer.data.batches import Batch
from transformer.model import Transformer
from transformer.training.schedule import learning_rate


@dataclass(frozen=True)
class StepReport:
    """One update: what it cost and what it did. `loss` is in nats a token, smoothing included."""

    step: int
    loss: float
    learning_rate: float
    gradient_norm: float
    tokens: int  # target tokens that were predicted
    seconds: float


def train_dtype(precision: str, device: torch.device) -> torch.dtype:
    """The precision of the matrix products; "auto" takes bfloat16 where the hardware computes in it."""
    if precision == "auto":
        on_cuda = device.type == "cuda"
        fast = torch.cuda.is_bf16_supported() if on_cuda else torch.cpu._is_avx512_bf16_supported()
        return torch.bfloat16 if fast else torch.float32
    return {"float32": torch.float32, "bfloat16": torch.bfloat16}[precision]


def batch_loss(model: Transformer, batch: Batch, label_smoothing: float = 0.0) -> torch.Tensor:
    """The summed cross-entropy over the target tokens, in nats; padding is neither projected nor counted."""
    reads, writes = batch.tgt[:, :-1], batch.tgt[:, 1:]
    states = model.decode(reads, model.encode(batch.src), batch.src)
    real = writes != model.config.pad_id
    logits = model.output(states[real]).float()
    return F.cross_entropy(logits, writes[real], reduction="sum", label_smoothing=label_smoothing)


def train(model: Transformer, config: TrainConfig, batches: Iterator[Batch]) -> Iterator[StepReport]:
    """Updates `model` `config.steps` times and reports each: Adam (0.9, 0.98, 1e-9), section 5.3 of the paper."""
    torch.manual_seed(config.seed)
    device = next(model.parameters()).device
    dtype = train_dtype(config.precision, device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True)
    for step in range(1, config.steps + 1):
        start = time.perf_counter()
        parts = [b._replace(src=b.src.to(device), tgt=b.tgt.to(device)) for b in islice(batches, config.accumulate)]
        if not parts:
            raise ValueError("The corpus gave no batch; it holds no pair that can be trained on.")
        tokens = sum(part.n_tokens for part in parts)
        model.train()
        optimizer.zero_grad(set_to_none=True)
        loss = 0.0
        for part in parts:
            with torch.autocast(device.type, dtype, enabled=dtype != torch.float32):
                share = batch_loss(model, part, config.label_smoothing) / tokens
            share.backward()
            loss += share.item()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), config.clip).item()
        rate = learning_rate(step, config)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        yield StepReport(step, loss, rate, norm, tokens, time.perf_counter() - start)
