"""Writes models of CTranslate2 from ours, in every version of its files: by its published layout, not by our reader."""

from __future__ import annotations

import json
import random
import struct
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from transformer.checkpoint.native import build
from transformer.config import ModelConfig, StackConfig
from transformer.model import Transformer
from transformer.t5 import T5Config

Variables = dict[str, NDArray[Any]]
TYPES = ("float32", "int8", "int16", "int32", "float16")
ACTIVATIONS = {"relu": 0, "gelu-tanh": 1, "silu": 2, "gelu": 3}
SETTINGS = {
    "unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "decoder_start_token": "<s>",
    "add_source_bos": False, "add_source_eos": False,
}  # fmt: skip
TOKENS = ["<blank>", "<unk>", "<s>", "</s>", *(f"w{n}" for n in range(28))]


@dataclass
class File:
    """The content of a `model.bin`."""

    variables: Variables
    aliases: dict[str, str] = field(default_factory=dict)
    version: int = 6
    revision: int = 7
    architecture: str = "TransformerSpec"

    def write(self, path: Path) -> Path:
        out = struct.pack("<I", self.version) + _text(self.architecture) + struct.pack("<I", self.revision)
        out += struct.pack("<I", len(self.variables))
        for name, array in self.variables.items():
            out += _text(name) + struct.pack(f"<B{array.ndim}I", array.ndim, *array.shape)
            if self.version >= 4:
                out += struct.pack("<BI", TYPES.index(array.dtype.name), array.nbytes)
            else:
                out += struct.pack("<BI", array.itemsize, array.size)
            out += array.tobytes()
        if self.version >= 3:
            out += struct.pack("<I", len(self.aliases))
            out += b"".join(_text(alias) + _text(name) for alias, name in self.aliases.items())
        path.write_bytes(out)
        return path


def _text(text: str) -> bytes:
    return struct.pack("<H", len(text) + 1) + text.encode() + b"\0"


def draw_model(chance: random.Random, **given: Any) -> Transformer:
    """A random network of every kind that CTranslate2 can hold and ours can too."""
    d_model = 12 * chance.choice([1, 2])
    stacks = [StackConfig(chance.choice([1, 2, 3]), chance.choice([2, 3]), chance.choice([10, 24])) for _ in range(2)]
    ids: dict[str, Any] = {
        "pad_id": 0, "sos_id": 2, "eos_id": 3, "source_end": (), "max_length": chance.choice([20, 33]),
    }  # fmt: skip
    sizes: dict[str, Any] = {"d_model": d_model, "encoder": stacks[0], "decoder": stacks[1], **ids}
    tied: Any = chance.choice(["none", "output", "all"])
    config: ModelConfig
    if given.pop("t5", False):
        config = T5Config(
            len(TOKENS),
            len(TOKENS),
            **sizes | {"max_length": 512},
            tied="none" if tied == "output" else tied,
            norm_eps=chance.choice([1e-6, 1e-3]),
            activation=chance.choice(["relu", "silu", "gelu"]),
            gated=chance.random() < 0.5,
            d_kv=chance.choice([3, 4]),
            buckets=chance.choice([4, 8]),
            max_distance=chance.choice([9, 20]),
        )
    else:
        config = ModelConfig(
            len(TOKENS),
            len(TOKENS),
            **sizes,
            tied=tied,
            norm=chance.choice(["pre", "post"]),
            final_norm=chance.random() < 0.5,
            norm_eps=chance.choice([1e-5, 1e-3]),
            activation=chance.choice(["relu", "silu", "gelu", "gelu-tanh"]),
            positions="stored",
            scale_embeddings=chance.random() < 0.5,
            embedding_norm=chance.random() < 0.5,
            qkv_bias=chance.random() < 0.7,
            attention_output_bias=chance.random() < 0.7,
            logits_bias=chance.random() < 0.5,
        )
    model = build(replace(config, **given)).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.4 + ("norm.weight" in name))
    return model


