"""The formats of imported models, a file each: how to recognise them, what they leave open, how to convert them."""

from __future__ import annotations

from headlight.importers.forms.bart import BART, MBART, PLBART
from headlight.importers.forms.berts import BERTS
from headlight.importers.forms.ctranslate2 import CTRANSLATE2
from headlight.importers.forms.fairseq import FAIRSEQ
from headlight.importers.forms.form import ForeignModel, Form
from headlight.importers.forms.joeynmt import JOEYNMT
from headlight.importers.forms.m2m100 import FSMT, M2M100
from headlight.importers.forms.marian import MARIAN
from headlight.importers.forms.native import Native
from headlight.importers.forms.opennmt import OPENNMT
from headlight.importers.forms.pegasus import BLENDERBOT, BLENDERBOT_SMALL, PEGASUS
from headlight.importers.forms.t5 import T5
from headlight.importers.forms.torch_transformer import TORCH_TRANSFORMER
from headlight.importers.forms.tutorials import EXERCISES, TUTORIALS

__all__ = ["FORMS", "Form", "ForeignModel"]

FORMS: tuple[Form, ...] = (
    Native(),
    *TUTORIALS.values(),
    EXERCISES,
    MARIAN,
    BART,
    MBART,
    PLBART,
    M2M100,
    FSMT,
    PEGASUS,
    BLENDERBOT,
    BLENDERBOT_SMALL,
    T5,
    BERTS,
    TORCH_TRANSFORMER,
    CTRANSLATE2,
    OPENNMT,
    FAIRSEQ,
    JOEYNMT,
)
