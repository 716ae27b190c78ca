"""A head's output replaced by zeros, its mean and another sentence's, against hooks on the output projection."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from headlight.analysis import all_heads, head_ablation, head_importance
from headlight.analysis.passes import written_log_probs
from tests.analysis.why.models import SRC, TGT, build
from tests.small import id_rows
from transformer.model import Transformer
from transformer.taps import Ablate, Site

pytestmark = pytest.mark.device

REFERENCES = [([7, 4, 5, 9, 8, 3], [2, 6, 9, 12, 3]), ([5, 11, 3], [2, 8, 10, 3])]
HEADS = [(Site("encoder", 1, "self"), 2), (Site("decoder", 0, "cross"), 1), (Site("decoder", 2, "self"), 0)]


def by_head(*arguments: Any, **options: Any) -> dict[tuple[Site, int], float]:
    effects = head_ablation(*arguments, **options)
    assert [effect.delta for effect in effects] == sorted(effect.delta for effect in effects)
    return {(effect.site, effect.head): effect.delta for effect in effects}


def hooked(model: Transformer, site: Site, see: Callable[[torch.Tensor], torch.Tensor], pair: tuple[Any, Any]) -> float:
    """The log-probability of a target, with `see` on the concatenated heads of a site [1, N, H * D]."""
    module: Any = next(m for m in model.modules() if getattr(m, "site", None) == site)
    hook = module.output.register_forward_pre_hook(lambda _, arguments: (see(arguments[0].clone()),))
    source, target = (id_rows(ids) for ids in pair)
    with torch.no_grad():
        log_probs = model(source, target[:, :-1])[0].log_softmax(-1)
    hook.remove()
    return float(log_probs.gather(-1, target[0, 1:, None]).sum())


def part_of(model: Transformer, site: Site, head: int) -> slice:
    module: Any = next(m for m in model.modules() if getattr(m, "site", None) == site)
    size = module.output.in_features // module.n_heads
    return slice(head * size, (head + 1) * size)


def outputs(model: Transformer, site: Site, part: slice, pair: tuple[Any, Any]) -> torch.Tensor:
    kept: list[torch.Tensor] = []
    hooked(model, site, lambda x: kept.append(x) or x, pair)
    return kept[0][0, :, part]


@pytest.mark.parametrize("name", ["pre", "post", "t5"])
def test_zeros_are_the_ablation_of_a_tap(name: str) -> None:
    model = build(name)
    found = by_head(model, SRC, TGT, [], by="zero")
    assert found == {(effect.site, effect.head): effect.delta for effect in head_importance(model, SRC, TGT)}
    src, tgt = id_rows(SRC), id_rows(TGT)
    complete = float(written_log_probs(model, src, tgt).sum())
    due = {head: float(written_log_probs(model, src, tgt, Ablate(*head)).sum()) - complete for head in all_heads(model)}
    assert found == pytest.approx(due, abs=1e-4)


@pytest.mark.parametrize("name", ["pre", "post", "t5"])
def test_the_mean_is_over_all_tokens_of_the_references(name: str) -> None:
    model = build(name)
    found = by_head(model, SRC, TGT, REFERENCES, by="mean")
    for site, head in HEADS:
        part = part_of(model, site, head)
        mean = torch.cat([outputs(model, site, part, pair) for pair in REFERENCES]).mean(0)

        def replace(x: torch.Tensor, part: slice = part, mean: torch.Tensor = mean) -> torch.Tensor:
            x[..., part] = mean
            return x

        due = hooked(model, site, replace, (SRC, TGT)) - hooked(model, site, lambda x: x, (SRC, TGT))
        assert found[site, head] == pytest.approx(due, abs=1e-4)


@pytest.mark.parametrize("name", ["pre", "post", "t5"])
def test_a_resampled_head_has_its_output_for_another_sentence(name: str) -> None:
    model, longer = build(name), ([7, 4, 5, 9, 8, 6, 3], [2, 6, 9, 12, 8, 10, 3])  # no token is past its end
    found = by_head(model, SRC, TGT, [longer], by="resample", draws=2)
    for site, head in HEADS:
        part = part_of(model, site, head)
        other = outputs(model, site, part, longer)

        def replace(x: torch.Tensor, part: slice = part, other: torch.Tensor = other) -> torch.Tensor:
            x[..., part] = other[: x.size(1)]
            return x

        due = hooked(model, site, replace, (SRC, TGT)) - hooked(model, site, lambda x: x, (SRC, TGT))
        assert found[site, head] == pytest.approx(due, abs=1e-4)


def test_a_sentence_that_stands_for_itself_changes_nothing_and_draws_are_those_of_the_seed() -> None:
    model = build("pre")
    own = by_head(model, SRC, TGT, [(SRC, TGT)], by="resample", draws=1)
    assert np.abs(list(own.values())).max() < 1e-4
    first, again, other = (
        by_head(model, SRC, TGT, REFERENCES, by="resample", draws=2, seed=seed) for seed in (1, 1, 2)
    )
    assert first == again != other


def test_a_head_that_says_the_same_of_every_sentence_is_missed_by_zeros_alone() -> None:
    model, (site, head) = build("pre"), HEADS[1]
    module: Any = next(m for m in model.modules() if getattr(m, "site", None) == site)
    part = part_of(model, site, head)
    with torch.no_grad():  # its values are the bias, whatever is read
        module.value.weight[part] = 0
        module.value.bias[part] = 3
    zero, mean, other = (by_head(model, SRC, TGT, REFERENCES, by=by)[site, head] for by in ("zero", "mean", "resample"))
    assert abs(zero) > 0.1 and mean == pytest.approx(0, abs=1e-4) == other


def test_what_cannot_be_ablated_is_refused() -> None:
    model = build("pre")
    with pytest.raises(ValueError, match="no ablation 'median'; choose among zero, mean, resample"):
        head_ablation(model, SRC, TGT, REFERENCES, by="median")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="mean ablation needs sentences"):
        head_ablation(model, SRC, TGT, [])
    with pytest.raises(ValueError, match="number of draws is 0"):
        head_ablation(model, SRC, TGT, REFERENCES, by="resample", draws=0)
