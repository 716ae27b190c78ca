"""The five pairs of the toy run in "Transformer: implementing a transformer architecture from scratch" (2025)."""

from __future__ import annotations

from headlight.corpora.pairs import Pair

TOY = "toy"  # the corpus by its name
_PAIRS = (
    ("hello world", "bonjour le monde"),
    ("how are you", "comment allez vous"),
    ("good morning", "bonjour"),
    ("thank you", "merci"),
    ("see you soon", "à bientôt"),
)


def toy_pairs() -> list[Pair]:
    return [Pair(line, *pair) for line, pair in enumerate(_PAIRS, 1)]
