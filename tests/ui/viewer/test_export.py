"""The offline file as text: what it may run, what it may load, and what cannot break out of it."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from headlight.viewer.export import CAUTION, KindView, standalone_html

HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(1)">'


def view(layers: int, heads: int, length: int, word: str = "w") -> KindView:
    weights = np.random.default_rng(0).random((layers, heads, length, length)).astype(np.float32)
    weights /= weights.sum(-1, keepdims=True)
    words = [f"{word}{i}" for i in range(length)]
    return KindView(weights, None, words, words, words, [[("looks at ", words[0])] * heads] * layers)


class Elements(HTMLParser):
    """A parser that collects every tag with its attributes, and the text of each script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {"script": [], "style": [], "title": []}
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = tag

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open in self.texts:
            self.texts[self._open].append(data)


def test_only_the_pages_own_script_and_style_may_run() -> None:
    page = Elements(standalone_html("t", {"cross": view(1, 2, 4)}, ("cross", 0, 1), "dark", {}))
    (policy,) = [a["content"] for t, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None and policy.startswith("default-src 'none';") and "unsafe" not in policy
    for kind, text in (("script", page.texts["script"][-1]), ("style", page.texts["style"][0])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_nothing_points_outside_the_file() -> None:
    text = standalone_html("t", {"cross": view(1, 2, 4)}, ("cross", 0, 1), "light", {})
    page = Elements(text)
    assert not [tag for tag, attributes in page.tags if {"src", "href"} & set(attributes)]
    code = re.sub(r'octet-stream"[^<]*', "", text).replace("http://www.w3.org/2000/svg", "")  # a name, not an address
    assert not re.findall(r"https?:|//[a-z]+\.|@import|url\(", code)


def test_it_holds_the_fonts_of_its_letters_alone() -> None:
    plain, marked = (
        standalone_html("t", {"cross": view(1, 2, 4, word)}, ("cross", 0, 1), "light", {}) for word in ("w", "\u2581")
    )
    assert 'id="font-0"' not in plain and "Headlight marks" in _decoded(marked, "page")
    assert 'id="font-0"' in marked and 'id="font-1"' not in marked


def test_hostile_text_stays_text() -> None:
    hostile = view(1, 2, 4, HOSTILE)
    text = standalone_html(HOSTILE, {"cross": hostile}, ("cross", 0, 1), "light", {HOSTILE: HOSTILE})
    plain = standalone_html("t", {"cross": view(1, 2, 4)}, ("cross", 0, 1), "light", {"a": "b"})
    assert [tag for tag, _ in Elements(text).tags] == [tag for tag, _ in Elements(plain).tags]
    assert "".join(Elements(text).texts["title"]) == HOSTILE
    assert "alert(1)" not in text.replace("&lt;script&gt;alert(1)", "").replace("onerror=&quot;alert(1)", "")


def test_a_real_model_fits_into_two_megabytes() -> None:
    kinds = {kind: view(6, 8, 20) for kind in ("encoder", "decoder", "cross")}
    text = standalone_html("t", kinds, ("decoder", 5, 7), "light", {"Sentence": "a"})
    assert len(text.encode()) < 2_000_000
    assert "half precision" not in _decoded(text, "page") and CAUTION in _decoded(text, "page")


def test_a_large_file_says_that_its_weights_are_rounded() -> None:
    text = standalone_html("t", {"encoder": view(2, 8, 260)}, ("encoder", 0, 0), "light", {})
    assert "half precision" in _decoded(text, "page")
    assert '"dtype": "float16"' in _decoded(text, "kind-0")


def test_a_selection_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="selected kind is 'cross'; choose one of encoder"):
        standalone_html("t", {"encoder": view(1, 1, 2)}, ("cross", 0, 0), "light", {})
    with pytest.raises(ValueError, match="Layer 1, head 0 is not among 1 layers of 1 heads"):
        standalone_html("t", {"encoder": view(1, 1, 2)}, ("encoder", 1, 0), "light", {})


def _decoded(text: str, block: str) -> str:
    match = re.search(rf'id="{block}">([^<]*)<', text)
    assert match is not None
    return base64.b64decode(match[1]).decode("latin-1")
