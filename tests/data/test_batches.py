import random
from collections import Counter
from collections.abc import Iterator
from itertools import islice

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from transformer.batches import Batch, BatchStream, Example, bucket, collate
from transformer.tokenizers import EOS, PAD, SOS


def example(number: int, source_length: int, target_length: int) -> Example:
    """An example that can be recognised by its number, wherever it turns up."""
    return [number] * source_length + [EOS], [SOS] + [number] * target_length + [EOS]


def corpus(size: int, longest: int = 30) -> list[Example]:
    rng = random.Random(size)
    return [example(number, rng.randint(1, longest), rng.randint(1, longest)) for number in range(10, 10 + size)]


lengths = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), max_size=60)


def numbers(batch: Batch) -> list[int]:
    return batch.src[:, 0].tolist()


def same(one: Batch, other: Batch) -> bool:
    return torch.equal(one.src, other.src) and torch.equal(one.tgt, other.tgt)


def test_collate_pads_behind_each_row() -> None:
    batch = collate([([5, EOS], [SOS, 6, 7, EOS]), ([8, 9, 10, EOS], [SOS, EOS])])
    assert batch.src.tolist() == [[5, EOS, PAD, PAD], [8, 9, 10, EOS]]
    assert batch.tgt.tolist() == [[SOS, 6, 7, EOS], [SOS, EOS, PAD, PAD]]
    assert batch.src.dtype == batch.tgt.dtype == torch.int64
    assert batch.n_tokens == 4  # 6 7 [EOS], [EOS]


def test_another_padding_id_is_counted_as_padding() -> None:
    batch = collate([([5], [SOS, 6, EOS]), ([5], [SOS, EOS])], pad_id=99)
    assert batch.tgt.tolist() == [[SOS, 6, EOS], [SOS, EOS, 99]]
    assert batch.n_tokens == 3


@given(lengths, st.integers(1, 300))
def test_buckets_keep_the_budget_and_every_example(lengths: list[tuple[int, int]], budget: int) -> None:
    examples = [example(number, *pair) for number, pair in enumerate(lengths)]
    batches = bucket(examples, budget)
    assert sorted(map(str, sum(batches, []))) == sorted(map(str, examples))
    for rows in batches:
        batch = collate(rows)
        assert len(rows) == 1 or len(rows) * max(batch.src.size(1), batch.tgt.size(1)) <= budget


def test_buckets_hold_little_padding() -> None:
    examples = [example(10, n, max(1, n + d)) for n in range(1, 60) for d in range(-2, 3)] * 8
    random.Random(0).shuffle(examples)

    def padding(groups: list[list[Example]]) -> float:
        batches = [collate(group) for group in groups]
        cells = sum(batch.src.numel() + batch.tgt.numel() for batch in batches)
        return sum(int((batch.src == PAD).sum() + (batch.tgt == PAD).sum()) for batch in batches) / cells

    assert padding(bucket(examples, 1000)) < 0.1
    assert padding([examples[start : start + 30] for start in range(0, len(examples), 30)]) > 0.3


def test_each_epoch_gives_every_example_once_from_pools_smaller_than_the_corpus() -> None:
    examples = corpus(250)
    stream = BatchStream(examples, budget=100, pool=60)
    for _ in range(2):
        given = Counter(number for batch in stream.epoch() for number in numbers(batch))
        assert given == Counter(source[0] for source, _ in examples)


def test_no_more_than_a_pool_is_read_ahead() -> None:
    read = []

    class Watched:
        def __iter__(self) -> Iterator[Example]:
            for pair in corpus(250):
                read.append(pair)
                yield pair

    next(iter(BatchStream(Watched(), budget=100, pool=60)))
    assert len(read) == 60


def test_epochs_shuffle_examples_of_one_length_again() -> None:
    stream = BatchStream([example(number, 5, 5) for number in range(10, 60)], budget=50)
    first, second = ({frozenset(numbers(batch)) for batch in stream.epoch()} for _ in range(2))
    assert first != second


def test_batches_do_not_come_in_order_of_length() -> None:
    widths = [batch.tgt.size(1) for batch in BatchStream(corpus(300), budget=100).epoch()]
    assert widths != sorted(widths)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 5), taken=st.integers(0, 60))
def test_restored_stream_goes_on_where_the_other_stopped(seed: int, taken: int) -> None:
    """60 batches are more than an epoch of them."""
    examples = corpus(90)
    stream, other = (BatchStream(examples, budget=120, seed=seed, pool=40) for _ in range(2))
    batches = iter(stream)
    for _ in islice(batches, taken):
        pass
    other.restore(list(stream.state()))  # as a list, the way JSON keeps it
    assert other.state() == stream.state()
    assert all(same(*pair) for pair in zip(islice(batches, 40), other, strict=False))


def test_seed_decides() -> None:
    first, again, other = (next(iter(BatchStream(corpus(90), 120, seed=seed))) for seed in (1, 1, 2))
    assert same(first, again) and not same(first, other)


def test_state_counts_epochs_and_batches() -> None:
    stream = BatchStream(corpus(30), budget=100)
    assert stream.state() == (0, 0)
    next(stream.epoch())
    assert stream.state() == (0, 1)
    rest = len(list(stream.epoch()))
    assert stream.state() == (1, 0)
    assert rest + 1 == len(bucket(corpus(30), 100))


def test_empty_corpus_is_an_error_not_an_endless_wait() -> None:
    with pytest.raises(ValueError, match="no usable pair"):
        next(iter(BatchStream([], budget=100)))
