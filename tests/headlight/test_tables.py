"""A corpus as a table: the numbers of single sentences, in the file's order, whatever batches and stops there were."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow.parquet
import pytest

import headlight
from headlight.analysis import measure
from headlight.analysis.why import contributions, leave_one_out
from headlight.cli.verbs import main
from headlight.corpora.pairs import Pair, Rejected
from headlight.tables import files
from headlight.tables.columns import column_types, columns_of
from headlight.tables.files import Table, write_table
from headlight.tables.passes import trace_rows
from headlight.tables.sentences import Row, read_rows, windows
from tests.small import TEXTS, small_translator
from transformer.checkpoint import native
from transformer.taps import Ablate, Site
from transformer.trace import Trace
from transformer.translator import Translator

SENTENCES = [TEXTS[0], "a girl", TEXTS[1], "two dogs are sitting", "a", TEXTS[1], "a girl is running in the snow ."]


@pytest.fixture(scope="module")
def model() -> Translator:
    return small_translator()


@pytest.mark.parametrize("masks", ["applied", "never"])
def test_batches_give_the_traces_of_single_sentences(masks: str) -> None:
    model = small_translator(padding_mask=masks)
    given = [*SENTENCES, ("two dogs", "a little girl is")]
    traces = list(headlight.trace_over(model, iter(given), beam_size=2))
    assert len(traces) == len(given)
    for sentence, trace in zip(given, traces, strict=True):
        text, target = (sentence, None) if isinstance(sentence, str) else sentence
        alone = model.trace(text, target, beam_size=2)
        assert (trace.text, trace.translation, trace.finished) == (text, alone.translation, alone.finished)
        assert (trace.source, trace.target) == (alone.source, alone.target)
        np.testing.assert_allclose(trace.log_probs, alone.log_probs, atol=1e-5)
        for kind in alone.kinds:
            np.testing.assert_allclose(trace.pattern(kind), alone.pattern(kind), atol=1e-5)


def test_interventions_reach_the_whole_batch(model: Translator) -> None:
    site = Site("decoder", 1, "cross")
    traces = list(headlight.trace_over(model, SENTENCES[:3], interventions=[Ablate(site, 1)], beam_size=1))
    assert all(not trace.pattern("cross")[1, 1].any() and trace.interventions for trace in traces)
    for text, trace in zip(SENTENCES, traces, strict=False):
        assert trace.translation == model.trace(text, None, [Ablate(site, 1)], 1).translation


def test_explanations_are_those_of_single_sentences(model: Translator) -> None:
    found = list(headlight.why_over(model, [*SENTENCES[:3], ("a girl", "two dogs")]))
    assert [one.line for one in found] == [1, 2, 3, 4] and found[3].translation == "two dogs"
    for one in found:
        shares = contributions(model.model, one.source.ids, one.target.ids)
        np.testing.assert_allclose(one.from_source, shares.source, atol=1e-9)
        np.testing.assert_allclose(one.from_prefix, shares.prefix, atol=1e-9)
        np.testing.assert_allclose(one.from_source.sum(1) + one.from_prefix.sum(1), 1.0)
        assert one.left_out is not None
        np.testing.assert_allclose(one.left_out, leave_one_out(model.model, one.source.ids, one.target.ids))
        np.testing.assert_allclose(one.log_probs, model.trace_ids(one.source.ids, one.target.ids).log_probs, atol=1e-5)


def test_a_wrong_sentence_is_named_or_left_out(model: Translator) -> None:
    wrong: list[Rejected] = []
    sentences: list[Any] = ["a girl", "", "a " * 40, 7, "two dogs"]
    with pytest.raises(ValueError, match="Sentence 2: There is nothing to translate"):
        list(headlight.trace_over(model, sentences))
    traces = list(headlight.trace_over(model, sentences, on_wrong=wrong.append))
    assert [trace.text for trace in traces] == ["a girl", "two dogs"]
    assert [row.line for row in wrong] == [2, 3, 4]
    assert "reads at most 32" in wrong[1].reason and "7 is neither a str" in wrong[2].reason


def test_a_dataframe_has_each_visible_weight_once(model: Translator) -> None:
    trace = model.trace(TEXTS[1])
    frame = trace.to_dataframe()
    assert frame.groupby("kind").size().to_dict() == {
        kind: trace.pattern(kind).shape[0] * trace.pattern(kind).shape[1] * int((~trace.masked(kind)).sum())
        for kind in trace.kinds
    }
    for row in frame.sample(50, random_state=0).itertuples():
        assert row.weight == trace.pattern(row.kind)[row.layer, row.head, row.query, row.key]
        assert row.query_token == trace.rows(row.kind)[row.query]
        assert row.key_token == trace.columns(row.kind)[row.key]
    heads = headlight.head_table(trace)
    values = headlight.measure(trace, "cross")
    for row in heads[heads.kind == "cross"].itertuples():
        assert row.entropy == values["entropy"][row.layer, row.head]


def test_a_sentence_with_too_many_weights_is_left_out(model: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headlight.tables.columns.MAX_SENTENCE_WEIGHTS", 400)
    window: list[Row] = [Pair(1, "a", "a"), Pair(2, TEXTS[0], TEXTS[0])]
    short, long = trace_rows(model, window, lambda trace: columns_of(trace, "weights"))
    assert isinstance(short, tuple) and isinstance(long, Rejected) and "make a row for each head" in long.reason


def test_the_rows_of_an_explanation(model: Translator) -> None:
    (one,) = headlight.why_over(model, [TEXTS[1]], left_out=False)
    frame = one.to_dataframe()
    assert frame.left_out.isna().all()
    sums = frame.groupby("step").contribution.sum()
    assert len(sums) == len(one.log_probs) and np.allclose(sums, 1)
    prefix = frame[frame.side == "prefix"]
    assert (prefix.position <= prefix.step).all() and (prefix.token[prefix.position == 0] == one.target.labels[0]).all()


# ---- files ---------------------------------------------------------------------------------------------------------


def corpus() -> list[Row]:
    return [Pair(number, text, "") for number, text in enumerate(SENTENCES * 3, 1)] + [Rejected(22, "no text")]


def fours(rows: list[Row]) -> Iterator[list[Row]]:
    """Windows of four sentences."""
    return (rows[first : first + 4] for first in range(0, len(rows), 4))


def rows_of(window: list[Row]) -> Iterator[tuple[int, dict[str, np.ndarray]] | Rejected]:
    """A sentence's rows made of its letters, so that a part tells which sentence it is of."""
    for row in window:
        if isinstance(row, Rejected):
            yield row
            continue
        letters = np.array(list(row.source), dtype=object)
        step, third = np.arange(len(letters)), np.arange(len(letters)) / 3
        nothing = np.full(len(letters), np.nan)
        yield row.line, {
            "step": step, "written": letters, "log_prob": -third, "side": letters, "position": step,
            "token": letters, "contribution": third, "left_out": nothing,
        }  # fmt: skip


