"""What every session runs: the page configuration, the navigation, and the page that was asked for."""

from pathlib import Path

import streamlit as st

from ui.state import warming

warming.wait()  # before the imports below: the thread that warms up is perhaps amid them

from ui.state.models import confine_public, prepare  # noqa: E402
from ui.widgets.pages import PAGES  # noqa: E402
from ui.widgets.presenting import presenting  # noqa: E402

UI = Path(__file__).parent / "ui"

confine_public()
st.set_page_config("Headlight", str(UI / "assets" / "icon.svg"), layout="wide", initial_sidebar_state=248)
prepare()
first, *others = PAGES
# One step of a lesson alone, on a worksheet: no menu leads away from it.
only = st.query_params.get("only") == "1" and "lesson" in st.query_params
page = st.navigation(
    [
        st.Page(first.script, title=first.title, icon=first.icon, url_path="", default=True),
        *(st.Page(other.script, title=other.title, icon=other.icon) for other in others),
        # The first page by its name as well: whoever knows the other addresses would try it.
        st.Page(first.script, title=first.title, url_path=first.title.lower(), visibility="hidden"),
    ],
    position="hidden" if only else "sidebar",
)
st.html(UI / "widgets" / "page.css")
if st.context.theme.type == "dark":
    st.html(UI / "widgets" / "dark.css")
if not only:
    presenting()
page.run()
