"""Formats of other packages, by entry points (docs/extending.md), after our own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, TypeVar

from headlight.importers.forms import FORMS
from headlight.importers.forms.form import ForeignModel, Form
from headlight.importers.questions import Answers, ImportQuestion
from headlight.importers.source import Source
from headlight.plugins import Plugin, plugins, report
from transformer.checkpoint.weights import Refused

Value = TypeVar("Value")
_METHODS = ("fits", "due", "facts", "folded", "questions", "read")


@cache
def forms() -> tuple[Form, ...]:
    """Return our own formats, and then those of other packages (docs/extending.md)."""
    return (*FORMS, *_of_plugins(plugins("headlight.importers")))


def _of_plugins(installed: tuple[Plugin, ...]) -> Iterator[Form]:
    for plugin in installed:
        form: Any = _instance(plugin)
        if all(isinstance(getattr(form, name, None), str) for name in ("name", "title")) and all(
            callable(getattr(form, name, None)) for name in _METHODS
        ):
            yield _PluginForm(plugin.package, form)
        else:
            needed = ", ".join(("name", "title", *_METHODS))
            report(plugin.package, f"is left out: the importer {plugin.name} must have {needed}.")


def _instance(plugin: Plugin) -> Any:
    """Return the format that an entry point names, or an object of the class that it names."""
    try:
        return plugin.value() if isinstance(plugin.value, type) else plugin.value
    except Exception as error:  # another package's code may raise anything
        report(plugin.package, f"fails in the importer {plugin.name} ({type(error).__name__}: {error}).")
        return None


class _PluginForm:
    """A format of another package. An error of its code refuses the file, and never affects the other formats."""

    def __init__(self, package: str, form: Form) -> None:
        self.name, self.title, self._package, self._form = form.name, form.title, package, form

    def fits(self, source: Source) -> bool:
        try:
            return bool(self._form.fits(source))
        except Exception as error:  # as above
            report(self._package, f"fails in the importer {self.name} ({type(error).__name__}: {error}).")
            return False

    def due(self, source: Source) -> Mapping[str, tuple[int, ...]]:
        return self._called(self._form.due, source)

    def facts(self, source: Source) -> tuple[tuple[str, str], ...]:
        return self._called(self._form.facts, source)

    def folded(self, source: Source) -> tuple[tuple[str, str], ...]:
        return self._called(self._form.folded, source)

    def questions(self, source: Source) -> tuple[ImportQuestion, ...]:
        return self._called(self._form.questions, source)

    def read(self, source: Source, answers: Answers) -> ForeignModel:
        return self._called(self._form.read, source, answers)

    def _called(self, method: Callable[..., Value], *arguments: Any) -> Value:
        try:
            return method(*arguments)
        except ValueError:  # about the file: a message for people
            raise
        except Exception as error:
            what = f"The importer {self.name} of {self._package} failed ({type(error).__name__}: {error})."
            raise Refused(what, remedy="Report it to the authors of that package.") from error
