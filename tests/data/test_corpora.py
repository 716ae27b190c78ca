import gzip
import json
import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from headlight.corpora.corpora import (
    JsonLines,
    Pair,
    Pairs,
    Rejected,
    Report,
    TableCorpus,
    TextPair,
    hold_out,
    modified_at,
    open_corpus,
    open_file,
)
from headlight.corpora.held_out import HELD_OUT
from headlight.corpora.pairs import MAX_CHARACTERS

Writer = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(request: pytest.FixtureRequest, tmp_path: Path) -> Writer:
    """Writes a file, plain or (where a test is marked so) gzipped, and gives its path."""
    packed = getattr(request, "param", "plain") == "gzip"

    def write(name: str, content: str | bytes) -> Path:
        data = content if isinstance(content, bytes) else content.encode()
        path = tmp_path / (name + ".gz" * packed)
        path.write_bytes(gzip.compress(data) if packed else data)
        return path

    return write


plain_and_packed = pytest.mark.parametrize("write", ["plain", "gzip"], indirect=True)


def text_pair(write: Writer, source: str | bytes, target: str | bytes, longest: int = MAX_CHARACTERS) -> TextPair:
    corpus = TextPair(write("a.en", source), write("a.fr", target))
    corpus.max_characters = longest
    return corpus


@plain_and_packed
def test_two_texts_give_pairs_by_line_again_and_again(write: Writer) -> None:
    corpus = text_pair(write, "one\ntwo\n", "un\ndeux")
    assert list(corpus) == list(corpus) == [Pair(1, "one", "un"), Pair(2, "two", "deux")]
    assert (corpus.report.read, corpus.report.accepted, corpus.report.first) == (2, 2, [])


def test_byte_order_marks_and_line_ends_are_no_text(write: Writer) -> None:
    corpus = text_pair(write, b"\xef\xbb\xbfone\r\ntwo\r\n", b"\xef\xbb\xbfun\ndeux\n")
    assert [pair[1:3] for pair in corpus] == [("one", "un"), ("two", "deux")]


def test_only_line_feeds_end_lines(write: Writer) -> None:
    """`str.splitlines` would cut at these, and everything after would be beside the wrong line."""
    corpus = text_pair(write, "a\u2028b\x0cc\x85d\ntwo\n", "un\ndeux\n")
    assert [pair.target for pair in corpus] == ["un", "deux"]


def test_every_kind_of_bad_line_is_reported_by_its_number(write: Writer) -> None:
    source = b"one\n\n  \nfour\nfive \xff\nsix\n" + b"x" * 51 + b"\neight\nnine\n"
    target = b"un\ndeux\ntrois\n\ncinq\nsix \xe9\nsept\nhuit\n"
    corpus = text_pair(write, source, target, longest=50)
    assert [pair.line for pair in corpus] == [1, 8]
    assert corpus.report.first == [
        (2, "empty source"), (3, "empty source"), (4, "empty target"), (5, "undecodable source"),
        (6, "undecodable target"), (7, "too long"), (9, "no counterpart"),
    ]  # fmt: skip
    assert (corpus.report.read, corpus.report.accepted, corpus.report.rejected.total()) == (9, 2, 7)


@pytest.mark.parametrize(
    ("spec", "longest"), [("copy", 12), ("english-french", 40), ("copy + toy", 12), ("core:en-fr", 20)]
)
def test_generated_pairs_can_be_too_long(spec: str, longest: int) -> None:
    train, validation, _ = open_corpus(spec, max_characters=longest)
    assert all(max(len(pair.source), len(pair.target)) <= longest for pair in islice(train, 20))
    assert validation is not None and all(len(pair.source) <= longest for pair in islice(validation, 20))


def test_either_side_can_be_too_long(write: Writer) -> None:
    corpus = text_pair(write, "1234\n12345\n123\n", "1234\n12\n12345\n", longest=4)
    assert [pair.line for pair in corpus] == [1]
    assert corpus.report.first == [(2, "too long"), (3, "too long")]


