"""Two BERT generation models joined by Hugging Face's EncoderDecoderModel (Rothe et al. 2020, "Leveraging pre-trained
checkpoints for sequence generation tasks"): bert2bert and roberta2roberta of Google.

A decoder of the class BertLMHeadModel or RobertaForCausalLM has one more layer before its output and is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from torch import Tensor

from headlight.importers.forms.form import ForeignModel
from headlight.importers.forms.hugging_face_config import CONFIG, HuggingFaceConfig, hugging_face_config
from headlight.importers.forms.hugging_face_tokenizers import has_tokenizer, pieces
from headlight.importers.forms.marian_family import (
    ACTIVATIONS,
    MAX_LAYERS,
    MAX_TOKENS,
    MAX_WIDTH,
    TensorPart,
    found_name,
)
from headlight.importers.questions import Answers, ImportQuestion
from headlight.importers.source import Source
from transformer.checkpoint.weights import Refused
from transformer.config import ModelConfig, StackConfig
from transformer.tokenizers import Tokenizer

_STACKS = {"encoder": "encoder", "decoder": "decoder.bert"}
_ATTENTIONS = {
    "encoder": {"attention": "attention"},
    "decoder": {"self_attention": "attention", "cross_attention": "crossattention"},
}
_MAPS = {"query": "self.query", "key": "self.key", "value": "self.value", "output": "output.dense"}
_HEAD, _BIAS = "decoder.lm_head.decoder.weight", ("decoder.lm_head.decoder.bias", "decoder.lm_head.bias")


class BertGeneration:
    name = "Hugging Face BERT generation"
    title = "This is a pair of models of Hugging Face BERT generation"

    def fits(self, source: Source) -> bool:
        """Return whether both models are BERT generation's, all their tensors are there, and no others."""
        if _stacks(source) is None:
            return False
        infos, parts = source.weights.infos, list(_parts(*_known(source)))
        expected = {name for part in parts for name in part.names}
        return all(
            found_name(part, infos) in infos and infos[found_name(part, infos)].shape == part.shape for part in parts
        ) and all(name in expected or name.endswith("position_ids") for name in infos)

    def due(self, source: Source) -> Mapping[str, tuple[int, ...]]:
        if _stacks(source) is None:
            return {}
        return {found_name(part, source.weights.infos): part.shape for part in _parts(*_known(source))}

    def facts(self, source: Source) -> tuple[tuple[str, str], ...]:
        _, encoder, decoder = _known(source)
        native = _sizes(encoder), _sizes(decoder)
        return (
            ("Layers", f"{native[0].n_layers} and {native[1].n_layers}"),
            ("Heads", f"{native[0].n_heads} and {native[1].n_heads}"),
            ("Widths", f"{_width(encoder)}, feed-forward {native[0].d_ff:,} and {native[1].d_ff:,}"),
            ("Vocabularies", f"{_vocabulary(encoder):,} and {_vocabulary(decoder):,} tokens"),
            ("Norms", "after each sublayer"),
            ("Activation", encoder.text("hidden_act", "gelu")),
            ("Tokenizer", "in the folder" if has_tokenizer(encoder.folder) else "none; ids are shown"),
        )

    def folded(self, source: Source) -> tuple[tuple[str, str], ...]:
        return ()

    def questions(self, source: Source) -> tuple[ImportQuestion, ...]:
        return ()

    def read(self, source: Source, answers: Answers) -> ForeignModel:
        whole, encoder, decoder = _known(source)
        native = _native(whole, encoder, decoder)
        infos = source.weights.infos
        tensors: dict[str, Callable[[], Tensor]] = {}
        for part in _parts(whole, encoder, decoder):
            tensors[part.native] = partial(source.weights.tensor, found_name(part, infos))
            if part.native.endswith("positions.table"):
                tensors[part.native] = partial(_first_rows, tensors[part.native], native.max_length)
        ids = (native.pad_id, native.sos_id, native.eos_id)
        sizes = native.source_vocab_size, native.target_vocab_size
        own = [pieces(whole, ids, size) for size in sizes]
        warnings: tuple[str, ...] = ()
        if own[0] is None or own[1] is None:
            warnings = ("The folder has no tokenizer: tokens are shown as ids, and a text is ids with spaces.",)
        first, second = (
            Tokenizer.of_ids(size, *ids) if tokenizer is None else tokenizer
            for tokenizer, size in zip(own, sizes, strict=True)
        )
        card: dict[str, Any] = {"title": source.name[:80], "origin": self.name}
        return ForeignModel(native, tensors, first, first if sizes[0] == sizes[1] else second, card, warnings)


def _stacks(source: Source) -> tuple[HuggingFaceConfig, HuggingFaceConfig, HuggingFaceConfig] | None:
    """Return the configuration and those of both models; None for another pair, or none."""
    config = hugging_face_config(source)
    if config is None or config.model_type != "encoder-decoder":
        return None
    inner = [config.values.get(stack) for stack in _STACKS]
    encoder, decoder = (
        HuggingFaceConfig(config.folder, values if isinstance(values, dict) else {}) for values in inner
    )
    return (config, encoder, decoder) if encoder.model_type == decoder.model_type == "bert-generation" else None


def _known(source: Source) -> tuple[HuggingFaceConfig, HuggingFaceConfig, HuggingFaceConfig]:
    stacks = _stacks(source)
    assert stacks is not None, "a form reads what it fits"
    return stacks


