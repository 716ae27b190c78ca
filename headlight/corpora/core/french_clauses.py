"""Verb phrases in English and French in tenses, moods, negation and questions: "play football = jouer au football"."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from headlight.corpora import english
from headlight.corpora.grammars.english_french.french import PERSONS, Conjugation, FiniteTense
from headlight.corpora.word_tables import read_table

Pair = tuple[str, str]

_POSSESSIVES = {
    "je": ("mon", "ma", "mes"),
    "tu": ("ton", "ta", "tes"),
    "il": ("son", "sa", "ses"),
    "nous": ("notre", "notre", "nos"),
    "vous": ("votre", "votre", "vos"),
    "ils": ("leur", "leur", "leurs"),
}
_REFLEXIVES = {"je": "me", "tu": "te", "il": "se", "nous": "nous", "vous": "vous", "ils": "se"}
_STRESSED_PRONOUNS = {"tu": "toi", "nous": "nous", "vous": "vous"}


class FrenchSubject(NamedTuple):
    english: str
    french: str
    person: str
    english_possessive: str
    gender: str = "m"


def _subjects(row: dict[str, str]) -> list[FrenchSubject]:
    subject = FrenchSubject(row["english"], row["french"], row["person"], row["possessive"], row["gender"])
    return [subject] * int(row["weight"])


_SUBJECTS = read_table(Path(__file__).parent / "en-fr" / "subjects.tsv", _subjects)
SUBJECTS = [subject for weighted in _SUBJECTS for subject in weighted]
_ETRE_VERBS = ("aller", "rester", "rentrer", "arriver", "partir")


class FrenchVerbPhrase(NamedTuple):
    english: str
    french: str
    flags: str = ""

    @property
    def verb(self) -> str:
        return self.french.removeprefix("se ").split()[0]

    @property
    def complement(self) -> str:
        return self.french.removeprefix("se ").partition(" ")[2]

    @property
    def is_reflexive(self) -> bool:
        return self.french.startswith("se ")


def read_verb_phrase(line: str) -> FrenchVerbPhrase:
    """Parse "play football = jouer au football | d"."""
    translation, _, flags = line.partition("|")
    source, target = translation.split(" = ")
    return FrenchVerbPhrase(source.strip(), target.strip(), flags.strip())


def conjugate(verb: str, tense: FiniteTense, person: str) -> str:
    """Return a verb's form in a tense without an auxiliary; `person` is "je" to "ils"."""
    return Conjugation(verb).form(tense, PERSONS.index(person))


def _possessed(text: str, person: str) -> str:
    mon, ma, mes = _POSSESSIVES[person]
    return re.sub(r"\b(MON|MA|MES)\b", lambda match: {"MON": mon, "MA": ma, "MES": mes}[match[0]], text)


def _complement(phrase: FrenchVerbPhrase, person: str, negative: bool = False) -> str:
    complement = _possessed(phrase.complement, person)
    if negative:
        complement = re.sub(r"~(de l'|de la |du |des |une |un )", "de ", complement)
    return f" {complement.replace('~', '')}" if complement else ""


def finite(
    subject: FrenchSubject, phrase: FrenchVerbPhrase, tense: FiniteTense, negation: str = "", adverb: str = ""
) -> str:
    """Return a French clause; `negation` is "pas" or "jamais", `adverb` stands after the verb."""
    se = f"{_REFLEXIVES[subject.person]} " if phrase.is_reflexive else ""
    verb = conjugate(phrase.verb, tense, subject.person)
    ne = "ne " if negation else ""
    after = "".join(f" {word}" for word in (negation, adverb) if word)
    return f"{subject.french} {ne}{se}{verb}{after}{_complement(phrase, subject.person, bool(negation))}"


