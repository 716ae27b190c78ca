"""Alignment error rates: by hand, of planted heads, against the atlas, and the command `align`."""

from __future__ import annotations

import json
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from headlight import checkpoints
from headlight.analysis import alignment_error
from headlight.analysis.alignment_error import alignment_errors, error_counts, error_rates, grow_diagonal
from headlight.analysis.atlas import atlas
from headlight.analysis.atlas.batch import Marks, prepare
from headlight.analysis.atlas.reading import Reader, SkippedPairs
from headlight.analysis.measures import Pattern, misaligned
from headlight.cli.verbs import main
from headlight.corpora.corpora import open_split
from headlight.corpora.pairs import Pair, Pairs
from headlight.corpora.pharaoh import (
    GoldSentence,
    Links,
    TimedWord,
    format_links,
    generated_gold,
    gold_of_file,
    links_of_times,
    parse_links,
    read_links,
    read_times,
)
from headlight.corpora.truth import known_pairs
from tests.small import TEXTS, small_checkpoint
from transformer.checkpoint import Checkpoint
from transformer.taps import Inputs, Site, chain

ENGLISH_FRENCH = Path(__file__).parents[1] / "checkpoints" / "english-french"
SENTENCES = [*TEXTS[:2], "two dogs are sitting on a bench .", "a little girl is running in the snow ."]


# ---- the formula and the format ------------------------------------------------------------------------------------


def test_the_rate_of_och_and_ney_by_hand() -> None:
    gold = parse_links("0-0 1p1 2?0")
    assert error_counts({(0, 0), (1, 1), (2, 1)}, gold) == (1 + 2, 3 + 1)
    assert error_counts(set(), gold) == (0, 1)
    counts = np.array([[3, 4], [1, 1], [0, 5]])
    ((rate, low, high),) = error_rates(counts[:, :1], counts[:, 1:])
    assert rate == 1 - 4 / 10  # over the sentences together: 4 of 4 + 1 + 5
    assert low == 0 and high == 1  # three times the second, or the third, is drawn in 1 of 27
    assert error_rates(counts[:2, 1:], counts[:2, 1:])[0] == (0, 0, 0)


def test_possible_links_never_count_against_a_head() -> None:
    """With all sure links and any possible ones the rate is 0."""
    gold = parse_links("0-0 1-1 1p2 2p2")
    for possible in ([], [(1, 2)], [(1, 2), (2, 2)]):
        agreed, total = error_counts({(0, 0), (1, 1), *possible}, gold)
        assert agreed == total


def test_neighbours_of_agreed_links_are_added() -> None:
    forward, backward = {(0, 0), (1, 1), (2, 1)}, {(0, 0), (1, 1), (4, 4), (0, 1)}
    assert grow_diagonal(forward, backward) == {(0, 0), (1, 1), (2, 1)}  # 0-1 has both words linked, 4-4 no neighbour
    assert grow_diagonal({(0, 0), (1, 1)}, {(0, 0), (2, 2)}) == {(0, 0), (1, 1), (2, 2)}  # by way of 1-1
    assert grow_diagonal({(0, 0)}, {(1, 1)}) == set()


def test_links_are_read_in_both_countings(tmp_path: Path) -> None:
    assert parse_links("0-0 1-2 3p4 5?0 3-4") == Links(
        frozenset({(0, 0), (1, 2), (3, 4)}), frozenset({(0, 0), (1, 2), (3, 4), (5, 0)})
    )
    assert parse_links("1-1 2p3", one_based=True) == parse_links("0-0 1p2")
    assert format_links(parse_links("10-1 0-2 0-11").sure) == "0-2 0-11 10-1"
    assert parse_links("0-1 1p2").reversed == parse_links("1-0 2p1")
    path = tmp_path / "gold.txt"
    path.write_text("0-0\n\n1-1\n")
    assert read_links(path) == [parse_links("0-0"), parse_links(""), parse_links("1-1")]


def test_a_word_is_linked_to_the_segments_that_its_time_overlaps(tmp_path: Path) -> None:
    path = tmp_path / "times.tsv"
    path.write_text("two\t0\t0.5\ndogs\t0.5\t1.75\n\nrun\t2\t2.1\n")
    times = read_times(path)
    assert times == [[("two", 0, 0.5), ("dogs", 0.5, 1.75)], [("run", 2, 2.1)]]
    # Segments of half a second: "dogs" is in 1, 2 and 3, its middle, 1.125, in 2.
    assert links_of_times(times[0], 0.5) == parse_links("0-0 1p1 2-1 3p1")
    assert links_of_times(times[1], 0.5) == parse_links("4-0")
    for wrong in ("two\t0", "two\t1\t1", "two\t-1\t1", "two\tnan\t1", "two\t0\tinf", "\t0\t1", "two 0 1"):
        path.write_text(f"one\t0\t1\n{wrong}\n")
        with pytest.raises(ValueError, match="line 2: .*is not a word with its times"):
            read_times(path)
    with pytest.raises(ValueError, match="over 500 segments"):
        links_of_times([TimedWord("two", 0, 1e9)], 0.001)