def _sizes(config: HuggingFaceConfig) -> StackConfig:
    return StackConfig(
        config.whole("num_hidden_layers", MAX_LAYERS, 24),
        config.whole("num_attention_heads", MAX_WIDTH, 16),
        config.whole("intermediate_size", MAX_WIDTH, 4096),
    )


def _width(config: HuggingFaceConfig) -> int:
    return config.whole("hidden_size", MAX_WIDTH, 1024)


def _vocabulary(config: HuggingFaceConfig) -> int:
    return config.whole("vocab_size", MAX_TOKENS, 50_358, low=2)


def _length(config: HuggingFaceConfig) -> int:
    return config.whole("max_position_embeddings", 1_000_000, 512)


def _native(whole: HuggingFaceConfig, encoder: HuggingFaceConfig, decoder: HuggingFaceConfig) -> ModelConfig:
    for field, usual in (("hidden_size", 1024), ("hidden_act", "gelu"), ("layer_norm_eps", 1e-12)):
        values = [config.values.get(field, usual) for config in (encoder, decoder)]
        if values[0] != values[1]:
            raise Refused(
                f"The encoder's {field} is {values[0]!r:.40} and the decoder's {values[1]!r:.40}; they differ."
            )
    activation = encoder.text("hidden_act", "gelu")
    if activation not in ACTIVATIONS or activation == "quick_gelu":
        raise Refused(f"The activation is {activation[:40]!r}, which is not supported.")
    target = _vocabulary(decoder)

    def id(name: str, *others: str) -> int:
        places = ((whole, name), (decoder, name), *((decoder, other) for other in others))
        found = next((id for config, name in places if (id := config.id(name, target)) is not None), None)
        if found is None:
            raise Refused(f"{CONFIG} does not say {name}, without which the model cannot run.", remedy="Add it there.")
        return found

    return ModelConfig(
        _vocabulary(encoder),
        target,
        _width(encoder),
        _sizes(encoder),
        _sizes(decoder),
        norm_eps=encoder.values.get("layer_norm_eps", 1e-12),
        activation=ACTIVATIONS[activation],
        positions="learned",
        scale_embeddings=False,
        embedding_norm=True,
        max_length=min(_length(encoder), _length(decoder)),
        tied="output" if decoder.flag("tie_word_embeddings", True) else "none",
        pad_id=id("pad_token_id"),
        sos_id=id("decoder_start_token_id", "bos_token_id"),
        eos_id=id("eos_token_id"),
        source_end=(),
    )


def _first_rows(table: Callable[[], Tensor], length: int) -> Tensor:
    return table()[:length]


def _parts(whole: HuggingFaceConfig, encoder: HuggingFaceConfig, decoder: HuggingFaceConfig) -> Iterator[TensorPart]:
    """Yield our tensors with the names in the file; shared ones may be in it under the other stack's name only."""
    shared = whole.flag("tie_encoder_decoder", False)
    for config, (stack, prefix) in zip((encoder, decoder), _STACKS.items(), strict=True):
        other = next(name for name in _STACKS.values() if name != prefix)
        prefixes = (prefix, other) if shared else (prefix,)
        for ours, theirs, shape in _stack_parts(stack, config):
            names = tuple(f"{start}.{theirs}" for start in prefixes)
            tied = ours == "decoder.embedding.tokens.weight" and decoder.flag("tie_word_embeddings", True)
            yield TensorPart(ours, (*names, _HEAD) if tied else names, shape)
    shape = _vocabulary(decoder), _width(decoder)
    if not decoder.flag("tie_word_embeddings", True):
        yield TensorPart("output.weight", (_HEAD,), shape)
    yield TensorPart("output.bias", _BIAS, shape[:1])


def _stack_parts(stack: str, config: HuggingFaceConfig) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yield our names, theirs after the stack's prefix, and the shapes."""
    d, d_ff = _width(config), _sizes(config).d_ff
    yield f"{stack}.embedding.tokens.weight", "embeddings.word_embeddings.weight", (_vocabulary(config), d)
    yield f"{stack}.embedding.positions.table", "embeddings.position_embeddings.weight", (_length(config), d)
    yield from _both(f"{stack}.embedding.norm", "embeddings.LayerNorm", (d,))
    for layer in range(_sizes(config).n_layers):
        ours, theirs = f"{stack}.layers.{layer}", f"encoder.layer.{layer}"
        attentions = _ATTENTIONS[stack]
        for index, (own, foreign) in enumerate(attentions.items()):
            for a, b in _MAPS.items():
                yield from _both(f"{ours}.{own}.{a}", f"{theirs}.{foreign}.{b}", (d, d))
            yield from _both(f"{ours}.residuals.{index}.norm", f"{theirs}.{foreign}.output.LayerNorm", (d,))
        yield from _both(f"{ours}.feed_forward.inner", f"{theirs}.intermediate.dense", (d_ff, d))
        yield from _both(f"{ours}.feed_forward.outer", f"{theirs}.output.dense", (d, d_ff))
        yield from _both(f"{ours}.residuals.{len(attentions)}.norm", f"{theirs}.output.LayerNorm", (d,))


def _both(ours: str, theirs: str, weight: tuple[int, ...]) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    yield f"{ours}.weight", f"{theirs}.weight", weight
    yield f"{ours}.bias", f"{theirs}.bias", weight[:1]


BERT_GENERATION = BertGeneration()
