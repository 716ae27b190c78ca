"""T5 as Hugging Face saves it: T5 1.0, 1.1, Flan-T5, MADLAD, mT5, umT5 and ByT5.

Shapes: D = d_model, I = n_heads * d_kv, F = feed-forward width, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import tokenizers
import torch
from tokenizers import decoders, models, pre_tokenizers

from headlight.importers import sentencepiece_file
from headlight.importers.forms.form import ForeignModel, Form
from headlight.importers.forms.hugging_face_config import HuggingFaceConfig, hugging_face_config
from headlight.importers.forms.hugging_face_tokenizers import NO_TOKENIZER, require_unknown, tokenizer_file
from headlight.importers.forms.parts import TensorPart, are_complete, depth_of, shapes_due, size_of, tensors_of
from headlight.importers.questions import Answers
from headlight.importers.source import Source
from headlight.importers.subwords import Ids
from transformer.byte_pieces import byte_characters
from transformer.checkpoint.weights import Refused, TensorInfo
from transformer.config import MAX_SIZES, Activation, StackConfig
from transformer.t5 import T5Config
from transformer.tokenizers import Tokenizer

_SHARED, _HEAD, _PIECES = "shared.weight", "lm_head.weight", "spiece.model"
_MAPS = {"query": "q", "key": "k", "value": "v", "output": "o"}
_ATTENTIONS = {
    "encoder": {"attention": "SelfAttention"},
    "decoder": {"self_attention": "SelfAttention", "cross_attention": "EncDecAttention"},
}
# Their names of the activations, and ours.
_FEED_FORWARD: dict[str, Activation] = {"relu": "relu", "gelu_new": "gelu", "silu": "silu", "swish": "silu"}
# The shared embedding under other names, and a bias of cross-attention that old files have and no code ever read.
_SHARED_COPIES = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", _HEAD)
_UNUSED_TENSOR = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"
_SPECIAL_TOKENS = ("<pad>", "</s>", "<unk>")
_MAX_EXTRA_IDS = 100  # <extra_id_0> stands for the first gap of a text, and has the last id


class T5Sizes(NamedTuple):
    """The sizes of the network; pairs are (encoder, decoder)."""

    depths: tuple[int, int]
    width: int
    inner: int
    d_ff: int
    heads: int
    buckets: int
    vocabulary: int
    gated: bool
    shared_bias: bool  # whether all layers of a stack have the position bias of its first


class HuggingFaceT5(Form):
    name = "Hugging Face T5"
    title = "This is a model of Hugging Face T5"

    def fits(self, source: Source) -> bool:
        """Return whether the configuration is a T5's, all its tensors are there, and no others."""
        config = _config(source)
        if config is None:
            return False
        parts = _parts(_sizes(config), separate=_HEAD in source.weights.infos)
        return are_complete(parts, source, frozenset({*_SHARED_COPIES, _UNUSED_TENSOR}))

    def due(self, source: Source) -> Mapping[str, tuple[int, ...]]:
        config, infos = _config(source), source.weights.infos
        sizes = _sizes_of(infos) if config is None else _sizes(config)
        return shapes_due(_parts(sizes, separate=_HEAD in infos), source)

    def facts(self, source: Source) -> tuple[tuple[str, str], ...]:
        config = _known(source)
        sizes = _sizes(config)
        own = "" if sizes.shared_bias else ", in each layer its own"
        return (
            ("Layers", f"{sizes.depths[0]} and {sizes.depths[1]}"),
            ("Heads", f"{sizes.heads} of {sizes.inner // sizes.heads} numbers"),
            ("Widths", f"{sizes.width}, feed-forward {sizes.d_ff:,}{', gated' if sizes.gated else ''}"),
            ("Vocabulary", f"{sizes.vocabulary:,} tokens"),
            ("Norms", "before each sublayer, by the root mean square"),
            ("Positions", f"a bias on the scores, for {sizes.buckets} ranges of distances{own}"),
            ("Activation", _stated_activation(config)),
        )

    def folded(self, source: Source) -> tuple[tuple[str, str], ...]:
        if not _scaled(_known(source)):
            return ()
        return (("1 / √d_model before the output", "in the gain of the decoder's final layer norm"),)

    def read(self, source: Source, answers: Answers) -> ForeignModel:
        config = _known(source)
        sizes = _sizes(config)
        separate = _has_own_output(source)
        native = _native(config, sizes, separate)
        tensors = tensors_of(_parts(sizes, separate), source, as_stored=True)
        if _scaled(config):
            gain = tensors["decoder.norm.weight"]
            tensors["decoder.norm.weight"] = lambda: gain().float() * sizes.width**-0.5
        ids = (native.pad_id, native.sos_id, native.eos_id)
        tokenizer = _tokenizer(config, ids, sizes.vocabulary)
        warnings: tuple[str, ...] = ()
        if tokenizer is None:
            tokenizer = Tokenizer.of_ids(sizes.vocabulary, *ids)
            warnings = (NO_TOKENIZER,)
        card = {**_card(source, config), "origin": self.name}
        return ForeignModel(native, tensors, tokenizer, tokenizer, card, warnings)


