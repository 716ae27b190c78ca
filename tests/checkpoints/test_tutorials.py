"""The seven tutorials: what their code computed, repaired and as it runs, the imported model computes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from headlight.checkpoints import load_translator
from headlight.importers.forms.tutorials import TUTORIALS, Deviation, _eps, _share
from headlight.importers.importing import Unready, examine, import_model
from tests.checkpoints import tutorial_code
from tests.checkpoints.tutorials import TITLES, answers, expected, facts, file
from transformer import Translator
from transformer.checkpoint.weights import Refused
from transformer.decoding import finish, greedy
from transformer.presets import PRESETS

SPREAD = [name for name in TITLES if name in ("ground-up", "adeveloperdiary")]  # a norm is two numbers there


def test_each_preset_has_its_tutorials_name() -> None:
    assert set(PRESETS) - set(TUTORIALS) == {"mini", "tiny", "small", "base"}


def weights(name: str) -> dict[str, torch.Tensor]:
    values = torch.load(file(name), weights_only=True)
    return dict(values.get("model_state_dict", values))


def opened(name: str, out: Path, **changes: Any) -> Translator:
    examination = import_model(file(name), out, answers(name, **changes))
    assert examination.form == TITLES[name] and TITLES[name] in examination.title
    assert not any(question.required for question in examination.questions)
    return load_translator(out)


@pytest.fixture(scope="module", params=TITLES)
def imported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Translator]:
    """Import a tutorial's file with masks applied, as every tutorial's text describes them."""
    return request.param, opened(request.param, tmp_path_factory.mktemp("imported") / "model", masks="applied")


def theirs(name: str, hide: tutorial_code.Hide, due: dict[str, np.ndarray], **tensors: torch.Tensor) -> np.ndarray:
    """Compute the tutorial's forward pass, written again here, on its file."""
    known = facts(name)
    every = {key: tensors.get(key, value).float() for key, value in weights(name).items()}
    model = tutorial_code.Model(TUTORIALS[name], every, known["heads"], known["pad_id"], hide)
    return model.log_probs(torch.from_numpy(due["src"]), torch.from_numpy(due["tgt"])).numpy()


def test_log_probs_are_those_of_the_repaired_code(imported: tuple[str, Translator]) -> None:
    name, translator = imported
    due = expected(name)
    log_probs = translator.log_probs(due["src"], due["tgt"]).numpy()
    np.testing.assert_allclose(log_probs, due["log_probs"], rtol=0, atol=1e-5)  # asked for is 1e-4
    np.testing.assert_allclose(theirs(name, tutorial_code.kept, due), due["log_probs"], rtol=0, atol=1e-5)


@pytest.mark.parametrize("masks", [None, "never"])
@pytest.mark.parametrize("name", tutorial_code.AS_THEY_RUN)
def test_log_probs_are_those_of_the_code_as_it_runs(name: str, masks: str | None, tmp_path: Path) -> None:
    """By default no mask is applied, in one pass and in decoding."""
    translator, due = opened(name, tmp_path / "model", masks=masks), expected(name, as_run=True)
    log_probs = translator.log_probs(due["src"], due["tgt"]).numpy()
    np.testing.assert_allclose(log_probs, due["log_probs"], rtol=0, atol=1e-5)
    mechanism = tutorial_code.dropped if name == "ground-up" else tutorial_code.not_passed
    np.testing.assert_allclose(theirs(name, mechanism, due), due["log_probs"], rtol=0, atol=1e-5)

    config, source = translator.model.config, due["src"][:1]
    written = finish(greedy(translator.prepared, torch.from_numpy(source), max_length=12))[0][0].ids
    ids = [config.sos_id]
    while len(ids) <= 12 and (len(ids) == 1 or ids[-1] != config.eos_id):
        said = theirs(name, mechanism, {"src": source, "tgt": np.array([ids])})[0, -1]
        said[[config.pad_id, config.sos_id]] = -np.inf
        ids.append(int(said.argmax()))
    assert ids[1:] == list(written)


@pytest.mark.parametrize("name", tutorial_code.AS_THEY_RUN)
def test_the_masks_are_asked_for_and_the_difference_is_told(name: str, tmp_path: Path) -> None:
    (question,) = [one for one in examine(file(name)).questions if one.field == "masks"]
    assert not question.required and question.usual == "never" and question.choices == ("never", "applied")
    apart = np.abs(expected(name)["log_probs"] - expected(name, as_run=True)["log_probs"]).max()
    assert f"{apart:.2f} nats" in question.why
    warned = import_model(file(name), tmp_path / "asked", answers(name)).warnings
    assert any("applies no mask" in one and f"{apart:.2f} nats" in one for one in warned)
    for answer in ("never", "applied"):
        said = import_model(file(name), tmp_path / answer, answers(name, masks=answer)).warnings
        assert not any("mask" in one for one in said)


