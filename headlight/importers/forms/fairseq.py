"""fairseq's transformer, as `fairseq-train` saves it: weights, and the settings that it was trained with.

The names of the settings, their defaults and the order of the special symbols are those of fairseq 0.12
(transformer_config.py, transformer_legacy.py, dictionary.py); old names of tensors are read as its
`upgrade_state_dict_named` does. Shapes: V vocabulary, L positions, D = d_model, F = d_ff.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from headlight.formatting import both
from headlight.importers.forms.fairseq_dictionaries import (
    END,
    PAD,
    dictionary,
    has_codes,
    languages,
    tokenizers,
    vocabularies,
)
from headlight.importers.forms.fairseq_settings import (
    BART_TASK,
    PAIRS_TASK,
    SPECIALS,
    Framing,
    PairWeights,
    Settings,
    about_languages,
    framing,
)
from headlight.importers.forms.form import ForeignModel, Form
from headlight.importers.forms.m2m100 import sinusoidal_from
from headlight.importers.forms.parts import (
    MAX_TABLE_NUMBERS,
    TensorPart,
    affine,
    are_complete,
    depth_of,
    foreign_model,
    fused,
    shapes_due,
    size_of,
    tensors_of,
)
from headlight.importers.pickles import CONVERT_FAIRSEQ
from headlight.importers.questions import Answers, ImportQuestion, about_moses, about_vocabularies
from headlight.importers.source import Source
from headlight.tokenizer_json import moses
from transformer.checkpoint.weights import Refused, TensorInfo
from transformer.config import Activation, ModelConfig, StackConfig, Tied
from transformer.quoting import quoted

STACKS = ("encoder", "decoder")
ATTENTIONS = ({"attention": "self_attn"}, {"self_attention": "self_attn", "cross_attention": "encoder_attn"})
ACTIVATIONS: dict[str, Activation] = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_accurate": "gelu-tanh",
    "gelu_fast": "gelu-tanh",
    "linear": "none",
}
DEFAULT_WIDTH, DEFAULT_D_FF, DEFAULT_HEADS, DEFAULT_LENGTH = 512, 2048, 8, 1024
_OTHER_ARCHITECTURES = ("transformer_lm", "nonautoregressive", "levenshtein", "cmlm", "lightconv")
_CLASSIFIER_PREFIX = "classification_heads."  # in a BART that was trained to classify texts; not used here
_UNSUPPORTED_SETTINGS = {  # the setting, and the part that it switches on
    "adaptive_input": "adaptive input embeddings",
    "adaptive_softmax_cutoff": "an adaptive softmax",
    "merge_src_tgt_embed": "one embedding for two merged dictionaries",
    "no_cross_attention": "a decoder without cross-attention",
    "cross_self_attention": "one attention over source and target together",
    "char_inputs": "embeddings of characters",
    "base_layers": "BASE layers, which choose among experts",
    "scale_attn": "a norm after attention",
    "scale_heads": "a learned scale of each head",
    "scale_fc": "a norm inside the feed-forward networks",
    "scale_resids": "scaled residual connections",
    "quant_noise_pq": "quantised weights",
    "encoder_layers_to_keep": "layers that are left out when it is opened",
    "decoder_layers_to_keep": "layers that are left out when it is opened",
}


class _FairseqSizes(NamedTuple):
    """The sizes of the network; pairs are (encoder, decoder)."""

    depths: tuple[int, int]
    d_ffs: tuple[int, int]
    width: int
    vocabularies: tuple[int, int]
    lengths: tuple[int, int]
    tied: Tied
    learned: tuple[bool, bool]
    embedding_norm: bool
    final_norm: bool


class Fairseq(Form):
    name = "fairseq"
    title = "This is a transformer of fairseq"

    def fits(self, source: Source) -> bool:
        """Return whether this is a transformer of fairseq. Raises Refused for parts that this network lacks."""
        model = _model(source)
        if model is None:
            return False
        settings, source = model
        _require_supported(settings, source)
        infos = source.weights.infos
        return are_complete(_parts(infos, _sizes(infos, settings)), source, _ignored(infos))

    def due(self, source: Source) -> Mapping[str, tuple[int, ...]]:
        model = _model(source)
        if model is None:
            return {}
        settings, source = model
        infos = source.weights.infos
        allowed = {name: infos[name].shape for name in _ignored(infos) if name in infos}
        return allowed | shapes_due(_parts(infos, _sizes(infos, settings)), source)

    def facts(self, source: Source) -> tuple[tuple[str, str], ...]:
        settings, source = _known(source)
        infos = source.weights.infos
        sizes = _sizes(infos, settings)
        learned = {True: "learned", False: "sines, as fairseq computes them"}
        positions = learned[sizes.learned[0]]
        if sizes.learned[0] != sizes.learned[1]:
            positions = f"encoder {positions}, decoder {learned[sizes.learned[1]]}"
        dictionaries = [path.name for side in (0, 1) if (path := dictionary(source, settings, side))]
        around = ("Around a text", "<s> and </s>, as fairseq's BARTHubInterface puts them")
        return (
            ("Architecture", settings.architecture or "not named"),
            ("Task", settings.task or "not named"),
            ("Layers", f"{sizes.depths[0]} and {sizes.depths[1]}"),
            ("Heads", " and ".join(f"{settings.whole(f'{s}_attention_heads', DEFAULT_HEADS)}" for s in STACKS)),
            ("d_model, d_ff", f"{sizes.width:,}, {both(*sizes.d_ffs)}"),
            ("Vocabularies", f"{sizes.vocabularies[0]:,} and {sizes.vocabularies[1]:,}"),
            ("Norms", "before each sublayer" if settings.flag("encoder_normalize_before") else "after each sublayer"),
            ("Final norms", "after each stack" if sizes.final_norm else "none"),
            ("Activation", settings.text("activation_fn") or "relu"),
            ("Positions", "none" if settings.flag("no_token_positional_embeddings") else positions),
            ("Dictionaries", " and ".join(dict.fromkeys(dictionaries)) or "none beside it"),
            *([around] if settings.is_bart else []),
        )

    def folded(self, source: Source) -> tuple[tuple[str, str], ...]:
        settings, source = _known(source)
        infos = source.weights.infos
        old = any(name.endswith("in_proj_weight") for name in infos)
        folds = [("in_proj_weight", "of an old version: queries, keys and values, split into three")] if old else []
        if any(_sizes(infos, settings).learned):
            folds.append(("Positions", f"the first {PAD + 1} rows, which stand for no position, are left out"))
        if any(name.startswith(_CLASSIFIER_PREFIX) for name in infos):
            folds.append(("Classification heads", "left out: a translation does not use them"))
        return tuple(folds)

    def questions(self, source: Source) -> tuple[ImportQuestion, ...]:
        settings, source = _known(source)
        vocabularies = (
            question for side, question in enumerate(about_vocabularies()) if dictionary(source, settings, side) is None
        )
        asks_about_moses = moses.is_installed() and not settings.text("tokenizer") and has_codes(source, settings)
        return (*about_languages(settings, source), *vocabularies, *([about_moses()] if asks_about_moses else []))

    def read(self, source: Source, answers: Answers) -> ForeignModel:
        settings, source = _known(source, answers)
        infos = source.weights.infos
        sizes = _sizes(infos, settings)
        source_language, target_language = languages(settings, answers)
        around = framing(settings, source, (source_language, target_language))
        symbols = vocabularies(source, settings, answers, around)
        config = _native(settings, sizes, around, symbols)
        own, warnings = tokenizers(source, settings, answers, symbols, config)
        tensors = tensors_of(_parts(infos, sizes), source)
        known = replace(answers, source_language=source_language, target_language=target_language)
        return foreign_model(self.name, config, tensors, own, known, warnings)


def settings_of(source: Source) -> Settings | None:
    """Return the settings in `cfg` (since fairseq 0.10) or `args`; None where they are not a transformer's."""
    model = _model(source)
    return None if model is None else model[0]


