"""A difference of logits in parts: their sum is the model's own, and the last parts do what they say."""

import numpy as np
import pytest
import torch

from headlight.analysis import contrast, gradient_times_input
from tests.analysis.why.models import NAMES, SRC, TGT, build, without_head
from tests.small import id_rows
from transformer.model import Transformer
from transformer.taps import Ablate, Site, Tap

pytestmark = pytest.mark.device


def difference(model: Transformer, step: int, instead: int, tap: Tap | None = None) -> float:
    with torch.no_grad():
        logits = model(id_rows(SRC), id_rows(TGT[:-1]), tap)[0, step]
    return float(logits[TGT[step + 1]] - logits[instead])


@pytest.mark.parametrize(("name", "step"), [*((name, 3) for name in NAMES), ("post", 0), ("t5", 4)])
def test_the_parts_sum_to_the_models_own_difference(name: str, step: int) -> None:
    model = build(name)
    explained = contrast(model, SRC, TGT, step, 9)
    assert explained.written == TGT[step + 1] and explained.instead == 9
    assert explained.difference == pytest.approx(difference(model, step, 9), abs=1e-5)
    assert explained.total == pytest.approx(explained.difference, abs=1e-4)
    assert explained.parts["self"].shape == explained.parts["cross"].shape == (3, 2)
    assert explained.parts["feed-forward"].shape == (3,)


def test_where_nothing_else_reads_a_part_its_removal_costs_what_it_says() -> None:
    model = build("pre")
    model.decoder.norm = torch.nn.Identity()  # nothing divides by what the part has a share in
    with torch.no_grad():
        for parameter in model.decoder.layers[-1].feed_forward.parameters():
            parameter.zero_()  # and nothing reads the last heads
    whole = difference(model, 3, 9)
    explained = contrast(model, SRC, TGT, 3, 9)
    for head in range(2):
        without = difference(model, 3, 9, Ablate(Site("decoder", 2, "cross"), head))
        assert whole - without == pytest.approx(explained.parts["cross"][2, head], abs=1e-5)
        assert abs(whole - without) > 1e-3


def test_a_step_or_a_token_that_there_is_not_is_refused() -> None:
    model = build("pre")
    with pytest.raises(ValueError, match="The step is 5; the 5 written tokens have steps 0 to 4"):
        contrast(model, SRC, TGT, 5, 9)
    with pytest.raises(ValueError, match="the vocabulary has ids 0 to"):
        contrast(model, SRC, TGT, 0, 10_000)


@pytest.mark.parametrize("instead", [None, 9])
def test_gradients_are_those_of_small_changes(instead: int | None) -> None:
    model = build("post").double()
    found = gradient_times_input(model, SRC, TGT, 3, instead)
    table = model.encoder.embedding.tokens.weight
    token, small = SRC[1], 1e-5

    def logit() -> float:
        with torch.no_grad():
            logits = model(id_rows(SRC), id_rows(TGT[:-1]))[0, 3]
        return float(logits[TGT[4]] - (0.0 if instead is None else logits[instead]))

    embedding = model.encoder.embedding(id_rows(SRC))[0, 1].detach().cpu()
    slopes = []
    for size in range(len(embedding)):
        ends = []
        for sign in (1, -1):
            with torch.no_grad():
                table[token, size] += sign * small
            ends.append(logit())
            with torch.no_grad():
                table[token, size] -= sign * small
        slopes.append((ends[0] - ends[1]) / (2 * small) / model.encoder.embedding.scale)
    assert found.source[1] == pytest.approx(float(torch.tensor(slopes, dtype=torch.float64) @ embedding), rel=1e-4)
    assert found.source.shape == (5,) and found.prefix.shape == (4,)


@pytest.mark.parametrize("name", ["pre", "post", "t5"])
def test_under_an_ablation_the_parts_are_those_of_a_model_whose_head_writes_nothing(name: str) -> None:
    site = Site("decoder", 0, "cross")
    under = contrast(build(name), SRC, TGT, 3, 9, Ablate(site, 1))
    model = build(name)
    without_head(model, site, 1)
    zeroed = contrast(model, SRC, TGT, 3, 9)
    assert under.difference == pytest.approx(zeroed.difference, abs=1e-5)
    assert abs(under.difference - contrast(build(name), SRC, TGT, 3, 9).difference) > 1e-4
    assert under.parts["cross"][0, 1] == pytest.approx(0, abs=1e-9)
    for part, value in zeroed.parts.items():
        np.testing.assert_allclose(under.parts[part], value, atol=1e-5)


def test_an_intervention_on_a_head_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="head"):
        contrast(build("pre"), SRC, TGT, 3, 9, Ablate(Site("decoder", 0, "cross"), 7))
