from ui.widgets.table import Cell, Html, Setting, bar, settings_html, table_html

HOSTILE = '<b title="x">'


def test_text_is_escaped_and_markup_is_not() -> None:
    drawn = table_html("t", [(HOSTILE, Html("<i>so</i>"))], (HOSTILE, Cell(HOSTILE, title=HOSTILE)), scrolls=HOSTILE)
    assert "<b" not in drawn and drawn.count("&lt;b title=&quot;x&quot;&gt;") == 5 and "<i>so</i>" in drawn


def test_headers_have_their_scope_and_empty_corners_are_none() -> None:
    drawn = table_html("t", [("a", "1"), ("b", "2")], ("", "n"), numbers=(1,))
    assert drawn == (
        '<div class="data-table t"><table><thead><tr><td></td><th scope="col" class="number">n</th></tr></thead>'
        '<tbody><tr><th scope="row">a</th><td class="number">1</td></tr>'
        '<tr><th scope="row">b</th><td class="number">2</td></tr></tbody></table></div>'
    )


def test_a_table_that_scrolls_is_reached_by_the_keyboard_and_may_run_leftwards() -> None:
    drawn = table_html("t", [("a", bar(0.5, "red"))], scrolls="Costs", direction="rtl")
    assert 'tabindex="0" role="region" aria-label="Costs"' in drawn and '<table dir="rtl">' in drawn
    assert 'aria-hidden="true" style="width:50.00%;background:red"' in drawn


def test_settings_that_differ_are_marked() -> None:
    drawn = settings_html([HOSTILE, "b"], [Setting("same", ("1", "1")), Setting("rate", ("1", "<script>"))])
    assert drawn.count("≠") == 1 and "<script" not in drawn and "<b" not in drawn
    assert '<th scope="row" class="differs">rate</th>' in drawn and '<th scope="row">same</th>' in drawn
