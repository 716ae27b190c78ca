"""The seven tutorials: what their own code computed, the imported model computes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.checkpoints.tutorials import TITLES, answers, expected, facts, file
from transformer import Translator
from transformer.checkpoints.forms.tutorials import TUTORIALS, Deviation, _eps, _share
from transformer.checkpoints.importing import Unready, examine, import_model
from transformer.checkpoints.refused import Refused
from transformer.presets import PRESETS

SPREAD = [name for name in TITLES if name in ("ground-up", "adeveloperdiary")]  # a norm is two numbers there


def test_each_has_one_name_wherever_it_stands() -> None:
    assert {name: form.name for name, form in TUTORIALS.items()} == TITLES
    assert set(PRESETS) - set(TUTORIALS) == {"mini", "tiny", "small", "base"}


def weights(name: str) -> dict[str, torch.Tensor]:
    values = torch.load(file(name), weights_only=True)
    return dict(values.get("model_state_dict", values))


@pytest.fixture(scope="module", params=TITLES)
def imported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Translator]:
    out = tmp_path_factory.mktemp("imported") / "model"
    examination = import_model(file(request.param), out, answers(request.param))
    assert examination.form == TITLES[request.param] and TITLES[request.param] in examination.title
    assert not any(question.required for question in examination.questions)
    return request.param, Translator.load(out)


def test_log_probs_are_those_of_the_tutorials_own_code(imported: tuple[str, Translator]) -> None:
    name, translator = imported
    due = expected(name)
    log_probs = translator.log_probs(due["src"], due["tgt"]).numpy()
    np.testing.assert_allclose(log_probs, due["log_probs"], rtol=0, atol=1e-5)  # asked for is 1e-4


def test_sizes_are_read_off_the_tensors(imported: tuple[str, Translator]) -> None:
    name, translator = imported
    known, config = facts(name), translator.model.config
    assert (config.encoder.n_layers, config.decoder.n_layers) == (known["layers"], known["layers"])
    assert (config.d_model, config.encoder.d_ff) == (known["d_model"], known["d_ff"])
    assert config.decoder.d_ff == known["d_ff"]
    assert (config.source_vocab_size, config.target_vocab_size) == (known["src_vocab"], known["tgt_vocab"])


def test_stored_tables_are_used_as_they_stand(imported: tuple[str, Translator]) -> None:
    name, translator = imported
    form = TUTORIALS[name]
    model = translator.model
    for stack, table in zip((model.encoder, model.decoder), form.tables, strict=True):
        assert torch.equal(stack.embedding.positions.table, weights(name)[table][0])
    assert model.config.max_length == weights(name)[form.tables[0]].shape[1]


@pytest.mark.parametrize("changes", [{"heads": 2}, {"heads": 8}, {"pad_id": 5}])
def test_a_wrong_answer_gives_other_log_probs(tmp_path: Path, changes: dict[str, Any]) -> None:
    import_model(file("nlp7-en-hi"), tmp_path / "model", answers("nlp7-en-hi", **changes))
    due = expected("nlp7-en-hi")
    log_probs = Translator.load(tmp_path / "model").log_probs(due["src"], due["tgt"]).numpy()
    assert np.abs(log_probs - due["log_probs"]).max() > 1e-3


@pytest.mark.parametrize("name", TITLES)
def test_what_the_file_does_not_say_is_asked(name: str) -> None:
    examination = examine(file(name))
    asked = {question.field: question for question in examination.questions}
    assert set(asked) == {"heads", "pad_id", "sos_id", "eos_id", "source_vocab", "target_vocab"}
    assert {field for field, question in asked.items() if not question.required} == {"source_vocab", "target_vocab"}
    assert asked["heads"].choices == (1, 2, 4, 8, 16, 32)  # what divides 32
    assert asked["heads"].usual in asked["heads"].choices
    assert (asked["pad_id"].below, asked["sos_id"].below, asked["eos_id"].below) == (53, 61, 53)
    for field in ("pad_id", "sos_id", "eos_id"):
        assert asked[field].usual is None or 0 <= int(asked[field].usual) < asked[field].below
    assert examination.warnings == () and examination.diagnosis is None


def test_an_answered_question_is_not_asked_again() -> None:
    examination = examine(file("ground-up"), answers("ground-up", eos_id=None))
    assert [question.field for question in examination.questions if question.required] == ["eos_id"]


@pytest.mark.parametrize("deviation", [form.deviation for form in TUTORIALS.values()])
def test_a_folded_norm_is_theirs_to_within_epsilon(deviation: Deviation) -> None:
    torch.manual_seed(0)
    width = 48
    scales = 10.0 ** torch.arange(-3, 3, dtype=torch.float64)
    x = torch.randn(40, width, dtype=torch.float64).repeat(len(scales), 1) * scales.repeat_interleave(40)[:, None]
    variance = x.var(-1, keepdim=True, correction=1 if deviation.unbiased else 0)
    if deviation.eps_outside:
        theirs = (x - x.mean(-1, keepdim=True)) / (variance.sqrt() + deviation.eps)
    else:
        theirs = (x - x.mean(-1, keepdim=True)) / (variance + deviation.eps).sqrt()
    gain = torch.full((width,), _share(width) if deviation.unbiased else 1.0, dtype=torch.float64)
    ours = torch.nn.functional.layer_norm(x, (width,), gain, None, _eps(deviation, width))
    share = deviation.eps / variance.sqrt() if deviation.eps_outside else torch.zeros(())
    assert ((ours - theirs).abs() <= share * 1.01 * theirs.abs() + 1e-9).all()


@pytest.mark.parametrize("name", SPREAD)
def test_a_gain_of_one_number_is_reported_as_written_out(name: str) -> None:
    folded = dict(examine(file(name)).folded)
    norms = sum("norm" in key and key.endswith("alpha") for key in weights(name))
    assert f"{norms} norms" in folded and "√(31/32)" in folded["Deviation by n − 1"]


def test_stacks_of_unequal_depth_and_width(tmp_path: Path) -> None:
    kept = {name: t for name, t in weights("pytorch-transformer").items() if not name.startswith("encoder.layers.1.")}
    for side, axis in (("linear_1.weight", 0), ("linear_1.bias", 0), ("linear_2.weight", 1)):
        name = f"encoder.layers.0.feed_forward_block.{side}"
        kept[name] = kept[name].narrow(axis, 0, 24).clone()
    torch.save(kept, tmp_path / "model.pt")
    import_model(tmp_path / "model.pt", tmp_path / "model", answers("pytorch-transformer"))
    config = Translator.load(tmp_path / "model").model.config
    assert (config.encoder.n_layers, config.encoder.d_ff) == (1, 24)
    assert (config.decoder.n_layers, config.decoder.d_ff) == (2, 64)


def test_a_file_that_lacks_a_tensor_is_described_not_imported(tmp_path: Path) -> None:
    kept = weights("annotated-transformer")
    del kept["decoder.layers.1.src_attn.linears.2.bias"]
    kept["generator.proj.weight"] = torch.zeros(61, 30)
    torch.save({**kept, "extra": torch.zeros(2)}, tmp_path / "model.pt")
    with pytest.raises(Unready) as caught:
        import_model(tmp_path / "model.pt", tmp_path / "model", answers("annotated-transformer"))
    diagnosis = caught.value.examination.diagnosis
    assert diagnosis is not None and diagnosis.nearest == "The Annotated Transformer"
    assert diagnosis.missing == ("decoder.layers.1.src_attn.linears.2.bias",)
    assert diagnosis.unexpected == ("extra",)
    assert diagnosis.misshapen == (("generator.proj.weight", (61, 30), (61, 32)),)
    assert list(tmp_path.iterdir()) == [tmp_path / "model.pt"]


@pytest.mark.parametrize("width", [0, 1, 2**40])
def test_a_model_of_nothing_fits_no_tutorial(tmp_path: Path, width: int) -> None:
    names = ("encoder.embeddings.weight", "decoder.embeddings.weight", "final_layer.weight")
    tensors = {name: torch.zeros(0, width) for name in names} | {"final_layer.bias": torch.zeros(0)}
    tables = {f"{stack}.pe.pe": torch.zeros(1, 0, width) for stack in ("encoder", "decoder")}
    torch.save({**tensors, **tables}, tmp_path / "model.pt")
    try:
        assert examine(tmp_path / "model.pt").form is None
    except Refused as refused:
        assert "\n" not in str(refused)
