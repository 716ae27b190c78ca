"""This process among those that train one model together: alone, or as one of several that a launcher started.

`accelerate launch` and `torchrun` say who is who in the environment; torch.distributed does the rest. Each process
reads the same batches and takes its share of every batch's rows, so the step is that of one process with the whole
batch. With `accelerate launch --use_fsdp` parameters, gradients and the optimizer's state are sharded too.
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

PATIENCE = timedelta(hours=24)  # the others wait while the first one reads the corpus and evaluates


def several() -> bool:
    """Whether a launcher started this process as one of several."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1


def require_all_started() -> None:
    """Raises ValueError where `accelerate launch` was asked for several processes and started one.

    With --cpu it does so on a single machine without a word.
    """
    if several() or "ACCELERATE_MIXED_PRECISION" not in os.environ:
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


def _without_gpu() -> bool:
    return os.environ.get("ACCELERATE_USE_CPU", "false").lower() == "true"


def leave(code: int) -> NoReturn:
    """Ends one of several processes with `code`, without the interpreter's teardown.

    DistributedDataParallel keeps its group alive after the group is destroyed, and now and then the group's threads
    abort the process in that teardown: "terminate called without an active exception" (PyTorch issue 190489).
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


@dataclass(frozen=True)
class Processes:
    """`rank` of `count` processes, on `device`; `sharded` where each holds only a part of the model."""

    rank: int = 0
    count: int = 1
    device: torch.device = torch.device("cpu")
    sharded: bool = False

    @classmethod
    @contextmanager
    def join(cls) -> Iterator[Processes]:
        """All the processes that the launcher started, once they have found each other."""
        on_gpu = torch.cuda.is_available() and not _without_gpu()
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))) if on_gpu else torch.device("cpu")
        if on_gpu:
            torch.cuda.set_device(device)
        if not several():
            yield cls(device=device)
            return
        distributed.init_process_group("nccl" if on_gpu else "gloo", timeout=PATIENCE)
        try:
            sharded = os.environ.get("ACCELERATE_USE_FSDP", "false") == "true"
            yield cls(distributed.get_rank(), distributed.get_world_size(), device, sharded)
        finally:
            distributed.destroy_process_group()

    @property
    def first(self) -> bool:
        """Whether this is the process that writes files."""
        return self.rank == 0

    def wait(self) -> None:
        """Until all of them are here."""
        if self.count > 1:
            distributed.barrier()

    def wrap(self, objective: nn.Module) -> nn.Module:
        """`objective` so that its gradients are the mean over all processes."""
        if self.count == 1:
            return objective
        if not self.sharded:
            return DistributedDataParallel(objective, broadcast_buffers=False)
        from torch.distributed.device_mesh import init_device_mesh  # half a second that few need
        from torch.distributed.fsdp import fully_shard

        mesh = init_device_mesh(self.device.type, (self.count,))
        for module in objective.modules():
            if isinstance(module, EncoderLayer | DecoderLayer):
                fully_shard(module, mesh=mesh)
        fully_shard(objective, mesh=mesh)
        return objective

    @contextmanager
    def accumulating(self, objective: Any, last: bool) -> Iterator[None]:
        """Around forward and backward: gradients travel between processes after the `last` part of a step only."""
        if self.sharded:
            objective.set_requires_gradient_sync(last)
        quiet = self.count > 1 and not self.sharded and not last
        with objective.no_sync() if quiet else nullcontext():
            yield

    def share(self, batch: Batch) -> Batch:
        """This process's rows of the batch, on its device; where there are too few, one row of which nothing counts."""
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
        """All of a tensor of which each process may hold a part only. Every process must ask."""
        return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor

    def like(self, tensor: Tensor, pattern: Tensor) -> Tensor:
        """A whole tensor, held as `pattern` is: on its device, and the same part of it."""
        tensor = tensor.to(pattern.device)
        if not self.sharded:
            return tensor
        from torch.distributed.tensor import DTensor, distribute_tensor

        assert isinstance(pattern, DTensor)
        return distribute_tensor(tensor, pattern.device_mesh, pattern.placements)