def _config(source: Source) -> HuggingFaceConfig | None:
    """Return the configuration of a T5; None for another model's."""
    config = hugging_face_config(source)
    return config if config is not None and config.model_type in ("t5", "mt5", "umt5") else None


def _known(source: Source) -> HuggingFaceConfig:
    config = _config(source)
    assert config is not None, "a form reads what it fits"
    return config


def _sizes(config: HuggingFaceConfig) -> T5Sizes:
    depth = config.whole("num_layers", MAX_SIZES["layers"])
    heads = config.whole("num_heads", MAX_SIZES["width"])
    return T5Sizes(
        (depth, config.whole("num_decoder_layers", MAX_SIZES["layers"], depth)),
        config.whole("d_model", MAX_SIZES["width"]),
        heads * config.whole("d_kv", MAX_SIZES["width"] // heads),
        config.whole("d_ff", MAX_SIZES["width"]),
        heads,
        config.whole("relative_attention_num_buckets", MAX_SIZES["width"], 32, low=4),
        config.whole("vocab_size", MAX_SIZES["vocabulary"], low=2),
        _activation(config)[1],
        config.model_type != "umt5",
    )


def _sizes_of(infos: Mapping[str, TensorInfo]) -> T5Sizes:
    """Return the sizes as far as the tensors show them, for a file without a configuration."""
    first, last = "encoder.block.0.layer.0.SelfAttention", "encoder.block.0.layer.1.DenseReluDense"
    gated = f"{last}.wi_0.weight" in infos
    width = size_of(infos, _SHARED, 1, 512)
    return T5Sizes(
        (depth_of(infos, "encoder.block."), depth_of(infos, "decoder.block.")),
        width,
        size_of(infos, f"{first}.q.weight", 0, width),
        size_of(infos, f"{last}.wi{'_0' if gated else ''}.weight", 0, 4 * width),
        size_of(infos, f"{first}.relative_attention_bias.weight", 1, 8),
        size_of(infos, f"{first}.relative_attention_bias.weight", 0, 32),
        size_of(infos, _SHARED, 0, 32_128),
        gated,
        "encoder.block.1.layer.0.SelfAttention.relative_attention_bias.weight" not in infos,
    )


def _parts(sizes: T5Sizes, separate: bool) -> Iterator[TensorPart]:
    """Yield our tensors, with an output projection if it is `separate` from the embedding.

    A block of theirs numbers its sublayers, the feed-forward network last.
    """
    d, inner, d_ff, vocabulary = sizes.width, sizes.inner, sizes.d_ff, sizes.vocabulary
    forward = {"inner": ("wi_0" if sizes.gated else "wi", (d_ff, d)), "outer": ("wo", (d, d_ff))}
    if sizes.gated:
        forward["gate"] = ("wi_1", (d_ff, d))
    yield _weight("encoder.embedding.tokens", "shared", (vocabulary, d))
    for (stack, attentions), depth in zip(_ATTENTIONS.items(), sizes.depths, strict=True):
        yield _weight(f"{stack}.norm", f"{stack}.final_layer_norm", (d,))
        for layer in range(depth):
            ours, theirs = f"{stack}.layers.{layer}", f"{stack}.block.{layer}.layer"
            if layer == 0 or not sizes.shared_bias:
                native, table = f"{ours}.{next(iter(attentions))}", f"{theirs}.0.SelfAttention.relative_attention_bias"
                yield _weight(f"{native}.position_bias.table", table, (sizes.buckets, sizes.heads))
            for index, (own, foreign) in enumerate(attentions.items()):
                for a, b in _MAPS.items():
                    shape = (d, inner) if a == "output" else (inner, d)
                    yield _weight(f"{ours}.{own}.{a}", f"{theirs}.{index}.{foreign}.{b}", shape)
            last = len(attentions)
            for own, (foreign, shape) in forward.items():
                yield _weight(f"{ours}.feed_forward.{own}", f"{theirs}.{last}.DenseReluDense.{foreign}", shape)
            for index in range(last + 1):
                yield _weight(f"{ours}.residuals.{index}.norm", f"{theirs}.{index}.layer_norm", (d,))
    if separate:
        yield _weight("output", "lm_head", (vocabulary, d))


def _weight(native: str, foreign: str, shape: tuple[int, ...]) -> TensorPart:
    return TensorPart(f"{native}.weight", (f"{foreign}.weight",), shape)


def _stated_activation(config: HuggingFaceConfig) -> str:
    return config.text("feed_forward_proj", "relu" if config.model_type == "t5" else "gated-gelu")


def _activation(config: HuggingFaceConfig) -> tuple[Activation, bool]:
    """Return our activation, and whether it is gated: "gated-gelu", always the tanh approximation here, is both."""
    stated = _stated_activation(config)
    name = "gelu_new" if stated == "gated-gelu" else stated.removeprefix("gated-")
    if name not in _FEED_FORWARD:
        raise Refused(
            f"The feed-forward network is {stated[:40]!r}; supported are relu, gated-gelu, gated-silu and gated-relu."
        )
    return _FEED_FORWARD[name], stated.startswith("gated-")


def _scaled(config: HuggingFaceConfig) -> bool:
    """Return whether the decoder's vectors are divided by √d_model before the output.

    T5 1.0 and umT5 do so where the configuration ties the output to the embedding; later files of T5 have a setting.
    """
    if config.model_type == "mt5":
        return False
    return config.flag("scale_decoder_outputs", config.flag("tie_word_embeddings", True))


def _has_own_output(source: Source) -> bool:
    """Return whether the output projection is a matrix of its own. T5 1.0 files list the shared matrix again as the
    output, so the values decide.
    """
    if _HEAD not in source.weights.infos:
        return False
    if not _scaled(_known(source)):
        return True
    return not torch.equal(source.weights.tensor(_HEAD), source.weights.tensor(_SHARED))


def _native(config: HuggingFaceConfig, sizes: T5Sizes, separate: bool) -> T5Config:
    pad = config.id("pad_token_id", sizes.vocabulary)
    start = config.id("decoder_start_token_id", sizes.vocabulary)
    eps = config.values.get("layer_norm_epsilon", 1e-6)
    pad = 0 if pad is None else pad  # as their code has it
    eos = config.id("eos_token_id", sizes.vocabulary)
    encoder, decoder = (StackConfig(depth, sizes.heads, sizes.d_ff) for depth in sizes.depths)
    activation, gated = _activation(config)
    return T5Config(
        sizes.vocabulary,
        sizes.vocabulary,
        sizes.width,
        encoder,
        decoder,
        norm_eps=eps,
        activation=activation,
        gated=gated,
        max_length=config.whole("n_positions", MAX_SIZES["length"], 512),
        tied="none" if separate else "all",
        pad_id=pad,
        sos_id=pad if start is None else start,
        eos_id=1 if eos is None else eos,
        d_kv=sizes.inner // sizes.heads,
        buckets=sizes.buckets,
        shared_bias=sizes.shared_bias,
        max_distance=config.whole("relative_attention_max_distance", MAX_SIZES["length"], 128),
    )


def _tokenizer(config: HuggingFaceConfig, ids: Ids, size: int) -> Tokenizer | None:
    """Open `tokenizer.json` or a SentencePiece model, or return a tokenizer of bytes."""
    tokenizer = tokenizer_file(config.folder, ids, size)
    if tokenizer is not None:
        return tokenizer
    if config.tokenizer.get("tokenizer_class") == "ByT5Tokenizer":
        return Tokenizer(_bytes(), *ids).of_size(size)
    if not (config.folder / _PIECES).exists():
        return None
    model = sentencepiece_file.read(config.folder / _PIECES)
    tokens = {piece.text: id for id, piece in enumerate(model.pieces)}
    extra = [f"<extra_id_{n}>" for n in reversed(range(_extra(config)))]
    if extra and extra[0] not in tokens and len(tokens) + len(extra) <= size:
        tokens |= {name: id for id, name in enumerate(extra, len(tokens))}
    require_unknown(tokens, _PIECES)
    inner = sentencepiece_file.tokenizer(model, tokens, "<unk>", size)
    inner.add_special_tokens([name for name in (*_SPECIAL_TOKENS, *extra) if name in tokens])
    return Tokenizer(inner, *ids).of_size(size)


def _extra(config: HuggingFaceConfig) -> int:
    count = config.tokenizer.get("extra_ids", _MAX_EXTRA_IDS)
    return count if isinstance(count, int) and 0 <= count <= _MAX_EXTRA_IDS else 0


def _bytes() -> tokenizers.Tokenizer:
    """Return a tokenizer with a token per byte after three special tokens."""
    tokens = {name: id for id, name in enumerate(_SPECIAL_TOKENS)}
    tokens |= {character: byte + len(_SPECIAL_TOKENS) for character, byte in byte_characters().items()}
    inner = tokenizers.Tokenizer(models.BPE(tokens, []))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    inner.decoder = decoders.ByteLevel()
    inner.add_special_tokens([*_SPECIAL_TOKENS])
    return inner


def _card(source: Source, config: HuggingFaceConfig) -> dict[str, Any]:
    """Return the model's name, and as examples texts with the task prefixes that it was trained on."""
    card: dict[str, Any] = {"title": source.name[:80]}
    tasks = config.values.get("task_specific_params")
    listed = tasks.values() if isinstance(tasks, dict) else ()
    prefixes = [task.get("prefix") for task in listed if isinstance(task, dict)]
    usable = [text for text in prefixes if isinstance(text, str) and text.startswith("translate ") and len(text) < 80]
    return {**card, "examples": [f"{text}The house is wonderful." for text in usable[:4]]} if usable else card


T5 = HuggingFaceT5()
