"""`python -m tools.copying CHECKPOINT`: count the held-out names and numbers that a model copies exactly.

The held-out names and numbers of `headlight/corpora/held_out_slots.tsv` occur in twenty frames, two for each; a number
below 1,000 occurs once in digits and once in words. A name is copied if the translation has it as a whole word, a
number if it has its digits or its words. The model writes as in the app: by beam search of 5.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from headlight.checkpoints import load_translator, update_card
from headlight.corpora.about import LANGUAGES
from headlight.corpora.number_words import in_words
from headlight.corpora.slot_words import held_out_slots
from headlight.formatting import percent
from transformer.quoting import short

CARD_KEY = "copying"  # in the card
# Frames of a name and of a number. The first ones are so common that training has them too, with other names.
NAME_FRAMES = {
    "en": (
        "My name is X.", "X is my friend.", "I met X at the station.", "X wants to go home.", "Have you seen X today?",
        "Give the key to X, please.", "X has a new job.", "We had lunch with X.", "Tell X that I am late.",
        "Is X at school?",
    ),
    "de": (
        "Mein Name ist X.", "Ich heiße X.", "Ich habe X am Bahnhof getroffen.", "X will nach Hause gehen.",
        "Hast du X heute gesehen?", "Gib X bitte den Schlüssel.", "X hat eine neue Arbeit.",
        "Wir haben mit X zu Mittag gegessen.", "Sag X, dass ich zu spät komme.", "Ist X in der Schule?",
    ),
}  # fmt: skip
NUMBER_FRAMES = {
    "en": (
        "He has N apples.", "They sold N cars.", "I read N pages today.", "There are N trees in the park.",
        "The bike costs N euros.", "We counted N birds.", "She wrote N letters.", "You have N points.",
        "The school has N pupils.", "The box weighs N kilos.",
    ),
    "de": (
        "Er hat N Äpfel.", "Sie haben N Autos verkauft.", "Ich habe heute N Seiten gelesen.",
        "Im Park stehen N Bäume.", "Das Fahrrad kostet N Euro.", "Wir haben N Vögel gezählt.",
        "Sie hat N Briefe geschrieben.", "Du hast N Punkte.", "Die Schule hat N Schüler.", "Die Kiste wiegt N Kilo.",
    ),
}  # fmt: skip


class Probe(NamedTuple):
    """A sentence and what its translation must contain: one of `accepted`, as whole words."""

    kind: str  # names or numbers
    source: str
    accepted: tuple[str, ...]


def probes(source: str, target: str) -> list[Probe]:
    """Return two sentences for each held-out name and number.

    Raises ValueError where there are no frames in the language.
    """
    if source not in NAME_FRAMES:
        raise ValueError(f"There are no frames in {short(source)}; choose a model that reads English or German.")
    held_out, sentences = held_out_slots(), []
    for index, name in enumerate(sorted(held_out[0])):
        for frame in _two(NAME_FRAMES[source], index):
            sentences.append(Probe("names", re.sub(r"\bX\b", name, frame), (name,)))
    for index, number in enumerate(sorted(held_out[1])):
        accepted = str(number), *({in_words(number, target), in_words(number, target).replace(" and ", " ")})
        for frame, in_digits in zip(_two(NUMBER_FRAMES[source], index), (True, number >= 1000), strict=True):
            numeral = str(number) if in_digits else in_words(number, source)
            sentences.append(Probe("numbers", re.sub(r"\bN\b", numeral, frame), accepted))
    return sentences


def _two(frames: Sequence[str], index: int) -> tuple[str, str]:
    """Return two different frames; ten consecutive items use each frame twice."""
    return frames[index % len(frames)], frames[(index + 1 + index // len(frames) % 9) % len(frames)]


def is_copied(probe: Probe, translation: str) -> bool:
    """Return whether a translation contains an accepted text as whole words; the case of numerals does not count."""
    flags = re.IGNORECASE if probe.kind == "numbers" else 0
    return any(re.search(rf"(?<!\w){re.escape(text)}(?!\w)", translation, flags) for text in probe.accepted)


def judged(folder: str | Path) -> dict[str, Any]:
    """Return {"names": {"exact", "of"}, "numbers": likewise, "failed": [{"source", "written"}]}. Raises ValueError."""
    translator = load_translator(folder)
    codes = {name: code for code, name in LANGUAGES.items()}
    languages = (codes.get(str(translator.card.get(side)), "") for side in ("source", "target"))
    all_probes = probes(*languages)
    translations = [
        translation.text for translation in translator.translate_batch([p.source for p in all_probes], beam_size=5)
    ]
    failed = [(probe, text) for probe, text in zip(all_probes, translations, strict=True) if not is_copied(probe, text)]
    judgement: dict[str, Any] = {}
    for kind in ("names", "numbers"):
        count = sum(probe.kind == kind for probe in all_probes)
        judgement[kind] = {"exact": count - sum(probe.kind == kind for probe, _ in failed), "of": count}
    return {**judgement, "failed": [{"source": probe.source, "written": text} for probe, text in failed]}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.copying", description=__doc__)
    parser.add_argument("checkpoint", help="a checkpoint's folder")
    parser.add_argument("--card", action="store_true", help="write the counts into the card")
    options = parser.parse_args(arguments)
    try:
        judgement = judged(options.checkpoint)
        counts = {kind: judgement[kind] for kind in ("names", "numbers")}
        if options.card:
            command = f"python -m tools.copying {options.checkpoint}"
            update_card(options.checkpoint, {CARD_KEY: {**counts, "command": command}})
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    for failure in judgement["failed"]:
        print(f"{failure['source']}\t{failure['written']}")
    for kind, count in counts.items():
        share = percent(count["exact"] / count["of"], 1)
        print(f"{count['exact']} of {count['of']} sentences with {kind} exact ({share}).")
    return 0


if __name__ == "__main__":
    sys.exit(main())
