"""Anatomy offers the exercises of the part that is open."""

from pathlib import Path

from headlight.analysis.network import PART_NAMES, network
from headlight.teaching.exercises import FOLDER
from tests.small import small_translator
from tests.ui.pages import open_page, save_small
from ui.anatomy.exercises import files, title


def test_every_part_has_exercises_that_are_there() -> None:
    model = small_translator().model
    offered = {(part.name, part.kind): files(part, model.config) for part in network(model, 5, 5)}
    assert {name for name, _ in offered} <= {*PART_NAMES}
    assert offered["attention", "cross"] == ["attend.py", "multi_head.py", "masks.py"]
    assert offered["ff", "encoder"] == ["feed_forward.py", "encoder_layer.py"]
    assert offered["ff", "decoder"] == ["feed_forward.py", "decoder_layer.py"]
    missing = [file for of in offered.values() for file in of if not (FOLDER / file).is_file()]
    assert all(offered.values()) and not missing
    assert title("attend.py").startswith("Exercise 1: scaled dot-product attention")


def test_the_menu_says_how_to_check(shelves: Path) -> None:
    save_small(shelves)
    app = open_page("anatomy", "write")
    assert [code.value for code in app.code] == ["python -m headlight check attend.py"]
    assert [button.proto.label for button in app.get("download_button")] == ["attend.py", "multi_head.py", "masks.py"]
