"""Word alignments by eflomal (2.0 or later), where it is installed, for corpora without gold.

Östling and Tiedemann 2016, "Efficient word alignment with Markov chain Monte Carlo". Its links are not gold but random
draws from a model of the corpus, which a larger corpus makes better.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

from headlight.corpora.gold import split_words
from headlight.corpora.pairs import Corpus
from headlight.corpora.pharaoh import parse_links
from headlight.corpora.truth import KnownPair, Truth, has_truth, known_pairs
from transformer.access import is_confined

ALIGNER_NAME = "eflomal"


def installed() -> bool:
    """Return whether eflomal is installed and this process may start it."""
    return not is_confined() and find_spec(ALIGNER_NAME) is not None


def truths(
    corpus: Corpus, most: int | None = None, align: bool = True
) -> tuple[Callable[[], Iterable[KnownPair]], str]:
    """Return the pairs with their word alignments, and their origin: "gold", the aligner's name, or "" for none.

    Without gold, the aligner links the first `most` pairs if it is installed and `align` is true.
    """
    pairs = partial(known_pairs, corpus)
    if has_truth(corpus):
        return pairs, "gold"
    if align and installed():
        return aligned(pairs, most), ALIGNER_NAME
    return pairs, ""


def aligned(pairs: Callable[[], Iterable[KnownPair]], most: int | None = None) -> Callable[[], Iterator[KnownPair]]:
    """Return a function that yields the first `most` pairs with the links that both directions of the aligner have.

    The links are in temporary files, which are deleted with the returned function.
    """
    folder = tempfile.TemporaryDirectory(prefix="headlight-")
    source, target, forward, backward = (Path(folder.name) / name for name in ("source", "target", "there", "back"))
    with open(source, "w", encoding="utf-8") as left, open(target, "w", encoding="utf-8") as right:
        for pair in islice(pairs(), most):
            print(*split_words(pair.source), file=left)
            print(*split_words(pair.target), file=right)
    with open(source, encoding="utf-8") as left, open(target, encoding="utf-8") as right:
        aligner = import_module(ALIGNER_NAME).Aligner()
        aligner.align(left, right, links_filename_fwd=str(forward), links_filename_rev=str(backward))

    def read() -> Iterator[KnownPair]:
        assert Path(folder.name).is_dir()
        with open(forward, encoding="utf-8") as forward_lines, open(backward, encoding="utf-8") as backward_lines:
            for pair, forward_line, backward_line in zip(
                islice(pairs(), most), forward_lines, backward_lines, strict=True
            ):
                links = sorted(parse_links(forward_line).sure & parse_links(backward_line).sure)
                source_words, target_words = tuple(split_words(pair.source)), tuple(split_words(pair.target))
                truth = Truth(source_words, target_words, tuple(links), estimated=True)
                yield KnownPair(pair.source, pair.target, truth)

    return read
