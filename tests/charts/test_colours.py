"""The colour scales: their lightness, how far colours are apart, and a thumbnail's pixels."""

import io
import re

import numpy as np
import pytest
from PIL import Image

from headlight.charts.colours import OKABE_ITO, THEMES, Theme, lookup, theme_named, thumbnail

BOTH = pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES.keys())


def lightness(rgb: np.ndarray) -> np.ndarray:
    """CIE L* (0 black, 100 white) of uint8 sRGB rows."""
    share = rgb / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    return np.where(luminance > 216 / 24389, 116 * np.cbrt(luminance) - 16, luminance * 24389 / 27)


@BOTH
def test_a_larger_weight_is_always_further_from_the_background_in_lightness(theme: Theme) -> None:
    steps = np.diff(lightness(lookup(theme.sequential, 65)))
    assert (steps < 0).all() or (steps > 0).all()


@BOTH
def test_a_sequential_scale_spans_most_of_the_lightness_there_is(theme: Theme) -> None:
    first, last = lightness(lookup(theme.sequential)[[0, -1]])
    assert abs(last - first) > 75


@BOTH
def test_zero_is_the_background(theme: Theme) -> None:
    assert theme.sequential[0] == theme.background


@BOTH
def test_lookup_runs_through_every_colour_of_the_scale(theme: Theme) -> None:
    table = lookup(theme.sequential, 4 * 10 + 1)
    assert table.dtype == np.uint8
    assert ["#{:02x}{:02x}{:02x}".format(*rgb) for rgb in table[::10]] == list(theme.sequential)


@BOTH
def test_less_and_more_are_equally_far_from_no_difference(theme: Theme) -> None:
    assert len(theme.diverging) == 3
    assert len(set(theme.diverging)) == 3


def test_the_heads_colours_are_eight_different_ones() -> None:
    assert len(set(OKABE_ITO)) == 8
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in OKABE_ITO)


def test_an_unknown_theme_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="'sepia'.*light, dark"):
        theme_named("sepia")


def test_each_pixel_is_the_colour_of_its_number() -> None:
    values = np.array([[-1.0, 0.0, 1.0], [0.5, -2.0, 2.0]])
    scale = THEMES["light"].diverging
    image = np.asarray(Image.open(io.BytesIO(thumbnail(values, scale, -1, 1))))
    table = lookup(scale)
    at = np.rint(255 * (np.clip(values, -1, 1) + 1) / 2).astype(int)
    assert np.array_equal(image, table[at])
