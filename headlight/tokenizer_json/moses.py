"""Tokenizers of texts that Moses has cut into words: fairseq's WMT models and FSMT.

Moses (Koehn et al. 2007) puts spaces around punctuation and writes some characters as "&apos;". sacremoses is its port
to Python, which fairseq and transformers call too; `headlight-attention[import]` installs it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple, cast

import tokenizers

from transformer.extras import require_package

KEY = "moses"  # of a tokenizer's JSON
LANGUAGE = re.compile("[a-z]{2,3}")
_DASH = "@-@"  # a dash inside a word


def is_installed() -> bool:
    """Return whether sacremoses, and what it needs itself, can be imported."""
    try:
        import_module("sacremoses")
    except ImportError:
        return False
    return True


@dataclass(frozen=True)
class Moses:
    """The Moses tokenizer of a language, such as "de"; FSMT also `normalizes` texts first. Raises ValueError."""

    language: str
    normalizes: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.language, str) or not LANGUAGE.fullmatch(self.language):
            raise ValueError("its language for Moses is not two or three small letters")
        if not isinstance(self.normalizes, bool):
            raise ValueError("whether Moses normalizes is not true or false")
        require_package("sacremoses", "it cuts texts with Moses, which", "import")

    def cut(self, text: str) -> str:
        """Return the words of a text with spaces between them."""
        tools = _tools(self)
        if tools.normalizer is not None:
            text = tools.normalizer.normalize(text)
        words: str = tools.tokenizer.tokenize(text, aggressive_dash_splits=True, return_str=True, escape=True)
        return words

    def join(self, words: str) -> str:
        text: str = _tools(self).detokenizer.detokenize(words.split())
        return text

    def offsets(self, text: str, cut: str) -> list[tuple[int, int]]:
        """Return for each character of `cut` the span of its word in `text`."""
        spans, at = [], 0
        for word in cut.split(" "):
            plain: str = _tools(self).detokenizer.unescape_xml(word) if word != _DASH else "-"
            position = text.find(plain, at)
            start = at if position < 0 else position  # a normalized word may not be in the text
            at = start if position < 0 else start + len(plain)
            spans += [(start, max(at, start))] * (len(word) + 1)
        return spans


class _Tools(NamedTuple):
    tokenizer: Any
    detokenizer: Any
    normalizer: Any  # None if texts are not normalized


@lru_cache(maxsize=16)
def _tools(moses: Moses) -> _Tools:
    sacremoses, normalizer = import_module("sacremoses"), None
    if moses.normalizes:
        options = {"pre_replace_unicode_punct": True, "post_remove_control_chars": True}
        normalizer = sacremoses.MosesPunctNormalizer(lang=moses.language, **options)
    return _Tools(
        sacremoses.MosesTokenizer(lang=moses.language), sacremoses.MosesDetokenizer(lang=moses.language), normalizer
    )


class Encoding(NamedTuple):
    ids: list[int]
    offsets: list[tuple[int, int]]


class MosesTokenizer:
    """A `tokenizers.Tokenizer` whose input Moses splits into words, and whose output Moses joins.

    All other attributes are those of the inner tokenizer.
    """

    def __init__(self, inner: tokenizers.Tokenizer, moses: Moses) -> None:
        self.__dict__.update(_inner=inner, _moses=moses)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_inner"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._inner, name, value)

    def encode(self, text: str, add_special_tokens: bool = True) -> Encoding:
        cut = self._moses.cut(text)
        encoding, spans = self._inner.encode(cut, add_special_tokens=add_special_tokens), self._moses.offsets(text, cut)
        return Encoding(encoding.ids, [spans[min(start, len(spans) - 1)] for start, _ in encoding.offsets])

    def encode_batch_fast(self, texts: Sequence[str], add_special_tokens: bool = True) -> Any:
        cut = [self._moses.cut(text) for text in texts]
        return self._inner.encode_batch_fast(cut, add_special_tokens=add_special_tokens)

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        return self._moses.join(self._inner.decode(ids, skip_special_tokens=skip_special_tokens))

    def to_str(self, pretty: bool = False) -> str:
        content = {**json.loads(self._inner.to_str()), KEY: asdict(self._moses)}
        return json.dumps(content, ensure_ascii=False, indent=2 if pretty else None)


def with_moses(inner: tokenizers.Tokenizer, values: Any) -> tokenizers.Tokenizer:
    """Wrap a tokenizer with Moses, with the settings `values` of its JSON. Raises ValueError."""
    if not isinstance(values, dict) or not values.keys() <= {"language", "normalizes"} or "language" not in values:
        raise ValueError("what it says of Moses is not a language, and whether it normalizes")
    return cast(tokenizers.Tokenizer, MosesTokenizer(inner, Moses(**values)))
