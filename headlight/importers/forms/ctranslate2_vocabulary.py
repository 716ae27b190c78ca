"""The text files beside a `model.bin`: `config.json`, vocabularies, tokenizers, and an Argos package's metadata."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headlight.importers.forms.languages import NAMES, Around, Languages
from headlight.importers.forms.token_lists import (
    CODES,
    OPENNMT_PADDING,
    TokenNames,
    Vocabularies,
    open_tokenizers,
    tokenizer_files,
)
from headlight.importers.limits import MAX_TOKENS
from headlight.importers.questions import Answers
from headlight.importers.source import ARGOS_FACTS, ARGOS_MODEL, Source
from transformer.checkpoint.weights import Refused
from transformer.config import ModelConfig
from transformer.files import read_bytes, read_json
from transformer.quoting import short
from transformer.tokenizers import Tokenizer

PACKAGE = ".argosmodel"
_MAX_VOCABULARY_BYTES = 2**26
_LANGUAGES = (r"__([a-z]{2,3})__", r"([a-z]{3}_[A-Z][a-z]{3})", r"([a-z]{2}_[A-Z]{2})")  # M2M100, NLLB, mBART
_MARIAN_LANGUAGE = r">>(.+)<<"


@dataclass(frozen=True)
class TextFiles:
    """The files in `folder`, and in `package` around it, if there is one."""

    folder: Path
    package: Path | None
    values: Mapping[str, Any]  # of config.json
    metadata: Mapping[str, Any]  # of metadata.json
    source: tuple[str, ...]
    target: tuple[str, ...]
    is_bart: bool  # whether its norms are BART's

    def norm_eps(self, usual: float) -> float:
        value = self.values.get("layer_norm_epsilon")
        return usual if value is None else value  # ModelConfig refuses anything but a number

    def token(self, name: str, usual: str | None) -> str | None:
        value = self.values.get(name, usual)
        if value is not None and not isinstance(value, str):
            raise Refused(f"{name} in config.json is {short(value)}; it must be a token.")
        return value

    def flag(self, name: str) -> bool:
        return self.values.get(name) in (True, 1)

    @property
    def eos(self) -> str:
        return self.token("eos_token", "</s>") or "</s>"

    @property
    def adds_nothing(self) -> bool:
        """Whether the model reads sentences without a start or an end token.

        The converter from Hugging Face writes the same flags, but there the tokenizer adds the tokens.
        """
        return OPENNMT_PADDING in self.source and not (self.flag("add_source_bos") or self.flag("add_source_eos"))

    @property
    def is_marian(self) -> bool:
        return len(_named(self.source, _MARIAN_LANGUAGE)) > 1

    @property
    def languages(self) -> Languages:
        """The ids of the languages' tokens, in the order of the source vocabulary."""
        by_pattern = (_named(self.source, pattern) for pattern in (*_LANGUAGES, _MARIAN_LANGUAGE))
        return next((names for names in by_pattern if len(names) > 1), {})

    @property
    def package_names(self) -> tuple[str | None, str | None]:
        """The languages of a package by name."""
        names = []
        for side in ("from", "to"):
            name, code = self.metadata.get(f"{side}_name"), self.metadata.get(f"{side}_code")
            code = NAMES.get(code, code) if isinstance(code, str) and code else None
            names.append(name if isinstance(name, str) and name else code)
        return names[0] and names[0][:80], names[1] and names[1][:80]

    def describe_ends(self) -> str:
        start, end = self._ends()
        language = "" if not self.languages or self.is_marian else "the language's token and "
        if not (start or end):
            return f"after {language.removesuffix(' and ')}" if language else "without a token around it"
        return f"with {language}{' and '.join(dict.fromkeys((*start, *end)))}"

    def _ends(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the tokens before and after a sentence that the model reads, without the tokens of languages."""
        bos = self.token("bos_token", "<s>")
        if self.flag("add_source_bos") or self.flag("add_source_eos"):
            start = (bos,) if self.flag("add_source_bos") and bos else ()
            return start, (self.eos,) if self.flag("add_source_eos") else ()
        if self.adds_nothing:
            return (), ()
        return (bos,) if self.is_bart and bos and not self.languages else (), (self.eos,)

    def around(self, vocabularies: Vocabularies, starts_from_zero: bool, answers: Answers) -> Around:
        """Return the ids around a sentence, with those of the chosen languages."""
        start = self.token("decoder_start_token", "<s>")
        written = self._language(vocabularies, answers.target_language)
        read = self._language(vocabularies, answers.source_language)
        before, after = (
            [vocabularies.id("source", token, "stands beside a sentence") for token in tokens]
            for tokens in self._ends()
        )
        target_start = () if written is None else (written,)
        if self.is_marian:  # its language is the first token of the sentence that is read
            before, target_start = [*before, *target_start], ()
        elif read is not None and start is None and not self._token_of(answers.source_language).startswith("__"):
            return Around(written or 0, source_end=(*after, read))  # mBART: the language written is the start
        elif read is not None:
            before = [*before, read]
            start = start or self.eos
        if start is None:
            raise Refused("config.json names no decoder_start_token, without which the model cannot run.")
        prefix = self.metadata.get("target_prefix")
        if not target_start and isinstance(prefix, str) and prefix in vocabularies.target:
            target_start = (vocabularies.target.index(prefix),)
        if starts_from_zero:
            return Around(vocabularies.pad_id, tuple(before), tuple(after), target_start)
        sos = vocabularies.id("target", start, "starts a translation")
        return Around(sos, tuple(before), tuple(after), target_start)

    def _token_of(self, language: str | None) -> str:
        id = self.languages.get(language or "")
        return "" if id is None else self.source[id]

    def _language(self, vocabularies: Vocabularies, language: str | None) -> int | None:
        token = self._token_of(language)
        return vocabularies.target.index(token) if token else None

    def tokenizer_files(self) -> list[Path]:
        return tokenizer_files((self.folder,) if self.package is None else (self.package, self.folder))

    def tokenizers(
        self, vocabularies: Vocabularies, config: ModelConfig
    ) -> tuple[Tokenizer, Tokenizer, tuple[str, ...]]:
        """Return the tokenizers of both sides, and warnings about them."""
        languages = tuple(self._token_of(name) for name in self.languages)
        special = {"<s>", "</s>", self.token("bos_token", None), self.eos, vocabularies.source[config.pad_id]}
        names = TokenNames(
            self.token("unk_token", "<unk>") or "<unk>",
            frozenset(name for name in special if name) | frozenset(() if self.is_marian else languages),
            languages if self.is_marian else (),  # users may type one at the start of a sentence
        )
        paths = self.tokenizer_files()
        tokenizers = open_tokenizers(paths, vocabularies, (config.pad_id, config.sos_id, config.eos_id), names)
        return *tokenizers, self._warnings(paths)

    def _warnings(self, paths: list[Path]) -> tuple[str, ...]:
        if not paths:
            typed = "a text is typed as the model's own tokens, with spaces between them."
            return (f"No tokenizer came with it (such as sentencepiece.model): {typed}",)
        if paths[0].name != CODES:
            return ()
        return (
            f"A text is cut at its spaces and then by {CODES}. The package was trained on text of the Moses tokenizer: "
            "type spaces before punctuation marks as that does.",
        )


def open_text_files(source: Source) -> TextFiles:
    """Read the configuration and the vocabularies. Raises Refused where there are none."""
    if source.folder is None:
        raise Refused(
            "A model.bin of CTranslate2 has only weights.", (), "Import the folder with it and its vocabulary."
        )
    package = source.folder if (source.folder / ARGOS_MODEL).is_dir() else None
    folder = source.folder if package is None else package / ARGOS_MODEL
    facts = source.facts["CTranslate2"]
    values = _object(folder / "config.json") if facts["version"] >= 6 else _old_settings(source)
    shared = _vocabulary(folder, "shared_vocabulary")
    first, second = (shared or _vocabulary(folder, f"{side}_vocabulary") for side in ("source", "target"))
    if _vocabulary(folder, "source_1_vocabulary"):
        raise Refused("The model reads features beside the tokens, which is not supported.")
    if first is None or second is None:
        needed = "shared_vocabulary.json, or source_vocabulary.json and target_vocabulary.json (or .txt)"
        raise Refused(f"{short(folder.name)} lacks the vocabulary of the model.", (), f"It needs {needed}.")
    infos = source.weights.infos
    return TextFiles(
        folder,
        package,
        values,
        {} if package is None else _object(package / ARGOS_FACTS),
        first,
        second,
        "encoder/layernorm_embedding/gamma" in infos and "encoder/layer_norm/gamma" not in infos,
    )


def _old_settings(source: Source) -> dict[str, Any]:
    """Return the settings that versions up to 5 store in `model.bin` instead of config.json."""

    def text(name: str, usual: str) -> str:
        info = source.weights.infos.get(name)
        if info is None or len(info.shape) != 1 or info.dtype != "I8":
            return usual
        return bytes(source.weights.tensor(name).view(-1).tolist()).decode("utf-8", "replace")

    def flag(name: str, usual: bool) -> bool:
        known = source.weights.infos.get(name)
        return usual if known is None else bool(source.weights.tensor(name).flatten().any())

    values: dict[str, Any] = {name: text(name, usual) for name, usual in _OLD_TOKENS.items()}
    start: str | None = values["bos_token"] if flag("with_target_bos", True) else values["eos_token"]
    return values | {
        "add_source_bos": flag("with_source_bos", False),
        "add_source_eos": flag("with_source_eos", False),
        "decoder_start_token": None if flag("user_decoder_start_tokens", False) else start,
    }


_OLD_TOKENS = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}


def _object(path: Path) -> dict[str, Any]:
    values = read_json(path) if path.is_file() else {}
    return values if isinstance(values, dict) else {}


def _vocabulary(folder: Path, name: str) -> tuple[str, ...] | None:
    """Read the tokens in the order of their ids, from JSON or one per line; None where there is no such file."""
    if (path := folder / f"{name}.json").is_file():
        tokens = read_json(path)
    elif (path := folder / f"{name}.txt").is_file():
        try:
            tokens = read_bytes(path, _MAX_VOCABULARY_BYTES).decode("utf-8").removesuffix("\n").split("\n")
        except ValueError:
            raise Refused(f"{path.name} cannot be read as text in UTF-8.") from None
        if all(token.endswith("\r") for token in tokens):
            tokens = [token[:-1] for token in tokens]
    else:
        return None
    if not isinstance(tokens, list) or not tokens or len(tokens) > MAX_TOKENS:
        raise Refused(f"{path.name} is not a list of tokens.")
    if not all(isinstance(token, str) for token in tokens):
        raise Refused(f"{path.name} has something that is not a token.")
    return tuple(tokens)


def _named(tokens: tuple[str, ...], pattern: str) -> dict[str, int]:
    compiled = re.compile(pattern)
    return {match[1]: id for id, token in enumerate(tokens) if (match := compiled.fullmatch(token))}
