"""Marian, BART and their relatives, whose tensors have the same names.

The families differ in where the norms stand, in the positions, in the tokenizers, and in the tokens around a sentence.

Shapes: V vocabulary, L positions, D = d_model, F = feed-forward width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from torch import Tensor
from torch.nn.functional import layer_norm

from headlight.importers.forms.form import ForeignModel
from headlight.importers.forms.hugging_face_config import CONFIG, HuggingFaceConfig, hugging_face_config
from headlight.importers.forms.hugging_face_tokenizers import NO_TOKENIZER, has_tokenizer
from headlight.importers.forms.languages import NAMES, Around, Languages, about_language
from headlight.importers.forms.parts import (
    MAX_TABLE_NUMBERS,
    LayerNames,
    TensorPart,
    affine,
    depth_of,
    have_their_shapes,
    layer_parts,
    shapes_due,
    tensors_of,
)
from headlight.importers.limits import MAX_LAYERS, MAX_TOKENS, MAX_WIDTH
from headlight.importers.questions import Answers, ImportQuestion
from headlight.importers.source import Source
from headlight.importers.subwords import Ids
from transformer.checkpoint.weights import Refused, TensorInfo
from transformer.config import Activation, ModelConfig, Norm, Positions, StackConfig, Tied
from transformer.tokenizers import Tokenizer

ACTIVATIONS: dict[str, Activation] = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu-tanh",
    "gelu_fast": "gelu-tanh",
    "gelu_accurate": "gelu-tanh",
    "gelu_pytorch_tanh": "gelu-tanh",
    "quick_gelu": "silu",  # x · sigmoid(QUICK_GELU · x): both linear layers are scaled
    "swish": "silu",
    "silu": "silu",
    "linear": "none",
}
QUICK_GELU = 1.702
MAPS = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "out_proj"}
# Our name and theirs of each attention, in the order in which a layer has them.
ATTENTIONS = {
    "encoder": (("attention", "self_attn"),),
    "decoder": (("self_attention", "self_attn"), ("cross_attention", "encoder_attn")),
}
FEED_FORWARD = {"inner": "fc1", "outer": "fc2"}
# Heads of models that are no translators, and what old versions saved beside the weights.
_ARCHITECTURES = ("ForConditionalGeneration", "MTModel", "Model")
_IGNORED_TENSORS = ("version", "_float_tensor", "embed_positions.weights")


OpenTokenizers = Callable[[HuggingFaceConfig, Ids, tuple[int, int]], tuple[Tokenizer, Tokenizer] | None]


def shared(open_tokenizer: Callable[[HuggingFaceConfig, Ids, int], Tokenizer | None]) -> OpenTokenizers:
    """Return the tokenizers of a family that reads and writes with the same tokenizer."""

    def both(config: HuggingFaceConfig, ids: Ids, sizes: tuple[int, int]) -> tuple[Tokenizer, Tokenizer] | None:
        tokenizer = open_tokenizer(config, ids, sizes[0])
        return None if tokenizer is None else (tokenizer, tokenizer)

    return both


def forced_start(config: HuggingFaceConfig) -> tuple[int, ...]:
    """Return the tokens that generation forces at the start of the target."""
    first = config.id("forced_bos_token_id", MAX_TOKENS)
    return () if first is None else (first,)


def about_languages(config: HuggingFaceConfig, languages: Languages, target_is_set: bool) -> tuple[ImportQuestion, ...]:
    """Ask for the language that a multilingual model reads, and for the one that it writes unless that is set."""
    sides = (("source", "src_lang"),) if target_is_set else (("source", "src_lang"), ("target", "tgt_lang"))
    usual = config.tokenizer
    return tuple(about_language(side, languages, usual.get(name)) for side, name in sides) if languages else ()


def plain_around(config: HuggingFaceConfig, languages: Languages, answers: Answers) -> Around:
    """Return the ids around a text that is read as "tokens </s>"."""
    return Around(config.known_id("decoder_start_token_id", MAX_TOKENS), target_start=forced_start(config))


class MarianSizes(NamedTuple):
    """The sizes of the network; pairs are (encoder, decoder)."""

    depths: tuple[int, int]
    d_ffs: tuple[int, int]
    width: int
    vocabularies: tuple[int, int]
    length: int  # the positions that a model reads
    tied: Tied
    shared: bool  # whether the file may have one matrix for all embeddings
    offset: int  # rows of the tables of positions that belong to no position
    scale: float = 1.0  # of the embeddings
    slope: float = 1.0  # the factor of each feed-forward network's inner layer, and the divisor of its outer one


@dataclass(frozen=True)
class MarianFamily:
    """A family of models. The first `offset` rows of its position tables belong to no position."""

    name: str
    model_type: str
    norm: Norm
    positions: Positions
    activation: str  # where the configuration names none
    tokenizers: OpenTokenizers
    around: Callable[[HuggingFaceConfig, Languages, Answers], Around]
    final_norm: bool = False
    embedding_norm: bool = False
    logits_bias: bool = False
    offset: int = 0
    table: Callable[[HuggingFaceConfig, int, int], Tensor] | None = None  # [length, d_model], where the file has none
    scaled: bool = False  # whether embeddings are multiplied by √d_model where the configuration does not say
    multilingual: bool = False
    languages: Callable[[HuggingFaceConfig], Languages] = lambda config: {}
    language_questions: Callable[[HuggingFaceConfig, Languages], tuple[ImportQuestion, ...]] = lambda *_: ()
    output: str = "lm_head.weight"  # which may follow the prefix of the other names
    two_vocabularies: bool = False  # whether each side has its own, src_vocab_size and tgt_vocab_size
    decoder_norm_first: bool = False  # whether the decoder norms its embeddings before it adds the positions
    caution: Callable[[HuggingFaceConfig], str] = lambda config: ""  # what the tokenizer does not do

    @property
    def title(self) -> str:
        return f"This is a model of {self.name}"

    def fits(self, source: Source) -> bool:
        """Return whether the configuration is of this family, all its tensors are there, and no others."""
        config = hugging_face_config(source)
        if config is None or config.model_type != self.model_type:
            return False
        self._require_known(config)
        infos, parts = source.weights.infos, list(self._parts(source, self._sizes(source, config)))
        prefix = _prefix(infos)
        expected = {name for part in parts for name in part.names} | {f"{prefix}{name}" for name in _EMBEDDINGS}
        expected |= {f"{prefix}{stack}.embed_positions.weight" for stack in ATTENTIONS}
        expected |= {self.output.format(prefix), _BIAS, *self._decoder_norm(prefix)}
        return (
            have_their_shapes(parts, infos)
            and all(name in infos for name in self._decoder_norm(prefix))
            and all(name in expected or name.endswith(_IGNORED_TENSORS) for name in infos)
        )

    def due(self, source: Source) -> Mapping[str, tuple[int, ...]]:
        config = hugging_face_config(source)
        if config is not None and config.model_type != self.model_type:
            return {}  # the configuration names another family
        sizes = self._sizes(source, config)
        norm = {name: (sizes.width,) for name in self._decoder_norm(_prefix(source.weights.infos))}
        return shapes_due(self._parts(source, sizes), source) | norm

    def facts(self, source: Source) -> tuple[tuple[str, str], ...]:
        config = _config_of(source)
        sizes = self._sizes(source, config)
        languages = self.languages(config)
        facts = (
            ("Layers", f"{sizes.depths[0]} and {sizes.depths[1]}"),
            ("Heads", f"{_heads(config, 'encoder')} and {_heads(config, 'decoder')}"),
            ("Widths", f"{sizes.width}, feed-forward {sizes.d_ffs[0]:,} and {sizes.d_ffs[1]:,}"),
            ("Vocabularies", f"{sizes.vocabularies[0]:,} and {sizes.vocabularies[1]:,} tokens"),
            ("Norms", "before each sublayer, and after each stack" if self.norm == "pre" else "after each sublayer"),
            ("Activation", self._activation(config)),
            ("Tokenizer", "in the folder" if has_tokenizer(config.folder) else "none; ids are shown"),
        )
        return (*facts, ("Languages", f"{len(languages)}")) if languages else facts

    def folded(self, source: Source) -> tuple[tuple[str, str], ...]:
        folds = []
        if self.offset:
            folds.append(("Positions", f"the first {self.offset} rows, which stand for no position, are left out"))
        elif self.positions == "stored":
            folds.append(
                ("Positions", "sines in one half and cosines in the other: stored as the family's code computes them")
            )
        if self.decoder_norm_first:
            folds.append(("The decoder's embeddings", "stored as its code norms them, before positions are added"))
        if self._activation(_config_of(source)) == "quick_gelu":
            folds.append(("quick_gelu", f"SiLU, with {QUICK_GELU} in the linear layers around it"))
        if _BIAS in source.weights.infos:
            folds.append(("Output bias", f"{_BIAS}, as it stands"))
        return tuple(folds)

    def questions(self, source: Source) -> tuple[ImportQuestion, ...]:
        config = _config_of(source)
        return self.language_questions(config, self.languages(config))

    def read(self, source: Source, answers: Answers) -> ForeignModel:
        config = _config_of(source)
        sizes = self._sizes(source, config)
        own = self.tokenizers(config, self._ids(config, sizes), sizes.vocabularies)
        languages = self.languages(config) if own else {}
        native = self._native(source, config, sizes, self.around(config, languages, answers))
        ids = (native.pad_id, native.sos_id, native.eos_id)
        warnings = self._ignored_norms(config)
        if own is None:
            warnings += (NO_TOKENIZER,)
            source_size, target_size = sizes.vocabularies
            first = Tokenizer.of_ids(source_size, *ids)
            own = (first, first if target_size == source_size else Tokenizer.of_ids(target_size, *ids))
        else:
            if self.multilingual and not languages:
                warnings += ("The tokenizer names no languages: nothing beside a sentence says which they are.",)
            if caution := self.caution(config):
                warnings += (caution,)
        source_tokenizer, target_tokenizer = own
        shared = source_tokenizer is target_tokenizer
        source_tokenizer = Tokenizer(source_tokenizer.inner, *ids, sizes.vocabularies[0])
        return ForeignModel(
            native,
            tensors_of(self._parts(source, sizes), source, as_stored=True),
            source_tokenizer,
            source_tokenizer if shared else Tokenizer(target_tokenizer.inner, *ids, sizes.vocabularies[1]),
            {**_card(source, config, answers), "origin": self.name},
            warnings,
        )

    def _ignored_norms(self, config: HuggingFaceConfig) -> tuple[str, ...]:
        """Return a warning where `normalize_before` contradicts the family's code, which does not read that field.

        Weights that were trained with the norms elsewhere compute something else in that code, and so in ours.
        """
        before = config.flag("normalize_before", self.norm == "pre")
        if before == (self.norm == "pre"):
            return ()
        places = ("before", "after") if before else ("after", "before")
        return (
            f"{CONFIG} places the layer norms {places[0]} the sublayers (normalize_before), but the code of "
            f"{self.name} does not read that and places them {places[1]}; so does Headlight.",
        )

    def _require_known(self, config: HuggingFaceConfig) -> None:
        """Raise Refused for a relative of the family that is no encoder-decoder, or has parts of its own."""
        architectures = config.values.get("architectures")
        if isinstance(architectures, list) and architectures:
            name = str(architectures[0])[:80]
            if not name.endswith(_ARCHITECTURES):
                raise Refused(f"This is a {name}, not a model that reads one sentence and writes another.")
        if not config.flag("is_encoder_decoder", True):
            raise Refused(
                f"{CONFIG} says that this {self.name} model is not an encoder-decoder.",
                remedy="Only encoder-decoders can be imported.",
            )
        activation = self._activation(config)
        if activation not in ACTIVATIONS:
            raise Refused(f"The activation is {activation[:40]!r}; supported are {', '.join(sorted(ACTIVATIONS))}.")

    def _sizes(self, source: Source, config: HuggingFaceConfig | None) -> MarianSizes:
        """Return the sizes from the configuration, or from the tensors where there is none."""
        infos = source.weights.infos
        if config is None:
            return _sizes_of(infos, self.offset)
        width = config.whole("d_model", MAX_WIDTH, low=4)
        ties = config.flag("tie_word_embeddings", not self.two_vocabularies)
        if self.two_vocabularies:
            shares_embeddings = ties
            source_size = config.whole("src_vocab_size", MAX_TOKENS, low=2)
            target_size = config.whole("tgt_vocab_size", MAX_TOKENS, low=2)
        else:
            shares_embeddings = config.flag("share_encoder_decoder_embeddings", True)
            target_size = source_size = config.whole("vocab_size", MAX_TOKENS, low=2)
            if not shares_embeddings:
                target_size = config.whole("decoder_vocab_size", MAX_TOKENS, source_size, low=2)
        tied: Tied = "none"
        if ties and not self.decoder_norm_first:
            tied = "all" if shares_embeddings else "output"
        return MarianSizes(
            depths=(config.whole("encoder_layers", MAX_LAYERS), config.whole("decoder_layers", MAX_LAYERS)),
            d_ffs=(config.whole("encoder_ffn_dim", MAX_WIDTH), config.whole("decoder_ffn_dim", MAX_WIDTH)),
            width=width,
            vocabularies=(source_size, target_size),
            length=config.whole("max_position_embeddings", 1_000_000),
            tied=tied,
            shared=shares_embeddings,
            offset=config.known_id("pad_token_id", source_size) + 1 if self.two_vocabularies else self.offset,
            scale=width**0.5 if config.flag("scale_embedding", self.scaled) else 1.0,
            slope=QUICK_GELU if self._activation(config) == "quick_gelu" else 1.0,
        )

    def _activation(self, config: HuggingFaceConfig) -> str:
        return config.text("activation_function", self.activation)

    def _ids(self, config: HuggingFaceConfig, sizes: MarianSizes) -> Ids:
        """Return the ids that opening a tokenizer needs; the id that starts a sentence may still be unknown."""
        both, target = min(sizes.vocabularies), sizes.vocabularies[1]
        pad, eos = config.known_id("pad_token_id", both), config.known_id("eos_token_id", both)
        start = config.id("decoder_start_token_id", target)
        return pad, eos if start is None else start, eos

    def _native(self, source: Source, config: HuggingFaceConfig, sizes: MarianSizes, around: Around) -> ModelConfig:
        pad, _, eos = self._ids(config, sizes)
        if eos in around.target_start:
            raise Refused("A translation would begin with its own end: forced_bos_token_id is eos_token_id.")
        encoder, decoder = (
            StackConfig(depth, _heads(config, stack), d_ff)
            for depth, d_ff, stack in zip(sizes.depths, sizes.d_ffs, ATTENTIONS, strict=True)
        )
        return ModelConfig(
            *sizes.vocabularies,
            sizes.width,
            encoder,
            decoder,
            norm=self.norm,
            final_norm=self.final_norm,
            activation=ACTIVATIONS[self._activation(config)],
            positions=self.positions,
            scale_embeddings=config.flag("scale_embedding", self.scaled),
            embedding_norm=self.embedding_norm,
            decoder_embedding_norm=not self.decoder_norm_first,
            max_length=_n_positions(sizes),
            logits_bias=self._has_bias(source),
            tied=sizes.tied,
            pad_id=pad,
            eos_id=eos,
            **around._asdict(),
        )

    def _has_bias(self, source: Source) -> bool:
        return self.logits_bias and _BIAS in source.weights.infos

    def _decoder_norm(self, prefix: str) -> tuple[str, ...]:
        """Return the names of the norm that is folded into the decoder's embeddings."""
        kinds = ("weight", "bias") if self.decoder_norm_first else ()
        return tuple(f"{prefix}decoder.layernorm_embedding.{kind}" for kind in kinds)

    def _normed(self, source: Source, scale: float, tokens: Tensor) -> Tensor:
        """Return the decoder's embeddings as its norm makes them, before the positions are added."""
        gain, bias = (source.weights.tensor(name).float() for name in self._decoder_norm(_prefix(source.weights.infos)))
        return layer_norm(tokens.float() * scale, gain.shape, gain, bias) / scale

    def _parts(self, source: Source, sizes: MarianSizes) -> Iterator[TensorPart]:
        infos = source.weights.infos
        prefix = _prefix(infos)
        output = self.output.format(prefix)
        shared, *own = (f"{prefix}{name}" for name in _EMBEDDINGS)
        for index, (stack, attentions) in enumerate(ATTENTIONS.items()):
            names: tuple[str, ...] = (own[index],)
            if sizes.tied == "all":  # the file may hold the shared matrix under any of these names
                names = (shared, *own, output)
            elif sizes.tied == "output" and stack == "decoder":
                names = (own[index], output)
            elif sizes.shared:
                names = (own[index], shared)
            if not (sizes.tied == "all" and stack == "decoder"):
                embedding = (sizes.vocabularies[index], sizes.width)
                part = TensorPart(f"{stack}.embedding.tokens.weight", names, embedding)
                first = self.decoder_norm_first and stack == "decoder"
                yield part._replace(convert=partial(self._normed, source, sizes.scale)) if first else part
            yield self._position_part(source, f"{prefix}{stack}.embed_positions.weight", stack, sizes)
            if self.embedding_norm and not (self.decoder_norm_first and stack == "decoder"):
                yield from affine(f"{stack}.embedding.norm", f"{prefix}{stack}.layernorm_embedding", (sizes.width,))
            for layer in range(sizes.depths[index]):
                ours, theirs = f"{stack}.layers.{layer}", f"{prefix}{stack}.layers.{layer}"
                yield from _layer(ours, theirs, attentions, sizes.width, sizes.d_ffs[index], sizes.slope)
            if self.final_norm:
                yield from affine(f"{stack}.norm", f"{prefix}{stack}.layer_norm", (sizes.width,))
        target = sizes.vocabularies[1]
        if sizes.tied == "none":
            yield TensorPart("output.weight", (output, own[1], shared), (target, sizes.width))
        if self._has_bias(source):
            yield TensorPart("output.bias", (_BIAS,), (1, target), lambda bias: bias[0])

    def _position_part(self, source: Source, name: str, stack: str, sizes: MarianSizes) -> TensorPart:
        native, length, table = f"{stack}.embedding.positions.table", _n_positions(sizes), self.table
        if table is not None and name not in source.weights.infos:
            return TensorPart(native, (), (0,), lambda _: table(_config_of(source), length, sizes.width))
        first = sizes.offset
        shape = (sizes.length + first, sizes.width)
        return TensorPart(native, (name,), shape, lambda table: table[first : first + length])


