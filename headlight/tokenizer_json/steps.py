"""The steps before and after a tokenizer's model: known steps with bounds on their costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from headlight.tokenizer_json import charsmap, patterns
from headlight.tokenizer_json.fields import Fields, shown

MAX_STEPS = 100
MAX_DEPTH = 10  # lists of steps inside lists of steps
MAX_GROWTH = 1_500  # characters that the steps may make of one; those of ALBERT make up to 1,296
MAX_DECODING_GROWTH = 50  # the same for the decoder
# What all patterns may cost for each character of a text: comparisons, and passes over a run of matching characters.
MAX_COMPARISONS = 2_000_000
MAX_RUN_PASSES = 80

BEHAVIOURS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
SCHEMES = ("first", "never", "always")


@dataclass
class Effort:
    """The effect of the steps so far on a text."""

    max_growth: int
    growth: float = 1  # the most characters that the steps make of one
    steps: int = 0
    comparisons: float = 0  # per character
    run_passes: float = 0  # over a run of matching characters, for each of its characters

    def grow(self, times: float, what: str) -> None:
        self.growth *= max(1, times)
        if self.growth > self.max_growth:
            raise ValueError(
                f"it uses {what}, which with the steps before it may make a text {self.growth:,.0f} times as long"
            )

    def step(self, what: str) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise ValueError(f"it uses {what} after {MAX_STEPS} other steps")

    def match(self, cost: patterns.Cost, what: str) -> None:
        self.comparisons += self.growth * cost.work.fixed
        self.run_passes += self.growth * cost.work.per_character
        if self.comparisons > MAX_COMPARISONS or self.run_passes > MAX_RUN_PASSES:
            raise ValueError(f"it uses {what} with a pattern that may take forever on a long text")


Reader = Callable[[Fields, Effort], object]


def _replace(fields: Fields, effort: Effort) -> None:
    content = fields.text("content")
    shortest = _pattern(fields, effort)
    effort.grow(len(content) / shortest if shortest else 1 + len(content), fields.what)


def _pattern(fields: Fields, effort: Effort) -> int:
    """Return the minimum number of characters of a match."""
    value = fields.values.get("pattern")
    kind, text = next(iter(value.items())) if isinstance(value, dict) and len(value) == 1 else ("", None)
    if kind not in ("String", "Regex") or not isinstance(text, str) or not text:
        raise fields.wrong("pattern", "a text or a regular expression")
    fields.checked["pattern"] = {kind: text}
    if kind == "String":
        Fields({"String": text}, fields.what).text("String")
        return len(text)
    try:
        cost = patterns.cost(text)
    except ValueError as error:
        raise ValueError(f"it uses {fields.what} with the pattern {shown(text)}, which {error}") from None
    effort.match(cost, fields.what)
    return cost.shortest


def _bert(fields: Fields, effort: Effort) -> None:
    fields.flags("clean_text", "handle_chinese_chars", "lowercase")
    fields.flags("strip_accents", optional=True)
    effort.grow(3 * 4 * 2, fields.what)  # spaces around it, the longest decomposition, and "İ" in lower case


def _precompiled(fields: Fields, effort: Effort) -> None:
    encoded = fields.values.get("precompiled_charsmap")
    if not isinstance(encoded, str):
        raise fields.wrong("precompiled_charsmap", "a table in base 64")
    try:
        growth = charsmap.growth(encoded)
    except ValueError as error:
        raise ValueError(f"it uses {fields.what} with a table that {error}") from None
    effort.grow(growth, fields.what)
    fields.checked["precompiled_charsmap"] = encoded


def _prepend(fields: Fields, effort: Effort) -> None:
    effort.grow(1 + len(fields.text("prepend")), fields.what)


def _metaspace(fields: Fields, effort: Effort) -> None:
    fields.character("replacement")
    fields.flags("add_prefix_space", "split", optional=True)
    if fields.choice("prepend_scheme", SCHEMES, optional=True) != "never":
        effort.grow(2, fields.what)


def _byte_level(fields: Fields, effort: Effort) -> None:
    fields.flags("add_prefix_space", "trim_offsets")
    fields.flags("use_regex", optional=True)
    effort.grow(4 + 4 * fields.checked["add_prefix_space"], fields.what)  # bytes of a character, and of the space


def _split(fields: Fields, effort: Effort) -> None:
    _pattern(fields, effort)
    fields.choice("behavior", BEHAVIOURS)
    fields.flags("invert")


def _ctc(fields: Fields, effort: Effort) -> None:
    fields.text("pad_token", shortest=1)
    fields.text("word_delimiter_token", shortest=1)
    fields.flags("cleanup")


def _word_piece(fields: Fields, effort: Effort) -> None:
    fields.text("prefix")
    fields.flags("cleanup")
    effort.grow(2, fields.what)  # a space before each token


def _strip_off(fields: Fields, effort: Effort) -> None:
    fields.character("content")
    fields.number("start", 0, 100)
    fields.number("stop", 0, 0)  # the library fails at a shorter text


def _grows(times: int) -> Reader:
    return lambda fields, effort: effort.grow(times, fields.what)


@dataclass(frozen=True)
class StepFamily:
    """The steps of one kind, by name, and the function that reads each."""

    name: str
    members: str  # of a sequence
    readers: Mapping[str, Reader]


# `_grows(n)`: one character becomes up to n; for Unicode's normal forms see its Technical Report 15.
NORMALIZERS = StepFamily(
    "normalizer",
    "normalizers",
    {
        "BertNormalizer": _bert,
        "Strip": lambda fields, effort: fields.flags("strip_left", "strip_right"),
        "StripAccents": _grows(1),
        "NFC": _grows(3),
        "NFD": _grows(4),
        "NFKC": _grows(18),
        "NFKD": _grows(18),
        "Lowercase": _grows(2),
        "Nmt": _grows(1),
        "Precompiled": _precompiled,
        "Replace": _replace,
        "Prepend": _prepend,
        "ByteLevel": _grows(4),
    },
)
PRE_TOKENIZERS = StepFamily(
    "pre-tokenizer",
    "pretokenizers",
    {
        "BertPreTokenizer": _grows(1),
        "ByteLevel": _byte_level,
        "CharDelimiterSplit": lambda fields, effort: fields.character("delimiter"),
        "Metaspace": _metaspace,
        "Whitespace": _grows(1),
        "WhitespaceSplit": _grows(1),
        "Split": _split,
        "Punctuation": lambda fields, effort: fields.choice("behavior", BEHAVIOURS, optional=True),
        "Digits": lambda fields, effort: fields.flags("individual_digits"),
        "UnicodeScripts": _grows(1),
        "FixedLength": lambda fields, effort: fields.number("length", 1, 1_000),
    },
)
DECODERS = StepFamily(
    "decoder",
    "decoders",
    {
        "BPEDecoder": lambda fields, effort: fields.text("suffix", shortest=1),
        "ByteLevel": _byte_level,
        "WordPiece": _word_piece,
        "Metaspace": _metaspace,
        "CTC": _ctc,
        "Replace": _replace,
        "Fuse": _grows(1),
        "Strip": _strip_off,
        "ByteFallback": _grows(1),
    },
)


def check_steps(values: Any, family: StepFamily, effort: Effort, depth: int = 0) -> dict[str, Any] | None:
    """Return a step, or a sequence of steps, with its known fields; None for none.

    Raises ValueError for a step that is not supported or costs too much.
    """
    if values is None and not depth:
        return None
    kind = values.get("type") if isinstance(values, dict) else None
    if not isinstance(kind, str):
        raise ValueError(f"it has a {family.name} without a type")
    what = f"the {family.name} {shown(kind)}"
    effort.step(what)
    if kind == "Sequence":
        members = values.get(family.members)
        if not isinstance(members, list) or depth >= MAX_DEPTH:
            raise ValueError(f"it uses {what} without a list of steps, or inside {MAX_DEPTH} others")
        steps = [check_steps(member, family, effort, depth + 1) for member in members]
        return {"type": kind, family.members: steps}
    if kind not in family.readers:
        raise ValueError(f"it uses {what}, which is not supported")
    fields = Fields(values, what)
    family.readers[kind](fields, effort)
    return {"type": kind, **fields.checked}
