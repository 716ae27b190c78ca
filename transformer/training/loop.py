"""The training loop: deterministic for a given seed; it yields a report per step and prints nothing.

Shapes: B sentences, S source tokens, T target tokens.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import torch
from torch import Tensor, nn

from transformer.batches import Batch
from transformer.config import TrainConfig
from transformer.model import Transformer
from transformer.training.loss import cross_entropy
from transformer.training.processes import Processes
from transformer.training.schedule import learning_rate, teacher_forcing


@dataclass(frozen=True)
class StepReport:
    """The loss and cost of one step. `loss` is in nats per token and includes label smoothing."""

    step: int
    loss: float
    learning_rate: float
    gradient_norm: float
    tokens: int  # target tokens that were predicted
    seconds: float
    teacher_forcing: float = 1.0  # the share of target tokens that the decoder read from the corpus


class Diverged(ArithmeticError):
    """The loss or its gradient is NaN or infinite; the weights are still those from before the step."""


def train_dtype(precision: str, device: torch.device) -> torch.dtype:
    """Return the dtype of matrix products; "auto" is bfloat16 where the hardware supports it, else float32."""
    if precision == "auto":
        on_cuda = device.type == "cuda"
        fast = torch.cuda.is_bf16_supported() if on_cuda else torch.cpu._is_avx512_bf16_supported()
        return torch.bfloat16 if fast else torch.float32
    return {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}[precision]


def batch_loss(
    model: Transformer,
    batch: Batch,
    label_smoothing: float = 0.0,
    forcing: float = 1.0,
    shifted: bool = True,
    prefix: bool = False,
    padding: bool = False,
) -> Tensor:
    """Return the summed cross-entropy over the target tokens, in nats, without padding unless `padding`.

    `forcing` is the share of target tokens that the decoder reads from the corpus, not from its own predictions, which
    it makes in one pass over the whole target, or with `prefix` from the tokens before alone. With `shifted` False, one
    of the mistakes that the app demonstrates, the decoder reads the very tokens it is to predict.
    """
    reads, writes = batch.tgt[:, :-1] if shifted else batch.tgt[:, 1:], batch.tgt[:, 1:]
    memory = model.encode(batch.src)
    if prefix:
        states = states_by_prefix(model, reads, memory, batch.src, forcing)
    else:
        if forcing < 1.0:
            reads = scheduled_sampling_inputs(model, reads, memory, batch.src, 1.0 - forcing)
        states = model.decode(reads, memory, batch.src)
    real = torch.ones_like(writes, dtype=torch.bool) if padding else writes != model.config.pad_id
    return cross_entropy(states[real], model.output.weight, model.output.bias, writes[real], label_smoothing)


def scheduled_sampling_inputs(model: Transformer, reads: Tensor, memory: Tensor, src: Tensor, share: float) -> Tensor:
    """Return `reads` [B, T] with about `share` of the tokens replaced by the model's own predictions.

    The predictions come from one extra pass of the decoder over the true tokens (Mihaylova and Martins 2019, for
    transformers). [SOS] and padding are kept.
    """
    pad = model.config.pad_id
    drawn = (torch.rand(reads.shape, device=reads.device) < share) & (reads != pad)
    drawn[:, 0] = False
    states = model.decode(reads, memory, src)  # not under no_grad: autocast would cache weights without gradients
    logits = model.output(states[:, :-1][drawn[:, 1:]])
    logits[:, pad] = -torch.inf
    return reads.masked_scatter(drawn, logits.argmax(-1))


def states_by_prefix(model: Transformer, reads: Tensor, memory: Tensor, src: Tensor, forcing: float) -> Tensor:
    """Return the decoder's state at each token of `reads` [B, T], computed from the tokens up to it: [B, T, d_model].

    Each next token is that of `reads` with the probability `forcing`, else what the state before it predicts (Bengio
    et al. 2015). It takes T passes, and the decoder never sees a later token, whatever its masks.
    """
    pad, prefix, states = model.config.pad_id, reads[:, :1], []
    for length in range(1, reads.size(1) + 1):
        states.append(model.decode(prefix, memory, src)[:, -1:])
        if length < reads.size(1):
            true = reads[:, length : length + 1]
            logits = model.output(states[-1])  # not under no_grad: autocast would cache weights without gradients
            own = logits.index_fill(-1, torch.tensor([pad], device=src.device), -torch.inf).argmax(-1)
            forced = (torch.rand(true.shape, device=src.device) < forcing) | (true == pad)
            prefix = torch.cat([prefix, torch.where(forced, true, own)], 1)
    return torch.cat(states, 1)


class Objective(nn.Module):
    """The loss as a module, which DistributedDataParallel and FSDP can wrap."""

    def __init__(self, model: Transformer, config: TrainConfig, shifted: bool = True):
        super().__init__()
        self.model, self.config, self.shifted = model, config, shifted

    def forward(self, src: Tensor, tgt: Tensor, forcing: float) -> Tensor:
        config, batch = self.config, Batch(src, tgt, self.model.config.pad_id)
        prefix = config.scheduled_sampling == "prefix"
        return batch_loss(
            self.model, batch, config.label_smoothing, forcing, self.shifted, prefix, config.padding_in_loss
        )


class Trainer:
    """A model and its optimizer: Adam, by default with (0.9, 0.98, 1e-9) as in section 5.3 of the paper."""

    def __init__(
        self, model: Transformer, config: TrainConfig, processes: Processes | None = None, shifted: bool = True
    ):
        device = next(model.parameters()).device
        self.model, self.config, self.step = model, config, 0
        self.processes = processes or Processes(device=device)
        self.dtype = train_dtype(config.precision, device)
        if self.dtype == torch.float16 and self.processes.sharded:
            raise ValueError("precision is 'float16', which fully sharded training cannot scale; choose 'bfloat16'.")
        self.objective = self.processes.wrap(Objective(model, config, shifted))
        betas = (0.9, config.adam_beta2)
        self.optimizer = torch.optim.Adam(model.parameters(), lr=0.0, betas=betas, eps=config.adam_eps, fused=True)
        # Small gradients underflow in float16, so the loss is scaled up, and the gradients down again.
        self.scaler = torch.amp.GradScaler(device.type, enabled=self.dtype == torch.float16)

    def update(self, batches: Iterator[Batch], epoch: int = 0) -> StepReport:
        """Take one optimizer step on the next `config.accumulate` batches.

        Raises Diverged, before the weights change, where the loss or gradient is not finite.
        """
        start = time.perf_counter()
        config, processes = self.config, self.processes
        parts = list(islice(batches, config.accumulate))
        if not parts:
            raise ValueError("The corpus gave no batch; it holds no pair that can be trained on.")
        tokens = sum(part.tgt[:, 1:].numel() if config.padding_in_loss else part.n_tokens for part in parts)
        self.step += 1
        torch.manual_seed(random_seed(config.seed, self.step, processes.rank))
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        loss, forcing = 0.0, teacher_forcing(epoch, config)
        for number, part in enumerate(parts, 1):
            share = processes.share(part)
            with processes.accumulating(self.objective, last=number == len(parts)):
                with torch.autocast(processes.device.type, self.dtype, enabled=self.dtype != torch.float32):
                    total = self.objective(share.src, share.tgt, forcing) / tokens
                self.scaler.scale(total * processes.count).backward()  # the processes' gradients are averaged
            loss += total.item()
        loss = processes.sum(loss)
        self.scaler.unscale_(self.optimizer)
        norm = processes.whole(nn.utils.clip_grad_norm_(self.model.parameters(), config.clip or math.inf)).item()
        self._require_finite(loss, norm)
        rate = learning_rate(self.step, config)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.scaler.step(self.optimizer)  # skips the step if a gradient overflowed
        self.scaler.update()
        return StepReport(self.step, loss, rate, norm, tokens, time.perf_counter() - start, forcing)

    def _require_finite(self, loss: float, norm: float) -> None:
        overflow = self.scaler.is_enabled() and self.scaler.get_scale() >= 1.0  # the next scale is half of this one
        if not math.isfinite(loss):
            raise Diverged(f"The loss became {loss} at step {self.step:,}.")
        if not math.isfinite(norm) and not overflow:
            raise Diverged(f"The gradient became {norm} at step {self.step:,}, at a loss of {loss:.3g}.")


def random_seed(seed: int, step: int, rank: int) -> int:
    """Return the random seed of a step, derived from run seed, step and rank, so that no generator state is saved."""
    return int.from_bytes(hashlib.sha256(f"{seed} {step} {rank}".encode()).digest()[:7])


def train(model: Transformer, config: TrainConfig, batches: Iterator[Batch]) -> Iterator[StepReport]:
    """Train `model` for `config.steps` steps, yielding a report for each."""
    trainer = Trainer(model, config)
    while trainer.step < config.steps:
        yield trainer.update(batches)
