"""BART, mBART and PLBart as Hugging Face saves them."""

from __future__ import annotations

from dataclasses import replace

from headlight.importers.forms import hugging_face_tokenizers
from headlight.importers.forms.hugging_face_config import HuggingFaceConfig
from headlight.importers.forms.languages import Around, Languages
from headlight.importers.forms.marian_family import MarianFamily, about_languages, forced_start, plain_around, shared
from headlight.importers.limits import MAX_TOKENS
from headlight.importers.questions import Answers, ImportQuestion


def _bart_around(config: HuggingFaceConfig, languages: Languages, answers: Answers) -> Around:
    first = config.id("bos_token_id", MAX_TOKENS)
    return plain_around(config, languages, answers)._replace(source_start=() if first is None else (first,))


BART = MarianFamily(
    name="Hugging Face BART",
    model_type="bart",
    norm="post",
    embedding_norm=True,
    logits_bias=True,
    positions="learned",
    offset=2,
    activation="gelu",
    tokenizers=shared(hugging_face_tokenizers.bart),
    around=_bart_around,
)


def _mbart_questions(config: HuggingFaceConfig, languages: Languages) -> tuple[ImportQuestion, ...]:
    """Ask for the languages; a model that was trained further to write one language starts with it."""
    starts = {config.id("decoder_start_token_id", MAX_TOKENS), *forced_start(config)}
    return about_languages(config, languages, target_is_set=not starts.isdisjoint(languages.values()))


def _mbart_around(config: HuggingFaceConfig, languages: Languages, answers: Answers) -> Around:
    """Return the ids around a text: mBART reads "tokens </s> en_XX" and writes after "fr_XX"; mBART-50 reads "en_XX
    tokens </s>" and writes after "</s> fr_XX".
    """
    if not languages:
        return plain_around(config, languages, answers)
    start = config.id("decoder_start_token_id", MAX_TOKENS)
    eos = config.known_id("eos_token_id", MAX_TOKENS)
    read = languages[answers.source_language or ""]
    written = languages.get(answers.target_language or "")
    if start == eos:
        return Around(eos, source_start=(read,), target_start=forced_start(config) if written is None else (written,))
    sos = start if written is None else written
    assert sos is not None, "the language is asked for where the configuration has none"
    return Around(sos, source_end=(eos, read), target_start=forced_start(config))


MBART = replace(
    BART,
    name="Hugging Face mBART",
    model_type="mbart",
    norm="pre",
    final_norm=True,
    multilingual=True,
    tokenizers=shared(hugging_face_tokenizers.fairseq),
    languages=hugging_face_tokenizers.fairseq_languages,
    language_questions=_mbart_questions,
    around=_mbart_around,
)


def _plbart_around(config: HuggingFaceConfig, languages: Languages, answers: Answers) -> Around:
    """Return the ids around a text: PLBart reads "tokens </s> __java__" and writes after "__en_XX__"."""
    around = _mbart_around(config, languages, answers)
    if not languages:
        return around
    eos = config.known_id("eos_token_id", MAX_TOKENS)
    return around._replace(source_start=(), source_end=(eos, languages[answers.source_language or ""]))


PLBART = replace(
    BART,
    name="Hugging Face PLBart",
    model_type="plbart",
    scaled=True,
    multilingual=True,
    tokenizers=shared(hugging_face_tokenizers.plbart),
    languages=hugging_face_tokenizers.plbart_languages,
    language_questions=_mbart_questions,
    around=_plbart_around,
)