def _model(source: Source, answers: Answers | None = None) -> tuple[Settings, Source] | None:
    """Return the settings of a transformer and its weights; None for another model.

    A file of several models has one per pair of languages: `answers` choose it. Raises Refused for an unknown pair.
    """
    cfg, args = source.facts.get("cfg"), source.facts.get("args")
    task: Mapping[str, Any] = {}
    if isinstance(cfg, dict) and isinstance(cfg.get("model"), dict):
        args = cfg["model"]
        task = cfg["task"] if isinstance(cfg.get("task"), dict) else {}
    if not isinstance(args, dict):
        return None
    settings = Settings(args, task)
    if settings.task == PAIRS_TASK and settings.pairs:
        pair = settings.pairs[0]
        if answers is not None and answers.source_language and answers.target_language:
            pair = answers.source_language, answers.target_language
        if pair not in settings.pairs:
            known = ", ".join("-".join(pair) for pair in settings.pairs[:8])
            raise Refused(f"The file has no model for {pair[0]} to {pair[1]}; its pairs are {known}.")
        source = replace(source, weights=PairWeights(source.weights, f"models.{pair[0]}-{pair[1]}."))
    is_fairseq = not {"arch", "_name", "encoder_embed_dim"}.isdisjoint(args)
    layered = any(name.startswith("encoder.layers.0.self_attn.") for name in source.weights.infos)
    return (settings, source) if is_fairseq and layered else None


def _known(source: Source, answers: Answers | None = None) -> tuple[Settings, Source]:
    model = _model(source, answers)
    assert model is not None, "a form reads what it fits"
    return model


