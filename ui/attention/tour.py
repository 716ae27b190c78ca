"""A tour of the first page: five coach marks that say what a head is, what its picture shows, and where to go on.

It is shown at the first visit, which the browser remembers; the button beside the title starts it again.
"""

from __future__ import annotations

import streamlit as st

from headlight.language import gettext
from headlight.viewer.scripts import style, viewer_script
from server.classroom import codes
from ui.attention.view import AttentionView

_TOUR = st.components.v2.component(
    "headlight_tour",
    html="""
<div class="guide">
  <button type="button" class="start">
    <span aria-hidden="true">explore</span><span></span>
  </button>
  <div class="tour" popover="manual" hidden>
    <div class="ring"></div>
    <div class="coach" role="dialog" aria-describedby="coach-text">
      <div id="coach-text" aria-live="polite" aria-atomic="true"><p></p><span class="count"></span></div>
      <div class="buttons">
        <button type="button" class="back"></button>
        <button type="button" class="skip"></button>
        <button type="button" class="next"></button>
      </div>
    </div>
  </div>
</div>
""",
    css=style("tour"),
    js=viewer_script("storage", "tour") + "\nexport default mountTour;\n",
)


def stops(view: AttentionView) -> list[dict[str, object]]:
    """Return the stops of the tour: CSS selectors, of which the first on the screen is pointed at, and the text."""
    head = gettext(
        "Here is the chosen square, large. A row is a token that looks, a column a token that it may look at."
    )
    if view.show == "raw":
        head += " " + gettext("The stronger a cell's colour, the more it looks there.")
    return [
        _stop(
            gettext(
                "Type a sentence here. The model reads it as tokens, which are words or parts of words, and writes one "
                "token after the other."
            ),
            '[class*="st-key-sentence-box-text"]',
        ),
        _stop(
            gettext(
                "Each little square is one head. For every token, a head decides which tokens to look at. Each row of "
                "squares is a layer: its heads work side by side."
            ),
            ".grid in .st-key-overview",
        ),
        _stop(head, ".map in .st-key-head"),
        _stop(
            gettext(
                "This sentence says what the chosen head does here. Choose another square to read what that one does."
            ),
            ".caption in .st-key-overview",
        ),
        _stop(
            gettext(
                "The menu leads on. Lessons is a good start: guess first, then look. “Show me around” starts this tour "
                "again."
            ),
            "[data-testid=stSidebarNav]",
            "[data-testid=stExpandSidebarButton]",
        ),
    ]


def _stop(text: str, *anchors: str) -> dict[str, object]:
    return {"text": text, "anchors": anchors}


def tour(view: AttentionView) -> None:
    """Draw the button, and start the tour for whoever opens the app for the first time.

    A link to something particular, a page within another and a teacher whose class is watching are not interrupted.
    """
    teaching = codes.parse(st.session_state.get("parameters", {}).get("code")) is not None
    first = not st.query_params and not st.context.is_embedded and not teaching
    words = {
        "start": gettext("Show me around"),
        "back": gettext("Back"),
        "skip": gettext("Skip"),
        "next": gettext("Next"),
        "done": gettext("Done"),
        "count": gettext("{number} of {all}"),
    }
    _TOUR(key="tour", data={"stops": stops(view), "first": first, "words": words}, width="content")
