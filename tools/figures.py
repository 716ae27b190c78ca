"""`python -m tools.figures`: print the size of the code by package, and what makes code hard to read.

`--path` adds the files in which a function runs between a sentence and its picture, found by running both.
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import sys
import threading
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
SENTENCE = "The old cat sleeps."
SMALL_FILE_LINES = 30  # code lines: without blank lines, comments and docstrings
MANY_PARAMETERS = 7


def python_files() -> list[Path]:
    """Return the project's Python files, as git lists them, relative to its root."""
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [Path(line) for line in listed.stdout.splitlines() if (ROOT / line).is_file()]


def docstring_lines(tree: ast.Module) -> set[int]:
    """Return the numbers of the lines that docstrings take."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def count_code_lines(source: str) -> int:
    """Count the lines that hold code rather than blanks, comments or docstrings."""
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in skipped:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstring_lines(ast.parse(source)))


def count_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the parameters of `function`, without self and cls."""
    arguments = function.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def files_on_the_path() -> list[str]:
    """Return the project's files in which a function runs from a sentence to the picture of its attention."""
    import headlight

    model = headlight.load("en-fr")
    headlight.show(model.trace("Warm up."))  # so that no import is counted
    visited: set[str] = set()

    def note(frame, event, argument) -> None:  # type: ignore[no-untyped-def]
        visited.add(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        headlight.show(model.trace(SENTENCE))
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    project_files = (Path(name) for name in visited if name.startswith(str(ROOT)))
    excluded = Path(__file__), ROOT / ".venv"
    return sorted(str(path.relative_to(ROOT)) for path in project_files if not {path, *path.parents} & {*excluded})


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.figures", description=__doc__)
    parser.add_argument("--path", action="store_true", help="list the files between a sentence and its picture, too")
    parser.add_argument("--list", action="store_true", help="name the small files, classes and functions")
    options = parser.parse_args()
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    classes: dict[str, list[str]] = {}
    small, crowded = [], []
    for path in python_files():
        source = (ROOT / path).read_text()
        package = path.parts[0] if len(path.parts) > 1 else "."
        lines[package] += source.count("\n")
        files[package] += 1
        if package == "tests":
            continue
        if (code := count_code_lines(source)) < SMALL_FILE_LINES and path.name != "__init__.py":
            small.append(f"{path}: {code}")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, []).append(str(path))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and count_parameters(node) > MANY_PARAMETERS:
                crowded.append(f"{path}:{node.lineno} {node.name}: {count_parameters(node)}")
    twice = {name: paths for name, paths in classes.items() if len(paths) > 1}
    for package, count in lines.most_common():
        print(f"{package:<12} {count:>7,} lines {files[package]:>5} files")
    outside_tests = sum(count for package, count in lines.items() if package != "tests")
    print(f"{'but tests':<12} {outside_tests:>7,} lines {sum(files.values()) - files['tests']:>5} files")
    print(f"files under {SMALL_FILE_LINES} code lines: {len(small)}")
    print(f"class names that exist twice or more: {len(twice)}")
    print(f"functions of more than {MANY_PARAMETERS} parameters: {len(crowded)}")
    if options.list:
        print(*small, *(f"{name}: {', '.join(paths)}" for name, paths in sorted(twice.items())), *crowded, sep="\n")
    if options.path:
        visited = files_on_the_path()
        print(f"files from a sentence to its picture: {len(visited)}", *visited, sep="\n")


if __name__ == "__main__":
    main()
