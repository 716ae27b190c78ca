"""Clauses in which somebody does something."""

from headlight.corpora.gold import GoldWord
from headlight.corpora.grammars.english_hindi.choices import (
    Scene,
    city,
    described,
    fixed,
    place,
    somebody,
    subject,
    thing,
    with_preposition,
)
from headlight.corpora.grammars.english_hindi.clauses import (
    OBLIGATION_TENSES,
    PERFECTIVE_TENSES,
    Clause,
    Mood,
    Tense,
    english_verb,
    hindi_verb,
)
from headlight.corpora.grammars.english_hindi.lexicon import (
    FREQUENCIES,
    PHRASES,
    TIMES,
    VERBS,
    HindiVerb,
)
from headlight.corpora.grammars.english_hindi.phrases import BilingualText, HindiDeterminer, HindiPhrase, what
from headlight.corpora.grammars.hindi import NEUTRAL_AGREEMENT, HindiAgreement

_TENSE_WEIGHTS: dict[Tense, int] = {
    "present": 20, "progressive": 18, "past": 24, "future": 14, "past progressive": 7, "perfect": 6, "past habit": 4,
    "can": 5, "should": 5, "want": 5, "have to": 4,
}  # fmt: skip
_TENSE_GROUPS: dict[str, set[Tense]] = {
    "progressive": {"progressive", "past progressive"},
    "perfective": {"past", "perfect"},
    "modal": {"can", "should", "want", "have to", "perfect"},
}


_STATEMENT = Mood()


def choose_tense(scene: Scene, verb: HindiVerb, doer: HindiPhrase, mood: Mood) -> Tense:
    """Choose a tense that the English shows: "they read" could be today or yesterday."""
    negative, question = mood.negative, bool(mood.question)
    never: set[Tense] = set().union(*(_TENSE_GROUPS[group] for group in verb.never.split()))
    if negative or question:
        never |= {"past habit", "have to"} if negative else {"past habit"}
    if doer.noun is not None and doer.noun.is_any("animal"):
        never |= {"should", "have to"}
    if not (negative or question) and verb.english[0] == verb.english[2] and doer.pronoun not in ("he", "she", "it"):
        never |= {"present", "past"}
    return scene.weighted({tense: weight for tense, weight in _TENSE_WEIGHTS.items() if tense not in never})


def event(
    scene: Scene,
    verb: HindiVerb | None = None,
    doer: HindiPhrase | None = None,
    tense: Tense | None = None,
    mood: Mood = _STATEMENT,
    done_to: HindiPhrase | None = None,
    adjuncts: str = "phrases time",
) -> Clause:
    """Build the clause of an action; arguments that are None are chosen at random.

    `adjuncts` says what may come besides subject and object: "phrases", a "time", and an "opening" with the time.
    """
    negative, question = mood
    verb = verb or scene.choose(VERBS)
    # "Children eat sweets"; but "Children read books" could be yesterday.
    generic = not (doer or tense or question) and verb.english[0] != verb.english[2] and scene.chance(0.15)
    doer = doer or subject(scene, verb.subjects, generic, negative or bool(question))
    tense = tense or ("present" if generic else choose_tense(scene, verb, doer, mood))
    done_to = done_to or _object(scene, verb, doer, mood)
    clause = Clause(
        BilingualText(list(doer.english), list(doer.marked(_case(verb, tense)))),
        english_verb(verb.english, tense, doer, mood),
        [],
        bound=verb.nominal_gender is not None,
    )
    clause.nominal = [GoldWord(verb.nominal, clause.verb.main)] if verb.nominal else []
    if done_to is not None:
        _write_object(scene, clause, verb, doer, done_to, bool(question))
    agreement = _agreement(verb, done_to) if _case(verb, tense) else doer.agreement
    clause.verb_hindi = hindi_verb(verb.stem, tense, agreement, clause.verb)
    around = _phrases(scene, verb, doer) if "phrases" in adjuncts else []
    if "time" in adjuncts and "modal" not in verb.never and scene.chance(0.35):
        around += _time(scene, clause, tense, mood, "opening" in adjuncts)
    # English puts these phrases after the verb, Hindi before it and in the opposite order.
    clause.phrases = BilingualText(
        [word for phrase in around for word in phrase.english],
        [word for phrase in reversed(around) for word in phrase.hindi],
    )
    return clause


def _case(verb: HindiVerb, tense: Tense) -> str:
    return "को" if tense in OBLIGATION_TENSES else "ने" if tense in PERFECTIVE_TENSES and verb.ergative else ""


def _agreement(verb: HindiVerb, done_to: HindiPhrase | None) -> HindiAgreement:
    """Return what the verb agrees with: after ने and को the noun of "मदद करना", or else an object without a
    postposition.
    """
    if verb.nominal_gender:
        return HindiAgreement(verb.nominal_gender)
    if done_to is None or _object_marker(verb, done_to):
        return NEUTRAL_AGREEMENT
    return done_to.agreement


