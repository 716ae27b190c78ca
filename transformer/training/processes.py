"""Distributed data-parallel training, with one process or with several that a launcher started.

`accelerate launch` and `torchrun` set rank and world size in the environment; torch.distributed does the rest. Every
process reads the same batches and trains on its share of each batch's rows, so that a step equals that of one process
on the whole batch. `accelerate launch --use_fsdp` also shards parameters, gradients and optimizer state.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NoReturn

import psutil
import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from transformer.batches import Batch
from transformer.layers import DecoderLayer, EncoderLayer

COLLECTIVE_TIMEOUT = timedelta(hours=24)  # other ranks wait while rank 0 reads the corpus and evaluates


def is_distributed() -> bool:
    """Return whether a launcher started this process as one of several."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1


def require_all_started() -> None:
    """Raise ValueError where `accelerate launch` was asked for several processes but started one.

    On a single machine, --cpu makes it do so silently.
    """
    if is_distributed() or "ACCELERATE_MIXED_PRECISION" not in os.environ:
        return
    with suppress(psutil.Error):
        words = psutil.Process(os.getppid()).cmdline()
        joined = " ".join(words)
        match = re.search(r"--num[_-]processes[ =](\d+)", joined)
        if "accelerate" in joined and match and int(match[1]) > 1:
            raise ValueError(
                f"accelerate was asked for {match[1]} processes and started one, as it does with --cpu; use "
                f"torchrun --nproc-per-node {match[1]} -m headlight ..., or leave out --num_processes."
            )


def _has_no_gpu() -> bool:
    return os.environ.get("ACCELERATE_USE_CPU", "false").lower() == "true"


def leave(code: int) -> NoReturn:
    """Exit with `code`, skipping the interpreter's teardown.

    DistributedDataParallel keeps its process group alive after it is destroyed, and the group's threads sometimes abort
    the process during teardown: "terminate called without an active exception" (PyTorch issue 190489).
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


@dataclass(frozen=True)
class Processes:
    """This process: `rank` of `count`, on `device`; `sharded` if each process holds only a shard of the model."""

    rank: int = 0
    count: int = 1
    device: torch.device = torch.device("cpu")
    sharded: bool = False

    @classmethod
    @contextmanager
    def join(cls) -> Iterator[Processes]:
        """Initialise the process group, and destroy it at the end of the context."""
        on_gpu = torch.cuda.is_available() and not _has_no_gpu()
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))) if on_gpu else torch.device("cpu")
        if on_gpu:
            torch.cuda.set_device(device)
        if not is_distributed():
            yield cls(device=device)
            return
        distributed.init_process_group("nccl" if on_gpu else "gloo", timeout=COLLECTIVE_TIMEOUT)
        try:
            sharded = os.environ.get("ACCELERATE_USE_FSDP", "false") == "true"
            yield cls(distributed.get_rank(), distributed.get_world_size(), device, sharded)
        finally:
            distributed.destroy_process_group()

    @property
    def first(self) -> bool:
        """Whether this process writes the files (rank 0)."""
        return self.rank == 0

    def wait(self) -> None:
        """Wait for all processes (a barrier)."""
        if self.count > 1:
            distributed.barrier()

    def wrap(self, objective: nn.Module) -> nn.Module:
        """Wrap `objective` in DDP or FSDP, so that gradients are averaged over all processes."""
        if self.count == 1:
            return objective
        if not self.sharded:
            return DistributedDataParallel(objective, broadcast_buffers=False)
        from torch.distributed.device_mesh import init_device_mesh  # slow to import and rarely needed
        from torch.distributed.fsdp import fully_shard

        mesh = init_device_mesh(self.device.type, (self.count,))
        for module in objective.modules():
            if isinstance(module, EncoderLayer | DecoderLayer):
                fully_shard(module, mesh=mesh)
        fully_shard(objective, mesh=mesh)
        return objective

    @contextmanager
    def accumulating(self, objective: Any, last: bool) -> Iterator[None]:
        """Return a context for forward and backward; gradients are synchronised only after the `last` micro-batch of a
        step.
        """
        if self.sharded:
            objective.set_requires_gradient_sync(last)
        quiet = self.count > 1 and not self.sharded and not last
        with objective.no_sync() if quiet else nullcontext():
            yield

    def share(self, batch: Batch) -> Batch:
        """Return this rank's rows of the batch on its device; a rank without rows gets one whose targets are all
        padding.
        """
        src, tgt = batch.src[self.rank :: self.count], batch.tgt[self.rank :: self.count]
        if not len(src):
            src, tgt = batch.src[:1], batch.tgt[:1].clone()
            tgt[:, 1:] = batch.pad_id
        return Batch(src.to(self.device), tgt.to(self.device), batch.pad_id)

    def sum(self, value: float) -> float:
        if self.count == 1:
            return value
        total = torch.tensor(value, dtype=torch.float64, device=self.device)
        distributed.all_reduce(total)
        return total.item()

    def whole(self, tensor: Tensor) -> Tensor:
        """Return the full tensor of a shard. A collective operation: every process must call it."""
        return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor

    def like(self, tensor: Tensor, pattern: Tensor) -> Tensor:
        """Return a full tensor on the device of `pattern`, sharded as `pattern` is."""
        tensor = tensor.to(pattern.device)
        if not self.sharded:
            return tensor
        from torch.distributed.tensor import DTensor, distribute_tensor

        assert isinstance(pattern, DTensor)
        return distribute_tensor(tensor, pattern.device_mesh, pattern.placements)
