"""Tokenizers: from text to token ids and back, and the labels under which people see tokens."""

import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import tokenizers
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, trainers

from transformer.byte_pieces import BYTE_NAMES, SPACE, decode_bytes, ends_with_byte, starts_with_byte
from transformer.files import read_json, write_text
from transformer.quoting import UnreadableTextError, quoted, short

TokenizerKind = Literal["bpe", "words", "characters"]
ParseTokenizer = Callable[[Any], tokenizers.Tokenizer]  # from JSON; raises ValueError

MAX_TOKEN_BYTES = 1_000  # the longest known tokens are runs of 512 spaces
MAX_INDENTED_TOKENS = 100_000  # a larger vocabulary is written without line breaks
SPECIALS = ("[PAD]", "[UNK]", "[SOS]", "[EOS]")
PAD, UNK, SOS, EOS = range(4)
UNLIKELY_SCORE = -1e9  # of a piece that is used only where no other segmentation exists
MIN_TOKENS_FOR_BYTES = 1000  # a smaller vocabulary would be mostly bytes


def is_short(text: str) -> bool:
    """Return whether a token is at most MAX_TOKEN_BYTES of valid Unicode; JSON may hold half a surrogate pair."""
    try:
        return len(text) <= MAX_TOKEN_BYTES and (text.isascii() or len(text.encode()) <= MAX_TOKEN_BYTES)
    except UnicodeEncodeError:
        return False


def parse(content: Any) -> tokenizers.Tokenizer:
    """Build the tokenizer that JSON from a trusted file describes. Raises ValueError if the library rejects it."""
    try:
        return tokenizers.Tokenizer.from_str(json.dumps(content))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # Rust's panics are no Exception
        raise ValueError(short(str(error))) from None


