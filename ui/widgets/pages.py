"""The pages of the app, in the order of the navigation."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import streamlit as st
from streamlit.errors import StreamlitAPIException

from headlight.language import gettext, translatable
from headlight.plugins import Page, plugins, report
from ui.state.view import set_view

SCRIPTS = Path(__file__).parents[2] / "pages"


class PageEntry(NamedTuple):
    """A page of the app.

    `of_model` where it shows one model, which other pages can open there; `translated` where it is in every language.
    """

    title: str
    script: Path
    icon: str
    of_model: bool
    translated: bool = False


PAGES = (
    PageEntry(translatable("Attention"), SCRIPTS / "attention.py", ":material/grid_view:", True, translated=True),
    PageEntry(translatable("Lessons"), SCRIPTS / "lessons.py", ":material/menu_book:", False, translated=True),
    PageEntry(translatable("Decoding"), SCRIPTS / "decoding.py", ":material/account_tree:", True, translated=True),
    PageEntry(translatable("Why"), SCRIPTS / "why.py", ":material/question_exchange:", True),
    PageEntry(translatable("Positions"), SCRIPTS / "positions.py", ":material/waves:", True),
    PageEntry(translatable("Anatomy"), SCRIPTS / "anatomy.py", ":material/hub:", True),
    PageEntry(translatable("Training"), SCRIPTS / "training.py", ":material/trending_down:", False),
    PageEntry(translatable("Checkpoints"), SCRIPTS / "checkpoints.py", ":material/layers:", False),
    PageEntry(translatable("Heads"), SCRIPTS / "heads.py", ":material/psychology_alt:", True),
)


def plugin_pages() -> list[tuple[str, Page]]:
    """Return the pages of other packages, each with its address; those whose address one of ours has are left out."""
    ours, pages = {page.script.stem for page in PAGES}, list[tuple[str, Page]]()
    for plugin in plugins("headlight.pages"):
        if not isinstance(plugin.value, Page):
            report(plugin.package, f"is left out: the page {plugin.name} is no headlight.plugins.Page.")
        elif plugin.name in ours:
            report(plugin.package, f"is left out: the app has a page {plugin.name} of its own.")
        else:
            pages.append((plugin.name, plugin.value))
    return pages


def open_in(model: str) -> None:
    """Draw a button for each page that is about a model; it opens there."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="open-model"):
        st.caption(gettext("Open this model in"), width="content")
        for page in PAGES:
            name = gettext(page.title)
            if page.of_model and st.button(name, icon=page.icon, key=f"open-{page.title}", type="tertiary"):
                set_view(model=model, text=None, target=None)
                otherwise = gettext("Choose a page in the menu; it will open with {model}.", model=model)
                switch_page(page.script, otherwise)


def switch_page(script: Path, otherwise: str) -> None:
    """Open a page of the app; where the app was started without it, draw the text `otherwise`."""
    try:
        st.switch_page(script)
    except StreamlitAPIException:
        st.info(otherwise, icon=":material/info:")
