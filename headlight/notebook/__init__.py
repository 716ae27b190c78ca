"""The viewer in a notebook: `show` of a trace, or of any model's attention as arrays."""

from transformer.extras import require_package

require_package("anywidget", "A view in a notebook")

from headlight.notebook.view import Selected, View, show  # noqa: E402

__all__ = ["Selected", "View", "show"]
