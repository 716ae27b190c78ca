"""The process of a student's file: `python -m headlight.teaching.exercises.child FILE FOLDER SECONDS [DONE ...]`.

It writes a line of JSON into FOLDER/said.jsonl for each thing that it begins or has judged, so that whoever started it
knows how far it came, whatever happens to it.
"""

from __future__ import annotations

import faulthandler
import json
import sys
from dataclasses import asdict
from difflib import get_close_matches
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

from headlight.teaching.exercises import EXERCISES
from headlight.teaching.exercises.exercise import SAID, STUCK, Unfit
from headlight.teaching.exercises.judge import error_lines, judge
from transformer.quoting import quoted

MODULE = "exercise_file"  # not "__main__": what stands below that question is not for us


def main(path: Path, folder: Path, seconds: float, done: list[str]) -> None:
    """`seconds` are for the file itself, and for each exercise."""
    with open(folder / SAID, "a", encoding="utf-8") as said, open(folder / STUCK, "w") as stuck:

        def say(**what: Any) -> None:
            said.write(json.dumps(what) + "\n")
            said.flush()

        def limit() -> None:
            faulthandler.dump_traceback_later(seconds, exit=True, file=stuck)

        sys.dont_write_bytecode = True
        sys.path.append(str(path.parent))  # exercises may import each other
        try:
            limit()
            found = _found(path)
            for name in [name for name in EXERCISES if name in found and name not in done]:  # in their order
                say(begun=name)
                limit()
                say(verdict=asdict(judge(EXERCISES[name], found[name], path.parent)))
            say(ended=True)
        except Unfit as refused:
            say(refused=str(refused))
        finally:
            faulthandler.cancel_dump_traceback_later()


def _found(path: Path) -> dict[str, Any]:
    """What the file defines of the exercises. Raises Unfit."""
    try:
        module = _load(path)
    except (Exception, SystemExit) as error:
        lines = "\n  ".join(error_lines(error, path.parent))
        raise Unfit(f"{quoted(path.name)} does not run:\n  {lines}") from error
    found = {name: value for name, value in vars(module).items() if name in EXERCISES and _own(value)}
    if not found:
        raise Unfit(_none(path, module))
    return found


def _load(path: Path) -> ModuleType:
    loader = SourceFileLoader(MODULE, str(path))
    spec = spec_from_loader(MODULE, loader)
    assert spec is not None
    module = sys.modules[MODULE] = module_from_spec(spec)
    loader.exec_module(module)
    return module


def _own(value: Any) -> bool:
    """Whether the file defines it, rather than imports it from another exercise."""
    return callable(value) and getattr(value, "__module__", MODULE) == MODULE


def _none(path: Path, module: ModuleType) -> str:
    names = [name for name, value in vars(module).items() if _own(value)]
    lower = {name.lower(): name for name in EXERCISES}
    near = [(name, match) for name in names for match in get_close_matches(name.lower(), lower, 1)]
    hint = f" Is `{near[0][0]}` meant to be `{lower[near[0][1]]}`?" if near else ""
    listed = ", ".join(f"`{name}`" for name in EXERCISES)
    return f"{quoted(path.name)} has none of the exercises: {listed}.{hint}"


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]), sys.argv[4:])
