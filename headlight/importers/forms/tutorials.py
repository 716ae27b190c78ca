"""The models of seven tutorials, as their own code saves them: a table of names for each, read in the same way.

Shapes: V vocabulary, L positions, D = d_model, F = d_ff.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from headlight.formatting import both
from headlight.importers.forms.form import ForeignModel
from headlight.importers.forms.parts import (
    TensorPart,
    are_complete,
    depth_of,
    foreign_model,
    linear,
    shapes_due,
    size_of,
    tensors_of,
)
from headlight.importers.limits import MAX_WIDTH
from headlight.importers.questions import (
    Answers,
    ImportQuestion,
    about_heads,
    about_ids,
    about_masks,
    about_vocabularies,
)
from headlight.importers.source import Source
from headlight.importers.vocabularies import open_vocabularies
from transformer.checkpoint.weights import TensorInfo
from transformer.config import Masked, ModelConfig, Norm, StackConfig
from transformer.masks import describe_missing_masks

NATIVE_MAPS = ("query", "key", "value", "output")
NATIVE_ATTENTIONS = (("attention",), ("self_attention", "cross_attention"))  # in a layer of either stack


class Deviation(NamedTuple):
    """The way in which a norm computes the deviation that it divides by."""

    unbiased: bool = False  # the mean square is over n - 1 numbers, not n
    eps: float = 1e-5
    eps_outside: bool = False  # added to the deviation itself, not under its root


@dataclass(frozen=True)
class Tutorial:
    """The names of a tutorial's tensors, and the properties of its code that its tensors do not show.

    Pairs are for encoder and decoder.
    """

    name: str
    embeddings: tuple[str, str]
    tables: tuple[str, str]
    layers: tuple[str, str]
    attentions: tuple[tuple[str], tuple[str, str]]
    maps: tuple[str, str, str, str]  # query, key, value, output
    feed_forwards: tuple[str, str]
    inner_outer: tuple[str, str]
    norms: tuple[str, ...]  # of a decoder layer, in order; an encoder layer has the first two
    gain_bias: tuple[str, str]
    output: str
    norm: Norm
    final_norms: tuple[str, str] | None = None
    deviation: Deviation = Deviation()
    usual_heads: int = 8
    usual_ids: tuple[int | None, int | None, int | None] = (None, None, None)  # padding, start, end
    source_start: bool = False  # whether a source begins with the start's id, as a target does
    source_end: bool = True
    unmasked: float | None = None  # where its code applies no mask: nats by which masks move log-probabilities

    @property
    def title(self) -> str:
        return f"This is the model of “{self.name}”"

    def fits(self, source: Source) -> bool:
        sizes = self._sizes(source)
        if not 1 < sizes.width <= MAX_WIDTH or 0 in sizes.depths:
            return False
        return are_complete(self._parts(sizes), source, frozenset())

    def due(self, source: Source) -> Mapping[str, tuple[int, ...]]:
        return shapes_due(self._parts(self._sizes(source)), source)

    def facts(self, source: Source) -> tuple[tuple[str, str], ...]:
        sizes = self._sizes(source)
        words = {True: "with", False: "without"}
        return (
            ("Layers", f"{sizes.depths[0]} and {sizes.depths[1]}"),
            ("d_model, d_ff", f"{sizes.width:,}, {both(*sizes.d_ffs)}"),
            ("Vocabularies", f"{sizes.vocabularies[0]:,} and {sizes.vocabularies[1]:,}"),
            ("Projections", f"q, k, v {words[sizes.qkv_bias]} bias, output {words[sizes.output_bias]}"),
            ("Norms", "before each sublayer, and a final layer norm" if self.norm == "pre" else "after each sublayer"),
            ("Positions", f"stored tables of {both(*sizes.lengths)}, kept as they are"),
            ("A source is read as", " ".join([*["start"] * self.source_start, "tokens", *["end"] * self.source_end])),
        )

    def folded(self, source: Source) -> tuple[tuple[str, str], ...]:
        sizes, deviation = self._sizes(source), self.deviation
        folds = []
        if sizes.scalar_norms:
            norms = sum(part.native.endswith("norm.weight") for part in self._parts(sizes))
            folds.append((f"{norms} norms", f"one gain for all, written out {sizes.width:,} times"))
        if deviation.unbiased:
            folds.append(("Deviation by n − 1", f"so gain × √({sizes.width - 1:,}/{sizes.width:,})"))
        if deviation.eps_outside:
            folds.append(("Epsilon outside the root", f"error under {deviation.eps:g} where the deviation is 1"))
        return tuple(folds)

    def questions(self, source: Source) -> tuple[ImportQuestion, ...]:
        sizes = self._sizes(source)
        ids = about_ids(min(sizes.vocabularies), sizes.vocabularies[1], self.usual_ids)
        masks = () if self.unmasked is None else (about_masks(self.unmasked),)
        return (about_heads(sizes.width, self.usual_heads), *ids, *masks, *about_vocabularies())

    def read(self, source: Source, answers: Answers) -> ForeignModel:
        sizes = self._sizes(source)
        config = self._config(sizes, answers)
        tokenizers, warnings = open_vocabularies(answers, config)
        if self.unmasked is not None and answers.masks is None:
            warnings = (
                *warnings,
                f"{describe_missing_masks(config)} So this tutorial's code runs, although its text describes masks; "
                f"with masks applied, log-probabilities differ by up to {self.unmasked:g} nats on an example.",
            )
        tensors = tensors_of(self._parts(sizes), source)
        model = foreign_model(self.name, config, tensors, tokenizers, answers, warnings)
        return replace(model, card=model.card | {"origin": f"Tutorial “{self.name}”"})

    def _config(self, sizes: _TutorialSizes, answers: Answers) -> ModelConfig:
        assert answers.heads is not None and answers.pad_id is not None
        assert answers.sos_id is not None and answers.eos_id is not None
        masks: Masked = "never" if self.unmasked is not None and answers.masks != "applied" else "applied"
        return ModelConfig(
            source_vocab_size=sizes.vocabularies[0],
            target_vocab_size=sizes.vocabularies[1],
            d_model=sizes.width,
            encoder=StackConfig(sizes.depths[0], answers.heads, sizes.d_ffs[0]),
            decoder=StackConfig(sizes.depths[1], answers.heads, sizes.d_ffs[1]),
            norm=self.norm,
            final_norm=self.final_norms is not None,
            norm_eps=_eps(self.deviation, sizes.width),
            positions="stored",
            max_length=min(sizes.lengths),
            qkv_bias=sizes.qkv_bias,
            attention_output_bias=sizes.output_bias,
            logits_bias=sizes.logits_bias,
            pad_id=answers.pad_id,
            sos_id=answers.sos_id,
            eos_id=answers.eos_id,
            source_start=(answers.sos_id,) if self.source_start else (),
            source_end=None if self.source_end else (),
            padding_mask=masks,
            look_ahead_mask=masks,
        )

    def _sizes(self, source: Source) -> _TutorialSizes:
        infos = source.weights.infos
        layers = [f"{prefix}.0" for prefix in self.layers]
        feed_forwards = [f"{layer}.{ff}" for layer, ff in zip(layers, self.feed_forwards, strict=True)]
        attention = f"{layers[0]}.{self.attentions[0][0]}"
        width = size_of(infos, f"{self.embeddings[0]}.weight", 1, 512)
        inner = [f"{ff}.{self.inner_outer[0]}" for ff in feed_forwards]
        biases = _sizes_of(infos, [f"{name}.bias" for name in inner], 0, 4 * width)
        return _TutorialSizes(
            depths=(depth_of(infos, f"{self.layers[0]}."), depth_of(infos, f"{self.layers[1]}.")),
            width=width,
            d_ffs=(
                size_of(infos, f"{inner[0]}.weight", 0, biases[0]),
                size_of(infos, f"{inner[1]}.weight", 0, biases[1]),
            ),
            vocabularies=_sizes_of(infos, [f"{name}.weight" for name in self.embeddings], 0, 2),
            lengths=_sizes_of(infos, self.tables, 1, 1),
            qkv_bias=f"{attention}.{self.maps[0]}.bias" in infos,
            output_bias=f"{attention}.{self.maps[3]}.bias" in infos,
            logits_bias=f"{self.output}.bias" in infos,
            scalar_norms=size_of(infos, f"{layers[0]}.{self.norms[0]}.{self.gain_bias[0]}", 0, width) == 1 < width,
        )

    def _parts(self, sizes: _TutorialSizes) -> Iterator[TensorPart]:
        """Yield every tensor of the model, with the tutorial's tensor that it is converted from."""
        for stack, native in enumerate(("encoder", "decoder")):
            shape = (sizes.vocabularies[stack], sizes.width)
            yield TensorPart(f"{native}.embedding.tokens.weight", (f"{self.embeddings[stack]}.weight",), shape)
            yield self._table(sizes, stack, f"{native}.embedding.positions.table")
            for layer in range(sizes.depths[stack]):
                yield from self._layer(sizes, stack, f"{native}.layers.{layer}", f"{self.layers[stack]}.{layer}")
            if self.final_norms is not None:
                yield from self._norm(sizes, f"{native}.norm", self.final_norms[stack])
        yield from linear("output", self.output, (sizes.vocabularies[1], sizes.width), sizes.logits_bias)

    def _table(self, sizes: _TutorialSizes, stack: int, native: str) -> TensorPart:
        length, shape = min(sizes.lengths), (1, sizes.lengths[stack], sizes.width)  # both stacks read `length` at most
        return TensorPart(native, (self.tables[stack],), shape, lambda table: table[0, :length])

    def _layer(self, sizes: _TutorialSizes, stack: int, native: str, foreign: str) -> Iterator[TensorPart]:
        d, ff, names = sizes.width, sizes.d_ffs[stack], self.inner_outer
        for ours, theirs in zip(NATIVE_ATTENTIONS[stack], self.attentions[stack], strict=True):
            for our_map, their_map in zip(NATIVE_MAPS, self.maps, strict=True):
                bias = sizes.output_bias if our_map == "output" else sizes.qkv_bias
                yield from linear(f"{native}.{ours}.{our_map}", f"{foreign}.{theirs}.{their_map}", (d, d), bias)
        theirs = f"{foreign}.{self.feed_forwards[stack]}"
        yield from linear(f"{native}.feed_forward.inner", f"{theirs}.{names[0]}", (ff, d), bias=True)
        yield from linear(f"{native}.feed_forward.outer", f"{theirs}.{names[1]}", (d, ff), bias=True)
        for index, norm in enumerate(self.norms[: 2 + stack]):
            yield from self._norm(sizes, f"{native}.residuals.{index}.norm", f"{foreign}.{norm}")

    def _norm(self, sizes: _TutorialSizes, native: str, foreign: str) -> Iterator[TensorPart]:
        d, (gain, bias) = sizes.width, self.gain_bias
        shape = (1,) if sizes.scalar_norms else (d,)
        share = _share(d) if self.deviation.unbiased else 1.0
        yield TensorPart(f"{native}.weight", (f"{foreign}.{gain}",), shape, lambda t: (t * share).expand(d))
        yield TensorPart(f"{native}.bias", (f"{foreign}.{bias}",), shape, lambda t: t.expand(d))


