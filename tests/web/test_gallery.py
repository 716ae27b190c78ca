"""The file of a gallery: what is read of it, and what is refused, by line."""

import base64
import json
import re
from pathlib import Path
from urllib.parse import parse_qs

import pytest

import headlight
from headlight.cli.verbs import main
from headlight.viewer.export import WITHOUT_MODEL
from headlight.web import gallery, publish
from headlight.web.gallery import read_gallery
from tests.ui.viewer.test_export import HOSTILE, Elements
from ui.state.models import DEFAULT_MODEL

APP = "http://localhost:8501/"
SMALL = f"{APP}?model=reverse&text=abc"
EXAMPLE = (Path(__file__).parents[2] / "docs/publish.md").read_text("utf-8").split("```text\n")[1].split("```")[0]


def write(folder: Path, text: str) -> Path:
    path = folder / "gallery.txt"
    path.write_text(text, "utf-8")
    return path


def test_the_example_of_the_documentation_is_read(tmp_path: Path) -> None:
    read = read_gallery(write(tmp_path, EXAMPLE))
    assert read.title == 'What does "it" mean?'
    assert list(read.models) == ["english-french"]
    kinds = [next(iter(part)) for part in read.parts]
    assert kinds == ["text", "view", "heading", "text", "view", "heading", "view"]
    views = [parse_qs(part["view"]) for part in read.parts if "view" in part]
    assert [view.get("changes") for view in views] == [None, ["cross.3.4"], None]
    assert views[2] == {"text": ["The girl sees the dog."], "size": ["2"], "step": ["3"], "page": ["decoding"]}


def test_text_headings_and_both_kinds_of_address(tmp_path: Path) -> None:
    text = f"""\ufeffFirst
paragraph, http://localhost:8501/ in it.

# Not the title
file:///home/ada/page.html#text=abc&page=decoding&strategy=greedy&model=reverse
### Deep
- one
- two
{APP}headlight/attention?model=reverse&text=abc&words=0&mass=90
/decoding?model=reverse&text=abc&penalty=1.0
"""
    read = read_gallery(write(tmp_path, text))
    assert read.title == "gallery"
    assert [{key: part[key] for key in part if key != "name"} for part in read.parts] == [
        {"text": "First\nparagraph, http://localhost:8501/ in it."},
        {"heading": "Not the title", "level": 2},
        {"view": "text=abc&strategy=greedy&page=decoding", "model": 0},
        {"heading": "Deep", "level": 3},
        {"text": "- one\n- two"},
        {"view": "text=abc&words=0&mass=90", "model": 0},
        {"view": "text=abc&penalty=1.0&page=decoding", "model": 0},
    ]


def test_an_address_without_a_model_or_a_sentence_is_what_the_app_opens_with(tmp_path: Path) -> None:
    assert gallery.DEFAULT_MODEL == DEFAULT_MODEL
    read = read_gallery(write(tmp_path, APP))
    (example, *_) = headlight.load(DEFAULT_MODEL).card["examples"]
    assert list(read.models) == [DEFAULT_MODEL]
    assert parse_qs(read.parts[0]["view"])["text"] == [example["text"] if isinstance(example, dict) else example]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"{APP}why?model=reverse&text=abc", "is no view of Attention or Decoding"),
        ("https://arxiv.org/abs/1706.03762", "is no view of Attention or Decoding"),
        (f"{SMALL} is a head", "An address has no spaces"),
        ("file:///page.html#text=abc", "does not name its model; add &model="),
        (f"{APP}?model=nowhere&text=abc", "nowhere"),
        (f"{APP}?model=../../etc&text=abc", "name one that the app lists"),
        (f"{APP}?model=/etc&text=abc", "name one that the app lists"),
        (f"{SMALL}&layer=9", "The model has no cross layer 9; it has 2, counted from 1"),
        (f"{SMALL}&kind=encoder&head=0", "The model has no encoder head 0"),
        (f"{SMALL}&kind=x", "The address has kind=x; a published page has encoder, decoder, cross"),
        (f"{SMALL}&changes=cross.1.1u", "switches heads off only, and 'cross.1.1u' is another change"),
        (f"{SMALL}&changes=cross.1.99", "The model has no cross head 99"),
        (f"{SMALL}&words=1", r"does not draw whole words \(words=1\); switch Whole words off, and copy again"),
        (f"{SMALL}&second=abd", "does not draw a second sentence"),
        (f"{SMALL}&row=3", "does not draw a token that is held"),
        (f"{SMALL}&target=cba", "does not draw a translation that was typed"),
        (f"{SMALL}&broken=mask", "does not draw a mistake"),
        (f"{SMALL}&onload=alert", "The address has 'onload', which says nothing on this page"),
        (f"{APP}decoding?model=reverse&text=abc&size=4", "The address has size=4; a published page has 1, 2, 3, 5"),
        (f"{APP}decoding?model=reverse&text=abc&strategy=sampling", "a published page has beam, greedy"),
        (f"{APP}decoding?model=reverse&text=abc&branches=4", "does not draw branches"),
        (f"{APP}decoding?model=reverse&text=abc&penalty=0", "does not draw another length penalty"),
        (f"{APP}decoding?model=reverse&text=abc&step=0", "The step is '0'"),
        (f"{APP}?model=reverse&text={'a' * 6000}", "The sentence has 6000 characters, and may have 5000"),
        (f"{APP}?model=reverse&text={'abc+' * 200}", r"The sentence has \d+ tokens, and this model reads 1 to"),
        (f"{APP}?{'&'.join(f'a{n}=1' for n in range(200))}", "The address says too much"),
        ("none.npz", "There is no trace at"),
        ("../trace.npz", "A trace lies in the folder of the gallery"),
        ("/trace.npz", "is no view of Attention or Decoding"),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_line(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"gallery.txt, line 3: .*{message}"):
        read_gallery(write(tmp_path, f"# Title\n\n{line}\n"))


