"""Forty pairs of sentences with gold, and an atlas of a model over them."""

from __future__ import annotations

from collections.abc import Iterator

from headlight.analysis.atlas import Atlas, atlas
from headlight.corpora.gold import Pronoun
from headlight.corpora.truth import KnownPair, Truth
from transformer.checkpoint import Checkpoint

TEXTS = (
    ("a little girl is sitting on a bench .", "une petite fille & co"),
    ("two dogs are running in the snow .", "two dogs are running"),
    ("une petite fille", "a little girl is in the snow ."),
    ("two dogs", "une fille ."),
    ("a girl is running on the snow .", "une petite fille & co ."),
)


def pairs() -> Iterator[KnownPair]:
    """Forty pairs; a target word is written for the source word of the same place from the end."""
    for turn in range(40):
        source, target = TEXTS[turn % len(TEXTS)]
        left, right = source.split(), target.split()
        links = [(len(left) - 1 - place, place) for place in range(len(right)) if place < len(left)]
        # Now the first word, now the second, so no rule is always right.
        antecedent = turn % len(TEXTS) % 2
        pronouns = (Pronoun(2, antecedent, 1),) if len(left) > 2 and len(right) > 1 else ()
        yield KnownPair(source, target, Truth(tuple(left), tuple(right), tuple(sorted(links)), pronouns, nouns=(0, 1)))


def plain() -> Iterator[KnownPair]:
    return (pair._replace(truth=None) for pair in pairs())


def measured(checkpoint: Checkpoint, of: object = pairs, **options: object) -> Atlas:
    return atlas(checkpoint, of, **options)  # type: ignore[arg-type]
