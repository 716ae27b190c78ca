"""Two models of BERT's kind, joined by Hugging Face's EncoderDecoderModel (Rothe et al. 2020, "Leveraging pre-trained
checkpoints for sequence generation tasks"): bert2bert, roberta2roberta, and pairs of both.

The encoder is BERT (Devlin et al. 2019) or RoBERTa (Liu et al. 2019), the decoder the same with cross-attention, which
has one more layer before its output (`OutputTransform`). Either may be Google's "BERT generation", without that layer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from torch import Tensor

from headlight.importers.forms import hugging_face_tokenizers
from headlight.importers.forms.form import ForeignModel, Form
from headlight.importers.forms.hugging_face_config import CONFIG, HuggingFaceConfig, hugging_face_config
from headlight.importers.forms.hugging_face_tokenizers import NO_TOKENIZER, has_tokenizer
from headlight.importers.forms.marian_family import ACTIVATIONS
from headlight.importers.forms.parts import (
    LayerNames,
    TensorPart,
    affine,
    are_complete,
    layer_parts,
    shapes_due,
    tensors_of,
)
from headlight.importers.limits import MAX_LAYERS, MAX_TOKENS, MAX_WIDTH
from headlight.importers.questions import Answers
from headlight.importers.source import Source
from headlight.importers.subwords import Ids
from transformer.checkpoint.weights import Refused
from transformer.config import ModelConfig, StackConfig
from transformer.tokenizers import Tokenizer

_ENCODER_LAYER = LayerNames(
    attentions=(("attention", "attention"),),
    maps={"query": "self.query", "key": "self.key", "value": "self.value", "output": "output.dense"},
    feed_forward=("intermediate.dense", "output.dense"),
    norms=("attention.output.LayerNorm", "output.LayerNorm"),
)
_DECODER_LAYER = _ENCODER_LAYER._replace(
    attentions=(("self_attention", "attention"), ("cross_attention", "crossattention")),
    norms=("attention.output.LayerNorm", "crossattention.output.LayerNorm", "output.LayerNorm"),
)
_LAYERS = {"encoder": _ENCODER_LAYER, "decoder": _DECODER_LAYER}
_DEFAULT_SIZES = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
_DEFAULT_SIZES |= {"vocab_size": 30_522, "max_position_embeddings": 512, "type_vocab_size": 2}
_UNUSED_TENSORS = ("encoder.pooler.dense.weight", "encoder.pooler.dense.bias")  # of a classifier
_DEFAULT_EPS = 1e-12


class _Kind(NamedTuple):
    """A type of model: the names of a decoder's parts, and what its code does where its configuration is silent."""

    decoder: str  # the prefix of the decoder's stack
    head: str  # the prefix of the layers after the stack
    transform: tuple[str, str] | None  # the linear layer and the norm before the output, after the prefix `head`
    around: tuple[str, str]  # the tokens before and after a text, where the tokenizer names none
    tokenizer: Callable[[HuggingFaceConfig, Ids, int], Tokenizer | None]
    from_padding: bool = False  # whether positions are counted from the padding's id on
    segments: bool = True  # whether each token also has an embedding of its segment
    sizes: Mapping[str, int] = _DEFAULT_SIZES  # that its configuration leaves out


