"""Check the arguments of `watch`, and explain in a sentence what cannot be watched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transformer.quoting import quoted

WATCH_INSTEAD = "headlight.watch(model, tokenizer, text) shows the attention of any model."
# Arguments of `generate` that `watch` sets itself, or needs for reading the result.
_OWN_ARGUMENTS = (
    "input_ids",
    "inputs",
    "inputs_embeds",
    "attention_mask",
    "encoder_outputs",
    "return_dict_in_generate",
)


def require_model(model: Any) -> Any:
    """Return the model without the wrapper of `torch.compile`. Raises ValueError where it doesn't read text."""
    from transformers import PreTrainedModel

    model = getattr(model, "_orig_mod", model)
    name = type(model).__name__
    if not isinstance(model, PreTrainedModel):
        raise ValueError(f"The model is a {name}; give one of transformers, such as AutoModel.from_pretrained(...).")
    if model.main_input_name != "input_ids":
        raise ValueError(f"{name} reads {model.main_input_name}, not text; give a model that reads token ids.")
    return model


def require_tokenizer(tokenizer: Any) -> None:
    from transformers import PreTrainedTokenizerBase

    if not isinstance(tokenizer, PreTrainedTokenizerBase):
        raise ValueError(
            f"The tokenizer is a {type(tokenizer).__name__}; give the model's own: AutoTokenizer.from_pretrained(...)."
        )


def require_text(text: Any, target: Any) -> None:
    if isinstance(text, list | tuple):
        raise ValueError(f"There are {len(text)} texts; give one, and call this for each of the others.")
    if not isinstance(text, str):
        raise ValueError(f"The text is {quoted(text)}; give a str.")
    if not text.strip():
        raise ValueError("The text is empty; give a sentence.")
    if not isinstance(target, str | None):
        raise ValueError(f"The target is {quoted(target)}; give a str, or leave it out.")
    for name, value in (("text", text), ("target", target or "")):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            half = quoted(value[error.start])
            raise ValueError(f"The {name} has {half}, half of a character; decode it anew from its bytes.") from None


def require_options(options: Mapping[str, Any]) -> None:
    reserved = next((name for name in _OWN_ARGUMENTS if name in options), None)
    if reserved is not None:
        raise ValueError(f"{reserved} is set here and cannot be given; leave it out.")
    if options.get("num_return_sequences", 1) != 1:
        raise ValueError("num_return_sequences must be 1: the attention of the one text that is chosen is shown.")


def require_only_read(name: str, target: str | None, options: Mapping[str, Any]) -> None:
    """Raise ValueError where an encoder is asked to write."""
    if target is not None:
        raise ValueError(f"{name} is only an encoder, which writes nothing; leave out the target.")
    require_no_options(options, f"{name} is only an encoder")


def require_no_options(options: Mapping[str, Any], reason: str) -> None:
    if options:
        raise ValueError(f"{reason}, so nothing is generated: leave out {', '.join(options)}.")
