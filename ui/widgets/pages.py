"""The pages of the app, in the order of the navigation."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

SCRIPTS = Path(__file__).parents[2] / "pages"


class PageEntry(NamedTuple):
    """`of_model` where it shows one model, which other pages can open there."""

    title: str
    script: Path
    icon: str
    of_model: bool


PAGES = (
    PageEntry("Attention", SCRIPTS / "attention.py", ":material/grid_view:", True),
    PageEntry("Lessons", SCRIPTS / "lessons.py", ":material/menu_book:", False),
    PageEntry("Decoding", SCRIPTS / "decoding.py", ":material/account_tree:", True),
    PageEntry("Why", SCRIPTS / "why.py", ":material/question_exchange:", True),
    PageEntry("Positions", SCRIPTS / "positions.py", ":material/waves:", True),
    PageEntry("Anatomy", SCRIPTS / "anatomy.py", ":material/hub:", True),
    PageEntry("Training", SCRIPTS / "training.py", ":material/trending_down:", False),
    PageEntry("Checkpoints", SCRIPTS / "checkpoints.py", ":material/layers:", False),
    PageEntry("Heads", SCRIPTS / "heads.py", ":material/psychology_alt:", True),
)
