"""OpenNMT-py 3: a training checkpoint with the options of the training and both vocabularies.

Its transformer is pre-norm, with a norm after each stack. Embeddings are multiplied by √d_model where positions are
added (onmt/modules/embeddings.py). A sentence is read without any token around it (onmt/inputters/text_utils.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch

from headlight.importers.forms.form import ForeignModel, Form
from headlight.importers.forms.parts import (
    TensorPart,
    affine,
    linear,
    require_shape,
    require_shapes,
    shapes_due,
    tensors_of,
)
from headlight.importers.forms.token_lists import (
    NEVER_LOGIT,
    TokenNames,
    Vocabularies,
    align_vocabularies,
    open_tokenizers,
    reorder,
    tokenizer_files,
)
from headlight.importers.limits import MAX_TOKENS
from headlight.importers.questions import Answers
from headlight.importers.source import Source
from transformer.checkpoint.weights import Refused
from transformer.config import MAX_SIZES, Activation, ModelConfig, StackConfig, Tied
from transformer.quoting import quoted

_EMBEDDING = "embeddings.make_embedding.emb_luts.0.weight"
_POSITIONS = "embeddings.make_embedding.pe.pe"
_ACTIVATIONS: dict[str, Activation] = {"relu": "relu", "gelu": "gelu"}
_MAPS = {"query": "linear_query", "key": "linear_keys", "value": "linear_values", "output": "final_linear"}
_STACKS: dict[str, tuple[str, dict[str, str], tuple[str, ...]]] = {  # list of layers; attentions; norms
    "encoder": ("transformer", {"attention": "self_attn"}, ("layer_norm",)),
    "decoder": (
        "transformer_layers",
        {"self_attention": "self_attn", "cross_attention": "context_attn"},
        ("layer_norm_1", "layer_norm_2"),
    ),
}
# Options that must have this value, and the part that another value adds to the network.
_REQUIRED_OPTIONS = {
    "max_relative_positions": (0, "relative, rotary or ALiBi positions"),
    "relative_positions_buckets": (0, "T5's position biases"),
    "layer_norm": ("standard", "norms by the root mean square"),
    "parallel_residual": (False, "attention and feed-forward networks side by side"),
    "num_kv": (0, "heads that share keys and values"),
    "multiquery": (False, "heads that share keys and values"),
    "copy_attn": (False, "a generator that copies"),
    "generator_function": ("softmax", "another output than a softmax"),
    "num_experts": (0, "a choice among feed-forward networks"),
    "sliding_window": (0, "attention in a window"),
    "quant_layers": ([], "quantised layers"),
    "lora_layers": ([], "LoRA weights alone"),
    "model_task": ("seq2seq", "a language model"),
    "encoder_type": ("transformer", "another encoder than a transformer"),
    "decoder_type": ("transformer", "another decoder than a transformer"),
}
_ATTENTIONS = ("scaled-dot", "scaled-dot-flash")  # two implementations of the same attention


class OpenNMT(Form):
    name = "OpenNMT-py"
    title = "This is a model of OpenNMT-py"

    def fits(self, source: Source) -> bool:
        """Return whether the file has the names of OpenNMT-py's transformer, its options and its vocabularies."""
        return f"encoder.{_EMBEDDING}" in source.weights.infos and {"opt", "vocab"} <= source.facts.keys()

    def due(self, source: Source) -> Mapping[str, tuple[int, ...]]:
        return shapes_due(_OpenNMTNetwork(source).parts(), source) if self.fits(source) else {}

    def facts(self, source: Source) -> tuple[tuple[str, str], ...]:
        network = _OpenNMTNetwork(source)
        encoder, decoder = network.stacks
        return (
            ("Layers", f"{encoder.n_layers} and {decoder.n_layers}"),
            ("Heads", f"{encoder.n_heads} and {decoder.n_heads}"),
            ("Widths", f"{network.width}, feed-forward {encoder.d_ff:,}"),
            ("Vocabularies", f"{network.sizes[0]:,} and {network.sizes[1]:,} tokens"),
            ("Norms", "before each sublayer, and after each stack"),
            ("Activation", network.text("pos_ffn_activation_fn", "relu")),
            ("Tokenizer", ", ".join(path.name for path in _tokenizers(source)) or "none; a text is tokens with spaces"),
        )

    def read(self, source: Source, answers: Answers) -> ForeignModel:
        network = _OpenNMTNetwork(source)
        vocabularies = align_vocabularies(*network.tokens, network.sizes)
        config = network.config(vocabularies)
        paths = _tokenizers(source)
        names = TokenNames("<unk>", frozenset({"<s>", "</s>", "<blank>"}))
        tokenizers = open_tokenizers(paths, vocabularies, (config.pad_id, config.sos_id, config.eos_id), names)
        warning = "No tokenizer came with it: a text is typed as the model's own tokens, with spaces between them."
        return ForeignModel(
            config,
            tensors_of(network.parts(vocabularies), source),
            *tokenizers,
            {"title": source.name.removesuffix(".pt")[:80], "origin": self.name},
            () if paths else (warning,),
        )


