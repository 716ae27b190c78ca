"""A model with a part left out says what it wrote with it, and how long the vectors of its residual stream are."""

from __future__ import annotations

from functools import partial

import pytest

from headlight.analysis.stream import stream, stream_sizes
from headlight.formatting import three_digits
from headlight.teaching.mistakes import break_translator
from tests.small import TEXTS, small_translator
from tests.ui.pages import captions, open_page
from ui.widgets.text import literal

pytestmark = pytest.mark.usefixtures("small_model")


opened = partial(open_page, "attention", "left-out", model="small", text=TEXTS[0])


@pytest.mark.parametrize("name", ["no-residual", "no-norms"])
def test_the_sizes_and_both_translations_are_those_of_the_two_models(name: str) -> None:
    app, whole = opened(broken=name), small_translator()
    broken = break_translator(whole, name)
    own, now = whole.trace(TEXTS[0]), broken.trace(TEXTS[0])
    assert own.translation != now.translation
    assert f"The model as it is writes: “{literal(own.translation)}”" in captions(app)
    for stack in ("encoder", "decoder"):
        of = [stream_sizes(stream(m, own.source.ids, own.target.ids), stack) for m in (whole.model, broken.model)]
        ends = [f"from {three_digits(sizes[0].mean)} to {three_digits(sizes[-1].mean)}" for sizes in of]
        assert f"In the {stack} lengths go {ends[0]} in the model as it is, and {ends[1]} now." in captions(app)


def test_a_wrong_pattern_shows_both_translations_alone_and_a_whole_model_neither() -> None:
    assert "as it is" in captions(opened(broken="no-scaling"))
    assert "lengths go" not in captions(opened(broken="no-scaling"))
    assert "as it is" not in captions(opened())
