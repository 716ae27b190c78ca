"""The Heads page: which head does what?

Every head of a model, measured over a corpus, now and during its training.
"""

from ui.heads.body import body
from ui.heads.view import HeadsView
from ui.widgets.frame import page

with page(HeadsView, "Heads", "Which head does what, how surely, and since when?") as opened:
    body(opened.name, opened.model, opened.view, opened.actions)
