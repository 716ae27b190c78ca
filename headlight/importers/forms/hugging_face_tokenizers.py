"""The tokenizers beside Hugging Face models: `tokenizer.json`, SentencePiece models, byte-level vocabularies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from tokenizers import AddedToken

from headlight import tokenizer_json
from headlight.checkpoints import load_tokenizer
from headlight.importers import sentencepiece_file
from headlight.importers.forms.hugging_face_config import HuggingFaceConfig
from headlight.importers.forms.languages import M2M100, MBART, MBART_50, PLBART, PLBART_MULTI, Languages
from headlight.importers.limits import MAX_TOKENS
from headlight.importers.sentencepiece_file import PieceType, SentencePiece
from headlight.importers.subwords import Ids, lines_of, with_word_end, word_end_bpe
from headlight.tokenizer_json import moses
from transformer.checkpoint.weights import Refused
from transformer.files import read_bytes, read_json
from transformer.tokenizers import Tokenizer

WHOLE, TARGET, PIECES, FAIRSEQ = "tokenizer.json", "target_tokenizer.json", "vocab.json", "sentencepiece.bpe.model"
SPIECE, MERGES, WORD_PIECES = "spiece.model", "merges.txt", "vocab.txt"
FSMT = ("vocab-src.json", "vocab-tgt.json")
MARIAN = ("source.spm", "target.spm")
FAIRSEQ_FIRST = ("<s>", "<pad>", "</s>", "<unk>")  # where SentencePiece has <unk> <s> </s>
MASK = "<mask>"
PEGASUS_OFFSET = 103
MAX_MERGES_BYTES = 2**26
NO_TOKENIZER = "The folder has no tokenizer: tokens are shown as ids, and a text is ids with spaces."
WITHOUT_MOSES = (
    "Moses, which cuts the texts of this model into words, is not installed, or cannot know its languages: install "
    "sacremoses and import it again, or put spaces around punctuation yourself, as in “Hello , world !”."
)


def has_tokenizer(folder: Path) -> bool:
    return any((folder / name).exists() for name in (WHOLE, PIECES, FAIRSEQ, SPIECE, WORD_PIECES, FSMT[0]))


def tokenizer_file(folder: Path, ids: Ids, size: int, name: str = WHOLE) -> Tokenizer | None:
    """Open the `tokenizer.json` of a folder; None where it has none."""
    if not (folder / name).exists():
        return None
    try:
        return load_tokenizer(folder / name, *ids).of_size(size)
    except ValueError as error:
        raise Refused(str(error)) from None


def require_unknown(tokens: Mapping[str, int], file_name: str, unknown: str = "<unk>") -> None:
    """Raise Refused for a vocabulary without the token that stands for unknown words."""
    if unknown not in tokens:
        raise Refused(f"{file_name} has no token {unknown}, which stands for what the model does not know.")


def _needs_own_files(folder: Path, *names: str) -> bool:
    """Return whether to open the files `names`: a folder has them all, and no `tokenizer.json`, which comes first."""
    return not (folder / WHOLE).exists() and all((folder / name).exists() for name in names)


def whole(config: HuggingFaceConfig, ids: Ids, size: int) -> Tokenizer | None:
    return tokenizer_file(config.folder, ids, size)


def marian(config: HuggingFaceConfig, ids: Ids, sizes: tuple[int, int]) -> tuple[Tokenizer, Tokenizer] | None:
    """Open a SentencePiece model per language with one `vocab.json` or two, or what `export_marian` writes: a
    `tokenizer.json` or two.
    """
    folder = config.folder
    if not all((folder / name).exists() for name in (*MARIAN, PIECES)):
        return _whole(folder, ids, sizes)
    vocabularies = [vocabulary_of(folder / name) for name in _marian_files(folder)]
    source, target = (
        _marian_side(folder / file, vocabulary, ids, size)
        for file, vocabulary, size in zip(MARIAN, vocabularies, sizes, strict=True)
    )
    return source, target


def _whole(folder: Path, ids: Ids, sizes: tuple[int, int]) -> tuple[Tokenizer, Tokenizer] | None:
    """Open a `tokenizer.json` for each language, or one for both; None where there is none."""
    first = tokenizer_file(folder, ids, sizes[0])
    if first is None:
        return None
    second = tokenizer_file(folder, ids, sizes[1], TARGET)
    return first, second or (first if sizes[0] == sizes[1] else first.of_size(sizes[1]))


def _marian_files(folder: Path) -> tuple[str, str]:
    target = "target_vocab.json"
    return PIECES, target if (folder / target).exists() else PIECES


def _marian_side(path: Path, vocabulary: Mapping[str, int], ids: Ids, size: int) -> Tokenizer:
    require_unknown(vocabulary, PIECES)
    inner = sentencepiece_file.tokenizer(sentencepiece_file.read(path), vocabulary, "<unk>", size)
    named = [token for token in vocabulary if _MARIAN_LANGUAGE.fullmatch(token)]
    inner.add_tokens([AddedToken(token, normalized=False) for token in named])  # a person may type them
    return Tokenizer(inner, *ids).of_size(size)


_MARIAN_LANGUAGE = re.compile(">>(.+)<<")


def marian_languages(config: HuggingFaceConfig) -> Languages:
    """Return the languages by code; ">>fra<<" is the token of "fra"."""
    path = config.folder / PIECES
    if not path.exists() or _marian_files(config.folder)[1] != PIECES:
        return {}
    named = ((token, id) for token, id in vocabulary_of(path).items() if token.startswith(">>"))
    matches = ((_MARIAN_LANGUAGE.fullmatch(token), id) for token, id in named)
    return {match[1]: id for match, id in matches if match}


def bart(config: HuggingFaceConfig, ids: Ids, size: int, spaced: bool = False) -> Tokenizer | None:
    """Open byte-level pieces (Radford et al. 2019): `tokenizer.json`, or `vocab.json` with `merges.txt`.

    `spaced` says whether a text begins with a space where tokenizer_config.json does not.
    """
    folder = config.folder
    if not _needs_own_files(folder, PIECES, MERGES):
        return tokenizer_file(folder, ids, size)
    stated = config.tokenizer.get("add_prefix_space")
    first = stated if isinstance(stated, bool) else spaced
    return byte_level(vocabulary_of(folder / PIECES), folder / MERGES, ids, size, first)


def byte_level(vocabulary: Mapping[str, int], merges: Path, ids: Ids, size: int, spaced: bool = False) -> Tokenizer:
    """Return a tokenizer of byte-level pieces and the merges in a file; `spaced` as in `bart`."""
    in_bytes = {"type": "ByteLevel", "add_prefix_space": spaced, "trim_offsets": True, "use_regex": True}
    model = {"type": "BPE", "vocab": dict(vocabulary), "merges": _merges(merges)}
    try:
        inner = tokenizer_json.opened({"model": model, "pre_tokenizer": in_bytes, "decoder": in_bytes})
    except ValueError as error:
        raise Refused(f"{merges.name} and the vocabulary do not fit together: {error}.") from None
    inner.add_special_tokens([token for token in (*FAIRSEQ_FIRST, MASK) if token in vocabulary])
    return Tokenizer(inner, *ids).of_size(size)


def bert(config: HuggingFaceConfig, ids: Ids, size: int) -> Tokenizer | None:
    """Open `tokenizer.json`, or the word pieces (Wu et al. 2016) of `vocab.txt`, a line each; "##" marks a piece that
    continues a word.
    """
    if not _needs_own_files(config.folder, WORD_PIECES):
        return tokenizer_file(config.folder, ids, size)
    path = config.folder / WORD_PIECES
    vocabulary = {token: id for id, token in enumerate(lines_of(path))}
    unknown = config.token("unk_token") or "[UNK]"
    require_unknown(vocabulary, path.name, unknown)
    flags = {name: config.tokenizer.get(name) for name in ("do_lower_case", "tokenize_chinese_chars", "strip_accents")}
    lower, chinese, strip = (value if isinstance(value, bool) else None for value in flags.values())
    cut = {"clean_text": True, "handle_chinese_chars": chinese is not False, "strip_accents": strip}
    model = {"type": "WordPiece", "vocab": vocabulary, "unk_token": unknown, "continuing_subword_prefix": "##"}
    try:
        inner = tokenizer_json.opened(
            {
                "normalizer": {"type": "BertNormalizer", **cut, "lowercase": lower is not False},
                "pre_tokenizer": {"type": "BertPreTokenizer"},
                "model": {**model, "max_input_chars_per_word": 100},
                "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
            }
        )
    except ValueError as error:
        raise Refused(f"{path.name} is not a vocabulary of word pieces: {error}.") from None
    usual = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
    named = [config.token(name) or text for name, text in usual.items()]
    inner.add_special_tokens([token for token in (unknown, *named) if token in vocabulary])
    return Tokenizer(inner, *ids).of_size(size)


def blenderbot_small(config: HuggingFaceConfig, ids: Ids, size: int) -> Tokenizer | None:
    """Open `vocab.json` with `merges.txt`: words in small letters, of which all pieces but the last end in "@@"."""
    folder = config.folder
    if not _needs_own_files(folder, PIECES, MERGES):
        return tokenizer_file(folder, ids, size)
    special = ("__start__", "__end__", "__unk__", "__null__")
    listed = vocabulary_of(folder / PIECES)
    vocabulary = {token if token in special else with_word_end(token): id for token, id in listed.items()}
    steps = {
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Lowercase"},
                {"type": "Replace", "pattern": {"String": "\n"}, "content": " __newln__ "},
            ],
        },
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                _split("[.,!?()]", "MergedWithNext"),
                _split("'", "Isolated"),
                {"type": "WhitespaceSplit"},
            ],
        },
    }
    inner = word_end_bpe(vocabulary, size, _merges(folder / MERGES), MERGES, "__unk__", steps)
    inner.add_special_tokens([token for token in special if token in vocabulary])
    return Tokenizer(inner, *ids).of_size(size)


def fsmt(config: HuggingFaceConfig, ids: Ids, sizes: tuple[int, int]) -> tuple[Tokenizer, Tokenizer] | None:
    """Open two vocabularies with `merges.txt`, for words that are separated by spaces."""
    folder = config.folder
    if not all((folder / name).exists() for name in (*FSMT, MERGES)):
        return _whole(folder, ids, sizes)
    lower = config.tokenizer.get("do_lower_case") is True
    steps = {"normalizer": {"type": "Lowercase"} if lower else None, "pre_tokenizer": {"type": "WhitespaceSplit"}}
    sides: list[Tokenizer] = []
    for name, size, language in zip(FSMT, sizes, _fsmt_languages(config), strict=True):
        vocabulary = vocabulary_of(folder / name)
        inner = word_end_bpe(vocabulary, size, _merges(folder / MERGES), MERGES, "<unk>", steps)
        inner.add_special_tokens([token for token in FAIRSEQ_FIRST if token in vocabulary])
        tokenizer = Tokenizer(inner, *ids).of_size(size)
        if language and moses.is_installed():
            wrapped = moses.with_moses(tokenizer.inner, {"language": language, "normalizes": True})
            tokenizer = Tokenizer(wrapped, *ids, tokenizer.vocab_size)
        sides.append(tokenizer)
    return sides[0], sides[1]


def _fsmt_languages(config: HuggingFaceConfig) -> tuple[str, str]:
    """Return the languages of the source and the target; "" where the folder names none that Moses could know."""
    named = config.values.get("langs") or config.tokenizer.get("langs")
    pair = named if isinstance(named, list) and len(named) == 2 else ("", "")
    source, target = (text if isinstance(text, str) and re.fullmatch("[a-z]{2,3}", text) else "" for text in pair)
    return source, target


def cuts_with_moses(config: HuggingFaceConfig) -> bool:
    """Return whether the texts of an FSMT are cut as Moses cuts them, which needs sacremoses and their languages."""
    return moses.is_installed() and all(_fsmt_languages(config))


def _split(pattern: str, behavior: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": False}


def pieces(config: HuggingFaceConfig, ids: Ids, size: int) -> Tokenizer | None:
    """Open `tokenizer.json`, or a SentencePiece model with its own ids."""
    if not _needs_own_files(config.folder, SPIECE):
        return tokenizer_file(config.folder, ids, size)
    model = sentencepiece_file.read(config.folder / SPIECE)
    tokens = {piece.text: id for id, piece in enumerate(model.pieces)}
    require_unknown(tokens, SPIECE)
    inner = sentencepiece_file.tokenizer(model, tokens, "<unk>", size)
    inner.add_special_tokens([piece.text for piece in model.pieces if piece.kind == PieceType.CONTROL])
    return Tokenizer(inner, *ids).of_size(size)


def pegasus(config: HuggingFaceConfig, ids: Ids, size: int) -> Tokenizer | None:
    """Open `tokenizer.json`, or a SentencePiece model whose pieces, but for the first two, follow tokens that only the
    pretraining wrote: `offset` of them.
    """
    if not _needs_own_files(config.folder, SPIECE):
        return tokenizer_file(config.folder, ids, size)
    model = sentencepiece_file.read(config.folder / SPIECE)
    offset = config.tokenizer.get("offset", PEGASUS_OFFSET)
    if type(offset) is not int or not 0 <= offset <= MAX_TOKENS:
        raise Refused(f"offset in tokenizer_config.json is not a whole number from 0 to {MAX_TOKENS:,}.")
    first = ["<pad>", "</s>", *["<mask_1>", "<mask_2>", *(f"<unk_{n}>" for n in range(2, offset))][:offset]]
    tokens = {piece.text: id for id, piece in enumerate(model.pieces[2:], offset + 2)}
    tokens |= {token: id for id, token in enumerate(first)}
    require_unknown(tokens, SPIECE)
    inner = sentencepiece_file.tokenizer(model, tokens, "<unk>", size)
    inner.add_special_tokens([*first, "<unk>"])
    return Tokenizer(inner, *ids).of_size(size)


def fairseq(config: HuggingFaceConfig, ids: Ids, size: int) -> Tokenizer | None:
    """Open `tokenizer.json`, or a SentencePiece model whose ids are shifted by one and followed by the languages."""
    if not _needs_own_files(config.folder, FAIRSEQ):
        return tokenizer_file(config.folder, ids, size)
    model = sentencepiece_file.read(config.folder / FAIRSEQ)
    return _shifted(model, _fairseq_languages(config, len(model.pieces)), ids, size)


def _shifted(model: SentencePiece, languages: Languages, ids: Ids, size: int) -> Tokenizer:
    """Return a tokenizer whose ids are shifted by one and followed by `languages`, by token, and the mask."""
    tokens = {token: id for id, token in enumerate(FAIRSEQ_FIRST)}
    tokens |= {piece.text: id for id, piece in enumerate(model.pieces[3:], len(FAIRSEQ_FIRST))}
    tokens |= languages
    tokens[MASK] = max(tokens.values()) + 1
    inner = sentencepiece_file.tokenizer(model, tokens, "<unk>", size)
    inner.add_special_tokens([*FAIRSEQ_FIRST, *languages, MASK])
    return Tokenizer(inner, *ids).of_size(size)


def fairseq_languages(config: HuggingFaceConfig) -> Languages:
    """Return the languages by code, such as "en_XX" or "eng_Latn"."""
    if (config.folder / WHOLE).exists():
        return _named_in(config.folder / WHOLE, _FAIRSEQ_LANGUAGE)
    path = config.folder / FAIRSEQ
    return _fairseq_languages(config, len(sentencepiece_file.read(path).pieces)) if path.exists() else {}


_FAIRSEQ_LANGUAGE = re.compile(r"[a-z]{2,3}_[A-Za-z]{2,4}")


def _fairseq_languages(config: HuggingFaceConfig, pieces: int) -> dict[str, int]:
    """Return the ids of the languages: after the pieces, in the order of the folder or else of the family."""
    own = [name for name in _additional(config) if _FAIRSEQ_LANGUAGE.fullmatch(name)]
    if not own:
        rows = config.whole("vocab_size", MAX_TOKENS)
        families = (MBART.split(), MBART_50.split())
        own = next((names for names in families if rows == pieces + 2 + len(names)), [])
    return {name: id for id, name in enumerate(own, pieces + 1)}


def plbart(config: HuggingFaceConfig, ids: Ids, size: int) -> Tokenizer | None:
    """Open `tokenizer.json`, or a SentencePiece model with fairseq's ids and PLBart's languages."""
    if not _needs_own_files(config.folder, FAIRSEQ):
        return tokenizer_file(config.folder, ids, size)
    languages = {f"__{name}__": id for name, id in plbart_languages(config).items()}
    return _shifted(sentencepiece_file.read(config.folder / FAIRSEQ), languages, ids, size)


def plbart_languages(config: HuggingFaceConfig) -> Languages:
    """Return the languages by name; "__java__" is the token of "java"."""
    if (config.folder / WHOLE).exists():
        named = _named_in(config.folder / WHOLE, re.compile("__[A-Za-z_]+__"))
        return {token.strip("_"): id for token, id in named.items()}
    path = config.folder / FAIRSEQ
    if not path.exists():
        return {}
    names = PLBART_MULTI if config.tokenizer.get("language_codes") == "multi" else PLBART
    return {name: id for id, name in enumerate(names.split(), len(sentencepiece_file.read(path).pieces) + 1)}


def m2m100(config: HuggingFaceConfig, ids: Ids, size: int) -> Tokenizer | None:
    """Open `vocab.json` with a SentencePiece model, then the languages; NLLB's files are those of fairseq."""
    if not _is_m2m100(config.folder):
        return fairseq(config, ids, size)
    languages = m2m100_languages(config)
    vocabulary = {**vocabulary_of(config.folder / PIECES), **{f"__{name}__": id for name, id in languages.items()}}
    require_unknown(vocabulary, PIECES)
    inner = sentencepiece_file.tokenizer(sentencepiece_file.read(config.folder / FAIRSEQ), vocabulary, "<unk>", size)
    inner.add_special_tokens([f"__{name}__" for name in languages])
    return Tokenizer(inner, *ids).of_size(size)


