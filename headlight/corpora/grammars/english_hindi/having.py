"""Sentences whose English subject is not the subject in Hindi: मुझे पिज़्ज़ा पसंद है, राम के पास किताब है."""

from headlight.corpora.gold import GoldWord
from headlight.corpora.grammars.english_hindi.choices import (
    PEOPLE_KINDS,
    Scene,
    any_form,
    ask,
    be_tense,
    described,
    subject,
    thing,
)
from headlight.corpora.grammars.english_hindi.clauses import (
    Clause,
    Mood,
    Tense,
    english_be,
    english_verb,
    hindi_verb,
)
from headlight.corpora.grammars.english_hindi.lexicon import (
    FEELINGS,
    HAVE_FAMILY,
    ILLNESSES,
    KNOW_LANGUAGE,
    LIKE,
    NUMBERS,
    OWN,
    SUFFER,
    VERBS,
    WANT,
    MarkedVerb,
)
from headlight.corpora.grammars.english_hindi.phrases import (
    BilingualText,
    HindiDeterminer,
    HindiPhrase,
    noun_phrase,
    pronoun,
)
from headlight.corpora.grammars.hindi import NEUTRAL_AGREEMENT, HindiAgreement, Stem


def of_somebody(
    doer: HindiPhrase,
    verb: MarkedVerb,
    tense: Tense,
    mood: Mood,
    possession: BilingualText,
    agreement: HindiAgreement,
    hindi_tense: Tense | None = None,
) -> Clause:
    """Build the clause of a verb whose Hindi agrees with `agreement` and not with its subject."""
    english = english_verb(verb.english, tense, doer, mood)
    hindi_parts = hindi_verb(verb.stem, hindi_tense or tense, agreement, english)
    of = english.main if verb.marker == "के पास" else ()
    clause = Clause(
        BilingualText(list(doer.english), list(doer.marked(verb.marker, of))), english, hindi_parts, possession
    )
    clause.nominal = [GoldWord(verb.nominal, english.main)] if verb.nominal else []
    return clause


def liked(scene: Scene) -> BilingualText:
    """Build "I like pizza" or "Sita likes to read books"."""

    def build(mood: Mood) -> Clause:
        doer = pronoun("I") if scene.chance(0.1) else subject(scene, PEOPLE_KINDS, plain=mood.negative)
        if scene.chance(0.25):
            return of_somebody(doer, LIKE, "present", mood, _to_do(scene), NEUTRAL_AGREEMENT)
        kinds = scene.choose(("food drink", "music song game language", "goods animal text show building outside"))
        thing_liked = thing(scene, kinds, doer, plain=True)
        tense = be_tense(scene)
        verb = LIKE if tense == "present" else LIKE._replace(stem=Stem("आ"))
        if thing_liked.noun is not None:
            scene.combine("verb+object", "like", thing_liked.noun.english)
        return of_somebody(doer, verb, tense, mood, thing_liked.text, thing_liked.agreement)

    return any_form(scene, build)


def _to_do(scene: Scene) -> BilingualText:
    """Build "to read books" as "किताबें पढ़ना"."""
    odd = ("cry", "break", "open", "close", "return")
    verbs = [verb for verb in VERBS if not (verb.never or verb.marker or verb.receiver or verb.subjects == "animal")]
    verb = scene.choose([verb for verb in verbs if verb.base not in odd])
    words = [GoldWord("to"), GoldWord(verb.base)] + [GoldWord(verb.preposition)] * bool(verb.preposition)
    hindi = [GoldWord(verb.nominal, tuple(words[1:]))] if verb.nominal else []
    hindi.append(GoldWord(verb.stem.infinitive(), tuple(words)))
    if not verb.objects:
        return BilingualText(words, hindi)
    noun = scene.noun(verb.objects)
    scene.combine("verb+object", verb.base, noun.english)
    object_phrase = described(scene, noun, noun.plural is not None)
    return BilingualText([*words, *object_phrase.english], [*object_phrase.direct, *hindi])


def wanted(scene: Scene) -> BilingualText:
    def build(mood: Mood) -> Clause:
        doer = subject(scene, PEOPLE_KINDS, plain=mood.negative)
        object_phrase = thing(scene, "goods food drink text", doer, plain=mood.negative)
        tense: Tense = "past" if scene.chance(0.3) else "present"
        clause = of_somebody(doer, WANT, tense, mood, object_phrase.text, object_phrase.agreement)
        if object_phrase.noun is not None:
            scene.combine("verb+object", "want", object_phrase.noun.english)
        needed = GoldWord("चाहिए", clause.verb.main + (() if tense == "past" else clause.verb.auxiliary))
        if tense == "past":
            clause.verb_hindi[-1].of = clause.verb.auxiliary or clause.verb.main
        clause.verb_hindi = [needed, *clause.verb_hindi] if tense == "past" else [needed]
        return clause

    return any_form(scene, build)


