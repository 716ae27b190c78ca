"""Every link and picture of the documents leads somewhere: to a file, and to a heading in it. Nothing is fetched."""

from __future__ import annotations

import html
import re
import subprocess
from fnmatch import filter as fnmatch_filter
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from PIL import Image, ImageSequence

from tools import architecture

ROOT = Path(__file__).resolve().parents[1]
SITES = {"arxiv.org", "github.com", "semver.org", "www.contributor-covenant.org"}
SITES |= {"colab.research.google.com", "mybinder.org"}
MARKDOWN = MarkdownIt("commonmark").enable("table")


PLACES = ("*.md", "benchmarks/*.md", "deploy/**/*.md", "docs/*.md", "docs/exercises/*.md", "docs/pages/*.md")
PLACES += ("docs/tutorials/*.md", ".github/[A-Z]*.md")
DOCUMENTS = sorted(path for place in PLACES for path in ROOT.glob(place))


@cache
def tokens(document: Path) -> list[Token]:
    """Return all tokens of a document, inline tokens included."""
    found = MARKDOWN.parse(document.read_text("utf-8"))
    return [inner for token in found for inner in (token, *(token.children or ()))]


def links(document: Path) -> list[str]:
    given = [token.attrGet("href") or token.attrGet("src") for token in tokens(document)]
    return [html.unescape(str(link)) for link in given if link]


@cache
def anchors(document: Path) -> set[str]:
    """The headings of a document as GitHub and the site name them."""
    every = MARKDOWN.parse(document.read_text("utf-8"))
    texts = [
        "".join(child.content for child in inline.children or ())
        for heading, inline in zip(every, every[1:], strict=False)
        if heading.type == "heading_open"
    ]
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in texts}


def wrong(document: Path, root: Path = ROOT) -> list[str]:
    """The links of a document that lead nowhere, or out of the repository."""
    broken = []
    for link in links(document):
        parts = urlsplit(link)
        if parts.scheme:
            continue
        path = (document.parent / unquote(parts.path)).resolve() if parts.path else document
        there = path.exists() and path.is_relative_to(root)
        if not there or (parts.fragment and path.suffix == ".md" and parts.fragment not in anchors(path)):
            broken.append(link)
    return broken


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    assert wrong(document) == []


def test_a_wrong_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text("# A heading, `quoted`\n\n```\n# not a heading\n```\n")
    page = tmp_path / "page.md"
    page.write_text(
        "# Own\n\n[a](there.md) [b](missing.md) ![c](none.png) [d](there.md#a-heading-quoted)\n\n"
        "| |\n|---|\n| [e](there.md#not-a-heading) |\n\n[f](#own) [g](#other) [h](/etc/hosts) `[i](code.md)`\n"
    )
    assert wrong(page, tmp_path) == ["missing.md", "none.png", "there.md#not-a-heading", "#other", "/etc/hosts"]


def test_links_lead_to_known_sites() -> None:
    """The tests fetch nothing; whoever adds a site checks it once."""
    given = {(parts.scheme, parts.netloc) for path in DOCUMENTS for parts in map(urlsplit, links(path)) if parts.scheme}
    assert given == {("https", site) for site in SITES}


def test_a_question_is_answered_in_three_sentences_and_leads_to_what_shows_it() -> None:
    text = (ROOT / "docs" / "questions.md").read_text("utf-8").partition("## Further reading")[0]
    answers = dict(part.split("\n\n", 1) for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:])
    assert len(answers) >= 40
    for question, answer in answers.items():
        sentences, _, shown = re.split(r"^## ", answer, flags=re.MULTILINE)[0].strip().partition("\n\n")
        plain = re.sub(r"“[^”]*”|et al\.", "", sentences)
        assert len(re.findall(r"[.?!](?=\s|$)", plain)) == 3, question
        assert re.search(r"\]\((?!https:)", shown), question


