"""The forms in which models arrive, each a file: what it looks like, what it does not say, how it becomes ours."""

from __future__ import annotations

from transformer.checkpoints.forms.bart import BART, MBART
from transformer.checkpoints.forms.form import Form, Reading
from transformer.checkpoints.forms.m2m100 import M2M100
from transformer.checkpoints.forms.marian import MARIAN
from transformer.checkpoints.forms.native import Native
from transformer.checkpoints.forms.t5 import T5
from transformer.checkpoints.forms.tutorials import TUTORIALS

__all__ = ["FORMS", "Form", "Reading"]

FORMS: tuple[Form, ...] = (Native(), *TUTORIALS.values(), MARIAN, BART, MBART, M2M100, T5)
