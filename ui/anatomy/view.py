"""The Anatomy page's view, as an address spells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from headlight.analysis.masks import MASKS
from headlight.analysis.network import PART_NAMES
from headlight.corpora.learned_merges import MAX_LEARNED_CHARACTERS
from headlight.teaching.mistakes import MISTAKES, RUNNABLE
from transformer.trace import Kind
from ui.state.view import MAX_TEXT_CHARACTERS, PageView, one_of, whole_number

STAGES = 9
# The mistakes that change the model itself and leave every part of the paper in it: this page computes the parts from
# the modules, one by one.
PAGE_MISTAKES = tuple(
    name for name in RUNNABLE if MISTAKES[name].tap is None and name not in ("no-residual", "no-norms")
)
LOOKS = ("word", "matrices", "heads", "scaling", "plane")  # what is shown of an attention
MATRICES_OF = ("sentence", "batch", "tutorial")
MAX_WORD_CHARACTERS = 40  # characters of a word that is cut merge by merge
MAX_WORDS_CHARACTERS = 200  # characters of the words that are drawn in a plane


@dataclass(frozen=True)
class AnatomyView(PageView):
    """The state of the Anatomy page; tokens and stages count from 1, rows of the lens from 0."""

    PAGE: ClassVar[str | None] = "anatomy"
    OF_MODEL: ClassVar[frozenset[str]] = PageView.OF_MODEL | {"part", "second", "broken"}
    INPUT_FIELDS: ClassVar[frozenset[str]] = PageView.INPUT_FIELDS | {"broken"}
    TRANSIENT: ClassVar[frozenset[str]] = frozenset({"broken"})
    OF_SENTENCE: ClassVar[frozenset[str]] = frozenset({"query", "key", "lens"})

    # The decoder looking at itself begins with an embedding and has a mask: the whole story in one block.
    kind: Kind = "decoder"
    part: str = "attention"
    query: int | None = None  # the token that is followed through the part
    key: int | None = None  # the row that is followed through the stages
    stage: int = 1
    unscaled: bool = False
    unmasked: bool = False
    look: str = "word"
    matrices: str = "sentence"  # of what they are
    second: str | None = None  # the other sentence of the padded batch
    mask: str = ""  # in the place of the model's own, which is ""
    cut: str | None = None  # the word that is cut into tokens; None is one of the sentence
    learn: str | None = None  # the text that a BPE is learned from; None is a textbook's
    vocabulary: int | None = None  # the size of that BPE's vocabulary; None is that after a few merges
    plane: str | None = None  # the words that are drawn in a plane; None is the sentence's first ones
    MISTAKES: ClassVar[tuple[str, ...]] = PAGE_MISTAKES
    broken: str = ""  # a mistake that the model is run with, which is "" for none
    lens: tuple[int, ...] = ()  # the pinned cell: its row (0 is the embedding) and its token

    @property
    def unchanged(self) -> bool:
        return super().unchanged and not self.broken

    def to_keep(self) -> dict[str, str]:
        """Return what other pages keep, always with the kind, whose default is this page's own."""
        return {**super().to_keep(), "kind": self.kind}

    @classmethod
    def parse_fields(cls, query: Mapping[str, str]) -> dict[str, object]:
        cell = [whole_number(part, 0, 9999) for part in query.get("lens", "").split(",")]
        return {
            "part": one_of(query.get("part"), PART_NAMES, cls.part),
            "query": whole_number(query.get("query", ""), 1, 999_999),
            "key": whole_number(query.get("key", ""), 1, 999_999),
            "stage": whole_number(query.get("stage", ""), 1, STAGES) or cls.stage,
            "unscaled": query.get("unscaled") == "1",
            "unmasked": query.get("unmasked") == "1",
            "look": one_of(query.get("look"), LOOKS, cls.look),
            "matrices": one_of(query.get("matrices"), MATRICES_OF, cls.matrices),
            "second": query.get("second", "")[:MAX_TEXT_CHARACTERS] or None,
            "mask": one_of(query.get("mask"), MASKS, cls.mask),
            "cut": query["cut"][:MAX_WORD_CHARACTERS] if "cut" in query else None,
            "learn": query["learn"][:MAX_LEARNED_CHARACTERS] if "learn" in query else None,
            "vocabulary": whole_number(query.get("vocabulary", ""), 1, 9999),
            "plane": query["plane"][:MAX_WORDS_CHARACTERS] if "plane" in query else None,
            "broken": one_of(query.get("broken"), PAGE_MISTAKES, cls.broken),
            "lens": tuple(part for part in cell if part is not None) if len(cell) == 2 and None not in cell else (),
        }