@pytest.mark.parametrize("suffix", files.SUFFIXES)
def test_a_run_that_was_killed_ends_in_the_same_file(suffix: str, tmp_path: Path) -> None:
    def table(name: str, **settings: Any) -> Table:
        return Table(tmp_path / f"{name}{suffix}", column_types("steps"), settings)

    computed: list[int] = []

    def stopping_after(count: int) -> Any:
        def compute(window: list[Row]) -> Iterator[Any]:
            for at, found in enumerate(rows_of(window)):
                if len(computed) == count and at == 2:  # amid a window
                    raise KeyboardInterrupt
                yield found
            computed.append(window[0].line)

        return compute

    whole = write_table(table("whole", model="a"), fours(corpus()), rows_of)
    skipped: list[int] = []
    for stop in (2, 2, 99):  # twice stopped
        computed.clear()
        rows, killed = fours(corpus()), table("killed", model="a")
        try:
            summary = write_table(killed, rows, stopping_after(stop), skipped.append)
        except KeyboardInterrupt:
            assert not (tmp_path / f"killed{suffix}").exists()
    assert skipped == [4, 4] + [4] * 4 and computed == [17, 21]
    assert (whole.sentences, whole.wrong, summary.resumed) == (21, 1, 16)
    assert (summary.sentences, summary.rows, summary.first_wrong) == (21, whole.rows, whole.first_wrong)
    assert (tmp_path / f"killed{suffix}").read_bytes() == (tmp_path / f"whole{suffix}").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"killed{suffix}", f"whole{suffix}"]
    with pytest.raises(ValueError, match="exists already"):
        table("whole")