def test_what_of_their_code_cannot_run_is_listed_and_does_not() -> None:
    assert set(tutorial_code.REPAIRED) == {"transformers-laid-out", "nlp7-en-hi", "adeveloperdiary"}
    ids = torch.tensor([[5, 6, 0]])
    with pytest.raises(RuntimeError, match="and"):
        tutorial_code.float_masks(ids, 0)
    with pytest.raises(RuntimeError, match="invalid for input"):
        tutorial_code.reshaped_by_the_query(torch.zeros(1, 3, 8), torch.zeros(1, 5, 8), 2)
    assert tutorial_code.reshaped_by_the_query(torch.zeros(1, 3, 8), torch.zeros(1, 3, 8), 2).shape == (1, 3, 2, 4)
    with pytest.raises(TypeError):
        tutorial_code.noam(1, 512, 4000)
    with pytest.raises(AttributeError, match="before Module"):
        tutorial_code.WithoutSuper()


def test_a_table_whose_cosines_overwrite_its_sines_is_used_as_it_stands(tmp_path: Path) -> None:
    """The positions of *A developer diary* are read from its file, right or wrong."""
    name, due = "adeveloperdiary", expected("adeveloperdiary")
    whole = weights(name)
    table = tutorial_code.overwritten_table(*whole[TUTORIALS[name].tables[0]].shape[1:])
    assert not table[:, 1::2].any() and table[:, 0::2].any()
    tables = dict.fromkeys(TUTORIALS[name].tables, table[None])
    torch.save({**whole, **tables}, tmp_path / "model.pt")
    import_model(tmp_path / "model.pt", tmp_path / "model", answers(name))
    log_probs = load_translator(tmp_path / "model").log_probs(due["src"], due["tgt"]).numpy()
    np.testing.assert_allclose(log_probs, theirs(name, tutorial_code.kept, due, **tables), rtol=0, atol=1e-5)
    assert np.abs(log_probs - due["log_probs"]).max() > 0.01


def test_from_the_ground_up_reads_its_start_and_end() -> None:
    """<bos> tokens <eos>, with padding 1, start 2, end 3."""
    examination = examine(file("ground-up"))
    assert dict(examination.facts)["A source is read as"] == "start tokens end"
    usual = {question.field: question.usual for question in examination.questions}
    assert (usual["pad_id"], usual["sos_id"], usual["eos_id"]) == (1, 2, 3)


@pytest.mark.parametrize("masks", ["never", "applied"])
def test_a_toy_whose_start_end_and_padding_are_one_id_opens(masks: str, tmp_path: Path) -> None:
    name = "transformer-from-scratch"
    examination = import_model(file(name), tmp_path / "model", answers(name, pad_id=0, sos_id=0, eos_id=0, masks=masks))
    (limit,) = [one for one in examination.warnings if "both id 0" in one]
    assert "cannot be learned" in limit and ("hidden" in limit) == (masks == "applied")
    translator, due = load_translator(tmp_path / "model"), expected(name, as_run=masks == "never")
    log_probs = translator.log_probs(due["src"], due["tgt"]).numpy()
    np.testing.assert_allclose(log_probs, due["log_probs"], rtol=0, atol=1e-5)
    best = translator.translate("5 6 7", beam_size=3, max_length=8)
    assert best.ids and 0 not in best.ids[:-1]
    trace = translator.trace("5 6 7", "8 9")
    assert trace.target.ids == [0, 8, 9, 0] and np.isfinite(trace.decoder).all()


@pytest.mark.parametrize("changes", [{"heads": 2}, {"heads": 8}, {"pad_id": 5}])
def test_a_wrong_answer_gives_other_log_probs(tmp_path: Path, changes: dict[str, Any]) -> None:
    import_model(file("nlp7-en-hi"), tmp_path / "model", answers("nlp7-en-hi", **changes))
    due = expected("nlp7-en-hi")
    log_probs = load_translator(tmp_path / "model").log_probs(due["src"], due["tgt"]).numpy()
    assert np.abs(log_probs - due["log_probs"]).max() > 1e-3


@pytest.mark.parametrize("name", TITLES)
def test_what_the_file_does_not_say_is_asked(name: str) -> None:
    examination = examine(file(name))
    asked = {question.field: question for question in examination.questions}
    masks = {"masks"} if name in tutorial_code.AS_THEY_RUN else set()
    assert set(asked) == {"heads", "pad_id", "sos_id", "eos_id", "source_vocab", "target_vocab"} | masks
    free = {field for field, question in asked.items() if not question.required}
    assert free == {"source_vocab", "target_vocab"} | masks
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
    config = load_translator(tmp_path / "model").model.config
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
