"""Is it learning, and what does it learn first? Runs that are started, watched, steered and compared."""

from ui.page import page_without_model
from ui.public import private_only, public
from ui.training.start import form
from ui.training.steering import toggle_form
from ui.training.view import TrainingView
from ui.training.watch import watch

with page_without_model(TrainingView, "Training", "Is it learning, and what does it learn first?") as (view, actions):
    if not public():
        with actions:
            toggle_form(view)
    if view.new:
        private_only()
        form(view)
    else:
        watch(view)
