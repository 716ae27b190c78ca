"""One head of an attention alone, and all with one pattern, against the same done one by one."""

import pytest

from headlight.analysis import passes
from headlight.analysis.several_heads import several_heads
from tests.analysis.conftest import log_prob
from transformer.model import Transformer
from transformer.taps import Ablate, Recorder, Replace, Site, chain
from transformer.trace import Trace
from transformer.yielding import on_yield


@pytest.mark.parametrize("site", [Site("encoder", 0, "self"), Site("decoder", 2, "cross")])
@pytest.mark.parametrize("tokens", [2048, 1])
def test_one_batch_is_one_by_one(
    model: Transformer, trace: Trace, site: Site, tokens: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passes, "PASS_TOKENS", tokens)
    found = several_heads(model, trace.source.ids, trace.target.ids, site)
    heads = range(4 if site.stack == "encoder" else 3)
    assert found.whole == pytest.approx(log_prob(model, trace, None), abs=1e-4)
    assert len(found.alone) == len(heads)
    for head, alone in found.alone.items():
        others = chain(*(Ablate(site, other) for other in heads if other != head))
        assert alone == pytest.approx(log_prob(model, trace, others), abs=1e-4)
        assert abs(alone - found.whole) > 1e-3
    recorder = Recorder()
    log_prob(model, trace, recorder)
    rows = tuple(map(tuple, recorder[site][0][0].mean(0).tolist()))
    same = chain(*(Replace(site, head, rows) for head in heads))
    assert found.mean == pytest.approx(log_prob(model, trace, same), abs=1e-4)
    assert abs(found.mean - found.whole) > 1e-4


def test_others_may_go_first_between_batches(model: Transformer, trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "PASS_TOKENS", 1)
    calls: list[None] = []
    with on_yield(lambda: calls.append(None)):
        several_heads(model, trace.source.ids, trace.target.ids, Site("encoder", 0, "self"))
    assert len(calls) >= 6  # a row each
