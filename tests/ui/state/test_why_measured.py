"""What was measured over a corpus is that of the files that ship, and the Attention page says it."""

from __future__ import annotations

import re

import pytest

from headlight.formatting import signed
from ui.attention.heads import token_agreement_over_corpus
from ui.state.models import CHECKPOINTS
from ui.state.why_measured import ATTENTION, FILE, antecedents_measured, why_measured
from ui.why.antecedents import _same_three

SHIPPED = sorted(file.parent.name for file in CHECKPOINTS.glob(f"*/{FILE}"))


@pytest.mark.parametrize("name", SHIPPED)
def test_the_measurements_fit_the_models(name: str) -> None:
    facts = why_measured(name)
    assert facts is not None and ATTENTION in facts["measures"]
    text = re.sub(r'\[([^]]*)\]\(#term[^ ]* "[^"]*"\)', r"\1", token_agreement_over_corpus(name))  # terms are links
    attention, best = facts["measures"][ATTENTION], facts["measures"][facts["best"]]
    assert (
        f"{signed(attention['mean'])} ({signed(attention['low'])} to {signed(attention['high'])})" in text
        and facts["corpus"] in text
    )
    clear = ATTENTION not in (facts["best"], *facts["not_told_apart_from_best"])
    assert (f"{facts['best']} at {signed(best['mean'])}" in text) == clear
    assert all(measure["low"] <= measure["mean"] <= measure["high"] for measure in facts["measures"].values())


def test_a_model_without_measurements_has_none() -> None:
    assert len(SHIPPED) >= 5
    assert why_measured("de-en") is None and token_agreement_over_corpus("de-en") == ""


def test_the_causes_of_il_and_elle_are_told_with_the_same_heads_throughout() -> None:
    facts = antecedents_measured("english-french")
    assert facts is not None
    text = _same_three("english-french")
    for part in ("top", "named", "random"):
        assert f"{round(100 * facts[part]['restored'][0])}\u00a0%" in text
    assert "Cross 2.3, Decoder self 3.3, Cross 3.3" in text
    assert antecedents_measured("reverse") is None and _same_three("reverse") == ""
