"""Replace names and numbers on both sides of a pair at once, so that a translator learns to copy them."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from headlight.corpora.about import LANGUAGES, about
from headlight.corpora.mixtures import weighted_parts
from headlight.corpora.number_words import in_words
from headlight.corpora.pairs import Corpus, Pair, Rejected
from headlight.corpora.slot_words import (
    WORD_LISTS,
    SlotWords,
    genitive,
    is_certain,
    is_invariable,
    may_elide,
    number_parts,
    numbers_in_words,
    read_slot_words,
    with_elision,
)
from headlight.formatting import percent
from transformer.quoting import short

_BLOCKED_BEFORE, _HOLIDAYS = frozenset(WORD_LISTS["no name follows"]), frozenset(WORD_LISTS["holiday"])
# Where "two" is not any number: "the two of us", "both", "each other".
_FIXED_TWO = re.compile(r"(?i)\b(the|these|those|us|you|of|in) two\b|\b(each|both|either|neither|other|half|twins?)\b")
# These go with some hours only: "acht Uhr nachmittags" is wrong, and "12 a.m." is midnight.
_DAYTIME = re.compile(
    r"(?i)\b([ap]\.? ?m\b|morning|afternoon|evening|night|noon|midnight|matin|après-midi|soir|nuit|midi|minuit"
    r"|vormittags?|nachmittags?|mittags?|abends?|nachts?|morgens|früh)\b"
)
_MARY = {"Mary": ("Marie", "Maria"), "Marie": ("Mary",), "Maria": ("Mary",)}
_NUMBER_KINDS = ("word", "digits")
_WORD = re.compile(r"[^\W\d_]+")
_ARTICLE = re.compile(r"(?i)\ban? [$€£]?$")  # "an 8" would have to become "a 9"
_DIGITS = re.compile(r"(?<![\w.,:/'’#-])(?<!\d )\d{1,4}(?![\w:/’'-]|[.,]\d| \d)")
_TIMES = {
    "en": re.compile(r"(?<![\w.,:/-])(\d{1,2})(:)(\d\d)(?![\w:/-]|[.,]\d)"),
    "fr": re.compile(r"(?<![\w.,:/-])(\d{1,2})(:| ?h ?)(\d\d)(?![\w:/-]|[.,]\d)"),
    "de": re.compile(r"(?<![\w.,:/-])(\d{1,2})(:|\.(?=\d\d Uhr))(\d\d)(?![\w:/-]|[.,]\d)"),
}
_JOINERS = {
    "en": {"and", "or", "to", "point"},
    "fr": {"et", "ou", "à", "virgule"},
    "de": {"und", "oder", "bis", "komma"},
}
_HALF_PAST = frozenset(WORD_LISTS["half past"])


class Slot(NamedTuple):
    """A replaceable stretch of one side: what it is, from which to which character, and its ending."""

    kind: str  # female, male, surname, city, weekday, month, word, digits or time
    value: str
    start: int
    end: int
    ending: str = ""  # "s" of a German genitive


class Replacer:
    """A function that replaces names and numbers in sentence pairs between the languages of `words`."""

    def __init__(self, words: SlotWords) -> None:
        self.words = words
        self.tables = {"city": words.cities, "weekday": words.weekdays, "month": words.months}
        self.named: tuple[dict[str, tuple[str, int]], ...] = ({}, {})  # for each side: a spelling -> (kind, row)
        for kind, rows in self.tables.items():
            for number, row in enumerate(rows):
                for side, spelling in enumerate(row):
                    self.named[side][spelling.lower()] = kind, number

    def slots(self, source: str, target: str) -> list[tuple[Slot, Slot]]:
        """Return the pairs of slots that can be replaced: each occurs exactly once on both sides."""
        sides = [self._find(text, side) for side, text in enumerate((source, target))]
        by_key = [{(slot.kind, slot.value): slot for slot in side_slots} for side_slots in sides]
        counts = [Counter((slot.kind, slot.value) for slot in side_slots) for side_slots in sides]
        for kind, name in [key for key in by_key[0] if key[1] in _MARY and key not in by_key[1]]:
            for other in _MARY[name]:
                if (kind, other) in by_key[1] and (kind, other) not in by_key[0]:
                    by_key[1][kind, name] = by_key[1].pop((kind, other))
                    counts[1][kind, name] = counts[1].pop((kind, other))
                    break
        slot_pairs = [(key, (slot, by_key[1][key])) for key, slot in by_key[0].items() if key in by_key[1]]
        fixed = {("word", "2")} if _FIXED_TWO.search(source) or _FIXED_TWO.search(target) else set()
        if _DAYTIME.search(source) or _DAYTIME.search(target):
            keys = [key for key, _ in slot_pairs]
            fixed |= {key for key in keys if key[0] == "time" or (key[0] in _NUMBER_KINDS and int(key[1]) <= 24)}
        return [
            slots
            for key, slots in slot_pairs
            if counts[0][key] == counts[1][key] == 1 and all(slot.end for slot in slots) and key not in fixed
        ]

    def replace(self, source: str, target: str, rng: random.Random) -> tuple[str, str]:
        """Return the pair with a new value in each slot; the same pair where it has none."""
        texts = source, target
        edits: tuple[list[tuple[Slot, str]], list[tuple[Slot, str]]] = ([], [])
        used: set[str] = set()
        for slots in self.slots(source, target):
            values = self._draw(slots, texts, rng, used)
            if values is not None:
                for side in (0, 1):
                    edits[side].append((slots[side], values[side]))
        return self._edited(source, edits[0], 0), self._edited(target, edits[1], 1)

    def _edited(self, text: str, edits: list[tuple[Slot, str]], side: int) -> str:
        """Return the text with each slot's new value, and a French word before a name elided as that name demands."""
        for slot, value in sorted(edits, key=lambda edit: edit[0].start, reverse=True):
            before = text[: slot.start]
            if self.words.languages[side] == "fr" and slot.kind not in ("word", "digits", "time"):
                before = with_elision(before, value)
            text = before + value + text[slot.end :]
        return text

    def _draw(
        self, slots: tuple[Slot, Slot], texts: tuple[str, str], rng: random.Random, used: set[str]
    ) -> tuple[str, str] | None:
        """Return new values for both sides that the pair does not contain yet; None after 50 failed draws."""
        kind, words = slots[0].kind, self.words
        if kind == "time":
            return self._draw_time(slots, texts, rng)
        names = {"female": words.female, "male": words.male, "surname": words.surnames}
        for _ in range(50):
            if kind in _NUMBER_KINDS:
                values = self._draw_number(kind, int(slots[0].value), rng)
            elif kind in self.tables:
                values = rng.choice(self.tables[kind])
            else:
                values = (rng.choice(names[kind]),) * 2
            if (
                used.isdisjoint(values)
                and not any(
                    re.search(rf"(?i)\b{re.escape(value)}", text) for value, text in zip(values, texts, strict=True)
                )
                and (kind in _NUMBER_KINDS or all(map(_is_replaceable, slots, values, texts, words.languages)))
            ):
                used.update(values)
                return self._write(slots, values, texts)
        return None

    def _draw_number(self, kind: str, old: int, rng: random.Random) -> tuple[str, str]:
        """Draw another number of the same magnitude, so that an hour, a day or a year remains one."""
        ends = (12, 31, 99, 999, 2030, 9999) if kind == "digits" else (12, 99, 999)
        high = min(end for end in ends if old <= end)
        low = max([2, *(end + 1 for end in ends if end < old)])
        number = self.words.draw_number(rng, low, high, (old,))
        if kind == "digits":
            return str(number), str(number)
        while not is_invariable(number):
            number = self.words.draw_number(rng, low, high, (old,))
        source, target = self.words.languages
        return in_words(number, source), in_words(number, target)

    def _draw_time(self, slots: tuple[Slot, Slot], texts: tuple[str, str], rng: random.Random) -> tuple[str, str]:
        hour = rng.randint(1, 12) if int(slots[0].value.split(":")[0]) <= 12 else rng.randint(13, 23)
        minute = rng.randint(0, 59)
        marks = [re.sub(r"\d", "", text[slot.start : slot.end]) for slot, text in zip(slots, texts, strict=True)]
        return f"{hour}{marks[0]}{minute:02}", f"{hour}{marks[1]}{minute:02}"

    @staticmethod
    def _write(slots: tuple[Slot, Slot], values: tuple[str, str], texts: tuple[str, str]) -> tuple[str, str]:
        """Return the values with the capitalisation and the ending of the words that they replace."""
        spellings = []
        for slot, value, text in zip(slots, values, texts, strict=True):
            if text[slot.start].isupper():
                value = value[:1].upper() + value[1:]
            elif slot.kind in ("weekday", "month", "word"):
                value = value[:1].lower() + value[1:]
            spellings.append(genitive(value) if slot.ending else value)
        return spellings[0], spellings[1]

    def _find(self, text: str, side: int) -> list[Slot]:
        """Find every name and number of a side. A slot that must not be replaced has end 0, and is still counted."""
        language = self.words.languages[side]
        slots = []
        for match in _TIMES[language].finditer(text):
            hour, minute = int(match[1]), int(match[3])
            is_time = 1 <= hour <= 23 and minute < 60 and not _follows_article(text[: match.start()], language)
            slots.append(Slot("time", f"{hour}:{minute}", match.start(), match.end() * is_time))
        times = [(slot.start, slot.end) for slot in slots]
        tokens = list(_WORD.finditer(text))
        parts = number_parts(language)
        for match in _DIGITS.finditer(text):
            if any(start <= match.start() < end for start, end in times):
                continue
            before, after = _neighbour_words(tokens, match.start(), match.end())
            value = int(match[0])
            blocked = (
                value < 2
                or match[0].startswith("0")
                or _follows_article(text[: match.start()], language)
                or after in parts
                or before in parts
            )
            slots.append(Slot("digits", str(value), match.start(), match.end() * (not blocked)))
        slots += self._find_numbers(text, tokens, language)
        slots += self._find_named(text, tokens, side)
        slots += self._find_names(text, tokens, language)
        return slots

    @staticmethod
    def _find_numbers(text: str, tokens: list[re.Match[str]], language: str) -> list[Slot]:
        parts, numbers, joiners = number_parts(language), numbers_in_words(language), _JOINERS[language]
        slots, index = [], 0
        lowered = [token[0].lower() for token in tokens]
        while index < len(tokens):
            if lowered[index] not in parts:
                index += 1
                continue
            last = index
            while True:  # the run of words that may belong to the number
                if _is_adjacent(text, tokens, last) and lowered[last + 1] in parts:
                    last += 1
                elif (
                    _is_adjacent(text, tokens, last)
                    and lowered[last + 1] in joiners
                    and _is_adjacent(text, tokens, last + 1)
                    and lowered[last + 2] in parts
                ):
                    last += 2
                else:
                    break
            start, end = tokens[index].start(), tokens[last].end()
            value = numbers.get(text[start:end].lower())
            before = lowered[index - 1] if index else ""
            after = lowered[last + 1] if last + 1 < len(tokens) and text[end : end + 1] == " " else ""
            blocked = (
                value in (None, 100)
                or text[start - 1 : start] in tuple("'’-")
                or text[end : end + 1] in tuple("'’-")
                or _follows_article(text[:start], language)
                or before in _HALF_PAST | joiners & {"point", "virgule", "komma"}
                or after in joiners & {"point", "virgule", "komma"}
                or bool(re.search(r"\d ?$", text[:start]))
                or bool(re.match(r" ?\d", text[end:]))
                or (value is not None and value > 12 and after in WORD_LISTS["after a clock time"])
            )
            if value is not None:
                slots.append(Slot("word", str(value), start, end * (not blocked)))
            index = last + 1
        return slots

    def _find_named(self, text: str, tokens: list[re.Match[str]], side: int) -> list[Slot]:
        """Find cities, weekdays and months."""
        slots, slots_by_spelling, language = [], self.named[side], self.words.languages[side]
        for index, token in enumerate(tokens):
            spelling, ending = token[0], ""
            if spelling.lower() not in slots_by_spelling:
                if language != "de" or not spelling.endswith("s") or spelling[:-1].lower() not in slots_by_spelling:
                    continue
                spelling, ending = spelling[:-1], "s"
            kind, number = slots_by_spelling[spelling.lower()]
            if ending and kind != "city":
                continue
            blocked = _has_hyphen(text, token) or _has_odd_apostrophe(text, token, language)
            before = tokens[index - 1][0].lower() if index else ""
            after = tokens[index + 1][0].lower() if index + 1 < len(tokens) else ""
            if kind == "city":
                blocked = blocked or not spelling[0].isupper() or before in _BLOCKED_BEFORE
            else:
                blocked = blocked or _follows_article(text[: token.start()], language)
                blocked = blocked or before in _HOLIDAYS or after in _HOLIDAYS
                blocked = blocked or spelling in ("may", "march")
            slots.append(Slot(kind, str(number), token.start(), token.end() * (not blocked), ending))
        return slots

    def _find_names(self, text: str, tokens: list[re.Match[str]], language: str) -> list[Slot]:
        """Find first names, and surnames after a title or a first name."""
        words = self.words
        slots, lowered = [], Counter(token[0].lower() for token in tokens)
        for index, token in enumerate(tokens):
            if not token[0][0].isupper():
                continue
            before = tokens[index - 1][0] if index else ""
            gap = text[tokens[index - 1].end() : token.start()] if index else ""
            titled = before.lower() in WORD_LISTS["title"] and gap in (" ", ". ")
            is_surname = titled or (gap == " " and (before in words.genders or before in words.ambiguous))
            blocked = _has_hyphen(text, token) or _has_odd_apostrophe(text, token, language)
            if not is_surname and before.lower() in _BLOCKED_BEFORE and gap in (" ", "'", "’", ". "):
                blocked = True
            endings = ("", "s") if language == "de" and token[0].endswith("s") else ("",)
            for ending in endings:
                name = token[0].removesuffix(ending)
                if is_surname:
                    kind = "surname" if name in words.every_surname else ""
                else:
                    kind = {"f": "female", "m": "male"}.get(words.genders.get(name, ""), "")
                if kind:
                    occurs_once = lowered[name.lower()] + lowered[f"{name.lower()}s"] == 1
                    end = token.end() * (occurs_once and not blocked)
                    slots.append(Slot(kind, name, token.start(), end, ending))
        return slots


