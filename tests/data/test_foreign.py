"""A stranger's tokenizer.json is opened, or refused in one sentence; it never ends or hangs the process."""

from __future__ import annotations

import base64
import json
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers

from headlight import tokenizer_json as foreign
from headlight.checkpoints import load_tokenizer
from headlight.tokenizer_json import charsmap, patterns, trial
from headlight.tokenizer_json.known import is_own
from tests.data.limited import fates
from transformer.tokenizers import SPACE, Tokenizer, TokenizerKind

TOKENS = ["[PAD]", "[UNK]", "[SOS]", "[EOS]", *"abn ", "aa", "ab"]
BPE = {"type": "BPE", "vocab": {token: id for id, token in enumerate(TOKENS)}, "merges": [["a", "b"]]}
SMALL: dict[str, Any] = {"model": {**BPE, "unk_token": "[UNK]"}, "added_tokens": []}


def replacing(pattern: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": pattern}, "content": content}


def splitting(pattern: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def table(trie: list[int], texts: bytes, size: int | None = None) -> dict[str, Any]:
    content = struct.pack("<I", 4 * len(trie) if size is None else size) + struct.pack(f"<{len(trie)}I", *trie) + texts
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(content).decode()}


def doubling(letters: str, times: int) -> list[dict[str, Any]]:
    return [replacing(letters[n % len(letters)], letters[(n + 1) % len(letters)] * 2) for n in range(times)]


def unigram(pieces: list[Any], **values: Any) -> dict[str, Any]:
    return {"model": {"type": "Unigram", "vocab": pieces, "unk_id": 0, **values}}


FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
ATTACKS: Mapping[str, dict[str, Any]] = {
    "a table that claims 4 GB": {"normalizer": table([0] * 5, b"", 0xFFFFFFFF)},
    "a text doubled 34 times": {"normalizer": {"type": "Sequence", "normalizers": doubling("a", 34)}},
    "other letters doubled": {"normalizer": {"type": "Sequence", "normalizers": doubling("bcdefgh", 34)}},
    "doubled when decoded": {"decoder": {"type": "Sequence", "decoders": doubling("a", 34)}},
    "doubled while it is cut": {
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                step
                for n in range(40)
                for step in (splitting("."), {"type": "Metaspace", "replacement": "ab"[n % 2], "split": True})
            ],
        }
    },
    "a pattern of patterns": {"pre_tokenizer": splitting("(a+)+$")},
    "a pattern that is slow at most texts": {"pre_tokenizer": splitting(r"\w*\w*\w*\w*[^\w!]")},
    "an added token that becomes nothing": {
        "normalizer": replacing("\n", ""),
        "added_tokens": [
            {"id": 50, "content": "\n", **FLAGS, "normalized": True},
            {"id": 51, "content": "!aaxa", **FLAGS, "normalized": True, "lstrip": True},
        ],
    },
    "a token as long as a book": unigram([["<unk>", 0.0], ["a" * 3_000_000, -1.0]]),
}


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return fates(tmp_path_factory.mktemp("attacks"), {name: {**SMALL, **case} for name, case in ATTACKS.items()})


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused_in_a_sentence(attacked: dict[str, str], name: str) -> None:
    assert attacked[name].startswith("refused:") and len(attacked[name]) < 500
    assert "\n" not in attacked[name]


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"normalizer": {"type": "Lua"}}, "it uses the normalizer 'Lua', which is not supported"),
        ({"pre_tokenizer": {"type": "X" * 999}}, "it uses the pre-tokenizer 'XXX"),
        ({"decoder": {"no": "type"}}, "it has a decoder without a type"),
        ({"normalizer": {"type": "Strip", "strip_left": 1, "strip_right": True}}, "'strip_left', which must be true"),
        ({"pre_tokenizer": {"type": "FixedLength", "length": 0}}, "'length', which must be a whole number from 1"),
        ({"pre_tokenizer": splitting("(a+)+$")}, r"'Split' with the pattern '\(a\+\)\+\$', which repeats a group"),
        ({"normalizer": replacing("", "a")}, "'pattern', which must be a text or a regular expression"),
        ({"model": {"type": "Magic"}}, "it uses the model 'Magic', which is not supported"),
        ({"model": []}, "it has no model"),
        ({"model": {**BPE, "vocab": {"a": 4_294_967_294}}}, "has the id 4294967294; ids are from 0 to 1,999,999"),
        ({"model": {**BPE, "vocab": {"a": 0, "b": 0}}}, "two of its tokens have the same id"),
        ({"model": {**BPE, "merges": [["a", "n"]]}}, "it merges 'a' and 'n', which are not tokens, or make none"),
        ({"model": {**BPE, "merges": ["a b n"]}}, "it has the merge 'a b n', which is not a pair"),
        ({"model": {**BPE, "vocab": {"\ud800": 0}}}, "which is not a text of at most 1,000 bytes"),
        (unigram([["a", float("nan")]]), "which is not a piece with a score"),
        (unigram([["a", -1.0]], unk_id=1), "'unk_id', which must be a whole number from 0 to 0"),
        (
            {"added_tokens": [{"id": 9, "content": " ", **FLAGS, "rstrip": True}]},
            "its added tokens take the spaces after them",
        ),
        ({"added_tokens": [{"id": 0, "content": 7}]}, "an added token has 7 as its 'content'"),
    ],
)
def test_what_is_not_understood_is_refused_by_its_name(part: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as refused:
        foreign.opened({**SMALL, **part})
    assert len(str(refused.value)) < 400


def test_what_is_chance_or_stands_around_a_text_is_left_out() -> None:
    unknown = {"x": 1}
    content = {
        **SMALL,
        "model": {**SMALL["model"], "dropout": 0.9, **unknown},
        "truncation": {"max_length": 1},
        "padding": {"strategy": {"Fixed": 2**60}},
        "post_processor": {"type": "Sequence", "processors": []},
        **unknown,
    }
    opened = foreign.opened(content)
    assert opened.truncation is None and opened.padding is None and opened.post_processor is None
    assert opened.model.dropout is None and opened.encode("ab").tokens == ["ab"]


def test_models_of_old_that_do_not_say_their_kind() -> None:
    model = {name: value for name, value in SMALL["model"].items() if name != "type"}
    assert foreign.rebuilt({"model": {**model, "merges": ["#version: 0.2", "a b"]}})["model"]["merges"] == [["a", "b"]]
    assert foreign.rebuilt({"model": {"vocab": [["a", -1]], "unk_id": None}})["model"]["type"] == "Unigram"
    words = {"vocab": {"a": 0}, "unk_token": "a"}
    assert foreign.rebuilt({"model": words})["model"]["type"] == "WordLevel"
    parts = {**words, "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    assert foreign.rebuilt({"model": parts})["model"]["type"] == "WordPiece"


NORMALIZERS = [
    normalizers.BertNormalizer(strip_accents=True), normalizers.Lowercase(), normalizers.NFC(), normalizers.NFD(),
    normalizers.NFKC(), normalizers.NFKD(), normalizers.Nmt(), normalizers.Prepend("▁"), normalizers.Replace("a", "b"),
    normalizers.Strip(), normalizers.StripAccents(), normalizers.ByteLevel(),
    normalizers.Sequence([normalizers.NFKD(), normalizers.Lowercase(), normalizers.StripAccents()]),
]  # fmt: skip
PRE_TOKENIZERS = [
    pre_tokenizers.BertPreTokenizer(), pre_tokenizers.ByteLevel(), pre_tokenizers.CharDelimiterSplit("-"),
    pre_tokenizers.Digits(True), pre_tokenizers.FixedLength(3), pre_tokenizers.Metaspace(),
    pre_tokenizers.Punctuation("removed"), pre_tokenizers.Split("a", "removed", invert=True),
    pre_tokenizers.UnicodeScripts(), pre_tokenizers.Whitespace(), pre_tokenizers.WhitespaceSplit(),
]  # fmt: skip
DECODERS = [
    decoders.BPEDecoder(), decoders.ByteFallback(), decoders.ByteLevel(), decoders.CTC(), decoders.Fuse(),
    decoders.Metaspace(), decoders.Replace("a", "b"), decoders.Strip(" ", 1, 0), decoders.WordPiece(),
]  # fmt: skip


@pytest.mark.parametrize("step", [*NORMALIZERS, *PRE_TOKENIZERS, *DECODERS], ids=lambda step: type(step).__name__)
def test_every_step_of_the_library_stays_as_it_is(step: Any) -> None:
    inner = tokenizers.Tokenizer(models.BPE(dict(BPE["vocab"]), [("a", "b")], unk_token="[UNK]"))  # type: ignore[call-overload]
    for part, kind in (
        ("normalizer", normalizers.Normalizer),
        ("pre_tokenizer", pre_tokenizers.PreTokenizer),
        ("decoder", decoders.Decoder),
    ):
        if isinstance(step, kind):
            setattr(inner, part, step)
    content = json.loads(inner.to_str())
    assert foreign.rebuilt(content) == {
        **content,
        "model": {name: value for name, value in content["model"].items() if value is not None},
    }


@pytest.mark.parametrize(
    "pattern",
    [
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        r"(?i:'s|'t|'re|'ve)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)",
        r" ?[^(\s|[.,!?…。，、।۔،])]+",
        r"\d{1,3}(?=(?:\d{3})*\b)",
        r"^ +| +$",
        r"(?<![^\x{61}\x{3b1}])(?!(?:\x{62}\x{63}|\x{64})(?![^\x{61}]))[^\x{61}]{2,}",
        r"[一-龥぀-ゟ゠-ヿ]+",
        " {2,}",
        ".",
    ],
)
def test_patterns_that_are_in_use_are_understood(pattern: str) -> None:
    foreign.opened({**SMALL, "pre_tokenizer": splitting(pattern)})


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+$", "(a*)*b", "(a|a)+b", "(a|aa)*$", "(?:a?)+b", "a+a+b", r"\s*\s*\s*x", r"(x+x+)+y", "(a|b|ab)*c",
     "(.*)(.*)x", "((a{1,9}){1,9}){1,9}b", "(?=a*)*b", "a**b", "a{5}{5}", r"(a)\1", r"(?<n>a)\g<n>", "(?>a+)b",
     "(?~a)", "[a", "a)", "(a", "(?(1)a|b)", r"\R", "a{1001}", "(" * 30 + "a" + ")" * 30],
)  # fmt: skip
def test_patterns_that_may_take_for_ever_are_not(pattern: str) -> None:
    with pytest.raises(ValueError, match="pattern"):
        foreign.opened({**SMALL, "pre_tokenizer": splitting(pattern)})