def _object_marker(verb: HindiVerb, done_to: HindiPhrase) -> str:
    return verb.marker if verb.marker != "को" or done_to.animate else ""


def _object(scene: Scene, verb: HindiVerb, doer: HindiPhrase, mood: Mood) -> HindiPhrase | None:
    if not verb.objects:
        return None
    if mood.question == "what":
        return what()
    if mood.question in ("which", "how many"):
        noun = scene.noun(verb.objects, countable=True)
        many = mood.question == "how many" or scene.chance(0.3)
        return described(scene, noun, many, HindiDeterminer(mood.question), quality=0)
    return somebody(scene, verb.objects, doer, plain=mood.negative or mood.question not in ("", "whether"))


def _write_object(
    scene: Scene, clause: Clause, verb: HindiVerb, doer: HindiPhrase, done_to: HindiPhrase, is_question: bool
) -> None:
    if done_to.noun is not None:
        scene.combine("verb+object", verb.base, done_to.noun.english)
    preposition = [GoldWord(verb.preposition)] if verb.preposition else []
    if verb.marker == "का":
        hindi = done_to.genitive(HindiAgreement(verb.nominal_gender or "m"), of=preposition)
    elif verb.marker == "से":
        hindi = done_to.marked("से", preposition)
    else:  # "looks for", "listens to": the Hindi verb translates the preposition, too
        hindi = done_to.marked(_object_marker(verb, done_to))
        clause.verb = clause.verb._replace(main=(*clause.verb.main, *preposition))
        preposition = []
    clause.object = BilingualText([*preposition, *done_to.english], list(hindi))
    if verb.receiver and not is_question:
        to = with_preposition("to", "को", somebody(scene, "kin honoured youth", doer, plain=True))
        clause.object = BilingualText(clause.object.english + to.english, to.hindi + clause.object.hindi)


def _time(scene: Scene, clause: Clause, tense: Tense, mood: Mood, opening: bool) -> list[BilingualText]:
    """Add a time, at the end of the English or inside the clause."""
    if tense == "present" and not mood.negative and scene.chance(0.4):
        often = scene.choose([word for word in FREQUENCIES if word != "never" or not mood.question])
        word = GoldWord(often)
        clause.frequency = BilingualText([word], [GoldWord(FREQUENCIES[often], (word,))])
        return []
    when = fixed(scene.choose(PHRASES[scene.choose(TIMES[tense])]))
    if opening and tense in ("past", "future", "past progressive") and scene.chance(0.3):
        clause.opening = when
        return []
    return [when]


def _phrases(scene: Scene, verb: HindiVerb, doer: HindiPhrase) -> list[BilingualText]:
    """Choose the phrases that the verb takes, in the order of the English."""
    takes, places = verb.takes.split(), verb.places.split()
    if places and doer.noun is not None and doer.noun.is_any("animal"):
        places = ["garden", "field", "forest", "road"]
    phrases = []
    if "to" in takes and scene.chance(0.8):
        phrases.append(_destination(scene, doer))
    from_somewhere = "from" in takes and scene.chance(0.5)
    if from_somewhere:
        start = city(scene) if scene.chance(0.5) else thing(scene, "village school market office", doer, True, 0)
        phrases.append(with_preposition("from", "से", start))
    if "with" in takes and scene.chance(0.2):
        phrases.append(with_preposition("with", "के साथ", somebody(scene, "kin honoured", doer, plain=True)))
    elif "by" in takes and len(phrases) < 2 and not from_somewhere and scene.chance(0.25):
        phrases.append(fixed(scene.choose(PHRASES["vehicle"])))
    if "for" in takes and scene.chance(0.25):
        phrases.append(with_preposition("for", "के लिए", somebody(scene, "kin honoured", doer, plain=True)))
    elif "in" in takes and scene.chance(0.4):
        phrases.append(with_preposition("in", "में", city(scene)))
    elif places and scene.chance(1 if verb.base in ("live", "sit", "walk") else 0.35):
        at_home = "house" in places and verb.base != "live" and scene.chance(0.3)
        phrases.append(fixed(PHRASES["at home"][0]) if at_home else place(scene, " ".join(places), doer))
    return phrases


def _destination(scene: Scene, doer: HindiPhrase) -> BilingualText:
    chance = scene.rng.random()
    if chance < 0.15:
        return fixed(PHRASES["home"][0])
    names = "school market temple village office hospital station library shop"
    return with_preposition(
        "to", "", city(scene) if chance < 0.4 else thing(scene, names, doer, True, 0, 0.2, bare=False)
    )