class Tokenizer:
    """A `tokenizers.Tokenizer` with named special tokens, which typed text can never produce.

    Our own tokenizers call them [PAD] [UNK] [SOS] [EOS]. For an imported tokenizer their ids are passed; every token
    that it marks as special, such as a language code, is then special too. It may have no unknown token (`unk_id` is
    None), since a vocabulary that includes all bytes needs none.
    """

    def __init__(
        self,
        inner: tokenizers.Tokenizer,
        pad_id: int | None = None,
        sos_id: int | None = None,
        eos_id: int | None = None,
        size: int | None = None,
    ) -> None:
        """`size` is the model's vocabulary size if it is smaller than the tokenizer's; ids from `size` on become
        unknown.
        """
        self.inner = inner
        entries: int = inner.get_vocab_size()
        self.vocab_size = entries if size is None else min(entries, size)
        self.inner.encode_special_tokens = True  # "[EOS]" typed by a user is five characters, not the end
        self.inner.no_padding()  # an imported file may enable either
        self.inner.no_truncation()
        self.pad_id, self.sos_id, self.eos_id = (
            self._id_of(name) if id is None else id
            for name, id in ((SPECIALS[PAD], pad_id), (SPECIALS[SOS], sos_id), (SPECIALS[EOS], eos_id))
        )
        ours = pad_id is None or sos_id is None or eos_id is None
        self.unk_id: int | None = self._id_of(SPECIALS[UNK]) if ours else self._unknown()
        marked = {id for id, token in inner.get_added_tokens_decoder().items() if token.special}
        known = {self.pad_id, self.unk_id, self.sos_id, self.eos_id}
        self.special_ids = frozenset(id for id in marked | known if id is not None)
        self._in_bytes = isinstance(inner.decoder, decoders.ByteLevel)

    def _id_of(self, special: str) -> int:
        id: int | None = self.inner.token_to_id(special)
        if id is None:
            raise ValueError(f"The tokenizer has no token {special}; it needs {' '.join(SPECIALS)}.")
        return id

    def _unknown(self) -> int | None:
        names = (getattr(self.inner.model, "unk_token", None), SPECIALS[UNK], "<unk>")
        return next((id for name in names if name and (id := self.inner.token_to_id(name)) is not None), None)

    @classmethod
    def train(cls, texts: Iterable[str], kind: TokenizerKind, vocab_size: int, min_frequency: int = 2) -> "Tokenizer":
        """Learn at most `vocab_size` tokens (the special ones among them) from `texts`.

        A "bpe" vocabulary of at least MIN_TOKENS_FOR_BYTES tokens includes the 256 bytes, so that no text is unknown: a
        character that it did not learn is read and written as the bytes of its UTF-8.

        A merge ("bpe") or word ("words") has to occur `min_frequency` times. Characters have no minimum; the most
        frequent ones are learned first. Raises ValueError for an unknown kind, and if there is no text.
        """
        if kind not in UNTRAINED_TOKENIZERS:
            raise ValueError(f"The tokenizer kind is {kind!r}; choose one of {', '.join(UNTRAINED_TOKENIZERS)}.")
        if vocab_size <= len(SPECIALS):
            raise ValueError(f"vocab_size is {vocab_size}; choose more than the {len(SPECIALS)} special tokens.")
        in_bytes = kind == "bpe" and vocab_size >= MIN_TOKENS_FOR_BYTES
        inner = UNTRAINED_TOKENIZERS[kind]()
        learned = vocab_size - len(BYTE_NAMES) * in_bytes
        inner.train_from_iterator(texts, _trainer(kind, learned, min_frequency))
        if inner.get_vocab_size() == len(SPECIALS):
            raise ValueError("There is no text to learn a tokenizer from; give at least one sentence.")
        return cls(_with_byte_tokens(inner) if in_bytes else inner)

    @classmethod
    def of_words(
        cls, words: Sequence[str], pad_id: int, sos_id: int, eos_id: int, unk_id: int | None = None
    ) -> "Tokenizer":
        """Return a tokenizer that splits text at whitespace; a word's id is its index in `words`.

        Without `unk_id`, encoding a text with an unlisted word fails. Raises ValueError for a duplicate, overlong or
        non-Unicode word.
        """
        strange = next((word for word in words if not is_short(word)), None)
        if strange is not None:
            raise ValueError(f"The vocabulary has {strange[:60]!r}, which is too long for a word, or not Unicode.")
        vocabulary = {word: id for id, word in enumerate(words)}
        if len(vocabulary) != len(words):
            twice = Counter(words).most_common(1)[0][0]
            raise ValueError(f"The vocabulary has the word {twice[:60]!r} twice; each may occur only once.")
        unknown = "" if unk_id is None else words[unk_id]
        inner = tokenizers.Tokenizer(models.WordLevel(vocabulary, unk_token=unknown))
        inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        return cls(inner, pad_id, sos_id, eos_id)

    @classmethod
    def of_ids(cls, size: int, pad_id: int, sos_id: int, eos_id: int) -> "Tokenizer":
        """Return a tokenizer for a model whose vocabulary is missing: the text is the ids, "17 4 256"."""
        return cls.of_words([str(id) for id in range(size)], pad_id, sos_id, eos_id)

    @classmethod
    def load(
        cls,
        path: str | Path,
        pad_id: int | None = None,
        sos_id: int | None = None,
        eos_id: int | None = None,
        size: int | None = None,
        parse: ParseTokenizer = parse,
    ) -> "Tokenizer":
        """Read a `tokenizer.json` with `parse`; the default trusts the file.

        Raises ValueError if the file is missing or broken, or lacks a special token.
        """
        content = read_json(path)
        try:
            tokenizer = cls(parse(content), pad_id, sos_id, eos_id, size)
            if tokenizer.unk_id is not None:
                tokenizer.encode("a \ue000")  # an unknown character: some faults show only in use
        except ValueError as error:
            raise ValueError(f"{short(path)} is not a tokenizer that works here: {error}") from None
        return tokenizer

    def save(self, path: str | Path) -> None:
        """Write `tokenizer.json`; an existing file stays whole until the new one is complete.

        A large vocabulary is written without line breaks, which would double the file.
        """
        write_text(path, self.inner.to_str(pretty=self.vocab_size <= MAX_INDENTED_TOKENS))

    def encode(self, text: str) -> list[int]:
        """Return the ids of `text`, without special tokens around it."""
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of many texts, encoded in parallel on all cores."""
        # Half surrogate pairs (from undecodable command lines) are no Unicode; they become "?".
        valid = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        try:
            encodings = self.inner.encode_batch_fast(valid, add_special_tokens=False)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # the library has no narrower one, and Rust's panics are no Exception
            if self.unk_id is not None:
                raise ValueError(f"The model's tokenizer fails at the text: {short(str(error))}.") from None
            raise UnreadableTextError(
                "The text has something that this model has no token for; type its own tokens, such as {example}.",
                example=quoted(self.piece(self.vocab_size - 1)),
            ) from None
        return [self._read(encoding.ids) for encoding in encodings]

    def _read(self, ids: list[int]) -> list[int]:
        """Replace ids of special tokens, which no text contains, by the unknown token; drop them if there is none."""
        known = [id if id < self.vocab_size and id not in self.special_ids else self.unk_id for id in ids]
        return [id for id in known if id is not None]

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of `ids`, without special tokens."""
        plain_ids = [id for id in ids if id not in self.special_ids]
        try:
            text: str = self.inner.decode(plain_ids, skip_special_tokens=False)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # Rust's panics are no Exception
            raise ValueError(f"The model's tokenizer fails at its tokens: {short(str(error))}.") from None
        return " ".join(text.split())  # an unknown character left out would leave two spaces

    def piece(self, id: int) -> str:
        """Return the vocabulary entry, such as "▁girl"; a byte-level entry ("Ġgirl") is decoded."""
        piece: str | None = self.inner.id_to_token(id)
        if piece is None or id >= self.vocab_size:
            raise ValueError(f"Token id {id} is outside the tokenizer's vocabulary of {self.vocab_size}.")
        return decode_bytes(piece) if self._in_bytes and id not in self.special_ids else piece

    def named(self, text: str, like: int) -> int:
        """Return the id of the token written `text`. Of "▁il" and "il", choose the form that begins a word as `like`
        does.

        Raises ValueError if the vocabulary has no such token.
        """
        bare = text.strip().removeprefix(SPACE)
        first = text.startswith(SPACE) or self.piece(like).startswith(SPACE)
        for piece in (f"{SPACE}{bare}", bare) if first else (bare, f"{SPACE}{bare}"):
            for id in range(self.vocab_size):
                if self.piece(id) == piece:
                    return id
        raise ValueError(f"No single token is written {quoted(text)}; name one of the vocabulary, or give its id.")

    def labels(self, ids: Sequence[int]) -> list[str]:
        """Return the labels under which people see these tokens."""
        return [self.label(id) for id in ids]

    def label(self, id: int) -> str:
        """Return the label under which people see a token; see the function `label`."""
        return label(self.piece(id))

    def word_groups(self, ids: Sequence[int], text: str | None = None) -> list[list[int]]:
        """Group the indices of `ids` by word.

        A vocabulary may not mark where words begin: "Cl", "ima" and "te" may be one word or three. `text`, the sentence
        that was encoded to (part of) `ids`, then decides.
        """
        pieces, special, marked = [self.piece(i) for i in ids], [i in self.special_ids for i in ids], self._marks_words
        if isinstance(self.inner.model, models.WordPiece):  # WordPiece marks the pieces that continue a word
            pieces, marked = [p[2:] if p.startswith("##") else SPACE + p for p in pieces], True
        if text is not None and marked is None and not any(piece.startswith((SPACE, " ")) for piece in pieces):
            word_of = self._words_in(text, ids)
            if word_of is not None:
                return _group_by_word(pieces, special, word_of)
        return word_groups(pieces, special, marked)

    def _words_in(self, text: str, ids: Sequence[int]) -> list[int | None] | None:
        """Return the index of the word of `text` for each id, None for ids around the text; None if `text` does not
        encode to them.
        """
        encoding = self.inner.encode(text.encode("utf-8", "replace").decode("utf-8"), add_special_tokens=False)
        read = self._read(encoding.ids)
        if not read or len(read) != len(encoding.ids):
            return None
        begin = next((n for n in range(len(ids)) if list(ids[n : n + len(read)]) == read), None)
        if begin is None:
            return None
        words = [at for at, group in enumerate(word_groups(list(text), [False] * len(text))) for _ in group]
        starts = [a + len(text[a:b]) - len(text[a:b].lstrip()) for a, b in encoding.offsets]
        inside = [words[min(start, len(words) - 1)] for start in starts]
        return [None] * begin + inside + [None] * (len(ids) - begin - len(read))

    @property
    def _marks_words(self) -> bool | None:
        """Whether a piece without "▁" continues a word; None if the pieces of each sentence have to decide."""
        if self._in_bytes:
            return True  # except in the first word of a text, which has no mark
        at_spaces = (pre_tokenizers.WhitespaceSplit, pre_tokenizers.Whitespace)
        cut_at_spaces = isinstance(self.inner.pre_tokenizer, at_spaces)
        return False if cut_at_spaces and isinstance(self.inner.model, models.WordLevel) else None

    def of_size(self, size: int) -> "Tokenizer":
        """Return this vocabulary with exactly `size` entries, the number of embedding rows of a model.

        Missing entries are named by their ids, "[57]"; ids from `size` on become unknown.
        """
        inner = self.inner
        if inner.get_vocab_size() < size:
            content = json.loads(inner.to_str())
            _add_missing_ids(content, size)
            inner = tokenizers.Tokenizer.from_str(json.dumps(content))
        return Tokenizer(inner, self.pad_id, self.sos_id, self.eos_id, size)


