"""Facts about each part of a network: its name, its formula, its shapes and parameters."""

from __future__ import annotations

from headlight.analysis.network import NetworkPart, Shape
from headlight.analysis.sites import pruned_heads
from headlight.formatting import in_millions, plural
from transformer.config import ModelConfig
from transformer.t5 import T5Config
from ui.anatomy.chosen import stack_of

_BLOCKS = {"encoder": "self-attention", "decoder": "self-attention", "cross": "cross-attention"}
_ACTIVATIONS = {
    "relu": r"\max(0,\; %s)",
    "gelu": r"\text{GELU}(%s)",
    "gelu-tanh": r"\text{GELU}(%s)",
    "silu": r"\text{SiLU}(%s)",
    "none": r"(%s)",
}


def shape(sizes: Shape) -> str:
    """Format a shape: (10, 256) as "10 × 256"; (10,) as "10 tokens"."""
    if len(sizes) == 1:
        return plural(sizes[0], "token")
    return " × ".join(f"{size:,}" for size in sizes)


def size(part: NetworkPart) -> str:
    """Format the number of parameters, short enough for the map: "0.53 M", "512".

    It is "shared" where most are another part's.
    """
    return "shared" if part.shared > part.parameters else in_millions(part.parameters)


def title(part: NetworkPart, config: ModelConfig) -> str:
    stack = stack_of(part.kind).capitalize()
    location = f"{stack} layer {part.layer + 1}" if part.layer is not None else stack
    block = _BLOCKS[part.kind] if part.name.startswith("attention") else "feed-forward network"
    return {
        "embedding": f"{location} embedding",
        "attention": f"{location}, {block}",
        "ff": f"{location}, {block}",
        "attention-norm": f"{location}, layer norm {_side(config)} {block}",
        "ff-norm": f"{location}, layer norm {_side(config)} the {block}",
        "norm": f"{location}, final layer norm",
        "output": "Output projection and softmax",
    }[part.name]


def _side(config: ModelConfig) -> str:
    return "before" if config.norm == "pre" else "after"


def facts(part: NetworkPart, config: ModelConfig) -> str:
    """Return shapes and parameters in a sentence or two."""
    reads = shape(part.reads[0]) + (f" and the encoder's output, {shape(part.reads[1])}" if len(part.reads) > 1 else "")
    return f"reads {reads}, gives {shape(part.gives)}. {_parameters(part)}{_details(part, config)}"


def _parameters(part: NetworkPart) -> str:
    if not part.shared:
        return f"{part.parameters:,} parameters."
    unshared = f", and {part.parameters:,} of its own" if part.parameters else ""
    other = {"embedding": "the encoder's embedding", "attention": "layer 1"}.get(part.name, "an embedding")
    return f"{part.shared:,} parameters, shared with {other}{unshared}."


def _details(part: NetworkPart, config: ModelConfig) -> str:
    stack = config.encoder if part.kind == "encoder" else config.decoder
    if part.name == "attention":
        heads = plural(stack.n_heads, "head")
        if pruned := sum(layer == part.layer for layer, _ in pruned_heads(config, part.kind)):
            count = stack.n_heads - pruned
            heads = f"{count} of {heads} (the others were pruned)" if count else f"None of {heads} is left, each"
        return f" {heads} of {config.d_head(stack)} dimensions."
    if part.name == "ff":
        return f" Inner layer of {stack.d_ff:,} dimensions."
    if part.name == "embedding":
        none = (
            " No positional encoding: positions are a bias on the scores."
            if isinstance(config, T5Config)
            else " No positional encoding."
        )
        positional = {"learned": " They include the positional encoding.", "none": none}
        return positional.get(config.positions, " The positional encoding has none.")
    return ""


def formula(part: NetworkPart, config: ModelConfig) -> str:
    """Return the part in LaTeX."""
    stack = config.encoder if part.kind == "encoder" else config.decoder
    match part.name:
        case "attention":
            scores = rf"\frac{{q K^\top}}{{\sqrt{{{config.d_head(stack)}}}}}"
            if isinstance(config, T5Config):
                scores = r"q K^\top" if part.kind == "cross" else r"q K^\top + b_{j-i}"
            return rf"\text{{head}}(q, K, V) = \text{{softmax}}\!\left({scores}\right) V"
        case "ff":
            return _feed_forward(config)
        case "embedding":
            root = rf"\sqrt{{{config.d_model}}}\; " if config.scale_embeddings else ""
            summed = rf"{root}E[\text{{token}}]" + ("" if config.positions == "none" else " + p_t")
            return rf"x = \text{{norm}}({summed})" if config.norms_embedding(part.kind) else f"x = {summed}"
        case "output":
            bias = " + b" if config.logits_bias else ""
            return rf"P(i) = \frac{{e^{{l_i}}}}{{\sum_j e^{{l_j}}}}, \qquad l = W x{bias}"
    if isinstance(config, T5Config):
        return r"\text{norm}(x) = \text{gain} \odot \frac{x}{\sqrt{\text{mean of squares} + \varepsilon}}"
    return (
        r"\text{norm}(x) = \text{gain} \odot \frac{x - \text{mean}}{\sqrt{\text{variance} + \varepsilon}} + \text{bias}"
    )


def _feed_forward(config: ModelConfig) -> str:
    active = _ACTIVATIONS[config.activation]
    if not isinstance(config, T5Config):
        return rf"\text{{FFN}}(x) = W_2\, {active % 'W_1 x + b_1'} + b_2"
    if config.gated:
        return rf"\text{{FFN}}(x) = W_2\left({active % 'W_1 x'} \odot V x\right)"
    return rf"\text{{FFN}}(x) = W_2\, {active % 'W_1 x'}"
