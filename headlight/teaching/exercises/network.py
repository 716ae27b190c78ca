"""Exercises: embeddings with positions, the two stacks of layers, and the whole network.

Shapes: B sentences, S source tokens, T target tokens, V vocabulary.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from headlight.teaching.exercises.exercise import Case, Draw, Exercise, KnownMistake, Slip, instantiate, require_module
from headlight.teaching.exercises.layers import (
    SOURCE_LENGTHS,
    decoder_layer,
    decoder_parts,
    encoder_layer,
    encoder_parts,
)
from headlight.teaching.exercises.masks import ids, look_ahead_mask, padding_mask, target_mask
from headlight.teaching.exercises.positions import positions


def embedding(
    vocabulary: int,
    d_model: int,
    table: Tensor,
    weights: dict[str, Tensor],
    ids: Tensor,
    scale: str = "root",
    placed: str = "each",
    joined: str = "added",
    order: str = "scaled first",
) -> Tensor:
    """Return √d_model · tokens + positions: [B, T, d_model]."""
    B, T = ids.shape
    rows = {
        "each": lambda: table[:, :T],
        "none": lambda: torch.zeros(1, T, d_model),
        "from 1": lambda: table[:, 1 : T + 1],
        "last": lambda: table[:, T - 1 : T],
        "sentences": lambda: table[0, :B, None],
    }[placed]()
    factor = {"root": d_model**0.5, "none": 1.0, "whole": d_model, "divided": d_model**-0.5}[scale]
    x = weights["tokens.weight"][ids]
    if order == "added first":
        return (x + rows) * factor
    return x * factor * rows if joined == "multiplied" else x * factor + rows


def _embedding_cases(draw: Draw) -> list[Case]:
    cases = []
    for about, equal in (("where sentences and tokens are equal in number", True), ("with short sentences", False)):
        B, T, length = sorted(draw.sizes(3, high=9))
        vocabulary, d_model = draw.randint(10, 20), 2 * draw.randint(2, 6)
        inputs: dict[str, Any] = {"vocabulary": vocabulary, "d_model": d_model}
        inputs |= {"table": positions(length, d_model)[None]}
        inputs |= {"weights": {"tokens.weight": draw.normal(vocabulary, d_model)}}
        rows = [[draw.randrange(vocabulary) for _ in range(T)] for _ in range(T if equal else B)]
        cases.append(Case(about, {**inputs, "ids": torch.tensor(rows)}))
    return cases


def _call_embedding(attempt: Any, inputs: dict[str, Any]) -> Any:
    weights = inputs["weights"] | {"table": inputs["table"]}
    return instantiate(attempt, (inputs["vocabulary"], inputs["d_model"], inputs["table"]), weights)(inputs["ids"])


EMBEDDING = Exercise(
    "Embedding",
    "embedding.py",
    embedding,
    _embedding_cases,
    (
        KnownMistake(
            {"scale": "none"},
            "The embeddings are not multiplied with √d_model: then positions, between -1 and 1, outweigh them at the "
            "beginning of a training.",
        ),
        KnownMistake({"scale": "whole"}, "The embeddings are multiplied with d_model; it is its square root."),
        KnownMistake({"scale": "divided"}, "The embeddings are divided by √d_model; they are multiplied with it."),
        KnownMistake({"order": "added first"}, "The positions are scaled, too: scale the embeddings, then add."),
        KnownMistake({"placed": "none"}, "There are no positions: add the first T rows of `self.table`."),
        KnownMistake({"placed": "from 1"}, "Positions count from 1; the first token gets row 0 of the table."),
        KnownMistake(
            {"placed": "last"}, "Every token gets the same row of the table; the first T rows are theirs, in order."
        ),
        KnownMistake(
            {"placed": "sentences"},
            "The rows of the table go to the sentences of the batch, not to the tokens: cut the table's second "
            "dimension, `self.table[:, : ids.size(1)]`.",
        ),
        KnownMistake({"joined": "multiplied"}, "The positions are multiplied with the embeddings; they are added."),
    ),
    implementation="Embedding in transformer/model.py",
    slips=(
        (
            "size of tensor a",
            "Some sizes do not fit: the table has a row for each position that there may be, so take the first T, "
            "`self.table[:, : ids.size(1)]`.",
        ),
    ),
    aliases=("InputEmbedding", "TransformerEmbedding", "Embeddings", "EmbeddingWithPositions"),
    call=_call_embedding,
)


class RandomEmbedding(nn.Module):
    """An embedding with random weights."""

    def __init__(self, draw: Draw, vocabulary: int, d_model: int):
        super().__init__()
        self.weight = draw.normal(vocabulary, d_model)

    def forward(self, ids: Tensor) -> Tensor:
        return self.weight[ids]


class EncoderLayer(nn.Module):
    def __init__(self, draw: Draw, d_model: int, n_heads: int):
        super().__init__()
        self.parts = encoder_parts(draw, d_model, n_heads)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return encoder_layer(self.parts, x, mask)


class DecoderLayer(nn.Module):
    def __init__(self, draw: Draw, d_model: int, n_heads: int):
        super().__init__()
        self.parts = decoder_parts(draw, d_model, n_heads)

    def forward(self, x: Tensor, memory: Tensor, target_mask: Tensor | None, source_mask: Tensor | None) -> Tensor:
        return decoder_layer(self.parts, x, memory, target_mask, source_mask)


def _applied_layers(layers: list[Any], way: str) -> list[Any]:
    """Return the layers in the order in which a mistake goes through them."""
    return {"first": layers[:1], "reversed": layers[::-1], "same": layers[:1] * len(layers)}.get(way, layers)


def encoder(
    embedding: Any, layers: list[Any], ids: Tensor, mask: Tensor | None, way: str = "", masked: bool = True
) -> Tensor:
    """Apply the embedding, then one layer after the other: [B, S, d_model]."""
    x = embedded = embedding(ids)
    for layer in _applied_layers(layers, way):
        output = layer(embedded if way == "not carried" else x, mask if masked else None)
        x = x + output if way == "added" else output
    return x


def decoder(
    embedding: Any,
    layers: list[Any],
    ids: Tensor,
    memory: Tensor,
    target_mask: Tensor | None,
    source_mask: Tensor | None,
    way: str = "",
    reads: str = "memory",
    masks: str = "",
) -> Tensor:
    """Apply the embedding, then each layer, which also attends to the memory: [B, T, d_model]."""
    x = embedded = embedding(ids)
    if masks == "exchanged":
        target_mask, source_mask = source_mask, target_mask
    hides = (None if masks == "no target" else target_mask, None if masks == "no source" else source_mask)
    for layer in _applied_layers(layers, way):
        keys = {"itself": x, "handed on": memory}.get(reads, memory)
        output = layer(embedded if way == "not carried" else x, keys, *hides)
        x = x + output if way == "added" else output
        memory = x if reads == "handed on" else memory
    return x


_WAYS = (
    KnownMistake(
        {"way": "not carried"},
        "Every layer reads the embeddings, so only the last one counts; each reads what the one before it gave: `x = "
        "layer(x, ...)`.",
    ),
    KnownMistake({"way": "first"}, "Only the first layer is used: is the `return` inside of the loop?"),
    KnownMistake({"way": "reversed"}, "The layers come in reverse order."),
    KnownMistake({"way": "same"}, "The first layer is used again and again; each layer has weights of its own."),
    KnownMistake(
        {"way": "added"}, "What each layer gives is added to x; the residual connections are in the layers already."
    ),
)
_CALLS: tuple[Slip, ...] = (
    (r"EncoderLayer.forward\(\)", "A layer of the encoder takes two: `layer(x, mask)`."),
    (r"DecoderLayer.forward\(\)", "A layer of the decoder takes four: `layer(x, memory, target_mask, source_mask)`."),
    (
        "tensors used as indices must be|only supports integer|cannot be interpreted as an integer|Expected tensor for "
        "argument #1 'indices'",
        "Vectors are embedded again: the embedding takes ids, once, before the first layer.",
    ),
)


def _encoder_cases(draw: Draw) -> list[Case]:
    cases = []
    for _ in range(2):
        n_heads, d_head, B, S, depth = draw.sizes(5, high=6)
        vocabulary, pad_id, d_model = draw.randint(9, 14), draw.randint(1, 8), n_heads * d_head
        source = ids(draw, B, S + 1, vocabulary, pad_id)
        inputs = {"embedding": RandomEmbedding(draw, vocabulary, d_model)}
        layers = [EncoderLayer(draw, d_model, n_heads) for _ in range(depth)]
        cases.append(Case("", {**inputs, "layers": layers, "ids": source, "mask": padding_mask(source, pad_id)}))
    return cases


def _decoder_cases(draw: Draw) -> list[Case]:
    cases = []
    for about, equal in SOURCE_LENGTHS:
        n_heads, d_head, B, T, S = draw.sizes(5, high=7)
        S = T if equal else S
        vocabulary, d_model, depth = draw.randint(9, 14), n_heads * d_head, draw.randint(2, 3)
        inputs: dict[str, Any] = {"embedding": RandomEmbedding(draw, vocabulary, d_model)}
        inputs |= {"layers": [DecoderLayer(draw, d_model, n_heads) for _ in range(depth)]}
        inputs |= {"ids": torch.tensor([[draw.randrange(vocabulary) for _ in range(T)] for _ in range(B)])}
        inputs |= {"memory": draw.normal(B, S, d_model), "target_mask": look_ahead_mask(T)[None, None]}
        cases.append(Case(about, {**inputs, "source_mask": draw.mask(B, 1, 1, S)}))
    return cases


def _call_stack(attempt: Any, inputs: dict[str, Any]) -> Any:
    embedding, layers, *read = inputs.values()
    require_module(attempt)
    return attempt(embedding, layers).eval()(*read)


ENCODER_STACK = Exercise(
    "Encoder",
    "encoder.py",
    encoder,
    _encoder_cases,
    (*_WAYS, KnownMistake({"masked": False}, "The mask does not reach the layers: pass it on.")),
    implementation="Encoder in transformer/model.py",
    slips=_CALLS,
    aliases=("TransformerEncoder", "EncoderStack"),
    call=_call_stack,
)
DECODER_STACK = Exercise(
    "Decoder",
    "decoder.py",
    decoder,
    _decoder_cases,
    (
        *_WAYS,
        KnownMistake(
            {"masks": "exchanged"}, "The masks have changed places: `layer(x, memory, target_mask, source_mask)`."
        ),
        KnownMistake(
            {"masks": "no target"}, "`target_mask` does not reach the layers: they see what they should predict."
        ),
        KnownMistake({"masks": "no source"}, "`source_mask` does not reach the layers: they look at padding."),
        KnownMistake(
            {"reads": "itself"}, "The layers get x in the place of the memory, so they never read the source."
        ),
        KnownMistake(
            {"reads": "handed on"},
            "What a layer gives is the next one's memory; all of them read the memory that the encoder gave.",
        ),
    ),
    implementation="Decoder in transformer/model.py",
    slips=_CALLS,
    aliases=("TransformerDecoder", "DecoderStack"),
    call=_call_stack,
)


class _Encoder(nn.Module):
    def __init__(self, draw: Draw, vocabulary: int, d_model: int, n_heads: int):
        super().__init__()
        self.embedding, self.layers = RandomEmbedding(draw, vocabulary, d_model), [EncoderLayer(draw, d_model, n_heads)]

    def forward(self, ids: Tensor, mask: Tensor | None) -> Tensor:
        return encoder(self.embedding, self.layers, ids, mask)


class _Decoder(nn.Module):
    def __init__(self, draw: Draw, vocabulary: int, d_model: int, n_heads: int):
        super().__init__()
        self.embedding, self.layers = RandomEmbedding(draw, vocabulary, d_model), [DecoderLayer(draw, d_model, n_heads)]

    def forward(self, ids: Tensor, memory: Tensor, target_mask: Tensor | None, source_mask: Tensor | None) -> Tensor:
        return decoder(self.embedding, self.layers, ids, memory, target_mask, source_mask)


class _Output(nn.Module):
    def __init__(self, draw: Draw, d_model: int, vocabulary: int):
        super().__init__()
        self.weight = draw.normal(d_model, vocabulary) / 2

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight


def transformer(
    encoder: Any,
    decoder: Any,
    output: Any,
    pad_id: int,
    source: Tensor,
    target: Tensor,
    masks: str = "",
    ends: str = "logits",
    exchanged: bool = False,
) -> Tensor:
    """Return the logits of the next token after each token of the target: [B, T, V]."""
    if exchanged:
        source, target = target, source
    hides_source, hides_target = padding_mask(source, pad_id), target_mask(target, pad_id)
    if masks == "inverted":
        hides_source, hides_target = ~hides_source, ~hides_target
    in_target = {
        "no look-ahead": padding_mask(target, pad_id),
        "no target padding": look_ahead_mask(target.size(1)),
        "no target": None,
        "none": None,
    }.get(masks, hides_target)
    in_source = None if masks in ("no source", "none") else hides_source
    in_cross = {"no cross": None, "target's": padding_mask(target, pad_id)}.get(masks, in_source)
    vectors = decoder(target, encoder(source, in_source), in_target, in_cross)
    if ends == "vectors":
        return vectors
    logits = output(vectors)
    return {"probabilities": logits.softmax(-1), "logarithms": logits.log_softmax(-1), "last": logits[:, -1]}.get(
        ends, logits
    )


def _transformer_cases(draw: Draw) -> list[Case]:
    cases = []
    for about, equal in SOURCE_LENGTHS:
        n_heads, d_head, B, T, S = draw.sizes(5, low=2, high=7)
        T, S = T + 2, T + 2 if equal else S + 2
        vocabulary, pad_id, d_model = draw.randint(9, 14), draw.randint(1, 8), n_heads * d_head
        inputs: dict[str, Any] = {"encoder": _Encoder(draw, vocabulary, d_model, n_heads)}
        inputs |= {
            "decoder": _Decoder(draw, vocabulary, d_model, n_heads),
            "output": _Output(draw, d_model, vocabulary),
        }
        inputs |= {"pad_id": pad_id, "source": ids(draw, B, S, vocabulary, pad_id).flip(0)}
        cases.append(Case(about, {**inputs, "target": ids(draw, B, T, vocabulary, pad_id)}))
    return cases


def _call_transformer(attempt: Any, inputs: dict[str, Any]) -> Any:
    *parts, source, target = inputs.values()
    require_module(attempt)
    return attempt(*parts).eval()(source, target)


TRANSFORMER = Exercise(
    "Transformer",
    "model.py",
    transformer,
    _transformer_cases,
    (
        KnownMistake(
            {"ends": "probabilities"},
            "The result is probabilities; it should be logits: the loss takes the softmax itself, and a second one "
            "makes the gradients small.",
        ),
        KnownMistake(
            {"ends": "logarithms"},
            "The result is log-probabilities; it should be logits: the loss takes the logarithm of the softmax itself.",
        ),
        KnownMistake({"ends": "vectors"}, "The output layer is missing: `self.output` makes logits of the vectors."),
        KnownMistake(
            {"ends": "last"}, "Only the last token's logits are returned; while it learns it predicts after each token."
        ),
        KnownMistake({"masks": "inverted"}, "Both masks are inverted: True is where a query may look."),
        KnownMistake(
            {"masks": "none"}, "There are no masks: make them of the ids and `self.pad_id`, as in exercise 4."
        ),
        KnownMistake(
            {"masks": "no look-ahead"},
            "The decoder sees the tokens that it should predict: its mask lacks the look-ahead. Take `target_mask`.",
        ),
        KnownMistake({"masks": "no target"}, "The decoder gets no mask for the target: make it with `target_mask`."),
        KnownMistake(
            {"masks": "no target padding"},
            "The padding of the target is not hidden: take `target_mask`, which hides both.",
        ),
        KnownMistake(
            {"masks": "no source"}, "The padding of the source is hidden from nobody: `padding_mask(source)`."
        ),
        KnownMistake(
            {"masks": "no cross"}, "The decoder gets no mask for the source, so cross-attention looks at its padding."
        ),
        KnownMistake(
            {"masks": "target's"},
            "The decoder's second mask is made of the target; it hides the padding of the memory, so of the source.",
        ),
        KnownMistake({"exchanged": True}, "Source and target have changed places: the encoder reads the source."),
    ),
    implementation="Transformer in transformer/model.py",
    slips=(
        (r"_Encoder.forward\(\)", "The encoder takes two: `self.encoder(source, source_mask)`."),
        (
            r"_Decoder.forward\(\)",
            "The decoder takes four: `self.decoder(target, memory, target_mask, source_mask)`.",
        ),
        (
            "size of tensor a|sizes? of tensors? must match|Expected size for first",
            "Some sizes do not fit: the first mask of the decoder is made of the target, [B, 1, T, T]; the second one, "
            "and the encoder's, of the source, [B, 1, 1, S].",
        ),
    ),
    aliases=("Seq2Seq", "TransformerModel", "EncoderDecoder", "Model"),
    call=_call_transformer,
)
