"""Recording changes nothing; intervening changes exactly what it says.

Shapes: B sentences, H heads, Q queries, K keys, D = d_head.
"""

import copy
import threading
from collections.abc import Callable
from dataclasses import FrozenInstanceError

import pytest
import torch
from torch import Tensor

from transformer.attention import MultiHeadAttention, attend
from transformer.config import ModelConfig, StackConfig
from transformer.model import Transformer
from transformer.taps import (
    Ablate,
    Chain,
    InputRecorder,
    Inputs,
    Observer,
    Recorder,
    Replace,
    Scale,
    Site,
    Tap,
    Uniform,
    chain,
)

SITE, ELSEWHERE = Site("decoder", 1, "cross"), Site("decoder", 0, "cross")
SRC = torch.tensor([[5, 6, 7, 8, 3], [9, 10, 3, 0, 0]])
TGT = torch.tensor([[2, 11, 12, 13], [2, 14, 0, 0]])


@pytest.fixture(scope="module")
def model() -> Transformer:
    torch.manual_seed(0)
    return Transformer(ModelConfig(30, 40, 24, StackConfig(2, 4, 32), StackConfig(3, 3, 40))).eval()


@torch.no_grad()
def run(model: Transformer, tap: Tap | None) -> Tensor:
    return model(SRC, TGT, tap)


def attention_at(model: Transformer, site: Site) -> MultiHeadAttention:
    (module,) = (m for m in model.modules() if isinstance(m, MultiHeadAttention) and m.site == site)
    return module


def patterns_and_inputs() -> tuple[Tensor, Inputs]:
    torch.manual_seed(0)
    mask = torch.ones(2, 1, 4, 5, dtype=torch.bool)
    mask[0, :, 1, 2:] = False
    mask[1, :, :, 4] = False
    q, k, v = torch.randn(2, 3, 4, 6), torch.randn(2, 3, 5, 6), torch.randn(2, 3, 5, 6)
    pattern = (q @ k.mT).masked_fill(~mask, -torch.inf).softmax(-1)
    return pattern, Inputs(q, k, v, mask)


ROWS = ((0.1, 0.2, 0.3, 0.4, 0.0), (1.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0, 0.0), (0.5, 0.0, 0.5, 0.0, 0.0))
INTERVENTIONS: list[Callable[[Site, int], Tap]] = [
    Ablate,
    Uniform,
    lambda site, head: Scale(site, head, 0.5),
    lambda site, head: Replace(site, head, ROWS),
]


def test_a_recorder_sees_every_site_and_changes_nothing(model: Transformer) -> None:
    recorder = Recorder()
    tapped = run(model, recorder)
    assert list(recorder) == model.sites()
    assert len(model.sites()) == 2 + 2 * 3
    torch.testing.assert_close(tapped, run(model, None), atol=1e-5, rtol=1e-5)


def test_a_recorder_keeps_every_pass_and_no_gradient(model: Transformer) -> None:
    recorder = Recorder()
    for _ in range(2):
        model(SRC, TGT, recorder)
    for passes in recorder.values():
        assert len(passes) == 2
        assert torch.equal(passes[0], passes[1])
        assert not passes[0].requires_grad


def test_an_input_recorder_keeps_the_latest_pass(model: Transformer) -> None:
    recorder = InputRecorder()
    model(SRC, TGT, recorder)
    model(SRC[:1], TGT[:1], recorder)
    seen = recorder[Site("decoder", 2, "cross")]
    assert (seen.q.shape, seen.k.shape, seen.v.shape) == ((1, 3, 4, 8), (1, 3, 5, 8), (1, 3, 5, 8))
    assert not seen.v.requires_grad


@pytest.mark.parametrize("site", [Site("encoder", 1, "self"), Site("decoder", 0, "self"), Site("decoder", 2, "cross")])
@pytest.mark.parametrize("head", [0, 2])
def test_ablating_a_head_is_zeroing_what_it_gives_the_output_projection(
    model: Transformer, site: Site, head: int
) -> None:
    """Checked from the other end: a hook empties the head's slice behind the fused kernel."""
    without = copy.deepcopy(model)
    attention = attention_at(without, site)
    d_head = attention.output.in_features // attention.n_heads

    def empty_the_slice(_: object, args: tuple[Tensor]) -> tuple[Tensor]:
        joined = args[0].clone()
        joined[..., head * d_head : (head + 1) * d_head] = 0
        return (joined,)

    attention.output.register_forward_pre_hook(empty_the_slice)
    ablated = run(model, Ablate(site, head))
    torch.testing.assert_close(ablated, run(without, None), atol=1e-5, rtol=1e-5)
    assert (ablated - run(model, None)).abs().max() > 1e-3


