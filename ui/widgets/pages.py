"""The pages of the app, in the order of the navigation."""

from __future__ import annotations

from typing import NamedTuple


class PageEntry(NamedTuple):
    """`of_model` where it shows one model, which other pages can open there."""

    title: str
    script: str
    icon: str
    of_model: bool


PAGES = (
    PageEntry("Attention", "pages/attention.py", ":material/grid_view:", True),
    PageEntry("Lessons", "pages/lessons.py", ":material/menu_book:", False),
    PageEntry("Decoding", "pages/decoding.py", ":material/account_tree:", True),
    PageEntry("Positions", "pages/positions.py", ":material/waves:", True),
    PageEntry("Anatomy", "pages/anatomy.py", ":material/hub:", True),
    PageEntry("Training", "pages/training.py", ":material/trending_down:", False),
    PageEntry("Checkpoints", "pages/checkpoints.py", ":material/layers:", False),
    PageEntry("Heads", "pages/heads.py", ":material/psychology_alt:", True),
)
