"""Generate English sentences and their Hindi translations, with word alignments.

Conventions settle what English leaves open, so that each sentence has one translation:

- "I", "we", "you" and "they" are men; "you" is always आप. "They" that stands for nouns of the same sentence has their
  gender. "The teacher", "the doctor" and "the friend" are men; a woman shows by her name ("Sita is a teacher").
- Father, mother and grandparents are spoken of in the plural of respect, and "he" and "she" for them is वे.
- "His", "her", "their", "my", "our" and "your" are अपना wherever the possessor can be the subject.
- An inanimate object stands unmarked, people and animals take को. "The" is not translated, "a" is एक.
- Yes-no questions begin with क्या; other question words come late, where the answer would.
- "Yesterday" and "tomorrow" are both कल, and the present keeps its है when it is negated.

Links:

- A postposition is linked to the preposition that it translates. Those that translate none (ने, the को of objects and
  of people who feel something, the genitive that a verb requires) are linked to their noun; मैंने and मुझे include them.
- An English auxiliary is linked to the Hindi one, or else to the verb; one that opens a question also to क्या. "To"
  before a verb is linked to the infinitive, and both parts of "काम करना" are linked to the verb.
- In के साथ and के पास, the के is linked to the noun; the पास of a possession is linked to "has".
- A preposition that Hindi leaves out ("to the market") is linked to its noun. "The", and "a" without एक, have no link.
"""

import random
from collections.abc import Callable

from headlight.corpora.gold import GoldPair, Grammar, gold_pair
from headlight.corpora.grammars.english_hindi import being, doing, having, joining
from headlight.corpora.grammars.english_hindi.choices import Scene
from headlight.corpora.grammars.english_hindi.phrases import BilingualText

# The frequency of each kind of sentence.
_PATTERNS: dict[Callable[[Scene], BilingualText], int] = {
    doing.statement: 28,
    doing.yes_or_no: 8,
    doing.question: 10,
    doing.please: 5,
    being.described_as: 9,
    being.compared: 4,
    being.profession: 4,
    being.whereabouts: 8,
    being.named: 1,
    being.who_is: 1,
    being.presented: 3,
    having.liked: 6,
    having.wanted: 4,
    having.felt: 4,
    having.known: 2,
    having.owned: 5,
    joining.said_that: 7,
    joining.together: 5,
    joining.but: 6,
    joining.because_of_subject: 7,
    joining.because_of_object: 8,
}


def _pair(rng: random.Random) -> GoldPair:
    scene = Scene(rng)
    english, hindi = scene.weighted(_PATTERNS)(scene)
    hindi_word_of = {origin: word for word in reversed(hindi) for origin in word.of}
    pronouns = [
        (word, noun, evidence or hindi_word_of[word], shows) for word, noun, evidence, shows in scene.references
    ]
    return gold_pair(english, hindi, pronouns, scene.combinations)


ENGLISH_HINDI = Grammar("english-hindi", _pair)
