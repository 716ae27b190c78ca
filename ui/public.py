"""A public demonstration: everything can be looked at, and nothing is brought, trained or deleted.

HEADLIGHT_PUBLIC=1 makes it one. What this hides is refused by the library as well (`resources.confine_public`), for a
page is not the only one who can ask.
"""

from __future__ import annotations

import os
import re

from transformer.access import REFUSAL

# An absolute path up to its last name; the address of a page is none.
_PLACE = re.compile(r"(?<![\w.:/])/(?:[^\s/'\":,;()]+/)*(?=[\w.])")


def public() -> bool:
    return os.environ.get("HEADLIGHT_PUBLIC", "") not in ("", "0")


def private_only() -> None:
    """Raises ValueError in a public demonstration."""
    if public():
        raise ValueError(REFUSAL)


def without_places(text: str) -> str:
    """A text that may name files, as strangers may read it: in a public demonstration, the files without their
    folders."""
    return _PLACE.sub("", text) if public() else text
