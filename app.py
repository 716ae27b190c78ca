"""Headlight: see what every head of a transformer looks at. `streamlit run app.py` opens it."""

from pathlib import Path

import streamlit as st

from ui.resources import prepare
from ui.sidebar import sidebar

ROOT = Path(__file__).parent

st.set_page_config(page_title="Headlight", page_icon=str(ROOT / "ui" / "assets" / "icon.svg"), layout="wide", initial_sidebar_state=248)
prepare()
page = st.navigation(
    [st.Page("pages/attention.py", title="Attention", icon=":material/grid_view:", default=True)],
)
st.html(ROOT / "ui" / "page.css")
sidebar()
page.run()
