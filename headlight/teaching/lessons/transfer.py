"""The transfer step of a lesson: its question again, about a sentence that the learner types.

A lesson names one in its front matter, as `transfer: cross`. The answer is computed from the model on that sentence,
like every other.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from headlight.language import gettext, translatable

MAX_SENTENCE_CHARACTERS = 300


@dataclass(frozen=True)
class Transfer:
    """A question about any sentence. In its texts {names} stand for the expressions of `values`."""

    ask: str
    question: str
    explanation: str
    values: Mapping[str, str]
    answer: str = ""
    options: tuple[tuple[str, str], ...] = ()  # text and condition
    kind: str = "cross"  # the attention that the step's view shows


_SAME, _OTHER = translatable("The same"), translatable("Something else")


def _compared(question: str, explanation: str, changed: str, kind: str = "cross") -> Transfer:
    """Return the question of whether a changed model writes what the model writes."""
    options = ((_SAME, f"{changed} = translation"), (_OTHER, f"{changed} != translation"))
    return Transfer(
        "choice", question, explanation, {"before": "translation", "after": changed}, options=options, kind=kind
    )


TRANSFERS = {
    "positions": _compared(
        translatable("Leave the positions out: does the model write the same for your sentence?"),
        translatable(
            "With positions it writes “{before}”, without them “{after}”. Try a sentence in which two nouns could "
            "change places, and one in which they could not."
        ),
        "translation with no-positions",
        "encoder",
    ),
    "query": Transfer(
        "word",
        translatable("Where does the first word of your sentence look most, in encoder layer 2, head 2?"),
        translatable("At “{top}”. In the lesson this head looked at the next word: is that so here, too?"),
        {"top": "top key of encoder 2.2 from first word"},
        answer="top key of encoder 2.2 from first word",
        kind="encoder",
    ),
    "heads": Transfer(
        "head",
        translatable("Which head of the encoder is the sharpest for your sentence?"),
        translatable(
            "{here}. For the sentence of the lesson it was {there}. Where the two differ, the sharpest head depends on "
            "the sentence."
        ),
        {
            "here": "head with the largest sharpness in encoder",
            "there": 'head with the largest sharpness in encoder for "The little girl is eating a red apple."',
        },
        answer="head with the largest sharpness in encoder",
        kind="encoder",
    ),
    "mask": Transfer(
        "word",
        translatable(
            "Where does decoder layer 2, head 3 look most while the last word of your sentence’s translation "
            "is written?"
        ),
        translatable("At “{top}”. Only what was written before could be chosen: the mask hides the rest."),
        {"top": "top key of decoder 2.3 from last word"},
        answer="top key of decoder 2.3 from last word",
        kind="decoder",
    ),
    "cross": Transfer(
        "word",
        translatable(
            "Where does cross-attention layer 3, head 3 look most while the last word of your sentence’s translation "
            "is written?"
        ),
        translatable("At “{top}”, while it writes “{translation}” Is that the word that it translates?"),
        {"top": "top key of cross 3.3 from last word", "translation": "translation"},
        answer="top key of cross 3.3 from last word",
    ),
    "decoding": _compared(
        translatable("Does greedy decoding write the same for your sentence as a beam of 5?"),
        translatable("The beam writes “{before}”, greedy decoding “{after}”."),
        "translation by greedy",
    ),
    "alignment": Transfer(
        "row",
        translatable(
            "Draw the row of cross-attention layer 3, head 4 while the last word of your sentence’s "
            "translation is written."
        ),
        translatable("It looks most at “{top}”, while it writes “{translation}”"),
        {"top": "top key of cross 3.4 from last word", "translation": "translation"},
        answer="row of cross 3.4 from last word",
    ),
    "mistake": _compared(
        translatable("Leave out the division by √d_head: does the model write the same for your sentence?"),
        translatable("The intact model writes “{before}”, the one with the mistake “{after}”."),
        "translation with no-scaling",
        "encoder",
    ),
    "early": _compared(
        translatable(
            "Would the model have written the same for your sentence after 633 of its 2,531 steps of training?"
        ),
        translatable("Today it writes “{before}”, after 633 steps “{after}”."),
        "translation at step 633",
    ),
    "cause": _compared(
        translatable(
            "Cross-attention layer 2, head 2 looked at the reason in the lesson. Switch it off: does the model write "
            "the same for your sentence?"
        ),
        translatable("With the head it writes “{before}”, without it “{after}”."),
        "translation without cross 2.2",
    ),
    "unmasked": Transfer(
        "choice",
        translatable("Type a word: does the model that was trained without the mask write anything at all?"),
        translatable("It writes “{after}”. The model with the mask, `reverse`, writes “{before}”."),
        {"before": "translation model reverse", "after": "translation"},
        options=(
            (translatable("Nothing at all"), 'translation = ""'),
            (translatable("Some letters"), 'translation != ""'),
        ),
        kind="decoder",
    ),
}


def sentence_of(typed: object) -> str:
    """Return the typed sentence on one line. Raises ValueError, in words for the learner, if it is not a sentence."""
    if not isinstance(typed, str) or len(typed) > 10 * MAX_SENTENCE_CHARACTERS:
        raise ValueError(gettext("Type one sentence of at most {most} characters.", most=MAX_SENTENCE_CHARACTERS))
    controls = ("Cc", "Cs", "Co", "Cn")  # control characters, and those that no font has
    sentence = " ".join("".join(" " if unicodedata.category(sign) in controls else sign for sign in typed).split())
    if not any(map(str.isalpha, sentence)):
        raise ValueError(gettext("Type a sentence with at least one word."))
    if len(sentence) > MAX_SENTENCE_CHARACTERS:
        raise ValueError(gettext("Type one sentence of at most {most} characters.", most=MAX_SENTENCE_CHARACTERS))
    return sentence