class Slots(Corpus):
    """A corpus with new names and numbers in a `share` of the pairs that contain any, the same for the same seed."""

    def __init__(self, corpus: Corpus, share: float, languages: tuple[str, str], seed: int = 0) -> None:
        super().__init__(f"{corpus.name}, {percent(share)} with new names and numbers", corpus.max_characters)
        self.corpus, self.share, self.seed = corpus, share, seed
        self.replacer = Replacer(read_slot_words(languages))

    def rows(self) -> Iterator[Pair | Rejected]:
        rng = random.Random(f"slots {self.seed}")
        for row in self.corpus.rows():
            if isinstance(row, Pair) and rng.random() < self.share:
                source, target = self.replacer.replace(row.source, row.target, rng)
                row = row._replace(source=source, target=target)
            yield row


def slot_languages(spec: str) -> tuple[str, str]:
    """Return the codes of the two languages of a corpus, such as ("en", "fr"), which all parts of a mixture share.

    Raises ValueError where the name does not tell the languages, or the parts have different ones.
    """
    codes = {name: code for code, name in LANGUAGES.items()}
    language_pairs = set()
    for part, _ in weighted_parts(spec):
        facts = about(part)
        codes_match = re.search(r"[:/](\w\w)[-:](\w\w)(?::\d+)?$", part)
        language_pairs.add(
            (codes_match[1], codes_match[2])
            if codes_match
            else (codes.get(facts["source"]), codes.get(facts["target"]))
        )
    if len(language_pairs) != 1 or None in (languages := language_pairs.pop()):
        raise ValueError(
            f"The languages of {short(spec)} are not known, so its names and numbers cannot be replaced; name a corpus "
            "such as tatoeba:en-fr or FOLDER:en-fr, or train with --slots 0."
        )
    return str(languages[0]), str(languages[1])