def test_ablating_everything_leaves_the_biases(model: Transformer) -> None:
    """Every attention gives its output bias alone, so neither the source nor an earlier word is seen."""
    everything = chain(*(Ablate(s, h) for s in model.sites() for h in range(4 if s.stack == "encoder" else 3)))
    one = run(model, everything)
    with torch.no_grad():
        other = model(SRC.flip(1), TGT, everything)
    torch.testing.assert_close(one, other, atol=1e-6, rtol=0)


def test_uniform_is_one_over_the_visible_keys_even_where_weights_underflow() -> None:
    """Keys that may be seen and weigh 0 count; keys that may not be seen stay at 0."""
    q = torch.full((1, 2, 2, 1), 1e4)
    k = torch.tensor([1.0, -1.0, 0.0, 1.0]).view(1, 1, 4, 1).expand(1, 2, 4, 1)
    v = torch.randn(1, 2, 4, 3)
    mask = torch.tensor([[True, True, True, False], [True, True, False, False]])
    before, after = Recorder(), Recorder()
    attend(q, k, v, mask, SITE, chain(before, Uniform(SITE, 1), after))
    assert before[SITE][0][0, 1].tolist() == [[1, 0, 0, 0], [1, 0, 0, 0]]  # what underflow leaves
    torch.testing.assert_close(after[SITE][0][0, 1], torch.tensor([[1 / 3, 1 / 3, 1 / 3, 0], [0.5, 0.5, 0, 0]]))
    assert torch.equal(after[SITE][0][0, 0], before[SITE][0][0, 0])


def test_uniform_looks_at_no_padding_and_at_nothing_later(model: Transformer) -> None:
    site, recorder = Site("decoder", 1, "self"), Recorder()
    run(model, chain(Uniform(site, 2), recorder))
    pattern = recorder[site][0][:, 2]
    torch.testing.assert_close(pattern[0], torch.ones(4, 4).tril() / torch.arange(1, 5)[:, None])
    torch.testing.assert_close(pattern[1, 3], torch.tensor([0.5, 0.5, 0.0, 0.0]))


@pytest.mark.parametrize(("factor", "equal"), [(1.0, Recorder()), (0.0, Ablate(SITE, 0))])
def test_scaling_by_1_changes_nothing_and_by_0_ablates(model: Transformer, factor: float, equal: Tap) -> None:
    assert torch.equal(run(model, Scale(SITE, 0, factor)), run(model, equal))


def test_scaling_multiplies_the_rows() -> None:
    pattern, inputs = patterns_and_inputs()
    scaled = Scale(SITE, 1, -2.5)(SITE, pattern, inputs)
    assert torch.equal(scaled[:, 1], pattern[:, 1] * -2.5)


@pytest.mark.parametrize("rows", [ROWS, ROWS[:1]], ids=["every row", "one row for all"])
def test_replacing_gives_the_rows_that_were_written(rows: tuple[tuple[float, ...], ...]) -> None:
    replaced = Replace(SITE, 2, rows)(SITE, *patterns_and_inputs())
    torch.testing.assert_close(replaced[:, 2], torch.tensor(rows).expand(2, 4, 5))


@pytest.mark.parametrize("intervention", INTERVENTIONS)
@pytest.mark.parametrize("head", [0, 1, 2])
def test_one_head_of_one_site_changes_and_the_pattern_given_does_not(
    intervention: Callable[[Site, int], Tap], head: int
) -> None:
    pattern, inputs = patterns_and_inputs()
    given = pattern.clone()
    tap = intervention(SITE, head)
    assert tap(ELSEWHERE, pattern, inputs) is pattern
    changed = tap(SITE, pattern, inputs)
    assert torch.equal(pattern, given)
    others = [h for h in range(3) if h != head]
    assert torch.equal(changed[:, others], given[:, others])
    assert not torch.equal(changed[:, head], given[:, head])


@pytest.mark.parametrize("intervention", INTERVENTIONS)
@pytest.mark.parametrize("head", [-1, 3])
def test_a_head_that_is_not_there_is_never_another(intervention: Callable[[Site, int], Tap], head: int) -> None:
    with pytest.raises((AssertionError, IndexError)):
        intervention(SITE, head)(SITE, *patterns_and_inputs())


