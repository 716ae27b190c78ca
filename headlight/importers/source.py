"""Open the file, archive or folder that a person imports, without running anything in it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from torch import Tensor

from headlight.importers import archives, bundle, ctranslate2_file, torch_file
from headlight.importers.limits import MAX_FILES, MAX_FOLDER_DEPTH, MAX_INDEX_BYTES
from headlight.importers.state_dict import find, strip_wrappers
from transformer.access import require_private
from transformer.checkpoint import safetensors_file
from transformer.checkpoint.weights import (
    HARMLESS_BYTES,
    MAX_REPEATS,
    Refused,
    Stored,
    TensorInfo,
    Weights,
    require_name_length,
    require_tensor_count,
    require_weights_bytes,
)
from transformer.files import open_regular, read_json
from transformer.quoting import quoted, short

SAFE, BIN = "model.safetensors", "pytorch_model.bin"
_WEIGHTS_SUFFIXES = {".pt", ".pth", ".ckpt", ".bin", ".safetensors"}
_OTHER_FILES = {"training_args.bin", "optimizer.pt", "optimizer.bin", "scheduler.pt", "scaler.pt", "rng_state.pth"}
_BEST_CHECKPOINTS = ("checkpoint_best.pt", "best.ckpt")  # fairseq and JoeyNMT save several checkpoints in a folder
_UNSUPPORTED_SUFFIXES = {".h5", ".msgpack", ".onnx", ".ot", ".gguf"}
_CTRANSLATE2, _CTRANSLATE2_ARCHITECTURE = "model.bin", "TransformerSpec"
MAX_NAME_BYTES = 255  # of a file's name: what file systems allow
ARGOS_FACTS, ARGOS_MODEL = "metadata.json", "model"  # a package of Argos Translate holds a folder of CTranslate2
_UNSUPPORTED_SIGNATURES = {  # what files of other programs begin with
    b"\x89HDF": "a Keras or TensorFlow file",
    b"GGUF": "a GGUF file, whose weights are quantised; import the model that it was converted from",
    b"7z\xbc\xaf": "a 7-Zip archive; pack it as .zip",
    b"Rar!": "a RAR archive; pack it as .zip",
    b"\xfd7zXZ": "an xz archive; pack it as .zip or .tar.gz",
    b"\x28\xb5\x2f\xfd": "a Zstandard archive; pack it as .zip or .tar.gz",
    b"\x93NUMPY": "a NumPy array",
    b"version https://git-lfs": "a Git LFS placeholder; fetch the file itself with git lfs pull",
}


class StoredWeights:
    """The tensors of one or several files.

    Raises Refused for more tensors than a model has, or for more bytes than the files can hold.
    """

    def __init__(self, tensors: Mapping[str, Stored]):
        self._tensors = dict(tensors)
        self.infos = {name: TensorInfo(stored.shape, stored.dtype) for name, stored in self._tensors.items()}
        require_tensor_count(len(self._tensors))
        for name in self._tensors:
            require_name_length(name)
        declared = sum(stored.numbers * stored.itemsize for stored in self._tensors.values())
        require_weights_bytes(declared)
        size = sum(path.stat().st_size for path in {stored.path for stored in self._tensors.values()})
        if declared > max(MAX_REPEATS * size, HARMLESS_BYTES):
            raise Refused(
                f"The tensors are {declared:,} bytes together, but the file has {size:,}: it repeats the same numbers "
                "many times over.",
                remedy="Save the weights again, each tensor by itself.",
            )

    def tensor(self, name: str) -> Tensor:
        return self._tensors[name].read()


@dataclass(frozen=True)
class Source:
    """A model to import: its weights, and the folder with the files that came with them."""

    name: str  # what the person called it
    folder: Path | None  # an unpacked archive is a temporary folder; None for a lone file of weights
    weights: Weights
    size: int  # bytes of the weights
    # How the weights were found: ("Weights found under", "model_state_dict"), ...
    origin: tuple[tuple[str, str], ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)  # plain values and options beside the weights
    beside: Path | None = None  # the folder of the weights file

    def file(self, name: str) -> Path | None:
        """Return the path of a file that came with the weights, such as "config.json"; None if it is absent."""
        path = self.folder / name if self.folder else None
        return path if path and path.is_file() else None

    def nearby(self, *names: str) -> Path | None:
        """Return the first of the files `names` that lies beside the weights, such as "dict.en.txt"; None for none.

        A name from an untrusted file may lead to another folder; such a name counts as absent.
        """
        known = (name for name in names if name == Path(name).name and len(os.fsencode(name)) <= MAX_NAME_BYTES)
        paths = [self.beside / name for name in known if self.beside]
        return next((path for path in paths if path.is_file()), None)


@contextmanager
def open_source(path: Path) -> Iterator[Source]:
    """Open a weights file, a folder (native or Hugging Face, also sharded), or an archive of either.

    Raises Refused, and ValueError on a public server.
    """
    require_private()
    with ExitStack() as stack:
        try:
            source = _open(Path(path), stack)
        except (Refused, KeyboardInterrupt, SystemExit):
            raise
        except OSError as error:
            raise Refused(f"{short(path)} cannot be read: {short(error.strerror or error)}.") from None
        except MemoryError:
            raise Refused(f"There is not enough memory to open {short(path)}.") from None
        except Exception as error:  # untrusted bytes may make a library raise anything
            message = str(error)[:100] or type(error).__name__
            raise Refused(f"{short(path)} is damaged ({message}).", remedy="Copy it again.") from None
        yield source


def _open(path: Path, stack: ExitStack) -> Source:
    if path.is_dir():
        folder = path.resolve()
        # The hub's cache has models--OWNER--NAME/snapshots/COMMIT.
        in_cache = folder.parent.name == "snapshots" and folder.parents[1].name.startswith("models--")
        return _open_folder(folder, folder.parents[1].name.split("--")[-1] if in_cache else folder.name)
    if not path.exists():
        raise Refused(f"There is no file {short(path)}.")
    if not path.is_file():
        raise Refused(f"{short(path)} is neither a file nor a folder.")
    unpack = _unpacker(path)
    if unpack is None:
        return _open_file(path, stack)
    if path.suffix == ".npz":
        raise Refused(
            f"{path.name} holds NumPy arrays, as Marian's own models do.",
            (),
            "Convert it with convert_marian_to_pytorch.py of transformers, and import the folder that this makes.",
        )
    folder = _new_folder(stack)
    unpack(path, folder)
    inside = _unnested(folder)
    return _open_folder(inside, path.name) if inside.is_dir() else replace(_open_file(inside, stack), name=path.name)


def _unpacker(path: Path) -> Callable[[Path, Path], None] | None:
    """Return the function that unpacks an archive; None for another file, and for the zip that `torch.save` writes."""
    start = _start(path)
    if archives.is_tar(start):
        return archives.unpack_tar
    return archives.unpack_zip if start.startswith(b"PK") and not torch_file.is_torch_zip(path) else None


def _new_folder(stack: ExitStack) -> Path:
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="headlight-")))


def _unnested(folder: Path) -> Path:
    """Return the innermost folder, or the only file, of folders that contain nothing but one entry."""
    for _ in range(MAX_FOLDER_DEPTH):
        inside = list(folder.iterdir())
        if len(inside) != 1:
            return folder
        folder = inside[0]
        if folder.is_file():
            return folder
    return folder


def _start(path: Path) -> bytes:
    with open_regular(path) as file:
        return file.read(512)


def _open_file(path: Path, stack: ExitStack) -> Source:
    read = _read(path)
    folder = None
    if bundle.is_bundle(read.metadata):
        folder = _new_folder(stack)
        bundle.unpack(path, read.metadata, folder)
    return _source(path.name, folder, [read], path.absolute().parent)


def _open_folder(folder: Path, name: str) -> Source:
    _require_inside(folder, name)
    for index in (f"{SAFE}.index.json", f"{BIN}.index.json"):
        if (folder / index).is_file() and not (folder / index.removesuffix(".index.json")).is_file():
            return _source(name, folder, _read_shards(folder, folder / index), folder)
    model = folder / ARGOS_MODEL
    if (folder / ARGOS_FACTS).is_file() and (model / _CTRANSLATE2).is_file():
        _require_inside(model, name)
        return _source(name, folder, [_read(model / _CTRANSLATE2)], folder)
    return _source(name, folder, [_read(_weights_file(folder, name))], folder)


def _source(name: str, folder: Path | None, parts: list[_WeightsFile], beside: Path) -> Source:
    tensors, prefix_facts = strip_wrappers({name: stored for part in parts for name, stored in part.tensors.items()})
    origin = tuple(fact for part in parts for fact in part.origin) + prefix_facts
    facts = {name: value for part in parts for name, value in part.facts.items()}
    size = sum(path.stat().st_size for path in {stored.path for stored in tensors.values()})
    return Source(name, folder, StoredWeights(tensors), size, origin, facts, beside)


def _weights_file(folder: Path, called: str) -> Path:
    """Return the only file of weights in a folder; an error calls the folder `called`."""
    for name in (SAFE, BIN):
        if (folder / name).is_file():
            return folder / name
    names = sorted(
        path.name for path in folder.iterdir() if path.suffix in _WEIGHTS_SUFFIXES and path.name not in _OTHER_FILES
    )
    chosen = names if len(names) == 1 else [name for name in _BEST_CHECKPOINTS if name in names]
    if chosen:
        return folder / chosen[0]
    if names:
        raise Refused(f"{called} holds {len(names)} weights files.", (), f"Choose one: {', '.join(names[:8])}.")
    foreign = sorted(path.name for path in folder.iterdir() if path.suffix in _UNSUPPORTED_SUFFIXES)
    instead = f", only {', '.join(foreign[:3])}" if foreign else ""
    raise Refused(f"{called} holds no PyTorch weights{instead}.", (), f"It needs {SAFE} or {BIN}.")


def _require_inside(folder: Path, called: str) -> None:
    """Raise Refused for a link out of the folder, other than into the Hugging Face cache's blobs."""
    roots = [folder.resolve()]
    if folder.parent.name == "snapshots":
        roots.append(folder.parent.parent.resolve() / "blobs")
    for number, entry in enumerate(os.scandir(folder), 1):
        path = Path(entry.path).resolve()
        if number > MAX_FILES:
            raise Refused(f"{called} holds over {MAX_FILES:,} files, which is too many for the folder of one model.")
        if not any(path.is_relative_to(root) for root in roots):
            raise Refused(f"{entry.name!r} is a link that leads out of the folder {called}.")
        if not path.is_file() and not path.is_dir():
            raise Refused(f"{entry.name!r} in {called} is neither a file nor a folder.")


