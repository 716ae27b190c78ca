"""The misconceptions that a wrong answer may betray: of choices in lessons, and of the questions in docs/concepts.md.

A choice of a lesson names one behind its condition: `- It stays {if A = B} {betrays order-for-free}`.
"""

from __future__ import annotations

from dataclasses import dataclass

from headlight.language import gettext, translatable


@dataclass(frozen=True)
class Misconception:
    """A misconception in people's own words, and its correction in a sentence or two."""

    belief: str
    correction: str


MISCONCEPTIONS = {
    "bright-is-important": Misconception(
        translatable("Bright means important."),
        translatable(
            "A large weight says where a head looks. Whether it matters is found by a change: "
            "switch the head off or leave the word out, and see what the model writes."
        ),
    ),
    "sees-the-future": Misconception(
        translatable("It sees the words that it is about to write."),
        translatable(
            "While a model writes, later words do not exist yet. In training they do, and the causal mask hides them."
        ),
    ),
    "one-head-one-job": Misconception(
        translatable("One head, one job."),
        translatable(
            "A head may do different things in different sentences, and several heads may do the same: "
            "without one of them the others often suffice."
        ),
    ),
    "looks-words-up": Misconception(
        translatable("It looks words up, as in a dictionary."),
        translatable(
            "There is no dictionary in it. Each word that it writes depends on the whole sentence "
            "and on the words that it wrote before."
        ),
    ),
    "order-for-free": Misconception(
        translatable("It knows the order of the words by itself."),
        translatable(
            "All words are read at once. Without positional encodings the encoder cannot tell two orders of the same "
            "words apart."
        ),
    ),
    "reads-word-by-word": Misconception(
        translatable("It reads one word after the other, as we do."),
        translatable("All words of a sentence go through each layer at once, and each can look at all others."),
    ),
    "low-loss-is-good": Misconception(
        translatable("A low loss means that it writes well."),
        translatable(
            "The loss is measured while the right words stand before the decoder. It does not say what the model "
            "writes when it has to go on from what it wrote."
        ),
    ),
    "word-by-word-is-best": Misconception(
        translatable("The likeliest word at each step makes the likeliest sentence."),
        translatable(
            "Greedy decoding never looks back: a word that is likely now may lead to a sentence that is less likely "
            "as a whole."
        ),
    ),
    "likely-is-right": Misconception(
        translatable("What is more probable is more right."),
        translatable(
            "A probability says what the model expects after what it has read in training. It may be sure and wrong."
        ),
    ),
    "mistakes-show": Misconception(
        translatable("A mistake in the code shows in what it writes."),
        translatable(
            "Many mistakes leave some sentences as they are. Test what a part is to do, and not one output alone."
        ),
    ),
    "born-with-it": Misconception(
        translatable("Heads have their tasks from the start."),
        translatable(
            "At first all weights are random. What a head does is learned in training, and nobody assigns it."
        ),
    ),
    "looking-is-using": Misconception(
        translatable("A head that looks at the right word makes the model use it."),
        translatable(
            "To look at a word is one thing and to make use of it another: later layers have to learn what to do with "
            "what the head hands over."
        ),
    ),
    "scale-is-harmless": Misconception(
        translatable("The softmax does not care about the size of the scores."),
        translatable(
            "A softmax takes powers of e: of scores eight times as large nearly everything goes to the largest."
        ),
    ),
    "learns-while-used": Misconception(
        translatable("It learns from what one types."),
        translatable("Its weights change in training alone. While it translates nothing in it is written to."),
    ),
    "whole-sentence-at-once": Misconception(
        translatable("It thinks of the whole sentence and then writes it down."),
        translatable(
            "It computes probabilities of the next word, takes one, and starts again with that word added. No sentence "
            "is planned anywhere."
        ),
    ),
}


def in_words(name: str) -> dict[str, str]:
    """Return a misconception as pages show it, in the current language: {"name", "belief", "correction"}."""
    known = MISCONCEPTIONS[name]
    return {"name": name, "belief": gettext(known.belief), "correction": gettext(known.correction)}
