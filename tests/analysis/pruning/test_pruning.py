"""Heads in sets: which go first, what is left, and the checkpoint without them."""

import json
import math
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from headlight import checkpoints
from headlight.analysis import all_heads, attention_at
from headlight.analysis.pruning import Pruning, Score, importance, prune_in_order, removal_order
from headlight.analysis.pruning.checkpoint import batches_of, bits_of, pruned_checkpoint, saved, study
from headlight.cli.verbs import main
from headlight.corpora.truth import KnownPair
from tests.small import TEXTS, small_checkpoint
from transformer.checkpoint import Checkpoint
from transformer.model import Transformer
from transformer.pruned import prune_heads
from transformer.taps import Ablate, Site

# Heads that add nothing, since their part of the output projection is 0.
IDLE = [(Site("decoder", 2, "cross"), 1), (Site("encoder", 0, "self"), 2), (Site("decoder", 0, "self"), 0)]
PAIRS = [KnownPair(source, target) for source in TEXTS[:2] for target in (TEXTS[1], TEXTS[0], "two dogs", "a girl .")]


def planted() -> Checkpoint:
    checkpoint = small_checkpoint()
    with torch.no_grad():
        for site, head in IDLE:
            attention = attention_at(checkpoint.model, site)
            attention.output.weight.unflatten(1, (attention.n_heads, -1))[:, head] = 0
    return checkpoint


def nats(model: Transformer, pairs: list[KnownPair], checkpoint: Checkpoint, off: Ablate | None = None) -> float:
    """The mean loss of a token, pair by pair."""
    total, tokens = 0.0, 0
    for pair in pairs:
        src = [*checkpoint.source_tokenizer.encode(pair.source), model.config.eos_id]
        tgt = [model.config.sos_id, *checkpoint.target_tokenizer.encode(pair.target), model.config.eos_id]
        with torch.no_grad():
            logits = model(torch.tensor([src]), torch.tensor([tgt[:-1]]), off)[0]
        total += F.cross_entropy(logits, torch.tensor(tgt[1:]), reduction="sum").item()
        tokens += len(tgt) - 1
    return total / tokens


def test_importance_is_what_a_token_loses_without_the_head() -> None:
    checkpoint = planted()
    model = checkpoint.model
    worth = importance(model, batches_of(checkpoint, PAIRS))
    assert list(worth) == all_heads(model)
    whole = nats(model, PAIRS, checkpoint)
    for (site, head), value in worth.items():
        assert value == pytest.approx(nats(model, PAIRS, checkpoint, Ablate(site, head)) - whole, abs=1e-5)
    assert all(worth[head] == pytest.approx(0, abs=1e-6) for head in IDLE)


def test_every_head_goes_once_and_is_measured_with_the_others_gone() -> None:
    checkpoint = planted()
    batches = batches_of(checkpoint, PAIRS)
    heads = all_heads(checkpoint.model)
    shares: list[float] = []
    order = removal_order(checkpoint.model, batches, 5, shares.append)
    assert sorted((one.site, one.head) for one in order) == sorted(heads)
    assert shares == sorted(shares) and shares[-1] == pytest.approx(1)
    for start in range(0, len(order), 5):
        left = prune_heads(checkpoint.model, [(one.site, one.head) for one in order[:start]])
        worth = importance(left, batches)
        least = sorted(worth, key=worth.__getitem__)[:5]
        assert [(one.site, one.head) for one in order[start : start + 5]] == least
        assert [one.importance for one in order[start : start + 5]] == [worth[head] for head in least]


@pytest.mark.slow
def test_heads_that_add_nothing_cost_nothing_and_a_random_order_does_not_know_them() -> None:
    checkpoint = planted()
    model = checkpoint.model
    count = len(all_heads(model))
    asked: list[int] = []

    def score(left: Transformer) -> Score:
        """Far from the model's own answers is worse, so that no head is harmful."""
        asked.append(len(all_heads(left)))
        src, tgt = torch.tensor([[5, 6, 7, 3]]), torch.tensor([[2, 8, 9]])
        with torch.no_grad():
            return Score(-(left(src, tgt) - model(src, tgt)).abs().max().item(), 0.0, 0.0)

    found = prune_in_order(model, batches_of(checkpoint, PAIRS), score, 7, draws=2, every=1)
    assert found.gone == (*range(count), count) and found.scored == 7 and found.measured == len(PAIRS)
    assert asked.count(count) == asked.count(0) == 1, "the ends are the same for all orders"
    places = [found.first(count).index(head) for head in IDLE]
    harmful = sum(one.importance < 0 for one in found.order)
    assert max(places) <= harmful + len(IDLE) + 4
    for point, (before, after) in enumerate(zip(found.in_order, found.in_order[1:], strict=False)):
        if found.first(count)[point] in IDLE:
            assert after.log_prob == pytest.approx(before.log_prob, abs=1e-5)
    assert found.in_order[-1] == found.at_random[0][-1] == found.at_random[1][-1]
    assert found.at_random[0] != found.at_random[1]
    assert found == Pruning.from_dict(json.loads(json.dumps(found.to_dict())))