def perfect(subject: FrenchSubject, phrase: FrenchVerbPhrase, negation: str = "", adverb: str = "") -> str:
    """Return a French clause in the passé composé."""
    with_etre = phrase.is_reflexive or phrase.verb in _ETRE_VERBS
    se = f"{_REFLEXIVES[subject.person]} " if phrase.is_reflexive else ""
    auxiliary = conjugate("être" if with_etre else "avoir", "present", subject.person)
    participle = Conjugation(phrase.verb).participle
    if with_etre and "n" not in phrase.flags:
        # "vous" is one person here.
        participle += "e" * (subject.gender == "f") + "s" * (subject.person in ("nous", "ils"))
    middle = "".join(f" {word}" for word in (negation, adverb) if word)
    ne = "ne " if negation else ""
    complement = _complement(phrase, subject.person, bool(negation))
    return f"{subject.french} {ne}{se}{auxiliary}{middle} {participle}{complement}"


def infinitive(subject: FrenchSubject, phrase: FrenchVerbPhrase, negative: bool = False) -> str:
    se = f"{_REFLEXIVES[subject.person]} " if phrase.is_reflexive else ""
    return se + phrase.verb + _complement(phrase, subject.person, negative)


def modal(subject: FrenchSubject, verb: str, tense: FiniteTense, phrase: FrenchVerbPhrase, negation: str = "") -> str:
    """Return a clause such as "je ne peux pas venir"."""
    ne, after = ("ne ", f" {negation}") if negation else ("", "")
    form = conjugate(verb, tense, subject.person)
    return f"{subject.french} {ne}{form}{after} {infinitive(subject, phrase, bool(negation))}"


def imperative(phrase: FrenchVerbPhrase, person: str, negative: bool = False) -> str:
    form = conjugate(phrase.verb, "present", person)
    if person == "tu" and form.endswith(("es", "vas")):
        form = form[:-1]
    if phrase.is_reflexive and negative:
        return f"ne {_REFLEXIVES[person]} {form} pas{_complement(phrase, person, True)}"
    if phrase.is_reflexive:
        return f"{form}-{_STRESSED_PRONOUNS[person]}{_complement(phrase, person)}"
    if negative:
        return f"ne {form} pas{_complement(phrase, person, True)}"
    return form + _complement(phrase, person)


# English


def _en(subject: FrenchSubject, phrase: FrenchVerbPhrase) -> str:
    return phrase.english.replace("MY", subject.english_possessive)


def _is_third(subject: FrenchSubject) -> bool:
    return subject.person == "il"


def _do(subject: FrenchSubject) -> str:
    return "does" if _is_third(subject) else "do"


def _be(subject: FrenchSubject) -> str:
    return "am" if subject.english == "I" else "is" if _is_third(subject) else "are"


def _was(subject: FrenchSubject) -> str:
    return "was" if _is_third(subject) or subject.english == "I" else "were"


def _have(subject: FrenchSubject) -> str:
    return "has" if _is_third(subject) else "have"


def _short_be(subject: FrenchSubject) -> str:
    if subject.english in ("I", "you", "he", "she", "we", "they"):
        return subject.english + {"am": "'m", "is": "'s", "are": "'re"}[_be(subject)]
    return f"{subject.english} {_be(subject)}"


def _present_english(subject: FrenchSubject, phrase: FrenchVerbPhrase) -> str:
    text = _en(subject, phrase)
    return english.third_person(text) if _is_third(subject) else text


_FREQUENCIES = (("every day", "tous les jours"), ("every morning", "tous les matins"), ("on Sundays", "le dimanche"),
                ("every week", "toutes les semaines"), ("in summer", "en été"), ("at the weekend", "le week-end"),
                ("on Mondays", "le lundi"), ("", ""))  # fmt: skip
_PAST_TIMES = (("yesterday", "*hier"), ("this morning", "ce matin"), ("last week", "la semaine dernière"),
               ("two days ago", "il y a deux jours"), ("on Monday", "lundi"), ("last night", "*hier soir"),
               ("", ""))  # fmt: skip
_FUTURE_TIMES = (("tomorrow", "demain"), ("tonight", "ce soir"), ("next week", "la semaine prochaine"),
                 ("on Saturday", "samedi"), ("later", "plus tard"), ("this afternoon", "cet après-midi"),
                 ("", ""))  # fmt: skip