class _TutorialSizes(NamedTuple):
    """The sizes that the shapes show; pairs are (encoder, decoder)."""

    depths: tuple[int, int]
    width: int
    d_ffs: tuple[int, int]
    vocabularies: tuple[int, int]
    lengths: tuple[int, int]
    qkv_bias: bool
    output_bias: bool
    logits_bias: bool
    scalar_norms: bool  # a gain and a bias of one number each


def _share(width: int) -> float:
    """Return the ratio of the biased deviation to the unbiased: √((n - 1) / n)."""
    return math.sqrt((width - 1) / width)


def _eps(deviation: Deviation, width: int) -> float:
    """Return the epsilon that stands under the root of the biased variance s², once the gain has taken up `_share`, c.

    Theirs under the root of the unbiased variance, √(s²/c² + e) = √(s² + c²e) / c: equal. Theirs beside the root,
    s/c + e = (s + ce) / c: the root of s² + (ce)² is equal at s = 0, and elsewhere less than it by at most ce, one
    part in a million where the deviation is 1 and e is 1e-6.
    """
    scaled = deviation.eps * (_share(width) ** 2 if deviation.unbiased else 1.0)
    return scaled * deviation.eps if deviation.eps_outside else scaled


def _sizes_of(infos: Mapping[str, TensorInfo], names: Sequence[str], axis: int, otherwise: int) -> tuple[int, int]:
    source, target = (size_of(infos, name, axis, otherwise) for name in names)
    return source, target


