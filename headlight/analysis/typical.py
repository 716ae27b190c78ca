"""Detect sentences unlike those that a model was trained on, and words that the model has never read.

A sentence counts as unlike the training data if the mean log-probability per token of the model's own best translation,
[EOS] included, is below a threshold. `UNLIKE_SHARE` of held-out sentences of the training data's kinds lie below it.

A model's folder lists the words of its training sources (`headlight/checkpoints.py`). Most words that are not in the
list are inflections and compounds of words that are, and are translated well by their pieces. So words are named where
the mean log-probability is lower than a threshold in the card, which is set so that few held-out sentences are below it
(`tools/typical.py`), and where they are half of the sentence or more, as in 1 of 4,000 test sentences.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from headlight.language import gettext, listed

CARD_KEY = "typical"
UNLIKE_SHARE = 0.01  # of held-out sentences that the threshold counts as unlike the training data
MIN_HELD_OUT_SENTENCES = 200  # of each kind; a quantile of fewer is a matter of luck
WORD = re.compile(r"[^\W\d_]+")  # letters alone: "didn't" is two
MAX_NAMED_WORDS = 3  # further words are counted
MAX_NAMED_CHARACTERS = 60  # of a word; the rest is cut off


def find_threshold(kinds: Mapping[str, Sequence[float]]) -> float:
    """Return the threshold, in nats per token, from the mean log-probabilities of held-out sentences of each kind.

    With several kinds, the lowest of their thresholds is taken, so that at most `UNLIKE_SHARE` of each kind lie below.
    Raises ValueError where there is no kind, or one has too few sentences.
    """
    if not kinds:
        raise ValueError(f"There are no held-out sentences; give at least {MIN_HELD_OUT_SENTENCES}.")
    for name, log_probs in kinds.items():
        if len(log_probs) < MIN_HELD_OUT_SENTENCES:
            raise ValueError(
                f"{name} has {len(log_probs)} held-out sentences; at least {MIN_HELD_OUT_SENTENCES} are needed."
            )
    return min(float(np.quantile(log_probs, UNLIKE_SHARE)) for log_probs in kinds.values())


def unlike(card: Mapping[str, Any], log_prob_per_token: float) -> bool:
    """Return whether a sentence is unlike what the model was trained on; False where its card has no threshold.

    `log_prob_per_token` is the mean over the model's own translation of it, in nats.
    """
    threshold = threshold_of(card)
    return threshold is not None and log_prob_per_token < threshold


def unlike_note(who: str = "") -> str:
    """Return the note on a sentence that is unlike the training data; `who` names the model where there are several."""
    if who:
        text = "This sentence is unlike those that {model} learned from, so its translation may be wrong."
        return text.format(model=who)
    return gettext("This sentence is unlike those that the model learned from, so its translation may be wrong.")


def threshold_of(card: Mapping[str, Any]) -> float | None:
    """Return the threshold on a card, in nats per token; None if the card has none or an invalid one."""
    threshold = _threshold(card, "log_prob_per_token")
    return threshold if threshold is not None and threshold < 0 else None


def _threshold(card: Mapping[str, Any], name: str) -> float | None:
    typical = card.get(CARD_KEY)
    value = typical.get(name) if isinstance(typical, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if math.isfinite(value) else None


def words_of(text: str) -> list[str]:
    """Return the words of a text, in lower case."""
    return [word.casefold() for word in WORD.findall(text)]


def has_unread(text: str, read: Collection[str]) -> bool:
    """Return whether a text has a word that is not among the `read` ones."""
    return any(word not in read for word in words_of(text))


def unread_words(text: str, translation: str, read: Collection[str]) -> list[str]:
    """Return the words of a text that are neither among the `read` ones nor copied into the translation, each once."""
    copied = set(words_of(translation))
    new = (word for word in WORD.findall(text) if word.casefold() not in read and word.casefold() not in copied)
    return list(dict.fromkeys(new))


def guessed_words(card: Mapping[str, Any], words: Sequence[str], text: str, log_prob_per_token: float) -> list[str]:
    """Return the unread `words` of a text that the model had to guess; none where its card has no threshold.

    The model guesses where it is unsure, and where at least half of the words are unread: a model that learned to copy
    names copies such a text with confidence. `log_prob_per_token` is the mean over its own translation, in nats.
    """
    threshold = _threshold(card, "unread_log_prob_per_token")
    if threshold is None:
        return []
    mostly_unread = 2 * len(words) >= len(words_of(text))
    return list(words) if log_prob_per_token < threshold or mostly_unread else []


def unread_note(words: Sequence[str], who: str = "", mark: str = '"', escape: Callable[[str], str] = str) -> str:
    """Return the note on words that a model guessed, each between marks and escaped by `escape`.

    `who` names the model where there are several.
    """
    named = [f"{mark}{escape(word[:MAX_NAMED_CHARACTERS])}{mark}" for word in words[:MAX_NAMED_WORDS]]
    more = [gettext("{number} more", number=len(words) - MAX_NAMED_WORDS)] * (len(words) > MAX_NAMED_WORDS)
    unread = listed([*named, *more])
    if who:
        return f"{who} has never read {unread}; it will guess."
    return gettext("The model has never read {words}; it will guess.", words=unread)