_PRESENT_TIMES = (("now", "maintenant"), ("at the moment", "en ce moment"), ("", ""))
_DURATIONS = (("an hour", "une heure"), ("two hours", "deux heures"), ("ten minutes", "dix minutes"),
              ("half an hour", "une demi-heure"))  # fmt: skip
_STARTING_POINTS = (("this morning", "ce matin"), ("two o'clock", "deux heures"), ("noon", "midi"))
_YEARS = (("a year", "un an"), ("two years", "deux ans"), ("three months", "trois mois"), ("a long time", "longtemps"))
_SINCE_YEARS = (("January", "janvier"), ("last year", "l'année dernière"), ("2015", "2015"), ("September", "septembre"))


def _timed(pair: Pair, times: tuple[Pair, ...], rng: random.Random, end: str = ".") -> Pair:
    source, target = rng.choice(times)
    return f"{pair[0]}{f' {source}' if source else ''}{end}", f"{pair[1]}{f' {target}' if target else ''}" + (
        f" {end}" if end in "?!" else end
    )


def _habit(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    # "I read a book" without a time is present or past.
    times = _FREQUENCIES[:-1] if _is_unclear(s, p) else _frequencies(p)
    return _timed((f"{s.english} {_present_english(s, p)}", finite(s, p, "present")), times, r)


def _frequencies(p: FrenchVerbPhrase) -> tuple[Pair, ...]:
    return _FREQUENCIES[-1:] if "l" in p.flags else _FREQUENCIES


def _is_unclear(s: FrenchSubject, p: FrenchVerbPhrase) -> bool:
    return english.past_tense(_en(s, p)) == _present_english(s, p)


def _adverb(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair | None:
    if _is_unclear(s, p):
        return None
    source, target = r.choice(
        (("often", "souvent"), ("always", "toujours"), ("sometimes", "parfois"), ("rarely", "rarement"))
    )
    return f"{s.english} {source} {_present_english(s, p)}.", f"{finite(s, p, 'present', adverb=target)}."


def _never(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair | None:
    if _is_unclear(s, p):
        return None
    return f"{s.english} never {_present_english(s, p)}.", f"{finite(s, p, 'present', 'jamais')}."


def _not(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    pair = f"{s.english} {_do(s)}n't {_en(s, p)}", finite(s, p, "present", "pas")
    return _timed(pair, _frequencies(p), r)


def _no_longer(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    return f"{s.english} {_do(s)}n't {_en(s, p)} any more.", f"{finite(s, p, 'present', 'plus')}."


def _question(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    pair = f"{_do(s)} {s.english} {_en(s, p)}", f"est-ce que {finite(s, p, 'present')}"
    return _timed(pair, _frequencies(p), r, "?")


def _word_question(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    source, target = r.choice((("when", "quand"), ("why", "pourquoi"), ("how often", "à quelle fréquence")))
    return f"{source} {_do(s)} {s.english} {_en(s, p)}?", f"{target} est-ce que {finite(s, p, 'present')} ?"


def _progressive(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    be = r.choice((_short_be(s), f"{s.english} {_be(s)}"))
    return _timed((f"{be} {english.progressive(_en(s, p))}", finite(s, p, "present")), _PRESENT_TIMES, r)


def _en_train(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    source = f"{_short_be(s)} {english.progressive(_en(s, p))} right now."
    return source, f"{s.french} {conjugate('être', 'present', s.person)} en train de {infinitive(s, p)}."


def _progressive_question(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    pair = f"{_be(s)} {s.english} {english.progressive(_en(s, p))}", f"est-ce que {finite(s, p, 'present')}"
    return _timed(pair, _PRESENT_TIMES, r, "?")


def _past(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    times = _PAST_TIMES[:-1] if _is_unclear(s, p) else _PAST_TIMES
    return _timed((f"{s.english} {english.past_tense(_en(s, p))}", perfect(s, p)), times, r)


def _not_past(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    return _timed((f"{s.english} didn't {_en(s, p)}", perfect(s, p, "pas")), _PAST_TIMES, r)


def _past_question(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    return _timed((f"did {s.english} {_en(s, p)}", f"est-ce que {perfect(s, p)}"), _PAST_TIMES, r, "?")


def _why_not(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    return f"why didn't {s.english} {_en(s, p)}?", f"pourquoi est-ce que {perfect(s, p, 'pas')} ?"


def _already(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    source = english.participle(_en(s, p))
    source, adverb, negation = r.choice(
        (
            (f"{s.english} {_have(s)} already {source}.", "déjà", ""),
            (f"{s.english} {_have(s)} never {source}.", "", "jamais"),
            (f"{s.english} {_have(s)}n't {source} yet.", "", "pas encore"),
        )
    )
    return source, f"{perfect(s, p, negation, adverb)}."


def _ever(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    word = r.choice(("ever", "already"))
    source = f"{_have(s)} {s.english} {word} {english.participle(_en(s, p))}?"
    return source, f"est-ce que {perfect(s, p, adverb='déjà')} ?"


def _will(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    return _timed((f"{s.english} will {_en(s, p)}", finite(s, p, "future")), _FUTURE_TIMES, r)


def _will_not(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    return _timed((f"{s.english} won't {_en(s, p)}", finite(s, p, "future", "pas")), _FUTURE_TIMES, r)


def _will_question(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    return _timed((f"will {s.english} {_en(s, p)}", f"est-ce que {finite(s, p, 'future')}"), _FUTURE_TIMES, r, "?")


def _going_to(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    be = r.choice((_short_be(s), f"{s.english} {_be(s)}"))
    return _timed((f"{be} going to {_en(s, p)}", modal(s, "aller", "present", p)), _FUTURE_TIMES, r)


def _not_going_to(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    return _timed(
        (f"{_short_be(s)} not going to {_en(s, p)}", modal(s, "aller", "present", p, "pas")), _FUTURE_TIMES, r
    )


def _can(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    verb = "savoir" if "s" in p.flags else "pouvoir"
    source, negation = r.choice((("can", ""), ("can't", "pas")))
    return f"{s.english} {source} {_en(s, p)}.", f"{modal(s, verb, 'present', p, negation)}."


def _can_question(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    verb = "savoir" if "s" in p.flags else "pouvoir"
    return f"can {s.english} {_en(s, p)}?", f"est-ce que {modal(s, verb, 'present', p)} ?"


def _must(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    source = r.choice(("must", f"{_have(s)} to"))
    return _timed((f"{s.english} {source} {_en(s, p)}", modal(s, "devoir", "present", p)), _FUTURE_TIMES, r)


def _need_not(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    obliged = "obligé" + "e" * (s.gender == "f") + "s" * (s.person in ("nous", "ils"))
    be = conjugate("être", "present", s.person)
    return f"{s.english} {_do(s)}n't have to {_en(s, p)}.", f"{s.french} ne {be} pas {obliged} de {infinitive(s, p)}."


def _should(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    source, negation = r.choice((("should", ""), ("shouldn't", "pas")))
    return f"{s.english} {source} {_en(s, p)}.", f"{modal(s, 'devoir', 'conditional', p, negation)}."


def _wants(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    want = "wants" if _is_third(s) else "want"
    return _timed((f"{s.english} {want} to {_en(s, p)}", modal(s, "vouloir", "present", p)), _future(p), r)


def _does_not_want(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    return f"{s.english} {_do(s)}n't want to {_en(s, p)}.", f"{modal(s, 'vouloir', 'present', p, 'pas')}."


def _want_question(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    return f"{_do(s)} {s.english} want to {_en(s, p)}?", f"est-ce que {modal(s, 'vouloir', 'present', p)} ?"


def _would_like(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    pair = f"{s.english} would like to {_en(s, p)}", modal(s, "aimer", "conditional", p)
    return _timed(pair, _future(p), r)


def _future(p: FrenchVerbPhrase) -> tuple[Pair, ...]:
    return _FUTURE_TIMES[-1:] if "l" in p.flags else _FUTURE_TIMES


def _likes(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    doing = english.progressive(_en(s, p))
    third = "s" if _is_third(s) else ""
    source, verb, negation = r.choice(
        (
            (f"like{third} {doing}", "aimer", ""),
            (f"{_do(s)}n't like {doing}", "aimer", "pas"),
            (f"love{third} {doing}", "adorer", ""),
            (f"hate{third} {doing}", "détester", ""),
        )
    )
    return f"{s.english} {source}.", f"{modal(s, verb, 'present', p, negation)}."


def _for_long(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    durations, points = (_YEARS, _SINCE_YEARS) if "y" in p.flags else (_DURATIONS, _STARTING_POINTS)
    word, times = r.choice((("for", durations), ("since", points)))
    source, target = r.choice(times)
    doing = english.progressive(_en(s, p))
    return f"{s.english} {_have(s)} been {doing} {word} {source}.", f"{finite(s, p, 'present')} depuis {target}."


def _how_long(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    source = f"how long {_have(s)} {s.english} been {english.progressive(_en(s, p))}?"
    return source, f"depuis combien de temps est-ce que {finite(s, p, 'present')} ?"


def _used_to(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    return f"{s.english} used to {_en(s, p)}.", f"avant, {finite(s, p, 'imperfect')}."


def _was_doing(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair | None:
    events = (("the phone rang", "le téléphone a sonné"), ("it began to rain", "il a commencé à pleuvoir"),
              ("I arrived", "je suis arrivé"), ("the teacher came in", "le professeur est entré"))  # fmt: skip
    source, target = r.choice(events)
    doing = english.progressive(_en(s, p))
    if s.english == "I" and source.startswith("I "):
        return None
    return f"{s.english} {_was(s)} {doing} when {source}.", f"{finite(s, p, 'imperfect')} quand {target}."


def _if(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    conditions = (("it rains", "s'il pleut"), ("the weather is nice", "s'il fait beau"),
                  ("it's cold", "s'il fait froid"), ("it snows", "s'il neige"))  # fmt: skip
    source, target = r.choice(conditions)
    return f"if {source}, {s.english} will {_en(s, p)}.", f"{target}, {finite(s, p, 'future')}."


def _would(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair | None:
    pronoun = {"he": "il", "she": "elle", "I": "je", "you": s.french, "we": "nous", "they": "ils"}.get(s.english)
    if pronoun is None:
        return None
    english_object, french_object = r.choice(
        (("time", "le temps"), ("a little time", "un peu de temps"), ("more time", "plus de temps"))
    )
    si = "s'" if pronoun.startswith("il") else "si "
    condition = f"{si}{pronoun} {conjugate('avoir', 'imperfect', s.person)} {french_object}"
    return (
        f"if {s.english} had {english_object}, {s.english} would {_en(s, p)}.",
        f"{condition}, {finite(s, p, 'conditional')}.",
    )


def _imperative(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    you = FrenchSubject("you", "tu", "tu", "your")
    end = r.choice(((".", "."), ("!", " !"), (", please.", ", s'il te plaît.")))
    return f"{_en(you, p)}{end[0]}", f"{imperative(p, 'tu')}{end[1]}"


def _do_not(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    you = FrenchSubject("you", "tu", "tu", "your")
    end = r.choice(((".", "."), ("!", " !")))
    return f"don't {_en(you, p)}{end[0]}", f"{imperative(p, 'tu', True)}{end[1]}"


def _polite(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    you = FrenchSubject("you", "vous", "vous", "your")
    return f"could you please {_en(you, p)}?", f"est-ce que vous pourriez {infinitive(you, p)}, s'il vous plaît ?"


def _let_us(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    we = FrenchSubject("we", "nous", "nous", "our")
    end = r.choice(((".", "."), ("!", " !")))
    return f"let's {_en(we, p)}{end[0]}", f"{imperative(p, 'nous')}{end[1]}"


def _that(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair | None:
    source, target = r.choice((("I know that", "je sais que"), ("I think that", "je pense que"),
                               ("he says that", "il dit que"), ("Lucy knows that", "Lucy sait que")))  # fmt: skip
    if _is_unclear(s, p):
        return None
    return f"{source} {s.english} {_present_english(s, p)}.", f"{target} {finite(s, p, 'present')}."


def _want_you(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair | None:
    """Build "I want you to come", with the subjunctive."""
    objects = {"you": "you", "he": "him", "she": "her", "they": "them", "we": "us"}
    if s.english == "I":
        return None
    person = objects.get(s.english, s.english)
    source, target = r.choice((("I want", "je veux"), ("my father wants", "mon père veut")))
    if s.english == "we" and source == "I want":
        return None
    return f"{source} {person} to {_en(s, p)}.", f"{target} que {finite(s, p, 'subjunctive')}."


def _to(s: FrenchSubject, p: FrenchVerbPhrase, r: random.Random) -> Pair:
    openings = (("it's time to", "il est temps de"), ("it's easy to", "il est facile de"),
                ("it's important to", "il est important de"), ("it's fun to", "c'est amusant de"))  # fmt: skip
    source, target = r.choice(openings)
    we = FrenchSubject("we", "nous", "nous", "our")
    if "MY" in p.english or p.is_reflexive:
        return _let_us(s, p, r)
    return f"{source} {_en(we, p)}.", f"{target} {infinitive(we, p)}."


Scheme = Callable[[FrenchSubject, FrenchVerbPhrase, random.Random], Pair | None]
SCHEMES: tuple[Scheme, ...] = (
    _habit, _adverb, _never, _not, _no_longer, _question, _word_question, _progressive, _en_train,
    _progressive_question, _past, _not_past, _past_question, _why_not, _already, _ever, _will, _will_not,
    _will_question, _going_to, _not_going_to, _can, _can_question, _must, _need_not, _should, _wants, _does_not_want,
    _want_question, _would_like, _likes, _for_long, _how_long, _used_to, _was_doing, _if, _would, _imperative, _do_not,
    _polite, _let_us, _that, _want_you, _to,
)  # fmt: skip

_STATE_SCHEMES = (
    _habit, _not, _no_longer, _question, _for_long, _how_long, _used_to, _would_like, _wants, _that,
)  # fmt: skip
# For each flag of a verb phrase, the schemes that do not suit it.
_UNSUITED_SCHEMES: dict[str, tuple[Scheme, ...]] = {
    "e": (_habit, _adverb, _never, _not, _no_longer, _question, _word_question, _likes, _used_to, _that),
    "w": (_imperative, _polite, _let_us, _want_you, _should, _must, _need_not, _wants, _would_like, _want_question,
          _likes, _to, _would, _if, _can, _can_question),
    "x": (_already, _ever),
    "d": (_already, _ever),
    "y": (_progressive, _en_train, _was_doing, _progressive_question),
    "p": (_progressive, _en_train, _was_doing, _progressive_question, _likes),
    "l": tuple(scheme for scheme in SCHEMES if scheme not in _STATE_SCHEMES),
}  # fmt: skip
_DURATION_SCHEMES = (_for_long, _how_long)
_SCHEMES_ABOUT_OTHERS = (_question, _word_question, _progressive_question, _past_question, _why_not, _ever,
                         _will_question, _want_question, _how_long)  # fmt: skip


def make_clause(scheme: Scheme, subject: FrenchSubject, phrase: FrenchVerbPhrase, rng: random.Random) -> Pair | None:
    """Return a pair, or None where the scheme does not suit the verb phrase or the subject."""
    unsuited = (
        any(scheme in _UNSUITED_SCHEMES.get(flag, ()) for flag in phrase.flags)
        or (scheme in _DURATION_SCHEMES and "d" not in phrase.flags)
        or (scheme in _SCHEMES_ABOUT_OTHERS and subject.english in ("I", "we"))
    )
    return None if unsuited else scheme(subject, phrase, rng)
