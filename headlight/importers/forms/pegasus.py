"""Pegasus and both Blenderbots as Hugging Face saves them: they write a summary, or an answer."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from headlight.importers.forms import hugging_face_tokenizers
from headlight.importers.forms.bart import BART
from headlight.importers.forms.marian import MARIAN
from headlight.importers.forms.marian_family import plain_around, shared

PEGASUS = replace(
    MARIAN,
    name="Hugging Face Pegasus",
    model_type="pegasus",
    norm="pre",
    final_norm=True,
    tokenizers=shared(hugging_face_tokenizers.pegasus),
    languages=lambda config: {},
    language_questions=lambda config, languages: (),
    around=plain_around,
)

BLENDERBOT = replace(
    PEGASUS,
    name="Hugging Face Blenderbot",
    model_type="blenderbot",
    positions="learned",
    table=None,
    tokenizers=shared(partial(hugging_face_tokenizers.bart, spaced=True)),  # its texts begin with a space
)

# Its encoder norms the sum of embeddings and positions; its decoder norms the embeddings, then adds the positions.
BLENDERBOT_SMALL = replace(
    BART,
    name="Hugging Face Blenderbot-small",
    model_type="blenderbot-small",
    offset=0,
    decoder_norm_first=True,
    tokenizers=shared(hugging_face_tokenizers.blenderbot_small),
    around=lambda config, languages, answers: plain_around(config, languages, answers)._replace(source_end=()),
)
