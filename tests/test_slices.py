"""Slices of a data set: the sentences of each, and scores, intervals and p-values equal to sacreBLEU's."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import sacrebleu

from headlight import checkpoints, slices
from headlight.cli.verbs import main
from headlight.corpora.corpora import open_split
from headlight.corpora.files import JsonLines, TableCorpus
from headlight.corpora.pairs import Pair, Pairs
from headlight.evaluation import Evaluator
from headlight.slices import words
from headlight.slices.evaluating import read_columns, score_slices
from headlight.slices.kinds import MAX_COLUMN_SLICES
from tests.small import small_checkpoint
from transformer.translator import Translator

UTF8 = {"PYTHONIOENCODING": "utf-8"}
TEXT = "the a small old dog cat girl man sees eats likes red blue house tree is not he she in Paris"
WORDS = TEXT.split()


def texts(count: int, seed: int = 0) -> list[str]:
    """Different sentences of 2 to 14 words."""
    rng = random.Random(seed)
    return [f"{number} " + " ".join(rng.choices(WORDS, k=rng.randint(2, 14))) for number in range(count)]


def noisy(references: list[str], share: float, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [
        " ".join(rng.choice(WORDS) if rng.random() < share else word for word in text.split()) for text in references
    ]


def evaluator(sources: list[str], references: list[str]) -> Evaluator:
    return Evaluator(sources, references, [([1], [1, 2])] * len(sources))


@pytest.mark.parametrize(
    ("kind", "language", "having", "lacking"),
    [
        ("negation", "English", "I don’t know.|Nobody came|He can't.|No.|I cannot", "A knot.|Another note|an ant"),
        ("negation", "French", "Il n'est pas là|sans sel|Je n’ai rien|Aucune idée", "Il est passé|une nation|nous"),
        ("negation", "German", "Das ist kein Hund|Nie!|ohne Salz", "Das ist klein|Nichte und Neffe|genie"),
        ("negation", "Hindi", "वह नहीं आया।|यहाँ मत आओ|बिना नमक", "वह आया।|मतलब|नाम"),
        ("pronouns", "English", "It's late|I saw them.|THEY left", "I saw the item|We left|sheep"),
        ("pronouns", "French", "qu'il vienne|Dit-elle|leurs amis", "l'île|nous avons|la table"),
        ("pronouns", "German", "Er kommt|mit ihnen|seine Frau", "Wir wollen da sein|Kommt|der Berg"),
        ("pronouns", "Hindi", "वह आया|उसने कहा|उनका घर", "राम आया|घर|वहाँ"),
        ("names", "English", "I saw Anna.|He met Mr. Brown|in the Alps",
         'He said: "Yes." Then I left|On Monday|A TV|It rains. We go'),
        ("names", "French", "Je vois Anna|vers l'Italie|M. Dupont part",
         "Bonjour ! Je pars|« Oui », dit-il|Il part. Elle reste"),
    ],
)  # fmt: skip
def test_words_tell_who_is_in_a_slice(kind: str, language: str, having: str, lacking: str) -> None:
    sources = [*having.split("|"), *lacking.split("|")]
    made, left_out = slices.slice_sentences(sources, [kind], language=language)
    count = having.count("|") + 1
    assert not left_out
    assert [one.rows for one in made] == [tuple(range(count)), tuple(range(count, len(sources)))]
    assert made[0].name.startswith("with") and made[1].name.startswith("without")


def test_the_slices_of_a_kind_share_out_all_sentences() -> None:
    sources = texts(400)
    columns = {"topic": [str(n % 5) for n in range(400)], "many": [f"v{n}" for n in range(400)]}
    kinds = [*slices.KINDS, "column:topic", "column:many", "length"]
    made, left_out = slices.slice_sentences(
        sources, kinds, language="English", read={"the", "a", "small", "dog"}, columns=columns
    )
    assert not left_out
    for kind in dict.fromkeys(kinds):
        of_kind = [one for one in made if one.kind == kind]
        assert sorted(row for one in of_kind for row in one.rows) == list(range(400)) and all(
            one.rows for one in of_kind
        )
    for one in made:
        if one.kind == "length":
            low, high = (int(number) for number in one.name.split() if number.isdigit())
            assert all(low <= len(sources[row].split()) <= high for row in one.rows)
    assert {one.name for one in made if one.kind == "column:topic"} == set("01234")
    many = [one.name for one in made if one.kind == "column:many"]
    assert len(many) == MAX_COLUMN_SLICES + 1 and many[-1] == f"({400 - MAX_COLUMN_SLICES} other values)"


def test_kinds_that_do_not_apply_are_said() -> None:
    made, left_out = slices.slice_sentences(["Hola", "No"], ["rare", "names", "negation", "length"], language="Spanish")
    assert [one.kind for one in made] == ["length"]
    assert "words.txt.gz" in left_out["rare"] and "not for the source language Spanish" in left_out["negation"]
    assert "capital" in slices.slice_sentences(["Der Hund"], ["names"], language="German")[1]["names"]
    assert "no source language" in slices.slice_sentences(["abc"], ["pronouns"])[1]["pronouns"]
    assert "no spaces" in slices.slice_sentences(["我喜欢狗", "今日は"], ["length"])[1]["length"]
    assert not words.has_spaces(["สวัสดี"]) and words.has_spaces(["नमस्ते दुनिया", "hello", "..."])
    with pytest.raises(ValueError, match="'lenth' is not a kind of slice; choose among length, rare"):
        slices.slice_sentences(["a"], ["lenth"])
    with pytest.raises(ValueError, match="no column 'x'"):
        slices.slice_sentences(["a"], ["column:x"])


def test_a_word_is_rare_where_the_training_lacks_it() -> None:
    made, _ = slices.slice_sentences(["The dog, 12!", "A Zorgon"], ["rare"], read={"the", "dog", "a"})
    assert [(one.name, one.rows) for one in made] == [
        ("with a word that the training lacks", (1,)), ("all words in the training", (0,))
    ]  # fmt: skip


@pytest.mark.slow
def test_scores_and_intervals_are_those_of_sacrebleu() -> None:
    sources, references = texts(90), texts(90, 1)
    written = noisy(references, 0.3, 2)
    made, _ = slices.slice_sentences(sources, ["length", "negation"], language="English")
    evaluation = score_slices(evaluator(sources, references), [written], made)
    assert [scores.sentences for scores in evaluation.slices] == [90, *(len(one.rows) for one in made)]
    for scores in evaluation.slices:
        ours, right = ([of[row] for row in scores.slice.rows] for of in (written, references))
        assert scores.bleu[0].score == sacrebleu.corpus_bleu(ours, [right]).score
        assert scores.chrf[0].score == sacrebleu.corpus_chrf(ours, [right]).score
        assert scores.p_bleu is None is scores.p_chrf
        assert scores.is_small == (scores.sentences < 20) == (scores.bleu[0].half_width is None)
    assert any(scores.is_small for scores in evaluation.slices)
    # The bootstrap once more: resampled corpora, each scored as a corpus.
    drawn = np.random.default_rng(12345).choice(90, size=(1000, 90))
    resampled = sorted(
        sacrebleu.corpus_bleu([written[n] for n in rows], [[references[n] for n in rows]]).score for rows in drawn[:100]
    )
    everything = evaluation.slices[0].bleu[0]
    assert everything.mean is not None and everything.half_width is not None
    assert everything.mean == pytest.approx(np.mean(resampled), abs=0.6)
    assert everything.half_width == pytest.approx((resampled[97] - resampled[2]) / 2, rel=0.4)
    each = [sacrebleu.sentence_chrf(text, [right]).score for text, right in zip(written, references, strict=True)]
    assert [sentence.chrf[0] for sentence in evaluation.sentences] == each
    assert [sentence.chrf[0] for sentence in evaluation.worst(7)] == sorted(each)[:7]
    among = made[0]
    assert {sentence.line - 1 for sentence in evaluation.worst(1000, among)} == {n for n in among.rows if each[n] < 100}


def test_two_models_are_tested_as_the_command_of_sacrebleu_does(tmp_path: Path) -> None:
    references = texts(60, 1)
    written = [noisy(references, 0.3, 2), noisy(references, 0.4, 3)]
    files = []
    for name, lines in zip(("right", "one", "two"), (references, *written), strict=True):
        files.append(tmp_path / name)
        files[-1].write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    command = [
        sys.executable, "-m", "sacrebleu", str(files[0]), "-i", *map(str, files[1:]), "-m", "bleu", "chrf",
        "--paired-bs",
    ]  # fmt: skip
    command += ["--format", "latex", "-w", "4"]  # its JSON fails with chrF
    output = subprocess.run(command, capture_output=True, encoding="utf-8", env=os.environ | UTF8, check=True).stdout
    rows = [line.split("&")[1:] for line in output.splitlines() if line.endswith(r"\\")][1:]
    theirs = [[[float(number) for number in re.findall(r"\d+\.\d+", cell)] for cell in row] for row in rows]
    evaluation = score_slices(evaluator(texts(60), references), written, [])
    everything = evaluation.slices[0]
    for metric, (ours, p) in enumerate(((everything.bleu, everything.p_bleu), (everything.chrf, everything.p_chrf))):
        for number, estimate in enumerate(ours):
            expected = theirs[number][metric]
            assert [estimate.score, estimate.mean, estimate.half_width] == pytest.approx(expected[:3], abs=1e-4)
        assert p == pytest.approx(theirs[1][metric][3], abs=1e-4)
    differing = evaluation.differing(5)
    assert [abs(sentence.difference) for sentence in differing] == sorted(
        (abs(sentence.chrf[1] - sentence.chrf[0]) for sentence in evaluation.sentences), reverse=True
    )[:5]


def test_equal_models_have_no_p_value() -> None:
    references = texts(30, 1)
    same = score_slices(evaluator(texts(30), references), [references, references], [])
    assert same.slices[0].p_bleu is None is same.slices[0].p_chrf and not same.differing(3)


def test_an_evaluation_survives_json_and_a_damaged_one_is_refused() -> None:
    references = texts(25, 1)
    sources = evaluator(texts(25), references)
    made, left_out = slices.slice_sentences(sources.sources, ["length", "rare"])
    evaluation = score_slices(sources, [noisy(references, 0.5, 1), references], made, left_out)
    facts = json.loads(json.dumps(evaluation.to_dict()))
    assert slices.SlicedEvaluation.from_dict(facts) == evaluation
    facts["slices"][1]["rows"] = [25]
    with pytest.raises(ValueError, match="not there"):
        slices.SlicedEvaluation.from_dict(facts)


def test_too_many_sentences_are_refused_before_they_are_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headlight.slices.evaluating.MAX_SENTENCES", 3)
    corpus = Pairs("four", [Pair(n, "a dog" + " a" * n, "x") for n in range(1, 5)])
    model = Translator(small_checkpoint())
    with pytest.raises(ValueError, match="There are 4 sentences, and slices are made of at most 3"):
        slices.evaluate(model, corpus)
    reported: list[tuple[float, str]] = []
    evaluation = slices.evaluate(
        model, corpus, ["length"], pairs=3, beam_size=1, progress=lambda *of: reported.append(of)
    )
    assert evaluation.slices[0].sentences == 3 and reported[0][0] == 0
    assert [share for share, _ in reported] == sorted(share for share, _ in reported)


def test_columns_of_hostile_files(tmp_path: Path) -> None:
    table = tmp_path / "pairs.tsv"
    values = [b"\x1b[2J<script>*", b"", b"\xff\xfe", b"x" * 100_000, "\u202eabc".encode(), b"1"]
    rows = [b"s%d\tt%d\t%s" % (n, n, value) for n, value in enumerate(values)]
    table.write_bytes(b"\n".join([b"src\ttgt\ttopic", *rows, b"s9\tt9", b""]))
    corpus = TableCorpus(table, "src", "tgt")
    lines = [pair.line for pair in corpus]
    column = read_columns(corpus, ["column:topic", "length"], lines)["topic"]
    assert (
        column[:3] == ["\x1b[2J<script>*", "", "??"] and len(column[3]) == 200 and column[4:] == ["\u202eabc", "1", ""]
    )
    made, _ = slices.slice_sentences([f"s{n}" for n in lines], ["column:topic"], columns={"topic": column})
    assert sum(len(one.rows) for one in made) == len(lines) and max(len(one.name) for one in made) == 60
    assert next(one for one in made if one.name == "(empty)").rows == (1, 6)
    with pytest.raises(ValueError, match="has no column 'nothing'; it has src, tgt, topic"):
        read_columns(corpus, ["column:nothing"], lines)
    by_number = TableCorpus(table, 0, 1)
    assert read_columns(by_number, ["column:2"], [1, 7])["2"] == ["topic", "1"]
    with pytest.raises(ValueError, match="name those of the source and the target as well"):
        read_columns(by_number, ["column:topic"], [1])
    with pytest.raises(ValueError, match="has no column 7; it has 3"):
        read_columns(by_number, ["column:7"], [99])
    with pytest.raises(ValueError, match="only the columns of one .tsv"):
        read_columns(open_split("english-french"), ["column:x"], [1])
    records = [{"k": "a"}, {"k": True}, {"k": 3}, {"k": ["no"]}, {"translation": {"k": "in"}}, {}, "text"]
    file = tmp_path / "pairs.jsonl"
    file.write_text(
        "".join(f"{json.dumps(record)}\n" for record in records) + "{bad\n" + "[" * 99_999, encoding="utf-8"
    )
    read = read_columns(JsonLines(file), ["column:k"], list(range(1, 10)))["k"]
    assert read == ["a", "true", "3", "", "in", "", "", "", ""]
    with pytest.raises(ValueError, match="has the key 'z'"):
        read_columns(JsonLines(file), ["column:z"], [1, 20])


@pytest.mark.slow
def test_the_command_prints_and_writes_slices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = small_checkpoint()
    checkpoints.save(first, tmp_path / "first")
    checkpoints.save(first, tmp_path / "second")
    sources = [f"a girl sees dog {'dog ' * (n % 12)}{n}" for n in range(40)]
    right = noisy(sources, 0.0, 0)
    answers = {
        "first": dict(zip(sources, noisy(right, 0.4, 1), strict=True)),
        "second": dict(zip(sources, right, strict=True)),
    }
    calls: list[str] = []

    def translate(self: Translator, texts: list[str], *_: object, **__: object) -> list[SimpleNamespace]:
        calls.append("second" if calls else "first")
        return [SimpleNamespace(text=answers[calls[-1]][text]) for text in texts]

    monkeypatch.setattr(Translator, "translate_batch", translate)
    data = tmp_path / "data.tsv"
    rows = [f"{text}\t{text}\t{'even' if n % 2 == 0 else chr(27) + '[31mred'}" for n, text in enumerate(sources)]
    data.write_text("\n".join(["en\tfr\tkind", *rows]), encoding="utf-8")
    given = ["evaluate", str(tmp_path / "first"), "--data", f"{data}:en:fr", "--json", str(tmp_path / "out.json")]
    assert (
        main([*given, "--slices", "length, names,column:kind", "--worst", "2", "--against", str(tmp_path / "second")])
        == 0
    )
    output = capsys.readouterr().out
    assert (
        "\x1b" not in output and "�[31mred" in output and "Names: left out, since names are known for English" in output
    )
    assert "The 2 sentences where the models differ most" in output
    facts = json.loads((tmp_path / "out.json").read_text())
    evaluation = slices.SlicedEvaluation.from_dict(facts["sliced"])
    assert facts["BLEU"] == round(evaluation.slices[0].bleu[0].score, 2) and evaluation.slices[0].bleu[1].score > 99.9
    assert [scores.sentences for scores in evaluation.slices if scores.slice.kind == "column:kind"] == [20, 20]
    assert evaluation.slices[0].p_bleu == pytest.approx(1 / 1001) and evaluation.sentences[0].line == 2
    calls.clear()
    assert main([*given, "--worst", "3", "--pairs", "10"]) == 0
    output = capsys.readouterr().out
    assert (
        "The 3 sentences with the lowest chrF" in output and "all sentences" in output and "10 pairs at most" in output
    )
    for wrong, message in (
        ("--worst=-1", "--worst"),
        ("--pairs=0", "--pairs"),
        ("--slices=lenth", "'lenth' is not a kind"),
    ):
        calls.clear()
        assert main([*given, wrong]) == 1 and message in capsys.readouterr().err and not calls


def test_two_models_are_scored_on_the_pairs_that_both_can_read() -> None:
    checkpoint = small_checkpoint()
    longest = checkpoint.model.config.max_length
    pairs = [
        Pair(1, "a dog", "a dog"),
        Pair(2, " ".join(["dog"] * (2 * longest)), "a dog"),
        Pair(3, "a girl", "a girl"),
    ]
    alone = Evaluator.of(checkpoint, "three", pairs, [checkpoint])
    assert (alone.sources, alone.lines, alone.left_out) == (["a dog", "a girl"], [1, 3], 1)
    assert Evaluator.of(checkpoint, "three", pairs, max_pairs=1).lines == [1]
