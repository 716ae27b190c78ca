"""Translations: every message is in every catalogue, nothing else is, and lessons say what their originals say."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path

import pytest
from babel.numbers import format_decimal

from headlight import language
from headlight.glossary import explained, glossary
from headlight.language import (
    LANGUAGES,
    ORIGINAL_LANGUAGE,
    catalogue,
    current,
    gettext,
    localized,
    ngettext,
    preferred,
    using,
)
from headlight.teaching.lessons import translating
from headlight.teaching.lessons.reading import read
from tools import translations
from tools.translations import TRANSLATED, extracted, mistranslated, untranslated

ROOT = Path(__file__).resolve().parents[1]
# Languages whose translators are still at work: messages and lessons may be missing there. Empty when they are done.
UNFINISHED: tuple[str, ...] = ()

each_language = pytest.mark.parametrize("name", TRANSLATED)


def entries(made: object) -> dict[object, object]:
    return {(entry.id, entry.context): entry.locations for entry in made if entry.id}  # type: ignore[attr-defined]


@pytest.mark.slow
@each_language
def test_the_catalogue_has_what_the_code_marks_and_nothing_else(name: str) -> None:
    """`python -m tools.translations` brings it up to date."""
    marked, listed = entries(extracted(name)), entries(catalogue(name))
    assert marked.keys() - listed.keys() == set(), "missing"
    assert listed.keys() - marked.keys() == set(), "stale"
    for key, places in marked.items():
        assert {file for file, _ in listed[key]} == {file for file, _ in places}, key


def test_a_message_that_is_missing_or_stale_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(translations, "ROOT", tmp_path)
    monkeypatch.setattr(translations, "_core_texts", list)
    monkeypatch.setattr(translations, "TRANSLATED_TERMS", ())
    (tmp_path / "ui").mkdir()
    (tmp_path / "ui" / "page.py").write_text(
        'f"{gettext(\'One\')}"\nngettext("{count} dog", "{count} dogs", 2)\n'
        '# Translators: of three\npgettext("c", "Four")\n'
    )
    (tmp_path / "ui" / "page.js").write_text('const a = b => `x ${gettext("Two")}` + b;\n')
    assert {one for one, _ in entries(extracted("fr"))} == {"One", ("{count} dog", "{count} dogs"), "Two", "Four"}
    assert extracted("fr").get("Four", "c").auto_comments == ["Translators: of three"]


def test_babel_finds_every_call_in_the_scripts() -> None:
    """Babel's JavaScript reader is simple: it would miss a call within two nested template literals."""
    found = {one for one, _ in entries(extracted("fr"))}
    call = re.compile(r'\b(?:gettext|translatable)\(\s*("(?:[^"\\]|\\.)*")')
    for path in (ROOT / "headlight" / "viewer" / "js").glob("*.js"):
        assert {json.loads(text) for text in call.findall(path.read_text("utf-8"))} <= found, path.name


@each_language
def test_every_message_is_translated_with_its_names(name: str) -> None:
    assert mistranslated(name) == []
    assert name in UNFINISHED or untranslated(name) == []


@each_language
def test_every_lesson_is_translated_as_it_is_today(name: str) -> None:
    found = translating.outdated(name)
    assert [line for line in found if name not in UNFINISHED or not line.endswith("is missing.")] == []


def write_po(folder: Path, name: str, *texts: str) -> None:
    path = folder / name / "LC_MESSAGES" / "headlight.po"
    path.parent.mkdir(parents=True)
    path.write_text("\n\n".join(texts), encoding="utf-8")


