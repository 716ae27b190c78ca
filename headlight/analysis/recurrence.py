"""Measure the size of the gradient by distance, through a recurrent network and through attention.

Shapes: T steps, D the width of a state.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from headlight.analysis.anatomy import softmax

DRAWS = 20  # of weights and inputs
WIDTH, INPUT_SIZE = 64, 0.3  # of the states; of the inputs of the recurrent network


def recurrent_gradients(recurrent: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    """Return the size of d h_T / d h_(T-k) for k = 1 ... T - 1 in a tanh network: [T - 1].

    h_t = tanh(W h_(t-1) + x_t) from h_0 = 0, with `recurrent` W [D, D] and `inputs` x [T, D]. The size is the Frobenius
    norm over √D, which is 1 for the identity (Bengio et al. 1994; Pascanu et al. 2013).
    """
    states = []
    state = np.zeros(len(recurrent))
    for x in inputs:
        state = np.tanh(recurrent @ state + x)
        states.append(state)
    product = np.eye(len(recurrent))
    sizes = []
    for state in reversed(states[1:]):
        product = product @ ((1 - state**2)[:, None] * recurrent)
        sizes.append(size(product))
    return np.array(sizes)


def attention_gradients(wq: np.ndarray, wk: np.ndarray, wv: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    """Return the size of d y_T / d x_(T-k) for k = 1 ... T - 1, y_T being what the last token gets: [T - 1].

    One head of self-attention (Vaswani et al. 2017), with maps [D, D] and `inputs` [T, D]. With weights w, the gradient
    at token j is w_j (W_V + (v_j - y) (W_Kᵀ q / √D)ᵀ): by the value, and by the key through the softmax.
    """
    q, values = wq @ inputs[-1], inputs @ wv.T
    towards_key = wk.T @ q / math.sqrt(len(q))
    weights = softmax(inputs @ towards_key)
    result = weights @ values
    sizes = [size(w * (wv + np.outer(v - result, towards_key))) for w, v in zip(weights[:-1], values[:-1], strict=True)]
    return np.array(sizes[::-1])


def size(jacobian: np.ndarray) -> float:
    """Return the Frobenius norm of [D, D] over √D: the root mean square of its singular values."""
    return float(np.linalg.norm(jacobian) / math.sqrt(len(jacobian)))


def by_distance(gains: Sequence[float], steps: int) -> tuple[dict[float, np.ndarray], np.ndarray]:
    """Return the gradients by distance, [T - 1] each: those of the recurrent network for each gain, and of attention.

    W is a random orthogonal matrix times the gain, so that without the tanh the gradient would be gain^k. Attention's
    maps have variance 1 / D and its inputs variance 1. Means over `DRAWS` draws.
    """
    rng = np.random.default_rng(0)
    recurrent: dict[float, list[np.ndarray]] = {gain: [] for gain in gains}
    attention = []
    for _ in range(DRAWS):
        orthogonal = np.linalg.qr(rng.standard_normal((WIDTH, WIDTH)))[0]
        inputs = rng.standard_normal((steps, WIDTH))
        for gain, rows in recurrent.items():
            rows.append(recurrent_gradients(gain * orthogonal, INPUT_SIZE * inputs))
        wq, wk, wv = rng.standard_normal((3, WIDTH, WIDTH)) / math.sqrt(WIDTH)
        attention.append(attention_gradients(wq, wk, wv, inputs))
    return {gain: np.mean(rows, axis=0) for gain, rows in recurrent.items()}, np.mean(attention, axis=0)
