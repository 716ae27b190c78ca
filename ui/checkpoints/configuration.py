"""Configurations in words."""

from __future__ import annotations

from headlight.formatting import both
from transformer.config import ModelConfig
from transformer.t5 import T5Config

_ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU", "gelu-tanh": "GELU by tanh", "silu": "SiLU", "none": "no function"}
_TIED = {"none": "not tied", "output": "target and output tied", "all": "source, target and output tied"}


def configuration(config: ModelConfig) -> list[tuple[str, str]]:
    """Return what defines a network, as pairs of name and words; the same names for every model."""
    encoder, decoder = config.encoder, config.decoder
    widths = both(config.d_head(encoder), config.d_head(decoder))
    vocabularies = both(config.source_vocab_size, config.target_vocab_size)
    return [
        ("Layers, encoder and decoder", f"{encoder.n_layers} and {decoder.n_layers}{_unconnected(config)}"),
        ("d_model", f"{config.d_model:,}"),
        ("Heads", f"{both(encoder.n_heads, decoder.n_heads)}, d_k = {widths}{_pruned(config)}"),
        ("d_ff", f"{both(encoder.d_ff, decoder.d_ff)}, {_activation(config)}"),
        ("Layer norm", _norm(config)),
        ("Biases", _biases(config)),
        ("Positions", _positions(config)),
        ("Hidden from attention", _hidden(config)),
        ("Embeddings", _embeddings(config)),
        ("Vocabulary", vocabularies),
        ("Longest sentence", f"{config.max_length:,} tokens"),
        ("Special ids", _ids(config)),
        ("Around a sentence", _around(config)),
        ("Dropout in training", f"{config.dropout:g}"),
    ]


def _unconnected(config: ModelConfig) -> str:
    return "" if config.residual else ", without residual connections"


def _pruned(config: ModelConfig) -> str:
    pruned = len(config.pruned_heads)
    return f"; {pruned} of {config.all_heads} pruned" if pruned else ""


def _activation(config: ModelConfig) -> str:
    gated = isinstance(config, T5Config) and config.gated
    return f"{'gated ' if gated else ''}{_ACTIVATIONS[config.activation]}"


def _norm(config: ModelConfig) -> str:
    if config.norm_form == "none":
        return "none"
    root = ", root mean square" if isinstance(config, T5Config) else ""
    last = ", with a final layer norm" if config.final_norm else ""
    last += ", and a layer with a norm before the output" if config.output_transform else ""
    return f"{'pre-norm' if config.norm == 'pre' else 'post-norm'}{root}{last}, ε {config.norm_eps:g}".replace(
        "e-0", "e−"
    )


def _biases(config: ModelConfig) -> str:
    having = [
        name
        for name, is_used in (
            ("q, k, v", config.qkv_bias),
            ("attention output", config.attention_output_bias),
            ("logits", config.logits_bias),
        )
        if is_used
    ]
    return ", ".join(having) or "none in attention and output"


def _positions(config: ModelConfig) -> str:
    if isinstance(config, T5Config):
        own = "" if config.shared_bias else ", others in each layer"
        return f"relative: {config.buckets} biases for distances up to {config.max_distance}{own}"
    return {
        "sinusoidal": f"sinusoidal, base {config.position_base:,g}",
        "no-exp": f"sinusoidal without its exp, base {config.position_base:,g}",
        "learned": "learned",
        "stored": "a table stored with the model",
        "none": "none",
    }[config.positions]


def _hidden(config: ModelConfig) -> str:
    masks = (("padding", config.padding_mask), ("later words in the decoder", config.look_ahead_mask))
    return " and ".join(name for name, mask in masks if mask == "applied") or "nothing: no mask is applied"


def _ids(config: ModelConfig) -> str:
    same = " (padding is the end, so the end cannot be learned)" if config.pad_id == config.eos_id else ""
    return f"padding {config.pad_id}, start {config.sos_id}, end {config.eos_id}{same}"


def _embeddings(config: ModelConfig) -> str:
    tied = "source and target tied" if isinstance(config, T5Config) and config.tied == "none" else ""
    scaled = f", times √{config.d_model}" if config.scale_embeddings else ""
    normed = ", then layer norm" if config.embedding_norm else ""
    normed += ", in the encoder only" if normed and not config.decoder_embedding_norm else ""
    return f"{tied or _TIED[config.tied]}{scaled}{normed}"


def _around(config: ModelConfig) -> str:
    """Return the special ids before and after the tokens of a source and of a target."""
    ends = (config.eos_id,) if config.source_end is None else config.source_end
    source = [*map(str, config.source_start), "…", *map(str, ends)]
    target = [str(config.sos_id), *map(str, config.target_start), "…", str(config.eos_id)]
    return f"source {' '.join(source)}; target {' '.join(target)}"
