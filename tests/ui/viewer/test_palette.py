"""One palette: what the style sheets and Streamlit's configuration repeat is what colours.py says."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

from headlight.charts.colours import LESS_COLOUR, MORE_COLOUR, OKABE_ITO, THEMES, lookup

ROOT = Path(__file__).resolve().parents[3]
CONFIG = tomllib.loads((ROOT / ".streamlit/config.toml").read_text("utf-8"))["theme"]
BOTH = pytest.mark.parametrize("name", THEMES)


def variables(sheet: str, selector: str) -> dict[str, str]:
    """The colours of a rule's variables in a style sheet; of Streamlit's own variables, the default beside them."""
    text = (ROOT / f"headlight/viewer/{sheet}.css").read_text("utf-8")
    rules = re.findall(rf"^{re.escape(selector)} {{(.*?)}}", text, re.M | re.S)
    return dict(re.findall(r"--([\w-]+): (?:var\(--st-[\w-]+, )?(#[0-9a-f]{6})\)?;", " ".join(rules)))


def shades(scale: tuple[str, ...], steps: int) -> list[str]:
    return ["#{:02x}{:02x}{:02x}".format(*rgb) for rgb in lookup(scale, steps)]


@BOTH
def test_the_viewers_variables(name: str) -> None:
    theme, values = THEMES[name], variables("viewer", ".hl" if name == "light" else '.hl[data-theme="dark"]')
    expected = {"frame": theme.line, **{key: vars(theme)[key] for key in ("muted", "field", "card", "hatch")}}
    if name == "light":  # defaults: Streamlit sets them in either theme
        expected |= {"text": theme.text, "accent": theme.accent}
    assert {key: values[key] for key in expected} == expected


@BOTH
def test_the_offline_files_variables(name: str) -> None:
    theme = THEMES[name]
    values = variables("views", ".themed" if name == "light" else '.themed[data-theme="dark"]')
    tint = {"page-tint": values["page-tint"]}
    assert values == tint | {
        "st-background-color": theme.background,
        "st-text-color": theme.text,
        "st-primary-color": theme.accent,
        "page-muted": theme.muted,
        "page-frame": theme.line,
    }


def test_the_bars_below_and_above_zero() -> None:
    text = (ROOT / "headlight/viewer/anatomy.css").read_text("utf-8")
    bars = re.findall(r"^(\S*|\.hl\S* )?\.box\.(less|more) { background: (#[0-9a-f]{6})", text, re.M)
    light, dark = THEMES["light"].signed, THEMES["dark"].signed
    assert [colour for *_, colour in bars] == [light[0], light[2], dark[0]] and light[2] == dark[2]


@BOTH
def test_streamlits_theme(name: str) -> None:
    theme, given = THEMES[name], CONFIG[name]
    expected = {
        "primaryColor": theme.accent,
        "linkColor": theme.accent,
        "backgroundColor": theme.background,
        "secondaryBackgroundColor": theme.field,
        "textColor": theme.text,
        "borderColor": theme.line,
        "dataframeHeaderBackgroundColor": theme.background,
        "dataframeHeaderTextColor": theme.muted,
        "chartSequentialColors": shades(theme.sequential, 10),
        "chartDivergingColors": shades(theme.diverging, 10),
    }
    assert {key: given[key] for key in expected} == expected


@BOTH
def test_what_pages_draw_as_html(name: str) -> None:
    sheet = (ROOT / "ui/widgets/page.css").read_text("utf-8")
    pairs = re.findall(r"--theme-(\w+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", sheet)
    colours = {variable: light if name == "light" else dark for variable, light, dark in pairs}
    assert len(colours) == 7 and colours.items() <= vars(THEMES[name]).items()
    assert f"--theme-less: {LESS_COLOUR}; --theme-more: {MORE_COLOUR};" in sheet


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours by the formula of WCAG 2."""

    def luminance(colour: str) -> float:
        share = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@BOTH
def test_text_can_be_read_on_every_ground(name: str) -> None:
    """WCAG AA: 4.5 for text, 3 for what is drawn and means something."""
    theme = THEMES[name]
    dark = 'data-theme="dark"'
    tints = variables("anatomy", ".hl" if name == "light" else f".hl[{dark}]")
    grounds = {
        "background": theme.background,
        "field": theme.field,
        "card": theme.card,
        "sidebar": CONFIG[name]["sidebar"]["backgroundColor"],
        "tint": tints["tint"],
        "page tint": variables("views", ".themed" if name == "light" else f".themed[{dark}]")["page-tint"],
    }
    faint = variables("viewer", ".hl" if name == "light" else f".hl[{dark}]")["faint"]
    least = {"text": (theme.text, 4.5), "muted": (theme.muted, 4.5), "accent": (theme.accent, 4.5), "faint": (faint, 3)}
    values = {(a, b): contrast(colour, ground) for a, (colour, _) in least.items() for b, ground in grounds.items()}
    assert {pair: value for pair, value in values.items() if value < least[pair[0]][1]} == {}


def test_the_faint_colour_writes_nothing() -> None:
    """The faint colour is for lines and marks; its contrast is too low for text."""
    for path in (ROOT / "headlight/viewer").glob("*.css"):
        assert not re.search(r"[{;] *color: var\(--faint\)", path.read_text("utf-8")), path.name


def test_streamlits_charts_have_the_hues_of_the_heads() -> None:
    assert CONFIG["chartCategoricalColors"] == list(OKABE_ITO)


def test_no_script_repeats_a_colour() -> None:
    """Scripts take colours from PALETTE, which is generated from colours.py."""
    ours = set(re.findall("#[0-9a-f]{6}", str(THEMES)))
    for path in (ROOT / "headlight/viewer/js").glob("*.js"):
        repeated = ours & set(re.findall("#[0-9a-f]{6}", path.read_text("utf-8"))) - {"#ffffff"}
        assert not repeated, f"{path.name} writes {repeated} down."
