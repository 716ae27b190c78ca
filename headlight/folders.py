"""The folders of models, lessons, runs and classes.

In a clone of the repository, the folders are beside the code. In an installed package, they ship with the code, except
those for imported and trained models, which are in the user's data folder. HEADLIGHT_CHECKPOINTS and other environment
variables name other folders.
"""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_data_path

ROOT = Path(__file__).resolve().parents[1]  # the folder with the package: a clone, or site-packages
CLONE = (ROOT / "app.py").exists() and (ROOT / "pyproject.toml").exists()
APP = ROOT if CLONE else ROOT / "headlight" / "app"  # app.py, with what it needs beside it
USER_FOLDER = ROOT if CLONE else user_data_path("headlight", appauthor=False)
COMMAND = "python -m headlight" if CLONE else "headlight"  # as a person types it
EXERCISES = APP / "docs" / "exercises"
GLOSSARY = APP / "docs" / "glossary.md"
CONCEPTS = APP / "docs" / "concepts.md"


def _folder(name: str, parent: Path) -> Path:
    return Path(os.environ.get(f"HEADLIGHT_{name.upper()}") or parent / name)


def checkpoints() -> Path:
    """Return the folder of the models that ship."""
    return _folder("checkpoints", APP)


def shipped() -> list[str]:
    """Return the names of the models that ship."""
    return sorted(path.name for path in checkpoints().glob("[!.]*") if path.is_dir())


def lessons() -> Path:
    """Return the folder of the lessons as they were written; a translation of en/it.md is fr/it.md beside it."""
    return Path(os.environ.get("HEADLIGHT_LESSONS") or APP / "lessons" / "en")


def translated_lesson(original: Path, language: str) -> Path:
    """Return the path of a lesson's translation: in the folder of the language, beside the original's folder."""
    return original.parent.parent / language / original.name


def models() -> Path:
    """Return the folder of imported models."""
    return _folder("models", USER_FOLDER)


def runs() -> Path:
    return _folder("runs", USER_FOLDER)


def classes() -> Path:
    return _folder("classes", runs().parent)


def lesson(path: Path) -> Path:
    """Return the file of a lesson; one that ships goes by its name alone."""
    shipped = lessons() / f"{path.name.removesuffix('.md')}.md"
    return shipped if len(path.parts) == 1 and not os.path.lexists(path) and os.path.isfile(shipped) else path


def data() -> Path:
    """Return the folder into which corpora are downloaded."""
    return Path("data") if CLONE else USER_FOLDER / "data"


def written(path: str) -> Path:
    """Return the path that a command writes to.

    In an installed package, "runs/NAME" and "models/NAME" are in the user's folder, where the app finds them, unless
    the working directory has a folder "runs" or "models".
    """
    first, *rest = Path(path).parts or ("",)
    own = {"runs": runs(), "models": models()}
    if CLONE or first not in own or not rest or ".." in rest or os.path.lexists(first):
        return Path(path)
    return own[first].joinpath(*rest)


def model(path: str | Path) -> Path:
    """Return the folder that a model's name or path means.

    A path that exists means itself or, if it is a run, its best checkpoint. Otherwise "en-fr" is a model that ships,
    and "models/NAME" one that was imported; any other path is returned unchanged.
    """
    path = Path(path)
    if path.is_absolute() or ".." in path.parts or os.path.lexists(path):
        return _best(path)
    first, *rest = path.parts or ("",)
    own = {"checkpoints": checkpoints(), "models": models()}
    folder = own[first].joinpath(*rest) if first in own and rest else checkpoints() / path
    return folder if os.path.isdir(folder) else path  # unlike Path.is_dir, False for a text that cannot be a path


def _best(path: Path) -> Path:
    """Return the best checkpoint of a run's folder, and another folder as it is."""
    best = path / "checkpoints" / "best"
    return best if os.path.isdir(best) and not os.path.lexists(path / "model.safetensors") else path


def named(path: str) -> str:
    """Return `model(path)` as text."""
    return str(model(path))
