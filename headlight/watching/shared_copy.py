"""A copy of a model that shares its tensors, so that running it never changes the original."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headlight.formatting import percent
from headlight.watching.checks import require_options

_ROUNDING_TOLERANCE, _COARSE_TOLERANCE = 0.01, 0.1  # tolerated between kernels, relative to the output's norm
_TOO_LONG_MESSAGES = ("index out of range in self", "out of bounds")  # errors of an embedding table that lacks a row


class SharedCopy:
    """A copy of a model, with its tokenizer, that shares the original's tensors but has its own modules and settings.

    The copy takes little memory, an error leaves the original unchanged, and several threads may watch one model.
    """

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model = _copied(model).eval()
        self.tokenizer = tokenizer
        self.name = type(model).__name__
        self.title = str(getattr(model.config, "name_or_path", "") or self.name)

    @cached_property
    def eager(self) -> Any:
        """Return a copy whose attention is computed by the model's own eager code, which returns the weights.

        Every sub-configuration is set, since `set_attn_implementation` leaves some out.
        """
        eager = _copied(self.model)
        for module in eager.modules():
            if hasattr(getattr(module, "config", None), "_attn_implementation"):
                module.config._attn_implementation = "eager"
        return eager

    @cached_property
    def device(self) -> torch.device:
        """The device of the first parameter that is on one; `accelerate` leaves offloaded parameters on "meta"."""
        devices = (parameter.device for parameter in self.model.parameters())
        return next((device for device in devices if device.type != "meta"), torch.device("cpu"))

    @cached_property
    def _reads(self) -> frozenset[str]:
        """The names of the forward pass's arguments."""
        return frozenset(inspect.signature(self.model.forward).parameters)

    @property
    def has_both(self) -> bool:
        """Whether the model is an encoder-decoder."""
        return "decoder_input_ids" in self._reads

    def encode(self, text: str) -> dict[str, Tensor]:
        """Tokenize a text, unpadded: `input_ids` [1, tokens], and the other inputs that the model takes."""
        encoded = self.tokenizer(text, padding=False, truncation=False)
        if not encoded["input_ids"]:
            raise ValueError("The tokenizer makes no token of the text; give one that it can read.")
        other_inputs = {name: values for name, values in encoded.items() if name in self._reads - {"input_ids"}}
        tensors = {name: torch.tensor([values], device=self.device) for name, values in other_inputs.items()}
        return {"input_ids": self.batch(encoded["input_ids"]), **tensors}

    def require_output(self) -> None:
        if not self.model.can_generate():
            raise ValueError(
                f"{self.name} has no output that writes; open it with AutoModelForSeq2SeqLM or AutoModelForCausalLM."
            )

    def batch(self, ids: Sequence[int]) -> Tensor:
        """Return ids as a tensor [1, tokens]. Raises ValueError for too many ids and for one outside the vocabulary."""
        positions = getattr(self.model.config, "max_position_embeddings", None)
        if isinstance(positions, int) and 0 < positions < len(ids):
            raise ValueError(f"{self.name} has {positions} positions, and the text has {len(ids)} tokens; shorten it.")
        rows = getattr(self.model.get_input_embeddings(), "num_embeddings", None)
        if rows is not None and max(ids) >= rows:
            raise ValueError(
                f"The tokenizer gives the id {max(ids)} and {self.name} knows those up to {rows - 1}; "
                "give the tokenizer that belongs to the model."
            )
        return torch.tensor([list(ids)], device=self.device)

    @torch.no_grad()
    def generate(self, encoded: dict[str, Tensor], options: dict[str, Any]) -> list[int]:
        """Return the ids that the model's own `generate` returns, the prompt or the decoder's first token included."""
        require_options(options)
        read = {name: encoded[name] for name in ("input_ids", "attention_mask") if name in encoded}
        required = {"num_return_sequences": 1, "return_dict_in_generate": True, "tokenizer": self.tokenizer}
        with self._explained_errors():
            generated = self.model.generate(**read, **{**options, **required})
        ids: list[int] = generated.sequences[0].tolist()
        return ids

    def ends(self, options: dict[str, Any]) -> set[int]:
        """Return the ids of the tokens that end generation."""
        configured = getattr(options.get("generation_config"), "eos_token_id", None)
        ids = options.get("eos_token_id", configured)
        ids = self.model.generation_config.eos_token_id if ids is None else ids
        return set() if ids is None else {ids} if isinstance(ids, int) else {int(id) for id in ids}

    @torch.no_grad()
    def run(self, **read: Any) -> Any:
        """Run one forward pass that returns the attention weights.

        Raises ValueError where the output differs from the original model's, as then the attention would differ, too.
        """
        options = {"use_cache": False} if "use_cache" in self._reads else {}
        with self._explained_errors():
            output = self.eager(**read, **options, output_attentions=True, return_dict=True)
            expected = self.model(**read, **options, return_dict=True)[0].double()
        difference = float((output[0].double() - expected).norm() / expected.norm().clamp_min(1e-9))
        tolerance = _ROUNDING_TOLERANCE if self.model.dtype == torch.float32 else _COARSE_TOLERANCE
        if not difference <= tolerance:  # NaN is refused
            raise ValueError(
                f"{self.name} cannot be watched: the code that has its attention weights computes something else, "
                f'{percent(difference)} off. If it was not opened with attn_implementation="eager", open it so and try '
                "again."
            )
        return output

    def weights(self, output: Any, name: str, queries: int, keys: int) -> np.ndarray:
        """Return one kind of attention in an output, such as "cross_attentions": [L, H, queries, keys], float32."""
        layers: Sequence[Tensor | None] | None = getattr(output, name, None)
        if any(not (layer is None or isinstance(layer, Tensor) and layer.dim() == 4) for layer in layers or ()):
            raise ValueError(
                f"{self.name} cannot be watched: what it returns as attention is not one weight for each query and "
                "key in each head, as in networks that attend block by block or mix tokens without attention."
            )
        arrays = [layer[0].float().cpu().numpy() for layer in layers or () if layer is not None]
        if not arrays or len(arrays) < len(layers or ()):
            computing = "some of its layers compute" if arrays else "it computes"
            raise ValueError(f"{self.name} cannot be watched: {computing} no attention weights.")
        if any(layer.shape != (len(arrays[0]), queries, keys) for layer in arrays):
            raise ValueError(
                f"{self.name} cannot be watched: its attention has the shape {arrays[0].shape}, "
                f"not one weight for each of {queries} queries and {keys} keys in each head of every layer."
            )
        return np.stack(arrays)

    @contextmanager
    def _explained_errors(self) -> Iterator[None]:
        """Turn errors of the model's code into a sentence that says what to do."""
        try:
            yield
        except ValueError as error:
            raise ValueError(f"The code of {self.name} refuses this: {error}") from error
        except (IndexError, RuntimeError) as error:
            if not any(words in str(error) for words in _TOO_LONG_MESSAGES):
                raise
            raise ValueError(
                f"The text, with what was written, is too long for {self.name}, or has a token that it lacks "
                f"({error}); shorten it, or set a smaller max_new_tokens."
            ) from error


def _copied(model: Any) -> Any:
    tensors = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    return copy.deepcopy(model, tensors)  # deepcopy reuses tensors that are in its memo
