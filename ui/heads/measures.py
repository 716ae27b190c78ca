"""The measures as the page names and explains them."""

from __future__ import annotations

from typing import NamedTuple

from headlight.analysis.atlas import Atlas
from headlight.analysis.atlas.roles import named
from headlight.formatting import minus, percent
from transformer.trace import Kind


class Measure(NamedTuple):
    """`unit` is "share" for what runs from 0 to 1."""

    name: str
    label: str
    unit: str
    meaning: str


# Measures that use gold data or extra forward passes say more than those of the weights alone, and come first.
MEASURES = (
    Measure(
        "alignment",
        "Misaligned",
        "share",
        "Share of aligned target {units} whose largest weight, in the row that writes the {unit}, misses every aligned "
        "source {unit} (1 minus the precision of Och and Ney 2003). 0 is a perfect alignment.",
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
        "Share of pronouns whose largest weight of all, special tokens included, is on the antecedent, the noun that "
        "the pronoun stands for.",
    ),
    Measure(
        "among_words",
        "Among words",
        "share",
        "Share of pronouns whose antecedent gets more weight than any other word, the pronoun itself and special "
        "tokens aside.",
    ),
    Measure(
        "importance",
        "Importance",
        "nats",
        "How much the loss per target token rises when the head is switched off.",
    ),
    Measure(
        "agreement",
        "Agreement",
        "correlation",
        "Spearman's rank correlation, over the {units} of a source sentence, of the attention that a {unit} gets with "
        "how much less likely the output is without the {unit}: 1 is the same order, 0 is no relation.",
    ),
    Measure("entropy", "Entropy", "bits", "Spread of the weights: 0 bits is one token; each bit doubles their number."),
    Measure("distance", "Distance", "tokens", "Mean distance from the query to the tokens it attends to."),
    Measure("previous", "Previous", "share", "Share of weight on the token before the query's."),
    Measure("same", "Same position", "share", "Share of weight on the token at the query's own position."),
    Measure("next", "Next", "share", "Share of weight on the token after the query's."),
    Measure("first", "First", "share", "Share of weight on the first token."),
    Measure("special", "Special", "share", "Share of weight on special tokens such as [EOS]."),
    Measure("punctuation", "Punctuation", "share", "Share of weight on punctuation."),
)


def present(atlas: Atlas, kind: Kind) -> list[Measure]:
    """The measures of this kind of attention, worded for the units by which this corpus is aligned."""
    return [
        measure._replace(meaning=named(measure.meaning, atlas.units))
        for measure in MEASURES
        if measure.name in atlas.heads[kind]
    ]


def value_text(measure: Measure, value: float) -> str:
    if measure.unit == "share":
        return percent(value)
    digits = 4 if measure.name == "importance" else 2
    return minus(f"{value:z.{digits}f}")


def head_name(kind: str, layer: int, head: int) -> str:
    """Layer and head from 0, as people count them."""
    return f"{kind.capitalize()}, layer {layer + 1}, head {head + 1}"
