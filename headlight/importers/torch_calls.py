"""Replace the few callables that PyTorch's own files name by functions that only describe their results."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from transformer.checkpoint.weights import DTYPES, plain_shape


@dataclass(frozen=True)
class Global:
    """The name of a class or function in a pickle, such as torch.FloatStorage or posix.system, and its byte offset."""

    name: str
    at: int


@dataclass(frozen=True)
class Storage:
    """A block of numbers elsewhere in the file."""

    key: str
    dtype: str | None  # None for a block of bytes, whose type each tensor names
    size: int  # in numbers of that type


@dataclass(frozen=True)
class TensorView:
    """A tensor as a view of a storage."""

    storage: Storage
    dtype: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class NamespaceOptions(dict[str, Any]):
    """The attributes of an argparse.Namespace: the settings of a training script, which are plain values."""


TYPES = {str(dtype): name for name, dtype in DTYPES.items()}  # "torch.float32" is "F32"
STORAGES: dict[str, str | None] = {
    "torch.DoubleStorage": "F64",
    "torch.FloatStorage": "F32",
    "torch.HalfStorage": "F16",
    "torch.BFloat16Storage": "BF16",
    "torch.LongStorage": "I64",
    "torch.IntStorage": "I32",
    "torch.ShortStorage": "I16",
    "torch.CharStorage": "I8",
    "torch.ByteStorage": "U8",
    "torch.BoolStorage": "BOOL",
    "torch.storage.UntypedStorage": None,
}


def storage(id: Any) -> Storage:
    """Describe a storage from ("storage", type, key, device, number of elements).

    Raises ValueError for anything else.
    """
    tag, kind, key, _, size, *view = id
    if tag != "storage" or type(key) is not str or view not in ([], [None]):
        raise ValueError("an unknown kind of storage")
    (size,) = plain_shape([size])
    return Storage(key, STORAGES[kind.name], size)


def _view(storage: Storage, offset: Any, shape: Any, strides: Any, *_: Any, dtype: str | None = None) -> TensorView:
    kind, (offset,) = dtype or storage.dtype, plain_shape([offset])
    if not isinstance(storage, Storage) or kind is None or len(shape) != len(strides):
        raise ValueError("a tensor without numbers")
    return TensorView(storage, kind, offset, plain_shape(shape), plain_shape(strides))


def _view_of_type(
    storage: Any, offset: Any, shape: Any, strides: Any, grad: Any, hooks: Any, kind: Global
) -> TensorView:
    return _view(storage, offset, shape, strides, dtype=TYPES[kind.name])


def put(target: dict[Any, Any], items: list[Any]) -> dict[Any, Any]:
    """Add items to a dictionary, with text and integer keys only: hashing nested tuples may take forever."""
    for key, value in zip(items[::2], items[1::2], strict=True):
        if type(key) in (str, int):
            target[key] = value
    return target


def _mapping(pairs: Any = ()) -> dict[Any, Any]:
    mapping: dict[Any, Any] = {}
    for key, value in pairs:
        put(mapping, [key, value])
    return mapping


CALLS: dict[str, Callable[..., Any]] = {
    "torch._utils._rebuild_tensor": _view,
    "torch._utils._rebuild_tensor_v2": _view,
    "torch._utils._rebuild_tensor_v3": _view_of_type,
    "torch._utils._rebuild_parameter": lambda data, *_: data,
    "torch._utils._rebuild_parameter_with_state": lambda data, *_: data,
    "torch.nn.parameter.Parameter": lambda data, *_: data,
    "torch.Size": lambda sizes=(): tuple(sizes),
    "collections.OrderedDict": _mapping,
    "argparse.Namespace": NamespaceOptions,
}
REBUILD_FROM_TYPE = "torch._tensor._rebuild_from_type_v2"  # calls its first argument with its third
# Values that may stand beside the weights, such as a set, a device or a NumPy number; each is read as None.
IGNORED_NAMES = {
    "_codecs.encode",
    "_operator.getitem",  # List[int], where settings name their types
    *(
        f"builtins.{kind}"
        for kind in ("bool", "dict", "float", "int", "list", "long", "object", "str", "tuple", "unicode")
    ),
    "builtins.bytearray",
    "builtins.complex",
    "builtins.frozenset",
    "builtins.set",
    "collections.Counter",
    "collections.defaultdict",
    "numpy._core.multiarray.scalar",
    "numpy.core.multiarray.scalar",
    "numpy.dtype",
    "torch.Tensor",
    "torch.device",
}
# Objects of settings and the classes that they name, which are read as data.
SETTINGS_NAMES = re.compile(r"(omegaconf|fairseq|typing)(\.\w+)+")
# Complex, quantized and sparse tensors: harmless, but no transformer here is made of them.
UNSUPPORTED_NAMES = re.compile(r"torch\.\w+Storage|torch\._utils\._rebuild_\w+|torch\.[a-z]+\d\w*|torch\.per_\w+")
KNOWN_NAMES = {*CALLS, REBUILD_FROM_TYPE, *IGNORED_NAMES, *STORAGES, *TYPES}
