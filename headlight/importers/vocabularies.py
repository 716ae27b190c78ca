"""The vocabularies that come beside a model from elsewhere: a tokenizer, or a list of tokens in one of four forms."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tokenizers import normalizers, pre_tokenizers

from headlight.checkpoints import load_tokenizer
from headlight.importers.health import misfits
from headlight.importers.limits import MAX_TOKENS
from headlight.importers.pickled_vocabularies import ZIP_SIGNATURE, is_pickle, read_pickled
from headlight.importers.questions import Answers
from transformer.checkpoint.weights import Refused
from transformer.config import ModelConfig
from transformer.files import MAX_JSON_BYTES, read_bytes
from transformer.quoting import quoted, short
from transformer.tokenizers import Tokenizer

UNKNOWN_TOKENS = ("[UNK]", "<unk>", "<UNK>", "[unk]", "UNK", "unk", "<oov>")
SPECIAL_TOKENS = {  # as other people's vocabularies spell them
    "padding": ("[PAD]", "<pad>", "<PAD>", "<blank>", "[pad]"),
    "the start": ("[SOS]", "<sos>", "<SOS>", "<bos>", "<s>", "[BOS]", "[CLS]"),
    "the end": ("[EOS]", "<eos>", "<EOS>", "</s>", "[SEP]"),
}
_PIECE_PREFIXES = ("▁", "Ġ", "##")  # prefixes of word pieces; "@@" and "</w>" are suffixes


def open_vocabularies(answers: Answers, config: ModelConfig) -> tuple[tuple[Tokenizer, Tokenizer], tuple[str, ...]]:
    """Return the source's and the target's tokenizer (one object for one file), and warnings about them."""
    paths, sizes = (answers.source_vocab, answers.target_vocab), (config.source_vocab_size, config.target_vocab_size)
    warnings = _without([side for side, path in zip(("source", "target"), paths, strict=True) if path is None])
    if paths[0] is not None and paths[0] == paths[1] and sizes[0] == sizes[1] and not _is_pair(paths[0]):
        shared, doubts = _opened("", paths[0], sizes[0], config)
        return (shared, shared), tuple(doubts)
    source, source_doubts = _opened("source", paths[0], sizes[0], config)
    target, target_doubts = _opened("target", paths[1], sizes[1], config)
    return (source, target), (*warnings, *source_doubts, *target_doubts)


def _opened(side: str, path: Path | None, size: int, config: ModelConfig) -> tuple[Tokenizer, list[str]]:
    if path is None:
        return Tokenizer.of_ids(size, config.pad_id, config.sos_id, config.eos_id), []
    tokenizer = open_vocabulary(path, config, side)
    doubts = [*misfits(side, tokenizer, size), *_contradictions(side, tokenizer, config)]
    return tokenizer if tokenizer.vocab_size == size else tokenizer.of_size(size), doubts


def _without(sides: list[str]) -> list[str]:
    if not sides:
        return []
    missing = "vocabulary" if len(sides) == 2 else f"{sides[0]} vocabulary"
    return [
        f"No {missing} came with it, so ids are shown instead of words, and a text is typed as ids with spaces "
        "between them."
    ]


def open_vocabulary(path: Path, config: ModelConfig, side: str = "") -> Tokenizer:
    """Return the tokenizer of a `tokenizer.json`, a list or an object (token: id) in JSON, a text with one token per
    line, or a pickle of either or of a torchtext vocabulary, of which nothing is run; of a pair, that of the `side`.

    Raises Refused for anything else, and for another pickle with the way to convert it.
    """
    ids = (config.pad_id, config.sos_id, config.eos_id)
    values = _values(path, side)
    if isinstance(values, dict) and isinstance(values.get("model"), dict):
        try:
            return load_tokenizer(path, *ids)
        except ValueError as error:
            raise Refused(str(error)) from None
    words = _in_order(path, values) if isinstance(values, dict) else values
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words) or not any(words):
        raise Refused(
            f"{path.name} is not a vocabulary.",
            remedy="Give a tokenizer.json, a JSON list of tokens, a JSON object of tokens and ids, a pickle of one of "
            "these or of torchtext's, or a file with one token per line.",
        )
    return _of_words(path, words, ids)


def _is_pair(path: Path) -> bool:
    """Return whether a file has one vocabulary for the source and another for the target."""
    return bool(_values(path, "source") != _values(path, "target"))


def _values(path: Path, side: str) -> Any:
    """Return the content of a vocabulary's file: a list of tokens, an object of tokens and ids, or any other JSON."""
    try:
        raw = read_bytes(path, MAX_JSON_BYTES)
    except OSError as error:
        raise Refused(f"The vocabulary {short(path)} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise Refused(str(error)) from None
    if is_pickle(raw):
        try:
            return read_pickled(path, side)
        except Refused as refused:
            raise Refused(
                f"{path.name} is a pickle of more than words and ids. {refused.what}",
                remedy="If you made it yourself, write it as JSON with the command.",
                command=_conversion(path, with_torch=raw.startswith(ZIP_SIGNATURE)),
            ) from None
    try:
        content = raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise Refused(f"{path.name} is not text in UTF-8.", remedy="Save it as UTF-8.") from None
    if (values := _json(content)) is not None:
        return values
    words = content.removesuffix("\n").split("\n")
    if len(words) > 1 and all("\t" in word for word in words):
        raise Refused(f"{path.name} has several columns.", remedy="Give a file with one token a line.")
    return words


def _conversion(path: Path, with_torch: bool) -> str:
    """Return the shell command that converts pickled vocabularies to JSON files beside them."""
    reading = "torch.load(file, weights_only=False)" if with_torch else "pickle.load(file)"
    name, stem = json.dumps(str(path)), json.dumps(str(path.with_suffix("")))
    program = (  # in double quotes alone, since the shell's are single ones
        f'import json, {"torch" if with_torch else "pickle"}; file = open({name}, "rb"); loaded = {reading}; '
        "loaded = loaded if isinstance(loaded, tuple) else (loaded,); "
        '[json.dump(v.get_stoi() if hasattr(v, "get_stoi") else dict(getattr(v, "stoi", v)), '
        f'open({stem} + f".{{n}}.json", "w")) for n, v in enumerate(loaded, 1)]'
    )
    return f"python -c {shlex.quote(program)}"


def _json(content: str) -> Any:
    """Parse JSON; None where the content is not JSON, or a lone word or number such as the first line of a text."""
    try:
        values = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, list | dict) else None