_EMBEDDINGS = ("shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
_BIAS = "final_logits_bias"


def _layer(
    ours: str, theirs: str, attentions: tuple[tuple[str, str], ...], d: int, d_ff: int, slope: float
) -> Iterator[TensorPart]:
    norms = [*(f"{attention}_layer_norm" for _, attention in attentions), "final_layer_norm"]
    names = LayerNames(attentions, MAPS, (FEED_FORWARD["inner"], FEED_FORWARD["outer"]), norms)
    for part in layer_parts(ours, theirs, names, d, d_ff):
        if slope != 1 and "feed_forward.inner" in part.native:
            yield part._replace(convert=lambda tensor: tensor.float() * slope)
        elif slope != 1 and part.native.endswith("feed_forward.outer.weight"):
            yield part._replace(convert=lambda tensor: tensor.float() / slope)
        else:
            yield part


def _prefix(infos: Mapping[str, TensorInfo]) -> str:
    """Return the prefix of the parameters' names: "model.", or "" in a model saved without its output projection."""
    bare = any(name.startswith(("encoder.layers.", "decoder.layers.")) for name in infos)
    return "" if bare else "model."


def _sizes_of(infos: Mapping[str, TensorInfo], offset: int) -> MarianSizes:
    prefix = _prefix(infos)

    def size(axis: int, otherwise: int, *names: str) -> int:
        shapes = (infos[name].shape for name in names if name in infos)
        return next((shape[axis] for shape in shapes if axis < len(shape)), otherwise)

    shared, source, target = (f"{prefix}{name}" for name in _EMBEDDINGS)
    layer = f"{prefix}encoder.layers.0"
    width = size(1, 512, shared, source, target, "lm_head.weight", f"{layer}.self_attn.out_proj.weight")
    inner = [f"{prefix}{stack}.layers.0.fc1" for stack in ATTENTIONS]
    d_ffs = [size(0, 4 * width, f"{name}.weight", f"{name}.bias") for name in inner]
    length = size(0, 512 + offset, f"{prefix}encoder.embed_positions.weight") - offset
    is_shared = shared in infos or source not in infos
    vocabularies = (size(0, 2, shared, source, "lm_head.weight"), size(0, 2, shared, target, "lm_head.weight"))
    tied: Tied = "all" if is_shared else "output"
    encoder, decoder = (depth_of(infos, f"{prefix}{stack}.layers.") for stack in ATTENTIONS)
    return MarianSizes((encoder, decoder), (d_ffs[0], d_ffs[1]), width, vocabularies, length, tied, is_shared, offset)


def _n_positions(sizes: MarianSizes) -> int:
    return min(sizes.length, MAX_TABLE_NUMBERS // sizes.width)


def _heads(config: HuggingFaceConfig, stack: str) -> int:
    return config.whole(f"{stack}_attention_heads", MAX_WIDTH)


def _config_of(source: Source) -> HuggingFaceConfig:
    config = hugging_face_config(source)
    assert config is not None, "a form reads what it fits"
    return config


def _card(source: Source, config: HuggingFaceConfig, answers: Answers) -> dict[str, Any]:
    """Return the model's name and languages, as far as they are known."""
    stated = config.values.get("langs")  # FSMT's
    pair = stated if isinstance(stated, list) and len(stated) == 2 else (None, None)
    facts = {
        "title": source.name,
        "source": answers.source_language or config.tokenizer.get("source_lang") or pair[0],
        "target": answers.target_language or config.tokenizer.get("target_lang") or pair[1],
    }
    return {name: NAMES.get(value, value[:80]) for name, value in facts.items() if isinstance(value, str) and value}
