"""The views as HTML that is saved with the notebook, and the widget's module; both contain the same script."""

from __future__ import annotations

import base64
import json
from functools import cache
from html import escape

import numpy as np

from headlight.charts.colours import THEMES, thumbnail
from headlight.viewer.scripts import VIEWS, style, viewer_script
from transformer.quoting import short
from transformer.trace import Kind, Trace

_PICTURE_PIXELS = 320  # of the fallback picture, for where no script runs


@cache
def _viewer() -> str:
    """Return the script of a function that creates a separate viewer, so that cells share no state."""
    look = json.dumps(style("cell") + style("views") + style("viewer"))
    code = viewer_script(*VIEWS, "cell", shared_on="{}")
    return f"const viewer = () => {{\nconst CELL_STYLE = {look};\n{code}\nreturn {{ drawSaved, drawWidget }};\n}};\n"


@cache
def widget_module() -> str:
    """Return the widget, as anywidget loads it."""
    return f"{_viewer()}export default {{ render: given => viewer().drawWidget(given) }};\n"


def saved_html(id: str, payload: bytes, trace: Trace, selected: tuple[Kind, int, int]) -> str:
    """Return the HTML that draws the views without a kernel; `id` is that of the widget that may replace them.

    Without scripts it shows the selected head as a picture. With them it hides the output of a widget that draws
    nothing or was not found.
    """
    saved = f"[data-headlight-saved={json.dumps(id)}]:not([hidden])"
    rule = f".jp-OutputArea-child:has({saved}) + .jp-OutputArea-child {{ display: none; }}"
    data = base64.b64encode(payload).decode("ascii")
    return (
        f'<div data-headlight-saved="{escape(id)}">{_picture(trace, *selected)}</div>\n'
        f"<style>{rule}</style>\n"
        f"<script>(() => {{\n{_viewer()}viewer().drawSaved({json.dumps(id)}, {json.dumps(data)});\n}})();</script>"
    )


def _picture(trace: Trace, kind: Kind, layer: int, head: int) -> str:
    """Return one head as a picture that needs no script."""
    weights = trace.pattern(kind)[layer, head]
    cell = max(1, _PICTURE_PIXELS // max(weights.shape))
    large = np.kron(weights, np.ones((cell, cell)))  # a browser would blur what it has to enlarge
    image = thumbnail(large, THEMES["light"].sequential, 0, max(1.0, float(weights.max())))
    title = f"{kind.capitalize()} attention, layer {layer + 1}, head {head + 1}"
    sides = (("Rows", trace.rows(kind)), ("Columns", trace.columns(kind)))
    tokens = ". ".join(f"{side}: {short(' '.join(labels))}" for side, labels in sides)
    return (
        f"<p>{title}. To see every head, run this cell, or open the notebook where its scripts may run.</p>"
        f'<img alt="{title}" src="data:image/png;base64,{base64.b64encode(image).decode("ascii")}">'
        f"<p>{escape(tokens)}</p>"
    )
