"""Codes of positions against their formulas, and what is measured on them against cases worked out by hand."""

import math

import numpy as np
import pytest

from headlight.analysis.positions import (
    DISTANCES,
    FORMULAS,
    LONG_SENTENCE_POSITIONS,
    base_effects,
    encoding,
    entry,
    exp_log_difference,
    find_equal_positions,
    frequencies,
    properties,
    rotation,
    rotation_residual,
    shift_misfit,
    similarity,
    similarity_gap,
    sinusoid,
)
from transformer.positions import sinusoidal

RANDOM = np.random.default_rng(0).normal(size=(200, 16))


@pytest.mark.parametrize(("d_model", "base"), [(2, 10_000.0), (256, 100.0)])
def test_the_sinusoid_is_the_table_of_the_model(d_model: int, base: float) -> None:
    mine = encoding("sinusoidal", 3_000, d_model, base)
    assert mine.dtype == np.float64
    assert np.abs(mine - sinusoidal(3_000, d_model, base).numpy()).max() < 1e-7


def test_between_the_words_the_waves_go_on() -> None:
    omega = frequencies(8, 50)
    for p in (0.25, 7.5):
        expected = [f(p / 50 ** (2 * i / 8)) for i in range(4) for f in (math.sin, math.cos)]
        assert sinusoid(np.array([p]), omega)[0] == pytest.approx(expected)


def test_the_other_schemes_are_what_they_are_called() -> None:
    binary = encoding("binary", 100, 16)
    assert binary.shape == (100, 7)
    assert np.array_equal(binary @ 2.0 ** np.arange(7), np.arange(100))
    assert encoding("integer", 5, 16)[:, 0].tolist() == [0, 1, 2, 3, 4]
    assert encoding("normalised", 5, 16)[:, 0].tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert not encoding("none", 5, 16).any()


@pytest.mark.parametrize("scheme", FORMULAS)
def test_one_position_is_enough(scheme: str) -> None:
    table = encoding(scheme, 1, 4)
    assert len(table) == 1
    measures = properties(table, encoding(scheme, 2, 4))
    assert math.isnan(measures.closest) and math.isnan(measures.misfit)


def test_what_is_no_scheme_is_refused() -> None:
    with pytest.raises(ValueError, match="no scheme 'rotary'"):
        encoding("rotary", 5, 16)
    with pytest.raises(ValueError, match="d_model is 7"):
        encoding("sinusoidal", 5, 7)


# ---- similarity ----


def test_similarity_of_the_sinusoid_is_the_mean_cosine_of_the_distance() -> None:
    table, omega = encoding("sinusoidal", 80, 32), frequencies(32)
    for p in (0, 31, 79):
        assert similarity(table, p) == pytest.approx([np.cos((q - p) * omega).mean() for q in range(80)])
    assert similarity_gap(table, [10, 40, 60]) < 1e-12


def test_the_gap_is_the_largest_difference_at_one_distance() -> None:
    table = RANDOM[:6]
    one, other = similarity(table, 1), similarity(table, 3)
    by_hand = max(abs(one[1 + k] - other[3 + k]) for k in range(-1, 3))
    assert similarity_gap(table, [1, 3]) == pytest.approx(by_hand)
    assert by_hand > 0.1


def test_zeros_are_like_nothing() -> None:
    assert np.isnan(similarity(np.zeros((3, 4)), 1)).all()
    assert math.isnan(similarity_gap(np.zeros((3, 4)), [0, 2]))
    assert math.isnan(similarity_gap(RANDOM, [5]))


# ---- the rotation ----


def test_steps_add_up_and_keep_lengths() -> None:
    turn = rotation(5, 0.3)
    assert turn @ turn.T == pytest.approx(np.eye(2))
    assert rotation(2, 0.3) @ rotation(3, 0.3) == pytest.approx(turn)
    assert rotation(0, 0.3) == pytest.approx(np.eye(2))


@pytest.mark.parametrize(("k", "d_model", "base"), [(0, 2, 100.0), (1, 512, 10_000.0), (100, 64, 10_000.0)])
def test_a_step_is_one_rotation_at_ten_thousand_positions(k: int, d_model: int, base: float) -> None:
    assert rotation_residual(k, frequencies(d_model, base), 10_000) < 1e-5


