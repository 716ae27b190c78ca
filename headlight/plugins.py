"""Extensions from other packages, by entry points: head measures, importers and pages.

A package names its extensions in its metadata, under "headlight.measures", "headlight.importers" or "headlight.pages".
They are read once. An extension that fails is named in a warning and in the log, and everything else works without it.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import EntryPoint, entry_points
from threading import RLock
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar, get_args

from transformer.quoting import quoted, short

Group = Literal["headlight.measures", "headlight.importers", "headlight.pages"]
GROUPS: tuple[Group, ...] = get_args(Group)


class Named(Protocol):
    @property
    def name(self) -> str: ...


Value = TypeVar("Value", bound=Named)

_LOG = logging.getLogger("headlight")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,59}")


@dataclass(frozen=True)
class Page:
    """A page of the app, as the entry point of a package names it.

    The entry point's name is the page's address. `draw` is called without arguments at each run, as the script of a
    page is, and draws with Streamlit.
    """

    title: str
    draw: Callable[[], None]
    icon: str = ":material/extension:"


class Plugin(NamedTuple):
    """The object that an entry point names."""

    name: str
    package: str
    value: Any  # as it was imported


@lru_cache(1000)  # once each
def report(package: str, what: str) -> None:
    """Report a faulty package in a warning and in the log."""
    sentence = f"The plugin {short(package)} {what}"
    _LOG.warning(sentence)
    warnings.warn(sentence, RuntimeWarning, stacklevel=2)


@cache
def declared(group: Group) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group without importing them. Of two with the same name, the first is used."""
    by_name: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=group), key=lambda point: (point.name, _package(point))):
        if not _NAME.fullmatch(point.name):
            report(_package(point), f"names {quoted(point.name)}: a name has letters from a to z, digits, - and _.")
        elif point.name in by_name:
            report(_package(point), f"names {point.name}, which {_package(by_name[point.name])} names as well.")
        else:
            by_name[point.name] = point
    return tuple(by_name.values())


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.module


@cache
def plugins(group: Group) -> tuple[Plugin, ...]:
    """Return the imported objects of a group's entry points; those that fail to import are left out."""
    return tuple(_loaded(declared(group)))


def _loaded(points: Iterable[EntryPoint]) -> Iterator[Plugin]:
    for point in points:
        try:
            value = point.load()
        except (Exception, SystemExit) as error:  # another package's code may raise anything
            report(_package(point), f"is left out: {point.value} cannot be imported ({_about(error)}).")
        else:
            yield Plugin(point.name, _package(point), value)


def guarded(package: str, what: str, function: Callable[..., Any], otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """Return a plugin's `function` with `otherwise` as the fallback for when it raises an error."""

    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception as error:  # as above
            report(package, f"fails in {what} ({_about(error)}).")
            return otherwise(*arguments)

    return call


def _about(error: BaseException) -> str:
    return short(f"{type(error).__name__}: {error}")


class Registry(MutableMapping[str, Value], Generic[Value]):
    """A mapping of built-in entries by name which adds those of plugins on first access.

    Plugins are not imported earlier, since a plugin imports the module that defines the registry.
    """

    def __init__(
        self, own: dict[str, Value], group: Group, accept: Callable[[Plugin, dict[str, Value]], Iterator[Value]]
    ) -> None:
        self._own, self._group, self._accept = own, group, accept
        self._begun = self._complete = False
        self._lock = RLock()  # a plugin may look at the registry while it is imported

    @property
    def _entries(self) -> dict[str, Value]:
        if not self._complete:
            with self._lock:
                if not self._begun:
                    self._begun = True
                    for plugin in plugins(self._group):
                        for value in self._accept(plugin, self._own):
                            self._own[value.name] = value
                    self._complete = True
        return self._own

    def __getitem__(self, name: str) -> Value:
        return self._entries[name]

    def __setitem__(self, name: str, value: Value) -> None:
        self._entries[name] = value

    def __delitem__(self, name: str) -> None:
        del self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
