"""Plain text for Markdown."""

from __future__ import annotations

from headlight.graphemes import isolated

MARKUP = frozenset(r"\`*_{}[]()#+-.!|<>~$:^&")


def literal(text: str) -> str:
    """Return typed text for Markdown: nothing in it is markup, and it may run another way than its surroundings."""
    return isolated("".join(f"\\{c}" if c in MARKUP else c for c in text))
