"""Heads that are off: each method, and the command, against a model from which those heads were pruned."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from headlight.analysis import why
from headlight.analysis.head_changes import describe_changes, require_heads_off, switched_off
from headlight.checkpoints import save
from headlight.cli.verbs import main
from tests.analysis.why.models import SRC, TGT, build
from tests.small import TEXTS, small_checkpoint
from transformer.model import Transformer
from transformer.pruned import prune_heads
from transformer.taps import Ablate, Site, Tap, chain

pytestmark = pytest.mark.device

OFF = [(Site("encoder", 1, "self"), 3), (Site("decoder", 0, "cross"), 1), (Site("decoder", 2, "self"), 0)]
NAMES = ["encoder.2.4", "cross.1.2", "decoder.3.1"]
REFERENCES = [([7, 4, 5, 9, 8, 3], [2, 6, 9, 12, 3]), ([5, 11, 3], [2, 8, 10, 3])]
METHODS: dict[str, Callable[[Transformer, Tap | None], Any]] = {
    "every measure": lambda model, tap: why.measured(model, SRC, TGT, tap),
    "integrated gradients": lambda model, tap: why.integrated_steps(model, SRC, TGT, tap),
    "DecoderLens": lambda model, tap: why.decoder_lens(model, SRC, TGT, longest=8, tap=tap),
    "the first difference": lambda model, tap: why.first_difference(model, [7, 11, 6, 9, 3], TGT, tap),
    "zero ablation": lambda model, tap: why.ablated_steps(model, (SRC, TGT), REFERENCES, "zero", tap=tap),
    "mean ablation": lambda model, tap: why.ablated_steps(model, (SRC, TGT), REFERENCES, "mean", tap=tap),
    "resample ablation": lambda model, tap: why.ablated_steps(model, (SRC, TGT), REFERENCES, "resample", tap=tap),
}


def assert_same(found: Any, due: Any) -> None:
    """Compare results of any structure, with numbers up to rounding; NaN is due for a head that was pruned."""
    if isinstance(found, dict):
        assert found.keys() == due.keys()
        found, due = list(found.values()), [due[name] for name in found]
    if isinstance(found, list | tuple) and not all(isinstance(one, int | float | None) for one in found):
        assert len(found) == len(due)
        for one, other in zip(found, due, strict=True):
            assert_same(one, other)
    elif isinstance(found, str):
        assert found == due
    else:
        assert np.shape(found) == np.shape(due)
        there = ~np.isnan(np.asarray(due, float))
        np.testing.assert_allclose(np.asarray(found, float)[there], np.asarray(due, float)[there], atol=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "method"), [*(("post", method) for method in METHODS), ("pre", "every measure"), ("t5", "every measure")]
)
def test_a_method_says_the_same_of_a_pruned_model(name: str, method: str) -> None:
    measured = METHODS[method]
    found = measured(build(name), chain(*(Ablate(*at) for at in OFF)))
    assert_same(found, measured(prune_heads(build(name), OFF), None))
    if method != "the first difference":
        with pytest.raises(AssertionError):
            assert_same(found, measured(build(name), None))


@pytest.mark.parametrize("method", [method for method in METHODS if method != "the first difference"])
def test_a_method_refuses_a_head_that_there_is_not(method: str) -> None:
    with pytest.raises(ValueError, match="is for head 7"):
        METHODS[method](build("pre"), Ablate(Site("decoder", 0, "cross"), 7))


@pytest.mark.slow
def test_the_command_says_what_it_says_of_a_pruned_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole, smaller = small_checkpoint(seed=5), small_checkpoint(seed=5)
    smaller.model = prune_heads(smaller.model, OFF)
    save(whole, tmp_path / "whole")
    save(smaller, tmp_path / "smaller")
    asked = [TEXTS[0], "--target", TEXTS[1], "--step", "1", "--instead", "9", "--ablation", "zero"]
    asked += ["--corrupted", TEXTS[0].replace("little", "dogs")]
    answers = {}
    for model, off in (("whole", ["--off", *NAMES]), ("smaller", []), ("whole", [])):
        assert main(["why", str(tmp_path / model), *asked, *off]) == 0
        answers[model if off or model == "smaller" else "all"] = json.loads(capsys.readouterr().out)
    off = answers["whole"].pop("off")
    assert off["heads"] == NAMES
    assert_same(off["log_probs"], answers["smaller"]["decoder lens"]["log_probs"][-1])
    assert_same(off["log_probs of all heads"], answers["all"]["decoder lens"]["log_probs"][-1])
    assert "off" not in answers["all"]
    # A pruned head cannot be replaced or exchanged; one that is off can, and changes nothing.
    there = {(e["stack"], e["layer"], e["kind"], e["head"]): e["delta"] for e in answers["smaller"].pop("ablation")}
    here = {(e["stack"], e["layer"], e["kind"], e["head"]): e["delta"] for e in answers["whole"].pop("ablation")}
    gone = {(*site, head) for site, head in OFF}
    assert here.keys() == there.keys() | gone
    assert_same({at: here[at] for at in there}, there)
    assert [here[at] for at in gone] == pytest.approx([0, 0, 0], abs=1e-5)
    assert_same(answers["whole"], answers["smaller"])


def test_a_table_says_what_it_says_of_a_pruned_model(tmp_path: Path) -> None:
    whole, smaller = small_checkpoint(seed=5), small_checkpoint(seed=5)
    smaller.model = prune_heads(smaller.model, OFF)
    save(whole, tmp_path / "whole")
    save(smaller, tmp_path / "smaller")
    (tmp_path / "pairs.tsv").write_text(f"{TEXTS[0]}\t{TEXTS[1]}\n")
    tables = []
    for model, off in (("whole", ["--off", *NAMES]), ("smaller", [])):
        out = tmp_path / f"{model}.csv"
        assert main(["why", str(tmp_path / model), str(tmp_path / "pairs.tsv"), "--out", str(out), *off]) == 0
        tables.append(pandas.read_csv(out))
    pandas.testing.assert_frame_equal(*tables, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cross.1.9", "The model has no head cross.1.9; in that layer it has cross.1.1, cross.1.2."),
        ("encoder.7.1", "The model has no head encoder.7.1; of that kind it has encoder.1.1 to encoder.2.4."),
        ("cross.1.2u", "'cross.1.2u' is no name of a head; write encoder, decoder or cross"),
        ("third", "'third' is no name of a head"),
    ],
)
def test_a_head_that_there_is_not_is_named(
    name: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(small_checkpoint(), tmp_path / "model")
    assert main(["why", str(tmp_path / "model"), TEXTS[0], "--off", name]) == 1
    assert message in capsys.readouterr().err


def test_every_head_has_its_name() -> None:
    model = build("pre")
    every = switched_off(model)
    assert require_heads_off(model, [str(head) for head in every]) == every
    assert [head.tap() for head in every if str(head) in NAMES] == [Ablate(*at) for at in (OFF[0], OFF[1], OFF[2])]
    assert describe_changes(every[:2]) == "encoder 1.1 and encoder 1.2 off"
