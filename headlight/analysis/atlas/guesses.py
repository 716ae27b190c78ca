"""Simple rules that guess the antecedent of a pronoun, which a head must beat to count as finding it."""

from __future__ import annotations

from headlight.corpora.truth import Truth

RULES = ("nearest noun", "first noun")  # before the pronoun, and of the sentence
OF_PRONOUNS = ("antecedent", "among_words")  # the measures that are compared with them


def guessed(truth: Truth) -> tuple[tuple[bool, bool], ...]:
    """Return for each pronoun whether each of RULES is right."""
    right = []
    for pronoun in truth.pronouns:
        before = [place for place in truth.nouns if place < pronoun.word]
        right.append((before[-1:] == [pronoun.antecedent], list(truth.nouns[:1]) == [pronoun.antecedent]))
    return tuple(right)
