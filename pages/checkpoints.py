"""The Checkpoints page: what is inside this model, and can I open mine?

It lists all models, shows one, compares two, and imports others.
"""

from ui.checkpoints.body import back_button, body
from ui.checkpoints.view import CheckpointsView
from ui.widgets.frame import frame, heading

with frame(CheckpointsView) as view:
    with heading("Checkpoints", "What is inside this model, and can I open mine?"):
        back_button(view)
    body(view)