def test_the_costs_of_a_pattern() -> None:
    assert patterns.cost("a+").work.per_character == 0  # each character once
    assert patterns.cost("a+b").work.per_character == 2  # a run is read, and given back, from each of its characters
    assert patterns.cost("(ab|c)d?").shortest == 1
    assert patterns.cost("|".join(f"a{n}" for n in range(500))).ways.fixed == 3  # one of each length


@pytest.mark.parametrize(
    ("trie", "texts", "message"),
    [
        ([1 << 10], b"a\0", "points out of itself"),  # a root whose children lie beyond the end
        ([(256 << 10) | 1 << 8, *[0] * 511], b"", "points out of itself"),  # a replacement where there are none
        ([(256 << 10) | 1 << 8, *[0] * 255, 1, *[0] * 255], "é\0".encode(), "middle of a character"),
        ([(256 << 10) | 1 << 8, *[0] * 511], b"a" * 5_000 + b"\0", "makes over 64 characters of one"),
        ([0] * 256, b"\xff\0", "not UTF-8"),
    ],
)
def test_a_table_is_followed_before_it_is_used(trie: list[int], texts: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        foreign.opened({**SMALL, "normalizer": table(trie, texts)})


def test_the_tables_of_sentencepiece_are_whole(tmp_path: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    from headlight.importers import sentencepiece_file

    (tmp_path / "text.txt").write_text("one two three four five six\n" * 20)
    for rule in ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf"):
        sentencepiece.SentencePieceTrainer.train(
            input=str(tmp_path / "text.txt"), model_prefix=str(tmp_path / rule), vocab_size=30, minloglevel=2,
            normalization_rule_name=rule, hard_vocab_limit=False,
        )  # fmt: skip
        precompiled = sentencepiece_file.read(tmp_path / f"{rule}.model").charsmap
        assert charsmap.growth(base64.b64encode(precompiled).decode()) == 18


@pytest.mark.parametrize("kind", ["bpe", "words", "characters"])
def test_our_own_are_opened_at_once(tmp_path: Path, kind: TokenizerKind, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(text: str) -> None:
        raise AssertionError("it was tried")

    monkeypatch.setattr(foreign, "try_tokenizer", fail)
    trained = Tokenizer.train(["a man walks .", "a girl sings !"], kind, 60, 1)
    trained.save(tmp_path / "tokenizer.json")
    assert load_tokenizer(tmp_path / "tokenizer.json").encode("a girl") == trained.encode("a girl")
    for shipped in sorted(Path("checkpoints").glob("*/*tokenizer.json")):
        load_tokenizer(shipped)
    listed = Tokenizer.of_words(["<pad>", "<s>", "</s>", "a"], 0, 1, 2)
    listed.save(tmp_path / "listed.json")
    assert load_tokenizer(tmp_path / "listed.json", 0, 1, 2).encode("a") == [3]


def test_our_own_with_a_token_for_each_byte_too() -> None:
    bytes_ = {f"<0x{byte:02X}>": len(TOKENS) + byte for byte in range(256)}
    inner = tokenizers.Tokenizer(models.BPE({**BPE["vocab"], **bytes_}, [], unk_token="[UNK]", byte_fallback=True))  # type: ignore[dict-item]
    metaspace = pre_tokenizers.Metaspace(SPACE, prepend_scheme="always")
    inner.pre_tokenizer = pre_tokenizers.Sequence([metaspace, pre_tokenizers.Punctuation("isolated")])
    inner.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse(), decoders.Metaspace(SPACE, "always")])
    rebuilt = foreign.rebuilt(json.loads(inner.to_str()))
    assert is_own(rebuilt) and rebuilt["model"]["byte_fallback"] is True


def test_others_are_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[bytes] = []
    run = trial._run_child
    monkeypatch.setattr(trial, "_run_child", lambda content: runs.append(content) or run(content))
    content = {**SMALL, "normalizer": {"type": "Prepend", "prepend": "tried once"}}
    assert not is_own(foreign.rebuilt(content))
    foreign.opened(content)
    foreign.opened(content)
    assert len(runs) == 1


def test_whatever_the_library_does_the_process_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The last line of defence alone, with a stranger's file as it is."""
    plain = {"version": "1.0", "truncation": None, "padding": None, "post_processor": None, "pre_tokenizer": None}
    content = {**plain, **SMALL, "normalizer": None, "decoder": None}
    huge = json.dumps({**content, "normalizer": table([0] * 5, b"", 0xFFFFFFFF)})
    assert "ended the process" in trial._run_child(huge.encode())
    assert "EOF while parsing" in trial._run_child(b"{")
    hanging = tmp_path / "child.py"
    hanging.write_text("import time; time.sleep(60)")
    monkeypatch.setattr(trial, "_CHILD", hanging)
    monkeypatch.setattr(trial, "_PATIENCE_FACTOR", 0.01)
    assert "takes over" in trial._run_child(b"{}")


def test_the_process_that_tries_inherits_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    spy = tmp_path / "child.py"
    spy.write_text("import json, os\nprint('tried' + json.dumps([len(os.listdir('/proc/self/fd')), *os.environ]))")
    monkeypatch.setattr(trial, "_CHILD", spy)
    monkeypatch.setenv("HEADLIGHT_PASSWORD", "secret")
    inherited = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(inherited, True)
    try:
        files, *names = json.loads(trial._run_child(b"{}").rstrip("…"))
    finally:
        os.close(inherited)
    assert files == 4  # in, out, errors, and the folder that is listed
    assert set(names) <= {*trial._PASSED_VARIABLES, *trial._SETTINGS, "LC_CTYPE"}


def test_a_failure_at_a_text_is_a_sentence() -> None:
    """The library may panic on a text, and a panic is no Exception."""
    inner = foreign.opened(SMALL)
    inner.pre_tokenizer = pre_tokenizers.Split(tokenizers.Regex("(a+)+$"), "isolated")  # as it came in before
    tokenizer = Tokenizer(inner, 0, 2, 3)
    with pytest.raises(ValueError, match="The model's tokenizer fails at the text"):
        tokenizer.encode("a" * 60 + "!")
    inner.decoder = decoders.Strip(" ", 0, 5)
    with pytest.raises(ValueError, match="The model's tokenizer fails at its tokens"):
        Tokenizer(inner, 0, 2, 3).decode([7, 7])
