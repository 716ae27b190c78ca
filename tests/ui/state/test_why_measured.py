"""What was measured over a corpus is that of the files that ship, and the Attention page says it."""

from __future__ import annotations

import pytest

from ui.attention.heads import over_corpus
from ui.state.models import CHECKPOINTS
from ui.state.why_measured import ATTENTION, FILE, why_measured
from ui.widgets.text import signed

SHIPPED = sorted(file.parent.name for file in CHECKPOINTS.glob(f"*/{FILE}"))


@pytest.mark.parametrize("name", SHIPPED)
def test_the_measurements_fit_the_models(name: str) -> None:
    facts = why_measured(name)
    assert facts is not None and ATTENTION in facts["measures"]
    told = over_corpus(name)
    assert f"{signed(facts['measures'][ATTENTION]['mean'])} ± " in told and facts["corpus"] in told


def test_a_model_without_measurements_has_none() -> None:
    assert len(SHIPPED) >= 5
    assert why_measured("de-en") is None and over_corpus("de-en") == ""
