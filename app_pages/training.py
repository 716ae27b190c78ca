"""Is it learning, and what does it learn first? Runs that are started, watched, steered and compared."""

from ui.page import page_without_model
from ui.training.start import form
from ui.training.steering import toggle_form
from ui.training.view import TrainingView
from ui.training.watch import watch

with page_without_model(TrainingView, "Training", "Is it learning, and what does it learn first?") as (view, actions):
    with actions:
        toggle_form(view)
    if view.new:
        form(view)
    else:
        watch(view)
