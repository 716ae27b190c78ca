"""Hugging Face models of no family that opens here: named in one sentence rather than taken apart."""

from __future__ import annotations

from headlight.importers.forms.hugging_face_config import hugging_face_config
from headlight.importers.pickles import CONVERT_FAIRSEQ
from headlight.importers.source import Source
from transformer.checkpoint.weights import Refused
from transformer.quoting import quoted

_FAIRSEQ_OUTPUT = "decoder.output_projection.weight"
FAMILIES = "Marian, BART, mBART, M2M100, NLLB and T5"
KNOWN = ("marian", "bart", "mbart", "m2m_100", "t5", "mt5")


def refuse_others(source: Source) -> None:
    """Raises Refused for fairseq's weights, and where a `config.json` says what the model is and that type is none of
    these."""
    config = hugging_face_config(source)
    if config is None and _FAIRSEQ_OUTPUT in source.weights.infos:
        raise Refused(
            "These are the weights of a fairseq model, and no config.json says where its norms stand.",
            remedy=CONVERT_FAIRSEQ,
        )
    if config is None or config.model_type in KNOWN:
        return
    name = config.model_type[:60]
    if name == "nllb-moe":
        why = "whose layers choose among many feed-forward networks"
    elif config.values.get("is_encoder_decoder") is True:
        why = "an encoder-decoder of an unsupported family"
    else:
        why = "which is unsupported, or not an encoder-decoder"
    raise Refused(f"This is a model of type {quoted(name)}, {why}.", remedy=f"Supported are {FAMILIES}.")
