"""A pickle is read, never run: what would run is named, with the byte and the instruction, and leaves no mark."""

import argparse
import builtins
import contextlib
import os
import pickle
import posix
import struct
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from headlight.importers.source import open_source
from headlight.importers.torch_file import LEGACY_HEADER
from tests.checkpoints.opening import flat_refusal, push_text, refusal, tensors, zipped
from transformer.checkpoint.weights import MAX_TENSORS


class Calls:
    """Pickled, this is the call of `function`."""

    def __init__(self, function: Callable, *arguments: object):
        self.reduced = (function, arguments)

    def __reduce__(self) -> Any:
        return self.reduced


def programs(mark: Path) -> dict[str, tuple[bytes, str]]:
    """Pickles that make the file `mark` when they are run, and what each calls."""
    touch, make = f"touch {mark}", f"open({str(mark)!r}, 'w')"
    return {
        "reduce": (pickle.dumps(Calls(os.system, touch), 2), "posix.system"),
        "stack global": (pickle.dumps(Calls(os.system, touch), 4), "posix.system"),
        "eval": (pickle.dumps(Calls(builtins.eval, make), 2), "builtins.eval"),
        "protocol 0": (pickle.dumps(Calls(os.system, touch), 0), "posix.system"),
        "inst": (b"(" + b"V" + touch.encode() + b"\niposix\nsystem\n.", "posix.system"),
        "obj": (b"(cposix\nsystem\nV" + touch.encode() + b"\no.", "posix.system"),
        "newobj": (
            b"\x80\x02csubprocess\nPopen\n(]" + push_text("touch") + b"a" + push_text(str(mark)) + b"atR.",
            "subprocess.Popen",
        ),
        "by a harmless one": (
            b"\x80\x02ctorch._tensor\n_rebuild_from_type_v2\n(cposix\nsystem\nNX" + push_text(touch)[1:] + b"\x85NtR.",
            "posix.system",
        ),
        "behind weights": (pickle.dumps({"a": 1, "b": Calls(os.system, touch)}, 2), "posix.system"),
    }


NAMES = list(programs(Path("x")))


@pytest.mark.parametrize("name", NAMES)
def test_the_programs_would_run(tmp_path: Path, name: str) -> None:
    """Else the next tests would show nothing."""
    program, _ = programs(tmp_path / "mark")[name]
    with contextlib.suppress(AttributeError):  # one of them fails once it has run
        running = pickle.loads(program)
        if isinstance(running, subprocess.Popen):
            running.wait()
    assert (tmp_path / "mark").exists()


@pytest.mark.parametrize("wrap", ["bare", "legacy", "zip"])
@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_refused_and_does_not_run(tmp_path: Path, name: str, wrap: str) -> None:
    program, called = programs(tmp_path / "mark")[name]
    path = tmp_path / "model.pt"
    if wrap == "zip":
        zipped(path, {"model/data.pkl": program, "model/version": b"3"}, zipfile.ZIP_STORED)
    else:
        head = (
            b"".join(pickle.dumps(part, 2) for part in (*LEGACY_HEADER, {"little_endian": True}))
            if wrap == "legacy"
            else b""
        )
        path.write_bytes(head + program)
        program = head + program
    refused = refusal(path)
    assert called in refused.what and refused.command == 'torch.save(model.state_dict(), "weights.pt")'
    place, instruction = dict(refused.facts)["Found at"].removeprefix("byte ").split(", instruction ")
    at = int(place.replace(",", ""))
    assert program[at : at + 1] == {"REDUCE": b"R", "INST": b"i", "OBJ": b"o"}[instruction]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.pt"]


def test_the_byte_is_where_the_pickle_has_it(tmp_path: Path) -> None:
    """The offset is that of `pickletools.dis` for the instruction that would make the call."""
    program = pickle.dumps({"weights": torch.Size([2]), "x": Calls(posix.system, "true")}, 2)
    (tmp_path / "a.pkl").write_bytes(program)
    facts = dict(refusal(tmp_path / "a.pkl").facts)
    assert facts == {"Found at": f"byte {program.rindex(b'R')}, instruction REDUCE", "Weights inside": "none"}


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)