def test_parts_of_other_settings_or_sentences_and_damaged_parts_are_not_used(tmp_path: Path) -> None:
    def run(model: str, rows: list[Row]) -> None:
        table = Table(tmp_path / "out.csv", column_types("steps"), {"model": model})

        def compute(window: list[Row]) -> Iterator[Any]:
            computed.append(window[0].line)
            if window[0].line == 9:
                raise KeyboardInterrupt
            yield from rows_of(window)

        with pytest.raises(KeyboardInterrupt):
            write_table(table, fours(rows), compute)

    computed: list[int] = []
    run("a", corpus())
    run("b", corpus())
    changed = corpus()
    changed[5] = Pair(6, "another", "")
    run("b", changed)
    assert computed == [1, 5, 9, 1, 5, 9, 5, 9]
    for part in (tmp_path / "out.csv.part").glob("000000-*[!n]"):
        part.write_bytes(part.read_bytes()[:-1])
    run("b", changed)
    assert computed[8:] == [1, 9]


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    table = Table(tmp_path / "out.csv", column_types("steps"), {})

    def compute(window: list[Row]) -> Iterator[Any]:
        with pytest.raises(ValueError, match="Another process is writing into"):
            write_table(table, windows(corpus()), rows_of)
        yield from rows_of(window)

    assert write_table(table, windows(corpus()), compute).sentences == 21


def test_a_window_ends_where_it_would_cost_too_much() -> None:
    read: list[int] = []

    def sentences(characters: int) -> Iterator[Row]:
        for number in range(1, 10_001):
            read.append(number)
            yield Pair(number, "a" * characters, "")

    for characters, share, length in ((10, 1, 256), (2000, 1, 1), (500, 1, 16), (10, 64, 256), (125, 64, 4)):
        read.clear()
        assert len(next(windows(sentences(characters), share))) == length == len(read)