@dataclass(frozen=True)
class _WeightsFile:
    """The content of one file of weights."""

    tensors: Mapping[str, Stored]
    origin: tuple[tuple[str, str], ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)


def _read(path: Path) -> _WeightsFile:
    start = _start(path)
    if not start:
        raise Refused(f"{path.name} is empty.", (), "Copy it again.")
    for magic, what in _UNSUPPORTED_SIGNATURES.items():
        if start.startswith(magic):
            raise Refused(f"{path.name} is {what}.")
    if ctranslate2_file.is_ctranslate2(start):
        return _read_ctranslate2(path)
    if path.suffix == ".safetensors" or start[8:9] == b"{":
        header = safetensors_file.read_header(path)
        return _WeightsFile(header.tensors, metadata=header.metadata)
    if start.startswith(b"PK"):
        file = torch_file.read_zip(path)
    elif start.startswith(b"\x80") or path.suffix in _WEIGHTS_SUFFIXES or path.suffix in (".pkl", ".pickle"):
        file = torch_file.read_legacy(path)
    else:
        raise Refused(
            f"{path.name} is not a weights file.", (), f"Those end in {', '.join(sorted(_WEIGHTS_SUFFIXES))}."
        )
    state = find(file.value, path.name)
    return _WeightsFile(
        {name: file.locate(name, view) for name, view in state.tensors.items()}, state.origin, state.facts
    )


