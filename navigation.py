"""What every session runs: the page configuration, the navigation, and the page that was asked for."""

from pathlib import Path

import streamlit as st

from ui.state.models import confine_public, prepare

UI = Path(__file__).parent / "ui"

confine_public()
st.set_page_config("Headlight", str(UI / "assets" / "icon.svg"), layout="wide", initial_sidebar_state=248)
prepare()
page = st.navigation(
    [
        st.Page("pages/attention.py", title="Attention", icon=":material/grid_view:", url_path="", default=True),
        st.Page("pages/decoding.py", title="Decoding", icon=":material/account_tree:"),
        st.Page("pages/positions.py", title="Positions", icon=":material/waves:"),
        st.Page("pages/anatomy.py", title="Anatomy", icon=":material/hub:"),
        st.Page("pages/training.py", title="Training", icon=":material/trending_down:"),
        st.Page("pages/checkpoints.py", title="Checkpoints", icon=":material/layers:"),
        st.Page("pages/heads.py", title="Heads", icon=":material/psychology_alt:"),
        # The first page by its name as well: whoever knows the other addresses would try it.
        st.Page("pages/attention.py", title="Attention", url_path="attention", visibility="hidden"),
    ]
)
st.html(UI / "widgets" / "page.css")
if st.context.theme.type == "dark":
    st.html(UI / "widgets" / "dark.css")
page.run()
