"""Words that a model has never read in training, in a sentence whose translation it is unsure of.

A model's folder lists the words of its training sources (`headlight/checkpoints.py`). Most words that are not in the
list are inflections and compounds of words that are, and are translated well by their pieces. So words are named only
where the model's own translation of the sentence has a lower mean log-probability per token than a threshold in the
card, which is set so that few held-out sentences are below it (`tools/typical.py`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from headlight.analysis.typical import KEY

WORD = re.compile(r"[^\W\d_]+")  # letters alone: "didn't" is two
MOST_NAMED, LONGEST_NAMED = 3, 60  # words that are named, and characters of each; more are counted, and cut


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return [word.casefold() for word in WORD.findall(text)]


def has_unread(text: str, read: Collection[str]) -> bool:
    """Whether a text has a word that is not among the `read` ones."""
    return any(word not in read for word in words_of(text))


def unread(text: str, translation: str, read: Collection[str]) -> list[str]:
    """The words of a text that are not among the `read` ones, each once, less those that the translation copies."""
    copied = set(words_of(translation))
    new = (word for word in WORD.findall(text) if word.casefold() not in read and word.casefold() not in copied)
    return list(dict.fromkeys(new))


def guessed(card: Mapping[str, Any], words: Sequence[str], log_prob_per_token: float) -> list[str]:
    """The unread words that the model with this card had to guess; none where its card has no threshold.

    `log_prob_per_token` is the mean over the model's own translation of their sentence, in nats.
    """
    typical = card.get(KEY)
    threshold = typical.get("unread_log_prob_per_token") if isinstance(typical, Mapping) else None
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or math.isnan(threshold):
        return []
    return list(words) if log_prob_per_token < threshold else []


def note(words: Sequence[str], who: str = "The model", mark: str = '"', shown: Callable[[str], str] = str) -> str:
    """What to say of words that a model guessed, each between marks, as `shown` makes it safe to show."""
    named = [f"{mark}{shown(word[:LONGEST_NAMED])}{mark}" for word in words[:MOST_NAMED]]
    more = [f"{len(words) - MOST_NAMED} more"] * (len(words) > MOST_NAMED)
    *most, last = [*named, *more]
    return f"{who} has never read {', '.join(most)}{' and ' * bool(most)}{last}; it will guess."
