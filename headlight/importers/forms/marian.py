"""Marian as Hugging Face saves it: all models of opus-mt."""

from __future__ import annotations

import torch
from torch import Tensor

from headlight.importers.forms import hugging_face_tokenizers
from headlight.importers.forms.hugging_face_config import HuggingFaceConfig
from headlight.importers.forms.languages import Around, Languages, about_language
from headlight.importers.forms.marian_family import MarianFamily
from headlight.importers.limits import MAX_TOKENS
from headlight.importers.questions import Answers, ImportQuestion
from transformer.positions import sinusoidal


def sines_then_cosines(length: int, d_model: int) -> Tensor:
    """Return the paper's table with all sines before all cosines, as `MarianSinusoidalPositionalEmbedding` has it."""
    table = sinusoidal(length, d_model)  # of an odd width, one cosine too many
    return torch.cat([table[:, 0::2], table[:, 1::2]], 1)[:, :d_model]


def _language_questions(config: HuggingFaceConfig, languages: Languages) -> tuple[ImportQuestion, ...]:
    """Ask for the target language of a model with several; its token begins the source sentence."""
    return (about_language("target", languages, None, required=False),) if languages else ()


def _around(config: HuggingFaceConfig, languages: Languages, answers: Answers) -> Around:
    start = config.id("decoder_start_token_id", MAX_TOKENS)
    language_token = languages.get(answers.target_language or "")
    return Around(
        config.known_id("pad_token_id", MAX_TOKENS) if start is None else start,
        source_start=() if language_token is None else (language_token,),
    )


MARIAN = MarianFamily(
    name="Hugging Face Marian",
    model_type="marian",
    norm="post",
    logits_bias=True,
    positions="stored",
    table=lambda config, length, d_model: sines_then_cosines(length, d_model),
    activation="gelu",
    tokenizers=hugging_face_tokenizers.marian,
    languages=hugging_face_tokenizers.marian_languages,
    language_questions=_language_questions,
    around=_around,
)
