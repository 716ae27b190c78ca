"""A public demonstration: everything can be looked at, and nothing is brought, trained or deleted.

HEADLIGHT_PUBLIC=1 makes it one. What this hides is refused as well, for a page is not the only one who can ask.
"""

from __future__ import annotations

import os


def public() -> bool:
    return os.environ.get("HEADLIGHT_PUBLIC", "") not in ("", "0")


def private_only() -> None:
    """Raises ValueError in a public demonstration."""
    if public():
        raise ValueError("This is a public demonstration: models are looked at here, not trained, imported or deleted.")
