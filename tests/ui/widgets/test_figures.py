"""Names of files that name what is inside."""

import pytest

from ui.widgets.figures import file_stem


@pytest.mark.parametrize(
    ("parts", "stem"),
    [
        (("en-fr", "cross layer 2, head 3", "A little girl."), "en-fr-cross-layer-2-head-3-A-little-girl"),
        (("runs/my run", "", "a/b\\c: d?"), "runs-my-run-a-b-c-d"),
        (("models/x", "attention", "लड़की पढ़ रही है।"), "models-x-attention-लड़की-पढ़-रही-है"),
        (("en-fr", "../../etc/passwd"), "en-fr-etc-passwd"),
        (("", "…"), "headlight"),
    ],
)
def test_a_file_is_named_after_what_it_holds(parts: tuple[str, ...], stem: str) -> None:
    assert file_stem(*parts) == stem


def test_a_long_sentence_ends_after_a_word() -> None:
    stem = file_stem("m", "word " * 100)
    assert stem.endswith("-word") and 40 < len(stem) < 60
    assert len(file_stem("x" * 1000)) == 47
