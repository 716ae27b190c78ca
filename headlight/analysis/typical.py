"""Whether a sentence is like those that a model was trained on, and which of its words the model has never read.

The sign is the mean log-probability per token of the model's own best translation, its end included. The threshold
comes from held-out sentences of the same kinds as the training data: `UNLIKE_SHARE` of them lie below it.

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

CARD_KEY = "typical"  # in a card
UNLIKE_SHARE = 0.01  # of held-out sentences that the threshold counts as unlike the training data
MIN_HELD_OUT_SENTENCES = 200  # sentences of a kind; the least sure of fewer are a matter of luck
WORD = re.compile(r"[^\W\d_]+")  # letters alone: "didn't" is two
MOST_NAMED, LONGEST_NAMED = 3, 60  # words that are named, and characters of each; more are counted, and cut


def find_threshold(kinds: Mapping[str, Sequence[float]]) -> float:
    """Return the threshold, in nats per token, from the mean log-probabilities of held-out sentences of each kind.

    Where a model was trained on sentences of several kinds, it is that of the kind it is least sure of, so that in
    none more than `UNLIKE_SHARE` lie below. Raises ValueError where there is no kind, or one has too few sentences.
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
    """Return whether a sentence is unlike what the model with this card was trained on; False where it has no
    threshold.

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
    typical = card.get(CARD_KEY)
    value = typical.get("log_prob_per_token") if isinstance(typical, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if math.isfinite(value) and value < 0 else None


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
    """Return the unread `words` of a text that the model with this card had to guess; none where its card has no
    threshold.

    It guesses where it is unsure, and where half of the text's words or more are unread: a model that learned to copy
    names writes such a text as surely as a name. `log_prob_per_token` is the mean over its own translation, in nats.
    """
    typical = card.get(CARD_KEY)
    threshold = typical.get("unread_log_prob_per_token") if isinstance(typical, Mapping) else None
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or math.isnan(threshold):
        return []
    mostly_unread = 2 * len(words) >= len(words_of(text))
    return list(words) if log_prob_per_token < threshold or mostly_unread else []


def unread_note(words: Sequence[str], who: str = "", mark: str = '"', escape: Callable[[str], str] = str) -> str:
    """Return the note on words that a model guessed, each between marks and escaped by `escape`.

    `who` names the model where there are several.
    """
    named = [f"{mark}{escape(word[:LONGEST_NAMED])}{mark}" for word in words[:MOST_NAMED]]
    more = [gettext("{number} more", number=len(words) - MOST_NAMED)] * (len(words) > MOST_NAMED)
    unread = listed([*named, *more])
    if who:
        return f"{who} has never read {unread}; it will guess."
    return gettext("The model has never read {words}; it will guess.", words=unread)