def _tokenizers(source: Source) -> list[Path]:
    return tokenizer_files(() if source.folder is None else (source.folder,))


class _OpenNMTNetwork:
    """The network in a checkpoint. Raises Refused for options that ours does not support."""

    def __init__(self, source: Source):
        self.source, self.infos = source, source.weights.infos
        self.options: Mapping[str, Any] = source.facts["opt"]
        for name, (usual, what) in _REQUIRED_OPTIONS.items():
            value = self.options.get(name, usual)
            if value not in (usual, None):
                raise Refused(f"The model has {what} ({name} is {quoted(value)}), which is not supported.")
        attention = self.text("self_attn_type", _ATTENTIONS[0])
        if attention not in _ATTENTIONS:
            raise Refused(f"The model has self-attention of the kind {quoted(attention)}, which is not supported.")
        self.activation = self.text("pos_ffn_activation_fn", "relu")
        if self.activation not in _ACTIVATIONS:
            raise Refused(
                f"The feed-forward networks are {quoted(self.activation)}; supported are {' and '.join(_ACTIVATIONS)}."
            )
        embeddings = [require_shape(self.infos, f"{stack}.{_EMBEDDING}", 2) for stack in _STACKS]
        self.sizes, self.width = (embeddings[0][0], embeddings[1][0]), embeddings[0][1]
        heads, d_ff = self._whole("heads", 8), self._whole("transformer_ff", 2048)
        depths = [self._whole(name, 6) for name in ("enc_layers", "dec_layers")]
        self.stacks = [StackConfig(depth, heads, d_ff) for depth in depths]
        self.positions = self.options.get("position_encoding") is True
        known = {name for part in self.parts() for name in part.names} | {"generator.weight"}
        if strange := next((name for name in self.infos if name not in known), None):
            raise Refused(f"The model has an unknown part, {strange[:80]}, which is not supported.")

    def text(self, name: str, usual: str) -> str:
        value = self.options.get(name, usual)
        if not isinstance(value, str):
            raise Refused(f"The option {name} is {quoted(value)}; it must be a word.")
        return value

    def _whole(self, name: str, usual: int) -> int:
        value = self.options.get(name, usual)
        if type(value) is not int or not 1 <= value <= MAX_SIZES["width"]:
            raise Refused(f"The option {name} is {quoted(value)}; it must be a whole number above 0.")
        return value

    @property
    def tokens(self) -> tuple[list[str], list[str]]:
        vocabularies = self.source.facts["vocab"]
        sides = [vocabularies.get(side) if isinstance(vocabularies, dict) else None for side in ("src", "tgt")]
        for tokens in sides:
            if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens[:MAX_TOKENS]):
                raise Refused(
                    "The file's vocabularies are not lists of tokens, as OpenNMT-py has them since version 3.",
                    remedy="Convert an older file with its tools/convertv2_v3.py.",
                )
        if "src_feats" in vocabularies:
            raise Refused("The model reads features beside the tokens, which is not supported.")
        first, second = sides
        assert first is not None and second is not None, "both are lists"
        return first, second

    @property
    def tied(self) -> Tied:
        """Which embeddings are one matrix: where an option says so and the numbers agree."""
        source, target = (f"{stack}.{_EMBEDDING}" for stack in _STACKS)
        if not (self.options.get("share_decoder_embeddings") and self._equal(target, "generator.weight")):
            return "none"
        return "all" if self.options.get("share_embeddings") and self._equal(source, target) else "output"

    def _equal(self, name: str, other: str) -> bool:
        return torch.equal(self.source.weights.tensor(name), self.source.weights.tensor(other))

    def config(self, vocabularies: Vocabularies) -> ModelConfig:
        known = self.source.facts["vocab"].get("decoder_start_token")
        start = known if isinstance(known, str) and known else "<s>"
        return ModelConfig(
            len(vocabularies.source),
            len(vocabularies.target),
            self.width,
            self.stacks[0],
            self.stacks[1],
            norm="pre",
            final_norm=True,
            norm_eps=self.options.get("norm_eps", 1e-6),
            activation=_ACTIVATIONS[self.activation],
            positions="stored" if self.positions else "none",
            scale_embeddings=self.positions,
            max_length=self._length(),
            qkv_bias=self._has_bias("linear_query"),
            attention_output_bias=self._has_bias("final_linear"),
            tied=self.tied,
            pad_id=vocabularies.pad_id,
            sos_id=vocabularies.id("target", start, "starts a translation"),
            eos_id=vocabularies.id("target", "</s>", "ends a translation"),
            source_end=(),
        )

    def _length(self) -> int:
        return require_shape(self.infos, f"encoder.{_POSITIONS}", 3)[0] if self.positions else 512

    def _has_bias(self, linear: str) -> bool:
        return any(name.endswith(f"{linear}.bias") for name in self.infos)

    def parts(self, vocabularies: Vocabularies | None = None) -> list[TensorPart]:
        """List our tensors, with the foreign one that each is made of. Raises Refused for one of another shape."""
        parts = list(self._all_parts((None, None) if vocabularies is None else vocabularies.orders))
        require_shapes(parts, self.source)
        return parts

    def _all_parts(self, orders: tuple[tuple[int, ...] | None, tuple[int, ...] | None]) -> Iterator[TensorPart]:
        d = self.width
        for (stack, (layers, attentions, norms)), sizes, rows, order in zip(
            _STACKS.items(), self.stacks, self.sizes, orders, strict=True
        ):
            own_rows = partial(reorder, order=order, new=0.0)
            yield TensorPart(f"{stack}.embedding.tokens.weight", (f"{stack}.{_EMBEDDING}",), (rows, d), own_rows)
            if self.positions:
                table, table_shape = f"{stack}.{_POSITIONS}", (self._length(), 1, d)
                yield TensorPart(f"{stack}.embedding.positions.table", (table,), table_shape, lambda full: full[:, 0])
            for layer in range(sizes.n_layers):
                ours, theirs = f"{stack}.layers.{layer}", f"{stack}.{layers}.{layer}"
                for our_attention, their_attention in attentions.items():
                    for our_map, their_map in _MAPS.items():
                        native, foreign = f"{ours}.{our_attention}.{our_map}", f"{theirs}.{their_attention}.{their_map}"
                        yield from linear(native, foreign, (d, d), self._has_bias(their_map))
                inner, outer = (f"{theirs}.feed_forward.{name}" for name in ("w_1", "w_2"))
                yield from affine(f"{ours}.feed_forward.inner", inner, (sizes.d_ff, d), self._has_bias("w_1"))
                yield from affine(f"{ours}.feed_forward.outer", outer, (d, sizes.d_ff), self._has_bias("w_2"))
                for index, norm in enumerate((*norms, "feed_forward.layer_norm")):
                    yield from affine(f"{ours}.residuals.{index}.norm", f"{theirs}.{norm}", (d,))
            yield from affine(f"{stack}.norm", f"{stack}.layer_norm", (d,))
        new_weights, new_biases = (partial(reorder, order=orders[1], new=new) for new in (0.0, NEVER_LOGIT))
        yield TensorPart("output.weight", ("generator.weight",), (self.sizes[1], d), new_weights)
        yield TensorPart("output.bias", ("generator.bias",), (self.sizes[1],), new_biases)


OPENNMT = OpenNMT()
