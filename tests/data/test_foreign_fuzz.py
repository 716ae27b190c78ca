"""Tokenizers made at random, many of them harmful: each is opened or refused, and what is opened does no harm.

The same ones each time, or, for HEADLIGHT_FUZZ_SECONDS, new ones; a seed that fails belongs into SEEDS.
"""

from __future__ import annotations

import copy
import json
import random
import time
from typing import Any

import pytest

from headlight import tokenizer_json as foreign
from headlight.tokenizer_json import trial
from tests.data.limited import last_before_the_end
from tests.data.test_foreign import ATTACKS, BPE, FLAGS, SMALL, table
from tests.fuzzing import FUZZ_SECONDS

COUNT = 1_000  # cases that are the same each time; about one in ten is accepted
SEEDS = (16406,)  # that failed once
TOGETHER = 300  # accepted ones that one process runs
TRIED = 3  # of those, how many go through the whole of it, which takes a process each
SLOWEST = 30.0  # seconds that understanding one may take

LETTERS = "ab !▁\n<0x61>ßİﷺ\ue000"
SENTENCES = ["", "a", "ab" * 300, "a" * 500 + "!", " a b! " * 100, "ﷺİß" * 50, "\n" * 200 + "ab", "b a" * 200]
NASTY: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2**31, 2**32 - 2, 2**63, 10**30, 1e308, float("nan"), float("inf"), "", "a", "a" * 5_000,
    "\0", "\ud800", [], {}, [[]], {"type": "Sequence"}, ["a", "b"], [None] * 50,
)  # fmt: skip
ATOMS = ["a", "b", ".", r"\s", r"\w", "[ab]", "[^a]", r"\p{L}", r"\x{61}", "^", "$", r"\b", " ", "(a|b)", "(?:ab)"]
SIGNS = ["", "", "", "*", "+", "?", "{2,}", "{1,3}", "+?", "*+", "{500}", "{,9}"]


def text(chance: random.Random) -> str:
    return "".join(chance.choice(LETTERS) for _ in range(chance.choice((0, 1, 1, 2, 5, 40))))


def pattern(chance: random.Random, depth: int = 0) -> str:
    parts = []
    for _ in range(chance.randint(1, 4)):
        atom = chance.choice(ATOMS)
        if depth < 3 and chance.random() < 0.3:
            atom = chance.choice(("(", "(?:", "(?=", "(?!", "(?<!", "(?i:", "(?>")) + pattern(chance, depth + 1) + ")"
        parts.append(atom + chance.choice(SIGNS))
    return chance.choice(("", "|")).join(parts)


def searched(chance: random.Random) -> dict[str, str]:
    return {"String": text(chance)} if chance.random() < 0.4 else {"Regex": pattern(chance)}


def flag(chance: random.Random) -> bool:
    return chance.random() < 0.5


def charsmap(chance: random.Random) -> dict[str, Any]:
    """Return a character map that rewrites "a", with random faults."""
    trie = [0] * 512
    leaf = (256 ^ 97) ^ 1
    trie[0], trie[256 ^ 97], trie[leaf] = 256 << 10, 1 << 10 | 1 << 8 | 97, 1 << 31
    for _ in range(chance.choice((0, 0, 1, 5))):
        trie[chance.randrange(512)] = chance.getrandbits(32)
    if chance.random() < 0.2:
        trie = trie[: chance.randrange(512)]
    return table(trie, text(chance).encode() + b"\0", chance.choice((None, None, None, chance.getrandbits(32))))


def normalizer(chance: random.Random) -> dict[str, Any]:
    kinds: list[dict[str, Any]] = [
        {"type": chance.choice(("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel"))},
        {"type": "Replace", "pattern": searched(chance), "content": text(chance)},
        {"type": "Replace", "pattern": searched(chance), "content": text(chance)},
        {"type": "Prepend", "prepend": text(chance)},
        {"type": "Strip", "strip_left": flag(chance), "strip_right": flag(chance)},
        {
            "type": "BertNormalizer", "clean_text": flag(chance), "handle_chinese_chars": flag(chance),
            "strip_accents": chance.choice((None, True)), "lowercase": flag(chance),
        },
        charsmap(chance),
    ]  # fmt: skip
    return chance.choice(kinds)


def pre_tokenizer(chance: random.Random) -> dict[str, Any]:
    behavior = chance.choice(("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"))
    plain = ("BertPreTokenizer", "Whitespace", "WhitespaceSplit", "UnicodeScripts")
    scheme = chance.choice(("first", "never", "always"))
    kinds: list[dict[str, Any]] = [
        {"type": chance.choice(plain)},
        {"type": "Split", "pattern": searched(chance), "behavior": behavior, "invert": flag(chance)},
        {"type": "Split", "pattern": searched(chance), "behavior": behavior, "invert": flag(chance)},
        {"type": "ByteLevel", "add_prefix_space": flag(chance), "trim_offsets": True, "use_regex": flag(chance)},
        {"type": "Metaspace", "replacement": chance.choice(LETTERS), "prepend_scheme": scheme, "split": flag(chance)},
        {"type": "Punctuation", "behavior": behavior},
        {"type": "Digits", "individual_digits": flag(chance)},
        {"type": "FixedLength", "length": chance.choice((0, 1, 3, 10**9))},
        {"type": "CharDelimiterSplit", "delimiter": chance.choice(LETTERS)},
    ]
    return chance.choice(kinds)


