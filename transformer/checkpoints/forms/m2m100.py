"""M2M100 and NLLB as Hugging Face saves them."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from transformer.checkpoints.forms import hugging_face_tokenizers
from transformer.checkpoints.forms.bart import forced
from transformer.checkpoints.forms.hugging_face_config import HuggingFaceConfig
from transformer.checkpoints.forms.hugging_face_tokenizers import Ids
from transformer.checkpoints.forms.languages import Around, Languages, about_language
from transformer.checkpoints.forms.marian_family import MOST_TOKENS, MarianFamily
from transformer.checkpoints.questions import Answers, Question
from transformer.data.tokenizers import Tokenizer

OFFSET = 2  # a text's first token stands at position 2


def sinusoidal_from_two(length: int, d_model: int) -> Tensor:
    """`M2M100SinusoidalPositionalEmbedding` of a text without padding: wavelengths from 2π to 10,000 · 2π with both
    ends taken, all sines before all cosines, in single precision."""
    half = d_model // 2
    frequency = torch.exp(torch.arange(half).float() * -(math.log(10_000) / (half - 1)))
    angle = torch.arange(OFFSET, OFFSET + length).float()[:, None] * frequency
    table = torch.cat([angle.sin(), angle.cos()], 1)
    return torch.cat([table, table.new_zeros(length, d_model - 2 * half)], 1)


def _tokenizers(config: HuggingFaceConfig, ids: Ids, sizes: tuple[int, int]) -> tuple[Tokenizer, Tokenizer] | None:
    tokenizer = hugging_face_tokenizers.m2m100(config, ids, sizes[0])
    return None if tokenizer is None else (tokenizer, tokenizer)


def _asks(config: HuggingFaceConfig, languages: Languages) -> tuple[Question, ...]:
    if not languages:
        return ()
    source = about_language("source", languages, config.tokenizer.get("src_lang"))
    return (
        (source,) if forced(config) else (source, about_language("target", languages, config.tokenizer.get("tgt_lang")))
    )


def _around(config: HuggingFaceConfig, languages: Languages, answers: Answers) -> Around:
    start = config.known_id("decoder_start_token_id", MOST_TOKENS)
    if not languages:
        return Around(start, target_start=forced(config))
    read = languages[answers.source_language or ""]
    written = forced(config) or (languages[answers.target_language or ""],)
    if config.tokenizer.get("legacy_behaviour") is True:  # the first NLLB tokenizers put it at the end
        eos = config.known_id("eos_token_id", MOST_TOKENS)
        return Around(start, source_end=(eos, read), target_start=written)
    return Around(start, source_start=(read,), target_start=written)


M2M100 = MarianFamily(
    name="Hugging Face M2M100 or NLLB",
    model_type="m2m_100",
    norm="pre",
    final_norm=True,
    embedding_norm=False,
    logits_bias=False,
    positions="stored",
    offset=OFFSET,
    table=sinusoidal_from_two,
    activation="relu",
    scaled=True,
    multilingual=True,
    tokenizers=_tokenizers,
    languages=hugging_face_tokenizers.m2m100_languages,
    asks=_asks,
    around=_around,
)
