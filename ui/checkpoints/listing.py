"""The list of all models, from headers and JSON alone: no weight is read for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from headlight.analysis.blocks import sizes
from headlight.analysis.weights import shapes
from headlight.formatting import file_size, in_millions, on_sentences, percent, translation_score
from headlight.importers.health import check_health
from headlight.runs.metrics import SENTENCES_FIELD
from transformer import Translator
from transformer.checkpoint.native import CARD, CONFIG, SHARED, SOURCE, TARGET, WEIGHTS, from_json
from transformer.files import read_json
from ui.state import models
from ui.state.cache import cached
from ui.state.models import latest_scores, model_card
from ui.state.public import without_places

PLAIN_ORIGINS = ("Trained here", "A run", "Imported")
POSITIONS_SUFFIX = "positions.table"  # what the name of a table of positions ends with
Files = tuple[tuple[str, int, int], ...]  # name, time of the last change, bytes


@dataclass(frozen=True)
class ListedModel:
    """A model of the list; `broken` is why it cannot be opened, in one sentence."""

    name: str  # as `models.model_names` has it
    folder: Path
    languages: str = ""
    parameters: int = 0
    score: str = ""
    score_detail: str = ""  # what the score was measured on
    size: int = 0  # bytes of the folder's files
    origin: str = ""
    changed: float = 0.0  # seconds since 1970
    broken: str | None = None

    @property
    def imported(self) -> bool:
        return self.name.startswith(models.IMPORTED_PREFIX)

    def row(self) -> dict[str, Any]:
        """Return the row of the list."""
        return {
            "id": self.name,
            "name": self.name,
            "languages": self.languages,
            "parameters": in_millions(self.parameters),
            "score": self.score or "–",
            "score_detail": self.score_detail,
            "size": file_size(self.size),
            "origin": self.origin,
            "date": day(self.changed),
            "broken": self.broken,
        }


def day(seconds: float) -> str:
    """Format a date: "18 Nov", with the year where it is another."""
    then = datetime.fromtimestamp(seconds)
    return f"{then.day} {then:%b}" + ("" if then.year == datetime.now().year else f" {then.year}")


def entries() -> list[ListedModel]:
    """Return the models in the order in which every page offers them, then the folders that hold none."""
    listed = [_entry(name, str(folder), _files(folder)) for name, folder in _folders()]
    order = {name: at for at, name in enumerate(models.model_names())}
    return sorted(listed, key=lambda entry: (order.get(entry.name, len(order)), entry.name))


def _folders() -> Iterator[tuple[str, Path]]:
    for prefix, above in (("", models.CHECKPOINTS), (models.IMPORTED_PREFIX, models.MODELS)):
        for folder in sorted(above.iterdir()) if above.is_dir() else []:
            if folder.is_dir() and not folder.name.startswith("."):
                yield prefix + folder.name, folder
    yield from ((name, models.model_folder(name)) for name in models.finished_runs())


def _files(folder: Path) -> Files:
    """Return the state of the files that the list depends on: while it is the same, the folder is not read again."""
    try:
        stats = [(path.name, path.stat()) for path in sorted(folder.iterdir()) if path.is_file()]
    except OSError:
        return ()
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats)


@cached(1000, seconds=3600, turn=False)
def _entry(name: str, folder: str, files: Files) -> ListedModel:
    path = Path(folder)
    changed = max((time for _, time, _ in files), default=0) / 1e9
    size = sum(n_bytes for _, _, n_bytes in files)
    try:
        parameters = _parameters(path)
    except (ValueError, OSError) as error:
        reason = without_folder(str(error), path)
        return ListedModel(name, path, size=size, changed=changed, broken=reason)
    card = model_card(path)
    score, score_detail = score_texts(card)
    if not score and name.startswith(models.RUN_PREFIX):
        score, score_detail = _last_score(models.RUNS / name.removeprefix(models.RUN_PREFIX))
    return ListedModel(
        name, path, languages(card), parameters, score, score_detail, size, origin(name, card), changed
    )


def _parameters(folder: Path) -> int:
    """Count the numbers that training changes. Raises ValueError where the folder is no model."""
    config = from_json(read_json(folder / CONFIG))
    counted = sizes(shapes(folder / WEIGHTS))
    if not any((folder / file).is_file() for file in (SHARED, SOURCE)):
        raise ValueError(f"{SHARED} is missing, and so are {SOURCE} and {TARGET}.")
    if (folder / CARD).is_file():
        read_json(folder / CARD)
    stored = config.positions == "stored"
    return sum(n for name, n in counted.items() if not (stored and name.endswith(POSITIONS_SUFFIX)))


def without_folder(message: str, folder: Path) -> str:
    """Return a message without the folder, which only the machine needs to know."""
    return without_places(message.replace(f"{folder}/", "").replace(str(folder), "the folder"))


def languages(card: Mapping[str, Any]) -> str:
    """Return what the model reads and writes."""
    source, target = card.get("source"), card.get("target")
    return f"{source} → {target}" if isinstance(source, str) and isinstance(target, str) else "–"


def score_texts(card: Mapping[str, Any]) -> tuple[str, str]:
    """Return the score in short, and what it is and was measured on."""
    scores = card.get("scores")
    if not isinstance(scores, Mapping):
        return "", ""
    exact, bleu = _number(scores, "exact"), _number(scores, "BLEU")
    count = on_sentences(scores.get(SENTENCES_FIELD))
    on = f" on {scores['on']}{count.replace('on ', ', ', 1)}" if scores.get("on") else f" {count}".rstrip()
    if exact is not None and (exact > 0.9 or bleu is None or "pronouns" in scores):
        return percent(exact, 1), f"{percent(exact, 1)} exactly right{on}"
    if bleu is not None:
        return translation_score(bleu), f"BLEU {translation_score(bleu)}{on}"
    return "", ""


def _last_score(run: Path) -> tuple[str, str]:
    """Return the scores of the last evaluation, for a run without a score in its card."""
    latest = latest_scores(run)
    scores = {"BLEU": latest.get("bleu"), "exact": latest.get("exact"), "on": "its evaluation pairs"}
    scores[SENTENCES_FIELD] = latest.get(SENTENCES_FIELD)
    return score_texts({"scores": scores})


def _number(values: Mapping[str, Any], name: str) -> float | None:
    value = values.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def origin(name: str, card: Mapping[str, Any]) -> str:
    """Return where a model comes from, as its card says; else from the folder that holds it."""
    stated = card.get("origin")
    if isinstance(stated, str) and stated:
        return stated
    shipped, run, imported = PLAIN_ORIGINS
    if name.startswith(models.RUN_PREFIX):
        return run
    return imported if name.startswith(models.IMPORTED_PREFIX) else shipped


def open_listed(name: str) -> Translator:
    """Open a model by its name.

    Raises ValueError in a sentence without the folder, which only the machine needs to know.
    """
    try:
        return models.translator(name)
    except ValueError as error:
        raise ValueError(without_folder(str(error), models.model_folder(name))) from None


@cached(50, "Checking the weights", seconds=3600, turn=False, key=models.versioned)
def warnings(name: str) -> tuple[str, ...]:
    """Return what is wrong with a model that opens, if anything. Raises ValueError as `open_listed` does."""
    return check_health(open_listed(name).checkpoint)