def _require_supported(settings: Settings, source: Source) -> None:
    """Raise Refused for what fairseq can do and this network cannot."""
    arch = settings.architecture
    if arch.startswith(_OTHER_ARCHITECTURES):
        raise Refused(f"This is a fairseq model of the architecture {quoted(arch)}.", remedy=CONVERT_FAIRSEQ)
    if settings.task == BART_TASK and not (settings.text("source_lang") and settings.text("target_lang")):
        raise Refused(f"This fairseq model was trained for {BART_TASK}, and its settings do not say which languages.")
    for name, what in _UNSUPPORTED_SETTINGS.items():
        if settings.flag(name):
            raise Refused(f"This fairseq model has {what} ({name}), which is not supported.")
    widths = [settings.whole(f"{stack}_embed_dim", DEFAULT_WIDTH) for stack in STACKS]
    widths += [settings.whole(f"decoder_{side}_dim", widths[1]) for side in ("input", "output")]
    if len(set(widths)) > 1:
        raise Refused(
            f"This fairseq model has stacks or embeddings of different widths ({', '.join(map(str, widths))}), "
            "which is not supported."
        )
    if settings.flag("encoder_normalize_before") != settings.flag("decoder_normalize_before"):
        raise Refused("This fairseq model has norms before the sublayers of one stack and after those of the other.")
    finals = {f"{stack}.layer_norm.weight" in source.weights.infos for stack in STACKS}
    if len(finals) > 1:
        raise Refused("One stack of this fairseq model has a final norm and the other has none.")
    activation = settings.text("activation_fn") or "relu"
    if activation not in ACTIVATIONS:
        raise Refused(
            f"The activation of this fairseq model is {quoted(activation)}; supported are {', '.join(ACTIVATIONS)}."
        )


def _sizes(infos: Mapping[str, TensorInfo], settings: Settings) -> _FairseqSizes:
    width = settings.whole("encoder_embed_dim", DEFAULT_WIDTH)
    longest = settings.value("max_positions")  # what both were called before they could differ
    default = longest if type(longest) is int and longest > 0 else DEFAULT_LENGTH
    lengths = [settings.whole(f"max_{side}_positions", default) for side in ("source", "target")]
    no_positions = settings.flag("no_token_positional_embeddings")
    learned = [settings.flag(f"{stack}_learned_pos") and not no_positions for stack in STACKS]
    tied: Tied = "output" if settings.flag("share_decoder_input_output_embed") else "none"
    vocabularies = [size_of(infos, f"{stack}.embed_tokens.weight", 0, 2) for stack in STACKS]
    return _FairseqSizes(
        depths=(depth_of(infos, "encoder.layers."), depth_of(infos, "decoder.layers.")),
        d_ffs=(_d_ff(infos, settings, "encoder"), _d_ff(infos, settings, "decoder")),
        width=width,
        vocabularies=(vocabularies[0], vocabularies[1]),
        lengths=(0, 0) if no_positions else (lengths[0], lengths[1]),
        tied="all" if settings.flag("share_all_embeddings") else tied,
        learned=(learned[0], learned[1]),
        embedding_norm=settings.flag("layernorm_embedding"),
        final_norm="encoder.layer_norm.weight" in infos,
    )


def _d_ff(infos: Mapping[str, TensorInfo], settings: Settings, stack: str) -> int:
    return size_of(infos, f"{stack}.layers.0.fc1.weight", 0, settings.whole(f"{stack}_ffn_embed_dim", DEFAULT_D_FF))


def _native(
    settings: Settings, sizes: _FairseqSizes, around: Framing, symbols: Sequence[Sequence[str] | None]
) -> ModelConfig:
    encoder, decoder = (
        StackConfig(depth, settings.whole(f"{stack}_attention_heads", DEFAULT_HEADS), d_ff)
        for stack, depth, d_ff in zip(STACKS, sizes.depths, sizes.d_ffs, strict=True)
    )
    length = _n_positions(sizes)
    return ModelConfig(
        *sizes.vocabularies,
        sizes.width,
        encoder,
        decoder,
        norm="pre" if settings.flag("encoder_normalize_before") else "post",
        final_norm=sizes.final_norm,
        activation=ACTIVATIONS[settings.text("activation_fn") or "relu"],
        positions="none" if not length else "learned" if all(sizes.learned) else "stored",
        scale_embeddings=not settings.flag("no_scale_embedding"),
        embedding_norm=sizes.embedding_norm,
        max_length=length or DEFAULT_LENGTH,
        logits_bias=False,
        tied=sizes.tied,
        pad_id=PAD,
        sos_id=_ids((around.start,), symbols[1])[0],
        eos_id=END,
        source_start=_ids(around.source_start, symbols[0]),
        source_end=_ids(around.source_end, symbols[0]),
        target_start=_ids(around.target_start, symbols[1]),
    )