def felt(scene: Scene) -> BilingualText:
    """Build "Ram is hungry" or "Sita has a fever"."""
    if scene.chance(0.6):

        def feels(mood: Mood) -> Clause:
            doer = subject(scene, f"{PEOPLE_KINDS} animal", plain=mood.negative)
            return feeling(doer, scene.choose(list(FEELINGS)), scene.chance(0.4), mood.negative)

        return any_form(scene, feels)

    def suffers(mood: Mood) -> Clause:
        english = scene.choose(list(ILLNESSES))
        hindi, gender = ILLNESSES[english]
        word = GoldWord(english)
        tense: Tense = "past" if scene.chance(0.3) else "present"
        complaint = BilingualText([GoldWord("a"), word], [GoldWord(hindi, (word,))])
        doer = subject(scene, PEOPLE_KINDS, plain=mood.negative)
        return of_somebody(doer, SUFFER, tense, mood, complaint, HindiAgreement(gender))

    return any_form(scene, suffers)


def feeling(doer: HindiPhrase, english: str, past: bool, negative: bool = False) -> Clause:
    feeling = FEELINGS[english]
    word = GoldWord(english)
    verb = english_be("past" if past else "present", doer, negative)
    tense: Tense
    if feeling.progressive:
        tense = "past progressive" if past else "progressive"
    else:
        tense = "past perfect" if past else "perfect"
    hindi_parts = hindi_verb(feeling.stem, tense, HindiAgreement(feeling.gender), verb, (word,))
    side = BilingualText(list(doer.english), list(doer.marked("को")))
    return Clause(side, verb, hindi_parts, BilingualText([word], [GoldWord(feeling.hindi, (word,))]))


def known(scene: Scene) -> BilingualText:
    """Build "Ram knows Hindi"."""

    def build(mood: Mood) -> Clause:
        language = noun_phrase(scene.noun("language"))
        past = scene.chance(0.2)
        doer = subject(scene, PEOPLE_KINDS, plain=mood.negative)
        tenses: tuple[Tense, Tense] = ("past", "past habit") if past else ("present", "present")
        return of_somebody(doer, KNOW_LANGUAGE, tenses[0], mood, language.text, language.agreement, tenses[1])

    return any_form(scene, build)


def owned(scene: Scene) -> BilingualText:
    """Write that somebody has something (के पास), or family, which is one's own: "राम की दो बहनें हैं"."""
    if scene.chance(0.15):
        doer = subject(scene, PEOPLE_KINDS)
        noun = scene.noun("goods text pet", countable=True)
        possession = noun_phrase(noun, True, HindiDeterminer("how many"))
        clause = _owning(doer, possession, "present", Mood(question="how many"))
        return ask(clause.ask_for_object())

    def build(mood: Mood) -> Clause:
        doer = subject(scene, PEOPLE_KINDS, plain=mood.negative)
        family = scene.chance(0.25) and not mood.negative
        noun = scene.noun("relative friend" if family else "goods text pet food drink")
        many = noun.plural is not None and (mood.negative or scene.chance(0.4))
        number = scene.choose(list(NUMBERS))
        choices = (
            [HindiDeterminer(number, NUMBERS[number])] * 3 + [HindiDeterminer("many")]
            if many
            else [HindiDeterminer("a")]
        )
        if noun.plural is None:
            choices = [HindiDeterminer(), HindiDeterminer("some", "थोड़ा")]
        possession = described(scene, noun, many, HindiDeterminer() if mood.negative else scene.choose(choices))
        return _owning(doer, possession, be_tense(scene), mood)

    return any_form(scene, build)


def _owning(doer: HindiPhrase, possession: HindiPhrase, tense: Tense, mood: Mood) -> Clause:
    family = possession.noun is not None and possession.noun.is_any("relative friend")
    clause = of_somebody(doer, HAVE_FAMILY if family else OWN, tense, mood, possession.text, possession.agreement)
    if family:
        clause.subject = BilingualText(list(doer.english), list(doer.genitive(possession.agreement)))
    return clause
