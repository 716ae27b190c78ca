"""DecoderLens, leaving out, value zeroing and ranks, each against another way to the same numbers; and the commands."""

import json

import numpy as np
import pytest
import torch

from headlight.analysis import decoder_lens, leave_one_out, rank_correlation, value_zeroing, why
from headlight.analysis.stream import stream
from headlight.analysis.why.leave_out import _encoder_layer
from headlight.checkpoints import load_translator
from headlight.cli.verbs import main
from tests.analysis.why.models import NAMES, SRC, TGT, build
from tests.small import TEXTS, id_rows, small_translator
from transformer.translator import Translator

pytestmark = pytest.mark.device


@pytest.mark.parametrize("kind", ["words", "bpe"])
def test_the_last_row_of_the_lens_is_the_model_itself(kind: str) -> None:
    translator = small_translator(kind=kind)
    written = translator.translate(TEXTS[0], beam_size=1, max_length=12)
    trace = translator.trace(TEXTS[0], TEXTS[1])
    source, target = translator.encode(TEXTS[0]), translator.encode_target(TEXTS[1])
    lens = decoder_lens(translator.model, source, target, longest=12)
    assert list(lens.written[-1]) == written.ids and len(lens.written) == 3
    np.testing.assert_allclose(lens.log_probs[-1], trace.log_probs, atol=1e-5)


def test_an_early_row_of_the_lens_reads_the_early_states() -> None:
    model = build("pre")
    memory = model.encoder.norm(model.encoder.embedding(id_rows(SRC)))
    with torch.no_grad():
        states = model.decode(id_rows(TGT[:-1]), memory, id_rows(SRC))
        log_probs = model.output(states).log_softmax(-1)[0]
    expected = [float(log_probs[i, token]) for i, token in enumerate(TGT[1:])]
    np.testing.assert_allclose(decoder_lens(model, SRC, TGT).log_probs[0], expected, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_leaving_out_is_reading_the_shorter_sentence(name: str) -> None:
    model = build(name)
    translator = small_translator()
    translator.checkpoint.model = model

    def log_probs(source: list[int]) -> np.ndarray:
        rows = translator.log_probs([source], [TGT[:-1]])[0]
        return np.array([float(rows[i, token]) for i, token in enumerate(TGT[1:])])

    without = leave_one_out(model, SRC, TGT)
    for i in range(len(SRC)):
        np.testing.assert_allclose(without[:, i], log_probs(SRC) - log_probs(SRC[:i] + SRC[i + 1 :]), atol=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_value_zeroing_gives_shares(name: str) -> None:
    shares = value_zeroing(build(name), SRC, TGT)
    assert shares.source.min() >= 0 and shares.prefix.min() >= 0 and (np.triu(shares.prefix, 1) == 0).all()
    np.testing.assert_allclose(shares.source.sum(1) + shares.prefix.sum(1), 1)


def test_value_zeroing_is_what_a_hook_on_the_values_does() -> None:
    model = build("post")
    layer, passed = model.encoder.layers[1], stream(model, SRC, TGT)
    x, mask = passed.encoder.states[1][None], passed.source_mask
    with torch.no_grad():
        whole, expected = layer(x, mask)[0], np.zeros((5, 5))
        for k in range(5):

            def zero(module: torch.nn.Module, args: object, values: torch.Tensor, k: int = k) -> torch.Tensor:
                values = values.clone()
                values[:, k] = 0
                return values

            hook = layer.attention.value.register_forward_hook(zero)
            changed = layer(x, mask)[0]
            hook.remove()
            expected[:, k] = 1 - torch.cosine_similarity(changed, whole, dim=-1).cpu().numpy()
    np.testing.assert_allclose(_encoder_layer(passed, 1), expected / expected.sum(1, keepdims=True), atol=1e-4)


def test_ranks() -> None:
    assert rank_correlation(np.array([1, 5, 9]), np.array([2, 3, 100])) == pytest.approx(1)
    assert rank_correlation(np.array([1, 5, 9]), np.array([3, 2, 1])) == pytest.approx(-1)
    # By hand: ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4.
    assert rank_correlation(np.array([1, 4, 4, 7]), np.array([1, 2, 3, 4])) == pytest.approx(4.5 / np.sqrt(4.5 * 5))
    assert np.isnan(rank_correlation(np.array([2, 2, 2]), np.array([1, 2, 3])))


@pytest.fixture(scope="module")
def pronouns() -> Translator:
    return load_translator("checkpoints/english-french")


def test_a_text_is_explained_by_its_ids(pronouns: Translator) -> None:
    tired = "The animal did not cross the street because it was too tired ."
    wide = tired.replace("tired", "wide")
    written = pronouns.translate(tired)
    source, target = pronouns.encode_pair(tired)
    assert target == [pronouns.model.config.sos_id, *written.ids]
    assert pronouns.encode_pair(tired, written.text) == (source, target)
    step = max(i for i, token in enumerate(written.tokens) if token.strip("▁") == "il")
    elle = pronouns.token("elle", target[step + 1])
    assert why.contributions(pronouns.model, source, target).source.shape == (len(written.ids), len(source))
    explained = why.contrast(pronouns.model, source, target, step, elle)
    assert explained.total == pytest.approx(explained.difference, abs=1e-4) and explained.difference > 0
    result = why.patching(pronouns.model, why.Corruption(source, pronouns.encode(wide), target, step, elle))
    assert result.true > 0 > result.corrupted and result.everything == pytest.approx(1, abs=1e-4)
    assert len(why.decoder_lens(pronouns.model, source, target).written) == pronouns.model.config.encoder.n_layers + 1
    with pytest.raises(ValueError, match="No single token is written 'no such word'"):
        pronouns.token("no such word", target[step + 1])


@pytest.mark.slow
def test_the_command_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    tired = "The animal did not cross the street because it was too tired ."
    asked = ["why", "checkpoints/english-french", tired]
    assert main([*asked, "--corrupted", tired.replace("tired", "wide"), "--step", "0", "--instead", "5"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["contrast"]["instead"] == 5 and len(facts["patching"]["restored"]["cross"]) > 0
    assert len(facts["contributions"]["source"]) == len(facts["target"]) - 1
    assert np.sum(facts["contributions"]["by head"]) == pytest.approx(np.sum(facts["contributions"]["source"]))
    integrated = facts["contrast"]["integrated gradients"]
    assert integrated["total"] == pytest.approx(integrated["difference"], abs=0.2)
    assert facts["patching"]["patterns"] == {} and facts["patching"]["direction"] == "denoise"
    swapped = ["--corrupted", tired.replace("tired", "wide"), "--direction", "noise", "--parts", "patterns"]
    swapped += ["--ablation", "mean", "--references", tired.replace("animal", "dog"), tired.replace("street", "road")]
    assert main([*asked, *swapped]) == 0
    facts = json.loads(capsys.readouterr().out)
    deltas = [effect["delta"] for effect in facts["ablation"]]
    assert len(deltas) == 36 and deltas == sorted(deltas) and deltas[0] < 0
    patching = facts["patching"]
    assert patching["direction"] == "noise" and patching["everything"] == pytest.approx(1, abs=1e-4)
    assert np.shape(patching["patterns"]["cross"]) == (3, 4)
    assert main([*asked, "--instead", "elle"]) != 0
    assert "--instead needs --step" in capsys.readouterr().err
