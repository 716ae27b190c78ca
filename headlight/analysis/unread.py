"""Words that a model has never read in training, and how unsure it was where it translated them.

Its folder lists the words of its training sources (`headlight/checkpoints.py`). Many words that are not in the
list are translated well all the same, since a vocabulary of pieces has the parts of inflections and compounds. So a
word is named only where the model was unsure of what it wrote for it: one of the tokens written while cross-attention,
averaged over all heads, looked most at the word had a log-probability below a threshold, which is in the card
(`tools/typical.py`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from headlight.analysis.typical import KEY
from transformer.tokenizers import SPACE
from transformer.trace import Trace

WORD = re.compile(r"[^\W\d_]+")  # letters alone: "didn't" is two
MOST_NAMED, LONGEST_NAMED = 3, 60  # words that are named, and characters of each; more are counted, and cut


class Unread(NamedTuple):
    """A word that is not among those of the training."""

    word: str
    log_prob: float  # in nats, of the least probable token that was written for it


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return [word.casefold() for word in WORD.findall(text)]


def has_unread(text: str, read: Collection[str]) -> bool:
    """Whether a text has a word that is not among the `read` ones."""
    return any(word not in read for word in words_of(text))


def unread(trace: Trace, read: Collection[str]) -> list[Unread]:
    """The words of a sentence that are not among the `read` ones, less those that the translation has unchanged.

    `trace` is of the model's own translation.
    """
    if trace.cross is None or not has_unread(trace.text, read):
        return []
    copied = set(words_of(trace.translation))
    weights = trace.cross.mean((0, 1))  # [T, S]
    looked_at = weights.argmax(-1)  # [T]
    found: dict[str, float] = {}
    for group in trace.source.words:
        written_as = "".join(trace.source.pieces[at] for at in group if not trace.source.special[at])
        for word in WORD.findall(written_as.replace(SPACE, "")):
            if word.casefold() in read or word.casefold() in copied:
                continue
            written = np.isin(looked_at, group)
            if not written.any():  # then the one that looked more at it than all others did
                written[weights[:, group].sum(-1).argmax()] = True
            found[word] = min(found.get(word, 0.0), float(trace.log_probs[written].min()))
    return [Unread(word, log_prob) for word, log_prob in found.items()]


def guessed(card: Mapping[str, Any], words: Iterable[Unread]) -> list[str]:
    """The words that the model with this card had to guess; none where its card has no threshold."""
    typical = card.get(KEY)
    threshold = typical.get("unread_log_prob") if isinstance(typical, Mapping) else None
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or math.isnan(threshold):
        return []
    return [word for word, log_prob in words if log_prob <= threshold]


def threshold_of(scores: Iterable[float], share: float) -> float:
    """The log-probability up to which at most `share` of sentences have a word that is named.

    Each of `scores` is the least of a held-out sentence's words, inf where it has none that is unread. 0 where so few
    have one that all may be named.
    """
    ranked = sorted(scores)
    allowed = int(share * len(ranked))
    if allowed >= len(ranked) or ranked[allowed] == math.inf:
        return 0.0
    return math.nextafter(ranked[allowed], -math.inf)


def note(words: Sequence[str], who: str = "The model", mark: str = '"', shown: Callable[[str], str] = str) -> str:
    """What to say of words that a model guessed, each between marks, as `shown` makes it safe to show."""
    named = [f"{mark}{shown(word[:LONGEST_NAMED])}{mark}" for word in words[:MOST_NAMED]]
    more = [f"{len(words) - MOST_NAMED} more"] * (len(words) > MOST_NAMED)
    *most, last = [*named, *more]
    return f"{who} has never read {', '.join(most)}{' and ' * bool(most)}{last}; it will guess."
