"""What the Why page says, held to the library's numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.small import TEXTS, small_checkpoint
from transformer import Translator, checkpoints
from transformer.analysis import why
from ui.widgets.text import signed

PAGE = Path(__file__).resolve().parents[3] / "pages" / "why.py"


@pytest.fixture(params=["pre", "post"])
def model(request: pytest.FixtureRequest, shelves: Path) -> Translator:
    checkpoint = small_checkpoint(norm=request.param)
    checkpoint.card["examples"] = TEXTS[:2]
    checkpoints.save(checkpoint, shelves / "checkpoints" / "small")
    return Translator.load(shelves / "checkpoints" / "small")


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=300)
    for key, value in query.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception and not app.error
    return app


def texts(app: AppTest) -> str:
    return " ".join(element.value for element in (*app.markdown, *app.caption, *app.info))


def test_the_numbers_are_the_librarys(model: Translator) -> None:
    text = TEXTS[0]
    trace = model.trace(text, text)
    app = opened(text=text, target=text, step="2")
    shares = why.contributions(model.model, trace.source.ids, trace.target.ids)
    assert f"**{100 * shares.source[1].sum():.0f} %** from the source" in texts(app)
    found = app.dataframe[0].value
    assert found["Contribution, %"].sum() == pytest.approx(100)
    left_out = why.leave_one_out(model.model, trace.source.ids, trace.target.ids)[1]
    assert found["Left out, nats"].dropna().tolist() == pytest.approx(left_out.tolist(), abs=1e-6)


def test_the_parts_of_the_difference_sum_to_it(model: Translator) -> None:
    text = TEXTS[0]
    trace = model.trace(text, text)
    other = trace.target.ids[1] if trace.target.ids[1] != trace.target.ids[2] else trace.target.ids[3]
    app = opened(text=text, target=text, step="2", instead=model.checkpoint.target_tokenizer.labels([other])[0])
    parts = why.contrast(model.model, trace.source.ids, trace.target.ids, 1, other)
    assert f"The difference of the two logits is **{signed(parts.difference, plus=True)}**" in texts(app)
    shown = next(table.value for table in app.dataframe if "Part" in table.value)
    assert shown["Logits"].sum() == pytest.approx(parts.difference, abs=1e-4)


def test_the_next_token_is_a_step_on(model: Translator) -> None:
    app = opened(text=TEXTS[0], target=TEXTS[0])
    next(button for button in app.button if button.label == "Next token").click().run()
    assert not app.exception and app.segmented_control[0].value == 1
