"""The words of a sentence and of its translation, linked by the largest weights of cross-attention heads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.aligned import Groups, plain_words, spelled
from headlight.corpora.pharaoh import Link
from transformer.trace import Tokens, Trace

Head = tuple[int, int]  # layer and head of cross-attention, from 0


class WordAlignment(NamedTuple):
    """The words of a sentence and of its translation, and the links between them."""

    source: list[str]
    target: list[str]
    links: list[Link]


def word_alignment(trace: Trace, heads: Sequence[Head], shifted: bool = False) -> WordAlignment:
    """Link each target word to the source word that gets most weight from the cross-attention `heads` together.

    The weights are those of the rows that write the target word, or, `shifted`, of those that read it. A target word
    for which all weights are 0 has no link. Letters are words where every token is a letter. Raises ValueError for a
    trace without cross-attention.
    """
    patterns = trace.pattern("cross")
    source, target = (_words_or_letters(tokens) for tokens in (trace.source, trace.target))
    words, rows = np.zeros((len(trace.source), len(source))), np.zeros((len(target), patterns.shape[2]))
    for number, tokens in enumerate(source):
        words[tokens, number] = 1
    for number, tokens in enumerate(target):
        steps = [token if shifted else token - 1 for token in tokens]  # row t writes token t + 1
        rows[number, [step for step in steps if 0 <= step < rows.shape[1]]] = 1
    summed = np.sum([patterns[layer, head] for layer, head in heads], 0, dtype=np.float64)
    links: set[Link] = set()
    if source and target:
        links = as_links(strongest_source(torch.from_numpy(rows @ summed @ words)).numpy())
    return WordAlignment(spelled(trace.source, source), spelled(trace.target, target), sorted(links))


def strongest_source(weights: Tensor) -> Tensor:
    """Return the source word with the largest weight for each target word, [..., V]; -1 where all weights are 0.

    `weights` are [..., V, W], for V target words and W source words.
    """
    largest, source = weights.max(-1)
    return torch.where(largest > 0, source, -1)


def as_links(linked: np.ndarray) -> set[Link]:
    """Return the links of the target words [V] to their source words; -1 is none."""
    return {(int(source), target) for target, source in enumerate(linked) if source >= 0}


def _words_or_letters(tokens: Tokens) -> Groups:
    words = plain_words(tokens)
    letters = [[token] for word in words for token in word]
    return letters if all(len(tokens.labels[token]) == 1 for (token,) in letters) else words
