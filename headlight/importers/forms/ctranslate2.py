"""CTranslate2: a folder with `model.bin`, `config.json` and vocabularies, or a package of Argos Translate with one.

The names are those of `ctranslate2/specs/transformer_spec.py`. Its converters join the projections of queries, keys and
values into one matrix; here they are taken apart again. Matrices in 8 or 16 bits are divided by their scales, one per
row or one for all.

Shapes: D = d_model, I = the width of all heads together, F = feed-forward width, V = vocabulary.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor

from headlight.importers.forms.ctranslate2_vocabulary import PACKAGE, TextFiles, open_text_files
from headlight.importers.forms.form import ForeignModel, Form
from headlight.importers.forms.languages import NAMES, Around, about_language
from headlight.importers.forms.m2m100 import sinusoidal_from
from headlight.importers.forms.parts import TensorPart, require_shape, require_shapes, shapes_due
from headlight.importers.forms.token_lists import NEVER_LOGIT, Vocabularies, align_vocabularies, reorder
from headlight.importers.questions import Answers, ImportQuestion
from headlight.importers.source import Source
from transformer.checkpoint.weights import Refused, TensorInfo
from transformer.config import MAX_SIZES, Activation, ModelConfig, Norm, StackConfig, Tied
from transformer.t5 import T5Config

_STACKS = ("encoder", "decoder")
_USUAL_HEADS = 8  # of files before revision 3, which do not say
_COMPUTED_POSITIONS = 1_024  # CTranslate2 makes as many as a sentence needs
_INT16_SCALE = 1_000.0  # of matrices in 16 bits without a scale, as old files have them
_ACTIVATIONS: dict[int, Activation] = {0: "relu", 1: "gelu-tanh", 2: "silu", 3: "gelu"}
_T5_ACTIVATIONS: dict[int, Activation] = {0: "relu", 1: "gelu", 2: "silu"}  # gelu is always tanh's
_ACTIVATION_NAMES = ("relu", "gelu by tanh", "silu", "gelu", "gelu by a sigmoid", "tanh", "sigmoid")
_ATTENTIONS = {  # ours, theirs
    "encoder": (("attention", "self_attention"),),
    "decoder": (("self_attention", "self_attention"), ("cross_attention", "attention")),
}
_WIDEST_TOLERANCE = 1e-3  # of float16, in which a scale may have been stored
_UNUSED_ATTRIBUTES = re.compile(  # alignments come from the attention itself, and shapes give the rest
    r"((encoder|decoder)/)?(num_heads|pre_norm|activation|alignment_layer|alignment_heads|embeddings_merge"
    r"|scale_embeddings|alibi|alibi_use_positive_positions|scale_alibi|multi_query_attention"
    r"|start_from_zero_embedding|scale_outputs|embeddings(_0)?/multiply_by_sqrt_depth"
    r"|layer_\d+/(self_)?attention/(queries_scale|relative_attention_max_distance))"
    r"|(unk|bos|eos)_token|with_source_[be]os|with_target_bos|user_decoder_start_tokens"
)
_UNSUPPORTED = (  # part of a name, and what it is
    ("relative_position_keys", "relative positions as vectors (Shaw et al. 2018)"),
    ("relative_asymmetric", "relative positions as vectors (Shaw et al. 2018)"),
    ("rotary", "rotary positions"),
    ("num_heads_kv", "heads that share keys and values"),
    ("multi_query", "heads that share keys and values"),
    ("embeddings_1/", "features beside the tokens"),
    ("linear_0_noact", "gated feed-forward networks without T5's position biases"),
    ("_norm/", "norms of queries, keys or values, or norms on both sides of a sublayer"),
    ("sliding_window", "attention in a window"),
    ("project_", "embeddings that are narrower than the model"),
    ("weight_zero", "weights in 4 bits"),
    ("memory_kv", "one attention for both sentences"),
    ("softcapping", "limited logits"),
)


class CTranslate2(Form):
    name = "CTranslate2"
    title = "This is a model of CTranslate2"

    def fits(self, source: Source) -> bool:
        return self.name in source.facts

    def due(self, source: Source) -> Mapping[str, tuple[int, ...]]:
        return shapes_due(_CTranslate2Network(source).parts(), source) if self.fits(source) else {}

    def facts(self, source: Source) -> tuple[tuple[str, str], ...]:
        network, text = _CTranslate2Network(source), open_text_files(source)
        sizes = network.stacks
        dtypes = sorted({info.dtype for name, info in source.weights.infos.items() if name.endswith("weight")})
        tokenizers = ", ".join(path.name for path in text.tokenizer_files())
        facts = (
            ("Layers", f"{sizes['encoder'].n_layers} and {sizes['decoder'].n_layers}"),
            ("Heads", f"{sizes['encoder'].n_heads} and {sizes['decoder'].n_heads}"),
            ("Widths", f"{network.width}, feed-forward {sizes['encoder'].d_ff:,} and {sizes['decoder'].d_ff:,}"),
            ("Vocabularies", f"{network.vocabularies[0]:,} and {network.vocabularies[1]:,} tokens"),
            ("Norms", "before each sublayer" if network.norm == "pre" else "after each sublayer"),
            ("Activation", _ACTIVATION_NAMES[network.activation]),
            ("Matrices", ", ".join(dtypes)),
            ("A sentence is read", text.describe_ends()),
            ("Tokenizer", tokenizers or "none; a text is tokens with spaces"),
        )
        return (*facts, ("Languages", f"{len(text.languages)}")) if text.languages else facts

    def folded(self, source: Source) -> tuple[tuple[str, str], ...]:
        network = _CTranslate2Network(source)
        folds = [("Attention", "queries, keys and values, which are one matrix in the file, are taken apart")]
        if any(info.dtype in ("I8", "I16") for name, info in source.weights.infos.items() if name.endswith("weight")):
            folds.append(("Matrices of whole numbers", "divided by their scales"))
        if not network.t5 and f"encoder/{_TABLE}" not in source.weights.infos:
            folds.append(("Positions", f"{_COMPUTED_POSITIONS:,} sinusoidal ones, as CTranslate2 computes them"))
        if network.output_scale != 1.0:
            folds.append((f"{network.output_scale:g} before the output", "in the decoder's final layer norm"))
        if network.starts_from_zero:
            folds.append(("The start of a translation", "a padding token whose embedding is 0"))
        return tuple(folds)

    def questions(self, source: Source) -> tuple[ImportQuestion, ...]:
        text = open_text_files(source)
        if not text.languages:
            return ()
        if text.is_marian:
            return (about_language("target", text.languages, None, required=False),)
        codes = {"source": text.metadata.get("from_code"), "target": text.metadata.get("to_code")}
        return tuple(about_language(side, text.languages, code) for side, code in codes.items())

    def read(self, source: Source, answers: Answers) -> ForeignModel:
        network, text = _CTranslate2Network(source), open_text_files(source)
        vocabularies = align_vocabularies(text.source, text.target, network.vocabularies, network.starts_from_zero)
        around = text.around(vocabularies, network.starts_from_zero, answers)
        config = network.config(text, vocabularies, around)
        source_tokenizer, target_tokenizer, warnings = text.tokenizers(vocabularies, config)
        return ForeignModel(
            config,
            {part.native: partial(network.convert, part) for part in network.parts(vocabularies)},
            source_tokenizer,
            target_tokenizer,
            _card(source, text, answers),
            warnings,
        )


_TABLE = "position_encodings/encodings"


@dataclass(frozen=True)
class _CTranslate2Network:
    """The network in a `model.bin`, as its names, shapes and scalars show it.

    Raises Refused for a network with parts that ours lacks.
    """

    source: Source

    def __post_init__(self) -> None:
        known = {name for part in self.parts() for name in part.names}
        known |= {"decoder/embeddings/weight", "decoder/projection/weight"}
        for name in self._infos:
            if name in known or name.removesuffix("_scale") in known or _UNUSED_ATTRIBUTES.fullmatch(name):
                continue
            what = next((what for part, what in _UNSUPPORTED if part in name), f"an unknown part, {name[:80]}")
            raise Refused(f"The model has {what}, which is not supported.")
        for stack in _STACKS:
            if self._attribute(stack, "alibi", 0):
                raise Refused("The model has positions by linear biases (ALiBi), which are not supported.")
            if self._attribute(stack, "multi_query_attention", 0):
                raise Refused("The model has heads that share keys and values, which is not supported.")
        _ = self.norm, self.activation, self.scales_embeddings  # these raise Refused for unsupported values

    @property
    def _infos(self) -> Mapping[str, TensorInfo]:
        return self.source.weights.infos

    def _shape(self, name: str, dimensions: int) -> tuple[int, ...]:
        return require_shape(self._infos, name, dimensions)

    def _number(self, name: str) -> float | None:
        info = self._infos.get(name)
        if info is None:
            return None
        if math.prod(info.shape) != 1:
            raise Refused(f"{name} must be one number, and is of shape {info.shape}.")
        return float(self.source.weights.tensor(name).flatten()[0])

    def _attribute(self, stack: str, name: str, default: float) -> float:
        """Return a setting of a stack; before revision 5 both stacks had the same."""
        values = (self._number(f"{stack}/{name}"), self._number(name))
        return next((value for value in values if value is not None), default)

    def _agreed(self, name: str, default: float) -> float:
        first, second = (self._attribute(stack, name, default) for stack in _STACKS)
        if first != second:
            raise Refused(f"Encoder and decoder differ in {name} ({first:g} and {second:g}), which is not supported.")
        return first

    @cached_property
    def t5(self) -> bool:
        return "encoder/layer_0/self_attention/relative_attention_bias" in self._infos

    @cached_property
    def width(self) -> int:
        return self._shape("decoder/embeddings/weight", 2)[1]

    def _embedding(self, stack: str) -> str:
        numbered = f"{stack}/embeddings_0/weight"
        return numbered if numbered in self._infos else f"{stack}/embeddings/weight"

    @cached_property
    def vocabularies(self) -> tuple[int, int]:
        return self._shape(self._embedding("encoder"), 2)[0], self._shape("decoder/embeddings/weight", 2)[0]

    @cached_property
    def stacks(self) -> dict[str, StackConfig]:
        return {stack: self._stack(stack) for stack in _STACKS}

    def _stack(self, stack: str) -> StackConfig:
        layers = [int(match[1]) for name in self._infos if (match := re.match(rf"{stack}/layer_(\d{{1,4}})/", name))]
        heads = int(self._attribute(stack, "num_heads", _USUAL_HEADS))
        config = StackConfig(
            max(layers, default=-1) + 1, heads, self._shape(f"{stack}/layer_0/ffn/linear_0/weight", 2)[0]
        )
        config.validate_sizes(stack)
        return config

    def inner(self, stack: str) -> int:
        """Return I, the width of all heads together."""
        fused, heads = self._shape(f"{stack}/layer_0/self_attention/linear_0/weight", 2)[0], self.stacks[stack].n_heads
        if fused % (3 * heads):
            raise Refused(f"The {stack}'s {fused} rows of queries, keys and values are not those of {heads} heads.")
        return fused // 3

    @property
    def norm(self) -> Norm:
        return "pre" if self._agreed("pre_norm", 1) else "post"

    @property
    def activation(self) -> int:
        number = int(self._agreed("activation", 0))
        if number not in (_T5_ACTIVATIONS if self.t5 else _ACTIVATIONS):
            name = _ACTIVATION_NAMES[number] if 0 <= number < len(_ACTIVATION_NAMES) else str(number)
            raise Refused(f"The activation is {name}; supported are relu, silu, gelu by tanh and, but for T5, gelu.")
        return number

    @property
    def scales_embeddings(self) -> bool:
        """Whether embeddings are multiplied by √d_model; a file has a flag for it, or the factor itself."""
        scales = []
        for stack in _STACKS:
            old = f"{self._embedding(stack).removesuffix('weight')}multiply_by_sqrt_depth"
            name = next((name for name in (f"{stack}/scale_embeddings", old) if name in self._infos), None)
            value = None if name is None else self._number(name)
            flag = name is None or self._infos[name].dtype == "I8"
            scales.append(math.sqrt(self.width) if value is None or (flag and value) else 1.0 if flag else value)
        if abs(scales[0] - scales[1]) > _WIDEST_TOLERANCE * scales[0]:
            raise Refused(f"Encoder and decoder multiply embeddings differently, by {scales[0]:g} and {scales[1]:g}.")
        is_root = abs(scales[0] - math.sqrt(self.width)) <= _WIDEST_TOLERANCE * scales[0]
        if not (is_root or scales[0] == 1.0) or (self.t5 and scales[0] != 1.0):
            raise Refused(f"Embeddings are multiplied by {scales[0]:g}; supported are 1 and √d_model.")
        return scales[0] != 1.0

    @property
    def starts_from_zero(self) -> bool:
        return bool(self._attribute("decoder", "start_from_zero_embedding", 0))

    @property
    def output_scale(self) -> float:
        return self._attribute("decoder", "scale_outputs", 1.0)

    @cached_property
    def tied(self) -> Tied:
        encoder, decoder = (self._same(self._embedding(stack), "decoder/projection/weight") for stack in _STACKS)
        if self.t5:
            if not self._same(self._embedding("encoder"), "decoder/embeddings/weight"):
                raise Refused("The model has T5's position biases, and an embedding for each stack.")
            return "all" if decoder else "none"
        return "all" if encoder and decoder else "output" if decoder else "none"

    def _same(self, name: str, other: str) -> bool:
        aliases: Mapping[str, str] = self.source.facts[CTranslate2.name]["aliases"]
        return aliases.get(name, name) == aliases.get(other, other)

    def has(self, stack: str, ending: str) -> bool:
        return f"{stack}/{ending}" in self._infos

    def _both_have(self, ending: str) -> bool:
        first, second = (self.has(stack, ending) for stack in _STACKS)
        if first != second:
            raise Refused(f"Only one of encoder and decoder has {ending.split('/')[0]}, which is not supported.")
        return first

    @property
    def final_norm(self) -> bool:
        return self._both_have("layer_norm/gamma")

    @property
    def embedding_norm(self) -> bool:
        return self._both_have("layernorm_embedding/gamma")

    def _has_bias(self, *linear_layers: str) -> bool:
        pattern = re.compile(rf"(encoder|decoder)/layer_\d+/({'|'.join(linear_layers)})/bias")
        return any(pattern.fullmatch(name) for name in self._infos)

    @cached_property
    def qkv_bias(self) -> bool:
        return not self.t5 and self._has_bias("self_attention/linear_0", "attention/linear_[01]")

    @cached_property
    def output_bias(self) -> bool:
        return not self.t5 and self._has_bias("self_attention/linear_1", "attention/linear_2")

    @property
    def length(self) -> int:
        tables = [self._shape(f"{stack}/{_TABLE}", 2)[0] for stack in _STACKS if self.has(stack, _TABLE)]
        return min([*tables, MAX_SIZES["length"]]) if tables else _COMPUTED_POSITIONS

    def config(self, text: TextFiles, vocabularies: Vocabularies, around: Around) -> ModelConfig:
        stacks, sizes = self.stacks, (len(vocabularies.source), len(vocabularies.target))
        shared: dict[str, Any] = {
            "d_model": self.width,
            "encoder": stacks["encoder"],
            "decoder": stacks["decoder"],
            "norm_eps": text.norm_eps(1e-6 if self.t5 else 1e-5),
            "tied": self.tied,
            "pad_id": vocabularies.pad_id,
            "eos_id": vocabularies.id("target", text.eos, "ends a sentence"),
            **around._asdict(),
        }
        if self.t5:
            buckets, _ = self._shape("encoder/layer_0/self_attention/relative_attention_bias", 2)
            if self.inner("encoder") * stacks["decoder"].n_heads != self.inner("decoder") * stacks["encoder"].n_heads:
                raise Refused("Encoder and decoder have heads of different sizes, which is not supported.")
            return T5Config(
                *sizes,
                **shared,
                activation=_T5_ACTIVATIONS[self.activation],
                gated=self.has("encoder", "layer_0/ffn/linear_0_noact/weight"),
                d_kv=self.inner("encoder") // stacks["encoder"].n_heads,
                buckets=buckets,
                max_distance=self._max_distance(),
            )
        return ModelConfig(
            *sizes,
            **shared,
            norm=self.norm,
            final_norm=self.final_norm,
            activation=_ACTIVATIONS[self.activation],
            positions="stored",
            scale_embeddings=self.scales_embeddings,
            embedding_norm=self.embedding_norm,
            max_length=self.length,
            qkv_bias=self.qkv_bias,
            attention_output_bias=self.output_bias,
            logits_bias=self.has("decoder", "projection/bias") or vocabularies.adds_padding,
        )

    def _max_distance(self) -> int:
        """Return the distance beyond which T5's biases are equal. Raises Refused where the layers' biases differ."""
        distances = set()
        for stack, config in self.stacks.items():
            first = self.source.weights.tensor(f"{stack}/layer_0/self_attention/relative_attention_bias")
            for layer in range(config.n_layers):
                name = f"{stack}/layer_{layer}/self_attention/relative_attention_"
                if not torch.equal(self.source.weights.tensor(f"{name}bias"), first):
                    raise Refused("Each layer has position biases of its own, as in umT5, which is not supported.")
                distances.add(self._number(f"{name}max_distance"))
        if len(distances) != 1 or None in distances:
            raise Refused("The layers' position biases reach different distances, which is not supported.")
        return int(distances.pop() or 0)

    def convert(self, part: TensorPart) -> Tensor:
        """Return a tensor of our network in float32; one without a name in the file is made of zeros."""
        if not part.names:
            return part.convert(torch.zeros(part.shape))
        (name,) = part.names
        numbers, info = self.source.weights.tensor(name).float(), self._infos[name]
        if info.dtype in ("I8", "I16"):
            numbers = numbers / self._scale(name, info)
        return part.convert(numbers)

    def _scale(self, name: str, info: TensorInfo) -> Tensor:
        if f"{name}_scale" not in self._infos and info.dtype == "I16":
            return torch.tensor(_INT16_SCALE)
        scale = self._infos.get(f"{name}_scale")
        if scale is None or scale.dtype != "F32" or math.prod(scale.shape) not in (1, info.shape[0]):
            raise Refused(f"{name} is in whole numbers, and has no scale for each of its rows.")
        numbers = self.source.weights.tensor(f"{name}_scale").flatten()[:, None]
        if not (numbers > 0).all():
            raise Refused(f"{name} has a scale that is not above 0.")
        return numbers

    def parts(self, vocabularies: Vocabularies | None = None) -> list[TensorPart]:
        """List our tensors, with the foreign one that each is made of. Raises Refused for one of another shape."""
        parts = list(self._all_parts(vocabularies))
        require_shapes(parts, self.source)
        return parts

    def _all_parts(self, vocabularies: Vocabularies | None) -> Iterator[TensorPart]:
        width, tied, stacks = self.width, self.tied, self.stacks
        orders = (None, None) if vocabularies is None else vocabularies.orders
        for index, stack in enumerate(_STACKS):
            shared = stack == "decoder" and (tied == "all" or self.t5)
            if not shared:
                rows = partial(reorder, order=orders[index], new=0.0)
                shape = (self.vocabularies[index], width)
                yield TensorPart(f"{stack}.embedding.tokens.weight", (self._embedding(stack),), shape, rows)
            if not self.t5:
                yield self._position_part(stack)
            if self.embedding_norm:
                yield from self._norm_parts(f"{stack}.embedding.norm", f"{stack}/layernorm_embedding")
            for layer in range(stacks[stack].n_layers):
                yield from self._layer_parts(stack, layer)
            if self.final_norm:
                scale = self.output_scale if stack == "decoder" else 1.0
                yield from self._norm_parts(f"{stack}.norm", f"{stack}/layer_norm", scale)
        if not self.final_norm and self.output_scale != 1.0:
            raise Refused("The decoder's output is scaled, and there is no norm before it, which is not supported.")
        target = self.vocabularies[1]
        if tied == "none":
            rows = partial(reorder, order=orders[1], new=0.0)
            yield TensorPart("output.weight", ("decoder/projection/weight",), (target, width), rows)
        has_bias = self.has("decoder", "projection/bias")
        if has_bias or (vocabularies is not None and vocabularies.adds_padding):
            names = ("decoder/projection/bias",) if has_bias else ()
            yield TensorPart("output.bias", names, (target,), partial(reorder, order=orders[1], new=NEVER_LOGIT))

    def _position_part(self, stack: str) -> TensorPart:
        native, width, length = f"{stack}.embedding.positions.table", self.width, self.length
        if not self.has(stack, _TABLE):
            return TensorPart(native, (), (0,), lambda _: sinusoidal_from(1, length, width))
        rows, _ = self._shape(f"{stack}/{_TABLE}", 2)
        return TensorPart(native, (f"{stack}/{_TABLE}",), (rows, width), lambda table: table[:length])

    def _layer_parts(self, stack: str, layer: int) -> Iterator[TensorPart]:
        ours, theirs, inner, width = f"{stack}.layers.{layer}", f"{stack}/layer_{layer}", self.inner(stack), self.width
        for index, (our_attention, their_attention) in enumerate(_ATTENTIONS[stack]):
            native, name = f"{ours}.{our_attention}", f"{theirs}/{their_attention}"
            fused = ["query", "key", "value"] if their_attention == "self_attention" else ["key", "value"]
            matrices = [(fused, 0)] if len(fused) == 3 else [(["query"], 0), (fused, 1)]
            for maps, number in matrices:
                for nth, linear in enumerate(maps):
                    scale = self._query_scale(stack, name) if linear == "query" else 1.0
                    rows = slice(nth * inner, (nth + 1) * inner)
                    shape, source = (len(maps) * inner, width), f"{name}/linear_{number}"
                    yield from self._linear_parts(f"{native}.{linear}", source, shape, self.qkv_bias, rows, scale)
            last = f"{name}/linear_{matrices[-1][1] + 1}"
            yield from self._linear_parts(f"{native}.output", last, (width, inner), self.output_bias)
            yield from self._norm_parts(f"{ours}.residuals.{index}.norm", f"{name}/layer_norm")
        d_ff, bias = self.stacks[stack].d_ff, not self.t5
        linears = {"inner": ("linear_0", (d_ff, width)), "outer": ("linear_1", (width, d_ff))}
        if self.t5 and self.has(stack, "layer_0/ffn/linear_0_noact/weight"):
            linears["gate"] = ("linear_0_noact", (d_ff, width))
        for our_linear, (their_linear, shape) in linears.items():
            native = f"{ours}.feed_forward.{our_linear}"
            yield from self._linear_parts(native, f"{theirs}/ffn/{their_linear}", shape, bias)
        yield from self._norm_parts(f"{ours}.residuals.{len(_ATTENTIONS[stack])}.norm", f"{theirs}/ffn/layer_norm")
        if self.t5:
            name = f"{theirs}/self_attention/relative_attention_bias"
            native = f"{ours}.{_ATTENTIONS[stack][0][0]}.position_bias.table.weight"
            buckets, _ = self._shape("encoder/layer_0/self_attention/relative_attention_bias", 2)
            yield TensorPart(native, (name,), (buckets, self.stacks[stack].n_heads))

    def _query_scale(self, stack: str, attention: str) -> float:
        """Return the factor of the queries' weights with which our scaled scores equal theirs."""
        usual = (self.inner(stack) // self.stacks[stack].n_heads) ** -0.5
        value = self._number(f"{attention}/queries_scale")
        return (usual if value is None else value) / (1.0 if self.t5 else usual)

    def _linear_parts(
        self, native: str, name: str, shape: tuple[int, int], bias: bool, rows: slice = slice(None), scale: float = 1.0
    ) -> Iterator[TensorPart]:
        def convert(tensor: Tensor) -> Tensor:
            return tensor[rows] if scale == 1.0 else tensor[rows] * scale

        yield TensorPart(f"{native}.weight", (f"{name}/weight",), shape, convert)
        if bias:  # if other layers of this kind have a bias and this one has none, it is zero
            names = (f"{name}/bias",) if f"{name}/bias" in self._infos else ()
            yield TensorPart(f"{native}.bias", names, shape[:1], convert)

    def _norm_parts(self, native: str, name: str, scale: float = 1.0) -> Iterator[TensorPart]:
        for ours, theirs in (("weight", "gamma"), ("bias", "beta"))[: 1 if self.t5 else 2]:
            if theirs == "beta" and f"{name}/beta" not in self._infos:
                raise Refused("The norms are by the root mean square, which is supported in T5 only.")
            yield TensorPart(f"{native}.{ours}", (f"{name}/{theirs}",), (self.width,), lambda tensor: tensor * scale)


def _card(source: Source, text: TextFiles, answers: Answers) -> dict[str, Any]:
    read, written = text.package_names
    facts = {
        "title": source.name.removesuffix(PACKAGE)[:80],
        "source": read or NAMES.get(answers.source_language or "", answers.source_language),
        "target": written or NAMES.get(answers.target_language or "", answers.target_language),
        "origin": CTranslate2.name,
    }
    return {name: value for name, value in facts.items() if value}


CTRANSLATE2 = CTranslate2()
