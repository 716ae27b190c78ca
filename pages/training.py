"""The Training page: is it learning, and what does it learn first?

Runs are started, watched, steered and compared.
"""

import streamlit as st

from transformer.access import REFUSAL
from ui.state.public import public
from ui.training.precision import precision_picture
from ui.training.start import form
from ui.training.steering import toggle_form
from ui.training.view import TrainingView
from ui.training.watch import watch
from ui.widgets.frame import frame, heading

with frame(TrainingView) as view:
    actions = heading("Training", "Is it learning, and what does it learn first?")
    if not public():
        with actions:
            toggle_form(view)
    if view.new and not public():
        form(view)
    else:
        if view.new:  # an address from elsewhere, where there is still something to look at
            st.info(REFUSAL, icon=":material/info:")
        watch(view)
    precision_picture()
