"""Both gradients by distance against autograd through PyTorch's own RNN and attention."""

import numpy as np
import torch

from headlight.analysis.recurrence import attention_gradients, by_distance, recurrent_gradients, size

T, D = 6, 5


def test_a_recurrent_networks_gradient_is_autograds() -> None:
    torch.manual_seed(0)
    rnn = torch.nn.RNNCell(D, D, bias=False).double()
    with torch.no_grad():
        rnn.weight_ih.copy_(torch.eye(D))
    inputs = torch.randn(T, D).double()

    def last(state: torch.Tensor, since: int) -> torch.Tensor:
        for x in inputs[since:]:
            state = rnn(x, state)
        return state

    states = [torch.zeros(D).double()]
    for x in inputs:
        states.append(rnn(x, states[-1]).detach())
    expected = []
    for k in range(1, T):
        jacobian = torch.autograd.functional.jacobian(lambda state, k=k: last(state, T - k), states[T - k])
        expected.append(size(jacobian.numpy()))  # type: ignore[union-attr]
    measured = recurrent_gradients(rnn.weight_hh.detach().numpy(), inputs.numpy())
    np.testing.assert_allclose(measured, expected, rtol=1e-10)


def test_attentions_gradient_is_autograds() -> None:
    torch.manual_seed(0)
    wq, wk, wv = torch.randn(3, D, D).double()
    inputs = torch.randn(T, D).double()

    def last(x: torch.Tensor) -> torch.Tensor:
        heads = ((x @ w.T)[None] for w in (wq, wk, wv))
        return torch.nn.functional.scaled_dot_product_attention(*heads, is_causal=True)[0, -1]

    jacobian = torch.autograd.functional.jacobian(last, inputs).numpy()  # type: ignore[union-attr]
    expected = [size(jacobian[:, T - 1 - k]) for k in range(1, T)]
    measured = attention_gradients(wq.numpy(), wk.numpy(), wv.numpy(), inputs.numpy())
    np.testing.assert_allclose(measured, expected, rtol=1e-10)


def test_one_vanishes_or_explodes_with_the_distance_and_the_other_does_not() -> None:
    recurrent, attention = by_distance((0.8, 1.0, 2.0), 50)
    assert recurrent[0.8][-1] < 0.8**49 and (np.diff(recurrent[0.8]) < 0).all()  # tanh only makes it smaller
    assert recurrent[1.0][-1] < 1e-2 < 100 < recurrent[2.0][-1]
    near, far = np.split(attention[:48], 2)
    assert 0.7 < near.mean() / far.mean() < 1.4 and attention.max() / attention.min() < 10