@pytest.mark.parametrize("longer", [0, 1])
def test_lines_without_counterpart_are_counted_in_either_file(write: Writer, longer: int) -> None:
    texts = ["1\n2\n", "1\n2\n3\n4\n5\n"]
    corpus = text_pair(write, texts[1 - longer], texts[longer])
    assert len(list(corpus)) == 2
    assert corpus.report.rejected == {"no counterpart": 3}


def test_report_describes_the_last_whole_pass(write: Writer) -> None:
    corpus = text_pair(write, "1\n\n3\n", "1\n2\n3\n")
    next(iter(corpus))
    assert corpus.report.read == 0
    for _ in range(2):
        list(corpus)
        assert (corpus.report.read, corpus.report.accepted) == (3, 2)


def test_report_stays_small_and_says_what_it_left_out() -> None:
    report = Report("x.tsv", read=5000)
    for line in range(1, 5001):
        report.reject(line, "too long" if line % 2 else "empty source")
    assert len(report.first) == 100
    assert "5,000 pairs read, 0 kept, 5,000 rejected" in str(report)
    assert "2,500 too long: line 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, and 2,490 more" in str(report)


def test_report_of_a_later_check_is_merged_by_line() -> None:
    first, later = Report("x", read=9, accepted=7), Report("x")
    first.reject(2, "empty source")
    first.reject(8, "empty source")
    later.reject(5, "over 10 tokens")
    merged = first.followed_by(later)
    assert merged.first == [Rejected(2, "empty source"), (5, "over 10 tokens"), (8, "empty source")]
    assert (merged.read, merged.accepted) == (9, 6)


@plain_and_packed
def test_tab_separated_columns_by_number(write: Writer) -> None:
    corpus = TableCorpus(write("a.tsv", 'id\t"one\tun\n3\ttwo"\tdeux\n4\n\n5\tthree\t\n'), 1, 2)
    assert list(corpus) == [Pair(1, '"one', "un"), Pair(2, 'two"', "deux")]
    assert corpus.report.first == [(3, "missing column"), (4, "empty line"), (5, "empty target")]


def test_columns_by_name(write: Writer) -> None:
    corpus = TableCorpus(write("a.csv", "id,hi,en\n1,नमस्ते,hello\n"), "en", "hi")
    assert list(corpus) == [Pair(2, "hello", "नमस्ते")]
    with pytest.raises(ValueError, match=r"a\.csv.* no column 'fr'; it has id, hi, en"):
        list(TableCorpus(corpus.path, "en", "fr"))


def test_quoted_cells_hold_commas_quotes_and_lines(write: Writer) -> None:
    corpus = TableCorpus(write("a.csv", '"one, ""two""",un\n"a\nb",c\nthree,trois\n'))
    assert list(corpus) == [Pair(1, 'one, "two"', "un"), Pair(2, "a\nb", "c"), Pair(4, "three", "trois")]


@plain_and_packed
def test_table_rows_that_are_undecodable_or_endless(write: Writer) -> None:
    corpus = TableCorpus(write("a.csv", b"caf\xe9,x\none,un\n" + b"y" * 200_000 + b",z\ntwo,deux\n"))
    assert [pair.line for pair in corpus] == [2, 4]
    assert corpus.report.first == [(1, "undecodable source"), (3, "bad row")]


@plain_and_packed
def test_lines_of_json(write: Writer) -> None:
    records = [
        {"source": "one", "target": "un"}, {"source": "two"}, {"source": "three", "target": 3}, ["four", "quatre"],
        {"source": "", "target": "cinq"}, {"source": "\ud800", "target": "six"},
    ]  # fmt: skip
    broken = ['{"source": "seven"', "", "[" * 100_000, "nine"]
    text = "\n".join([json.dumps(record) for record in records] + broken)
    corpus = JsonLines(write("a.jsonl", text))
    assert list(corpus) == [Pair(1, "one", "un")]
    assert corpus.report.first == [
        (2, "missing column"), (3, "not text"), (4, "missing column"), (5, "empty source"),
        (6, "undecodable source"), (7, "bad JSON"), (8, "empty line"), (9, "bad JSON"), (10, "bad JSON"),
    ]  # fmt: skip


