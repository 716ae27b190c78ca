"""The code that every session runs: the page configuration, the navigation, and the requested page."""

from pathlib import Path

import streamlit as st

from ui.state import warming

warming.wait()  # before the imports below, which the warm-up thread may be doing as well

from headlight.language import ORIGINAL_LANGUAGE, gettext  # noqa: E402
from ui.state.process import prepare  # noqa: E402
from ui.state.public import confine_public  # noqa: E402
from ui.state.view import say_in, settle_language  # noqa: E402
from ui.widgets.language_choice import language_choice  # noqa: E402
from ui.widgets.pages import PAGES, plugin_pages  # noqa: E402
from ui.widgets.presenting import presenting  # noqa: E402
from ui.widgets.text import explain_terms  # noqa: E402

UI = Path(__file__).parent

confine_public()
st.set_page_config("Headlight", str(UI / "assets" / "icon.svg"), layout="wide", initial_sidebar_state=248)
prepare()
language = settle_language(st.context.locale)
first, *later = PAGES
# One step of a lesson alone, on a worksheet: no menu leads away from it.
only = st.query_params.get("only") == "1" and "lesson" in st.query_params
home = st.Page(first.script, title=gettext(first.title), icon=first.icon, url_path="", default=True)
pages = {other.title: st.Page(other.script, title=gettext(other.title), icon=other.icon) for other in later}
# The first page also answers at its name, as the other pages do.
home_by_name = st.Page(first.script, title=gettext(first.title), url_path=first.title.lower(), visibility="hidden")
plugins = [st.Page(page.draw, title=page.title, icon=page.icon, url_path=path) for path, page in plugin_pages()]
page = st.navigation([home, *pages.values(), *plugins, home_by_name], position="hidden" if only else "sidebar")
if page == home and "lesson" in st.query_params:  # the address of a lesson without its page
    st.switch_page(pages["Lessons"], query_params=st.query_params.to_dict())
alone = st.query_params.get("only") == "1" and not only  # before the page rewrites the address
st.html(UI / "widgets" / "page.css")
if st.context.theme.type == "dark":
    st.html(UI / "widgets" / "dark.css")
if not only:
    presenting()
translated = [home, home_by_name, *(pages[other.title] for other in later if other.translated)]
say_in(language if page in translated else ORIGINAL_LANGUAGE)
if not only:
    language_choice(language)
explain_terms()
if alone:
    text = "`only=1` shows one step of a lesson alone: name them, as in `/lessons?lesson=it&step=which-word&only=1`."
    st.info(text, icon=":material/info:")
page.run()
