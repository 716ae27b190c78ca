import tracemalloc
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.corpora.packed import CHUNK_EXAMPLES, Packed, pack_examples
from transformer.batches import BatchStream, Example


def read(packed: Packed) -> list[Example]:
    return [(list(source), list(target)) for source, target in packed]


ids = st.lists(st.integers(0, 99), min_size=1, max_size=9)


@given(st.lists(st.tuples(ids, ids), max_size=30))
def test_what_is_packed_is_read_again_and_again(tmp_path_factory: pytest.TempPathFactory, examples: list) -> None:
    packed = pack_examples(examples, tmp_path_factory.mktemp("packed"), 100)
    assert read(packed) == read(packed) == examples
    assert packed.pairs == len(examples)
    assert packed.source_tokens == sum(len(source) for source, _ in examples)
    assert packed.target_tokens == sum(len(target) for _, target in examples)


@pytest.mark.parametrize("count", [CHUNK_EXAMPLES, CHUNK_EXAMPLES + 1])
def test_pieces_lose_nothing(tmp_path: Path, count: int) -> None:
    examples = [([n % 50] * (n % 3 + 1), [n % 70]) for n in range(count)]
    assert read(pack_examples(examples, tmp_path, 100)) == examples


@pytest.mark.parametrize(("vocabulary", "bytes_each"), [(2**16, 2), (2**16 + 1, 4)])
def test_ids_take_as_little_room_as_they_can(tmp_path: Path, vocabulary: int, bytes_each: int) -> None:
    examples = [([vocabulary - 1, 0], [vocabulary - 1])]
    assert read(pack_examples(examples, tmp_path, vocabulary)) == examples
    assert (tmp_path / "tokens.bin").stat().st_size == 3 * bytes_each


def test_batches_are_those_of_the_examples_themselves(tmp_path: Path) -> None:
    examples = [([n % 50] * (n % 5 + 1), [n % 70] * (n % 7 + 1)) for n in range(500)]
    one, other = (BatchStream(corpus, 60, pool=200) for corpus in (examples, pack_examples(examples, tmp_path, 100)))
    for a, b in islice(zip(one, other, strict=False), 200):
        assert a.src.equal(b.src) and a.tgt.equal(b.tgt)


def test_memory_does_not_grow_with_the_corpus(tmp_path: Path) -> None:
    """Peaks of Python's and numpy's memory while packing and while reading."""

    def made(count: int) -> Iterator[Example]:
        return (([n % 50] * 15, [n % 70] * 15) for n in range(count))

    def peak(count: int) -> int:
        tracemalloc.start()
        for _ in pack_examples(made(count), tmp_path, 100):
            pass
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    peak(2 * CHUNK_EXAMPLES)  # whatever is imported at first
    assert peak(20 * CHUNK_EXAMPLES) < 1.2 * peak(2 * CHUNK_EXAMPLES)


def test_what_is_cut_short_is_no_corpus(tmp_path: Path) -> None:
    def broken() -> Iterator[Example]:
        yield [1], [2]
        raise OSError("full")

    pack_examples([([1], [2])] * 5, tmp_path, 100)
    with pytest.raises(OSError):
        pack_examples(broken(), tmp_path, 100)
    with pytest.raises(ValueError, match="facts.json is missing"):
        Packed(tmp_path)
    pack_examples([([1], [2])] * 5, tmp_path, 100)
    with open(tmp_path / "tokens.bin", "ab") as file:
        file.truncate(4)
    with pytest.raises(ValueError, match="tokens.bin is not the 20 bytes"):
        Packed(tmp_path)
