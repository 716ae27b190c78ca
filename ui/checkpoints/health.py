"""Whether a model opens, and whether one that opens works."""

from __future__ import annotations

from headlight.importers.health import health
from transformer import Translator
from ui.checkpoints.listing import without_folder
from ui.state import models
from ui.state.cache import cached


def opened(name: str) -> Translator:
    """A model by its name. Raises ValueError in a sentence without the folder, which only the machine needs to know."""
    try:
        return models.translator(name)
    except ValueError as error:
        raise ValueError(without_folder(str(error), models.model_folder(name))) from None


def warnings(name: str) -> tuple[str, ...]:
    """What is wrong with a model that opens; nothing where it is sound. Raises ValueError as `opened` does."""
    opened(name)
    return _warnings(name, models.version(name))


@cached(50, "Checking the weights", seconds=3600, turn=False)
def _warnings(name: str, version: tuple[int, ...]) -> tuple[str, ...]:
    return health(models.translator(name).checkpoint)
