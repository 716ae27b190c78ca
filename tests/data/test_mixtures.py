"""Corpora mixed: how often each pair comes, where in a pass, from where, and what is refused."""

from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from headlight.corpora import gold
from headlight.corpora.corpora import Mixture, Pair, Pairs, Rejected, open_corpus, open_parts
from headlight.corpora.mixtures import is_mixture, weighted_parts
from headlight.corpora.pairs import Corpus
from headlight.corpora.preview import preview
from transformer.yielding import on_yield


def corpus(name: str, size: int) -> Pairs:
    return Pairs(name, [Pair(n, f"{name} {n}", f"{name.upper()} {n}") for n in range(1, size + 1)])


def test_a_weight_is_how_often_a_pass_gives_each_pair() -> None:
    mixture = Mixture([(corpus("a", 100), 1.0), (corpus("b", 30), 2.0), (corpus("c", 40), 0.25)])
    times = Counter(pair.source for pair in mixture)
    assert {times[f"a {n}"] for n in range(1, 101)} == {1}
    assert {times[f"b {n}"] for n in range(1, 31)} == {2}
    assert sum(times[f"c {n}"] for n in range(1, 41)) == 10
    assert mixture.report.accepted == 170
    assert list(mixture) == list(mixture)


def test_every_piece_of_a_pass_is_mixed_as_the_whole() -> None:
    mixture = Mixture([(corpus("a", 900), 1.0), (corpus("b", 50), 2.0)])
    mixture.count_rows()
    pairs = list(mixture)
    for start in range(0, 1000, 100):
        assert Counter(pair.origin for pair in pairs[start : start + 100])["b"] == pytest.approx(10, abs=2)


def test_each_pair_keeps_its_origin_and_a_rejected_row_names_its_own() -> None:
    class Damaged(Corpus):
        def rows(self):
            yield Pair(1, "one", "un")
            yield Rejected(2, "bad row")

    mixture = Mixture([(corpus("a", 2), 1.0), (Damaged("damaged"), 1.0)])
    assert {(pair.source, pair.origin) for pair in mixture} == {("a 1", "a"), ("a 2", "a"), ("one", "damaged")}
    assert mixture.report.rejected == {"bad row in damaged": 1}


def test_a_spec_names_its_parts_and_their_weights() -> None:
    assert weighted_parts("tatoeba:en-fr + multi30k:en-fr*2 + english-french:20000") == [
        ("tatoeba:en-fr", 1.0), ("multi30k:en-fr", 2.0), ("english-french:20000", 1.0)
    ]  # fmt: skip
    assert weighted_parts("a.en,a.fr*0.5") == [("a.en,a.fr", 0.5)]
    assert not is_mixture("c++.tsv") and not is_mixture("a*b.tsv")


@pytest.mark.parametrize(
    "spec, words",
    [
        ("reverse + ", "without a name"),
        ("reverse*0", "above 0"),
        ("reverse*1001 + copy", "weighted"),
        ("reverse*1000*1000", "two weights"),
        ("reverse" + "*2" * 3000, "two weights"),
        (" + ".join(["reverse"] * 5000), "5,000 corpora are too many for a mixture; choose at most 20"),
        ("reverse:" + "9" * 5000, "is not a corpus"),
    ],
)
def test_what_cannot_be_mixed_is_refused_in_a_sentence(spec: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as refused:
        open_corpus(spec)
    assert len(str(refused.value)) < 1000


def test_a_look_at_a_mixture_reads_no_part_to_its_end() -> None:
    """The rows of the parts were counted before the first pair was given: of an endless one, for ever."""
    endless = open_corpus("english-french:999999999999 + reverse:999999999999*0.5").train
    first = [pair.origin for pair in islice(endless, 300)]
    assert first.count("english-french (train)") == 200

    class Left(Exception):
        pass

    def leave() -> None:
        raise Left

    with pytest.raises(Left), on_yield(leave):
        preview(endless)


def test_the_name_of_a_mixture_is_short() -> None:
    assert len(Mixture([(corpus("a" * 150, 1), 1.0)] * 20).name) <= 200


def test_a_mixture_is_validated_and_tested_on_its_parts_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    # a grammar takes its time for a thousand
    monkeypatch.setattr(gold, "SPLIT_PAIRS", dict.fromkeys(gold.SPLIT_PAIRS, 50))
    splits = open_corpus("english-french:300 + reverse:200*3")
    assert Counter(pair.origin for pair in splits.train) == {"english-french (train)": 300, "reverse (train)": 600}
    assert splits.test is not None
    for split in (splits.validation, splits.test):
        kind = split.name.split("(")[1].split(")")[0]
        counts = {f"english-french ({kind})": 50, f"reverse ({kind})": 1000}
        assert Counter(pair.origin for pair in split) == counts


def test_a_held_out_mixture_is_counted_as_well(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("".join(f"a {n}\tA {n}\n" for n in range(900)))
    (tmp_path / "b.tsv").write_text("".join(f"b {n}\tB {n}\n" for n in range(100)))
    train = open_corpus(f"{tmp_path}/a.tsv + {tmp_path}/b.tsv").train
    train.count_rows()
    origins = [pair.origin for pair in train]
    assert origins[:100].count(str(tmp_path / "b.tsv")) == pytest.approx(10, abs=2)


def test_a_folder_of_tables_is_a_corpus_in_both_directions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for split, text in {"train": "Go.\tVa !\nGo.\tAllez !\n", "test": "Hi.\tSalut !\n"}.items():
        (tmp_path / f"en-fr.{split}.tsv").write_text(text, encoding="utf-8")
    monkeypatch.setenv("HEADLIGHT_TATOEBA", str(tmp_path))
    for spec in ("tatoeba:en-fr", f"{tmp_path}:en-fr"):
        splits = open_corpus(spec, validation="reverse")
        assert [pair[1:3] for pair in splits.train] == [("Go.", "Va !"), ("Go.", "Allez !")]
        assert splits.test is not None and [pair[1:3] for pair in splits.test] == [("Hi.", "Salut !")]
    assert {pair[1:3] for pair in open_corpus("tatoeba:fr-en").train} == {("Va !", "Go."), ("Allez !", "Go.")}
    with pytest.raises(ValueError, match="There is no 'en-hi.train.tsv', plain or gzipped"):
        open_corpus("tatoeba:en-hi")


def test_a_table_of_the_everyday_folder_goes_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "massive.en-fr.tsv").write_text("wake me up\tréveille-moi\n", encoding="utf-8")
    monkeypatch.setenv("HEADLIGHT_EVERYDAY", str(tmp_path))
    train, validation, test = open_parts("everyday:massive:en-fr")
    assert [pair[1:3] for pair in train] == [("wake me up", "réveille-moi")] and validation is test is None
    assert [pair.source for pair in open_parts("everyday:massive:fr-en")[0]] == ["réveille-moi"]
    with pytest.raises(ValueError, match="There is no 'mintaka.en-fr.tsv', plain or gzipped"):
        open_parts("everyday:mintaka:en-fr")
    for spec in ("everyday:../massive:en-fr", "everyday:massive", "everyday:a/b:en-fr"):
        with pytest.raises(ValueError, match="is not a corpus"):
            open_parts(spec)
