"""Open a live Hugging Face model as a `Translator`, without a copy of its weights."""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

from headlight.formatting import percent
from headlight.importers.examples import examples, suggest_examples
from headlight.importers.questions import Answers
from headlight.watching.checks import WATCH_INSTEAD, require_model, require_tokenizer
from headlight.watching.comparing import compare
from headlight.watching.shared_copy import SharedCopy
from headlight.watching.sharing import LiveTranslator, share
from transformer.checkpoint.native import FLOATS
from transformer.quoting import quoted, short

COMPARED_TOKENS = 12  # of the text on which both models are compared, and of its translation


def from_hugging_face(
    model: Any, tokenizer: Any, *, source_language: str | None = None, target_language: str | None = None
) -> LiveTranslator:
    """Return a live encoder-decoder of `transformers` as a `Translator`, which shares the model's tensors.

    No matrix is copied and nothing is written to `model`: change its weights, and the translator computes with the
    changed ones. `card["live"]` names the few parameters that are computed from the model's (`copied`), and has the
    largest differences between the two models on a short text (`logits` and `attention`). Weights in bfloat16 or
    float16 keep that type, but all computation is in float32, so results differ by the rounding of the model itself.

    The supported families are those of Hugging Face that `headlight import` opens. The languages of a multilingual
    model are `source_language` and `target_language`, by the tokenizer's own names ("fr_XX", "fra_Latn", "fr"), or else
    the tokenizer's `src_lang` and `tgt_lang`.

    Raises ValueError for weights that are quantized, offloaded or on several devices; for another kind of model (use
    `headlight.watch`), for a language that is missing or unknown, and for a model whose logits or attention differ from
    those of our network; the message then names the first layer that differs.
    """
    model = require_model(model)
    require_tokenizer(tokenizer)
    copy = SharedCopy(model, tokenizer)
    if not copy.has_both:
        raise ValueError(f"{copy.name} is not an encoder-decoder. {WATCH_INSTEAD}")
    copy.require_output()
    _require_plain_tensors(model, copy.name)
    languages = Answers(source_language=source_language, target_language=target_language)
    translator = share(model, tokenizer, languages, copy.title)
    _require_same(translator, copy)
    return translator


def _require_plain_tensors(model: Any, name: str) -> None:
    """Raise ValueError for weights that our network cannot use in place."""
    tensors = [tensor for tensor in model.state_dict().values() if tensor.is_floating_point()]
    if any(tensor.is_meta for tensor in tensors):
        raise ValueError(f"Some weights of {name} are offloaded; open it without device_map.")
    devices, dtypes = {str(t.device) for t in tensors}, {str(t.dtype).removeprefix("torch.") for t in tensors}
    if len(devices) > 1:
        raise ValueError(f"{name} is on {' and '.join(sorted(devices))}; move it to one device with model.to(...).")
    if getattr(model, "hf_quantizer", None) is not None or not dtypes <= {*FLOATS}:
        kinds = " and ".join(sorted(dtypes - {*FLOATS})) or "quantized weights"
        raise ValueError(f"{name} is in {kinds}; open it in {', '.join(FLOATS)}, without quantization_config.")
    classes = {type(t.data).__name__ for t in model.parameters()} - {"Tensor"}
    if classes:
        raise ValueError(
            f"{name} has weights of the class {' and '.join(sorted(classes))}; open it with plain tensors."
        )


def _require_same(translator: LiveTranslator, copy: SharedCopy) -> None:
    """Compare both models on a short text and write the differences on the card. Raises ValueError if they differ."""
    text = _text(translator)
    _require_same_tokens(translator, copy, text)
    config, card = translator.model.config, translator.card
    end = (config.eos_id,) if config.source_end is None else config.source_end
    source, target = (
        list(islice(tokenizer.encode(text), COMPARED_TOKENS))
        for tokenizer in (translator.checkpoint.source_tokenizer, translator.checkpoint.target_tokenizer)
    )
    source = [*config.source_start, *source, *end][: config.max_length]
    target = [config.sos_id, *config.target_start, *target][: config.max_length]
    comparison = compare(translator, copy, source, target)
    if comparison.begins is not None:
        relative = comparison.relative
        difference = f"{percent(relative)} off" if math.isfinite(relative) else "not all numbers"
        raise ValueError(
            f"{copy.name} cannot be opened as a Translator: it differs from Headlight's network, first in "
            f"{comparison.begins}; its logits for {quoted(text)} are {difference}. {WATCH_INSTEAD}"
        )
    card["live"] |= {"text": text, "logits": comparison.logits, "attention": comparison.attention}


def _text(translator: LiveTranslator) -> str:
    card = translator.card
    if not examples(card):
        card["examples"] = suggest_examples(card.get("source"), translator.checkpoint.source_tokenizer)
    known = examples(card)
    if not known:
        raise ValueError("The tokenizer makes no token of any sentence; give the tokenizer that belongs to the model.")
    return known[0].text


def _require_same_tokens(translator: LiveTranslator, copy: SharedCopy, text: str) -> None:
    """Raise ValueError where our tokenizer, read from the same files, splits a text into other tokens."""
    expected = list(copy.tokenizer(text, add_special_tokens=False, padding=False, truncation=False)["input_ids"])
    own = translator.checkpoint.source_tokenizer.encode(text)
    if own != expected:
        raise ValueError(
            f"{type(copy.tokenizer).__name__} splits {quoted(text)} into the ids {short(expected)}, and its files, as "
            f"they are read here, into {short(own)}; give the tokenizer that belongs to the model."
        )