def test_json_translations_as_the_hub_writes_them(write: Writer) -> None:
    corpus = JsonLines(write("a.jsonl", '{"id": 1, "translation": {"en": "one", "hi": "एक"}}\n'), "en", "hi")
    assert list(corpus) == [Pair(1, "one", "एक")]


@pytest.mark.parametrize(
    ("end", "flipped"), [*((end, 0) for end in (2, 12, 40, -8, -1)), (None, 100), (None, -6)]
)  # cut off, or with a damaged byte in the text or in the checksum
def test_a_damaged_gzip_file_is_an_error_that_names_it(tmp_path: Path, end: int | None, flipped: int) -> None:
    content = bytearray(gzip.compress("".join(f"{number}\n" for number in range(1000)).encode()))
    content[flipped] ^= 0xFF * bool(flipped)
    (tmp_path / "a.gz").write_bytes(content[:end])
    with pytest.raises(ValueError, match=r"a\.gz is a damaged gzip file"):
        list(TextPair(tmp_path / "a.gz", tmp_path / "a.gz"))


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "utf16.en").write_bytes("one\n".encode("utf-16"))
    for name, problem in [("none.en", "No such file"), ("", "directory"), ("utf16.en", "UTF-16")]:
        with pytest.raises(ValueError, match=problem):
            list(TextPair(tmp_path / name, tmp_path / name))


def pairs(count: int) -> Pairs:
    return Pairs("numbers", [Pair(line, f"source {line}", f"target {line}") for line in range(1, count + 1)])


@pytest.mark.parametrize(("count", "held"), [(50, 1), (99, 1), (1000, 10), (5000, 50)])
def test_one_pair_in_a_hundred_is_held_out(count: int, held: int) -> None:
    corpus = pairs(count)
    train, validation = hold_out(corpus)
    assert validation is not None and len(list(validation)) == held
    assert sorted([*train, *validation]) == list(corpus)
    assert train.report.accepted == count - held


def test_held_out_pairs_depend_on_the_text_alone() -> None:
    backwards = Pairs("backwards", [Pair(501 - pair.line, *pair[1:3]) for pair in reversed(list(pairs(500)))])
    one, other = ({pair[1:3] for pair in hold_out(corpus)[1] or ()} for corpus in (pairs(500), backwards))
    assert one == other and len(one) == 5


def test_equal_pairs_stay_on_one_side() -> None:
    repeated = Pairs("repeated", [Pair(line, f"source {line % 300}", "x") for line in range(1, 3001)])
    train, validation = ({pair.source for pair in part or ()} for part in hold_out(repeated))
    assert len(validation) == 3 and len(train) == 297 and not train & validation


def test_longer_pairs_are_held_out_like_others() -> None:
    long = Pairs("long", [Pair(line, f"{line:05}" * 1000, "x") for line in range(50)], max_characters=5000)
    assert [len(list(part or ())) for part in hold_out(long)] == [49, 1]


@pytest.mark.parametrize("count", [1, 5, 49])
def test_nothing_is_held_out_of_few_pairs(count: int) -> None:
    corpus = Pairs("few", list(pairs(count)) * 20)  # however often they are there
    assert hold_out(corpus) == (corpus, None)


def test_holding_out_keeps_the_report_of_bad_lines(write: Writer) -> None:
    lines = [{"source": str(number), "target": "x"} for number in range(50)]
    text = "\n".join(map(json.dumps, [*lines, {"source": "\ud800", "target": "x"}, {"source": ""}]))
    train, validation = hold_out(JsonLines(write("a.jsonl", text)))
    assert validation is not None and len([*train, *validation]) == 50
    held, *bad = train.report.first
    assert held.reason == HELD_OUT and bad == [(51, "undecodable source"), (52, "missing column")]


