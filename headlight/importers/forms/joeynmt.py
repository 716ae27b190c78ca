"""JoeyNMT's transformer: a checkpoint in a folder with `config.yaml` and a vocabulary for each side.

Names of settings and their defaults are those of JoeyNMT 2.3 (model.py, encoders.py, decoders.py); version 1 has no
`layer_norm` and computes as "pre". Shapes: V vocabulary, D = d_model, F = d_ff.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from torch import Tensor

from headlight.formatting import both
from headlight.importers import subwords
from headlight.importers.forms.form import ForeignModel, Form
from headlight.importers.forms.parts import (
    LayerNames,
    TensorPart,
    affine,
    are_complete,
    depth_of,
    foreign_model,
    layer_parts,
    shapes_due,
    size_of,
    tensors_of,
)
from headlight.importers.limits import MAX_WIDTH
from headlight.importers.questions import Answers
from headlight.importers.source import Source
from transformer.checkpoint.weights import Refused
from transformer.config import Activation, ModelConfig, StackConfig
from transformer.quoting import quoted
from transformer.tokenizers import Tokenizer

CONFIG = "config.yaml"
ACTIVATIONS: dict[str, Activation] = {"relu": "relu", "gelu": "gelu", "swish": "silu"}
_ENCODER_LAYER = LayerNames(
    attentions=(("attention", "src_src_att"),),
    maps={"query": "q_layer", "key": "k_layer", "value": "v_layer", "output": "output_layer"},
    feed_forward=("feed_forward.pwff_layer.0", "feed_forward.pwff_layer.3"),
    norms=("layer_norm", "feed_forward.layer_norm"),
)
_DECODER_LAYER = _ENCODER_LAYER._replace(
    attentions=(("self_attention", "trg_trg_att"), ("cross_attention", "src_trg_att")),
    norms=("x_layer_norm", "dec_layer_norm", "feed_forward.layer_norm"),
)
STACKS = (("encoder", "src", _ENCODER_LAYER), ("decoder", "trg", _DECODER_LAYER))  # with the embedding's prefix
SYMBOLS = {"unk": (0, "<unk>"), "pad": (1, "<pad>"), "bos": (2, "<s>"), "eos": (3, "</s>")}
NORM_EPS, MAX_POSITIONS = 1e-6, 5_000
_IGNORED = frozenset({"encoder.pe.pe", "decoder.pe.pe"})


class JoeyNMT(Form):
    name = "JoeyNMT"
    title = "This is a transformer of JoeyNMT"

    def fits(self, source: Source) -> bool:
        """Return whether it is JoeyNMT's. Raises Refused without config.yaml, and for parts that this network lacks."""
        if "src_embed.lut.weight" not in source.weights.infos:
            return False
        if source.nearby(CONFIG) is None:
            if not any(".src_src_att." in name for name in source.weights.infos):
                return False
            raise Refused(
                "This is a model of JoeyNMT, and its config.yaml, which says how many heads it has, is not beside it.",
                remedy="Import the folder that JoeyNMT wrote, with config.yaml and the vocabularies.",
            )
        return are_complete(_parts(source, _native(source)), source, _IGNORED)

    def due(self, source: Source) -> Mapping[str, tuple[int, ...]]:
        infos = source.weights.infos
        if "src_embed.lut.weight" not in infos or source.nearby(CONFIG) is None:
            return {}
        tables = {name: infos[name].shape for name in _IGNORED if name in infos}
        return tables | shapes_due(_parts(source, _native(source)), source)

    def facts(self, source: Source) -> tuple[tuple[str, str], ...]:
        config = _native(source)
        return (
            ("Layers", f"{config.encoder.n_layers} and {config.decoder.n_layers}"),
            ("Heads", f"{config.encoder.n_heads} and {config.decoder.n_heads}"),
            ("d_model, d_ff", f"{config.d_model:,}, {both(config.encoder.d_ff, config.decoder.d_ff)}"),
            ("Vocabularies", f"{config.source_vocab_size:,} and {config.target_vocab_size:,}"),
            ("Norms", "before each sublayer, and after each stack" if config.norm == "pre" else "after each sublayer"),
            ("Activation", config.activation),
        )

    def folded(self, source: Source) -> tuple[tuple[str, str], ...]:
        scales = _scales(_settings(source))
        if scales[0] == scales[1]:
            return ()
        return (("Scale of the source embedding", "unlike the target's: in the embedding itself"),)

    def read(self, source: Source, answers: Answers) -> ForeignModel:
        config = _native(source)
        tokenizers, warnings = _tokenizers(source, config)
        tensors = tensors_of(_parts(source, config), source)
        return foreign_model(self.name, config, tensors, tokenizers, answers, warnings)


def _settings(source: Source) -> dict[str, Any]:
    path = source.nearby(CONFIG)
    assert path is not None, "a form reads what it fits"
    return read_settings(path)