def _ids(texts: Sequence[str], symbols: Sequence[str] | None) -> tuple[int, ...]:
    """Return the ids of symbols in a dictionary. Raises Refused where it lacks one, or where there is no dictionary."""
    known = {text: id for id, text in enumerate(SPECIALS if symbols is None else symbols)}
    for text in texts:
        if text not in known:
            raise Refused(
                f"Beside a text this fairseq model needs {quoted(text)}, whose id only its dictionary says.",
                remedy="Put its dict.*.txt beside it.",
            )
    return tuple(known[text] for text in texts)


def _n_positions(sizes: _FairseqSizes) -> int:
    """Return the number of positions that both stacks have; 0 where they encode none."""
    return min(*sizes.lengths, MAX_TABLE_NUMBERS // sizes.width)


def _parts(infos: Mapping[str, TensorInfo], sizes: _FairseqSizes) -> Iterator[TensorPart]:
    d, embeddings = sizes.width, [f"{stack}.embed_tokens.weight" for stack in STACKS]
    projection = ("decoder.output_projection.weight", "decoder.embed_out")  # the second in old versions
    for index, stack in enumerate(STACKS):
        names: tuple[str, ...] = (embeddings[index],)
        if sizes.tied == "all":  # the file may hold the shared matrix under any of these names
            names = (*embeddings, *projection)
        elif sizes.tied == "output" and index == 1:
            names = (embeddings[1], *projection)
        if not (sizes.tied == "all" and index == 1):
            yield TensorPart(f"{stack}.embedding.tokens.weight", names, (sizes.vocabularies[index], d))
        if _n_positions(sizes):
            yield _table(stack, index, sizes)
        if sizes.embedding_norm:
            yield from affine(f"{stack}.embedding.norm", f"{stack}.layernorm_embedding", (d,))
        for layer in range(sizes.depths[index]):
            yield from _layer(infos, f"{stack}.layers.{layer}", index, sizes)
        if sizes.final_norm:
            yield from affine(f"{stack}.norm", f"{stack}.layer_norm", (d,))
    if sizes.tied == "none":
        yield TensorPart("output.weight", projection, (sizes.vocabularies[1], d))


def _table(stack: str, index: int, sizes: _FairseqSizes) -> TensorPart:
    """Return the table of positions of a stack; the first is the padding's id + 1, as in `utils.make_positions`."""
    native, length, first = f"{stack}.embedding.positions.table", _n_positions(sizes), PAD + 1
    if not sizes.learned[index]:
        return TensorPart(native, (), (length, sizes.width), lambda _: sinusoidal_from(first, length, sizes.width))
    shape = (sizes.lengths[index] + first, sizes.width)
    return TensorPart(native, (f"{stack}.embed_positions.weight",), shape, lambda table: table[first : first + length])


def _layer(infos: Mapping[str, TensorInfo], layer: str, index: int, sizes: _FairseqSizes) -> Iterator[TensorPart]:
    d, d_ff = sizes.width, sizes.d_ffs[index]
    for ours, theirs in ATTENTIONS[index].items():
        native, foreign = f"{layer}.{ours}", f"{layer}.{theirs}"
        if f"{foreign}.in_proj_weight" in infos:
            yield from fused(native, f"{foreign}.in_proj_", d, bias=True)
        else:
            for name in ("query", "key", "value"):
                yield from affine(f"{native}.{name}", f"{foreign}.{name[0]}_proj", (d, d))
        yield from affine(f"{native}.output", f"{foreign}.out_proj", (d, d))
    yield from affine(f"{layer}.feed_forward.inner", f"{layer}.fc1", (d_ff, d))
    yield from affine(f"{layer}.feed_forward.outer", f"{layer}.fc2", (d, d_ff))
    norms = [f"{theirs}_layer_norm" for theirs in ATTENTIONS[index].values()] + ["final_layer_norm"]
    for number, norm in enumerate(norms):
        old = f"{layer}.layer_norms.{number}"
        foreign = old if f"{old}.weight" in infos else f"{layer}.{norm}"
        yield from affine(f"{layer}.residuals.{number}.norm", foreign, (d,))


def _ignored(infos: Mapping[str, TensorInfo]) -> frozenset[str]:
    """Return the tensors that are no parameters: a version, a table that is computed, a copy of a tied matrix."""
    endings = (".version", "embed_positions.weights", "embed_positions._float_tensor")
    copies = {"decoder.embed_tokens.weight", "decoder.output_projection.weight"}
    return frozenset(name for name in infos if name.endswith(endings) or name.startswith(_CLASSIFIER_PREFIX)) | copies


FAIRSEQ = Fairseq()
