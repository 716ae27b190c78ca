from ui.widgets.text import literal


def test_what_was_typed_is_no_markup_and_changes_no_order_around_it() -> None:
    """A Hebrew word before a number drew the number to its other side."""
    assert literal("*a* [b](c)") == r"\*a\* \[b\]\(c\)"
    assert literal("עברית*") == "\u2068עברית\\*\u2069"
