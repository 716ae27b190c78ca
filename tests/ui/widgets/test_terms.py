"""Terms of the glossary where they stand: what they mean, as a link of Markdown or HTML."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from headlight.glossary import explained, glossary, term
from tests.ui.pages import open_page, save_small

ROOT = Path(__file__).resolve().parents[3]


def links(markdown: str) -> list[tuple[str, str, str]]:
    """The text, the address and the title of each link."""
    found, tokens = [], [child for token in MarkdownIt().parse(markdown) for child in token.children or []]
    for at, token in enumerate(tokens):
        if token.type == "link_open":
            found.append((tokens[at + 1].content, str(token.attrs["href"]), str(token.attrs["title"])))
    return found


def calls() -> list[tuple[Path, ast.Call]]:
    """Return the calls of `term` and `explained` in the app."""
    trees = [(path, ast.parse(path.read_text("utf-8"))) for path in (ROOT / "ui").rglob("*.py")]
    nodes = [(path, node) for path, tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [(path, node) for path, node in nodes if getattr(node.func, "id", "") in ("term", "explained")]


def constants(nodes: list[Any]) -> list[str]:
    return [str(node.value) for node in nodes if isinstance(node, ast.Constant)]


def test_every_line_of_the_glossary_has_a_meaning() -> None:
    meanings = glossary()
    assert {"head", "encoder", "decoder", "ALTI+", "chrF", "byte fallback"} <= {*meanings} and "term" not in meanings
    assert meanings["encoder"] == meanings["decoder"] and meanings["decoder"].startswith("The stack of layers")
    assert all(meaning.endswith(".") and not re.search(r"[`|]", meaning) for meaning in meanings.values())


def test_every_meaning_survives_markdown_and_html() -> None:
    for name, meaning in glossary().items():
        ((text, address, title),) = links(f"Of {term(name)} too")
        assert (text, title) == (name, meaning) and re.fullmatch(r"#term-[\w-]+", address)
        ((_, _, by_html),) = re.findall(r'<a (href)="(.*?)" title="(.*?)">', term(name, as_html=True))
        assert "<" not in by_html


def test_only_the_first_of_a_term_is_explained_with_its_plural_and_capital() -> None:
    text = explained("Heads of one head: a cross-attention head, no crosshead.", "head", "cross-attention")
    assert [link[:2] for link in links(text)] == [("Heads", "#term-head"), ("cross-attention", "#term-cross-attention")]
    assert explained("Nothing of it.", "head") == "Nothing of it."
    assert explained("Not in `a head`.", "head") == "Not in `a head`."
    with pytest.raises(KeyError):
        term("attention head")


@pytest.mark.slow
def test_the_app_explains_only_what_the_glossary_has_and_the_text_says() -> None:
    found = calls()
    assert len(found) > 25
    for path, call in found:
        texts, names = constants(call.args[:1]), constants(call.args[1:])
        if getattr(call.func, "id", "") == "term":
            texts, names = [], constants(call.args[:1])
        assert {*names} <= {*glossary()}, path
        for text in texts:
            assert len(links(explained(text, *names))) == len(names), (path, text)


def test_the_first_page_explains_its_terms_once(shelves: Path) -> None:
    save_small(shelves)
    app = open_page("attention")
    said = [*app.markdown, *app.caption, *app.get("html")]
    texts = " ".join(str(getattr(part, "value", "") or part.proto.body) for part in said)
    for name in ("layer", "parameter", "token", "sequence-log-probability", "head", "cross-attention"):
        assert len(set(re.findall(rf"\S*#term-{name}\b.{{30}}", texts))) == 1, name