def test_a_file_that_is_no_gallery_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="There is no gallery at"):
        read_gallery(tmp_path / "none.txt")
    with pytest.raises(ValueError, match="gallery.txt has no picture: copy the address of a view"):
        read_gallery(write(tmp_path, "# Title\n\nText.\n"))
    (tmp_path / "gallery.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="is not a text in UTF-8"):
        read_gallery(tmp_path / "gallery.txt")
    with pytest.raises(ValueError, match="gallery.txt"):
        read_gallery(write(tmp_path, "a" * (gallery.MAX_TEXT_BYTES + 1)))
    monkeypatch.setattr(gallery, "MAX_VIEWS", 2)
    with pytest.raises(ValueError, match="line 3: A gallery has at most 2 pictures"):
        read_gallery(write(tmp_path, f"{SMALL}\n" * 3))


def parts_of(page: str) -> dict[str, object]:
    data = re.search(r'id="gallery">([^<]*)<', page)
    assert data
    packed = base64.b64decode(data[1])
    header: dict[str, object] = json.loads(packed[4 : 4 + int.from_bytes(packed[:4], "little")])
    return header


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    page = publish.single_gallery(write(tmp_path, f"# {HOSTILE}\n\n{HOSTILE}\n\n## {HOSTILE}\n\n{SMALL}\n"))
    elements = Elements(page)
    plain = Elements(publish.single_gallery(write(tmp_path, f"# Title\n\nText.\n\n## More\n\n{SMALL}\n")))
    assert [tag for tag, _ in elements.tags] == [tag for tag, _ in plain.tags]
    assert [one.get("id") for tag, one in elements.tags if tag == "script"] == ["gallery", "model-0", None]
    assert "alert(1)" not in page.replace("&lt;script&gt;alert(1)", "").replace("onerror=&quot;alert(1)", "")
    assert parts_of(page)["title"] == HOSTILE


def test_a_trace_stands_beside_a_model_and_a_folder_has_the_models_in_files(tmp_path: Path) -> None:
    headlight.load("english-french").trace("The girl sees the dog.").save(tmp_path / "dog.npz")
    path = write(tmp_path, f"{SMALL}\n\ndog.npz\n{SMALL.replace('reverse', 'reverse-learned')}")
    assert main(["publish", "--gallery", str(path), str(tmp_path / "site")]) == 0
    assert {file.name for file in (tmp_path / "site").iterdir()} == {"index.html", "model-0.bin", "model-1.bin"}
    page = (tmp_path / "site/index.html").read_text("utf-8")
    assert "connect-src 'self'" in page
    part = parts_of(page)["parts"][1]  # type: ignore[index]
    assert part["about"][:2] == [["Source", "The girl sees the dog."], ["Target", "La fille voit le chien."]]
    assert part["without"][12:] == WITHOUT_MODEL[9:] and part["kinds"] == ["encoder", "decoder", "cross"]
    assert all(f'id="trace-1-kind-{n}"' in page for n in range(3))


def test_a_gallery_that_is_too_large_says_what_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish, "MAX_FILE_BYTES", 100_000)
    with pytest.raises(
        ValueError, match=r"The gallery with reverse has .* publish it as a folder, or with fewer models"
    ):
        publish.single_gallery(write(tmp_path, SMALL))


def test_the_command_says_where_a_gallery_can_go(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for more in ([], ["one", "two"], ["one", "--single", "page.html"]):
        assert main(["publish", "--gallery", "gallery.txt", *more]) != 0
        assert "Say where to write the gallery" in capsys.readouterr().err
