"""The Training page's own components: the list of runs, the curves, the film strip and the translations.

The last three tell each other, in the browser, which step is looked at.
"""

from __future__ import annotations

from ui.viewer.component import component

RUNS = component("runs", "mountRuns", "shared", "icons", "training", "runs", styles=("training",))
CURVES = component("curves", "mountCurves", "shared", "icons", "training", "curves", styles=("training",))
FILM = component("film", "mountFilm", "shared", "icons", "training", "film", styles=("training",))
WRITES = component("writes", "mountWrites", "shared", "icons", "training", "writes", styles=("training",))
