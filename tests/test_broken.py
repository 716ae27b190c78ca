"""Each mistake against its equation, written out in numpy; and a model that is trained with one."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from headlight.analysis.checks import check
from headlight.runs.recipe import Recipe
from headlight.teaching.mistakes import MISTAKES, RUNNABLE, TRAINABLE, break_model, break_translator, mistake
from tests.decoding_by_hand import greedy_by_hand, read
from tests.small import small_checkpoint, small_t5_checkpoint, small_translator
from transformer import Translator, preset
from transformer.batches import collate
from transformer.config import ConfigError, ModelConfig, StackConfig, TrainConfig
from transformer.decoding import beam, finish, greedy
from transformer.inference.prepared import Prepared
from transformer.model import Transformer
from transformer.taps import InputRecorder, Inputs, Recorder, Site, chain
from transformer.training.loop import Trainer, batch_loss

TEXT, TARGET = "a little girl is sitting .", "two dogs are running ."
SITES = {
    "encoder": Site("encoder", 0, "self"),
    "decoder": Site("decoder", 0, "self"),
    "cross": Site("decoder", 0, "cross"),
}


def softmax(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    with np.errstate(all="ignore"):
        powers = np.exp(scores - scores.max(axis, keepdims=True))
        return np.nan_to_num(powers / powers.sum(axis, keepdims=True))


def due(name: str, kind: str, inputs: Inputs) -> np.ndarray:
    """Return the pattern of the wrong equation, computed from the queries and keys of the broken pass."""
    q, k = inputs.q[0].double().numpy(), inputs.k[0].double().numpy()
    scores = np.einsum("hqd,hkd->hqk", q, k)
    queries, keys = scores.shape[1:]
    hidden = np.zeros((queries, keys), bool)
    if kind == "decoder" and name not in ("no-causal-mask", "mask-thrown-away"):
        hidden = np.triu(np.ones((queries, keys), bool), 1)
    if name != "no-scaling":
        scores = scores / np.sqrt(q.shape[-1])
    if name == "padding-mask-inverted" and kind != "decoder":
        return np.full(scores.shape, 1 / keys)  # no token is padding, so all are hidden alike
    return softmax(np.where(hidden, -np.inf, scores), -2 if name == "softmax-over-queries" else -1)


@pytest.mark.parametrize("name", RUNNABLE)
def test_a_broken_pass_has_the_pattern_of_the_wrong_equation(name: str) -> None:
    translator = small_translator()
    broken, seen = break_translator(translator, name), InputRecorder()
    source, target = translator.encode(TEXT), translator.encode_target(TARGET)
    broken.log_probs([source], [target[:-1]], seen)
    trace = broken.trace(TEXT, TARGET)
    for kind, site in SITES.items():
        np.testing.assert_allclose(trace.pattern(kind)[0], due(name, kind, seen[site]), atol=1e-5)
    whole = translator.trace(TEXT, TARGET)
    assert max(np.abs(trace.pattern(kind) - whole.pattern(kind)).max() for kind in SITES) > 1e-3
    assert f"broken: {name}" in trace.model and trace.interventions == ([f"broken: {name}"])
    assert broken.card["broken"] == name and "broken" not in translator.card
    assert trace.masked("decoder").any() == (name not in ("no-causal-mask", "mask-thrown-away"))


@pytest.mark.parametrize("name", RUNNABLE)
def test_the_model_at_hand_stays_as_it_is(name: str) -> None:
    translator = small_translator()
    before = translator.trace(TEXT, TARGET)
    weights = {key: value.clone() for key, value in translator.model.state_dict().items()}
    broken = break_translator(translator, name)
    broken.trace(TEXT)
    after = translator.trace(TEXT, TARGET)
    for kind in SITES:
        assert (before.pattern(kind) == after.pattern(kind)).all()
    assert all(torch.equal(weights[key], value) for key, value in translator.model.state_dict().items())
    shared = {id(parameter) for parameter in translator.model.parameters()}
    # Where the feed-forward networks give 0, their last layer is a new one, of zeros.
    assert all(id(parameter) in shared or not parameter.any() for parameter in broken.model.parameters())


@pytest.mark.parametrize("name", RUNNABLE)
def test_what_it_writes_is_what_whole_passes_with_the_mistake_say(name: str) -> None:
    """This includes mistakes by which a row depends on earlier rows, which no cache holds."""
    model, tap = break_model(small_checkpoint().model, name)
    src = torch.tensor([[5, 9, 4, 7, 3]])
    (best,) = finish(greedy(model, src, max_length=8, tap=tap))[0]
    assert list(best.ids) == greedy_by_hand(model, src, 8, tap=tap)
    for step in beam(Prepared(model), src, 3, max_length=6, tap=tap):
        for row in range(len(step.sentences)):
            whole = read(model, src, [*step.written[row].tolist(), model.config.eos_id], tap)[-1]
            torch.testing.assert_close(step.log_probs[row], whole, atol=1e-4, rtol=0)


def test_without_positions_a_shuffled_sentence_has_the_same_patterns_shuffled() -> None:
    broken = break_translator(small_translator(), "no-positions")
    ids = broken.encode("two dogs are running .")
    order = [2, 0, 1, *range(3, len(ids))]
    one, other = (broken.trace_ids(source, [2, 5, 3]) for source in (ids, [ids[at] for at in order]))
    np.testing.assert_allclose(one.encoder[:, :, order][..., order], other.encoder, atol=1e-5)


def test_an_inverted_mask_shows_the_padding_alone() -> None:
    model, tap = break_model(small_checkpoint().model, "padding-mask-inverted")
    src, tgt, seen = torch.tensor([[5, 9, 3, 0, 0]]), torch.tensor([[2, 4]]), Recorder()
    with torch.no_grad():
        model(src, tgt, chain(tap, seen))
    for site in (SITES["encoder"], SITES["cross"]):
        pattern = seen[site][0]
        assert not pattern[..., :3].any() and torch.allclose(pattern[..., 3:].sum(-1), torch.ones(()))


def test_the_checks_beside_a_picture_find_the_rows_that_do_not_sum_to_1() -> None:
    broken = break_translator(small_translator(), "softmax-over-queries")
    trace = broken.trace(TEXT, TARGET)
    held = {one.name: one.holds for one in check(trace, broken.model, [broken.tap] if broken.tap else [])}
    assert not held["Every row sums to 1"] and held["No look-ahead"]


def test_what_cannot_be_broken_is_refused() -> None:
    assert set(RUNNABLE) | set(TRAINABLE) == set(MISTAKES) and "target-not-shifted" not in RUNNABLE
    with pytest.raises(ValueError, match="choose one of no-causal-mask"):
        mistake("no-coffee")
    with pytest.raises(ValueError, match="no mistake 'target-not-shifted' here"):
        break_model(small_checkpoint().model, "target-not-shifted")
    with pytest.raises(ValueError, match="already has"):
        break_model(small_checkpoint(look_ahead_mask="never").model, "no-causal-mask")
    for name in ("no-scaling", "no-positions", "softmax-over-queries", "padding-mask-inverted"):
        with pytest.raises(ValueError, match="positions are a bias"):
            break_model(small_t5_checkpoint().model, name)
    broken = break_translator(Translator(small_t5_checkpoint()), "no-causal-mask")
    trace = broken.trace("two dogs .", "two dogs are running .")
    assert (trace.decoder[..., np.triu(np.ones(trace.decoder.shape[-2:], bool), 1)] > 0).all()


@pytest.mark.parametrize("one", MISTAKES.values(), ids=lambda one: one.name)
def test_each_is_told(one: Any) -> None:
    assert one.right != one.wrong and one.look_at.endswith(".") and not one.title.endswith(".")
    assert one.runs or one.trains
    assert one.right.count("{") == one.right.count("}") and one.wrong.count("{") == one.wrong.count("}")


# ---- trained -------------------------------------------------------------------------------------------------------


def recipe(name: str | None, **changes: Any) -> Recipe:
    made = {} if name is None else dict(MISTAKES[name].changes)
    return Recipe("reverse", preset("mini", 64, 64, **{**made, **changes}), broken=name)


@pytest.mark.parametrize("name", TRAINABLE)
def test_the_recipe_and_its_card_say_that_it_is_broken(name: str) -> None:
    made = recipe(name)
    card = made.card()
    assert card["broken"] == name and card["title"].endswith(f"broken: {name}") and f"--break {name}" in card["command"]
    assert Recipe.from_dict(made.to_dict()) == made
    assert "broken" not in recipe(None).card() and "--break" not in recipe(None).command("x")


def test_a_recipe_that_is_not_as_broken_as_it_says_is_refused() -> None:
    with pytest.raises(ConfigError, match="look_ahead_mask is 'applied'; it must be 'never'"):
        Recipe("reverse", preset("mini", 64, 64), broken="no-causal-mask")
    with pytest.raises(ConfigError, match="choose one of no-causal-mask, mask-thrown-away"):
        Recipe("reverse", preset("mini", 64, 64), broken="no-scaling")


def trained(steps: int, shifted: bool = True, **changes: Any) -> tuple[Transformer, Any]:
    """A network that reverses words of up to 4 letters, and a batch that it was not trained on."""
    stack = StackConfig(1, 2, 64)
    torch.manual_seed(0)
    config = ModelConfig(30, 30, 32, stack, stack, "pre", True, dropout=0.0, max_length=16, tied="all")
    model = Transformer(replace(config, **changes))
    rng = random.Random(0)

    def batch(count: int = 48) -> Any:
        words = [[rng.randrange(4, 30) for _ in range(rng.randrange(2, 5))] for _ in range(count)]
        return collate([([*word, 3], [2, *word[::-1], 3]) for word in words])

    training = TrainConfig(steps=steps, learning_rate=5e-3, warmup=30, label_smoothing=0.0, precision="float32")
    trainer, batches = Trainer(model, training, shifted=shifted), (batch() for _ in itertools.count())
    for _ in range(steps):
        trainer.update(batches)
    return model.eval(), batch(50)


def measured(model: Transformer, batch: Any, shifted: bool = True) -> tuple[float, float]:
    """Return the teacher-forced loss per token, and the share of words that are written correctly."""
    with torch.no_grad():
        loss = batch_loss(model, batch, shifted=shifted).item() / batch.n_tokens
    written = finish(greedy(model, batch.src, max_length=12))
    pairs = zip(written, batch.tgt.tolist(), strict=True)
    right = [list(one[0].ids) == [id for id in row[1:] if id] for one, row in pairs]
    return loss, sum(right) / len(right)


@pytest.mark.slow
def test_without_the_causal_mask_the_loss_goes_to_0_and_nothing_right_is_written() -> None:
    """The same network with the mask has a larger loss and writes most words correctly."""
    broken, whole = (measured(*trained(280, look_ahead_mask=mask)) for mask in ("never", "applied"))
    assert broken[0] < 0.08 and broken[1] == 0.0
    assert whole[0] > 0.1 and whole[1] > 0.5


def test_an_unshifted_target_is_said_again() -> None:
    model, batch = trained(60, shifted=False)
    loss, right = measured(model, batch, shifted=False)
    assert loss < 0.05 and right == 0.0
    assert measured(model, batch)[0] > 3.0
