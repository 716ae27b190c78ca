"""The process of a student's file: `python -m headlight.teaching.exercises.child FILE FOLDER SECONDS [DONE ...]`.

It writes a line of JSON into FOLDER/said.jsonl for each exercise that it begins or has judged, so that its parent
process knows how far it got even if it crashes.
"""

from __future__ import annotations

import faulthandler
import json
import linecache
import sys
from collections.abc import Iterable
from dataclasses import asdict, replace
from difflib import get_close_matches
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from headlight.teaching.exercises import EXERCISES
from headlight.teaching.exercises.exercise import MESSAGES_FILE, STACK_FILE, Unfit
from headlight.teaching.exercises.judge import error_lines, judge
from headlight.teaching.exercises.notebook import NOTEBOOK_SUFFIX, code_cells
from transformer.quoting import quoted

MODULE = "exercise_file"  # not "__main__", so that code under `if __name__ == "__main__"` does not run


def main(path: Path, folder: Path, seconds: float, judged: list[str]) -> None:
    """Judge the exercises of a file; loading it, and each exercise, may take `seconds`."""
    with (
        open(folder / MESSAGES_FILE, "a", encoding="utf-8") as messages,
        open(folder / STACK_FILE, "w", encoding="utf-8") as stuck,
    ):

        def say(**message: Any) -> None:
            messages.write(json.dumps(message) + "\n")
            messages.flush()

        def limit() -> None:
            faulthandler.dump_traceback_later(seconds, exit=True, file=stuck)

        sys.dont_write_bytecode = True
        sys.path.append(str(path.parent))  # exercises may import each other
        try:
            limit()
            definitions = _find_definitions(path)
            for name in [name for name in EXERCISES if name in definitions and name not in judged]:  # in their order
                say(begun=name)
                limit()
                verdict = judge(EXERCISES[name], definitions[name].value, path.parent)
                if definitions[name].name != name:
                    renamed = f"Your file calls it `{definitions[name].name}`; other exercises import it as `{name}`."
                    verdict = replace(verdict, messages=(*verdict.messages, renamed))
                say(verdict=asdict(verdict))
            say(ended=True)
        except Unfit as refused:
            say(refused=str(refused))
        finally:
            faulthandler.cancel_dump_traceback_later()


class Definition(NamedTuple):
    name: str  # under which the file defines it
    value: Any


def _find_definitions(path: Path) -> dict[str, Definition]:
    """Return what the file defines, by the name of its exercise. Raises Unfit."""
    failed: list[str] = []
    try:
        module = _load_notebook(path, failed) if path.suffix == NOTEBOOK_SUFFIX else _load(path)
    except Unfit:
        raise
    except (Exception, SystemExit) as error:
        raise Unfit(_does_not_run(path, error_lines(error, path.parent))) from error
    own_values = {name: value for name, value in vars(module).items() if _is_own(value)}
    definitions: dict[str, Definition] = {}
    for exercise in EXERCISES.values():
        for name in (exercise.name, *exercise.aliases):
            if name in own_values and exercise.name not in definitions:
                definitions[exercise.name] = Definition(name, own_values[name])
    if not definitions:
        raise Unfit(_does_not_run(path, failed) if failed else _no_exercises(path, module))
    if failed:
        print(f"Of {quoted(path.name)} this did not run:\n  " + "\n  ".join(failed), flush=True)
    return definitions


def _does_not_run(path: Path, lines: Iterable[str]) -> str:
    return f"{quoted(path.name)} does not run:\n  " + "\n  ".join(lines)


def _load_notebook(path: Path, failed: list[str]) -> ModuleType:
    """Run a notebook's cells in order.

    A cell that fails, such as one that draws, does not stop the next ones; its error's lines are added to `failed`.
    """
    module = sys.modules[MODULE] = ModuleType(MODULE)
    for file, text in code_cells(path):
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file  # for its lines in errors
        try:
            exec(compile(text, file, "exec"), vars(module))
        except (Exception, SystemExit) as error:
            failed += error_lines(error, path.parent)
    return module


def _load(path: Path) -> ModuleType:
    loader = SourceFileLoader(MODULE, str(path))
    spec = spec_from_loader(MODULE, loader)
    assert spec is not None
    module = sys.modules[MODULE] = module_from_spec(spec)
    loader.exec_module(module)
    return module


def _is_own(value: Any) -> bool:
    """Return whether the file defines a value, rather than imports it from another exercise."""
    return callable(value) and getattr(value, "__module__", MODULE) == MODULE


def _no_exercises(path: Path, module: ModuleType) -> str:
    names = [name for name, value in vars(module).items() if _is_own(value)]
    lower = {
        name.lower(): exercise.name for exercise in EXERCISES.values() for name in (exercise.name, *exercise.aliases)
    }
    close_names = [(name, match) for name in names for match in get_close_matches(name.lower(), lower, 1)]
    hint = f" Is `{close_names[0][0]}` meant to be `{lower[close_names[0][1]]}`?" if close_names else ""
    listed = ", ".join(f"`{name}`" for name in EXERCISES)
    return f"{quoted(path.name)} has none of the exercises: {listed}.{hint}"


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]), sys.argv[4:])