def of_model(model: Transformer) -> File:
    """The model as CTranslate2's converters write it, in float32."""
    config, parameters = model.config, {name: p.detach().numpy() for name, p in model.named_parameters()}
    t5 = isinstance(config, T5Config)
    made: Variables = {}
    aliases = {}

    def put(name: str, *ours: str) -> None:
        if ours[0] in parameters:
            made[name] = np.concatenate([parameters[part] for part in ours])

    def linear(name: str, *ours: str) -> None:
        put(f"{name}/weight", *(f"{part}.weight" for part in ours))
        put(f"{name}/bias", *(f"{part}.bias" for part in ours))

    def norm(name: str, ours: str) -> None:
        put(f"{name}/gamma", f"{ours}.weight")
        put(f"{name}/beta", f"{ours}.bias")

    for stack, sizes in (("encoder", config.encoder), ("decoder", config.decoder)):
        made[f"{stack}/num_heads"] = np.array(sizes.n_heads, np.int16)
        made[f"{stack}/pre_norm"] = np.array(config.norm == "pre", np.int8)
        activation = 1 if t5 and config.activation == "gelu" else ACTIVATIONS[config.activation]
        made[f"{stack}/activation"] = np.array(activation, np.int8)
        made[f"{stack}/scale_embeddings"] = np.array(config.scale_embeddings, np.int8)
        put(f"{stack}/position_encodings/encodings", f"{stack}.embedding.positions.table")
        norm(f"{stack}/layernorm_embedding", f"{stack}.embedding.norm")
        norm(f"{stack}/layer_norm", f"{stack}.norm")
        for layer in range(sizes.n_layers):
            own, theirs = f"{stack}.layers.{layer}", f"{stack}/layer_{layer}"
            attention = f"{own}.attention" if stack == "encoder" else f"{own}.self_attention"
            linear(f"{theirs}/self_attention/linear_0", *(f"{attention}.{m}" for m in ("query", "key", "value")))
            linear(f"{theirs}/self_attention/linear_1", f"{attention}.output")
            norm(f"{theirs}/self_attention/layer_norm", f"{own}.residuals.0.norm")
            if stack == "decoder":
                cross = f"{own}.cross_attention"
                linear(f"{theirs}/attention/linear_0", f"{cross}.query")
                linear(f"{theirs}/attention/linear_1", f"{cross}.key", f"{cross}.value")
                linear(f"{theirs}/attention/linear_2", f"{cross}.output")
                norm(f"{theirs}/attention/layer_norm", f"{own}.residuals.1.norm")
            linear(f"{theirs}/ffn/linear_0", f"{own}.feed_forward.inner")
            linear(f"{theirs}/ffn/linear_0_noact", f"{own}.feed_forward.gate")
            linear(f"{theirs}/ffn/linear_1", f"{own}.feed_forward.outer")
            norm(f"{theirs}/ffn/layer_norm", f"{own}.residuals.{2 if stack == 'decoder' else 1}.norm")
            if isinstance(config, T5Config):
                for name in ("self_attention", "attention")[: 1 if stack == "encoder" else 2]:
                    made[f"{theirs}/{name}/queries_scale"] = np.array(1, np.float32)
                first = "attention" if stack == "encoder" else "self_attention"
                bias = f"{theirs}/self_attention/relative_attention_bias"
                made[bias] = parameters[f"{stack}.layers.0.{first}.position_bias.table.weight"]
                distance = np.array(config.max_distance, np.int32)
                made[f"{theirs}/self_attention/relative_attention_max_distance"] = distance
    encoder, decoder = "encoder/embeddings_0/weight", "decoder/embeddings/weight"
    put(decoder, "decoder.embedding.tokens.weight")
    put(encoder, "encoder.embedding.tokens.weight")
    if decoder not in made:
        made[decoder] = made.pop(encoder)
        aliases[encoder] = decoder
    linear("decoder/projection", "output")
    if "decoder/projection/weight" not in made:
        aliases["decoder/projection/weight"] = decoder
    return File(made, aliases)


def quantized(file: File, to: str) -> File:
    """Matrices in 8 bits with a scale per row, or in 16 with one for all: `model_spec.py`, `_quantize`."""
    made: Variables = {}
    for name, array in file.variables.items():
        if not name.endswith("weight"):
            made[name] = array
        elif to == "int16":
            scale = np.float32(2**10 / np.abs(array).max())
            made |= {name: np.rint(array * scale).astype(np.int16), f"{name}_scale": np.array(scale)}
        else:
            scale = (127.0 / np.abs(array).max(axis=1)).astype(np.float32)
            made |= {name: np.rint(array * scale[:, None]).astype(np.int8), f"{name}_scale": scale}
    return replace(file, variables=made)


def folder_of(path: Path, file: File, tokens: list[str] | None = None, **settings: Any) -> Path:
    """Write a folder as CTranslate2 has it, with one vocabulary."""
    path.mkdir(parents=True)
    file.write(path / "model.bin")
    (path / "shared_vocabulary.json").write_text(json.dumps(TOKENS if tokens is None else tokens), encoding="utf-8")
    if file.version >= 6:
        (path / "config.json").write_text(json.dumps(SETTINGS | settings), encoding="utf-8")
    return path
