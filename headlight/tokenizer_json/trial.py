"""Open a tokenizer in a child process first, so that a crash or hang of the library does not affect this process."""

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
_PATIENCE_FACTOR = 4  # wall-clock limit over CPU limit, as other processes may use the cores
_SETTINGS = {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
_PASSED_VARIABLES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")  # for a Python in an unusual place
_MAX_DIGESTS = 1_000

_known_to_work: set[bytes] = set()  # digests; one import opens the same tokenizer several times
_lock = Lock()  # one child at a time: each may use MAX_MEMORY_BYTES


def try_tokenizer(text: str) -> None:
    """Open and run the tokenizer in JSON `text` in another process.

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
        if len(_known_to_work) >= _MAX_DIGESTS:
            _known_to_work.clear()
        _known_to_work.add(digest)


def _run_child(content: bytes) -> str:
    """Return what is wrong with the tokenizer, or ""."""
    needed = {name: os.environ[name] for name in _PASSED_VARIABLES if name in os.environ}
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
        why = error.strerror or error  # an error without a number has no strerror
        return f"no process could be started to try it in ({why}); try again when the machine does less"
    output = ended.stdout.decode("utf-8", "replace")
    if not output.startswith("tried"):
        limits = f"{MAX_MEMORY_BYTES // 2**20:,} MB and {MAX_SECONDS} seconds"
        return f"opening and trying it ended the process that did so, which had {limits}"
    return shown(ValueError(output.removeprefix("tried"))) if output != "tried" else ""
