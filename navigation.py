"""What every session runs: the page configuration, the navigation, and the page that was asked for."""

from pathlib import Path

import streamlit as st

from ui.resources import confine_public, prepare

UI = Path(__file__).parent / "ui"

confine_public()
st.set_page_config("Headlight", str(UI / "assets" / "icon.svg"), layout="wide", initial_sidebar_state=248)
prepare()
page = st.navigation(
    [
        st.Page("app_pages/attention.py", title="Attention", icon=":material/grid_view:", default=True),
        st.Page("app_pages/decoding.py", title="Decoding", icon=":material/account_tree:"),
        st.Page("app_pages/positions.py", title="Positions", icon=":material/waves:"),
        st.Page("app_pages/anatomy.py", title="Anatomy", icon=":material/hub:"),
        st.Page("app_pages/training.py", title="Training", icon=":material/trending_down:"),
        st.Page("app_pages/checkpoints.py", title="Checkpoints", icon=":material/layers:"),
        st.Page("app_pages/heads.py", title="Heads", icon=":material/psychology_alt:"),
    ]
)
st.html(UI / "page.css")
if st.context.theme.type == "dark":
    st.html(UI / "dark.css")
page.run()
