"""Sentences of a core vocabulary: every frequent word in at least ten pairs, and everyday grammar."""

from __future__ import annotations

import importlib
import random
from collections.abc import Iterator
from itertools import chain, repeat

from headlight.corpora.pairs import Corpus, Pair
from transformer.quoting import quoted

DEFAULT_PAIRS = 90_000
_MODULES = {"en-fr": "english_french", "de-en": "german_english"}


class CoreSentences(Corpus):
    """The first `n_pairs` distinct pairs of a core vocabulary, the same for the same seed.

    The pairs that cover the lexicon come first, then random ones. Raises ValueError for languages without a core
    vocabulary.
    """

    def __init__(self, languages: str, n_pairs: int | None = None, seed: int = 0) -> None:
        if languages not in _MODULES:
            raise ValueError(f"There is no core vocabulary {quoted(languages)}; choose one of {', '.join(_MODULES)}.")
        super().__init__(f"Core vocabulary ({languages})")
        self.languages, self.seed = languages, seed
        self.n_pairs = DEFAULT_PAIRS if n_pairs is None else n_pairs

    def rows(self) -> Iterator[Pair]:
        vocabulary = importlib.import_module(f"{__name__}.{_MODULES[self.languages]}").VOCABULARY
        rng = random.Random(f"core {self.languages} {self.seed}")
        candidates = chain(vocabulary.covering(), (vocabulary.random_pair(rng) for _ in repeat(None)))
        distinct: set[tuple[str, str]] = set()
        while len(distinct) < self.n_pairs:
            pair = next(candidates)
            if pair not in distinct:
                distinct.add(pair)
                yield Pair(len(distinct), *pair)
