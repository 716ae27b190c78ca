"""docs/models.md: a row for every form, and a row that is made again is what the document says."""

from __future__ import annotations

import pytest

pytest.importorskip("transformers")
from headlight.importers.forms import FORMS
from tools.models_table import DOCUMENT, FAMILIES, NOT_COMPARED, row

ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in DOCUMENT.read_text("utf-8").splitlines()
    if line.startswith("| ")
][1:]


def test_every_form_has_a_row() -> None:
    assert {form.name for form in FORMS} == {family.form for family in FAMILIES} | NOT_COMPARED
    assert [name for name, *_ in ROWS] == [family.name for family in FAMILIES]
    for name, opened_from, compared_with, logits, attention in ROWS:
        bound = 1e-3 if name == "Blenderbot-small" else 1e-4  # its layers amplify a rounding
        assert 0 < float(logits) < bound and float(attention or 0) < bound
        assert attention or "live" not in opened_from
        assert ("live" in opened_from) == (compared_with == "transformers")


@pytest.mark.parametrize("name", ["BART", "The Annotated Transformer"])
def test_a_row_made_again_is_that_of_the_document(name: str) -> None:
    family = next(family for family in FAMILIES if family.name == name)
    due = next(cells for cells in ROWS if cells[0] == name)
    made = row(family, configurations=1)
    assert [made.family, made.opened_from, made.compared_with] == due[:3]
    assert made.logits < 2 * float(due[3]) + 1e-5
    assert (made.attention or 0.0) < 2 * float(due[4] or 0) + 1e-6