def test_every_page_of_the_app_is_described_with_its_picture() -> None:
    pages = {path.stem for path in (ROOT / "pages").glob("*.py")}
    described = {path.stem: links(path) for path in (ROOT / "docs" / "pages").glob("*.md") if path.stem != "index"}
    assert described.keys() == pages
    for page, given in described.items():
        assert f"../images/{page}-light.png" in given
    pictures = {path.stem for path in (ROOT / "docs" / "images").glob("*.png")}
    assert pictures == {f"{page}-{theme}" for page in pages for theme in ("light", "dark")}


def test_every_document_has_a_place_in_the_navigation() -> None:
    """Sphinx says so too, where the site is built; this is said without it."""
    folder = ROOT / "docs"
    texts = {
        path.relative_to(folder).with_suffix("").as_posix(): path.read_text("utf-8")
        for path in DOCUMENTS
        if path.is_relative_to(folder)
    }
    places = ["index"]
    for name, text in texts.items():
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL):
            entries = [line for line in tree.splitlines() if line and not line.startswith(":")]
            places += [(Path(name).parent / entry).as_posix() for entry in entries]
    assert [name for name in texts if not any(fnmatch(name, place) for place in places)] == []
    assert [place for place in places if not fnmatch_filter(texts, place)] == []


def test_the_picture_of_the_layers_is_that_of_the_contracts() -> None:
    drawn = (ROOT / "docs" / "images" / "architecture.svg").read_text("utf-8")
    assert drawn == architecture.picture(), "python -m tools.architecture > docs/images/architecture.svg"


@pytest.mark.slow
@pytest.mark.parametrize("document", ["docs/architecture.md", "docs/CONTRIBUTING.md"])
def test_files_that_are_named_exist(document: str) -> None:
    """For a bare name such as `saved.py`, a file of that name must exist somewhere."""
    names = set(re.findall(r"`([\w./-]+\.(?:py|js|md|toml|svg)|[\w/]+/)`", (ROOT / document).read_text("utf-8")))
    assert len(names) > 10
    missing = [name for name in names if not (ROOT / name).exists()]
    assert [name for name in missing if "/" in name or not any(ROOT.glob(f"*/**/{name}"))] == []


@pytest.mark.parametrize("document", ["README.md", "docs/architecture.md"])
def test_the_layout_names_every_directory(document: str) -> None:
    layout = (ROOT / document).read_text("utf-8").rpartition("## Directories")[2].partition("\n## Packages")[0]
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    directories = {name.partition("/")[0] for name in listed if "/" in name and not name.startswith(".")}
    assert {name for name in directories if f"`{name}/`" not in layout and f"{name}/ " not in layout} == set()


def test_the_architecture_names_every_package() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    table = text.partition("\n## Packages\n")[2].partition("\n## ")[0]
    listed = subprocess.run(["git", "ls-files", "*/__init__.py"], cwd=ROOT, capture_output=True, text=True).stdout
    packages = {Path(file).parent for file in listed.split()}
    pages = {Path("ui", path.stem) for path in (ROOT / "pages").glob("*.py")}
    inner = {path for path in packages - pages if len(path.parts) > 1 and path.parts[0] != "tests"}
    assert len(inner) > 20 and "`ui/<page>/`" in table
    assert sorted(path.as_posix() for path in inner if f"`{path.as_posix()}/`" not in table) == []


def test_the_readme_is_one_screen_and_its_code_runs() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 60
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(code.splitlines()) == 3
    names: dict[str, object] = {}
    exec(code, names)
    assert names["trace"].translation.endswith(".")  # type: ignore[attr-defined]


def test_the_readme_shows_a_film_of_twenty_seconds() -> None:
    document = ROOT / "README.md"
    (picture,) = [token for token in tokens(document) if token.type == "image"]
    assert len(picture.content.split()) > 10  # what is seen, for those who don't see it
    path = ROOT / str(picture.attrGet("src"))
    assert path.stat().st_size <= 3_000_000
    with Image.open(path) as film:
        durations = []
        for frame in ImageSequence.Iterator(film):
            frame.load()
            durations.append(frame.info["duration"])
        assert film.format == "WEBP" and film.width == 960
    assert 15_000 <= sum(durations) <= 25_000 and len(durations) > 50
