"""A simulated GPU: tensors that say they are on it, compute in the processor, and refuse to meet tensors of the CPU.

It refuses what PyTorch refuses, so a pass that makes a tensor on the wrong device fails on every machine; and it notes
what PyTorch would let pass: products, norms and softmaxes that are computed on the CPU, and floating-point tensors that
are sent to the GPU while a model runs. Numbers are those of the CPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend


class _Module:
    """The attributes of `torch.gpu` that PyTorch uses."""

    def __getattr__(self, name: str) -> Any:
        answers = {"is_initialized": True, "is_available": True, "_is_in_bad_fork": False, "device_count": 1}
        answers |= {"current_device": 0, "manual_seed_all": None, "get_amp_supported_dtype": [torch.bfloat16]}
        if name not in answers:
            raise AttributeError(name)
        return lambda *args: answers[name]


_setup_privateuseone_for_python_backend("gpu", _Module())
GPU, CPU = "gpu:0", torch.device("cpu")
_BETWEEN_DEVICES = ("aten::copy_", "aten::_to_copy", "aten::to")
_INDEXED_FROM_THE_CPU = ("aten::index", "aten::index_put_", "aten::_index_put_impl_", "aten::index_put")
_NETWORK = ("mm", "addmm", "bmm", "baddbmm", "_softmax", "_log_softmax", "native_layer_norm", "embedding", "linear")
_NETWORK_OPERATORS = (*(f"aten::{name}" for name in _NETWORK), "aten::scaled_dot_product_attention")


@dataclass
class Notes:
    """Operators of a network that ran on the CPU, and the shapes of floats that were sent to the GPU meanwhile."""

    on_cpu: list[str] = field(default_factory=list)
    sent_up: list[tuple[int, ...]] = field(default_factory=list)


class GpuTensor(Tensor):
    """A tensor on the simulated GPU; `inner` holds its numbers."""

    inner: Tensor

    @staticmethod
    def __new__(cls, inner: Tensor) -> GpuTensor:
        layout = {"strides": inner.stride(), "storage_offset": inner.storage_offset()}
        with torch.inference_mode(False):  # a wrapper that is made in that mode has no version counter
            wrapper: GpuTensor = Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
                cls, inner.shape, dtype=inner.dtype, device=GPU, requires_grad=inner.requires_grad, **layout
            )
        wrapper.inner = inner
        return wrapper

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {}, Notes())

    def tolist(self) -> Any:
        return self.inner.tolist()

    def numpy(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("can't convert gpu:0 device type tensor to numpy; use Tensor.cpu() first")

    __array__ = numpy


class _Mode(TorchDispatchMode):
    """Sees every operator, also those that no tensor leads to the simulated GPU, such as zeros(3, device="gpu")."""

    def __init__(self, notes: Notes) -> None:
        super().__init__()
        self.notes = notes

    @classmethod
    def _should_skip_dynamo(cls) -> bool:  # importing the compiler would take seconds
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {}, self.notes)


def _run(func: Any, args: Any, kwargs: dict[str, Any], notes: Notes) -> Any:
    name = func._schema.name
    if func is torch.ops.aten.to.other:
        func, args = torch.ops.aten.to.device, (args[0], args[1].device, args[1].dtype, *args[2:])
    tensors = _tensors(args) + _tensors(list(kwargs.values()))
    on_gpu = any(isinstance(x, GpuTensor) for x in tensors)
    device = next((x for x in (kwargs.get("device"), *args) if isinstance(x, torch.device)), None)
    if on_gpu and name not in _BETWEEN_DEVICES:
        mixing = _tensors([args[0], *args[2:]]) if name in _INDEXED_FROM_THE_CPU else tensors
        strangers = [tuple(x.shape) for x in mixing if not isinstance(x, GpuTensor) and x.dim()]
        if strangers:
            raise RuntimeError(f"{name}: all tensors must be on one device, and these are on the CPU: {strangers}")
    if tensors and not on_gpu and name in _NETWORK_OPERATORS and max(x.numel() for x in tensors) > 1:
        notes.on_cpu.append(name)
    if device is not None:
        arrives = device.type == "gpu"
        if arrives and tensors and not on_gpu and tensors[0].dim() and tensors[0].is_floating_point():
            notes.sent_up.append(tuple(tensors[0].shape))
        on_gpu = arrives
    result = func(*(_inner(x) for x in args), **{key: _inner(value) for key, value in kwargs.items()})
    if name.endswith("_") and not name.endswith("__"):
        return args[0]
    if "out" in kwargs:
        return kwargs["out"]
    return _on_gpu(result) if on_gpu else result


def _tensors(values: Any) -> list[Tensor]:
    """Return the tensors among arguments, and in the lists among them."""
    lists = [x if isinstance(x, list | tuple) else [x] for x in values]
    return [x for each in lists for x in each if isinstance(x, Tensor)]


def _inner(x: Any) -> Any:
    """Return an argument as it is on the CPU."""
    if isinstance(x, list | tuple):
        return [_inner(each) for each in x]
    return x.inner if isinstance(x, GpuTensor) else CPU if isinstance(x, torch.device) else x


def _on_gpu(result: Any) -> Any:
    if isinstance(result, list | tuple):
        return type(result)(_on_gpu(each) for each in result)
    return GpuTensor(result) if isinstance(result, Tensor) else result


@contextmanager
def simulated_gpu() -> Iterator[Notes]:
    """Let the device "gpu" be there, and note what is computed outside it."""
    notes = Notes()
    torch._C._set_only_lift_cpu_tensors(True)  # type: ignore[attr-defined]
    torch.__future__.set_swap_module_params_on_conversion(True)  # a parameter that is moved is another class of tensor
    try:
        with _Mode(notes):
            yield notes
    finally:
        torch._C._set_only_lift_cpu_tensors(False)  # type: ignore[attr-defined]
        torch.__future__.set_swap_module_params_on_conversion(False)