def test_a_chain_runs_in_its_order(model: Transformer) -> None:
    before, after = Recorder(), Recorder()
    run(model, chain(before, Ablate(SITE, 0), after))
    torch.testing.assert_close(before[SITE][0][:, 0].sum(-1), torch.ones(2, 4))
    assert (after[SITE][0][:, 0] == 0).all()
    assert torch.equal(before[SITE][0][:, 1:], after[SITE][0][:, 1:])

    pattern, inputs = patterns_and_inputs()
    uniform_halved = Chain((Uniform(SITE, 0), Scale(SITE, 0, 0.5)))(SITE, pattern, inputs)
    halved_uniform = Chain((Scale(SITE, 0, 0.5), Uniform(SITE, 0)))(SITE, pattern, inputs)
    assert torch.equal(uniform_halved * 2, halved_uniform) is False  # the other heads aren't halved
    torch.testing.assert_close(uniform_halved[:, 0] * 2, halved_uniform[:, 0])


def test_a_chain_of_little_is_little() -> None:
    tap = Ablate(SITE, 0)
    assert chain() is None
    assert chain(None, None) is None
    assert chain(None, tap) is tap
    assert chain(tap, None, tap) == Chain((tap, tap))


def test_observers_together_observe_and_with_an_intervention_do_not() -> None:
    pattern, inputs = patterns_and_inputs()
    first, second = Recorder(), Recorder()
    both = chain(first, second)
    assert isinstance(both, Observer) and both(SITE, pattern, inputs) is pattern
    both.see(SITE, pattern * 2)
    for recorder in (first, second):
        assert torch.equal(torch.stack(recorder[SITE]), torch.stack([pattern, pattern * 2]))
    for changing in (chain(first, Ablate(SITE, 0)), chain(InputRecorder(), first), Uniform(SITE, 1), InputRecorder()):
        assert not isinstance(changing, Observer)


@pytest.mark.parametrize(
    ("one", "same", "other"),
    [
        (Ablate(SITE, 0), Ablate(Site("decoder", 1, "cross"), 0), Ablate(SITE, 1)),
        (Uniform(SITE, 0), Uniform(SITE, 0), Uniform(ELSEWHERE, 0)),
        (Scale(SITE, 0, 0.5), Scale(SITE, 0, 0.5), Scale(SITE, 0, 0.25)),
        (Replace(SITE, 0, ROWS), Replace(SITE, 0, ROWS), Replace(SITE, 0, ROWS[:1])),
        (Chain((Ablate(SITE, 0),)), Chain((Ablate(SITE, 0),)), Chain((Uniform(SITE, 0),))),
    ],
)
def test_interventions_compare_hash_print_and_do_not_change(one: Tap, same: Tap, other: Tap) -> None:
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert len({one, same, other}) == 2
    assert eval(repr(one)) == one
    with pytest.raises(FrozenInstanceError):
        one.head = 1  # type: ignore[attr-defined]


def test_the_model_is_never_written_to(model: Transformer) -> None:
    def attributes() -> list[dict[str, object]]:
        return [dict(module.__dict__) for module in model.modules()]

    weights = copy.deepcopy(model.state_dict())
    before = attributes()
    for tap in (None, Recorder(), InputRecorder(), *(make(SITE, 0) for make in INTERVENTIONS[:3])):
        run(model, tap)
    for name, value in model.state_dict().items():
        assert torch.equal(value, weights[name])
    for old, new in zip(before, attributes(), strict=True):
        assert old.keys() == new.keys()
        assert all(old[name] is new[name] for name in old)


def test_two_threads_record_their_own_patterns(model: Transformer) -> None:
    """Each thread is stopped inside every attention until the other is there too."""
    sentences = [torch.tensor([[5, 6, 3]]), torch.tensor([[20, 21, 22, 23, 3]])]
    alone = []
    for src in sentences:
        recorder = Recorder()
        with torch.no_grad():
            model(src, TGT[:1], recorder)
        alone.append(recorder)

    meet = threading.Barrier(2, timeout=30)

    def wait(site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        meet.wait()
        return pattern

    together = [Recorder(), Recorder()]

    def record(which: int) -> None:
        with torch.no_grad():
            model(sentences[which], TGT[:1], chain(wait, together[which], wait))

    threads = [threading.Thread(target=record, args=(which,)) for which in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for expected, recorded in zip(alone, together, strict=True):
        assert list(recorded) == list(expected)
        for site in expected:
            assert torch.equal(recorded[site][0], expected[site][0])
