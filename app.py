"""Headlight: see what every head of a transformer looks at. `streamlit run app.py` opens it.

What it shows begins in navigation.py. Here stands who is answered, before Streamlit hears of a request.
"""

import streamlit as st

from server import guards, open_browser, routes
from ui.state.public import public
from ui.state.streamlit_internals import ignore_pages_folder

ignore_pages_folder()
app = st.App("navigation.py", routes=routes(), middleware=guards(public()), lifespan=open_browser)