def _read_ctranslate2(path: Path) -> _WeightsFile:
    file = ctranslate2_file.read(path)
    if file.architecture != _CTRANSLATE2_ARCHITECTURE:
        raise Refused(
            f"{path.name} is a {file.architecture[:60]} of CTranslate2, which is not an encoder-decoder of text.",
            remedy=f"Those are a {_CTRANSLATE2_ARCHITECTURE}.",
        )
    facts = {"version": file.version, "revision": file.revision, "aliases": file.aliases}
    origin = (("CTranslate2", f"version {file.version} of the file, revision {file.revision} of its names"),)
    return _WeightsFile(file.tensors, origin, {"CTranslate2": facts})


def _read_shards(folder: Path, index: Path) -> list[_WeightsFile]:
    """Read the files that the index names, each with the tensors that the index assigns to it."""
    try:
        values = read_json(index, MAX_INDEX_BYTES)
    except ValueError as error:
        raise Refused(str(error)) from None
    shard_of = values.get("weight_map") if isinstance(values, dict) else None
    if not isinstance(shard_of, dict) or not all(isinstance(shard, str) for shard in shard_of.values()):
        raise Refused(f"{index.name} does not say which file holds which tensor.")
    reads = []
    for shard in sorted(set(shard_of.values())):
        if not shard.isprintable() or "/" in shard or "\\" in shard or not (folder / shard).is_file():
            raise Refused(f"{index.name} names a file {shard[:80]!r} that the folder does not contain.")
        read, names = _read(folder / shard), [name for name, file in shard_of.items() if file == shard]
        if absent := [name for name in names if name not in read.tensors]:
            raise Refused(f"{shard} is missing the tensor {quoted(absent[0])}, which {index.name} says is in it.")
        reads.append(replace(read, tensors={name: read.tensors[name] for name in names}))
    return reads
