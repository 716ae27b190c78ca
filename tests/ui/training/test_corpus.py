"""The data of a run that is about to be started."""

from pathlib import Path

import pytest

from ui.training import corpus


def test_a_preview_ends_when_its_visitor_has_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Left(BaseException):
        """As Streamlit ends a script."""

    def look() -> None:
        nonlocal looks
        looks += 1
        if looks == 3:
            raise Left

    looks = 0
    monkeypatch.setattr(corpus, "end_superseded_run", look)
    path = tmp_path / "pairs.tsv"
    path.write_text("one\tun\n" * 1000)
    with pytest.raises(Left):
        corpus.previewed(str(path), None, "words", 100, False)
    assert looks == 3
    monkeypatch.setattr(corpus, "end_superseded_run", lambda: None)
    assert corpus.previewed(str(path), None, "words", 100, False).report.kept == 1000, "who comes next begins anew"
