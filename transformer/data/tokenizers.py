"""Text to token ids and back, and the names under which people see the tokens."""

import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import tokenizers
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, trainers

from transformer.files import read_json, write_text

Kind = Literal["bpe", "words", "characters"]

SPECIALS = ("[PAD]", "[UNK]", "[SOS]", "[EOS]")
PAD, UNK, SOS, EOS = range(4)
SPACE = "▁"  # stands for the space before a word, so that pieces joined are the text again


class Tokenizer:
    """A `tokenizers.Tokenizer` that has our four special tokens and never reads one out of a text."""

    def __init__(self, inner: tokenizers.Tokenizer) -> None:
        self.inner = inner
        self.inner.encode_special_tokens = True  # "[EOS]" typed by a user is five characters, not the end
        self.pad_id, self.unk_id, self.sos_id, self.eos_id = map(self._id_of, SPECIALS)
        self._reserved = {self.pad_id, self.sos_id, self.eos_id}

    def _id_of(self, special: str) -> int:
        id: int | None = self.inner.token_to_id(special)
        if id is None:
            raise ValueError(f"The tokenizer has no token {special}; it needs {' '.join(SPECIALS)}.")
        return id

    @classmethod
    def train(cls, texts: Iterable[str], kind: Kind, vocab_size: int, min_frequency: int = 2) -> "Tokenizer":
        """Learn at most `vocab_size` tokens (the special ones among them) from `texts`.

        A merge ("bpe") or word ("words") has to occur `min_frequency` times; characters are all kept
        while there is room, the most frequent first. Raises ValueError for an unknown kind and for no text.
        """
        if kind not in _BLANKS:
            raise ValueError(f"The tokenizer kind is {kind!r}; choose one of {', '.join(_BLANKS)}.")
        if vocab_size <= len(SPECIALS):
            raise ValueError(f"vocab_size is {vocab_size}; choose more than the {len(SPECIALS)} special tokens.")
        inner = _BLANKS[kind]()
        inner.train_from_iterator(texts, _trainer(kind, vocab_size, min_frequency))
        if inner.get_vocab_size() == len(SPECIALS):
            raise ValueError("There is no text to learn a tokenizer from; give at least one sentence.")
        return cls(inner)

    @classmethod
    def load(cls, path: str | Path) -> "Tokenizer":
        """Read a `tokenizer.json`. Raises ValueError when it is missing, broken or lacks a special token."""
        content = json.dumps(read_json(path))
        try:
            tokenizer = cls(tokenizers.Tokenizer.from_str(content))
            tokenizer.encode("a \ue000")  # an unknown character: some faults show only at work
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # Rust's panics are no Exception
            raise ValueError(f"{path} is no tokenizer that works here: {error}") from None
        return tokenizer

    def save(self, path: str | Path) -> None:
        """Write `tokenizer.json`; an existing file stays whole until the new one is complete."""
        write_text(path, self.inner.to_str(pretty=True))

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, without special tokens around it."""
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """`encode` for many texts at once, on all cores."""
        # Half surrogate pairs (from undecodable command lines) are no Unicode; they become "?".
        valid = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        return [
            [self.unk_id if id in self._reserved else id for id in encoding.ids]
            for encoding in self.inner.encode_batch_fast(valid, add_special_tokens=False)
        ]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of `ids`; special tokens are left out."""
        special = self._reserved | {self.unk_id}
        text: str = self.inner.decode([id for id in ids if id not in special], skip_special_tokens=False)
        return " ".join(text.split())  # an unknown character left out would leave two spaces

    def piece(self, id: int) -> str:
        """The raw vocabulary entry, such as "▁girl"."""
        piece: str | None = self.inner.id_to_token(id)
        if piece is None:
            raise ValueError(f"Token id {id} is outside the tokenizer's vocabulary of {self.vocab_size}.")
        return piece

    @property
    def vocab_size(self) -> int:
        size: int = self.inner.get_vocab_size()
        return size


def _blank(model: models.Model, split: pre_tokenizers.PreTokenizer | None) -> tokenizers.Tokenizer:
    """An untrained tokenizer; `split` comes after spaces became "▁", and None cuts into characters."""
    inner = tokenizers.Tokenizer(model)
    # "▁" in a text could not be told from a space, so it is one.
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


_BLANKS = {
    "bpe": lambda: _blank(models.BPE(unk_token=SPECIALS[UNK], fuse_unk=True), pre_tokenizers.Punctuation("isolated")),
    "words": lambda: _blank(
        models.WordLevel(unk_token=SPECIALS[UNK]),
        pre_tokenizers.Split(Regex(rf"{SPACE}?(\w+|[^\w{SPACE}])"), "isolated"),
    ),
    "characters": lambda: _blank(models.WordLevel(unk_token=SPECIALS[UNK]), None),
}


def _trainer(kind: Kind, vocab_size: int, min_frequency: int) -> trainers.Trainer:
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


def labels(pieces: Sequence[str]) -> list[str]:
    """What people see of `pieces`: "▁walk" "ing" "." as "walk" "·ing" ".", a lone space as "␣"."""
    marked = any(piece.startswith(SPACE) for piece in pieces)
    return [
        f"·{piece}" if marked and _same_word(before, piece) else piece.replace(SPACE, " ").strip() or "␣"
        for before, piece in zip(["", *pieces], pieces, strict=False)
    ]


def number_duplicates(labels: Sequence[str]) -> list[str]:
    """The labels made unique: those that occur more than once are numbered, "a" "a" as "a₁" "a₂"."""
    times, taken, number = Counter(labels), set(labels), Counter[str]()
    unique = []
    for label in labels:
        name = label
        while times[label] > 1 and name in taken:  # more than one turn only where the text has its own "a₁"
            number[label] += 1
            name = label + str(number[label]).translate(_SUBSCRIPTS)
        taken.add(name)
        unique.append(name)
    return unique


def word_groups(pieces: Sequence[str]) -> list[list[int]]:
    """Indices of the pieces that form one word, in order; every index is in exactly one group.

    Punctuation and special tokens stand alone; a space belongs to what follows it.
    Without any "▁" the pieces are single characters, or else whole words.
    """
    marked = any(piece.startswith(SPACE) for piece in pieces)
    in_parts = marked or all(len(piece) == 1 for piece in pieces if piece not in SPECIALS)
    groups: list[list[int]] = []
    for index, (before, piece) in enumerate(zip(["", *pieces], pieces, strict=False)):
        after_space = before in (SPACE, " ") and piece not in SPECIALS and not piece.startswith((SPACE, " "))
        if in_parts and (after_space or _same_word(before, piece)):
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def _same_word(before: str, piece: str) -> bool:
    """Whether `piece` goes on with the word that `before` ends with; "▁" and "[EOS]" neither end nor begin so."""
    return bool(before and piece) and _in_word(before[-1]) and _in_word(piece[0])


def _in_word(character: str) -> bool:
    """Letters, marks, digits, and the joiners that Hindi and Persian write inside words."""
    category = unicodedata.category(character)
    return category[0] in "LMN" or category == "Cf"