def test_the_residual_is_the_largest_of_all() -> None:
    """The residual is computed by hand for a few frequencies, and is large for a matrix with a wrong angle."""
    omega, k, count = frequencies(6, 100), 7, 50
    by_hand = 0.0
    for w in omega:
        turn = rotation(k, w)
        for p in range(count):
            off = turn @ [math.sin(p * w), math.cos(p * w)] - [math.sin((p + k) * w), math.cos((p + k) * w)]
            by_hand = max(by_hand, np.abs(off).max())
    assert rotation_residual(k, omega, count) == pytest.approx(by_hand, abs=1e-15)
    single = rotation_residual(5, frequencies(64), 10_000, np.float32)
    assert 1e-5 < single < 1e-2  # an angle of 10,000 radians has three decimals left


# ---- properties ----


def measured(scheme: str, n: int = 200, d_model: int = 32):  # type: ignore[no-untyped-def]
    return properties(encoding(scheme, n, d_model), encoding(scheme, 2 * n, d_model))


def test_integers_count_without_end() -> None:
    measures = measured("integer")
    assert (measures.closest, measures.largest, measures.reach, measures.moved, measures.added) == (1, 199, 399, 0, 0)
    assert measures.misfit < 1e-9
    assert measures.step == pytest.approx(3 / 201)  # the mean distance of n numbers in a row is (n + 1) / 3


def test_normalised_integers_crowd_and_move() -> None:
    measures = measured("normalised")
    assert measures.closest == pytest.approx(1 / 199)
    assert (measures.largest, measures.reach) == (1, 1)
    assert measures.moved == pytest.approx(1 - 199 / 399)  # the last word, in a text twice as long
    assert measures.misfit == pytest.approx((1 / 199 - 1 / 399) / (1 / 399))


def test_bits_jump_and_run_out() -> None:
    measures = measured("binary", n=128)
    assert (measures.closest, measures.largest, measures.added) == (1, 1, 1)
    bits = encoding("binary", 128, 1)
    apart = [np.linalg.norm(bits[p] - bits[q]) for p in range(128) for q in range(p)]
    assert measures.step == pytest.approx(math.sqrt(7) / np.mean(apart))  # 63 to 64 flips seven bits
    assert measures.misfit > 0.5


def test_without_positions_all_are_equal() -> None:
    measures = measured("none")
    assert (measures.closest, measures.largest, measures.misfit) == (0, 0, 0)
    assert math.isnan(measures.step)


@pytest.mark.parametrize("d_model", [2, 256])
def test_the_sinusoid_has_them_all(d_model: int) -> None:
    measures = measured("sinusoidal", 1_000, d_model)
    assert measures.closest > 1e-5
    assert measures.largest <= 1 and measures.reach is not None and measures.reach <= 1
    assert measures.step < 1
    assert measures.misfit < 1e-6
    assert (measures.moved, measures.added) == (0, 0)


def test_random_vectors_have_no_law_and_an_end() -> None:
    measures = properties(RANDOM, None)
    assert measures.reach is None
    assert measures.misfit > 0.5
    assert measures.step > 1


@pytest.mark.parametrize("k", [1, 3])
def test_a_linear_law_is_found_and_a_broken_one_is_seen(k: int) -> None:
    random = np.random.default_rng(1)
    law, bias = np.linalg.qr(random.normal(size=(5, 5)))[0], random.normal(size=5)
    table = [random.normal(size=5)]
    for _ in range(99):
        table.append(law @ table[-1] + bias)
    follows = np.array(table)
    assert shift_misfit(follows, follows, k) < 1e-9
    broken = follows.copy()
    broken[43] += 1  # a position that the map is tried on
    assert shift_misfit(follows, broken, k) > 0.1


@pytest.mark.parametrize("positions", [100, 200])
def test_a_map_that_fits_anything_tells_nothing(positions: int) -> None:
    """100 or 200 positions of 512 random numbers: some map fits all that it is fitted on, law or no law."""
    assert math.isnan(shift_misfit(*[np.random.default_rng(0).normal(size=(positions, 512))] * 2))
    waves = encoding("sinusoidal", positions, 512)  # these, though, have fewer independent numbers than positions
    assert shift_misfit(waves, waves) < 1e-6


