"""The downloads of a picture, and the facts that it states: in the picture, and in the name of its file."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from headlight.charts.typeset import pdf, png, undrawn
from headlight.graphemes import columns, shortened
from headlight.language import gettext, translatable
from transformer import Translator
from ui.state.queue import in_turn
from ui.widgets.text import literal

Make = Callable[[], str | bytes]
_FONTS = translatable(
    "Letters are drawn with the fonts of the computer that serves this page. A script that it has no font for comes "
    "out as boxes."
)
_MAX_COLUMNS = 48  # columns of a sentence in the name of a file


def figure_buttons(draw: Callable[[str], str], title: str, facts: Mapping[str, str], stem: str) -> None:
    """Draw buttons for a picture as PNG, SVG and PDF.

    `draw` makes its SVG in a theme, and `stem` begins the names of the files. Slides have the theme of the page; what
    is printed stands on white.
    """
    theme = st.context.theme.type or "light"
    about = "; ".join(f"{name}: {text}" for name, text in facts.items())
    fonts, paper = gettext(_FONTS), partial(draw, "light")
    download(gettext("PNG, for slides"), lambda: png(draw(theme)), f"{stem}.png", "image/png", fonts)
    download(gettext("PDF, for a paper"), lambda: pdf(paper(), title, about), f"{stem}.pdf", "application/pdf", fonts)
    download(gettext("SVG, for print"), paper, f"{stem}.svg", "image/svg+xml")
    if missing := undrawn("".join(facts.values())):
        letters = ", ".join(gettext("“{text}”", text=literal(letter)) for letter in missing[:4])
        if missing[4:]:
            letters = gettext("{letters} and others", letters=letters)
        text = gettext(
            "The computer that serves this page has no font for {letters}: in the PNG and the PDF they are boxes. Take "
            "the SVG, which is drawn with the fonts of whoever opens it, or install a font there.",
            letters=letters,
        )
        st.caption(f":material/info: {text}")


def download(label: str, make: Make, name: str, mime: str, help: str | None = None) -> None:
    """Draw a button that writes a file when it is pressed."""
    make = in_turn(make, label)
    st.download_button(label, make, name, mime, on_click="ignore", width="stretch", key=f"download-{mime}", help=help)


def sentence_facts(name: str, model: Translator, text: str, translation: str) -> dict[str, str]:
    """Return the model, the sentence and its translation: name to text."""
    about = {gettext("Model"): model_name(name, model)}
    source, target = (str(model.card.get(side) or "") for side in ("source", "target"))  # both may be of one language
    about[gettext("Source ({language})", language=gettext(source)) if source else gettext("Source")] = text
    about[gettext("Target ({language})", language=gettext(target)) if target else gettext("Target")] = translation
    return about


def model_name(name: str, model: Translator) -> str:
    """Return a model's title and, since two may have the same, the name of its folder."""
    title = gettext(str(model.card.get("title") or " ")).strip()
    return f"{title} ({name})" if title else name


def file_stem(*parts: str) -> str:
    """Return the beginning of a file's name: its content, such as the model, the picture and the sentence.

    Letters and digits of any script stay; a long sentence ends after a word.
    """
    return "-".join(filter(None, map(_file_name_part, parts))) or "headlight"


def _file_name_part(part: str) -> str:
    # Marks belong to letters: without them a word of Hindi is another.
    readable = "".join(c if unicodedata.category(c)[0] in "LNM" else " " for c in unicodedata.normalize("NFC", part))
    words = readable.split()
    while len(words) > 1 and columns("-".join(words)) > _MAX_COLUMNS:
        words.pop()
    return shortened("-".join(words), _MAX_COLUMNS).removesuffix("…")