_LAYER_NORMS = ("layer_norm_1", "layer_norm_2", "layer_norm_3")

# By the short names that the presets of the same sizes have.
TUTORIALS: dict[str, Tutorial] = {
    "transformers-laid-out": Tutorial(
        name="Transformers Laid Out",
        embeddings=("encoder.embeddings", "decoder.embeddings"),
        tables=("encoder.pe.pe", "decoder.pe.pe"),
        layers=("encoder.encoder_layers", "decoder.decoder_layers"),
        attentions=(("mha",), ("mha_1", "mha_2")),
        maps=("W_q", "W_k", "W_v", "W_o"),
        feed_forwards=("ff", "ff"),
        inner_outer=("model.0", "model.3"),
        norms=_LAYER_NORMS,
        gain_bias=("weight", "bias"),
        output="final_layer",
        norm="post",
        usual_ids=(0, 0, 1),  # its mask hides 0, though its batches are padded with 2
        source_start=True,
    ),
    "transformer-from-scratch": Tutorial(
        name="Transformer: implementing a transformer architecture from scratch",
        embeddings=("encoder.embedding.embedding", "decoder.embedding.embedding"),
        tables=("encoder.positional_encoding.pe", "decoder.positional_encoding.pe"),
        layers=("encoder.encoder_layers", "decoder.decoder_layers"),
        attentions=(("self_attention",), ("masked_self_attention", "encoder_decoder_attention")),
        maps=("W_query", "W_key", "W_value", "W_output"),
        feed_forwards=("feed_forward", "feed_forward"),
        inner_outer=("w_1", "w_2"),
        norms=_LAYER_NORMS,
        gain_bias=("weight", "bias"),
        output="output_projection",
        norm="post",
        usual_heads=4,
        source_end=False,  # it trains on bare tokens
        unmasked=0.67,
    ),
    "ground-up": Tutorial(
        name="Building a transformer from the ground up",
        embeddings=("src_embed.embed", "tgt_embed.embed"),
        tables=("src_pos.pe", "tgt_pos.pe"),
        layers=("encoder.n_layers", "decoder.n_layers"),
        attentions=(("attention_block",), ("self_attention", "cross_attention")),
        maps=("w_q", "w_k", "w_v", "w_0"),
        feed_forwards=("feed_forward_block", "feed_forward"),
        inner_outer=("linear1", "linear2"),
        norms=tuple(f"residual_connections.{n}.normalization" for n in range(3)),
        gain_bias=("alpha", "beta"),
        final_norms=("encoder.normalization", "decoder.normalization"),
        output="last_linear.fc",
        norm="pre",
        deviation=Deviation(unbiased=True, eps=1e-5),
        usual_ids=(1, 2, 3),
        source_start=True,
        unmasked=1.76,
    ),
    "adeveloperdiary": Tutorial(
        name="Coding transformer model from scratch",
        embeddings=("input_embed_block.embedding", "output_embed_block.embedding"),
        tables=("input_pos_block.positional_encoding", "output_pos_block.positional_encoding"),
        layers=("encoder_seq_block.encoder_blocks", "decoder_seq_block.decoder_blocks"),
        attentions=(("attention_block",), ("attention_block", "cross_attention_block")),
        maps=("Wq", "Wk", "Wv", "Wo"),
        feed_forwards=("ff_block", "ff_block"),
        inner_outer=("linear1", "linear2"),
        norms=tuple(f"skip_connections.{n}.layer_norm_block" for n in range(3)),
        gain_bias=("alpha", "beta"),
        final_norms=("encoder_seq_block.norm", "decoder_seq_block.norm"),
        output="linear_softmax_block.linear",
        norm="pre",
        deviation=Deviation(unbiased=True, eps=1e-8, eps_outside=True),
    ),
    "nlp7-en-hi": Tutorial(
        name="NLP 7: transformer implementation",
        embeddings=("src_embed.embed", "trg_embed.embed"),
        tables=("src_pos.pe", "trg_pos.pe"),
        layers=("encoder.layers", "decoder.layers"),
        attentions=(("attention",), ("self_attention", "cross_attention")),
        maps=("w_q", "w_k", "w_v", "w_o"),
        feed_forwards=("ffn", "ffn"),
        inner_outer=("layer1", "layer2"),
        norms=tuple(f"residual.{n}.norm" for n in range(3)),
        gain_bias=("gamma", "beta"),
        final_norms=("encoder.norm", "decoder.norm"),
        output="output_layer.proj",
        norm="pre",
        deviation=Deviation(unbiased=True, eps=1e-6, eps_outside=True),
        usual_ids=(1, 2, 3),
        source_start=True,
    ),
    "annotated-transformer": Tutorial(
        name="The Annotated Transformer",
        embeddings=("src_embed.0.lut", "tgt_embed.0.lut"),
        tables=("src_embed.1.pe", "tgt_embed.1.pe"),
        layers=("encoder.layers", "decoder.layers"),
        attentions=(("self_attn",), ("self_attn", "src_attn")),
        maps=("linears.0", "linears.1", "linears.2", "linears.3"),
        feed_forwards=("feed_forward", "feed_forward"),
        inner_outer=("w_1", "w_2"),
        norms=tuple(f"sublayer.{n}.norm" for n in range(3)),
        gain_bias=("a_2", "b_2"),
        final_norms=("encoder.norm", "decoder.norm"),
        output="generator.proj",
        norm="pre",
        deviation=Deviation(unbiased=True, eps=1e-6, eps_outside=True),
        usual_ids=(2, 0, 1),
        source_start=True,
    ),
    "pytorch-transformer": Tutorial(
        name="Coding a transformer from scratch on PyTorch",
        embeddings=("src_embed.embedding", "tgt_embed.embedding"),
        tables=("src_pos.pe", "tgt_pos.pe"),
        layers=("encoder.layers", "decoder.layers"),
        attentions=(("self_attention_block",), ("self_attention_block", "cross_attention_block")),
        maps=("w_q", "w_k", "w_v", "w_o"),
        feed_forwards=("feed_forward_block", "feed_forward_block"),
        inner_outer=("linear_1", "linear_2"),
        norms=tuple(f"residual_connections.{n}.norm" for n in range(3)),
        gain_bias=("alpha", "bias"),
        final_norms=("encoder.norm", "decoder.norm"),
        output="projection_layer.proj",
        norm="pre",
        deviation=Deviation(unbiased=True, eps=1e-6, eps_outside=True),
        usual_ids=(1, 2, 3),
        source_start=True,
    ),
}


# The Transformer that a student wrote in the exercises (`docs/exercises`), as `reverse.py` saves it.
EXERCISES = Tutorial(
    name="Exercises",
    embeddings=("encoder.embedding.tokens", "decoder.embedding.tokens"),
    tables=("encoder.embedding.table", "decoder.embedding.table"),
    layers=("encoder.layers", "decoder.layers"),
    attentions=(("attention",), ("self_attention", "cross_attention")),
    maps=("query", "key", "value", "output"),
    feed_forwards=("feed_forward", "feed_forward"),
    inner_outer=("inner", "outer"),
    norms=("norm_1", "norm_2", "norm_3"),
    gain_bias=("gain", "bias"),
    output="output",
    norm="post",
    usual_heads=4,
    usual_ids=(0, 2, 3),
)
