"""The tokenizer formats that Headlight itself writes or wrote.

Their steps are fixed and their costs known, whoever wrote the file, so they are opened without a trial.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_SPACE = "▁"
_METASPACE = {"type": "Metaspace", "replacement": _SPACE, "prepend_scheme": "always", "split": True}
_NORMALIZERS: tuple[Any, ...] = (
    None,
    {"type": "Lowercase"},
    {
        "type": "Sequence",
        "normalizers": [
            {"type": "NFC"},
            {"type": "Replace", "pattern": {"Regex": rf"[\s{_SPACE}]+"}, "content": " "},
            {"type": "Strip", "strip_left": True, "strip_right": True},
        ],
    },
)


def _split(pattern: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


_PRE_TOKENIZERS: tuple[Any, ...] = (
    _split("."),  # characters
    {"type": "Sequence", "pretokenizers": [_METASPACE, {"type": "Punctuation", "behavior": "Isolated"}]},  # pieces
    {"type": "Sequence", "pretokenizers": [_METASPACE, _split(rf"{_SPACE}?(\w+|[^\w{_SPACE}])")]},  # words
    {"type": "WhitespaceSplit"},  # a list of words
    {"type": "Whitespace"},
    {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},  # bytes
)
_DECODERS: tuple[Any, ...] = (_METASPACE, {"type": "Fuse"}, {"type": "ByteFallback"})
_BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}


def is_own(content: Mapping[str, Any]) -> bool:
    """Return whether a tokenizer's JSON, as `rebuilt` returns it, is in a format of Headlight's."""
    return (
        content["model"]["type"] in ("BPE", "WordLevel")
        and not any(token["normalized"] for token in content["added_tokens"])
        and content["normalizer"] in _NORMALIZERS
        and content["pre_tokenizer"] in _PRE_TOKENIZERS
        and all(step in (*_DECODERS, _BYTE_LEVEL) for step in _steps(content["decoder"]))
    )


def _steps(decoder: Any) -> Iterator[Any]:
    if decoder is not None:
        yield from decoder["decoders"] if decoder["type"] == "Sequence" else (decoder,)
