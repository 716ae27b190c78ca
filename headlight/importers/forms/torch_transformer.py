"""`torch.nn.Transformer`, or an nn.TransformerEncoder and an nn.TransformerDecoder, with embeddings around it.

PyTorch names the tensors of the layers; those around them have the names that each tutorial gives them, and are known
by what their names contain. Shapes: V vocabulary, L positions, D = d_model, F = d_ff.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import NamedTuple, cast

from torch import Tensor

from headlight.formatting import both
from headlight.importers.forms.form import ForeignModel, Form
from headlight.importers.forms.parts import (
    MAX_TABLE_NUMBERS,
    TensorPart,
    affine,
    are_complete,
    depth_of,
    foreign_model,
    fused,
    linear,
    shapes_due,
    size_of,
    tensors_of,
)
from headlight.importers.questions import (
    Answers,
    ImportQuestion,
    about_computation,
    about_heads,
    about_ids,
    about_vocabularies,
)
from headlight.importers.source import Source
from headlight.importers.vocabularies import open_vocabularies
from transformer.checkpoint.weights import Refused, TensorInfo
from transformer.config import Activation, ModelConfig, StackConfig

ATTENTIONS = ({"attention": "self_attn"}, {"self_attention": "self_attn", "cross_attention": "multihead_attn"})
USUAL_IDS = (1, 2, 3)  # PyTorch's translation tutorial has <unk> <pad> <bos> <eos>
COMPUTED_LENGTH = 1_024  # positions of a table that is computed
_FUSED = ".layers.0.self_attn.in_proj_weight"
_POSITION = re.compile(r"(^|[._])pe($|[._])|pos", re.IGNORECASE)
_EMBEDDING = re.compile(r"emb|lut|wte|tok", re.IGNORECASE)
_UNEMBEDDING = re.compile(r"un_?emb|lm_head|fc_out|generator", re.IGNORECASE)
_SIDES = (re.compile(r"src|source|enc|inp", re.IGNORECASE), re.compile(r"tgt|trg|targ|dec|out", re.IGNORECASE))


class _Layout(NamedTuple):
    """Which tensors of a file are which; pairs are (encoder, decoder)."""

    stacks: tuple[str, str]  # "transformer.encoder" and "transformer.decoder"
    embeddings: tuple[str, str]
    tables: tuple[str, str] | None  # of positions; None where the file has none
    output: str  # without ".weight"


class TorchTransformer(Form):
    name = "torch.nn.Transformer"
    title = "This is a model around torch.nn.Transformer"

    def fits(self, source: Source) -> bool:
        """Return whether it has these layers. Raises Refused without embeddings, and for a single final norm."""
        infos = source.weights.infos
        stacks = _stacks(infos)
        if stacks is None:
            return False
        around = [name for name in infos if not name.startswith((f"{stacks[0]}.", f"{stacks[1]}."))]
        if not any(len(infos[name].shape) == 2 for name in around):
            raise Refused(
                "This is a bare torch.nn.Transformer: layers without the embeddings, positions and output layer "
                "that turn ids into vectors and back.",
                remedy="Save the state dict of the whole model that contains it, with its embeddings and output layer.",
            )
        if (f"{stacks[0]}.norm.weight" in infos) != (f"{stacks[1]}.norm.weight" in infos):
            raise Refused("One stack of this torch.nn.Transformer has a final norm and the other has none.")
        layout = _layout(infos, stacks)
        return layout is not None and are_complete(_parts(infos, layout), source, _masks(infos))

    def due(self, source: Source) -> Mapping[str, tuple[int, ...]]:
        infos = source.weights.infos
        stacks = _stacks(infos) or ("transformer.encoder", "transformer.decoder")
        usual = _Layout(stacks, ("src_tok_emb.embedding.weight", "tgt_tok_emb.embedding.weight"), None, "generator")
        return shapes_due(_parts(infos, _layout(infos, stacks) or usual), source)

    def facts(self, source: Source) -> tuple[tuple[str, str], ...]:
        infos, layout = source.weights.infos, _known_layout(source)
        config = _config(infos, layout)
        lengths = () if layout.tables is None else _lengths(infos, layout.tables, config.d_model)
        return (
            ("Layers", f"{config.encoder.n_layers} and {config.decoder.n_layers}"),
            ("d_model, d_ff", f"{config.d_model:,}, {both(config.encoder.d_ff, config.decoder.d_ff)}"),
            ("Vocabularies", f"{config.source_vocab_size:,} and {config.target_vocab_size:,}"),
            ("Layers are", "with bias" if config.qkv_bias else "without bias"),
            ("Norms", "a final norm after each stack" if config.final_norm else "no final norm"),
            ("Positions", f"stored tables of {both(*lengths)}" if lengths else "not in the file"),
            ("Epsilon of the norms", "1e-05, nn.Transformer's own; the file does not say"),
        )

    def folded(self, source: Source) -> tuple[tuple[str, str], ...]:
        split = (("in_proj_weight", "one matrix of queries, keys and values, split into three"),)
        biased = f"{_known_layout(source).stacks[0]}.layers.0.linear1.bias" in source.weights.infos
        return split if biased else (*split, ("Biases of feed-forward layers and norms", "absent, written as 0"))

    def questions(self, source: Source) -> tuple[ImportQuestion, ...]:
        layout = _known_layout(source)
        config = _config(source.weights.infos, layout)
        sizes = config.source_vocab_size, config.target_vocab_size
        return (
            about_heads(config.d_model, 8),
            *about_computation(positions=layout.tables is None and config.d_model % 2 == 0),
            *about_ids(min(sizes), sizes[1], USUAL_IDS),
            *about_vocabularies(),
        )

    def read(self, source: Source, answers: Answers) -> ForeignModel:
        infos, layout = source.weights.infos, _known_layout(source)
        config = _config(infos, layout, answers)
        tokenizers, warnings = open_vocabularies(answers, config)
        tensors = tensors_of(_parts(infos, layout), source)
        return foreign_model(self.name, config, tensors, tokenizers, answers, warnings)


def _config(infos: Mapping[str, TensorInfo], layout: _Layout, answers: Answers | None = None) -> ModelConfig:
    """Return the configuration; without answers, one head and other defaults where the file is silent."""
    width = _width(infos, layout.stacks)
    biased = f"{layout.stacks[0]}.layers.0.self_attn.in_proj_bias" in infos
    lengths = () if layout.tables is None else _lengths(infos, layout.tables, width)
    known = answers or Answers()
    pad, sos, eos = (0 if id is None else id for id in (known.pad_id, known.sos_id, known.eos_id))
    framing = known.source_framing or "start and end"
    encoder, decoder = (
        StackConfig(
            max(1, depth_of(infos, f"{stack}.layers.")),
            known.heads or 1,
            size_of(infos, f"{stack}.layers.0.linear1.weight", 0, 4 * width),
        )
        for stack in layout.stacks
    )
    return ModelConfig(
        size_of(infos, layout.embeddings[0], 0, 2),
        size_of(infos, layout.embeddings[1], 0, 2),
        width,
        encoder,
        decoder,
        norm="pre" if known.norm == "before" else "post",
        final_norm=f"{layout.stacks[0]}.norm.weight" in infos,
        activation=cast(Activation, known.activation or "relu"),
        positions="stored" if lengths else "sinusoidal" if known.positions == "sinusoidal" else "none",
        scale_embeddings=known.embedding_scale == "yes",
        max_length=min(lengths, default=COMPUTED_LENGTH),
        qkv_bias=biased,
        attention_output_bias=biased,
        logits_bias=f"{layout.output}.bias" in infos,
        pad_id=pad,
        sos_id=sos,
        eos_id=eos,
        source_start=(sos,) if answers and framing == "start and end" else (),
        source_end=() if framing == "neither" else None,
    )


def _parts(infos: Mapping[str, TensorInfo], layout: _Layout) -> Iterator[TensorPart]:
    config = _config(infos, layout)
    d, biased = config.d_model, config.qkv_bias
    sizes = config.source_vocab_size, config.target_vocab_size
    for index, (stack, ours) in enumerate(zip(layout.stacks, ("encoder", "decoder"), strict=True)):
        yield TensorPart(f"{ours}.embedding.tokens.weight", (layout.embeddings[index],), (sizes[index], d))
        if layout.tables is not None:
            name = layout.tables[index]
            cut = partial(_table, config.max_length, d)
            yield TensorPart(f"{ours}.embedding.positions.table", (name,), infos[name].shape, cut)
        sublayers = config.encoder if index == 0 else config.decoder
        for layer in range(sublayers.n_layers):
            native, foreign = f"{ours}.layers.{layer}", f"{stack}.layers.{layer}"
            for attention, name in ATTENTIONS[index].items():
                yield from fused(f"{native}.{attention}", f"{foreign}.{name}.in_proj_", d, biased)
                yield from linear(f"{native}.{attention}.output", f"{foreign}.{name}.out_proj", (d, d), biased)
            yield from affine(f"{native}.feed_forward.inner", f"{foreign}.linear1", (sublayers.d_ff, d), biased)
            yield from affine(f"{native}.feed_forward.outer", f"{foreign}.linear2", (d, sublayers.d_ff), biased)
            for norm in range(2 + index):
                yield from affine(f"{native}.residuals.{norm}.norm", f"{foreign}.norm{norm + 1}", (d,), biased)
        if config.final_norm:
            yield from affine(f"{ours}.norm", f"{stack}.norm", (d,), f"{stack}.norm.bias" in infos)
    yield from linear("output", layout.output, (sizes[1], d), config.logits_bias)


def _stacks(infos: Mapping[str, TensorInfo]) -> tuple[str, str] | None:
    """Return the prefixes of the one encoder and the one decoder, or None."""
    stacks = [name.removesuffix(_FUSED) for name in infos if name.endswith(_FUSED)]
    decoders = [stack for stack in stacks if f"{stack}.layers.0.multihead_attn.in_proj_weight" in infos]
    encoders = [stack for stack in stacks if stack not in decoders]
    return (encoders[0], decoders[0]) if len(encoders) == len(decoders) == 1 else None


def _layout(infos: Mapping[str, TensorInfo], stacks: tuple[str, str]) -> _Layout | None:
    """Return which tensor is which; None where a name could be two of them, or one is missing."""
    width = _width(infos, stacks)
    tables: list[str] = []
    embeddings: list[str] = []
    outputs: list[str] = []
    for name, info in infos.items():
        if name.startswith((f"{stacks[0]}.", f"{stacks[1]}.")) or name in _masks(infos):
            continue
        if _POSITION.search(name) and _length(info, width):
            tables.append(name)
        elif len(info.shape) == 2 and info.shape[1] == width and name.endswith("weight"):
            is_output = _UNEMBEDDING.search(name) or not _EMBEDDING.search(name)
            (outputs if is_output else embeddings).append(name)
    pair, positions = _sided(embeddings), _sided(tables)
    if pair is None or len(outputs) != 1 or (tables and positions is None):
        return None
    return _Layout(stacks, pair, positions, outputs[0].removesuffix(".weight"))


def _sided(names: list[str]) -> tuple[str, str] | None:
    """Return the source's and the target's tensor: two by their names, or one for both."""
    if len(names) == 1:
        return names[0], names[0]
    bare = {name: re.sub("encodings?", "", name, flags=re.IGNORECASE) for name in names}
    source, target = ([name for name in names if side.search(bare[name])] for side in _SIDES)
    if len(names) == 2 and len(source) == len(target) == 1 and source != target:
        return source[0], target[0]
    return None


def _known_layout(source: Source) -> _Layout:
    stacks = _stacks(source.weights.infos)
    layout = None if stacks is None else _layout(source.weights.infos, stacks)
    assert layout is not None, "a form reads what it fits"
    return layout


def _masks(infos: Mapping[str, TensorInfo]) -> frozenset[str]:
    """Return the masks that a model kept as buffers: they follow from the ids."""
    return frozenset(name for name in infos if name.endswith("mask"))


def _width(infos: Mapping[str, TensorInfo], stacks: tuple[str, str]) -> int:
    return size_of(infos, f"{stacks[0]}{_FUSED}", 1, 512)


def _length(info: TensorInfo, width: int) -> int:
    """Return the number of positions of a table [L, D], [1, L, D] or [L, 1, D]; 0 for anything else."""
    *rows, last = info.shape or (0,)
    wide = [side for side in rows if side > 1]
    return (wide[0] if wide else 1) if last == width and len(rows) in (1, 2) and len(wide) <= 1 else 0


def _lengths(infos: Mapping[str, TensorInfo], tables: tuple[str, str], width: int) -> tuple[int, int]:
    first, second = (min(_length(infos[name], width), MAX_TABLE_NUMBERS // width) for name in tables)
    return first, second


def _table(length: int, width: int, table: Tensor) -> Tensor:
    return table.reshape(-1, width)[:length]


TORCH_TRANSFORMER = TorchTransformer()
