"""Minimal pairs: sentences that differ in the one adjective that says what "it" is."""

from __future__ import annotations

import re

from headlight.corpora.grammars.english_french.lexicon import FRAMES, PERSON_FRAMES


def swaps(text: str) -> list[str]:
    """`text` with its last adjective replaced by each that would be a reason of the other noun.

    "… because it was too tired." with "wide", "busy" and others that the grammar gives to what is crossed. A sentence
    whose verb no frame has, or that gives no such reason behind "because" or "but", has none.
    """
    if (joined := re.search(r"\b(?:because|but)\b", text)) is None:
        return []
    said = text[: joined.start()].lower()
    found: dict[tuple[int, int], list[str]] = {}
    for frame in (*FRAMES, *PERSON_FRAMES):
        if not re.search(rf"\b{frame.verb.split()[0]}", said):
            continue
        for own, others in (
            (frame.subject_reasons, frame.object_reasons),
            (frame.object_reasons, frame.subject_reasons),
        ):
            for reason in own:
                for place in re.finditer(rf"\b{re.escape(reason)}\b", text[joined.end() :]):
                    kept = found.setdefault(place.span(), [])
                    kept += [other for other in others if other not in kept]
    if not found:
        return []
    begin, end = max(found, key=lambda span: (span[1], -span[0]))
    head, tail = text[: joined.end() + begin], text[joined.end() + end :]
    return [head + other + tail for other in found[begin, end]]
