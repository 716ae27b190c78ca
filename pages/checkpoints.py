"""What is inside this model, and can I open mine? The shelf, one model, two models, and one from elsewhere."""

from ui.checkpoints.body import back_button, body
from ui.checkpoints.view import CheckpointsView
from ui.widgets.frame import frame, heading

with frame(CheckpointsView) as view:
    with heading("Checkpoints", "What is inside this model, and can I open mine?"):
        back_button(view)
    body(view)
