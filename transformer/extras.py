"""Packages that only an extra of the wheel installs, such as pandas by `headlight-attention[tables]`."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class MissingPackageError(ModuleNotFoundError, ValueError):
    """Raised where a package is not installed; the message says what needs it, and gives the command that installs it.

    It is also a ValueError, whose message the commands and the pages show without a traceback.
    """


def require_package(name: str, purpose: str, extra: str = "") -> Any:
    """Import a module that `extra`, or else the wheel itself, installs; `purpose` is the subject of the message.

    Raises MissingPackageError where the module, or one that it imports, is missing.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        command = f'pip install "headlight-attention[{extra}]"' if extra else "pip install headlight-attention"
        raise MissingPackageError(f"{purpose} needs {error.name or name}: {command}", name=error.name) from None
