"""A file that will not be opened, and why."""

from __future__ import annotations


class Refused(ValueError):
    """One sentence that says what is wrong, what was found, and what to do about it."""

    def __init__(self, what: str, facts: tuple[tuple[str, str], ...] = (), remedy: str = "", command: str = ""):
        """`facts` are such as ("Found at", "byte 61"); `command` is what a person may copy to make the file one
        that opens."""
        super().__init__(" ".join(part for part in (what, remedy) if part))
        self.what, self.facts, self.remedy, self.command = what, facts, remedy, command