@pytest.mark.parametrize("link", ["0:1", "1-", "-1-2", "a-b", "0-1-2", "0–1", "1-٣", "9999999-0"])
def test_another_format_is_named_with_its_line(link: str, tmp_path: Path) -> None:
    path = tmp_path / "gold.txt"
    path.write_text(f"0-0\n0-0 {link}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"gold\.txt, line 2: .* is not a link; write SOURCE-TARGET"):
        read_links(path)


def test_word_0_is_none_where_words_are_counted_from_1(tmp_path: Path) -> None:
    path = tmp_path / "gold.txt"
    path.write_text("1-1\n1-1\n1-0\n")
    with pytest.raises(ValueError, match=r"line 3: .*1-0.* has a word 0, but words are counted from 1 here"):
        read_links(path, one_based=True)


def test_links_are_between_the_words_that_spaces_separate() -> None:
    """Tokens do not matter: "l'eau," is one word of the file and four tokens."""
    corpus = Pairs("water", [Pair(7, "the water, cold", "l'eau, froide"), Pair(9, "no", "non")])
    links = [parse_links("0-0 1-0 2-1"), parse_links("0-0")]
    first, second = gold_of_file(corpus, links, "gold.txt")
    assert first.pair.truth is not None and first.pair.truth.target == ("l", "'", "eau", ",", "froide")
    assert (first.source_words, first.target_words) == ((0, 1, 1, 2), (0, 0, 0, 0, 1))
    assert second.links == links[1]
    for wrong, message in (
        ([parse_links("0-2"), links[1]], r"gold\.txt, line 1: the link 0-2, counted from 0, has target word 2, but"),
        (links[:1], r"gold\.txt has 1 line, but water has more pairs"),
        ([*links, links[0]], r"gold\.txt has 3 lines, but water has 2 pairs"),
    ):
        with pytest.raises(ValueError, match=message):
            list(gold_of_file(corpus, wrong, "gold.txt"))


# ---- heads ---------------------------------------------------------------------------------------------------------


def _copies() -> list[GoldSentence]:
    """Return sentences with themselves as translations, aligned word by word."""
    pairs = Pairs("copies", [Pair(n, text, text) for n, text in enumerate(SENTENCES, 1)])
    links = [parse_links(" ".join(f"{n}-{n}" for n in range(len(text.split())))) for text in SENTENCES]
    return list(gold_of_file(pairs, links, "gold.txt"))


def _plant(checkpoint: Checkpoint, change: Any) -> None:
    """Let `change(layer, pattern)` rewrite the cross-attention in every pass of the decoder."""
    decode = checkpoint.model.decode

    def plant(site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        return change(site.layer, pattern.clone()) if site.kind == "cross" else pattern

    checkpoint.model.decode = lambda *args, tap: decode(*args, tap=chain(plant, tap))  # type: ignore[method-assign]


def test_a_planted_head_has_no_error_in_its_own_rows() -> None:
    checkpoint = small_checkpoint()

    def change(layer: int, pattern: Tensor) -> Tensor:
        diagonal = torch.eye(pattern.size(2), pattern.size(3))
        if layer == 1:
            pattern[:, 0] = diagonal  # row n writes word n
        if layer == 2:
            pattern[:, 1] = torch.cat([diagonal[:1], diagonal[:-1]])  # row n + 1 reads word n
        return pattern

    _plant(checkpoint, change)
    errors = alignment_errors(checkpoint, _copies)
    assert (errors.first_half, errors.second_half, errors.left_out) == (2, 2, 0)
    assert {head for head, (written, _) in errors.heads.items() if written.rate == 0} == {(1, 0)}
    assert {head for head, (_, read) in errors.heads.items() if read.rate == 0} == {(2, 1)}
    assert errors.best_head.heads == errors.best_sum.heads == ((1, 0),) and not errors.best_head.shifted
    assert errors.best_sum.first_half == 0 and errors.best_sum.second_half == (0, 0, 0)
    # One later, the head that writes is at the next word: only the links of the words that have one are right.
    assert errors.heads[1, 0][1].rate == 1


def test_two_heads_that_know_half_the_words_each_are_summed() -> None:
    checkpoint = small_checkpoint()

    def change(layer: int, pattern: Tensor) -> Tensor:
        diagonal, rows = torch.eye(pattern.size(2), pattern.size(3)), torch.arange(pattern.size(2))
        uniform = torch.full_like(diagonal, 1 / pattern.size(3))
        pattern[:] = uniform
        for head in range(2) if layer == 0 else ():
            pattern[:, head] = torch.where((rows % 2 == head)[:, None], diagonal, uniform)
        return pattern

    _plant(checkpoint, change)
    errors = alignment_errors(checkpoint, _copies)
    assert set(errors.unshifted_sum.heads) == {(0, 0), (0, 1)} and errors.unshifted_sum.second_half.rate == 0
    assert errors.best_head.second_half.rate > 0.2
    assert errors.first_heads.heads == ((0, 0), (0, 1)) and errors.first_heads.second_half.rate == 0


def test_the_links_of_the_shipped_grammar_model_are_those_of_the_atlas() -> None:
    """The atlas's share of misaligned words, special tokens given no weight, has the same links as its numerator."""
    checkpoint, corpus = checkpoints.load(ENGLISH_FRENCH), open_split("english-french")
    gold = list(islice(generated_gold(corpus), 12))
    scorer = alignment_error._Scorer(checkpoint, lambda: gold, lambda read: None)
    scored = scorer.score(alignment_error._by_candidate, with_links=True)
    assert scored.indices.tolist() == list(range(12)) and len(scorer.heads) == 12
    for row, index in enumerate(scored.indices.tolist()):
        counts = [error_counts(found, gold[index].links) for found in scored.links[index]]
        assert (np.array(counts) == np.stack([scored.agreed[row], scored.total[row]], -1)).all()
    config, tokenizers = checkpoint.model.config, (checkpoint.source_tokenizer, checkpoint.target_tokenizer)
    (readings,) = Reader(config, *tokenizers).chunks([sentence.pair for sentence in gold], SkippedPairs())
    marks = [
        Marks(np.isin(np.arange(tokenizer.vocab_size), list(tokenizer.special_ids)), np.zeros(tokenizer.vocab_size))
        for tokenizer in tokenizers
    ]
    batch = prepare(readings, config, *marks, torch.device("cpu"))
    context = batch.contexts["cross"]
    wrong: list[list[Tensor]] = [[], []]

    def measure(site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        if site.kind == "cross":
            words = pattern * (1 - context.special)[:, None, None]  # rows keep their shares, as in a sum of heads
            measured = Pattern(words, torch.ones(words.shape[:3], dtype=torch.bool), context)
            for shares, rows in zip(wrong, ("writes", "reads"), strict=True):
                shares.append(misaligned(measured, rows))  # type: ignore[arg-type]
        return pattern

    with torch.inference_mode():
        checkpoint.model.decode(batch.tgt[:, :-1], checkpoint.model.encode(batch.src), batch.src, tap=measure)
    assert context.writes is not None
    aligned = context.writes.right.any(-1).sum(-1)[:, None]
    hits = torch.cat([((1 - torch.cat(shares, 1)) * aligned).round() for shares in wrong], 1).int().numpy()  # [B, 2 H]
    assert (2 * hits == scored.agreed).all()  # each link is sure and possible
    assert 0 < hits.mean() < aligned.float().mean()


def test_the_atlas_measures_the_same_rates_as_align() -> None:
    checkpoint, corpus = checkpoints.load(ENGLISH_FRENCH), open_split("english-french")
    errors = alignment_errors(checkpoint, lambda: islice(generated_gold(corpus), 12))
    measured = atlas(checkpoint, partial(known_pairs, corpus), 12, sample=0).heads["cross"]
    for head, rates in errors.heads.items():
        means = [measured[name].mean[head] for name in ("alignment_error", "reading_error")]
        assert means == pytest.approx([rate.rate for rate in rates], abs=1e-6)


# ---- the command ---------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    checkpoints.save(small_checkpoint(), tmp_path / "small")
    checkpoints.save(small_checkpoint(seed=1), tmp_path / "back")
    (tmp_path / "source.txt").write_text("".join(f"{text}\n" for text in SENTENCES))
    (tmp_path / "target.txt").write_text("".join(f"{text}\n" for text in SENTENCES))
    (tmp_path / "gold.txt").write_text("1-1 2p3 4-4\n" * len(SENTENCES))
    return tmp_path


def _command(folder: Path, *more: str) -> list[str]:
    files = f"{folder / 'source.txt'},{folder / 'target.txt'}"
    return ["align", str(folder / "small"), "--data", files, "--gold", str(folder / "gold.txt"), *more]


def test_the_command_writes_its_choice_as_other_engines_read_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = folder / "align.json"
    assert main(_command(folder, "--one-based", "--reverse", str(folder / "back"), "--out", str(out))) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("4 sentences; alignment error rates")
    facts = json.loads(out.read_text())
    assert (facts["first_half"], facts["second_half"], facts["left_out"]) == (2, 2, 0)
    assert [(of["layer"], of["head"]) for of in facts["heads"]] == [(a, b) for a in (1, 2, 3) for b in (1, 2)]
    for of in facts["heads"]:
        assert all(0 <= of[row]["low"] <= of[row]["rate"] <= of[row]["high"] <= 1 for row in ("written", "read"))
        assert f"{of['written']['rate']:.3f}" in printed
    engine = facts["ctranslate2"]
    assert engine["translator"]["alignment_layer"] in (0, 1, 2) and engine["translator"]["alignment_heads"] in (1, 2)
    assert all(layer in range(3) and head in range(2) for layer, head in engine["whisper"]["alignment_heads"])
    if facts["best_sum"]["row"] == "written":
        from_1 = [[head["layer"] - 1, head["head"] - 1] for head in facts["best_sum"]["heads"]]
        assert engine["whisper"]["alignment_heads"] == from_1
    assert set(facts["symmetrised"]) == {"intersection", "grow-diagonal"} and facts["reverse_sum"]["heads"]
    assert main(_command(folder, "--one-based", "--out", str(out))) == 0
    again = json.loads(out.read_text())
    assert again["heads"] == facts["heads"] and again["symmetrised"] == {} and again["reverse_sum"] is None


def test_word_times_and_links_from_the_target_are_gold_too(folder: Path) -> None:
    def heads(*more: str) -> object:
        out = folder / "align.json"
        assert main([*_command(folder)[:4], *more, "--out", str(out)]) == 0
        return json.loads(out.read_text())["heads"]

    rows = [[f"{word}\t{n / 2}\t{n / 2 + 0.5}\n" for n, word in enumerate(text.split())] for text in SENTENCES]
    (folder / "times.tsv").write_text("\n".join("".join(of) for of in rows))
    diagonal = [" ".join(f"{n}-{n}" for n in range(len(of))) for of in rows]
    (folder / "gold.txt").write_text("\n".join(diagonal) + "\n")
    assert heads("--gold", str(folder / "times.tsv"), "--seconds", "0.5") == heads("--gold", str(folder / "gold.txt"))
    (folder / "gold.txt").write_text("0-1 2-2\n" * len(SENTENCES))
    (folder / "turned.txt").write_text("1-0 2-2\n" * len(SENTENCES))
    turned = heads("--gold", str(folder / "turned.txt"), "--target-first")
    assert turned == heads("--gold", str(folder / "gold.txt")) != heads("--gold", str(folder / "turned.txt"))


def test_both_directions_that_are_right_agree() -> None:
    forward, backward = small_checkpoint(), small_checkpoint(seed=1)
    for checkpoint in (forward, backward):
        _plant(checkpoint, lambda layer, pattern: pattern * 0 + torch.eye(pattern.size(2), pattern.size(3)))
    errors = alignment_errors(forward, _copies, reverse=backward)
    assert errors.symmetrised == {"intersection": (0, 0, 0), "grow-diagonal": (0, 0, 0)}


def test_what_is_wrong_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def error(*command: str) -> str:
        assert main(list(command)) == 1
        return capsys.readouterr().err

    assert "has no gold alignments; give a file of them with --gold" in error(*_command(folder)[:4])
    (folder / "gold.txt").write_text("0-0\n")
    assert "has 1 line, but" in error(*_command(folder))
    (folder / "gold.txt").write_text("0-0\n0~0\n")
    assert "line 2: " in error(*_command(folder))
    (folder / "gold.txt").write_text("0-0\n" * 3 + "0-40\n")
    assert "line 4: the link 0-40" in error(*_command(folder))
    (folder / "times.tsv").write_text("two\t0\t1\n\n" * 4)
    times = _command(folder)[:4] + ["--gold", str(folder / "times.tsv")]
    assert "needs --seconds" in error(*times) and "needs --seconds" in error(*times, "--seconds", "0")
    assert "sentence 1: its words are 'two'" in error(*times, "--seconds", "0.5")
    assert "--seconds is for a table of times" in error(*_command(folder), "--seconds", "0.5")
    (folder / "gold.txt").write_text("0-0\n" * 4)
    assert "--pairs" in error(*_command(folder, "--pairs", "1"))
    (folder / "source.txt").write_text("a " * 400 + "\n" + "two\n" + "b " * 400 + "\n" + "c " * 400 + "\n")
    assert "there are 1" in error(*_command(folder))
    assert error(*_command(folder)[:5], str(folder / "absent.txt"))