def _is_replaceable(slot: Slot, name: str, text: str, language: str) -> bool:
    """Return whether it is certain how a name is written in the slot."""
    has_genitive = bool(slot.ending) or text[slot.end : slot.end + 2] in ("'s", "’s")
    return is_certain(name, text[: slot.start], has_genitive, language)


def _neighbour_words(tokens: list[re.Match[str]], start: int, end: int) -> tuple[str, str]:
    """Return the words just before and after a stretch, in lower case."""
    before = next((token[0].lower() for token in reversed(tokens) if token.end() == start - 1), "")
    after = next((token[0].lower() for token in tokens if token.start() == end + 1), "")
    return before, after


def _follows_article(before: str, language: str) -> bool:
    return language == "en" and bool(_ARTICLE.search(before))


def _is_adjacent(text: str, tokens: list[re.Match[str]], index: int) -> bool:
    """Return whether only a space or a hyphen separates a word from the next."""
    return index + 1 < len(tokens) and text[tokens[index].end() : tokens[index + 1].start()] in (" ", "-")


def _has_hyphen(text: str, token: re.Match[str]) -> bool:
    before, after = text[max(token.start() - 1, 0) : token.start()], text[token.end() : token.end() + 1]
    return (
        (before in "-_@#" and before != "") or (after in "-_@" and after != "") or before.isdigit() or after.isdigit()
    )


def _has_odd_apostrophe(text: str, token: re.Match[str], language: str) -> bool:
    """Return whether a name has an apostrophe other than an English 's or a French d' or qu'."""
    after = text[token.end() : token.end() + 3]
    if after[:1] in ("'", "’"):
        return not (language == "en" and re.match(r"['’]s(?!\w)", after))
    before = text[: token.start()]
    return before.endswith(("'", "’")) and not (language == "fr" and may_elide(before))
