"""Run code that may crash or hang in another process, with limits on memory and time."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CHILD = ROOT / "headlight" / "tokenizer_json"
MEMORY_LIMIT_BYTES, CPU_LIMIT_SECONDS = 4 * 2**30, 40

# Each case in a fork of its own, so that one import serves them all.
_OPENING = """
import json, os, resource, signal, sys
from headlight.checkpoints import load_tokenizer

for path in sys.argv[3:]:
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[2]), int(sys.argv[2])))
        signal.alarm(3 * int(sys.argv[2]))
        try:
            tokenizer = load_tokenizer(path, 0, 2, 3)
            ids = tokenizer.encode("A banana for Aaron: aaaa bbbb. ") + tokenizer.encode(("aab" * 20 + "! ") * 10)
            fate = "opened %d" % len(tokenizer.decode(ids + tokenizer.encode("a" * 600 + "! ")))
            del tokenizer
        except ValueError as error:
            fate = "refused: %s" % error
        except BaseException as error:
            fate = "%s: %s" % (type(error).__name__, error)
        print(json.dumps([path, fate]), flush=True)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if status:
        print(json.dumps([path, "ended by signal %d" % os.WTERMSIG(status)]), flush=True)
"""


def fates(folder: Path, cases: dict[str, Any]) -> dict[str, str]:
    """Load and use each tokenizer in a process of its own; return "opened", "refused: ..." or how the process ended."""
    paths = {str(folder / f"{n}.json"): name for n, name in enumerate(cases)}
    for path, content in zip(paths, cases.values(), strict=True):
        Path(path).write_text(json.dumps(content), encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-c", _OPENING, str(MEMORY_LIMIT_BYTES), str(CPU_LIMIT_SECONDS), *paths],
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES)),
        cwd=ROOT,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    return {paths[path]: fate for path, fate in map(json.loads, ended.stdout.splitlines())}


# Opens and runs what was accepted, without its limits: a case that takes too long ends the process.
_RUNNING = """
import json, resource, signal, sys
sys.path += sys.argv[1:]
import tokenizers
from child import fault

resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))
sentences = json.loads(sys.stdin.readline())
for line in sys.stdin:
    seed, content = line.split(" ", 1)
    print(seed, flush=True)
    resource.setrlimit(resource.RLIMIT_CPU, (int(resource.getrusage(resource.RUSAGE_SELF).ru_utime) + 10, -1))
    if fault(content):  # which is found where it does no harm
        continue
    tokenizer = tokenizers.Tokenizer.from_str(content)
    tokenizer.encode_special_tokens = True
    for sentence in sentences:
        try:
            tokenizer.decode(tokenizer.encode(sentence).ids, skip_special_tokens=False)
        except BaseException:
            pass
print("done", flush=True)
"""


def last_before_the_end(contents: dict[int, str], sentences: list[str]) -> str:
    """The case at which the process ended; "done" where it lived through them all."""
    import tokenizers

    lines = [json.dumps(sentences), *(f"{seed} {content}" for seed, content in contents.items()), ""]
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _RUNNING, str(Path(tokenizers.__file__).parents[1]), str(CHILD)],
        input="\n".join(lines),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"RAYON_NUM_THREADS": "1"},
        text=True,
    )
    how = f" ({signal.Signals(-ended.returncode).name})" if ended.returncode < 0 else ""
    return (ended.stdout.split() or ["nothing"])[-1] + how