def _in_order(path: Path, values: dict[str, Any]) -> list[str]:
    """Return the tokens in the order of their ids; an id without a token is "[57]"."""
    ids = list(values.values())
    if not ids or not all(type(id) is int and 0 <= id < MAX_TOKENS for id in ids):
        raise Refused(
            f"{path.name} gives its tokens ids that are not whole numbers from 0 to {MAX_TOKENS - 1:,}.",
            remedy='Give a JSON object such as {"<pad>": 0, "the": 1}.',
        )
    if len(set(ids)) < len(ids):
        raise Refused(f"{path.name} gives the same id to two tokens.", remedy="Each needs its own.")
    tokens = {id: token for token, id in values.items()}
    return [tokens.get(id, f"[{id}]") for id in range(max(ids) + 1)]


def _of_words(path: Path, words: list[str], ids: tuple[int, int, int]) -> Tokenizer:
    """Return a tokenizer that looks up words and punctuation marks, lowercased where the vocabulary is."""
    if len(words) > MAX_TOKENS:
        raise Refused(f"{path.name} has {len(words):,} tokens; at most {MAX_TOKENS:,} are read.")
    pieces = sum(word.startswith(_PIECE_PREFIXES) or word.endswith(("@@", "</w>")) for word in words)
    if pieces > len(words) / 10:
        raise Refused(
            f"{path.name} lists parts of words, and a list does not say how words are cut into them.",
            remedy="Give the tokenizer.json instead.",
        )
    unknown = next((words.index(name) for name in UNKNOWN_TOKENS if name in words), None)
    try:
        tokenizer = Tokenizer.of_words(words, *ids, unk_id=unknown)
    except ValueError as error:
        raise Refused(str(error)) from None
    tokenizer.inner.pre_tokenizer = pre_tokenizers.Whitespace()
    special = {name for names in SPECIAL_TOKENS.values() for name in names} | set(UNKNOWN_TOKENS)
    if not any(word != word.lower() for word in words if word not in special):
        tokenizer.inner.normalizer = normalizers.Lowercase()
    return tokenizer


def _contradictions(side: str, tokenizer: Tokenizer, config: ModelConfig) -> Iterator[str]:
    """Yield a warning for each special token whose id in the vocabulary differs from the answer."""
    vocabulary = tokenizer.inner.get_vocab()
    tokens = {id: token for token, id in vocabulary.items()}
    for (role, names), id in zip(SPECIAL_TOKENS.items(), (config.pad_id, config.sos_id, config.eos_id), strict=True):
        own = [name for name in names if name in vocabulary]
        if own and tokens.get(id) not in own:
            yield (
                f"Id {id} is given as {role}, but the {side} vocabulary has {own[0]} at {vocabulary[own[0]]} and "
                f"{quoted(tokens.get(id, 'nothing'))} at {id}."
            ).replace("  ", " ")
