"""How many classes one visitor of a public server may have at a time."""

from __future__ import annotations

from threading import Lock

from server.classroom.classes import Classes
from server.classroom.store import Full

MAX_CLASSES_PER_VISITOR = 2


class Quota:
    """Counts the classes that each address started in this process.

    Addresses are kept in memory alone, while one of their classes goes on: the store knows nobody's.
    """

    def __init__(self) -> None:
        self.codes: dict[str, set[str]] = {}  # of the classes that each address has started
        self.lock = Lock()

    def start(self, classes: Classes, title: str, address: str) -> tuple[str, str]:
        """Starts a class as `Classes.start` does. Raises Full where the address has too many."""
        with self.lock:
            started = [code for codes in self.codes.values() for code in codes]
            alive = classes.store.versions(started).keys() if started else set()
            self.codes = {who: codes & alive for who, codes in self.codes.items() if codes & alive}
            if len(self.codes.get(address, ())) >= MAX_CLASSES_PER_VISITOR:
                raise Full(
                    f"There are {MAX_CLASSES_PER_VISITOR} classes from your network on this public server already. End "
                    "one of them first; a class in which nobody does anything ends by itself after two hours."
                )
            code, secret = classes.start(title)
            self.codes.setdefault(address, set()).add(code)
        return code, secret
