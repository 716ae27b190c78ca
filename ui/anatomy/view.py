"""The Anatomy page's view, as an address spells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headlight.analysis.masks import MASKS
from headlight.analysis.network import PART_NAMES
from headlight.corpora.learned_merges import MAX_LEARNED_CHARACTERS
from headlight.teaching.mistakes import MISTAKES, RUNNABLE
from transformer.trace import KINDS, Kind
from ui.state.view import (
    MAX_TEXT_CHARACTERS,
    PageView,
    choice,
    integer,
    nonempty_text,
    parsed,
    switch,
    typed_text,
    whole_number,
)

STAGES = 9
# The mistakes that change the model itself and leave every part of the paper in it: this page computes the parts from
# the modules, one by one.
PAGE_MISTAKES = tuple(
    name for name in RUNNABLE if MISTAKES[name].tap is None and name not in ("no-residual", "no-norms")
)
MAX_WORD_CHARACTERS = 40  # characters of a word that is cut merge by merge
MAX_WORDS_CHARACTERS = 200  # characters of the words that are drawn in a plane


def _cell(text: str) -> tuple[int, ...]:
    cell = [whole_number(part, 0, 9999) for part in text.split(",")]
    return tuple(part for part in cell if part is not None) if len(cell) == 2 and None not in cell else ()


@dataclass(frozen=True)
class AnatomyView(PageView):
    """The state of the Anatomy page; tokens and stages count from 1, rows of the lens from 0."""

    PAGE: ClassVar[str | None] = "anatomy"
    OF_MODEL: ClassVar[frozenset[str]] = PageView.OF_MODEL | {"part", "second", "broken"}
    INPUT_FIELDS: ClassVar[frozenset[str]] = PageView.INPUT_FIELDS | {"broken"}
    TRANSIENT: ClassVar[frozenset[str]] = frozenset({"broken"})
    OF_SENTENCE: ClassVar[frozenset[str]] = frozenset({"query", "key", "lens"})

    # The decoder looking at itself begins with an embedding and has a mask: the whole story in one block.
    kind: Kind = choice("decoder", KINDS)
    part: str = choice("attention", PART_NAMES)
    query: int | None = integer(1, 999_999)  # the token that is followed through the part
    key: int | None = integer(1, 999_999)  # the row that is followed through the stages
    stage: int = integer(1, STAGES, 1)
    unscaled: bool = switch()
    unmasked: bool = switch()
    look: str = choice("word", ("word", "matrices", "heads", "scaling", "plane"))  # what is shown of an attention
    matrices: str = choice("sentence", ("sentence", "batch", "tutorial"))  # of what they are
    second: str | None = nonempty_text(MAX_TEXT_CHARACTERS)  # the other sentence of the padded batch
    mask: str = choice("", MASKS)  # in the place of the model's own, which is ""
    cut: str | None = typed_text(MAX_WORD_CHARACTERS)  # the word that is cut into tokens; None is one of the sentence
    learn: str | None = typed_text(MAX_LEARNED_CHARACTERS)  # that a BPE is learned from; None is a textbook's
    vocabulary: int | None = integer(1, 9999)  # the size of that BPE's vocabulary; None is that after a few merges
    plane: str | None = typed_text(MAX_WORDS_CHARACTERS)  # words drawn in a plane; None is the sentence's first ones
    MISTAKES: ClassVar[tuple[str, ...]] = PAGE_MISTAKES
    broken: str = choice("", PAGE_MISTAKES)  # a mistake that the model is run with
    lens: tuple[int, ...] = parsed((), _cell)  # the pinned cell: its row (0 is the embedding) and its token

    @property
    def unchanged(self) -> bool:
        return super().unchanged and not self.broken

    def shared_query(self) -> dict[str, str]:
        """Return what other pages keep, always with the kind, whose default is this page's own."""
        return {**super().shared_query(), "kind": self.kind}
