"""The viewer in a notebook: `show` of a trace, or of any model's attention as arrays."""

from headlight.notebook.show import show
from headlight.notebook.view import Selected, View

__all__ = ["Selected", "View", "show"]
