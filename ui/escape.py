"""What people typed, for st.markdown: nothing in it is markup."""

import html


def plain(text: str) -> str:
    return "".join(f"\\{c}" if c in r"\`*_{}[]()#+-.!|<>~$:" else html.escape(c) for c in text)