def test_small_parts_are_joined_to_large_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer of Parquet keeps facts of each group until the end: one for each part would grow with the corpus."""
    monkeypatch.setattr(files, "ROW_GROUP_ROWS", 150)
    table = Table(tmp_path / "out.parquet", column_types("steps"), {})
    whole = write_table(table, fours(corpus()), rows_of)
    groups = pyarrow.parquet.ParquetFile(table.out).metadata
    sizes = [groups.row_group(number).num_rows for number in range(groups.num_row_groups)]
    assert sum(sizes) == whole.rows and len(sizes) < 5 and min(sizes[:-1]) >= 150
    letters = [letter for row in corpus() if isinstance(row, Pair) for letter in row.source]
    assert pandas.read_parquet(table.out)["token"].tolist() == letters


# ---- the command ---------------------------------------------------------------------------------------------------


def test_three_commands_three_formats(small_folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "sentences.txt"
    text.write_bytes("\n".join(["\ufeffa girl", "", "two dogs are running", "a " * 40]).encode() + b"\ntwo \xff dogs\n")
    for suffix in files.SUFFIXES:
        assert main(["why", small_folder, str(text), "--out", str(tmp_path / f"why{suffix}")]) == 0
    error = capsys.readouterr().err
    assert "of 2 sentences\n2 lines left out:\n  line 4: The sentence has 41 tokens" in error
    assert "line 5: not UTF-8 text" in error
    parquet = pandas.read_parquet(tmp_path / "why.parquet")
    lines = [json.loads(line) for line in (tmp_path / "why.jsonl").read_text("utf-8").splitlines()]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "why.csv").read_text("utf-8"))))
    assert list(parquet.columns) == list(lines[0]) == list(rows[0]) == list(column_types("steps"))
    assert len(parquet) == len(lines) == len(rows) and set(parquet.line) == {1, 3}
    np.testing.assert_allclose(parquet.contribution, [line["contribution"] for line in lines], rtol=1e-6)
    np.testing.assert_allclose(parquet.contribution, [float(row["contribution"]) for row in rows], rtol=1e-6)
    assert list(parquet.token) == [line["token"] for line in lines] == [row["token"] for row in rows]
    assert [line["left_out"] is None for line in lines] == list(parquet.left_out.isna())

    model = Translator(native.load(small_folder))
    shares = contributions(model.model, *model.encode_pair("two dogs are running"))
    source = parquet[(parquet.line == 3) & (parquet.side == "source")]
    np.testing.assert_allclose(source.contribution, shares.source.ravel(), atol=1e-6)


def test_the_table_of_trace(
    small_folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text('{"source": "a girl", "target": "two dogs"}\n{"source": "a girl"}\n[[[\n')
    assert main(["trace", small_folder, str(pairs), "--out", str(tmp_path / "heads.csv")]) == 0
    assert "2 lines left out:\n  line 2: missing column\n  line 3: bad JSON" in capsys.readouterr().err
    heads = pandas.read_csv(tmp_path / "heads.csv")
    trace = Translator(native.load(small_folder)).trace("a girl", "two dogs")
    assert len(heads) == 2 * 4 + 2 * 3 * 2 and set(heads.translation) == {"two dogs"}
    punctuation = np.zeros(len(trace.source), bool)
    by_hand = measure(trace.pattern("cross"), trace.masked("cross"), np.array(trace.source.special), punctuation)
    np.testing.assert_allclose(heads.entropy[heads.kind == "cross"], by_hand["entropy"].ravel(), rtol=1e-5)
    assert heads.log_prob[0] == pytest.approx(trace.log_prob, rel=1e-5)

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a girl\n\ntwo dogs")))
    out = tmp_path / "weights.parquet"
    assert main(["trace", small_folder, "--rows", "weights", "--beam", "1", "--out", str(out)]) == 0
    weights = pandas.read_parquet(out)
    assert set(weights.line) == {1, 3}
    sums = weights.groupby(["line", "kind", "layer", "head", "query"]).weight.sum()
    np.testing.assert_allclose(sums, 1, atol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["why", "MODEL", "FILE", "--out", "table.txt"], "table.txt ends in no format of a table"),
        (["why", "MODEL", "FILE", "--out", "none/table.csv"], "There is no folder"),
        (["why", "MODEL", "FILE", "--out", "table.csv", "--step", "1"], "leave them out with --out"),
        (["why", "MODEL", "nowhere.txt", "--out", "table.csv"], "nowhere.txt cannot be read"),
        (["why", "MODEL", "EMPTY", "--out", "table.csv"], "There is no sentence in the corpus"),
        (["why", "MODEL", "WRONG", "--out", "table.csv"], "None of the 1 lines could be computed. Line 1: over 20,000"),
        (["trace", "MODEL", "FILE", "FILE", "--out", "table.csv"], "A table is made of one file"),
        (["watch", "MODEL", "FILE", "--out", "table.npz"], "table.npz ends in no format of a table"),
    ],
)
def test_what_is_wrong_is_a_sentence(
    arguments: list[str],
    message: str,
    small_folder: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("FILE", "a girl\n"), ("EMPTY", "\n\n"), ("WRONG", "a" * 30_000)):
        (tmp_path / name).write_text(text)
    assert main([small_folder if argument == "MODEL" else argument for argument in arguments]) == 1
    assert message in capsys.readouterr().err
    assert not list(tmp_path.glob("table*"))


def test_a_table_of_a_live_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`attention_of` has tests of its own; here each sentence is passed to it, and its trace is written."""
    model = small_translator()
    monkeypatch.setattr("headlight.tables.passes.attention_of", lambda live, tokenizer, text, target: live.trace(text))
    traces: list[Trace] = list(headlight.watch_over(model, None, SENTENCES[:2]))
    assert [trace.text for trace in traces] == SENTENCES[:2]
    expected = pandas.concat([pandas.DataFrame(columns_of(trace, "heads")) for trace in traces], ignore_index=True)

    class Digest:
        def named_parameters(self) -> Iterator[Any]:
            return model.model.named_parameters()

        def trace(self, text: str) -> Trace:
            return model.trace(text)

    monkeypatch.setattr("headlight.cli.tables.load_pretrained", lambda name: (Digest(), None))
    (tmp_path / "two.txt").write_text("\n".join(SENTENCES[:2]))
    assert main(["watch", "some/model", str(tmp_path / "two.txt"), "--out", str(tmp_path / "out.parquet")]) == 0
    found = pandas.read_parquet(tmp_path / "out.parquet")
    assert list(found.line.value_counts().sort_index()) == [20, 20]
    np.testing.assert_allclose(found.entropy, expected.entropy, rtol=1e-5)


def test_rows_of_a_table(tmp_path: Path) -> None:
    table = tmp_path / "pairs.tsv"
    table.write_text('a "girl\tzwei\n\nalone\n\ttarget\nown\t\n')
    assert list(read_rows(str(table))) == [
        Pair(1, 'a "girl', "zwei"), Rejected(3, "missing column"), Rejected(4, "empty source"), Pair(5, "own", ""),
    ]  # fmt: skip
