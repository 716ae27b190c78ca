"""The dictionaries of a fairseq checkpoint, and the tokenizers that cut a text into their symbols."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headlight.importers import subwords
from headlight.importers.forms.fairseq_settings import ONE_MODEL_TASK, PAIRS_TASK, SPECIALS, Framing, Settings, framing
from headlight.importers.forms.hugging_face_tokenizers import byte_level, vocabulary_of
from headlight.importers.questions import Answers
from headlight.importers.source import Source
from headlight.tokenizer_json import moses
from transformer.checkpoint.weights import Refused
from transformer.config import ModelConfig
from transformer.tokenizers import SPACE, Tokenizer

CODES_FILES = ("bpecodes", "bpe.codes", "codes", "code", "codes.bpe")
SENTENCEPIECE_FILES = ("sentencepiece.bpe.model", "sentencepiece.model", "spm.model")
GPT2_FILES = ("encoder.json", "vocab.bpe")
PAD, END = 1, 2


def languages(settings: Settings, answers: Answers) -> tuple[str, str]:
    """Return the languages of the model; "" for one that is not known."""
    pair = settings.pairs[0] if settings.task == PAIRS_TASK and len(settings.pairs) == 1 else ("", "")
    return (
        answers.source_language or settings.text("source_lang") or pair[0],
        answers.target_language or settings.text("target_lang") or pair[1],
    )


def dictionary(source: Source, settings: Settings, side: int, language: str = "") -> Path | None:
    """Return the dictionary of a side, 0 for the source and 1 for the target, that lies beside the weights."""
    own = language or settings.text(("source_lang", "target_lang")[side])
    configured = (settings.text(name) for name in (("source_dict", "target_dict")[side], "fixed_dictionary"))
    names = [*([f"dict.{own}.txt"] if own else []), *(name.rpartition("/")[2] for name in configured if name)]
    names += [("dict.src.txt", "dict.tgt.txt")[side], ("dict.source.txt", "dict.target.txt")[side], "dict.txt"]
    if settings.task in (ONE_MODEL_TASK, PAIRS_TASK):  # one dictionary for all, or no pair chosen yet
        names += [f"dict.{name}.txt" for name in settings.languages(source)]
    return source.nearby(*names)


def _symbols(path: Path, added: Sequence[str]) -> list[str]:
    """Return the symbols of a dictionary by id: the special ones, one per line of the file, and the `added` ones."""
    symbols = list(SPECIALS)
    for number, line in enumerate(subwords.lines_of(path), 1):
        symbol, space, count = line.removesuffix(" #fairseq:overwrite").rstrip().rpartition(" ")
        if not space or not count.removeprefix("-").isdecimal():
            raise Refused(
                f"{path.name} is not a dictionary of fairseq: line {number} is not a symbol and its count.",
                remedy="Give the dict.*.txt that the model was trained with.",
            )
        if symbol not in SPECIALS:
            symbols.append(symbol)
    known = set(symbols)
    return symbols + [symbol for symbol in dict.fromkeys(added) if symbol not in known]


def vocabularies(
    source: Source, settings: Settings, answers: Answers, around: Framing
) -> tuple[list[str] | None, list[str] | None]:
    """Return the symbols of both sides by id, with those that the task adds; None without a dictionary."""
    answer_paths, codes = (answers.source_vocab, answers.target_vocab), languages(settings, answers)
    paths = [answer_paths[side] or dictionary(source, settings, side, codes[side]) for side in (0, 1)]
    first, second = (None if path is None else _symbols(path, around.added) for path in paths)
    return first, second


def tokenizers(
    source: Source,
    settings: Settings,
    answers: Answers,
    symbols: tuple[list[str] | None, list[str] | None],
    config: ModelConfig,
) -> tuple[tuple[Tokenizer, Tokenizer], tuple[str, ...]]:
    """Return the tokenizers of both sides, one object where the dictionaries are equal, and warnings about them."""
    codes, sizes = languages(settings, answers), (config.source_vocab_size, config.target_vocab_size)
    ids = config.pad_id, config.sos_id, config.eos_id
    warnings: list[str] = []
    tokenizers: list[Tokenizer] = []
    for side in (0, 1):
        tokens, language = symbols[side], codes[side]
        if tokens is None:
            tokenizers.append(Tokenizer.of_ids(sizes[side], *ids))
            warnings.append(
                f"No dict.{language or '*'}.txt lies beside it, so ids are shown instead of words, and a text "
                "is typed as ids with spaces between them."
            )
            continue
        is_same = side == 1 and symbols[0] == symbols[1] and sizes[0] == sizes[1]
        if is_same and not isinstance(tokenizers[0].inner, moses.MosesTokenizer):  # Moses depends on the language
            tokenizers.append(tokenizers[0])
            continue
        tokenizer, warning = _tokenizer(source, settings, tokens, language)
        added = framing(settings, source, codes).added
        tokenizer.inner.add_special_tokens([token for token in added if token in tokens])
        tokenizer = Tokenizer(tokenizer.inner, *ids, tokenizer.vocab_size).of_size(sizes[side])
        if has_codes(source, settings) or settings.text("tokenizer") == "moses":
            tokenizer, warning = _after_moses(tokenizer, settings, answers, language)
        tokenizers.append(tokenizer)
        warnings += [warning] if warning else []
    return (tokenizers[0], tokenizers[1]), tuple(dict.fromkeys(warnings))


def _tokenizer(source: Source, settings: Settings, tokens: list[str], language: str) -> tuple[Tokenizer, str]:
    """Return the tokenizer of a dictionary, made with the files beside it, and a warning where these are missing."""
    ids = PAD, END, END
    model = source.nearby(*(name for name in _named_files(settings) if name.endswith(".model")), *SENTENCEPIECE_FILES)
    if model is not None:
        return subwords.pieces(tokens, model, SPECIALS, ids, SPECIALS[3]), ""
    pieces, merges = (source.nearby(name) for name in GPT2_FILES)
    if pieces is not None and merges is not None:
        return byte_level(_of_gpt2(pieces, tokens), merges, ids, len(tokens)), ""
    codes = _codes(source, settings, language)
    if codes is not None:
        return subwords.merged(tokens, codes, SPECIALS, ids, SPECIALS[3]), ""
    if settings.is_bart:
        return subwords.words(tokens, SPECIALS, ids, SPECIALS[3]), _TYPE_NUMBERS
    in_parts = any(token.endswith(subwords.CONTINUED) or token.startswith(SPACE) for token in tokens)
    return subwords.words(tokens, SPECIALS, ids, SPECIALS[3]), _TYPE_PARTS if in_parts else ""


def _named_files(settings: Settings) -> list[str]:
    names = (settings.text(name).rpartition("/")[2] for name in ("sentencepiece_model", "bpe_codes"))
    return [name for name in names if name]


def _codes(source: Source, settings: Settings, language: str) -> Path | None:
    named = (name for name in _named_files(settings) if not name.endswith(".model"))
    return source.nearby(*named, *([f"{name}.{language}" for name in CODES_FILES] if language else []), *CODES_FILES)


def has_codes(source: Source, settings: Settings) -> bool:
    """Return whether both sides use BPE codes, so that texts are split into words first."""
    models = (name for name in _named_files(settings) if name.endswith(".model"))
    other_tokenizer = source.nearby(*models, *SENTENCEPIECE_FILES, *GPT2_FILES)
    languages = (settings.text(name) for name in ("source_lang", "target_lang"))
    return other_tokenizer is None and all(_codes(source, settings, language) for language in languages)


def _after_moses(tokenizer: Tokenizer, settings: Settings, answers: Answers, language: str) -> tuple[Tokenizer, str]:
    """Wrap the tokenizer with Moses if the model was trained with it; else return a warning if it may have been."""
    named = settings.text("tokenizer")
    if named not in ("", "moses") or (not named and answers.moses == "no"):
        return tokenizer, ""
    other = settings.flag("moses_no_dash_splits") or settings.flag("moses_no_escape")
    if other or not moses.is_installed() or not moses.LANGUAGE.fullmatch(language):
        return tokenizer, _TYPE_WORDS
    inner = moses.with_moses(tokenizer.inner, {"language": language})
    return Tokenizer(inner, tokenizer.pad_id, tokenizer.sos_id, tokenizer.eos_id, tokenizer.vocab_size), ""


def _of_gpt2(path: Path, tokens: list[str]) -> dict[str, int]:
    """Return GPT-2's pieces with the ids of their numbers, which are the symbols of the dictionary."""
    ids = {text: id for id, text in enumerate(tokens)}
    numbers = vocabulary_of(path)
    pieces = {piece: ids[str(number)] for piece, number in numbers.items() if str(number) in ids}
    first = len(tokens)  # pieces that the dictionary lacks are unknown, but merges may lead through them
    pieces |= {piece: first + n for n, piece in enumerate(piece for piece in numbers if piece not in pieces)}
    return {**{text: id for text, id in ids.items() if text in SPECIALS}, **pieces}


_TYPE_WORDS = (
    "A text is cut at its spaces and then by the BPE codes: if the model was trained on text of the Moses tokenizer, "
    "install sacremoses and import it again, or type spaces before punctuation marks."
)
_TYPE_PARTS = (
    "The dictionary lists parts of words, and no BPE codes or SentencePiece model lie beside it, such as bpecodes or "
    "sentencepiece.bpe.model: type the parts with spaces between them."
)
_TYPE_NUMBERS = (
    "The dictionary lists the numbers of GPT-2's pieces, and encoder.json and vocab.bpe do not lie beside it: type "
    "those numbers with spaces between them."
)
