"""The settings of a fairseq checkpoint, and what its task puts around a text.

The tasks are those of fairseq 0.12: translation, translation_from_pretrained_bart, translation_multi_simple_epoch and
multilingual_translation; and BART as `BARTHubInterface` runs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from headlight.importers.forms.languages import about_language
from headlight.importers.questions import ImportQuestion
from headlight.importers.source import Source
from transformer.checkpoint.weights import Refused, TensorInfo, Weights
from transformer.quoting import quoted

SPECIALS = ("<s>", "<pad>", "</s>", "<unk>")
START, END_SYMBOL, MASK = "<s>", "</s>", "<mask>"
MAX_SETTING = 1_000_000
MAX_LANGUAGES = 1_000
MAX_CHARACTERS = 1_000  # characters of a name or a path
BART_TASK = "translation_from_pretrained_bart"
ONE_MODEL_TASK, PAIRS_TASK = "translation_multi_simple_epoch", "multilingual_translation"
_LANGUAGE_TOKENS = {"multilingual": "__{}__", "mbart": "[{}]"}


class Settings:
    """The settings of a checkpoint: flat as argparse has them, or in groups as Hydra has them. None is the default."""

    def __init__(self, model: Mapping[str, Any], task: Mapping[str, Any]):
        self.model, self._task = model, task

    def value(self, name: str) -> Any:
        stack, _, rest = name.partition("_")
        group = self.model.get(stack)
        if name.startswith("quant_noise_"):
            group, rest = self.model.get("quant_noise"), name.removeprefix("quant_noise_")
        inner = group.get(rest) if isinstance(group, dict) else None
        inner = self.model.get(name) if inner is None else inner
        return self._task.get(name) if inner is None else inner

    def flag(self, name: str) -> bool:
        return bool(self.value(name))

    def whole(self, name: str, default: int) -> int:
        value = self.value(name)
        value = default if value is None else value
        if type(value) is not int or not 1 <= value <= MAX_SETTING:
            raise Refused(f"The setting {name} is {quoted(value)}; it must be a whole number from 1.")
        return value

    def text(self, name: str) -> str:
        """Return a text; "" where there is none, or one that is too long for a name."""
        value = self.value(name)
        return value if isinstance(value, str) and len(value) <= MAX_CHARACTERS else ""

    def texts(self, name: str) -> list[str]:
        """Return a list of texts, which may be saved as one text with commas. Raises Refused for over MAX_LANGUAGES."""
        value = self.value(name)
        values = value.split(",") if isinstance(value, str) else value if isinstance(value, list | tuple) else ()
        if len(values) > MAX_LANGUAGES:
            raise Refused(f"The setting {name} names {len(values):,} languages; at most {MAX_LANGUAGES:,} are read.")
        texts = [text for text in values if isinstance(text, str) and len(text) <= MAX_CHARACTERS]
        return [text.strip() for text in texts if text.strip()]

    @property
    def architecture(self) -> str:
        return self.text("arch") or self.text("_name")

    @property
    def task(self) -> str:
        return self.text("task") or str(self._task.get("_name") or "")

    @property
    def is_bart(self) -> bool:
        """Whether texts begin with <s> and end with </s>, as BART's do unless the task is another."""
        return self.architecture.startswith("bart") and self.task not in (BART_TASK, ONE_MODEL_TASK, PAIRS_TASK)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        named = (pair.split("-") for pair in self.texts("lang_pairs"))
        return [(pair[0], pair[1]) for pair in named if len(pair) == 2]

    def languages(self, source: Source) -> list[str]:
        """Return the languages of the task, in the order of their symbols."""
        if self.task == PAIRS_TASK or not (self.value("langs") or self.text("lang_dict")):
            return sorted({language for pair in self.pairs for language in pair})
        if self.value("langs"):
            return self.texts("langs")
        name = self.text("lang_dict").rpartition("/")[2]
        path = source.nearby(name)
        if path is None:
            raise Refused(f"The languages of this fairseq model are in a file {quoted(name)}, which is not beside it.")
        lines = path.read_bytes()[: MAX_LANGUAGES * 100].decode("utf-8", "replace").splitlines()
        return [line.strip() for line in lines if line.strip()][:MAX_LANGUAGES]

    def specification(self) -> tuple[str, bool]:
        """Return which language the token before a source names, "src", "tgt" or "", and whether a target has one."""
        by_data = self.value("langtoks")
        main = by_data.get("main") if isinstance(by_data, dict) else None
        if self.task == ONE_MODEL_TASK and isinstance(main, list | tuple) and len(main) == 2:
            return (main[0] if main[0] in ("src", "tgt") else ""), bool(main[1])
        return self.text("encoder_langtok"), self.flag("decoder_langtok")