def _untrained(model: models.Model, split: pre_tokenizers.PreTokenizer | None) -> tokenizers.Tokenizer:
    """Return an untrained tokenizer. `split` follows the replacement of spaces by "▁"; None splits into characters."""
    inner = tokenizers.Tokenizer(model)
    # A literal "▁" would look like a space, so it becomes one.
    one_space = normalizers.Replace(Regex(rf"[\s{SPACE}]+"), " ")
    inner.normalizer = normalizers.Sequence([normalizers.NFC(), one_space, normalizers.Strip()])
    if split is None:
        inner.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
        inner.decoder = decoders.Fuse()
    else:
        metaspace = pre_tokenizers.Metaspace(SPACE, prepend_scheme="always")
        inner.pre_tokenizer = pre_tokenizers.Sequence([metaspace, split])
        inner.decoder = decoders.Metaspace(SPACE, prepend_scheme="always")
    return inner


UNTRAINED_TOKENIZERS = {
    "bpe": lambda: _untrained(
        models.BPE(unk_token=SPECIALS[UNK], fuse_unk=True), pre_tokenizers.Punctuation("isolated")
    ),
    "words": lambda: _untrained(
        models.WordLevel(unk_token=SPECIALS[UNK]),
        pre_tokenizers.Split(Regex(rf"{SPACE}?(\w+|[^\w{SPACE}])"), "isolated"),
    ),
    "characters": lambda: _untrained(models.WordLevel(unk_token=SPECIALS[UNK]), None),
}


