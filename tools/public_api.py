"""The public API: `python -m tools.public_api` writes docs/api.md from the code.

With --release, it also records the signatures of this version in docs/api-released.txt. tests/test_public_api.py
demands a line under "Unreleased" in docs/CHANGELOG.md for each name that differs from that record.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import sys
from collections.abc import Callable, Container, Iterator, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any, NamedTuple

import headlight
from transformer.files import write_text

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "api.md"
RECORD = ROOT / "docs" / "api-released.txt"
CHANGELOG = ROOT / "docs" / "CHANGELOG.md"
OUR_PACKAGES = ("headlight", "transformer")

# Title, what it is for, and the modules with their public names; without names, those of the module's `__all__`.
SECTIONS: tuple[tuple[str, str, dict[str, tuple[str, ...]]], ...] = (
    (
        "headlight",
        "The library and the notebook ([guide](library.md)).",
        {
            "headlight": (),
            "headlight.analysis.why.score_parts": ("ScoreParts", "Pair", "Writer"),
            "headlight.watching.translating": ("LiveTranslator",),
        },
    ),
    (
        "transformer",
        "The network, its configuration and its traces.",
        {"transformer": (), "transformer.trace": ("Tokens", "LayerPatterns")},
    ),
    (
        "transformer.taps",
        "Recording and interventions.",
        {
            "transformer.taps": (
                *("Site", "Inputs", "Observer", "Recorder", "InputRecorder", "Scale", "Ablate", "Uniform", "Replace"),
                *("WholePass", "chain"),
            )
        },
    ),
    ("transformer.decoding", "Decoding step by step.", {"transformer.decoding": ()}),
    ("headlight.charts", "Figures of plotly.", {"headlight.charts": ()}),
    ("headlight.analysis", "Measures, checks and explanations.", {"headlight.analysis": ()}),
    ("headlight.tables", "A corpus at a time ([guide](tables.md)).", {"headlight.tables": ()}),
    ("headlight.slices", "Scores of slices of a data set ([guide](command-line.md)).", {"headlight.slices": ()}),
    ("headlight.notebook", "The viewer in a notebook ([guide](notebook.md)).", {"headlight.notebook": ()}),
    (
        "headlight.teaching.mistakes",
        "The mistakes of tutorials, as values.",
        {"headlight.teaching.mistakes": ("MISTAKES", "Mistake", "break_translator", "BrokenTranslator")},
    ),
    (
        "Training",
        "What is trained, and how fast ([guide](scaling.md)).",
        {"headlight.runs": ("Recipe",), "headlight.runs.estimate": ("measure", "Speed")},
    ),
    (
        "Importing",
        "Models of other programs, in Python.",
        {
            "headlight.importers.importing": ("examine", "import_model", "Examination"),
            "headlight.importers.questions": ("Answers", "ImportQuestion"),
        },
    ),
    (
        "Plugins",
        "What other packages are written with ([guide](extending.md)).",
        {
            "headlight.plugins": ("Page",),
            "headlight.analysis.measures": ("Measure", "Pattern"),
            "headlight.importers.forms.form": ("Form", "ForeignModel"),
            "headlight.importers.source": ("Source",),
            "headlight.folders": ("shipped",),
            "headlight.tokenizer_json": (),
            "transformer.checkpoint.native": ("expected_shapes", "from_json", "load_tokenizers"),
            "transformer.files": ("read_json",),
        },
    ),
)

# Values have no docstring.
VALUES = {
    "headlight.slices.KINDS": "What the slices of each kind tell apart, by its name; column:NAME is a kind too.",
    "headlight.slices.MAX_SENTENCES": "The most sentences that slices are made of.",
    "headlight.MEASURES": "The measures of heads by name, those of plugins included.",
    "transformer.PRESETS": "The settings of each preset of `ModelConfig`, by name.",
    "transformer.decoding.STRATEGIES": "The strategies of decoding by name, with their parameters.",
    "transformer.decoding.Fate": "What became of a candidate in a step.",
    "headlight.charts.OKABE_ITO": "The colours of categories, which people with colour blindness can tell apart.",
    "headlight.charts.THEMES": "The colours of the light and the dark theme, by name.",
    "headlight.teaching.mistakes.MISTAKES": "The mistakes by name.",
}

ENTRY_POINTS = (
    ("headlight.measures", "", "A `Measure`, or a list of them."),
    ("headlight.importers", "", "An object with the methods of `Form`, or a class of such objects."),
    ("headlight.pages", "", "A `Page`."),
)

HEADING = """# Public API