def test_a_scheme_is_made_again() -> None:
    again = np.random.default_rng(1).normal(size=RANDOM.shape)
    apart = np.mean(np.linalg.norm(RANDOM - again, axis=1)) / np.mean(np.linalg.norm(RANDOM, axis=1))
    assert properties(RANDOM, None, again).again == pytest.approx(apart) and apart > 1
    assert properties(RANDOM, None, RANDOM).again == 0
    assert properties(RANDOM, None).again is None


# ---- the formula, and why it has both functions ----


@pytest.mark.parametrize(("d_model", "base"), [(6, 10_000.0), (256, 10_000.0), (512, 100.0)])
def test_an_entry_is_the_number_of_the_models_table(d_model: int, base: float) -> None:
    table = sinusoidal(60, d_model, base)
    for p in (0, 1, 37, 59):
        for dim in (0, 1, d_model // 2, d_model - 1):
            one = entry(p, dim, d_model, base)
            assert one.value == pytest.approx(table[p, dim].item(), abs=1e-6)
            by_hand = math.cos if dim % 2 else math.sin
            assert one.value == pytest.approx(by_hand(one.angle), abs=1e-9)
            assert one.angle == pytest.approx(p * math.exp(-2 * (dim // 2) / d_model * math.log(base)))
            assert (one.function, one.pair) == (by_hand.__name__, dim // 2)
    with pytest.raises(ValueError, match=f"choose one from 0 to {d_model - 1}"):
        entry(0, d_model, d_model)


def test_exp_and_log_are_the_power_up_to_rounding() -> None:
    assert exp_log_difference(512, dtype=np.float64) < 1e-13
    assert 0 < exp_log_difference(512) < 1e-5


@pytest.mark.parametrize(("scheme", "here", "there"), [("sine", 0, 10), ("cosine", 5, 15)])
def test_one_function_alone_has_two_positions_alike_that_go_on_differently(scheme: str, here: int, there: int) -> None:
    found = find_equal_positions(scheme, 1, 2 * np.pi / 20, 20)
    assert found is not None and found.positions == (here, there)
    assert found.now == pytest.approx((0, 0))
    assert sorted(found.later) == pytest.approx([-math.sin(math.pi / 10), math.sin(math.pi / 10)])
    assert sorted(found.other) == pytest.approx([-1, 1])
    # Half a turn is -1 times the number: one matrix for all.
    assert find_equal_positions(scheme, 10, 2 * np.pi / 20, 20) is None
    assert find_equal_positions(scheme, 1, 1.0, 20) is None  # no two positions are the same
    assert measured(scheme, 1_000, 128).misfit > 0.5


def test_one_function_alone_is_half_of_the_sinusoid() -> None:
    both = encoding("sinusoidal", 50, 16)
    assert encoding("sine", 50, 8) == pytest.approx(both[:, 0::2])
    assert encoding("cosine", 50, 8) == pytest.approx(both[:, 1::2])


@pytest.mark.parametrize("base", [10, 10_000])
def test_what_a_base_does_is_what_its_table_shows(base: float) -> None:
    effects = base_effects(64, base)
    table = encoding("sinusoidal", 300, 64, base)
    assert effects.similarities == pytest.approx([similarity(table, 150)[150 + k] for k in DISTANCES])
    # A wave that turns less than a tenth of a circle: its hand stays within 36 degrees of where it began.
    hands = table[: LONG_SENTENCE_POSITIONS + 1].reshape(LONG_SENTENCE_POSITIONS + 1, 32, 2)
    still = (np.einsum("npk,pk->np", hands, hands[0]) > math.cos(0.2 * math.pi)).all(0)
    assert effects.still == still.mean()
    assert effects.slowest == pytest.approx(2 * math.pi * base ** (62 / 64))


def test_the_paper_s_base_leaves_about_half_of_the_waves_something_to_do() -> None:
    by_base = {base: base_effects(256, base) for base in (100, 10_000, 1_000_000)}
    assert by_base[100].still == 0 and by_base[10_000].still < 0.5 < by_base[1_000_000].still
    assert by_base[100].similarities[1] < 0.4 < by_base[10_000].similarities[1]