def _with_byte_tokens(inner: tokenizers.Tokenizer) -> tokenizers.Tokenizer:
    """Return the tokenizer with a token per byte appended, as a fallback for unknown characters."""
    content = json.loads(inner.to_str())
    model, start = content["model"], len(content["model"]["vocab"])
    model["vocab"] |= {name: start + byte for byte, name in enumerate(BYTE_NAMES)}
    model["byte_fallback"] = True
    content["decoder"] = {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, content["decoder"]]}
    return tokenizers.Tokenizer.from_str(json.dumps(content))


def _trainer(kind: TokenizerKind, vocab_size: int, min_frequency: int) -> trainers.Trainer:
    if kind == "bpe":
        return trainers.BpeTrainer(
            vocab_size=vocab_size,
            min_frequency=min_frequency,
            special_tokens=list(SPECIALS),
            limit_alphabet=vocab_size - len(SPECIALS),
            show_progress=False,
        )
    return trainers.WordLevelTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency if kind == "words" else 1,
        special_tokens=list(SPECIALS),
        show_progress=False,
    )


def label(piece: str) -> str:
    r"""Return the label of a piece, with invisible characters made visible: a space is "▁", a newline is "\n".

    The label depends on the piece alone, so that two different tokens look different in every sentence.
    """
    return "".join(
        SPACE if c == " " else c.encode("unicode_escape").decode() if c.isspace() or _is_unprintable(c) else c
        for c in piece
    )


def _is_unprintable(character: str) -> bool:
    """Return whether a character is a control character or half a surrogate pair, which no file can store."""
    return unicodedata.category(character) in ("Cc", "Cs")


