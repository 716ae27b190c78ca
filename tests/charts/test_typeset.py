"""The PDF of a picture: its size, its words as text, its fonts inside; and its PNG."""

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pypdf
import pytest
import typst
from PIL import Image

from headlight.charts import typeset
from headlight.charts.labels import FONTS
from headlight.charts.svg import HeadBlock, patterns_svg
from headlight.charts.typeset import pdf, png


def page(rows: list[str], title: str = "Heads", facts: dict[str, str] | None = None) -> tuple[Any, pypdf.PdfReader]:
    weights = np.eye(len(rows))[None, None]
    drawing = patterns_svg(
        [HeadBlock("", weights, rows, rows, np.zeros(weights.shape[2:], bool))], title=title, facts=facts or {}
    )
    size = [float(drawing.split(f'{side}="')[1].split('"')[0]) for side in ("width", "height")]
    reader = pypdf.PdfReader(io.BytesIO(pdf(drawing, title, "Model: small")))
    assert len(reader.pages) == 1
    assert np.allclose([float(v) * 4 / 3 for v in reader.pages[0].mediabox[2:]], size, atol=1)
    return reader.pages[0], reader


def fonts(sheet: Any) -> list[str]:
    return [str(font.get_object()["/BaseFont"]) for font in sheet["/Resources"]["/Font"].values()]


def test_words_are_text_and_fonts_are_inside() -> None:
    sheet, reader = page(["A", "girl", "sits"], "Cross-attention", {"English": "A girl sits"})
    text = sheet.extract_text()
    for word in ("Cross-attention", "English: A girl sits", "girl", "looks at (key)", "token that looks (query)"):
        assert word in text
    assert reader.metadata is not None and reader.metadata.title == "Cross-attention"
    assert fonts(sheet) and all("+" in font for font in fonts(sheet))  # a prefix says that a font is embedded, in part


def test_hindi_has_its_letters_on_any_machine() -> None:
    sheet, _ = page(["लड़की", "है"], "Cross-attention", {"Hindi": "पिज़्ज़ा पसंद है।"})
    assert any("NotoSansDevanagari" in font for font in fonts(sheet))
    assert "\x00" not in sheet.extract_text()


def test_the_mark_of_a_space_is_the_apps_own() -> None:
    """In other fonts it is as wide and black as a rule."""
    sheet, _ = page(["\u2581girl", "is"])
    assert any("HeadlightMarks" in font for font in fonts(sheet))


@pytest.fixture
def own_fonts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use the fonts that ship and Typst's own, whatever fonts the machine has."""
    fonts = typst.Fonts(include_system_fonts=False, font_paths=[str(FONTS)])
    monkeypatch.setattr(typeset, "_fonts", lambda: fonts)
    typeset._first_undrawn.cache_clear()
    yield
    typeset._first_undrawn.cache_clear()


@pytest.mark.usefixtures("own_fonts")
def test_letters_without_a_font_are_named_one_of_each_script() -> None:
    assert typeset.undrawn("Déjà vu: книга, लड़की, βιβλίο") == []
    assert typeset.undrawn("a 汉字 नमस्ते ที่นี่") == ["汉", "ที่"]
    family, keycap = "👨\u200d👩\u200d👧\u200d👦", "1\ufe0f\u20e3"
    assert typeset.undrawn(f"{family}1") == [family]
    assert typeset.undrawn(keycap) == [keycap]


@pytest.mark.usefixtures("own_fonts")
def test_a_letter_without_a_font_is_a_box_and_no_other_letter() -> None:
    def image(word: str) -> np.ndarray:
        block = HeadBlock("", np.zeros((1, 1, 1, 1)), [word], ["x"], np.zeros((1, 1), bool))
        return np.asarray(Image.open(io.BytesIO(png(patterns_svg([block], title="", facts={})))))

    assert np.array_equal(image("汉"), image("字"))
    assert not np.array_equal(image("汉"), image("\u3000"))  # a space as wide


def test_a_png_has_the_same_letters_at_twice_the_size() -> None:
    weights = np.zeros((1, 1, 1, 1))
    images = []
    for word in ("है", "हो", "है"):  # as boxes, they would look the same
        block = HeadBlock("", weights, [word], ["x"], np.zeros((1, 1), bool))
        images.append(np.asarray(Image.open(io.BytesIO(png(patterns_svg([block], title="", facts={"Model": "m"}))))))
    drawing = patterns_svg([block], title="", facts={"Model": "m"})
    size = [2 * float(drawing.split(f'{side}="')[1].split('"')[0]) for side in ("height", "width")]
    assert list(images[0].shape[:2]) == size
    assert np.array_equal(images[0], images[2]) and not np.array_equal(images[0], images[1])


def test_nothing_in_a_token_is_code() -> None:
    hostile = ['#read("main")', "$x$", "*bold*", "</text>", "@cite <label>", '"; panic()']
    text = page(hostile, hostile[0], {"English": " ".join(hostile)})[0].extract_text()
    for token in hostile:
        assert token in text
