"""Patching: all of it restores all, nothing nothing, a planted cause is found, and a head is the one that was meant."""

import copy

import numpy as np
import pytest
import torch

from headlight.analysis import Corruption, patching, restored_by
from headlight.analysis.why.patched import patched
from tests.analysis.why.models import NAMES, SRC, TGT, build
from transformer.taps import Site

OTHER = [7, 6, 5, 9, 3]  # one token is another
LONGER = [7, 11, 4, 5, 9, 3]
STEP, INSTEAD = 3, 9


@pytest.mark.parametrize("name", NAMES)
def test_a_pass_that_exchanges_nothing_is_the_models_own(name: str) -> None:
    model = build(name)
    src, tgt = torch.tensor([SRC]), torch.tensor([TGT[:-1]])
    torch.testing.assert_close(model.output(patched(model, src, tgt)), model(src, tgt))


@pytest.mark.parametrize("name", NAMES)
def test_everything_restores_all_and_nothing_restores_nothing(name: str) -> None:
    result = patching(build(name), Corruption(SRC, OTHER, TGT, STEP, INSTEAD))
    assert result.everything == pytest.approx(1, abs=1e-5)
    assert result.nothing == pytest.approx(0, abs=1e-5)
    assert {site: len(shares) for site, shares in result.restored.items()} == {
        site: 4 if site.stack == "encoder" else 2 for site in build(name).sites()
    }
    assert result.states["encoder"].shape == (3, 5) and result.states["decoder"].shape == (4, 4)


def test_the_token_that_differs_is_the_cause_before_anything_is_read() -> None:
    embedding = patching(build("pre"), Corruption(SRC, OTHER, TGT, STEP, INSTEAD)).states["encoder"][0]
    np.testing.assert_allclose(embedding, [0, 1, 0, 0, 0], atol=1e-5)


def test_a_planted_cause_is_found() -> None:
    model = build("pre")
    with torch.no_grad():  # the source reaches the decoder by one head alone
        for layer in model.decoder.layers:
            layer.cross_attention.output.weight.zero_()
        model.decoder.layers[1].cross_attention.output.weight[:, :8] = torch.randn(16, 8)
    result = patching(model, Corruption(SRC, OTHER, TGT, STEP, INSTEAD))
    assert result.restored[Site("decoder", 1, "cross")][0] == pytest.approx(1, abs=1e-5)
    for layer, head in ((0, 0), (0, 1), (1, 1), (2, 0), (2, 1)):
        assert result.restored[Site("decoder", layer, "cross")][head] == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("site", [Site("encoder", 1, "self"), Site("decoder", 0, "cross"), Site("decoder", 2, "self")])
def test_a_head_is_what_a_hook_on_the_output_projection_exchanges(site: Site) -> None:
    model = copy.deepcopy(build("post"))
    head = 1
    module = [m for m in model.modules() if getattr(m, "site", None) == site][0]
    size = module.output.in_features // module.n_heads
    part, kept = slice(head * size, (head + 1) * size), {}

    def logits(source: list[int]) -> torch.Tensor:
        with torch.no_grad():
            return model(torch.tensor([source]), torch.tensor([TGT[:-1]]))[0, STEP]

    def keep(module: torch.nn.Module, args: tuple[torch.Tensor]) -> None:
        kept["true"] = args[0][..., part].clone()

    def exchange(module: torch.nn.Module, args: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
        heads = args[0].clone()
        heads[..., part] = kept["true"]
        return (heads,)

    hook = module.output.register_forward_pre_hook(keep)
    true = logits(SRC)
    hook.remove()
    corrupted = logits(OTHER)
    hook = module.output.register_forward_pre_hook(exchange)
    between = logits(OTHER)
    hook.remove()
    a, b, c = (float(x[TGT[STEP + 1]] - x[INSTEAD]) for x in (true, corrupted, between))
    result = patching(build("post"), Corruption(SRC, OTHER, TGT, STEP, INSTEAD))
    assert result.restored[site][head] == pytest.approx((c - b) / (a - b), abs=1e-4)
    together = restored_by(build("post"), Corruption(SRC, OTHER, TGT, STEP, INSTEAD), [[(site, head)], []])
    assert together == [pytest.approx(result.restored[site][head], abs=1e-5), pytest.approx(0, abs=1e-5)]


def test_sentences_of_different_length_need_pairs() -> None:
    model = build("pre")
    with pytest.raises(ValueError, match="have 5 and 6 tokens; say which tokens belong together"):
        patching(model, Corruption(SRC, LONGER, TGT, STEP, INSTEAD))
    result = patching(model, Corruption(SRC, LONGER, TGT, STEP, INSTEAD, [(0, 0), (1, 1), (3, 4), (4, 5)]))
    assert np.isnan(result.states["encoder"][:, 2]).all() and not np.isnan(result.states["encoder"][:, 3]).any()
    with pytest.raises(ValueError, match="name each once"):
        patching(model, Corruption(SRC, LONGER, TGT, STEP, INSTEAD, [(0, 0), (0, 1)]))


def test_two_sentences_that_lead_to_the_same_words_are_refused() -> None:
    with pytest.raises(ValueError, match="Both sentences lead to the same logits"):
        patching(build("pre"), Corruption(SRC, SRC, TGT, STEP, INSTEAD))


def test_without_a_step_it_is_the_first_at_which_the_other_sentence_would_write_something_else() -> None:
    model = build("pre")
    best = model.output(patched(model, torch.tensor([OTHER]), torch.tensor([TGT[:-1]])))[0].argmax(-1).tolist()
    first = next(i for i, token in enumerate(best) if token != TGT[i + 1])
    result = patching(model, Corruption(SRC, OTHER, TGT))
    assert (result.step, result.instead) == (first, best[first])
