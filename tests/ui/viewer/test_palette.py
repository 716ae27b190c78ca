"""One palette: what the style sheets and Streamlit's configuration repeat is what colours.py says."""

import re
import tomllib
from pathlib import Path

import pytest

from transformer.charts.colours import OKABE_ITO, THEMES, lookup

ROOT = Path(__file__).resolve().parents[3]
CONFIG = tomllib.loads((ROOT / ".streamlit/config.toml").read_text("utf-8"))["theme"]
BOTH = pytest.mark.parametrize("name", THEMES)


def variables(sheet: str, selector: str) -> dict[str, str]:
    """The colours of a rule's variables in a style sheet; of Streamlit's own variables, the default beside them."""
    text = (ROOT / f"ui/viewer/{sheet}.css").read_text("utf-8")
    rules = re.findall(rf"^{re.escape(selector)} {{(.*?)}}", text, re.M | re.S)
    return dict(re.findall(r"--([\w-]+): (?:var\(--st-[\w-]+, )?(#[0-9a-f]{6})\)?;", " ".join(rules)))


def shades(scale: tuple[str, ...], steps: int) -> list[str]:
    return ["#{:02x}{:02x}{:02x}".format(*rgb) for rgb in lookup(scale, steps)]


@BOTH
def test_the_viewers_variables(name: str) -> None:
    theme, found = THEMES[name], variables("viewer", ".hl" if name == "light" else '.hl[data-theme="dark"]')
    expected = {"frame": theme.line, **{key: vars(theme)[key] for key in ("muted", "field", "card", "hatch")}}
    if name == "light":  # defaults: Streamlit sets them in either theme
        expected |= {"text": theme.text, "accent": theme.accent}
    assert {key: found[key] for key in expected} == expected


@BOTH
def test_the_offline_files_variables(name: str) -> None:
    theme = THEMES[name]
    found = variables("page", ":root" if name == "light" else ':root[data-theme="dark"]')
    tint = {"page-tint": found["page-tint"]}
    assert found == tint | {
        "st-background-color": theme.background,
        "st-text-color": theme.text,
        "st-primary-color": theme.accent,
        "page-muted": theme.muted,
        "page-frame": theme.line,
    }


def test_the_bars_below_and_above_zero() -> None:
    text = (ROOT / "ui/viewer/anatomy.css").read_text("utf-8")
    found = re.findall(r"^(\S*|\.hl\S* )?\.box\.(less|more) { background: (#[0-9a-f]{6})", text, re.M)
    light, dark = THEMES["light"].signed, THEMES["dark"].signed
    assert [colour for *_, colour in found] == [light[0], light[2], dark[0]] and light[2] == dark[2]


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


def test_streamlits_charts_have_the_hues_of_the_heads() -> None:
    assert CONFIG["chartCategoricalColors"] == list(OKABE_ITO)


def test_no_script_repeats_a_colour() -> None:
    """They take them from PALETTE, which is colours.py itself."""
    ours = set(re.findall("#[0-9a-f]{6}", str(THEMES)))
    for path in (ROOT / "ui/viewer/js").glob("*.js"):
        repeated = ours & set(re.findall("#[0-9a-f]{6}", path.read_text("utf-8"))) - {"#ffffff"}
        assert not repeated, f"{path.name} writes {repeated} down."
