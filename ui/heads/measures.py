"""The measures as people read them."""

from __future__ import annotations

from typing import NamedTuple

from transformer.analysis.atlas import Atlas
from transformer.analysis.atlas.roles import named
from transformer.trace import Kind
from ui.widgets.text import minus


class Measure(NamedTuple):
    """`unit` is "share" for what runs from 0 to 1."""

    name: str
    label: str
    unit: str
    meaning: str


# What is known from gold or from passes of its own tells more than what is seen in the patterns, and comes first.
MEASURES = (
    Measure(
        "alignment",
        "Misaligned",
        "share",
        "Share of aligned target {units} whose largest weight, in the row that writes the {unit}, misses every aligned "
        "source {unit} (1 minus the precision of Och and Ney 2003). 0 is a perfect aligner.",
    ),
    Measure(
        "reading",
        "Misaligned late",
        "share",
        "The same error in the next row, which reads the {unit}: decoders often align best there (Chen et al. 2020).",
    ),
    Measure(
        "antecedent",
        "Antecedent",
        "share",
        "For how many pronouns the largest weight of all, special tokens included, is on the word that the pronoun "
        "stands for.",
    ),
    Measure(
        "among_words",
        "Among words",
        "share",
        "For how many pronouns the antecedent gets more weight than any other word, the pronoun itself and special "
        "tokens aside.",
    ),
    Measure(
        "importance",
        "Importance",
        "nats",
        "By how much the loss of each target token rises when the head is switched off.",
    ),
    Measure(
        "agreement",
        "Agreement",
        "correlation",
        "Spearman's rank correlation, over the {units} of a source sentence, of the attention that a {unit} gets with "
        "how much less likely the output is without the {unit}: 1 is the same order, 0 none.",
    ),
    Measure("entropy", "Entropy", "bits", "How widely the head looks: 0 is at one token, each bit twice as many."),
    Measure("distance", "Distance", "tokens", "How far from its own place the head looks, on average."),
    Measure("previous", "Previous", "share", "How much goes to the token one place before."),
    Measure("same", "Same place", "share", "How much goes to the token at the same place."),
    Measure("next", "Next", "share", "How much goes to the token one place after."),
    Measure("first", "First", "share", "How much goes to the first token."),
    Measure("special", "Special", "share", "How much goes to special tokens such as [EOS]."),
    Measure("punctuation", "Punctuation", "share", "How much goes to punctuation."),
)


def present(found: Atlas, kind: Kind) -> list[Measure]:
    """The measures that this kind of attention has here, in terms of what this corpus is aligned by."""
    return [
        measure._replace(meaning=named(measure.meaning, found.units))
        for measure in MEASURES
        if measure.name in found.heads[kind]
    ]


def value_text(measure: Measure, value: float) -> str:
    if measure.unit == "share":
        return f"{100 * value:.0f}\u00a0%"
    digits = 4 if measure.name == "importance" else 2
    return minus(f"{value:z.{digits}f}")


def head_name(kind: str, layer: int, head: int) -> str:
    """Layer and head from 0, as people count them."""
    return f"{kind.capitalize()}, layer {layer + 1}, head {head + 1}"
