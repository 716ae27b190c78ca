"""`python -m headlight heads`: the table, the JSON, and several processes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import IO

import numpy as np
import pytest

from headlight import checkpoints
from headlight.analysis.atlas import Atlas, aligner, atlas
from headlight.analysis.atlas.aligner import truths
from headlight.analysis.measures import MEASURES
from headlight.checkpoints import digest
from headlight.cli.verbs import main
from headlight.corpora.corpora import open_split
from headlight.corpora.truth import known_pairs
from tests.small import small_checkpoint
from tests.test_training_processes import launch

REVERSE = Path(__file__).parents[1] / "checkpoints" / "reverse"


@pytest.mark.slow
def test_the_shipped_reverser_reverses_by_its_cross_heads_since_some_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "heads.json"
    command = ["heads", str(REVERSE), "--corpus", "reverse", "--pairs", "60", "--sample", "5", "--history"]
    assert main([*command, "--json", str(out)]) == 0
    table = capsys.readouterr().out
    (line,) = [line for line in table.splitlines() if line.startswith("cross 2.3")]
    assert re.search(
        r"looks at what it is translating: (over 99|99|100)\u00a0% of [\d,]+ letters; chance \d+\u00a0%; since step",
        line,
    )
    assert re.search(r" -?\d\.\d{4} ±\d\.\d{4} ", line)  # importance
    facts = json.loads(out.read_text())
    assert facts["pairs"] == 60 and facts["sampled"] == 5 and facts["alignment"] == "gold"
    assert facts["units"] == "letters" and facts["model"] == digest(REVERSE) and facts["asked"] == 60
    alignment = facts["heads"]["cross"]["alignment"]
    assert len(alignment["mean"]) == 2 and len(alignment["mean"][0]) == len(alignment["deviation"][0]) == 4
    assert alignment["units"][0][0] == sum(len(pair.target) for pair in list(known_pairs(open_split("reverse")))[:60])
    assert len(facts["history"]) == 10 and "importance" not in facts["history"][0]["heads"]["cross"]
    first, last = (facts["history"][at]["heads"]["cross"]["alignment"]["mean"][1][2] for at in (0, -1))
    assert first > 0.5 > 0.05 > last


@pytest.mark.slow
def test_two_processes_write_what_one_writes(tmp_path: Path) -> None:
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    command = ["heads", str(REVERSE), "--corpus", "reverse", "--pairs", "700", "--sample", "8"]
    assert main([*command, "--json", str(one)]) == 0
    launch("--multi_gpu", *command, "--json", str(two))
    assert json.loads(one.read_text()) == json.loads(two.read_text())


def test_a_corpus_without_gold_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkpoints.save(small_checkpoint(), tmp_path / "small")
    table = tmp_path / "pairs.tsv"
    table.write_text("two dogs are running\tune petite fille\n" * 3)
    assert main(["heads", str(tmp_path / "small"), "--corpus", str(table), "--sample", "2"]) == 0
    output = capsys.readouterr().out
    assert "3 pairs" in output
    if not aligner.installed():
        assert "no gold alignment" in output and "alignment  " not in output.split("head  ")[1].splitlines()[0]
    assert main(["heads", str(tmp_path / "small"), "--corpus", str(table), "--split", "test"]) == 1
    assert "has no test split" in capsys.readouterr().err


def test_held_out_combinations_are_a_split_of_a_grammar() -> None:
    assert open_split("english-french", "combinations").name.endswith("(combinations)")
    pairs, by = truths(open_split("english-french"))
    assert by == "gold" and next(iter(pairs())).truth is not None


def test_links_of_an_aligner_stand_in_for_gold(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """For a corpus without gold, the links count on which both directions of eflomal agree."""
    table = tmp_path / "pairs.tsv"
    table.write_text("two dogs\tdeux chiens\na girl\tune fille .\n", encoding="utf-8")

    class Eflomal:
        def align(self, source: IO[str], target: IO[str], links_filename_fwd: str, links_filename_rev: str) -> None:
            assert source.read().splitlines() == ["two dogs", "a girl"]
            assert target.read().splitlines() == ["deux chiens", "une fille ."]
            Path(links_filename_fwd).write_text("0-0 1-1\n0-0 1-1 1-2\n")
            Path(links_filename_rev).write_text("0-0 1-1\n1-1\n")

    module = SimpleNamespace(Aligner=Eflomal)
    monkeypatch.setattr(aligner, "import_module", lambda name: module)
    monkeypatch.setattr(aligner, "installed", lambda: True)
    pairs, by = truths(open_split(str(table)))
    assert by == "eflomal"
    alignments = [pair.truth for pair in pairs()]
    assert [truth.links for truth in alignments if truth] == [((0, 0), (1, 1)), ((1, 1),)]
    assert alignments[1] is not None and alignments[1].target == ("une", "fille", ".")


@pytest.mark.slow
def test_the_measurements_that_ship_are_reproduced() -> None:
    facts = json.loads((REVERSE / "heads.json").read_text())
    stored, checkpoint = Atlas.from_dict(facts), checkpoints.load(REVERSE)
    pairs, by = truths(open_split(facts["corpus"], facts["split"]), facts["asked"])
    again = atlas(checkpoint, pairs, facts["asked"], sample=0)
    assert by == facts["alignment"] and again.pairs == stored.pairs
    for kind, of in stored.heads.items():
        names = [name for name in of if MEASURES[name].function is not None]  # the others take many passes
        assert again.heads[kind].keys() >= set(names)
        for name in names:
            np.testing.assert_allclose(again.heads[kind][name].mean, of[name].mean, atol=1e-5)
            np.testing.assert_allclose(again.heads[kind][name].deviation, of[name].deviation, atol=1e-5)
            assert (again.heads[kind][name].units == of[name].units).all()
        assert {name: again.chance[kind][name] for name in stored.chance[kind]} == pytest.approx(
            stored.chance[kind], abs=1e-5
        )
