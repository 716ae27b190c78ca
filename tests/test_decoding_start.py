"""What a model's targets start with, and starts that are padding or the end: every way of decoding writes it first."""

from typing import Any

import pytest
import torch

from headlight.analysis.resampling import Resampler
from headlight.analysis.search_tree import grow
from tests.decoding_by_hand import EOS, PAD, alone, greedy_by_hand
from tests.small import TEXTS, small_checkpoint
from transformer import Transformer, Translator
from transformer.decoding import beam, finish, forced, greedy, sample

START = (7, 9)
SRC = torch.tensor([[5, 6, 4, 8, EOS], [7, 10, EOS, PAD, PAD]])


def network(**changes: Any) -> Transformer:
    return small_checkpoint(target_start=START, **changes).model


@pytest.mark.parametrize("sos", [2, PAD, EOS], ids=["its own", "padding", "the end"])
def test_greedy_writes_the_start_and_goes_on(sos: int) -> None:
    model = network(sos_id=sos)
    decoded = finish(greedy(model, SRC, max_length=9))
    for row in range(len(SRC)):
        assert list(decoded[row][0].ids) == greedy_by_hand(model, alone(SRC, row), 9, START)


@pytest.mark.parametrize("sos", [2, PAD, EOS], ids=["its own", "padding", "the end"])
def test_padding_at_the_end_of_a_target_hides_nothing_else(sos: int) -> None:
    model = small_checkpoint(sos_id=sos).model
    tgt = torch.tensor([[sos, 9, 5, 6], [sos, 7, PAD, PAD]])
    with torch.inference_mode():
        together = model(SRC, tgt)
        for row, (source, target) in enumerate(((5, 4), (3, 2))):
            alone = model(SRC[row : row + 1, :source], tgt[row : row + 1, :target])[0]
            torch.testing.assert_close(together[row, :target], alone)


def test_every_way_of_decoding_starts_so() -> None:
    model = network(sos_id=PAD)
    ways = (
        greedy(model, SRC),
        beam(model, SRC, size=3),
        sample(model, SRC, seed=4, temperature=2.0),
        beam(model, SRC, size=2, prefix=[[], [7]]),
    )
    for steps in ways:
        for hypotheses in finish(steps):
            assert all(h.ids[: len(START)] == START for h in hypotheses)


def test_a_prefix_includes_the_start_and_may_differ_from_it() -> None:
    model = network()
    whole = finish(greedy(model, SRC, prefix=[*START, 11]))
    assert all(h[0].ids[:3] == (*START, 11) for h in whole)
    other = finish(greedy(model, SRC, prefix=[8]))  # another language, say: the rest of the start follows
    assert all(h[0].ids[:2] == (8, START[1]) for h in other)
    written = [[*START, 11, EOS], [8, 5, EOS]]
    assert [list(h[0].ids) for h in finish(forced(model, SRC, written))] == written


def test_a_start_that_is_never_written_freely_may_be_forced_again() -> None:
    """A fork repeats what was written, its start included, though it holds [SOS]."""
    model = small_checkpoint(target_start=(2, 9)).model
    (best,) = finish(greedy(model, SRC[:1]))[0][:1]
    assert best.ids[:2] == (2, 9)
    assert finish(greedy(model, SRC[:1], prefix=list(best.ids[:4])))[0][0] == best
    with pytest.raises(ValueError, match="leave them out"):
        greedy(model, SRC[:1], prefix=[2, 5])


def test_kept_steps_start_so_too() -> None:
    model = network(sos_id=EOS)
    kept = Resampler(model, SRC[:1])
    for seed in (1, 2, 1):
        steps = kept.sample(seed=seed, temperature=1.5)
        direct = list(sample(model, SRC[:1], seed=seed, temperature=1.5))
        assert [s.tokens.tolist() for s in steps] == [s.tokens.tolist() for s in direct]
        assert [int(s.tokens) for s in steps[:2]] == list(START)


def test_a_tree_has_the_start_as_its_trunk() -> None:
    steps = list(beam(network(), SRC[:1], size=3))
    tree = grow(steps, bound=20, length_penalty=0.6)
    assert all(tree.ids(end)[:2] == list(START) for end in tree.hypotheses)
    assert [node.token for node in tree.nodes[1:3]] == list(START)


def test_a_translator_puts_around_a_text_what_the_model_asks_for() -> None:
    checkpoint = small_checkpoint(sos_id=PAD, source_start=(9,), source_end=(EOS, 8), target_start=(7,))
    model, tokenizer = Translator(checkpoint), checkpoint.source_tokenizer
    ids = tokenizer.encode(TEXTS[0])
    assert model.encode(TEXTS[0]) == [9, *ids, EOS, 8]
    assert model.encode_target(TEXTS[0]) == [PAD, 7, *ids, EOS]
    trace = model.trace(TEXTS[0])
    assert trace.source.ids == model.encode(TEXTS[0]) and trace.target.ids[:2] == [PAD, 7]
    translation = model.translate(TEXTS[0])
    assert translation.ids == trace.target.ids[1:]
    assert abs(translation.log_prob - trace.log_prob) < 1e-4
    with pytest.raises(ValueError, match="at most 32"):
        model.encode(" ".join(["a"] * 30))  # 30, and 3 around them