def test_a_model_without_heads_has_none_to_remove() -> None:
    checkpoint = small_checkpoint()
    empty = prune_heads(checkpoint.model, all_heads(checkpoint.model))
    with pytest.raises(ValueError, match="no heads left"):
        prune_in_order(empty, batches_of(checkpoint, PAIRS), lambda model: Score(0, 0, 0), 1)


def test_the_order_and_the_scores_come_from_different_pairs() -> None:
    checkpoint = small_checkpoint()
    found = study(checkpoint, PAIRS, draws=1, every=7)
    assert (found.measured, found.scored) == (4, 4)
    assert found.in_order[0].log_prob == pytest.approx(-nats(checkpoint.model, PAIRS[4:], checkpoint), abs=1e-5)
    assert found.gone == (0, 7, 14, 20)
    with pytest.raises(ValueError, match="Of the 1 pairs one half gives the order"):
        study(checkpoint, PAIRS[:1])
    long = KnownPair("girl " * 40, "girl")
    with pytest.raises(ValueError, match="can read none of one half"):
        study(checkpoint, [long, long, *PAIRS[:2]])


def test_the_smaller_checkpoint_says_what_it_is() -> None:
    checkpoint = small_checkpoint()
    checkpoint.card |= {"scores": {"BLEU": 99}, "typical": {}}
    smaller = pruned_checkpoint(checkpoint, IDLE, {"heads": 3}, "python")
    assert smaller.card["title"] == "Small, 3 of 20 heads pruned" and "scores" not in smaller.card
    assert smaller.card["pruned"] == {"of": "Small", "heads": 3}
    again = pruned_checkpoint(smaller, [(Site("encoder", 1, "self"), 0)], {"heads": 1})
    assert again.card["title"] == "Small, 4 of 20 heads pruned"
    assert checkpoint.card["scores"] and not checkpoint.model.config.pruned_heads


def test_what_is_saved_is_counted() -> None:
    checkpoint = small_checkpoint()
    smaller = pruned_checkpoint(checkpoint, all_heads(checkpoint.model), {})
    less = saved(checkpoint.model, smaller.model, batches_of(checkpoint, PAIRS))
    maps = 8 * (4 * (4 * 16 + 3) * 4) // 4 + 12 * (8 * (4 * 16 + 3))
    assert less.parameters_before - less.parameters == maps
    assert less.seconds > 0 and less.seconds_before > 0
    assert f"{less.parameters:,} of {less.parameters_before:,} parameters" in str(less)


def test_the_command_writes_what_opens_and_equals_the_ablated_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = small_checkpoint()
    with torch.no_grad():
        for parameter in checkpoint.model.parameters():
            parameter.copy_(parameter.half())
    checkpoints.save(checkpoint, tmp_path / "whole", 16)
    lines = "en\tfr\n" + "".join(f"{pair.source}\t{pair.target}\n" for pair in PAIRS)
    (tmp_path / "pairs.tsv").write_text(lines)
    out, facts = tmp_path / "half", tmp_path / "half.json"
    command = ["prune", str(tmp_path / "whole"), "--data", f"{tmp_path}/pairs.tsv:en:fr", "--draws", "1"]
    assert main([*command, "--every", "5", "--out", str(out), "--json", str(facts)]) == 0
    said = capsys.readouterr().out
    assert "10 heads removed" in said and "parameters" in said and "processor time" in said
    found = Pruning.from_dict(json.loads(facts.read_text()))
    opened = checkpoints.load(out)
    assert len(all_heads(opened.model)) == 10
    assert bits_of(opened.model) == 16
    assert (out / "model.safetensors").stat().st_size < (tmp_path / "whole" / "model.safetensors").stat().st_size
    left = nats(opened.model, PAIRS[4:], checkpoint)
    assert left == pytest.approx(-found.in_order[found.gone.index(10)].log_prob, abs=1e-5)
    assert math.isfinite(left)
    assert main([*command, "--out", str(out)]) == 1
    assert "exists already" in capsys.readouterr().err
    assert main([*command, "--keep", "1.5"]) == 1
    assert "--keep is 1.5; it must be at least 0 and below 1" in capsys.readouterr().err
