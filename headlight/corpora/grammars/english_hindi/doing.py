"""Sentences in which somebody does something: statements, questions, requests."""

from headlight.corpora.gold import GoldWord
from headlight.corpora.grammars.english_hindi.choices import Scene, ask, stop
from headlight.corpora.grammars.english_hindi.clauses import Mood, Tense
from headlight.corpora.grammars.english_hindi.events import event
from headlight.corpora.grammars.english_hindi.lexicon import NOUNS, VERBS
from headlight.corpora.grammars.english_hindi.phrases import BilingualText, pronoun, who


def statement(scene: Scene) -> BilingualText:
    return stop(event(scene, mood=Mood(scene.chance(0.15)), adjuncts="phrases time opening").statement())


def yes_or_no(scene: Scene) -> BilingualText:
    return ask(event(scene, mood=Mood(question="whether")).whether())


def question(scene: Scene) -> BilingualText:
    word = scene.choose(("who", "what", "which", "how many", "where", "when", "why"))
    lively = [verb for verb in VERBS if not verb.never]
    if word == "who":
        verb = scene.choose([verb for verb in lively if {"person", "kin"} & set(verb.subjects.split())])
        tense: Tense = scene.choose(("progressive", "past", "future", "present", "can"))
        return ask(event(scene, verb, who(), tense, Mood(question=word)).ask_for_subject())
    if word in ("what", "which", "how many"):
        some = [verb for verb in lively if verb.objects and not (verb.marker or verb.nominal or verb.preposition)]
        if word != "what":
            some = [verb for verb in some if any(noun.plural and noun.is_any(verb.objects) for noun in NOUNS)]
        return ask(event(scene, scene.choose(some), mood=Mood(question=word)).ask_for_object())
    if word == "when":
        verb, tense = scene.choose(lively), scene.choose(("past", "future"))
        clause = event(scene, verb, tense=tense, mood=Mood(question=word), adjuncts="phrases")
        return ask(clause.ask_for("when", "कब"))
    if word == "where":
        verb = scene.choose([verb for verb in VERBS if verb.places and "perfective" not in verb.never])
        return ask(event(scene, verb, mood=Mood(question=word), adjuncts="time").ask_for("where", "कहाँ"))
    return ask(event(scene, mood=Mood(scene.chance(0.2), word)).ask_for("why", "क्यों"))


def please(scene: Scene) -> BilingualText:
    """Build "Please open the door", said to somebody who is called आप."""
    odd = ("cry", "laugh", "break", "catch", "chase", "speak")
    verbs = [verb for verb in VERBS if not verb.never and verb.subjects != "animal" and verb.base not in odd]
    verb, negative = scene.choose(verbs), scene.chance(0.25)
    clause = event(scene, verb, pronoun("you"), "present", Mood(negative), adjuncts="phrases")
    request = [GoldWord("please")] if scene.chance(0.5) else []
    no = (*clause.verb.auxiliary, *clause.verb.negation)
    english = [*request, *no, *clause.verb.main, *clause.object.english, *clause.phrases.english]
    hindi = [GoldWord("कृपया", tuple(request)) for _ in request]
    hindi += [*clause.phrases.hindi, *clause.object.hindi, *clause.nominal]
    hindi += [GoldWord("मत", no)] * negative
    return stop(BilingualText(english, [*hindi, GoldWord(verb.stem.please, clause.verb.main)]))
