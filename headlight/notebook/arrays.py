"""Build a trace from the attention arrays of any model.

Letters: L layers, H heads, Q queries (rows), K keys (columns), S source tokens, T target tokens that the decoder reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from transformer.quoting import quoted, short
from transformer.tokenizers import label, word_groups
from transformer.trace import Tokens, Trace

UNKNOWN_LABEL = "…"  # of the token that the last position writes, if unknown
_SPECIAL_TOKEN = re.compile(r"<.+>|\[.+\]")  # "<s>", "[CLS]"


def trace_of(
    *,
    encoder: Any = None,
    decoder: Any = None,
    cross: Any = None,
    source_tokens: Sequence[str] | None = None,
    target_tokens: Sequence[str] | None = None,
) -> Trace:
    """Return the trace of these patterns, [L, H, Q, K] each, over these tokens, as `headlight.show` takes them.

    Log-probabilities are NaN. Raises ValueError naming the argument that does not fit.
    """
    arrays = {"encoder": encoder, "decoder": decoder, "cross": cross}
    patterns = {name: patterns_of(name, value) for name, value in arrays.items() if value is not None}
    if not patterns:
        raise ValueError("There is nothing to show: give a trace, or at least one of encoder, decoder and cross.")
    source = target = Tokens.none()
    reads = next((patterns[name].shape[2] for name in ("decoder", "cross") if name in patterns), 0)
    if "encoder" in patterns or "cross" in patterns:
        source = tokens_of(texts_of("source_tokens", source_tokens))
    elif source_tokens is not None:
        raise ValueError("source_tokens were given, but neither encoder nor cross, whose columns they are.")
    if reads:
        texts = texts_of("target_tokens", target_tokens)
        target = tokens_of([*texts, UNKNOWN_LABEL] if len(texts) == reads else texts)
    elif target_tokens is not None:
        raise ValueError("target_tokens were given, but neither decoder nor cross, whose rows they are.")
    _check_lengths(patterns, source, target)
    look_ahead = "decoder" in patterns and bool(np.triu(patterns["decoder"], 1).any())
    return Trace(
        text=" ".join(source.labels),
        translation=" ".join(target.labels),
        source=source,
        target=target,
        encoder=patterns.get("encoder"),
        decoder=patterns.get("decoder"),
        cross=patterns.get("cross"),
        log_probs=np.full(reads, np.nan),
        look_ahead=look_ahead,
    )


def patterns_of(name: str, value: Any) -> np.ndarray:
    """Return [L, H, Q, K] float32 from an array, a tensor or a list of layers; errors call it `name`."""
    layers = list(value) if isinstance(value, (list, tuple)) else [value]
    if any(layer is None for layer in layers):
        raise ValueError(
            f"{name} holds None: the model computed its attention without keeping the weights. "
            'Load it with attn_implementation="eager", or let headlight.watch run it.'
        )
    if any(isinstance(layer, (list, tuple)) and len(layer) and hasattr(layer[0], "shape") for layer in layers):
        raise ValueError(
            f"{name} is a list of lists, as generate gives it step by step; headlight.watch puts it together."
        )
    try:
        arrays = [_array(layer) for layer in layers]
        stacked = np.stack(arrays) if isinstance(value, (list, tuple)) else arrays[0]
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} is {describe_value(value)}; give an array [layers, heads, rows, columns], or layers of one shape."
        ) from None
    if stacked.ndim == 5 and stacked.shape[1] == 1:
        stacked = stacked[:, 0]
    if stacked.ndim == 5:
        raise ValueError(
            f"{name} has a batch of {stacked.shape[1]}; give one sentence, such as layer[:1] of each layer."
        )
    if stacked.ndim != 4:
        raise ValueError(f"{name} has shape {stacked.shape}; it must have four axes: layers, heads, rows, columns.")
    if 0 in stacked.shape:
        raise ValueError(f"{name} has shape {stacked.shape}; there must be at least one layer, head, row and column.")
    _check_weights(name, stacked)
    return stacked


def _array(layer: Any) -> np.ndarray:
    if hasattr(layer, "detach"):  # a tensor, wherever it is and whatever its precision
        layer = layer.detach().cpu().float()
    array = np.asarray(layer)
    if array.dtype.kind not in "biuf":  # complex numbers would lose a part, and texts be parsed as numbers
        raise TypeError(f"{array.dtype} are no weights")
    with np.errstate(over="ignore"):  # numbers too large for float32 become infinite and are refused
        return np.ascontiguousarray(array, dtype=np.float32)


def describe_value(value: Any) -> str:
    """Describe a value that is not weights: of an array the type, dtype and shape."""
    layers = value if isinstance(value, (list, tuple)) else [value]
    if not layers or not all(hasattr(layer, "shape") and hasattr(layer, "dtype") for layer in layers):
        return quoted(value)
    shapes = dict.fromkeys(f"{layer.dtype} {tuple(layer.shape)}" for layer in layers)
    return f"{type(value).__name__} of {short(', '.join(shapes))}"


def _check_weights(name: str, weights: np.ndarray) -> None:
    if not np.isfinite(weights).all():
        raise ValueError(
            f"{name} holds NaN or infinite numbers; give the weights after the softmax, masked cells as 0."
        )
    if (least := float(weights.min())) < 0:
        raise ValueError(f"{name} holds {least:.3g}; weights after the softmax are not negative. Are these the scores?")


def texts_of(name: str, tokens: Sequence[str] | None) -> list[str]:
    if tokens is None:
        raise ValueError(f"{name} is missing; give a text for each token.")
    texts = list(tokens) if isinstance(tokens, Iterable) else []
    if isinstance(tokens, str) or not isinstance(tokens, Iterable) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{name} is {quoted(tokens)}; give a list with a text for each token.")
    return texts


def tokens_of(texts: Sequence[str]) -> Tokens:
    """Return tokens from their spelling alone: names in brackets are special, and "▁" begins a word."""
    special = [bool(_SPECIAL_TOKEN.fullmatch(text)) or text == UNKNOWN_LABEL for text in texts]
    return Tokens([-1] * len(texts), list(texts), [label(text) for text in texts], word_groups(texts, special), special)


def _check_lengths(patterns: dict[str, np.ndarray], source: Tokens, target: Tokens) -> None:
    """Raise ValueError unless every pattern has a row and a column for each token, and all layers have the same tokens.
    """
    read = len(target) - 1
    sides = {"encoder": ("source", "source"), "decoder": ("target", "target"), "cross": ("target", "source")}
    count = {"source": len(source), "target": read}
    for name, pattern in patterns.items():
        for axis, length, side in zip(("rows", "columns"), pattern.shape[2:], sides[name], strict=True):
            if length == count[side]:
                continue
            expected = f"{length} or, with what the last one wrote, {length + 1}" if side == "target" else str(length)
            n_target = read if side == "target" and target.pieces[-1] == UNKNOWN_LABEL else len(target)
            number = len(source) if side == "source" else n_target
            raise ValueError(
                f"{name} has {length} {axis} and {side}_tokens {number} tokens; give {expected}, one for each of them."
            )
