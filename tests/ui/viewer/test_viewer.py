"""The wrappers without a browser: what they send, what they return, and what they make of a forged answer."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from ui.viewer import LinesState, _pick, _state


def script() -> None:
    import numpy as np
    import streamlit as st

    from ui.viewer import EveryHead, LinesState, big_head, lines, overview, pack_kinds

    weights = np.full((2, 3, 4, 5), 0.2, np.float32)
    rows, columns = list("abcd"), list("vwxyz")
    st.session_state.setdefault("changes", [])
    heads = st.session_state.get("heads", (1,))
    kinds = pack_kinds({"cross": EveryHead(weights, [[["looks at ", "v"]] * 3] * 2)})
    picked = overview(kinds, key="all", kind="cross", selected=(1, 2), switch=".buttons")

    def changed(shown: LinesState) -> None:
        st.session_state.changes.append(shown)

    shown = lines(weights[1], rows, columns, LinesState(heads, 0.9), key="lines", on_change=changed)
    big_head(weights[1, 2], rows, columns, key="head", rows_read=rows)
    st.text(repr((picked, shown.heads, shown.mass)))


def header(app: AppTest, at: int) -> dict:
    data = app.get("bidi_component")[at].proto.bytes
    return json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])


@pytest.fixture
def app() -> AppTest:
    return AppTest.from_function(script, default_timeout=30).run()


def test_each_view_sends_its_payload_and_returns_its_start(app: AppTest) -> None:
    assert not app.exception
    assert app.text[0].value == repr((None, (1,), 0.9))
    assert header(app, 0)["kinds"]["cross"]["captions"][0][0] == ["looks at ", "v"]
    chosen = {"of": header(app, 0)["id"], "kind": "cross", "selected": [1, 2], "switch": ".buttons"}
    assert header(app, 1).items() >= chosen.items()
    assert header(app, 2)["shown"] == {"heads": [1], "mass": 0.9}
    assert header(app, 3)["rows_read"] == list("abcd")


def test_what_is_shown_lasts_until_the_page_asks_for_something_else(app: AppTest) -> None:
    app.session_state["lines-shown"] = {"start": LinesState((1,), 0.9), "now": LinesState((0, 2), 0.7)}
    app.run()
    assert app.text[0].value == repr((None, (0, 2), 0.7))
    assert header(app, 2)["shown"] == {"heads": [0, 2], "mass": 0.7}
    app.session_state["heads"] = (2,)
    app.run()
    assert app.text[0].value == repr((None, (2,), 0.9))


@pytest.mark.parametrize("forged", [None, 3, "ab", [1], [1, 2, 3], [-1, 0], [2, 0], [0, 3], [0.5, 1], {"a": 1}])
def test_a_forged_pick_is_no_pick(forged: object) -> None:
    assert _pick(forged, (2, 3)) is None
    assert _pick([1, 2], (2, 3)) == (1, 2)


@pytest.mark.parametrize(
    "forged",
    [None, [], {"heads": []}, {"heads": [7], "mass": 0.9}, {"heads": [0], "mass": 0.2}, {"heads": "0", "mass": 1}],
)
def test_a_forged_state_is_no_state(forged: object) -> None:
    assert _state(forged, 3) is None
    assert _state({"heads": [2, 0, 9], "mass": 1}, 3) == LinesState((2, 0), 1.0)
