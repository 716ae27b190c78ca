"""What is accepted: what is on the list, however it is typed, and nothing else."""

from __future__ import annotations

import pytest

from headlight.analysis.accepted_translations import AcceptedSentence, Failure, accepted, accepts, normalised, sentences

STATION = AcceptedSentence("Where is the station?", ("Où est la gare ?", "La gare est où ?"))


def test_a_list_is_read_from_a_table() -> None:
    assert sentences(["Hello.\tBonjour.\tSalut.", "Yes.\tOui."]) == [
        AcceptedSentence("Hello.", ("Bonjour.", "Salut.")),
        AcceptedSentence("Yes.", ("Oui.",)),
    ]


@pytest.mark.parametrize("line", ["", "Hello.", "Hello.\t", "\tBonjour.", "Hello.\tBonjour.\t\tSalut."])
def test_a_line_without_a_source_or_a_translation_is_named(line: str) -> None:
    with pytest.raises(ValueError, match="Line 2 of the list"):
        sentences(["Yes.\tOui.", line])


def test_counts_and_failures_in_the_order_of_the_list() -> None:
    listed = [STATION, AcceptedSentence("Yes.", ("Oui.",)), AcceptedSentence("No.", ("Non.",))]
    assert accepted(["Où est la gare?", "Non.", "Nom."], listed) == (
        1,
        [Failure("Yes.", "Non."), Failure("No.", "Nom.")],
    )
    assert accepted([], []) == (0, [])
    with pytest.raises(ValueError):
        accepted(["Oui."], listed)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C’est l‘été", "C'est l'été"),
        ("Où est-il\u00a0?", "Où est-il ?"),
        ("Où est-il\u202f?", "Où est-il?"),
        ("  Il   est\tlà. ", "Il est là."),
        ("E\u0301te\u0301", "Été"),
        ("Elle a dit «\u00a0bonjour\u00a0».", 'Elle a dit "bonjour".'),
        ("Elle a dit « bonjour » et", "Elle a dit “bonjour” et"),
        ("Ma sœur ; Œuf", "Ma soeur; Oeuf"),
    ],
)
def test_the_same_words_typed_otherwise(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Où", "Ou"), ("vu", "vue"), ("Oui, Tom", "Oui Tom"), ("Oui.", "Oui"), ("Oui.", "oui."), ("Oui.", "Oui !")],
)
def test_accents_letters_and_marks_count(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)
    assert not accepts(AcceptedSentence("Yes.", (one,)), other)


def test_a_full_source_asks_for_a_full_translation() -> None:
    assert accepts(STATION, "La gare est où ?")
    assert not any(accepts(STATION, text) for text in ("où est la gare ?", "Où est la gare", "Où est la gare.", ""))


def test_what_a_source_leaves_open_is_open() -> None:
    careless = AcceptedSentence("where is the station", ("Où est la gare ?",))
    assert all(accepts(careless, text) for text in ("Où est la gare ?", "où est la gare", "Où est la gare"))
    assert not any(accepts(careless, text) for text in ("où est la gare.", "où est la Gare ?", "OÙ est la gare ?"))
    no_mark, no_capital = (
        AcceptedSentence("Im hungry", ("J'ai faim.", "J'ai une faim")),
        AcceptedSentence("thanks.", ("Merci.",)),
    )
    assert all(accepts(no_mark, text) for text in ("J'ai faim.", "J'ai faim", "J'ai une faim."))
    assert not any(accepts(no_mark, text) for text in ("j'ai faim.", "J'ai faim !"))
    assert accepts(no_capital, "merci.") and not accepts(no_capital, "merci")
