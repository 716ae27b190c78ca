"""Every head switched off in one batch, against each switched off alone."""

import pytest
import torch

from headlight.analysis import all_heads, attention_at, head_importance, passes
from tests.analysis.conftest import log_prob
from transformer.model import Transformer
from transformer.taps import Ablate, Scale, Site, Uniform, chain
from transformer.trace import Trace


def ids(trace: Trace) -> tuple[list[int], list[int]]:
    return trace.source.ids, trace.target.ids


# all in one batch; several batches; each row a batch of its own
@pytest.mark.parametrize("tokens", [2048, 60, 1])
def test_one_batch_is_one_by_one(
    model: Transformer, trace: Trace, tokens: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passes, "PASS_TOKENS", tokens)
    effects = head_importance(model, *ids(trace))
    assert {(effect.site, effect.head) for effect in effects} == set(all_heads(model))
    assert len(effects) == len(all_heads(model))
    for site, head, delta in effects:
        assert delta == pytest.approx(log_prob(model, trace, Ablate(site, head)) - trace.log_prob, abs=1e-4)
    assert max(abs(effect.delta) for effect in effects) > 1e-2


def test_the_baseline_is_the_model_as_it_was_changed(model: Transformer, trace: Trace) -> None:
    """A head may cost more with other heads off than with all heads on."""
    cross = Site("decoder", 1, "cross")
    changes = (Ablate(cross, 0), Scale(Site("encoder", 0, "self"), 1, 0.0), Uniform(cross, 2))
    before = chain(*changes)
    effects = head_importance(model, *ids(trace), interventions=changes)
    left = set(all_heads(model)) - {(cross, 0), (Site("encoder", 0, "self"), 1)}
    assert {(effect.site, effect.head) for effect in effects} == left and len(effects) == len(left)
    whole = log_prob(model, trace, before)
    for site, head, delta in effects:
        assert delta == pytest.approx(log_prob(model, trace, chain(before, Ablate(site, head))) - whole, abs=1e-4)
    alone = {(one.site, one.head): one.delta for one in head_importance(model, *ids(trace))}
    assert max(abs(one.delta - alone[one.site, one.head]) for one in effects) > 1e-3


def test_the_most_harmful_comes_first(model: Transformer, trace: Trace) -> None:
    deltas = [effect.delta for effect in head_importance(model, *ids(trace))]
    assert deltas == sorted(deltas)


def test_a_head_that_adds_nothing_costs_nothing(model: Transformer, trace: Trace) -> None:
    site = Site("decoder", 1, "cross")
    with torch.no_grad():
        attention_at(model, site).output.weight[:, 8:16] = 0
    effects = {(effect.site, effect.head): effect.delta for effect in head_importance(model, *ids(trace))}
    assert effects[site, 1] == pytest.approx(0, abs=1e-5)
    assert abs(effects[site, 0]) > 1e-4


@pytest.mark.parametrize(("tokens", "count"), [(2048, 1), (1, 26), (33, 9)])
def test_a_long_sentence_takes_several_bounded_batches(
    model: Transformer, trace: Trace, tokens: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All heads on in a row by itself, then 26 heads, of 6 and 5 tokens each."""
    sizes: list[int] = []
    monkeypatch.setattr(passes, "PASS_TOKENS", tokens)
    model.encoder.embedding.register_forward_hook(lambda module, inputs, output: sizes.append(len(output)))
    head_importance(model, *ids(trace))
    assert sizes[0] == 1 and len(sizes) == 1 + count
    assert sum(sizes) == 27


def test_a_model_in_training_is_refused(model: Transformer, trace: Trace) -> None:
    with pytest.raises(AssertionError):
        head_importance(model.train(), *ids(trace))
