"""Traces in files, and traces of models that lack kinds of attention."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.small import small_translator
from transformer.trace import Tokens, Trace

pytestmark = pytest.mark.device


def tokens(*labels: str) -> Tokens:
    return Tokens(
        list(range(len(labels))), [*labels], [*labels], [[i] for i in range(len(labels))], [False] * len(labels)
    )


def encoder_only() -> Trace:
    weights = np.full((2, 3, 2, 2), 0.5, np.float32)
    return Trace("a b", "", tokens("a", "b"), Tokens.none(), weights, None, None, np.zeros(0, np.float32), given=0)


def decoder_only() -> Trace:
    weights = np.tril(np.full((1, 2, 3, 3), 1 / 3, np.float32))
    log_probs = np.array([-4, -2, -1], np.float32)
    return Trace("a b", "c d", Tokens.none(), tokens(*"abcd"), None, weights, None, log_probs, given=2)


def test_the_kinds_are_those_that_it_has() -> None:
    assert (encoder_only().kinds, decoder_only().kinds) == (("encoder",), ("decoder",))
    with pytest.raises(ValueError, match="no kind of attention called 'cross'; choose one of decoder"):
        decoder_only().pattern("cross")
    with pytest.raises(ValueError, match="'decoder'.*choose one of encoder"):
        encoder_only().rows("decoder")


def test_a_decoder_reads_its_prompt_and_writes_what_follows() -> None:
    trace = decoder_only()
    assert (trace.columns("decoder"), trace.rows("decoder")) == (["a", "b", "c"], ["b", "c", "d"])
    assert trace.masked("decoder").tolist() == np.triu(np.ones((3, 3), bool), 1).tolist()
    assert trace.log_prob == -3  # of "c" and "d": "b" was given


def encoder_decoder() -> Trace:
    return small_translator().trace("<b> & co", target="a little girl")


@pytest.mark.parametrize("make", [encoder_only, decoder_only, encoder_decoder])
def test_a_saved_trace_comes_back_bit_for_bit(tmp_path: Path, make: Callable[[], Trace]) -> None:
    trace = make()
    trace.save(tmp_path / "trace.npz")
    loaded = Trace.load(tmp_path / "trace.npz")
    for name, value in vars(trace).items():
        other = getattr(loaded, name)
        assert np.array_equal(value, other) if isinstance(value, np.ndarray) else value == other, name


def test_a_file_without_any_attention_is_refused(tmp_path: Path) -> None:
    decoder_only().save(tmp_path / "trace.npz")
    with np.load(tmp_path / "trace.npz") as data:
        np.savez(tmp_path / "bare.npz", **{name: data[name] for name in data.files if name != "decoder"})
    with pytest.raises(ValueError, match=r"bare\.npz.*none of encoder, decoder, cross"):
        Trace.load(tmp_path / "bare.npz")