@pytest.mark.parametrize("options", [{}, {"_use_new_zipfile_serialization": False}])
def test_a_whole_model_is_refused_with_the_way_to_save_its_weights(tmp_path: Path, options: dict) -> None:
    torch.save(Model(), tmp_path / "a.pt", **options)
    refused = refusal(tmp_path / "a.pt")
    assert "a whole object of the class" in refused.what and f"{Model.__module__}.Model" in refused.what
    assert refused.command == 'torch.save(model.state_dict(), "weights.pt")'
    assert dict(refused.facts)["Weights inside"] == "2 tensors"


def test_a_function_that_is_only_named_is_refused_too(tmp_path: Path) -> None:
    torch.save({"weight": torch.ones(2), "activation": nn.functional.gelu}, tmp_path / "a.pt")
    assert dict(refusal(tmp_path / "a.pt").facts)["Found at"].endswith("GLOBAL")


def test_a_pickled_vocabulary_is_no_model(tmp_path: Path) -> None:
    for value in ({f"word{n}": n for n in range(20)}, [f"word{n}" for n in range(20)]):
        (tmp_path / "vocab.pkl").write_bytes(pickle.dumps(value))
        assert "as their vocabulary" in refusal(tmp_path / "vocab.pkl").remedy
    for name, remedy in (("torchtext.vocab", "as their vocabulary"), ("own.words", "JSON")):
        made = f"c{name}\nVocab\n".encode()
        program = pickle.dumps(Calls(os.system, "true"), 2).replace(b"cposix\nsystem\n", made)
        (tmp_path / "vocab.pt").write_bytes(program)
        refused = refusal(tmp_path / "vocab.pt")
        assert f"{name}.Vocab" in refused.what and remedy in refused.remedy


