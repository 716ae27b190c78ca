"""The word alignment on Attention: by the heads that were measured best, else by the chosen head, as links to copy."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from headlight import checkpoints
from headlight.analysis.word_alignment import word_alignment
from headlight.cli.verbs import main
from tests.small import TEXTS, small_translator
from tests.ui.pages import captions, open_page, ran

pytestmark = pytest.mark.usefixtures("small_model")
opened = partial(open_page, "attention", "word-alignment", model="small", text=TEXTS[0], target=TEXTS[1])


def expected(*heads: tuple[int, int], shifted: bool = False) -> str:
    """The links by a slow computation of its own, word for word."""
    trace = small_translator().trace(TEXTS[0], TEXTS[1])
    pattern = sum(trace.pattern("cross")[layer, head] for layer, head in heads)

    def words(tokens: object) -> list[list[int]]:
        return [word for word in tokens.words if not tokens.special[word[0]]]  # type: ignore[attr-defined]

    links = []
    for number, target in enumerate(words(trace.target)):
        rows = [token if shifted else token - 1 for token in target]
        weights = [sum(pattern[row, column] for row in rows for column in word) for word in words(trace.source)]
        links.append((weights.index(max(weights)), number))
    return " ".join(f"{source}-{target}" for source, target in sorted(links))


def test_the_chosen_head_aligns_where_nothing_was_measured() -> None:
    app = opened(kind="cross", layer="2", head="1")
    assert [code.value for code in app.code] == [expected((1, 0))]
    assert "which need not align words" in captions(app)
    assert not opened(kind="encoder", layer="2", head="1").code


def test_the_measured_sum_aligns_in_its_rows_and_the_chosen_head_on_demand(small_model: Path, tmp_path: Path) -> None:
    for side in ("source", "target"):
        (tmp_path / side).write_text("".join(f"{text}\n" for text in TEXTS[:3]))
    (tmp_path / "gold").write_text("0-0 1-1\n" * 3)
    data = f"{tmp_path / 'source'},{tmp_path / 'target'}"
    command = ["align", str(small_model), "--data", data, "--gold", str(tmp_path / "gold"), "--out"]
    assert main([*command, str(small_model / "align.json")]) == 0
    facts = json.loads((small_model / "align.json").read_text())
    facts["best_sum"] |= {"heads": [{"layer": 3, "head": 2}, {"layer": 1, "head": 1}], "row": "read"}
    (small_model / "align.json").write_text(json.dumps(facts))
    app = opened(kind="cross", layer="2", head="1")
    assert [code.value for code in app.code] == [expected((2, 1), (0, 0), shifted=True)]
    assert "cross 3.2 and cross 1.1 in the next row" in captions(app)
    assert f"{facts['best_sum']['second_half']['rate']:.3f}" in captions(app) and str(tmp_path) not in captions(app)
    (heads,) = [box for box in app.selectbox if box.label == "Heads"]
    heads.select_index(1)
    assert [code.value for code in ran(app).code] == [expected((1, 0))]
    # A measurement of other weights, or of heads that there are not, is not used.
    for wrong in ({"model": "0" * 64}, {"best_sum": facts["best_sum"] | {"heads": [{"layer": 9, "head": 1}]}}):
        (small_model / "align.json").write_text(json.dumps(facts | wrong))
        assert [code.value for code in opened(kind="cross", layer="2", head="1").code] == [expected((1, 0))]


def test_letters_are_words_where_every_token_is_a_letter() -> None:
    translator = checkpoints.load_translator(Path(__file__).parents[3] / "checkpoints" / "reverse")
    found = word_alignment(translator.trace("abcde"), [(1, 0)])
    assert found.source == list("abcde") and found.target == list("edcba")
    assert len(found.links) == 5


def test_a_word_without_weight_has_no_link() -> None:
    trace = small_translator().trace(TEXTS[0], TEXTS[1])
    cross = np.array(trace.pattern("cross"))
    cross[1, 0] = 0
    assert word_alignment(replace(trace, cross=cross), [(1, 0)]).links == []