Every public name with its signature and the first sentence of its docstring. [The library](library.md) has more of each
docstring, and [the command line](command-line.md) the commands. A name that is not here may change in any version. The
names here follow [semantic versioning](https://semver.org): only a new major version takes one away, or changes it so
that code that uses it breaks, and [the changelog](CHANGELOG.md) names each difference. The fields of a data class are
the arguments of its signature.

`python -m tools.public_api` writes this document from the code.
"""


class Entry(NamedTuple):
    """A public name: its path, its signature, and the first sentence of its docstring."""

    path: str
    signature: str  # what follows the name, such as "(text: str) -> str" or ": int"
    sentence: str
    kind: str = ""  # "class", "property", "attribute" or "alias"; "" for everything else

    @property
    def line(self) -> str:
        """The name with its signature on one line, as docs/api-released.txt records it."""
        return f"{self.path}{self.signature}"


Group = tuple[str, str, list[Entry]]  # its title, its use, and its names


class _Verbatim:
    """An annotation or a default that `inspect` prints as it stands here."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _annotation(value: Any) -> str:
    """Return an annotation as the code has it; other forms differ between the versions of Python."""
    text = getattr(value, "__forward_arg__", value)
    assert isinstance(text, str), f"{value}: begin its module with `from __future__ import annotations`"
    return text


def signature(function: Callable[..., Any]) -> str:
    """Return the arguments, defaults and annotations of a function or a class, without `self`."""
    inspected = inspect.signature(function)
    parameters = []
    for parameter in inspected.parameters.values():
        if parameter.name.startswith("_"):  # a field of our own
            continue
        annotation, default = parameter.annotation, parameter.default
        if annotation is not parameter.empty:
            annotation = _Verbatim(_annotation(annotation))
        if default is not parameter.empty and re.search(r"<.*>", repr(default)):  # an object, or a factory of a field
            default = _Verbatim("...")
        parameters.append(parameter.replace(annotation=annotation, default=default))
    returned = inspected.return_annotation
    if inspect.isclass(function):
        returned = inspected.empty
    elif returned is not inspected.empty:
        returned = _Verbatim(_annotation(returned))
    return str(inspected.replace(parameters=parameters, return_annotation=returned))


def sentence(value: Any) -> str:
    """Return the first sentence of a docstring, or "" where there is none of its own."""
    text = vars(value).get("__doc__") if inspect.isclass(value) else inspect.getdoc(value)
    if not text or text.startswith(f"{getattr(value, '__name__', '')}("):  # of a data class or a named tuple
        return ""
    paragraph = " ".join(inspect.cleandoc(text).split("\n\n")[0].split())
    return re.split(r"(?<=[.!?])\s+(?=[^a-z])", paragraph)[0]


def is_member(path: str) -> bool:
    """Return whether a path is that of a member of a class, whose name has a capital."""
    return path.split(".")[-2][0].isupper()


def is_ours(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).partition(".")[0] in OUR_PACKAGES


def _attributes(cls: type) -> Iterator[str]:
    """Yield the attributes that `__init__` sets."""
    written = cls.__dict__.get("__init__")
    if written is None or dataclasses.is_dataclass(cls):
        return
    for node in ast.walk(ast.parse(dedent(inspect.getsource(written)))):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            yield node.attr


def members(path: str, cls: type, listed: Container[int]) -> Iterator[Entry]:
    """Yield the public methods, properties and attributes of a class, and of its own bases that are not `listed`."""
    fields = getattr(cls, "__dataclass_fields__", {})
    in_signature = {*fields, *getattr(cls, "_fields", ())}  # are in the signature
    for name, field in fields.items():
        if not field.init and not name.startswith("_"):
            yield Entry(f"{path}.{name}", f": {_annotation(field.type)}", "", "attribute")
    for base in (base for base in cls.__mro__ if is_ours(base) and (base is cls or id(base) not in listed)):
        for name, value in [*vars(base).items(), *((name, None) for name in _attributes(base))]:
            if name.startswith("_") or name in in_signature:
                continue
            in_signature.add(name)
            if isinstance(value, property | cached_property):
                read = value.fget if isinstance(value, property) else value.func
                assert read is not None
                returned = _annotation(inspect.signature(read).return_annotation)
                yield Entry(f"{path}.{name}", f": {returned}", sentence(value), "property")
            elif inspect.isfunction(value):
                text = re.sub(r"^\(self(, )?", "(", signature(value))
                yield Entry(f"{path}.{name}", text, sentence(value))
            elif isinstance(value, classmethod | staticmethod):
                bound = getattr(cls, name)
                yield Entry(f"{path}.{name}", signature(bound), sentence(bound))
            else:
                yield Entry(f"{path}.{name}", "", "", "attribute")


def entry(path: str, value: Any) -> Entry:
    if inspect.isclass(value):
        has_init = hasattr(value, "_fields") or any("__init__" in vars(base) for base in value.__mro__ if is_ours(base))
        plain = not has_init or getattr(value, "_is_protocol", False)
        return Entry(path, "" if plain else signature(value), sentence(value), "class")
    if callable(value) and is_ours(value):
        return Entry(path, signature(value), sentence(value))
    return Entry(path, "", VALUES.get(path, ""))


def sections() -> list[Group]:
    """Return the title, the use and the entries of each group. A name that occurs again refers to its first place."""
    first: dict[int, str] = {}
    listed: list[Group] = []
    for title, use, modules in SECTIONS:
        entries: list[Entry] = []
        for module_name, names in modules.items():
            module = import_module(module_name)
            for name in sorted(names or module.__all__, key=str.lower):
                path, value = f"{module_name}.{name}", getattr(module, name)
                if isinstance(value, ModuleType):
                    continue  # has a group of its own
                if id(value) in first:
                    entries.append(Entry(path, f" = {first[id(value)]}", f"The same as `{first[id(value)]}`.", "alias"))
                    continue
                first[id(value)] = path
                entries.append(entry(path, value))
                if inspect.isclass(value) and is_ours(value):
                    entries += members(path, value, first)
        listed.append((title, use, entries))
    groups = [Entry(*group) for group in ENTRY_POINTS]
    return [*listed, ("Entry points", "The groups in which a package names its plugins.", groups)]


def markdown(groups: Sequence[Group]) -> str:
    """Return docs/api.md."""
    lines = [HEADING]
    for title, use, entries in groups:
        lines.append(f"## {title}\n\n{use}\n")
        for entry in entries:
            word = f"{entry.kind} " if entry.kind in ("class", "property") else ""
            member = is_member(entry.path)
            name = ".".join(entry.path.split(".")[-2:]) if member else entry.path
            code = name if entry.kind == "alias" else name + entry.signature
            about = f": {entry.sentence}" if entry.sentence else ""
            lines.append(f"{'  ' * member}- {word}`{code}`{about}")
        lines.append("")
    return "\n".join(lines)


def record(groups: Sequence[Group]) -> str:
    """Return docs/api-released.txt: the version, then each name with its signature."""
    lines = sorted(entry.line for _, _, entries in groups for entry in entries)
    return "\n".join([headlight.__version__, *lines, ""])


def undocumented(groups: Sequence[Group], recorded: str, changelog: str) -> list[str]:
    """Return the names that differ from the record and are in no code of the changelog above the recorded version.

    A member is named with its class, as in `Trace.save`. Of a class that is new or gone, only the class is.
    """
    version, *lines = recorded.splitlines()
    released = {line: _path(line) for line in lines}
    current = {entry.line: entry.path for _, _, entries in groups for entry in entries}
    changed = {dict(released, **current)[line] for line in released.keys() ^ current.keys()}
    one_sided = set(released.values()) ^ set(current.values())
    code = re.findall(r"`([^`]+)`", changelog.partition(f"## {version}")[0])
    names = {name for span in code for name in re.findall(r"[\w.]+", span)}
    missing = []
    for path in sorted(changed):
        if path.rpartition(".")[0] in one_sided:
            continue
        parts = path.split(".")
        shortest = 2 if is_member(path) else 1
        if names.isdisjoint(".".join(parts[start:]) for start in range(len(parts) - shortest + 1)):
            missing.append(path)
    return missing


def _path(line: str) -> str:
    return re.split(r"[(:= ]", line)[0]


def main() -> None:
    groups = sections()
    write_text(DOCUMENT, markdown(groups))
    if "--release" in sys.argv[1:]:
        write_text(RECORD, record(groups))


if __name__ == "__main__":
    main()
