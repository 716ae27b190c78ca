"""A Hugging Face model by its name or folder, with its tokenizer, for commands that have no Python to open it."""

from __future__ import annotations

import hashlib
from typing import Any

import torch

from transformer.extras import require_package
from transformer.quoting import short


def load_pretrained(name: str) -> tuple[Any, Any]:
    """Return the model and the tokenizer of a folder or of the hub: an encoder-decoder, a decoder, or an encoder.

    Only safetensors are read, and no code of the repository is run. Raises ValueError where there is no such model,
    where it needs more than that, and where the package transformers is missing.
    """
    transformers = require_package("transformers", "A Hugging Face model", "import")
    try:
        config = transformers.AutoConfig.from_pretrained(name, trust_remote_code=False)
        architectures = " ".join(config.architectures or ())
        kind: Any
        if config.is_encoder_decoder:
            kind = transformers.AutoModelForSeq2SeqLM
        elif "CausalLM" in architectures or "LMHead" in architectures:
            kind = transformers.AutoModelForCausalLM
        else:
            kind = transformers.AutoModel
        model = kind.from_pretrained(name, trust_remote_code=False, use_safetensors=True)
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, trust_remote_code=False)
    except (OSError, ValueError, ImportError) as error:
        raise ValueError(f"{short(name)} cannot be opened with transformers: {short(error)}") from None
    return model, tokenizer


def digest_of_tensors(model: torch.nn.Module) -> str:
    """Return the SHA-256 digest of a model's parameters, in hexadecimal."""
    whole = hashlib.sha256()
    for name, parameter in model.named_parameters():
        whole.update(f"{name} {parameter.dtype} {tuple(parameter.shape)}\n".encode())
        whole.update(parameter.detach().cpu().contiguous().view(torch.uint8).numpy().data)
    return whole.hexdigest()
