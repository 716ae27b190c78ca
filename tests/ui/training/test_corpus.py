"""The data of a run that is about to be started."""

from pathlib import Path

import pytest

from ui.state import cache
from ui.training import corpus


def request(spec: str, vocabulary: int) -> corpus.PreviewRequest:
    return corpus.PreviewRequest(spec, None, 500, "words", vocabulary, separate=False, min_frequency=1)


def test_a_preview_ends_when_its_visitor_has_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Left(BaseException):
        """The exception with which Streamlit ends a script."""

    def look() -> None:
        nonlocal looks
        looks += 1
        if looks == 3:
            raise Left

    looks = 0
    monkeypatch.setattr(cache, "end_superseded_run", look)
    path = tmp_path / "pairs.tsv"
    path.write_text("one\tun\n" * 1000)
    with pytest.raises(Left):
        corpus.previewed(request(str(path), 100))
    assert looks == 3
    monkeypatch.setattr(cache, "end_superseded_run", lambda: None)
    accepted = corpus.previewed(request(str(path), 100)).report.accepted
    assert accepted == 1000, "the next session starts over"


def test_a_grammar_is_previewed_by_its_first_sentences_and_counted_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "HUB_ROWS", 50)
    preview = corpus.previewed(request("english-french:70", 500))
    assert (preview.report.read, preview.in_all, preview.count) == (50, 70, 70)
    assert corpus.previewed(request("english-french:30", 500)).count == 30
    assert preview.tokens == round(70 * sum(preview.target.lengths) / 50)
