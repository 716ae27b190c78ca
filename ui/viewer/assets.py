"""The viewer's scripts and styles, read from the files beside this one."""

from pathlib import Path

_HERE = Path(__file__).parent


def script(*names: str) -> str:
    """The named files of js/, joined in that order into one scope."""
    return "\n".join((_HERE / "js" / f"{name}.js").read_text(encoding="utf-8") for name in names)


def style(name: str) -> str:
    """A style sheet of this folder."""
    return (_HERE / f"{name}.css").read_text(encoding="utf-8")
