"""Generate English sentences and their French: agreement, tenses, negation, questions, and the meaning of "it".

"The animal didn't cross the street because it was too tired" is "parce qu'il était trop fatigué"; "because it was
too wide" is "parce qu'elle était trop large". French has to show which noun "it" means, and only the sense tells.

Conventions settle what English leaves open, so that each sentence has one translation:

- "You" is "vous". Nothing that French would have to inflect for gender is said of "I", "we" and "you".
- The past is the passé composé, of "be" and "want" the imparfait. Questions have "est-ce que" unless they ask for a
  subject, or where something is.
- "Some" is the partitive, and "any" and "a" are "de" after a negation. The object of "love" has "the" or a possessive.

Links: a French auxiliary is linked to the English word that shows the tense, "ne" and "pas" to "didn't", "est-ce que"
to the "did" that opens a question, both parts of "parce que" to "because", and an infinitive also to its "to".
"""

import random
from collections.abc import Callable

from headlight.corpora.gold import GoldPair, Grammar
from headlight.corpora.grammars.english_french import reasons, sentences

# The frequency of each construction, in per cent.
_CONSTRUCTIONS: dict[Callable[[random.Random], GoldPair], int] = {
    reasons.by_meaning: 40,
    reasons.with_person: 6,
    reasons.alone: 2,
    sentences.transitive: 12,
    sentences.intransitive: 6,
    sentences.being: 4,
    sentences.lying: 2,
    sentences.existing: 2,
    sentences.yes_or_no: 4,
    sentences.whether: 1,
    sentences.adverbial: 3,
    sentences.who_does: 2,
    sentences.whom_or_what: 2,
    sentences.where_is: 1,
    sentences.ditransitive: 4,
    sentences.with_pronoun_object: 3,
    sentences.one_after_the_other: 4,
    sentences.consequence: 2,
}


def _pair(rng: random.Random) -> GoldPair:
    (construction,) = rng.choices(list(_CONSTRUCTIONS), list(_CONSTRUCTIONS.values()))
    return construction(rng)


ENGLISH_FRENCH = Grammar("english-french", _pair)