def read_settings(path: Path) -> dict[str, Any]:
    """Return the mappings of a YAML file that have a scalar or a mapping for each key, as JoeyNMT writes them.

    Lists are read as text. Anchors, tags and flow mappings, with which a small file could become large, are not
    supported. Raises Refused for any other line.
    """
    top: dict[str, Any] = {}
    below = [(-1, top)]
    for number, line in enumerate(subwords.lines_of(path), 1):
        bare = line.strip()
        if not bare or bare.startswith(("#", "- ")) or bare in ("---", "..."):
            continue
        indent = len(line) - len(line.lstrip(" "))
        key, colon, rest = bare.partition(":")
        value = _scalar(rest)
        while below[-1][0] >= indent:
            below.pop()
        if not colon or rest[:1] not in ("", " ") or len(below) > 10 or "\t" in line[:indent]:
            raise Refused(f"Line {number} of {path.name} is not a setting and its value: {quoted(bare)}.")
        inner: Any = {} if value is None else value
        below[-1][1][key.strip("\"'")] = inner
        if value is None:
            below.append((indent, inner))
    return top


def _scalar(text: str) -> Any:
    """Return the value after a key; None where it is left for the lines below."""
    text = text.strip()
    if text[:1] in ('"', "'"):
        return text[1:].partition(text[0])[0]
    text = text.partition(" #")[0].strip() if not text.startswith("#") else ""
    if not text:
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _group(settings: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        inner = settings.get(name)
        settings = inner if isinstance(inner, dict) else {}
    return settings


def _scales(settings: Mapping[str, Any]) -> tuple[bool, bool]:
    """Return whether each side's embedding is multiplied by √d_model; a shared one goes by the encoder's setting."""
    embeddings = (_group(settings, "model", stack, "embeddings") for stack in ("encoder", "decoder"))
    source, target = (embedding.get("scale") is True for embedding in embeddings)
    return source, source if _group(settings, "model").get("tied_embeddings") is True else target


def _native(source: Source) -> ModelConfig:
    settings, infos = _settings(source), source.weights.infos
    model = _group(settings, "model")
    width = size_of(infos, "src_embed.lut.weight", 1, 512)
    finals = [f"{stack}.layer_norm.weight" in infos for stack in ("encoder", "decoder")]
    stacks: list[StackConfig] = []
    activations: set[Any] = set()
    for index, stack in enumerate(("encoder", "decoder")):
        group = _group(model, stack)
        if group.get("type", "transformer" if index else "recurrent") != "transformer":
            raise Refused(f"The {stack} of this JoeyNMT model is recurrent: it has no attention heads to show.")
        if group.get("alpha", 1.0) != 1.0:
            raise Refused("This JoeyNMT model scales its residual connections (alpha), which is not supported.")
        norm = group.get("layer_norm", "pre" if finals[index] else "post" if index else "unsaid")
        if norm not in ("pre", "post") or (norm == "pre") != finals[index] or finals[0] != finals[1]:
            raise Refused("The norms of this JoeyNMT model stand otherwise in one stack than in the other.")
        activations.add(group.get("activation", "relu"))
        heads = group.get("num_heads", 8 if index else 4)
        if type(heads) is not int or not 1 <= heads <= MAX_WIDTH:
            raise Refused(f"num_heads in {CONFIG} is {quoted(heads)}; it must be a whole number from 1.")
        d_ff = size_of(infos, f"{stack}.layers.0.feed_forward.pwff_layer.0.weight", 0, 4 * width)
        stacks.append(StackConfig(max(1, depth_of(infos, f"{stack}.layers.")), heads, d_ff))
    if len(activations) > 1 or not activations <= ACTIVATIONS.keys():
        named = ", ".join(sorted(map(str, activations)))[:60]
        raise Refused(f"The activation of this JoeyNMT model is {named}; supported is one of {', '.join(ACTIVATIONS)}.")
    symbols = _group(settings, "data", "special_symbols")
    if str(symbols.get("lang_tags", "[]")).strip("[] "):
        raise Refused("This JoeyNMT model translates by tags of languages (lang_tags), which is not supported.")
    pad, bos, eos = (symbols.get(f"{name}_id", SYMBOLS[name][0]) for name in ("pad", "bos", "eos"))
    softmax, shared = (model.get(name) is True for name in ("tied_softmax", "tied_embeddings"))
    return ModelConfig(
        size_of(infos, "src_embed.lut.weight", 0, 2),
        size_of(infos, "trg_embed.lut.weight", 0, 2),
        width,
        stacks[0],
        stacks[1],
        norm="pre" if finals[0] else "post",
        final_norm=finals[0],
        norm_eps=NORM_EPS,
        activation=ACTIVATIONS[activations.pop()],
        scale_embeddings=_scales(settings)[1],
        max_length=MAX_POSITIONS,
        logits_bias=False,
        tied=("all" if shared else "output") if softmax else "none",
        pad_id=pad,
        sos_id=bos,
        eos_id=eos,
    )


def _parts(source: Source, config: ModelConfig) -> Iterator[TensorPart]:
    d = config.d_model
    own, target = _scales(_settings(source))
    factor = math.sqrt(d) ** (own - target)
    sizes = (config.source_vocab_size, config.target_vocab_size)
    for (stack, side, layer_names), size in zip(STACKS, sizes, strict=True):
        layers = config.encoder if stack == "encoder" else config.decoder
        if not (config.tied == "all" and stack == "decoder"):
            scale = factor if stack == "encoder" else 1.0
            names = (f"{side}_embed.lut.weight", *_copies(config, stack))
            yield TensorPart(f"{stack}.embedding.tokens.weight", names, (size, d), partial(_scaled, scale))
        for layer in (f"{stack}.layers.{n}" for n in range(layers.n_layers)):
            yield from layer_parts(layer, layer, layer_names, d, layers.d_ff)
        if config.final_norm:
            yield from affine(f"{stack}.norm", f"{stack}.layer_norm", (d,))
    if config.tied == "none":
        yield TensorPart("output.weight", ("decoder.output_layer.weight",), (sizes[1], d))


def _copies(config: ModelConfig, stack: str) -> tuple[str, ...]:
    """Return the other names under which the file has a shared matrix."""
    output = ("decoder.output_layer.weight",) if config.tied != "none" else ()
    if config.tied == "all":
        return ("trg_embed.lut.weight", *output)
    return output if stack == "decoder" else ()


def _scaled(factor: float, embedding: Tensor) -> Tensor:
    return embedding if factor == 1.0 else embedding * factor


def _tokenizers(source: Source, config: ModelConfig) -> tuple[tuple[Tokenizer, Tokenizer], tuple[str, ...]]:
    """Return the tokenizers of both sides, one object where the vocabularies are equal, and warnings about them."""
    settings = _settings(source)
    sizes = config.source_vocab_size, config.target_vocab_size
    tokenizers: list[Tokenizer] = []
    warnings: list[str] = []
    lists: list[list[str] | None] = []
    own, other = (_group(settings, "data", side) for side in ("src", "trg"))
    same = all(own.get(name) == other.get(name) for name in ("level", "lowercase", "tokenizer_cfg"))
    for side, size in zip(("src", "trg"), sizes, strict=True):
        path = source.nearby(f"{side}_vocab.txt")
        lists.append(None if path is None else subwords.lines_of(path))
        if len(lists) == 2 and lists[0] is not None and lists[0] == lists[1] and same and sizes[0] == sizes[1]:
            tokenizers.append(tokenizers[0])
            continue
        tokens = lists[-1]
        if tokens is None:
            ids = (config.pad_id, config.sos_id, config.eos_id)
            tokenizers.append(Tokenizer.of_ids(size, *ids))
            warnings.append(
                f"No {side}_vocab.txt lies beside it, so ids are shown instead of words, and a text is typed as ids "
                "with spaces between them."
            )
            continue
        tokenizer, warning = _tokenizer(source, config, settings, side, tokens)
        tokenizers.append(tokenizer.of_size(size))
        warnings += [warning] if warning else []
    return (tokenizers[0], tokenizers[1]), tuple(dict.fromkeys(warnings))


def _tokenizer(
    source: Source, config: ModelConfig, settings: Mapping[str, Any], side: str, tokens: list[str]
) -> tuple[Tokenizer, str]:
    data = _group(settings, "data")
    own = _group(data, side)
    level = own.get("level", data.get("level", "word"))
    lowercase = own.get("lowercase", data.get("lowercase", False)) is True
    details = _group(own, "tokenizer_cfg")
    names = _group(data, "special_symbols")
    specials = [str(names.get(f"{name}_token", token)) for name, (_, token) in SYMBOLS.items()]
    ids = (config.pad_id, config.sos_id, config.eos_id)
    if level == "char":
        return subwords.characters(tokens, specials, ids, specials[0]), ""
    moses = details.get("pretokenizer") == "moses"
    warning = "The model reads text of the Moses tokenizer: type spaces before punctuation marks." if moses else ""
    if level == "bpe":
        file = Path(str(details.get("model_file") or details.get("codes") or "")).name
        path = source.nearby(file) if file else None
        if path is not None and path.suffix == ".model":
            return subwords.pieces(tokens, path, specials, ids, specials[0]), warning
        if path is not None:
            return subwords.merged(tokens, path, specials, ids, specials[0], lowercase), warning
        warning = (
            f"The file that cuts words, {file[:60] or 'a SentencePiece model or BPE codes'}, is not beside it: type "
            "parts of words with spaces between them."
        )
    return subwords.words(tokens, specials, ids, specials[0], lowercase), warning


JOEYNMT = JoeyNMT()
