"""Open a tokenizer in a child process first: if the library crashes or hangs there, this process goes on."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from threading import Lock

import tokenizers

from headlight.tokenizer_json.child import MAX_MEMORY_BYTES, MAX_SECONDS
from headlight.tokenizer_json.fields import shown
from transformer.access import allow_command

_CHILD = Path(__file__).with_name("child.py")
_LIBRARY = Path(tokenizers.__file__).resolve().parents[1]
_PATIENCE_FACTOR = 4  # times as long as its share of a core, where others have the cores
_SETTINGS = {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
_NEEDED = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")  # by a Python that lies in an unusual place
_MAX_KNOWN = 1_000

_known_to_work: set[bytes] = set()  # digests: a model is described, imported and opened one after the other
_lock = Lock()  # at a time, however many ask: each may take all of its memory


def tried(text: str) -> None:
    """Open the tokenizer in JSON `text` and run it, in another process.

    Raises ValueError where it does not work, or takes more memory or time than any tokenizer needs.
    """
    content = text.encode()
    digest = hashlib.sha256(content).digest()
    with _lock:
        if digest in _known_to_work:
            return
        answer = _run_child(content)
        if answer:
            raise ValueError(answer)
        if len(_known_to_work) >= _MAX_KNOWN:
            _known_to_work.clear()
        _known_to_work.add(digest)


def _run_child(content: bytes) -> str:
    """Return what is wrong with the tokenizer, or ""."""
    needed = {name: os.environ[name] for name in _NEEDED if name in os.environ}
    command = [sys.executable, "-I", "-S", str(_CHILD), str(_LIBRARY)]
    try:
        with allow_command(command):
            ended = subprocess.run(
                command,
                input=content,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=_PATIENCE_FACTOR * MAX_SECONDS,
                cwd=_LIBRARY,
                env={**needed, **_SETTINGS},
                start_new_session=True,
            )
    except subprocess.TimeoutExpired:
        return f"opening and trying it takes over {_PATIENCE_FACTOR * MAX_SECONDS} seconds"
    except OSError as error:
        why = error.strerror or error  # an error without a number has only its words
        return f"no process could be started to try it in ({why}); try again when the machine does less"
    output = ended.stdout.decode("utf-8", "replace")
    if not output.startswith("tried"):
        limits = f"{MAX_MEMORY_BYTES // 2**20:,} MB and {MAX_SECONDS} seconds"
        return f"opening and trying it ended the process that did so, which had {limits}"
    return shown(ValueError(output.removeprefix("tried"))) if output != "tried" else ""
