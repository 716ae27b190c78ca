"""What the Positions page says of each model, of impossible values and of other sentences, without a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from headlight import checkpoints
from tests.small import small_checkpoint
from tests.ui.pages import page_at, use_folders

MODELS = {"a-waves": "sinusoidal", "b-learned": "learned", "c-none": "none"}
EMPTY = "There is nothing to translate: the text is empty."


@pytest.fixture(scope="module", autouse=True)
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("positions")
    for name, positions in MODELS.items():
        checkpoint = small_checkpoint(positions=positions, max_length=600)
        checkpoint.card["examples"] = ["two dogs in the snow"]
        checkpoints.save(checkpoint, folder / "checkpoints" / name)
    with pytest.MonkeyPatch.context() as patch:
        use_folders(folder, patch)
        yield


def opened(**query: str) -> AppTest:
    return ran(page_at("positions", **query))


def ran(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception
    return app


def texts(app: AppTest) -> str:
    elements = (*app.subheader, *app.markdown, *app.caption, *app.info, *app.warning, *app.error)
    return "\n".join([*(element.value for element in elements), *(element.proto.body for element in app.get("html"))])


def test_a_model_opens_with_its_own_positions() -> None:
    learned = texts(opened(model="b-learned", positions="1000"))
    assert "The table ends after 600 positions" in learned
    assert "Every position gets its own trained vector" in learned
    none = texts(opened(model="c-none"))
    assert "Nothing is added to the embeddings" in none
    assert "this model has none, so nothing changes" in none


def test_impossible_values_are_answered_in_words() -> None:
    assert "d_model is 7; sinusoidal positions pair a sine with a cosine" in texts(opened(model="a-waves", d_model="7"))
    odd = {"scheme": "rope", "positions": "0", "base": "x", "dims": "a,9999", "at": "-3", "pair": "999", "added": "7"}
    app = opened(model="zzz", **odd)
    assert not app.error and not app.warning


def test_words_that_differ_and_sentences_that_cannot_be_read() -> None:
    app = opened(model="a-waves", one="two dogs", other="two snow", added="1", text="")
    page = texts(app)
    assert "▁dogs only in the first, ▁snow only in the second" in page and page.count(EMPTY) == 1
    next(box for box in (*app.text_input, *app.text_area) if box.label == "Another order").set_value("")
    assert texts(ran(app)).count(EMPTY) == 2
    long = " ".join(["two", "dogs", "snow", "girl"][i % 4] for i in range(601))
    assert "this model reads at most 600" in texts(opened(model="a-waves", added="1", text=long))


def test_one_position_is_too_few_to_compare() -> None:
    assert "There are too few positions to compare." in texts(opened(model="a-waves", positions="1"))