def test_facts_of_numpy_beside_the_weights_are_passed_over(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    torch.save({"model": tensors(), "best": numpy.float64(0.5), "seen": {1, 2}}, tmp_path / "a.pt")
    with open_source(tmp_path / "a.pt") as source:
        assert set(source.weights.infos) == set(tensors())


def view(storage: str, size: int, offset: object, shape: object, strides: object) -> bytes:
    """Return the pickle that `torch.save` writes of {"a": a tensor}, with these numbers in it."""
    plain = pickle.dumps(
        {"a": Calls(torch._utils._rebuild_tensor_v2, "STORAGE", offset, shape, strides, False, None)}, 2
    )
    id = pickle.dumps(("storage", torch.FloatStorage, storage, "cpu", size), 2)[2:-1]
    return plain.replace(push_text("STORAGE"), id + b"Q")


@pytest.mark.parametrize(
    ("size", "offset", "shape", "strides", "what"),
    [
        (4, 0, (4,), (1,), None),  # the four numbers that there are
        (4, 0, (5,), (1,), "larger than its data in the file"),
        (4, 2, (3,), (1,), "larger than its data in the file"),
        (4, -1, (2,), (1,), "damaged"),
        (4, 0, (2, 2), (-2, 1), "damaged"),
        (4, 0, (2,), (1, 1), "damaged"),
        (4, 0, (True,), (1,), "damaged"),
        (4, 0, ("4",), (1,), "damaged"),
        (4, 0, (10**6, 10**6), (0, 0), "bytes of weights"),
        (4, 0, (10**12, 10**12, 10**12), (0, 0, 0), "bytes of weights"),
        (4, 0, (10**4, 10**4), (0, 0), "repeats the same numbers"),
        (4, 0, (10**30,), (0,), "damaged"),
        (4, 0, (1,) * 100, (1,) * 100, "damaged"),
        (10**12, 0, (10**12,), (1,), "larger than its data in the file"),
        (10**12, 10**12, (1,), (1,), "larger than its data in the file"),
    ],
)
def test_a_tensor_that_is_not_in_its_storage(
    tmp_path: Path, size: int, offset: int, shape: object, strides: object, what: str | None
) -> None:
    path = zipped(
        tmp_path / "a.pt",
        {"a/data.pkl": view("0", size, offset, shape, strides), "a/data/0": bytes(16)},
        zipfile.ZIP_STORED,
    )
    if what is None:
        with open_source(path) as source:
            assert source.weights.tensor("a").tolist() == [0.0] * 4
    else:
        assert what in str(refusal(path))


def test_a_storage_that_is_not_there(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.pt", {"a/data.pkl": view("7", 4, 0, (4,), (1,))}, zipfile.ZIP_STORED)
    assert "larger than its data in the file (0 bytes)" in str(refusal(path))


SHARED = b"]q\x00(" + b"K\x01" * 10_000 + b"e0"  # a list of many numbers, remembered
BOMBS: dict[str, Callable[[], bytes]] = {  # small pickles that would take all memory, or all time
    "bytearray": lambda: b"\x80\x02cbuiltins\nbytearray\n\x8a\x06" + (10**13).to_bytes(6, "little") + b"\x85R.",
    "memo": lambda: b"\x80\x02]r\xff\xff\xff\x7f.",
    "copies": lambda: b"\x80\x02" + SHARED + b"ctorch\nSize\nq\x01h\x00\x85R" * 1 + b"h\x01h\x00\x85R0" * 50_000 + b".",
    "keys": lambda: b"\x80\x02)q\x00" + b"h\x00h\x00\x86q\x00" * 200 + b"}h\x00K\x01s.",
    "of itself": lambda: b"\x80\x02ctorch._tensor\n_rebuild_from_type_v2\nq\x00]q\x01(h\x00Nh\x01Ne0h\x00h\x01R.",
    "instructions": lambda: b"\x80\x02" + b"K\x01" * 700_000 + b".",
    "depth": lambda: b"\x80\x02" + b"(" * 1_000_000 + b".",
    "nested": lambda: b"\x80\x02" + b")" + b"\x85" * 200_000 + b".",
    "long text": lambda: b"\x80\x02X\xff\xff\xff\xff.",
    "digits": lambda: b"I" + b"9" * 1_000_000 + b"\n.",
    "tensors": lambda: b"\x80\x02" + view("0", 4, 0, (4,), (1,))[2:-1] * (MAX_TENSORS + 1) + b".",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.pkl").write_bytes(BOMBS[name]())
    flat_refusal(tmp_path / "a.pkl")


@pytest.mark.parametrize("options", [{}, {"_use_new_zipfile_serialization": False}])
def test_the_options_of_a_script_are_read_as_plain_values(tmp_path: Path, options: dict) -> None:
    """argparse.Namespace holds what a script was called with; in a namespace of namespaces too."""
    inner = argparse.Namespace(layers=2, bias=False, betas=(0.9, 0.98), names=["a", "b"])
    args = argparse.Namespace(lr=0.5, none=None, model=inner)
    torch.save({"model": tensors(), "args": args}, tmp_path / "a.pt", **options)
    with open_source(tmp_path / "a.pt") as source:
        assert source.facts == {"args": {"lr": 0.5, "none": None, "model": vars(inner)}}


def test_a_namespace_cannot_run_anything_or_take_memory(tmp_path: Path) -> None:
    namespace = pickle.dumps({"args": argparse.Namespace(x=Calls(posix.system, "true"))}, 2)
    (tmp_path / "call.pt").write_bytes(namespace)
    assert "posix.system" in refusal(tmp_path / "call.pt").what
    for state in (b"K\x01", b"]K\x01a"):  # what is no mapping is no set of attributes
        (tmp_path / "state.pt").write_bytes(b"\x80\x02cargparse\nNamespace\n)\x81" + state + b"b.")
        assert "damaged" in refusal(tmp_path / "state.pt").what
    many = b"\x80\x02}(" + b"".join(b"M" + struct.pack("<H", n) + b"N" for n in range(2_000)) + b"uq\x000"
    many += b"cargparse\nNamespace\nq\x010" + b"h\x01)\x81h\x00b0" * 20_000 + b"N."
    (tmp_path / "many.pt").write_bytes(many)
    assert "instructions" in refusal(tmp_path / "many.pt").what
