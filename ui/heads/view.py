"""The Heads page's view, as an address spells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from headlight.analysis.measures import MEASURES
from ui.state.view import PageView, one_of, whole_number

SENTENCE_COUNTS = (200, 1000, 5000)  # sentences
ANY, NAMED = "all", "named"


@dataclass(frozen=True)
class HeadsView(PageView):
    """The state of the Heads page. Paths of files are not in it: a link opens no files."""

    PAGE: ClassVar[str | None] = "heads"
    OF_MODEL: ClassVar[frozenset[str]] = PageView.OF_MODEL | {"corpus", "step", "sets", "gone", "slices", "against"}

    corpus: str | None = None  # one of `corpus.choices`; None is what suits the model
    pairs: int = 1000
    measure: str | None = None  # whose best and worst sentences are shown
    step: int | None = None  # the snapshot that is shown; None is the model as it is
    columns: tuple[str, ...] = ()  # of the table; empty for the page's own choice
    sets: bool = False  # whether heads are removed in order of importance, which takes minutes
    gone: int | None = None  # the number of removed heads that is shown; None is the page's own choice
    slices: bool = False  # whether the sentences are translated and scored in slices, which takes minutes
    against: str | None = None  # the model that is compared with in slices
    only: str = ANY  # of the table: all heads, those with a name, or those of one measure's role

    @classmethod
    def parse_fields(cls, query: Mapping[str, str]) -> dict[str, object]:
        pairs = whole_number(query.get("pairs", ""), 1, max(SENTENCE_COUNTS))
        measure = one_of(query.get("measure"), tuple(MEASURES), "")
        return {
            "corpus": query.get("corpus", "")[:200] or None,
            "pairs": pairs if pairs in SENTENCE_COUNTS else cls.pairs,
            "measure": measure or None,
            "step": whole_number(query.get("step", ""), 0, 10**9),
            "columns": tuple(name for name in query.get("columns", "").split(",") if name in MEASURES),
            "sets": query.get("sets") == "1",
            "gone": whole_number(query.get("gone", ""), 0, 10**6),
            "slices": query.get("slices") == "1",
            "against": query.get("against", "")[:200] or None,
            "only": one_of(query.get("only"), (ANY, NAMED, *MEASURES), ANY),
        }