def decoder(chance: random.Random) -> dict[str, Any]:
    kinds: list[dict[str, Any]] = [
        {"type": chance.choice(("Fuse", "ByteFallback"))},
        {"type": "Replace", "pattern": searched(chance), "content": text(chance)},
        {"type": "Strip", "content": "a", "start": chance.choice((0, 1, 2**40)), "stop": chance.choice((0, 0, 5))},
        {"type": "BPEDecoder", "suffix": text(chance)},
        {"type": "WordPiece", "prefix": text(chance), "cleanup": flag(chance)},
        {"type": "CTC", "pad_token": text(chance), "word_delimiter_token": text(chance), "cleanup": flag(chance)},
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
        {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True},
    ]
    return chance.choice(kinds)


def model(chance: random.Random) -> dict[str, Any]:
    tokens = [*BPE["vocab"], *{text(chance) for _ in range(10)} - BPE["vocab"].keys()]
    ids = {token: id for id, token in enumerate(tokens)}
    merges = [[a, b] for a in tokens for b in tokens if a + b in ids and a and b and chance.random() < 0.9]
    prefix, most = chance.choice(("", "", "a", "##")), chance.choice((1, 100, 10**12))
    kinds: list[dict[str, Any]] = [
        {
            "type": "BPE", "vocab": ids, "merges": merges, "unk_token": chance.choice((None, "[UNK]", "?")),
            "continuing_subword_prefix": prefix, "byte_fallback": flag(chance), "fuse_unk": flag(chance),
            "ignore_merges": flag(chance), "dropout": chance.choice((None, 0.5, 1.0)),
        },
        {"type": "WordLevel", "vocab": ids, "unk_token": chance.choice(("", "[UNK]"))},
        {
            "type": "WordPiece", "vocab": ids, "unk_token": "[UNK]", "continuing_subword_prefix": prefix,
            "max_input_chars_per_word": most,
        },
        {
            "type": "Unigram", "vocab": [[token, chance.choice((-1, 0.0, -1e9, 1e11))] for token in tokens],
            "unk_id": chance.choice((None, 0, 1, 99)), "byte_fallback": flag(chance),
        },
    ]  # fmt: skip
    return chance.choice(kinds)


def several(chance: random.Random, one: Any, members: str) -> Any:
    """None, one, or several, the same again and again among them."""
    if chance.random() < 0.3:
        return None
    steps = [one(chance) for _ in range(chance.choice((1, 1, 2, 3)))] * chance.choice((1, 1, 1, 2, 12, 60))
    return steps[0] if len(steps) == 1 else {"type": "Sequence", members: steps}


def spoilt(content: Any, chance: random.Random) -> Any:
    """Return the tokenizer with one value replaced by a hostile one."""
    content = copy.deepcopy(content)
    here = content
    for _ in range(20):
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        if not keys:
            break
        key = chance.choice(keys)
        if isinstance(here[key], dict | list) and chance.random() < 0.8:
            here = here[key]
            continue
        here[key] = chance.choice(NASTY)
        break
    return content


def random_tokenizer(seed: int) -> Any:
    chance = random.Random(seed)
    content = {
        **SMALL,
        "added_tokens": [
            {"id": 50 + n, "content": text(chance), **{name: flag(chance) for name in FLAGS}}
            for n in range(chance.choice((0, 0, 1, 4)))
        ],
        "normalizer": several(chance, normalizer, "normalizers"),
        "pre_tokenizer": several(chance, pre_tokenizer, "pretokenizers"),
        "decoder": several(chance, decoder, "decoders"),
        "model": model(chance),
    }
    return spoilt(content, chance) if chance.random() < 0.3 else content


@pytest.mark.slow
@pytest.mark.fuzz
def test_what_is_accepted_does_no_harm() -> None:
    start, tried, accepted = random.SystemRandom().getrandbits(48) if FUZZ_SECONDS else 0, 0, 0
    end = time.monotonic() + FUZZ_SECONDS
    waiting = {seed: understood for seed in SEEDS if (understood := _understood(seed))}
    while (more := tried < COUNT or time.monotonic() < end) or waiting:
        while more and len(waiting) < TOGETHER:
            tried += 1
            if rebuilt := _understood(start + tried):
                waiting[start + tried] = rebuilt
            more = tried < COUNT or time.monotonic() < end
        assert last_before_the_end(waiting, SENTENCES) == "done"
        for content in [*waiting.values()][:TRIED]:
            _tried(content)
        accepted += len(waiting)
        waiting = {}
    assert 20 < accepted < tried  # neither all nor none


def test_harm_would_be_seen() -> None:
    """One of the attacks, unchanged, follows a harmless tokenizer."""
    whole = foreign.rebuilt(SMALL)
    attack = {**whole, **ATTACKS["a table that claims 4 GB"]}
    contents = {1: json.dumps(whole), 2: json.dumps(attack), 3: json.dumps(whole)}
    assert last_before_the_end(contents, SENTENCES) == "2 (SIGABRT)"


def _understood(seed: int) -> str:
    """Return the tokenizer that is read from a case, as JSON; "" if the case is refused."""
    start = time.monotonic()
    try:
        return json.dumps(foreign.rebuilt(random_tokenizer(seed)))
    except ValueError as error:
        assert 5 < len(str(error)) < 700 and "\n" not in str(error), seed
        return ""
    finally:
        assert time.monotonic() - start < SLOWEST, seed


def _tried(content: str) -> None:
    try:
        trial.try_tokenizer(content)
    except ValueError as error:
        assert "ended the process" not in str(error) and "takes over" not in str(error), content
