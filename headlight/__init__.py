"""The face of Headlight."""

from typing import Any


def __getattr__(name: str) -> Any:
    if name in ("show", "View"):
        from headlight import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