class Framing(NamedTuple):
    """The symbols around a text, and those that the task adds to the dictionary."""

    start: str = END_SYMBOL  # what the decoder reads first
    source_start: tuple[str, ...] = ()
    source_end: tuple[str, ...] = (END_SYMBOL,)
    target_start: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


def framing(settings: Settings, source: Source, languages: tuple[str, str]) -> Framing:
    """Return what the task puts around a text in the first of two languages, and around its translation."""
    if settings.is_bart:
        return Framing(source_start=(START,), target_start=(START,), added=(MASK,))
    if settings.task == BART_TASK:
        first, second = (f"[{language}]" for language in languages)
        added = (*(f"[{language}]" for language in settings.languages(source)), MASK)
        before = (START,) if settings.flag("prepend_bos") else ()
        return Framing(second, before, (END_SYMBOL, first), added=added)
    if settings.task not in (ONE_MODEL_TASK, PAIRS_TASK):
        return Framing()
    if settings.flag("lang_tok_replacing_bos_eos"):
        raise Refused("This fairseq model has languages in place of its ends (lang_tok_replacing_bos_eos).")
    style = _LANGUAGE_TOKENS.get(settings.text("lang_tok_style") or "multilingual", "__{}__")
    spec, written = settings.specification()
    symbol = {name: style.format(language) for name, language in zip(("src", "tgt"), languages, strict=True)}
    added = tuple(map(style.format, settings.languages(source))) if spec or written else ()
    if settings.task == PAIRS_TASK:  # the language takes the place of the end
        return Framing(
            symbol["tgt"] if written else END_SYMBOL, (), (symbol[spec],) if spec else (END_SYMBOL,), (), added
        )
    added += (MASK,) if style == _LANGUAGE_TOKENS["mbart"] else ()
    return Framing(
        source_start=(symbol[spec],) if spec else (), target_start=(symbol["tgt"],) if written else (), added=added
    )


def about_languages(settings: Settings, source: Source) -> tuple[ImportQuestion, ...]:
    """Ask for the languages where a checkpoint knows more than two."""
    if settings.task == ONE_MODEL_TASK:
        spec, written = settings.specification()
        known = {language: id for id, language in enumerate(settings.languages(source))}
        sides = [("source", "source_lang")] * (spec == "src")
        sides += [("target", "target_lang")] * (spec == "tgt" or written)
        return tuple(about_language(side, known, settings.text(setting)) for side, setting in sides)
    if settings.task != PAIRS_TASK or len(settings.pairs) < 2:
        return ()
    named = ", ".join("-".join(pair) for pair in settings.pairs[:8])
    return tuple(
        ImportQuestion(
            f"{side}_language",
            f"Which language should it {verb}?",
            f"The file holds a model for each pair of languages: {named}.",
            choices=tuple(dict.fromkeys(pair[index] for pair in settings.pairs)),
        )
        for index, (side, verb) in enumerate((("source", "read"), ("target", "write")))
    )


class PairWeights:
    """The tensors of one of several models, whose names have a prefix in the file."""

    def __init__(self, weights: Weights, prefix: str):
        self._weights, self._prefix = weights, prefix
        self.infos: Mapping[str, TensorInfo] = {
            name.removeprefix(prefix): info for name, info in weights.infos.items() if name.startswith(prefix)
        }

    def tensor(self, name: str) -> Any:
        return self._weights.tensor(f"{self._prefix}{name}")