@plain_and_packed
def test_command_line_names_open_their_corpora(write: Writer) -> None:
    source, target = write("a.en", "one\ntwo\nthree\n"), write("a.fr", "un\ndeux\ntrois\n")
    table = write("a.tsv", "en\tfr\none\tun\ntwo\tdeux\n")
    sheet = write("a.csv", "un,one\ndeux,two\n")
    json_lines = write("a.jsonl", '{"en": "one", "fr": "un"}\n{"en": "two", "fr": "deux"}\n')
    for spec, expected in [
        (f"{source},{target}", {("one", "un"), ("two", "deux"), ("three", "trois")}),
        (f"{table}", {("en", "fr"), ("one", "un"), ("two", "deux")}),
        (f"{table}:en:fr", {("one", "un"), ("two", "deux")}),
        (f"{sheet}:1:0", {("one", "un"), ("two", "deux")}),
        (f"{json_lines}:en:fr", {("one", "un"), ("two", "deux")}),
    ]:
        train, validation, test = open_corpus(spec)
        assert {pair[1:3] for pair in train} == expected
        assert validation is None and test is None


def test_named_validation_leaves_the_training_pairs_whole(write: Writer) -> None:
    train = write("train.tsv", "one\tun\ntwo\tdeux\n")
    splits = open_corpus(str(train), validation=str(write("val.tsv", "three\ttrois\n")))
    assert len(list(splits.train)) == 2 and [pair.source for pair in splits.validation] == ["three"]
    assert [pair.source for pair in open_corpus(str(train), validation="copy").validation] == [
        pair.source for pair in open_corpus("copy").validation
    ]


def test_pairs_that_are_held_out_are_counted_with_those_that_equal_them(tmp_path: Path) -> None:
    """A corpus of 6,000 lines silently became one of 5,688."""
    different = [f"source {n}\ttarget {n}\n" for n in range(100)]
    (tmp_path / "a.tsv").write_text("".join(different * 3))
    train, _ = hold_out(open_file(str(tmp_path / "a.tsv")))
    kept = len(list(train))
    assert kept == 297 and train.report.read == 300 and train.report.rejected == {HELD_OUT: 3}


@pytest.mark.parametrize("spec", ["", "reverse:x", "a.txt", "a,b,c", "hub:name:en", "tokens:en-fr"])
def test_other_names_are_answered_with_the_forms(spec: str) -> None:
    with pytest.raises(ValueError, match="is not a corpus; write multi30k:en-fr, tatoeba:en-fr, phrases:en-fr"):
        open_corpus(spec)


@pytest.mark.parametrize("task", ["copy", "reverse", "dates"])
def test_generated_tasks_open_by_name(task: str) -> None:
    train, validation, test = open_corpus(task, seed=3)
    assert test is not None and len(list(validation)) == len(list(test)) == 1000
    assert next(iter(train)) != next(iter(open_corpus(task, seed=4).train))


def test_a_key_called_origin_is_no_corpus_of_a_mixture(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"source": "a", "target": "b", "origin": "somewhere"}\n')
    assert [pair.origin for pair in JsonLines(path)] == [""]
    assert [pair.origin for pair in JsonLines(path, origin="origin")] == ["somewhere"]


def test_what_is_nothing_yet_was_never_written_and_a_folder_when_its_tables_were(tmp_path: Path) -> None:
    assert modified_at("") == ()
    table = tmp_path / "en-fr.train.tsv"
    table.write_text("a\tb\n")
    os.utime(table, ns=(5, 5))
    assert modified_at(f"{tmp_path}:en-fr") == (5,)
    os.utime(table, ns=(7, 7))
    assert modified_at(f"{tmp_path}:en-fr + reverse") == (7, 0)