@pytest.fixture
def french(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    head = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"'
    head += '\n"Plural-Forms: nplurals=2; plural=(n > 1);\\n"'
    dogs = 'msgid "{count} dog"\nmsgid_plural "{count} dogs"\nmsgstr[0] "{count} chien"\nmsgstr[1] "{count} chiens"'
    hello = '#: headlight/viewer/js/head.js\nmsgid "Hello {name}"\nmsgstr "Bonjour {name}"'
    token = 'msgctxt "glossary"\nmsgid "token"\nmsgstr "jeton, jetons"'
    meaning = f'msgid "{glossary()["token"]}"\nmsgstr "Unité."'
    write_po(tmp_path, "fr", head, dogs, hello, token, meaning)
    monkeypatch.setattr(language, "LOCALE", tmp_path)
    for cached in (language._catalogue, language._translations):
        cached.cache_clear()
        monkeypatch.setattr(language, cached.__name__, cached.__wrapped__)


def test_a_sentence_is_said_in_the_language_in_use(french: None) -> None:
    assert gettext("Hello {name}", name="Ann") == "Hello Ann" and current() == ORIGINAL_LANGUAGE
    with using("fr"):
        assert gettext("Hello {name}", name="Ann") == "Bonjour Ann"
        assert [ngettext("{count} dog", "{count} dogs", n) for n in (0, 1, 1200)] == [
            "0 chien", "1 chien", "1\u202f200 chiens"]  # fmt: skip
        assert gettext("Not translated") == "Not translated"
        with using("xx"):
            assert gettext("Hello {name}", name="Ann") == "Hello Ann"
    assert [ngettext("{count} dog", "{count} dogs", n) for n in (0, 1, 1200)] == ["0 dogs", "1 dog", "1,200 dogs"]


def test_a_term_is_explained_in_every_form_that_the_language_has(french: None) -> None:
    with using("fr"):
        text = explained("Deux jetons, et un jeton ; le mot jetonnement.", "token")
    assert text == 'Deux [jetons](#term-token "Unité."), et un jeton ; le mot jetonnement.'
    assert explained("Two tokens", "token").startswith("Two [tokens](#term-token")


def test_scripts_get_the_messages_of_their_own_files(french: None) -> None:
    with using("fr"):
        assert '"Hello {name}": "Bonjour {name}"' in language.script_messages("core", "head")
        assert '"texts": {}' in language.script_messages("core")
        assert '"decimal": ",", "singular": [0, 1]' in language.script_messages("core")
    assert '"singular": [1], "texts": {}' in language.script_messages("head")


def test_a_thread_asks_for_its_language(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit runs a script, and each fragment, in a thread of its own, which no `using` reaches."""
    monkeypatch.setattr(language, "_askers", [])
    said: list[str] = []
    language.ask_for_language(lambda: "hi" if threading.current_thread().name == "script" else None)
    with using("de"):
        for name in ("script", "other"):
            thread = threading.Thread(target=lambda: said.append(current()), name=name)
            thread.start()
            thread.join()
        assert current() == "de"
    assert said == ["hi", "en"]


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("fr-CH, fr;q=0.9, en;q=0.8", "fr"), ("hi", "hi"), ("xx, DE-at;q=0.5", "de"), ("xx", "en"), ("", "en"),
        (None, "en"),
    ],
)  # fmt: skip
def test_the_browser_s_first_language_that_there_is(header: str | None, expected: str) -> None:
    assert preferred(header) == expected


@each_language
@pytest.mark.parametrize("value", [0.5, 12.0, 1014.25, 12345678.5, 999.0])
def test_numbers_are_those_of_babel(name: str, value: float) -> None:
    with using(name):
        expected = format_decimal(value, "#,##,##0.00" if name == "hi" else "#,##0.00", locale=name)
        assert localized(f"{value:,.2f}") == expected


def test_what_is_no_number_stays() -> None:
    with using("de"):
        assert localized("Kodierer 2.3.1, v1.2.3") == "Kodierer 2.3.1, v1.2.3"
        assert localized("−0.5 und 3.4e−6.") == "−0,5 und 3,4e−6."


# ---- lessons ---------------------------------------------------------------------------------------------------------

ENGLISH = ROOT / "lessons" / "en" / "it.md"


@pytest.fixture
def translation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of lessons with one translation, whose words begin with ÉÉ."""
    for name in ("it.md", "heads.md"):
        (tmp_path / "en").mkdir(exist_ok=True)
        (tmp_path / "en" / name).write_text((ENGLISH.parent / name).read_text("utf-8"), "utf-8")
    monkeypatch.setenv("HEADLIGHT_LESSONS", str(tmp_path / "en"))
    path = translating.begin("fr", "it")
    text = re.sub(r"(?m)^(?=\w+: (?!\w{12}$)|[^-\s#:]+ )", "ÉÉ ", path.read_text("utf-8")).replace(
        "ÉÉ title: ", "title: ÉÉ "
    )
    path.write_text(text.replace("ÉÉ question: ", "question: ÉÉ "), "utf-8")
    return path


def test_a_translation_has_other_words_and_the_same_computations(translation: Path) -> None:
    before = read(ENGLISH)
    after = translating.in_language(translation.parent.parent / "en" / "it.md", before, "fr")
    assert after.title == f"ÉÉ {before.title}" and after.steps[0].text.startswith("ÉÉ ")
    for one, other in zip(before.steps, after.steps, strict=True):
        for name in ("name", "page", "query", "model", "ask", "answer", "claims", "scale"):
            assert getattr(one, name) == getattr(other, name), name
        assert [option.by for option in one.options] == [option.by for option in other.options]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('to "wide" in %}', 'to "street" in %}', "computes something else"),
        ("\n- … parce qu'**il** était trop large.", "", "1 choices; the original has 2"),
        ("## Draw its row\n", "## Draw its row\nask: word\n", "leave them out"),
        ("## Switch it off", "### Switch it off", "has 5 steps; the original has 6"),
    ],
)
def test_what_a_translation_may_not_change_is_named(translation: Path, old: str, new: str, complaint: str) -> None:
    text = translation.read_text("utf-8")
    assert old in text
    translation.write_text(text.replace(old, new, 1), "utf-8")
    english = translation.parent.parent / "en" / "it.md"
    with pytest.raises(ValueError, match=complaint):
        translating.read_translation(translation, english, read(english))
    assert translating.in_language(english, read(english), "fr") == read(english)  # pupils get the English lesson
    assert any(complaint in line for line in translating.outdated("fr"))


def test_a_lesson_that_changed_after_its_translation_is_named_until_it_is_confirmed(translation: Path) -> None:
    english = translation.parent.parent / "en" / "it.md"
    assert translating.outdated("fr") == ["fr/heads.md is missing."]
    english.write_text(english.read_text("utf-8").replace("an animal is", "a beast is"), "utf-8")
    assert "fr/it.md: the English lesson changed. Read it again, then `confirm` it." in translating.outdated("fr")
    assert translating.in_language(english, read(english), "fr").title.startswith("ÉÉ")  # it is shown all the same
    translating.confirm("fr", "it")
    assert translating.outdated("fr") == ["fr/heads.md is missing."]


def test_the_unit_of_a_number_is_translated(translation: Path) -> None:
    path = translating.begin("fr", "heads")
    english = translation.parent.parent / "en" / "heads.md"
    path.write_text(path.read_text("utf-8").replace("unit: heads", "unit: têtes"), "utf-8")
    lesson = translating.read_translation(path, english, read(english))
    assert [step.scale.unit for step in lesson.steps if step.scale] == ["têtes"]


def test_each_language_is_named_in_itself() -> None:
    from babel import Locale

    names = {code: Locale.parse(code).get_display_name(code) for code in LANGUAGES}
    assert {code: name.lower() for code, name in names.items()} == {
        code: name.lower() for code, name in LANGUAGES.items()
    }