_BERT = _Kind(
    decoder="decoder.bert",
    head="decoder.cls.predictions",
    transform=("transform.dense", "transform.LayerNorm"),
    around=("[CLS]", "[SEP]"),
    tokenizer=hugging_face_tokenizers.bert,
)
_ROBERTA = _Kind(
    decoder="decoder.roberta",
    head="decoder.lm_head",
    transform=("dense", "layer_norm"),
    around=("<s>", "</s>"),
    tokenizer=hugging_face_tokenizers.bart,
    from_padding=True,
)
_KINDS = {
    "bert": _BERT,
    "roberta": _ROBERTA,
    "xlm-roberta": _ROBERTA._replace(tokenizer=hugging_face_tokenizers.fairseq),
    "camembert": _ROBERTA._replace(tokenizer=hugging_face_tokenizers.whole),
    "bert-generation": _BERT._replace(
        head="decoder.lm_head",
        transform=None,
        around=("", ""),
        tokenizer=hugging_face_tokenizers.pieces,
        segments=False,
        sizes=_DEFAULT_SIZES
        | {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
        | {"vocab_size": 50_358},
    ),
}


@dataclass(frozen=True)
class _Side:
    """A model of the pair: its configuration and its kind."""

    stack: str  # "encoder" or "decoder"
    config: HuggingFaceConfig
    kind: _Kind

    @property
    def prefix(self) -> str:
        return self.kind.decoder if self.stack == "decoder" else "encoder"

    def size(self, name: str, high: int = MAX_WIDTH, low: int = 1) -> int:
        return self.config.whole(name, high, self.kind.sizes[name], low)

    @property
    def width(self) -> int:
        return self.size("hidden_size")

    @property
    def vocabulary(self) -> int:
        return self.size("vocab_size", MAX_TOKENS, low=2)

    @property
    def sizes(self) -> StackConfig:
        names = ("num_attention_heads", "intermediate_size")
        return StackConfig(self.size("num_hidden_layers", MAX_LAYERS), *map(self.size, names))

    @property
    def rows(self) -> int:
        """The rows of the table of positions."""
        return self.size("max_position_embeddings", 1_000_000)

    @property
    def first(self) -> int:
        """The row of the first token (`create_position_ids_from_input_ids`), whatever generation pads with."""
        return self.config.whole("pad_token_id", self.vocabulary - 1, 1, low=0) + 1 if self.kind.from_padding else 0

    @property
    def ties(self) -> bool:
        return self.config.flag("tie_word_embeddings", True)


class _Pair(NamedTuple):
    whole: HuggingFaceConfig
    encoder: _Side
    decoder: _Side

    @property
    def length(self) -> int:
        """The number of positions that both have."""
        return min(side.rows - side.first for side in (self.encoder, self.decoder))


class Berts(Form):
    name = "Hugging Face BERT"
    title = "This is a pair of models of BERT's kind, as Hugging Face joins them"

    def fits(self, source: Source) -> bool:
        """Return whether both models are of these kinds, all their tensors are there, and no others."""
        pair = _pair(source)
        if pair is None:
            return False
        buffers = {name for name in source.weights.infos if name.endswith(("position_ids", "token_type_ids"))}
        return are_complete(_parts(pair), source, frozenset({*_UNUSED_TENSORS, *buffers}))

    def due(self, source: Source) -> Mapping[str, tuple[int, ...]]:
        pair = _pair(source)
        return {} if pair is None else shapes_due(_parts(pair), source)

    def facts(self, source: Source) -> tuple[tuple[str, str], ...]:
        _, encoder, decoder = _known(source)
        native = encoder.sizes, decoder.sizes
        return (
            ("Models", f"{encoder.config.model_type} and {decoder.config.model_type}"),
            ("Layers", f"{native[0].n_layers} and {native[1].n_layers}"),
            ("Heads", f"{native[0].n_heads} and {native[1].n_heads}"),
            ("Widths", f"{encoder.width}, feed-forward {native[0].d_ff:,} and {native[1].d_ff:,}"),
            ("Vocabularies", f"{encoder.vocabulary:,} and {decoder.vocabulary:,} tokens"),
            ("Norms", "after each sublayer"),
            ("Activation", encoder.config.text("hidden_act", "gelu")),
            ("Tokenizer", "in the folder" if has_tokenizer(encoder.config.folder) else "none; ids are shown"),
        )

    def folded(self, source: Source) -> tuple[tuple[str, str], ...]:
        pair = _known(source)
        folds = []
        if pair.encoder.kind.segments or pair.decoder.kind.segments:
            folds.append(("Segments", "the embedding of the first, which every token has, is added to the positions"))
        if pair.encoder.first or pair.decoder.first:
            folds.append(("Positions", "the first rows, which stand for no position, are left out"))
        if _UNUSED_TENSORS[0] in source.weights.infos:
            folds.append(("encoder.pooler", "left out: it classifies texts, and a translation does not use it"))
        return tuple(folds)

    def read(self, source: Source, answers: Answers) -> ForeignModel:
        pair = _known(source)
        native = _native(pair)
        tensors = tensors_of(_parts(pair), source, as_stored=True)
        for side in (pair.encoder, pair.decoder):
            table, segments = (f"{side.stack}.embedding.{name}" for name in ("positions.table", "segments"))
            tensors[table] = partial(_positions, tensors[table], tensors.pop(segments, None), side.first, pair.length)
        ids = (native.pad_id, native.sos_id, native.eos_id)
        sides = (pair.encoder, pair.decoder)
        own = [side.kind.tokenizer(pair.whole, ids, side.vocabulary) for side in sides]
        warnings: tuple[str, ...] = ()
        if own[0] is None or own[1] is None:
            warnings = (NO_TOKENIZER,)
        else:
            native = _framed(native, pair, own[0])
        first, second = (
            Tokenizer.of_ids(side.vocabulary, *ids) if tokenizer is None else tokenizer
            for tokenizer, side in zip(own, sides, strict=True)
        )
        same = pair.encoder.vocabulary == pair.decoder.vocabulary and pair.encoder.kind == pair.decoder.kind
        card: dict[str, Any] = {"title": source.name[:80], "origin": self.name}
        return ForeignModel(native, tensors, first, first if same else second, card, warnings)


def _pair(source: Source) -> _Pair | None:
    """Return the configurations of both models; None where one is of another kind, or there is no pair."""
    config = hugging_face_config(source)
    if config is None or config.model_type != "encoder-decoder":
        return None
    sides = []
    for stack in _LAYERS:
        values = config.values.get(stack)
        inner = HuggingFaceConfig(config.folder, values if isinstance(values, dict) else {})
        kind = _KINDS.get(inner.model_type)
        if kind is None:
            return None
        sides.append(_Side(stack, inner, kind))
    return _Pair(config, *sides)


def _known(source: Source) -> _Pair:
    pair = _pair(source)
    assert pair is not None, "a form reads what it fits"
    return pair


def _native(pair: _Pair) -> ModelConfig:
    """Return the configuration.

    Raises Refused for unsupported settings, and where the models differ in one that this network shares.
    """
    whole, encoder, decoder = pair
    for field, default in (("hidden_size", 0), ("hidden_act", "gelu"), ("layer_norm_eps", _DEFAULT_EPS)):
        defaults = (side.kind.sizes.get(field, default) for side in (encoder, decoder))
        values = [_value(side, field, usual) for side, usual in zip((encoder, decoder), defaults, strict=True)]
        if values[0] != values[1]:
            raise Refused(
                f"The encoder's {field} is {values[0]!r:.40} and the decoder's {values[1]!r:.40}; they differ."
            )
    activation = encoder.config.text("hidden_act", "gelu")
    if activation not in ACTIVATIONS or activation == "quick_gelu":
        raise Refused(f"The activation is {activation[:40]!r}, which is not supported.")
    if decoder.kind.from_padding and activation != "gelu":
        raise Refused(
            f"The activation is {activation!r}, and before its output a {decoder.config.model_type} has GELU whatever "
            "the others are; Headlight's network has one activation."
        )
    for side in (encoder, decoder):
        positions = side.config.text("position_embedding_type", "absolute")
        if positions != "absolute":
            raise Refused(
                f"position_embedding_type of the {side.stack} is {positions[:40]!r}; only absolute is supported."
            )
    target = decoder.vocabulary

    def id(name: str, *other_names: str) -> int:
        fields = ((whole, name), (decoder.config, name), *((decoder.config, other) for other in other_names))
        token_id = next((id for config, field in fields if (id := config.id(field, target)) is not None), None)
        if token_id is None:
            raise Refused(f"{CONFIG} does not say {name}, without which the model cannot run.", remedy="Add it there.")
        return token_id

    start = id("decoder_start_token_id", "bos_token_id")
    if decoder.kind.from_padding and start == decoder.first - 1:
        raise Refused(
            f"decoder_start_token_id is {start}, which is the decoder's pad_token_id too: its code gives padding no "
            "position, so where a written token then stands depends on whether it decodes with a cache.",
            remedy="Set decoder_start_token_id to bos_token_id if the model was trained so.",
        )
    if pair.length < 1:
        raise Refused(f"max_position_embeddings in {CONFIG} leaves no position: it counts them from pad_token_id on.")
    return ModelConfig(
        encoder.vocabulary,
        target,
        encoder.width,
        encoder.sizes,
        decoder.sizes,
        norm_eps=_value(encoder, "layer_norm_eps", _DEFAULT_EPS),
        activation=ACTIVATIONS[activation],
        positions="learned",
        scale_embeddings=False,
        embedding_norm=True,
        max_length=pair.length,
        tied="output" if decoder.ties else "none",
        pad_id=id("pad_token_id"),
        sos_id=start,
        eos_id=id("eos_token_id"),
        source_end=(),
        output_transform=decoder.kind.transform is not None,
    )


def _value(side: _Side, field: str, default: Any) -> Any:
    value = side.config.values.get(field)
    return default if value is None else value


def _framed(native: ModelConfig, pair: _Pair, tokenizer: Tokenizer) -> ModelConfig:
    """Return the configuration with the tokens that the encoder's tokenizer puts around a text, if it has them."""
    named = pair.whole.token("cls_token"), pair.whole.token("sep_token")
    texts = (name or usual for name, usual in zip(named, pair.encoder.kind.around, strict=True))
    start, end = (
        () if not text or (id := tokenizer.inner.token_to_id(text)) is None else (int(id),)
        for text in (texts if any(pair.encoder.kind.around) else ("", ""))
    )
    return replace(native, source_start=start, source_end=end)


def _positions(table: Callable[[], Tensor], segments: Callable[[], Tensor] | None, first: int, length: int) -> Tensor:
    """Return the rows of the positions [L, D], with the embedding of the segment that every token is in."""
    rows = table()[first : first + length]
    return rows if segments is None else rows + segments()[0]


def _parts(pair: _Pair) -> Iterator[TensorPart]:
    """Yield our tensors with their names in the file, and the embeddings of segments, which this network does not have.

    The file may hold shared tensors under the other stack's name only.
    """
    shared = pair.whole.flag("tie_encoder_decoder", False)
    decoder = pair.decoder
    output = f"{decoder.kind.head}.decoder.weight"
    for side, other in ((pair.encoder, decoder), (decoder, pair.encoder)):
        prefixes = (side.prefix, other.prefix) if shared else (side.prefix,)
        for part in _stack_parts(side):
            names = tuple(f"{start}.{name}" for start in prefixes for name in part.names)
            tied = part.native == "decoder.embedding.tokens.weight" and decoder.ties
            yield part._replace(names=(*names, output) if tied else names)
    d, vocabulary = decoder.width, decoder.vocabulary
    if decoder.kind.transform is not None:
        linear, norm = (f"{decoder.kind.head}.{name}" for name in decoder.kind.transform)
        yield from affine("decoder.norm.linear", linear, (d, d))
        yield from affine("decoder.norm.norm", norm, (d,))
    if not decoder.ties:
        yield TensorPart("output.weight", (output,), (vocabulary, d))
    biases = (f"{decoder.kind.head}.{name}" for name in ("decoder.bias", "bias"))
    yield TensorPart("output.bias", tuple(biases), (vocabulary,))


def _stack_parts(side: _Side) -> Iterator[TensorPart]:
    """Yield the tensors of a stack, with their names after its prefix."""
    stack, d, sizes = side.stack, side.width, side.sizes
    tables = {
        "tokens.weight": ("word_embeddings", side.vocabulary),
        "positions.table": ("position_embeddings", side.rows),
    }
    if side.kind.segments:
        tables["segments"] = ("token_type_embeddings", side.size("type_vocab_size"))
    for ours, (theirs, rows) in tables.items():
        yield TensorPart(f"{stack}.embedding.{ours}", (f"embeddings.{theirs}.weight",), (rows, d))
    yield from affine(f"{stack}.embedding.norm", "embeddings.LayerNorm", (d,))
    for layer in range(sizes.n_layers):
        yield from layer_parts(f"{stack}.layers.{layer}", f"encoder.layer.{layer}", _LAYERS[stack], d, sizes.d_ff)


BERTS = Berts()