def m2m100_languages(config: HuggingFaceConfig) -> Languages:
    """Return the languages by code; "__fr__" is the token of "fr"."""
    if not _is_m2m100(config.folder):
        return fairseq_languages(config)
    first = len(vocabulary_of(config.folder / PIECES))
    return {name: id for id, name in enumerate(M2M100.split(), first)}


def _is_m2m100(folder: Path) -> bool:
    return (folder / PIECES).exists() and (folder / FAIRSEQ).exists()


def vocabulary_of(path: Path) -> Mapping[str, int]:
    """Read a JSON object of token: id."""
    return _parsed(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=2)  # parsing takes a tenth of a second, and languages, facts and tokenizers each need it
def _parsed(path: Path, changed: int) -> Mapping[str, int]:
    values = read_json(path)
    ids = list(values.values()) if isinstance(values, dict) else []
    if not ids or not all(type(id) is int and 0 <= id < MAX_TOKENS for id in ids) or len(set(ids)) < len(ids):
        raise Refused(f"{path.name} is not a vocabulary: it must give each token an id of its own.")
    result: Mapping[str, int] = values
    return result


def _merges(path: Path) -> list[list[str]]:
    """Read pairs of pieces, the first to be merged first; how often a pair occurred may follow it."""
    try:
        lines = read_bytes(path, MAX_MERGES_BYTES).decode("utf-8").splitlines()
    except (OSError, ValueError):
        raise Refused(f"{path.name} cannot be read as text in UTF-8.") from None
    return [line.split(" ")[:2] for line in lines if " " in line and not line.startswith("#version")]


def _named_in(path: Path, pattern: re.Pattern[str]) -> dict[str, int]:
    """Return the language tokens among the added tokens of a tokenizer.json."""
    values = read_json(path)
    added = values.get("added_tokens") if isinstance(values, dict) else None
    return {
        token["content"]: token["id"]
        for token in (added if isinstance(added, list) else [])
        if isinstance(token, dict)
        and isinstance(token.get("content"), str)
        and type(token.get("id")) is int
        and pattern.fullmatch(token["content"])
    }


def _additional(config: HuggingFaceConfig) -> Iterable[str]:
    """Return the special tokens that a folder names beyond the usual ones, in its order."""
    path = config.folder / "special_tokens_map.json"
    values = read_json(path) if path.exists() else {}
    for holder in (values, config.tokenizer):
        for field in ("additional_special_tokens", "extra_special_tokens"):
            names = holder.get(field) if isinstance(holder, dict) else None
            if isinstance(names, list) and names:
                texts = [name.get("content") if isinstance(name, dict) else name for name in names]
                return [text for text in texts if isinstance(text, str)]
    return []
