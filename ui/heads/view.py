"""The Heads page's view, as an address spells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headlight.analysis.measures import MEASURES
from ui.state.view import PageView, choice, integer, nonempty_text, parsed, switch

SENTENCE_COUNTS = (200, 1000, 5000)  # sentences
ANY, NAMED = "all", "named"


def _measures(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.split(",") if name in MEASURES)


@dataclass(frozen=True)
class HeadsView(PageView):
    """The state of the Heads page. Paths of files are not in it: a link opens no files."""

    PAGE: ClassVar[str | None] = "heads"
    OF_MODEL: ClassVar[frozenset[str]] = PageView.OF_MODEL | {"corpus", "step", "sets", "gone", "slices", "against"}

    corpus: str | None = nonempty_text()  # one of `corpus.choices`; None is what suits the model
    pairs: int = parsed(1000, {str(count): count for count in SENTENCE_COUNTS}.get)
    measure: str | None = choice(None, MEASURES)  # whose best and worst sentences are shown
    step: int | None = integer(0, 10**9)  # the snapshot that is shown; None is the model as it is
    columns: tuple[str, ...] = parsed((), _measures)  # of the table; empty for the page's own choice
    sets: bool = switch()  # whether heads are removed in order of importance, which takes minutes
    gone: int | None = integer(0, 10**6)  # the number of removed heads that is shown; None is the page's own choice
    slices: bool = switch()  # whether the sentences are translated and scored in slices, which takes minutes
    against: str | None = nonempty_text()  # the model that is compared with in slices
    only: str = choice(ANY, (ANY, NAMED, *MEASURES))  # of the table: all heads, the named, or those of a measure's role
