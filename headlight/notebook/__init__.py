"""The viewer in a notebook: `show` of a trace, or of any model's attention as arrays."""

try:
    from headlight.notebook.show import show
    from headlight.notebook.view import Selected, View
except ModuleNotFoundError as missing:
    if missing.name not in ("anywidget", "IPython", "traitlets"):
        raise
    raise ModuleNotFoundError(
        f'A view in a notebook needs {missing.name}: pip install "headlight-attention[notebook]".', name=missing.name
    ) from None

__all__ = ["Selected", "View", "show"]
