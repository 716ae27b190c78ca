"""Small models of each family with drawn weights, and a tokenizer of whole words that all of them understand."""

from __future__ import annotations

from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from tests.checkpoints.hugging_face import random_model, transformers

WORDS = ["the", "a", "girl", "boy", "dog", "walks", "runs", "sitting", "on", "bench", "snow", "little"]
TEXTS = ["the girl runs", "a little dog walks on the snow bench"]
START, END, PAD = 2, 0, 3
IDS = {"pad_token_id": PAD, "eos_token_id": END, "bos_token_id": START}
ENCODER_DECODERS = ("marian", "bart", "mbart", "m2m100", "t5")
DECODERS = ("gpt2", "llama", "falcon")  # the last cannot be told by transformers to be eager
_SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 20}
_CLASSES: dict[str, tuple[str, dict[str, Any]]] = {
    "t5": ("T5", {"d_model": 16, "d_kv": 5, "d_ff": 20, "num_layers": 2, "num_heads": 4}),
    "mt5": ("MT5", {"d_model": 16, "d_kv": 5, "d_ff": 20, "num_layers": 2, "num_heads": 4}),
    "gpt2": ("GPT2", {"n_embd": 16, "n_layer": 3, "n_head": 4, "n_positions": 40}),
    "llama": ("Llama", {**_SIZES, "num_key_value_heads": 2, "max_position_embeddings": 40}),
    "falcon": ("Falcon", {**_SIZES, "max_position_embeddings": 40}),
    "bert": ("Bert", {**_SIZES, "max_position_embeddings": 40}),
}
_OUTPUTS = {
    "t5": "ForConditionalGeneration", "mt5": "ForConditionalGeneration", "gpt2": "LMHeadModel",
    "llama": "ForCausalLM", "falcon": "ForCausalLM", "bert": "Model",
}  # fmt: skip


def live_model(family: str, **config: Any) -> Any:
    """A model in evaluation mode, as it is opened: not eager. Its languages are "little" where it has them."""
    if family in ("mbart", "m2m100"):
        config["forced_bos"] = WORDS.index("little") + 4
    if family not in _CLASSES:
        return random_model(family, decoder_start_token_id=START, **IDS, **config)
    name, sizes = _CLASSES[family]
    start = {"decoder_start_token_id": START} if family in ("t5", "mt5") else {}
    torch.manual_seed(0)
    model = getattr(transformers, name + _OUTPUTS[family])(
        getattr(transformers, name + "Config")(vocab_size=32, **sizes, **IDS, **start, **config)
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.4)
    return model.eval()


def eager(model: Any) -> Any:
    """Another model with the same weights, which computes its attention the plain way from the beginning."""
    other = type(model)._from_config(type(model.config)(**model.config.to_dict()), attn_implementation="eager")
    other.load_state_dict(model.state_dict())
    if model.can_generate():
        other.generation_config = model.generation_config
    return other.eval()


def word_tokenizer(end: bool = True, side: str = "right") -> Any:
    """Knows `WORDS`, and the ids 16 to 31 as "w16" to "w31"; `end` puts "</s>" behind a text."""
    vocabulary = {"</s>": END, "<unk>": 1, "<s>": START, "<pad>": PAD}
    vocabulary |= {word: id for id, word in enumerate([*WORDS, *(f"w{id}" for id in range(16, 32))], 4)}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if end:
        inner.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", END)])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token="</s>",
        unk_token="<unk>",
        bos_token="<s>",
        pad_token="<pad>",
        padding_side=side,
        model_input_names=["input_ids", "attention_mask"],
    )
