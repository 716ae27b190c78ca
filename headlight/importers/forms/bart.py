"""BART, mBART and PLBart as Hugging Face saves them."""

from __future__ import annotations

from dataclasses import replace

from headlight.importers.forms import hugging_face_tokenizers
from headlight.importers.forms.hugging_face_config import HuggingFaceConfig
from headlight.importers.forms.languages import Around, Languages
from headlight.importers.forms.marian_family import MarianFamily, ask_for_both, forced_start, shared
from headlight.importers.limits import MAX_TOKENS
from headlight.importers.questions import Answers, ImportQuestion


def _bart_around(config: HuggingFaceConfig, languages: Languages, answers: Answers) -> Around:
    start = config.known_id("decoder_start_token_id", MAX_TOKENS)
    first = config.id("bos_token_id", MAX_TOKENS)
    return Around(start, source_start=() if first is None else (first,), target_start=forced_start(config))


BART = MarianFamily(
    name="Hugging Face BART",
    model_type="bart",
    norm="post",
    final_norm=False,
    embedding_norm=True,
    logits_bias=True,
    positions="learned",
    offset=2,
    table=None,
    activation="gelu",
    scaled=False,
    multilingual=False,
    tokenizers=shared(hugging_face_tokenizers.bart),
    languages=lambda config: {},
    asks=lambda config, languages: (),
    around=_bart_around,
)


def _mbart_asks(config: HuggingFaceConfig, languages: Languages) -> tuple[ImportQuestion, ...]:
    return ask_for_both(config, languages, _target_is_set(config, languages))


def _target_is_set(config: HuggingFaceConfig, languages: Languages) -> bool:
    """Return whether the model was trained further to write one language only."""
    ids = set(languages.values())
    return bool(ids & {config.id("decoder_start_token_id", MAX_TOKENS), *forced_start(config)})


def _mbart_around(config: HuggingFaceConfig, languages: Languages, answers: Answers) -> Around:
    """Return the ids around a text: mBART reads "tokens </s> en_XX" and writes after "fr_XX"; mBART-50 reads "en_XX
    tokens </s>" and writes after "</s> fr_XX".
    """
    start = config.id("decoder_start_token_id", MAX_TOKENS)
    if not languages:
        return Around(config.known_id("decoder_start_token_id", MAX_TOKENS), target_start=forced_start(config))
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
    asks=_mbart_asks,
    around=_mbart_around,
)


def _plbart_around(config: HuggingFaceConfig, languages: Languages, answers: Answers) -> Around:
    """Return the ids around a text: PLBart reads "tokens </s> __java__" and writes after "__en_XX__"."""
    if not languages:
        return Around(config.known_id("decoder_start_token_id", MAX_TOKENS), target_start=forced_start(config))
    around = _mbart_around(config, languages, answers)
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
    asks=_mbart_asks,
    around=_plbart_around,
)