def number_duplicates(labels: Sequence[str]) -> list[str]:
    """Return the labels made unique by numbering those that occur more than once: "a" "a" becomes "a₁" "a₂"."""
    times, used, number = Counter(labels), set(labels), Counter[str]()
    unique = []
    for label in labels:
        name = label
        while times[label] > 1 and name in used:  # more than once only if "a₁" is also a label
            number[label] += 1
            name = label + str(number[label]).translate(_SUBSCRIPTS)
        used.add(name)
        unique.append(name)
    return unique


def word_groups(
    pieces: Sequence[str], special: Sequence[bool] | None = None, marked: bool | None = None
) -> list[list[int]]:
    """Group the indices of the pieces by word, in order; every index is in exactly one group.

    Punctuation and special tokens form their own groups; a space belongs to the word after it. `marked` says whether
    the vocabulary marks the beginnings of words. If it is None, the pieces decide: without any "▁" they are single
    characters, or else whole words. A combining mark, such as a Hindi vowel sign, always continues its word.
    """
    special = [piece in SPECIALS for piece in pieces] if special is None else special
    in_parts = marked  # whether words are cut into pieces
    if in_parts is None:
        in_parts = any(piece.startswith(SPACE) for piece in pieces) or all(
            len(piece) == 1 for piece, is_special in zip(pieces, special, strict=True) if not is_special
        )
    groups: list[list[int]] = []
    for index, (before, piece, lone) in enumerate(zip(["", *pieces], pieces, _stands_alone(special), strict=False)):
        after_space = before in (SPACE, " ") and not piece.startswith((SPACE, " "))
        part = in_parts or (marked is None and _is_mark(piece[:1]))
        if part and not lone and (after_space or _continues_word(before, piece)):
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


def _group_by_word(pieces: Sequence[str], special: Sequence[bool], word_of: Sequence[int | None]) -> list[list[int]]:
    """Group the indices of the pieces by the word in `word_of`, in order; a piece without a word is its own group."""
    groups: list[list[int]] = []
    for index in range(len(pieces)):
        known = index and word_of[index] is not None and word_of[index] == word_of[index - 1]
        if known and not special[index] and not special[index - 1]:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


def _stands_alone(special: Sequence[bool]) -> list[bool]:
    """Return whether each piece, or the piece before it, is special: such a piece cannot continue a word."""
    return [here or before for before, here in zip([False, *special], special, strict=False)]


_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def _continues_word(before: str, piece: str) -> bool:
    """Return whether `piece` continues the word that `before` ends with; "▁" and "[EOS]" neither end nor begin one.

    A byte is part of an unknown character, and so counts as part of a word.
    """
    ends = ends_with_byte(before) or before and _in_word(before[-1])
    begins = starts_with_byte(piece) or piece and _in_word(piece[0])
    return bool(ends and begins)


def _is_mark(character: str) -> bool:
    return bool(character) and unicodedata.category(character)[0] == "M"


def _in_word(character: str) -> bool:
    """Return whether a character is a letter, a mark, a digit, or a joiner as Hindi and Persian write them inside
    words.
    """
    category = unicodedata.category(character)
    return category[0] in "LMN" or category == "Cf"


def _add_missing_ids(content: dict[str, Any], size: int) -> None:
    """Add an entry to a tokenizer's JSON for each id below `size` that has none, named by the id."""
    vocabulary, added = content["model"]["vocab"], content["added_tokens"]
    in_order = isinstance(vocabulary, list)  # of (piece, score); the id is the index
    names = {token["id"]: token["content"] for token in added}
    known = {entry[0] for entry in vocabulary} if in_order else set(vocabulary)
    ids = range(len(vocabulary), size) if in_order else sorted(set(range(size)) - set(vocabulary.values()))
    for id in ids:
        if id not in names:
            names[id] = f"[{id}]" if f"[{id}]" not in known else f"[[{id}]]"
            added.append(_special_token(id, names[id]))
        if in_order:
            vocabulary.append([names[id], UNLIKELY_SCORE])
        else:
            vocabulary[names[id]] = id
    added.sort(key=lambda token: token["id"])


def _special_token(id: int, name: str) -> dict[str, Any]:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {"id": id, "content": name, **flags}
