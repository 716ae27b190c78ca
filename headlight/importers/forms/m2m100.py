"""M2M100, NLLB and FSMT as Hugging Face saves them: they count positions from the padding's id on."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from headlight.importers.forms import hugging_face_tokenizers
from headlight.importers.forms.hugging_face_config import HuggingFaceConfig
from headlight.importers.forms.languages import Around, Languages
from headlight.importers.forms.marian_family import MarianFamily, about_languages, forced_start, plain_around, shared
from headlight.importers.limits import MAX_TOKENS
from headlight.importers.questions import Answers, ImportQuestion
from transformer.checkpoint.weights import Refused

POSITION_OFFSET = 2  # rows that the family's tables have beside max_position_embeddings


def sinusoidal_from(first: int, length: int, d_model: int) -> Tensor:
    """Return the rows [length, d_model] of `M2M100SinusoidalPositionalEmbedding` from position `first` on.

    Wavelengths run from 2π to 10,000 · 2π, both included; all sines stand before all cosines, in single precision.
    """
    half = d_model // 2
    frequency = torch.exp(torch.arange(half).float() * -(math.log(10_000) / (half - 1)))
    angle = torch.arange(first, first + length).float()[:, None] * frequency
    table = torch.cat([angle.sin(), angle.cos()], 1)
    return torch.cat([table, table.new_zeros(length, d_model - 2 * half)], 1)


def _positions(config: HuggingFaceConfig, length: int, d_model: int) -> Tensor:
    """Return the sinusoidal table [length, d_model]; texts start at the position after the padding's id, as in
    `create_position_ids_from_input_ids`.
    """
    return sinusoidal_from(config.known_id("pad_token_id", MAX_TOKENS) + 1, length, d_model)


def _language_questions(config: HuggingFaceConfig, languages: Languages) -> tuple[ImportQuestion, ...]:
    return about_languages(config, languages, target_is_set=bool(forced_start(config)))


def _around(config: HuggingFaceConfig, languages: Languages, answers: Answers) -> Around:
    start = config.known_id("decoder_start_token_id", MAX_TOKENS)
    if start == config.known_id("pad_token_id", MAX_TOKENS):
        # The family's code gives padding no position, so the start would shift what follows, and only without a cache.
        raise Refused(
            f"decoder_start_token_id in config.json is {start}, which is pad_token_id too: where a written token then "
            "stands depends in the original code on whether it decodes with a cache.",
            remedy="Set decoder_start_token_id to eos_token_id if the model was trained so.",
        )
    if not languages:
        return plain_around(config, languages, answers)
    read = languages[answers.source_language or ""]
    written = forced_start(config) or (languages[answers.target_language or ""],)
    if config.tokenizer.get("legacy_behaviour") is True:  # the first NLLB tokenizers put it at the end
        eos = config.known_id("eos_token_id", MAX_TOKENS)
        return Around(start, source_end=(eos, read), target_start=written)
    return Around(start, source_start=(read,), target_start=written)


M2M100 = MarianFamily(
    name="Hugging Face M2M100 or NLLB",
    model_type="m2m_100",
    norm="pre",
    final_norm=True,
    positions="stored",
    offset=POSITION_OFFSET,
    table=_positions,
    activation="relu",
    scaled=True,
    multilingual=True,
    tokenizers=shared(hugging_face_tokenizers.m2m100),
    languages=hugging_face_tokenizers.m2m100_languages,
    language_questions=_language_questions,
    around=_around,
)


def _caution(config: HuggingFaceConfig) -> str:
    if (config.folder / hugging_face_tokenizers.WHOLE).exists() or hugging_face_tokenizers.cuts_with_moses(config):
        return ""
    return hugging_face_tokenizers.WITHOUT_MOSES


FSMT = replace(
    M2M100,
    name="Hugging Face FSMT",
    model_type="fsmt",
    norm="post",
    final_norm=False,
    multilingual=False,
    tokenizers=hugging_face_tokenizers.fsmt,
    languages=lambda config: {},
    language_questions=lambda config, languages: (),
    output="{}decoder.output_projection.weight",
    two_vocabularies=True,
    caution=_caution,
)
