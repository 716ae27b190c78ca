"""Sentences in which somebody does something: statements, questions, requests."""

from headlight.corpora.gold import GoldWord
from headlight.corpora.grammars.english_hindi.choices import Scene, ask, stop
from headlight.corpora.grammars.english_hindi.clauses import BilingualText, Tense
from headlight.corpora.grammars.english_hindi.events import event
from headlight.corpora.grammars.english_hindi.lexicon import NOUNS, VERBS
from headlight.corpora.grammars.english_hindi.phrases import pronoun, who


def statement(scene: Scene) -> BilingualText:
    return stop(event(scene, negative=scene.chance(0.15), opening=True).statement())


def yes_or_no(scene: Scene) -> BilingualText:
    return ask(event(scene, asked="whether").whether())


def question(scene: Scene) -> BilingualText:
    asked = scene.one(("who", "what", "which", "how many", "where", "when", "why"))
    lively = [verb for verb in VERBS if not verb.never]
    if asked == "who":
        verb = scene.one([verb for verb in lively if {"person", "kin"} & set(verb.subjects.split())])
        tense: Tense = scene.one(("progressive", "past", "future", "present", "can"))
        return ask(event(scene, verb, who(), tense, asked=asked).asked_subject())
    if asked in ("what", "which", "how many"):
        some = [verb for verb in lively if verb.objects and not (verb.marker or verb.nominal or verb.preposition)]
        if asked != "what":
            some = [verb for verb in some if any(noun.plural and noun.is_any(verb.objects) for noun in NOUNS)]
        return ask(event(scene, scene.one(some), asked=asked).asked_object())
    if asked == "when":
        clause = event(scene, scene.one(lively), tense=scene.one(("past", "future")), asked=asked, time=False)
        return ask(clause.asked("when", "कब"))
    if asked == "where":
        verb = scene.one([verb for verb in VERBS if verb.places and "perfective" not in verb.never])
        return ask(event(scene, verb, asked=asked, phrases=False).asked("where", "कहाँ"))
    return ask(event(scene, negative=scene.chance(0.2), asked=asked).asked("why", "क्यों"))


def please(scene: Scene) -> BilingualText:
    """ "Please open the door" to somebody who is called आप."""
    odd = ("cry", "laugh", "break", "catch", "chase", "speak")
    verbs = [verb for verb in VERBS if not verb.never and verb.subjects != "animal" and verb.base not in odd]
    verb, negative = scene.one(verbs), scene.chance(0.25)
    clause = event(scene, verb, pronoun("you"), "present", negative, time=False)
    request = [GoldWord("please")] if scene.chance(0.5) else []
    no = (*clause.verb.auxiliary, *clause.verb.negation)
    english = [*request, *no, *clause.verb.main, *clause.object.english, *clause.phrases.english]
    hindi = [GoldWord("कृपया", tuple(request)) for _ in request]
    hindi += [*clause.phrases.hindi, *clause.object.hindi, *clause.nominal]
    hindi += [GoldWord("मत", no)] * negative
    return stop(BilingualText(english, [*hindi, GoldWord(verb.stem.please, clause.verb.main)]))
