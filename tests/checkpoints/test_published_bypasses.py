"""What was published as passing scanners of pickles (picklescan, fickling, modelscan) is refused, and runs nothing.

Scanners keep lists of dangerous names, or stop where a file is odd. The reader has a list of the harmless instead, and
what a file is not sure of is refused, so each of these names and tricks must end in a refusal.
"""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
from pathlib import Path

import pytest

from headlight.importers.source import open_source
from tests.checkpoints.opening import push_text, tarred, zipped
from transformer.checkpoint.weights import Refused

# Functions named in advisories on picklescan and modelscan (2024 to 2026) as reachable and not listed.
NAMES = (Path(__file__).parent / "published_names.txt").read_text().split()
WEIGHTS = pickle.dumps({"a": 1}, 2)[2:-1]  # pushes a harmless value


def calls(name: str, how: str = "global") -> bytes:
    """A pickle without its frame that calls `name` with one text."""
    module, _, function = name.rpartition(".")
    package, _, inner = module.partition(".")
    named = {
        "global": f"c{module}\n{function}\n".encode(),
        "stack global": push_text(module) + push_text(function) + b"\x93",
        # The names lie in the memo, under numbers that are not their order.
        "memo": push_text(function) + b"q\x07" + push_text(module) + b"q\x05" + b"00" + b"h\x05h\x07\x93",
        "dotted": push_text(package) + push_text(f"{inner}.{function}".strip(".")) + b"\x93",
        "strings": f"S'{module}'\nS'{function}'\n".encode() + b"\x93",
    }[how]
    return named + push_text("touch mark") + b"\x85R"


HOWS = ("global", "stack global", "memo", "dotted", "strings")
# Whole pickles by the trick, around a call of os.system.
CALL = calls("os.system")
TRICKS = {
    "an unknown instruction behind it": b"\x80\x02" + CALL + b"\xff\xff.",
    "nothing behind it": b"\x80\x02" + CALL,
    "no header": CALL + b".",
    "a protocol that there is not": b"\x80\x99" + CALL + b".",
    "a second pickle": pickle.dumps({"a": 1}, 2) + b"\x80\x02" + CALL + b".",
    "thrown away": b"\x80\x02" + CALL + b"0" + WEIGHTS + b".",
    "a pickle in a pickle": b"\x80\x02cpickle\nloads\nB" + struct.pack("<I", len(CALL) + 1) + CALL + b".\x85R.",
    "a state that is set": b"\x80\x02cos\nsystem\n)R}X\x01\x00\x00\x00aK\x01sb.",
    "inst": b"(S'touch mark'\nios\nsystem\n.",
    "obj": b"(cos\nsystem\nS'touch mark'\no.",
    "newobj": b"\x80\x02cos\nsystem\nS'touch mark'\n\x85\x81.",
    "newobj_ex": b"\x80\x04cos\nsystem\nS'touch mark'\n\x85}\x92.",
    "a registered extension": b"\x80\x02\x82\x01)R.",
    "a persistent name": b"Pos.system\n.",
    "a persistent object": b"\x80\x02cos\nsystem\nQ.",
    "a name with a line end": b"\x80\x04%s%s\x93%s\x85R." % tuple(map(push_text, ("os\n", "system", "touch mark"))),
    "letters that look the same": "\u0441os\nsystem\n(S'touch mark'\ntR.".encode(),
    "a long frame": b"\x80\x04\x95" + struct.pack("<Q", 2**60) + CALL + b".",
    "deep in a list": b"\x80\x02" + b"]" * 40 + CALL + b"a" * 40 + b".",
    "as a key": b"\x80\x02}" + CALL + b"K\x01s.",
    "behind a built-in of the harmless": b"\x80\x02ccollections\nOrderedDict\n)R" + CALL + b"0.",
    "a copyreg of it": b"\x80\x02ccopyreg\n_reconstructor\n(cos\nsystem\nc__builtin__\nobject\nNtR.",
}


def refused(path: Path) -> Refused:
    with pytest.raises(Refused) as refusal, open_source(path) as source:
        for name in source.weights.infos:
            source.weights.tensor(name)
    assert "\n" not in str(refusal.value)
    return refusal.value


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the mark would be made."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_published_name_is_refused_however_it_is_spelled(here: Path, record_property: object) -> None:
    tried = 0
    for name in NAMES:
        for how in HOWS:
            program = b"\x80\x04" + calls(name, how) + b"."
            (here / "model.pt").write_bytes(program)
            refused(here / "model.pt")
            zipped(here / "zipped.pt", {"model/data.pkl": program, "model/version": b"3"}, zipfile.ZIP_STORED)
            refused(here / "zipped.pt")
            tried += 2
    assert not (here / "mark").exists()
    print(f"{tried} pickles, {len(NAMES)} names: all refused")
    assert tried == 2 * len(NAMES) * len(HOWS) > 1000


@pytest.mark.parametrize("trick", TRICKS)
@pytest.mark.parametrize("ending", [".pt", ".bin", ".pkl", ".ckpt", ".safetensors", ".txt", ""])
def test_every_published_trick_is_refused(here: Path, trick: str, ending: str) -> None:
    (here / f"model{ending}").write_bytes(TRICKS[trick])
    refused(here / f"model{ending}")
    assert not (here / "mark").exists()


@pytest.mark.parametrize("trick", TRICKS)
def test_the_same_in_archives_that_scanners_cannot_open(here: Path, trick: str) -> None:
    """A flag that says encrypted, a wrong checksum, another name in one header or in both, a tar, a folder in a zip."""
    plain = zipped(
        here / "plain.pt", {"model/data.pkl": TRICKS[trick], "model/version": b"3"}, zipfile.ZIP_STORED
    ).read_bytes()
    central = plain.index(b"PK\x01\x02")
    broken = {
        "flag": plain[: central + 8] + b"\x01" + plain[central + 9 :],
        "checksum": plain[: central + 16] + bytes(4) + plain[central + 20 :],
        "name": plain.replace(b"model/data.pkl", b"model/data.pkx", 1),
        "both": plain.replace(b"data.pkl", b"data.PKL"),
    }
    for name, content in broken.items():
        (here / f"{name}.pt").write_bytes(content)
        refused(here / f"{name}.pt")
    (here / "data.pkl").write_bytes(TRICKS[trick])
    refused(tarred(here / "model.tar", here / "data.pkl"))
    outer = io.BytesIO()
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr("pytorch_model.bin", TRICKS[trick])
        archive.writestr("config.json", "{}")
    (here / "model.zip").write_bytes(outer.getvalue())
    refused(here / "model.zip")
    assert not (here / "mark").exists()


@pytest.mark.parametrize("how", HOWS)
def test_these_spellings_do_name_a_function(how: str, here: Path) -> None:
    """Else the tests above would show nothing: Python itself runs them."""
    pickle.loads(b"\x80\x04" + calls("os.system", how) + b".")
    assert (here / "mark").exists()
