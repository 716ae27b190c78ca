"""Headlight: see what every head of a transformer looks at. `streamlit run app.py` opens it.

This file decides who is answered, before Streamlit sees a request; ui/navigation.py builds the pages.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st

from server import guards, open_browser, routes
from server.process import prepare_process
from ui.state import warming
from ui.state.public import confine_public, public


def imports() -> None:
    """Import what every page needs."""
    # Imported late, when the server answers: torch alone takes a second and a half.
    from ui.state.process import prepare

    confine_public()
    prepare()
    import ui.attention.waiting_example  # noqa: F401 - it imports all that the first page needs


def example() -> None:
    """Prepare the example that the first page shows while a visitor's own sentence waits in the queue."""
    from ui.attention.waiting_example import prepare_example
    from ui.state.models import model_names

    for first in model_names()[:1]:
        prepare_example(first)


@asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[None]:
    async with open_browser(app):
        warming.begin(imports, example)
        yield


prepare_process()
app = st.App("ui/navigation.py", routes=routes(), middleware=guards(public()), lifespan=lifespan)
