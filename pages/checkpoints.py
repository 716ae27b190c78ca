"""What is inside this model, and can I open mine? The shelf, one model, two models, and one from elsewhere."""

from ui.checkpoints.body import body, heading
from ui.checkpoints.view import CheckpointsView
from ui.widgets.frame import page_without_model

QUESTION = "What is inside this model, and can I open mine?"

with page_without_model(CheckpointsView, "Checkpoints", QUESTION) as (view, actions):
    with actions:
        heading(view)
    body(view)
