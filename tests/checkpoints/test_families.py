"""Models of Hugging Face families become ours: the same logits, and the same tokens written."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch

from headlight.checkpoints import load_translator
from headlight.importers.importing import examine, import_model
from tests.checkpoints.hugging_face import CLASSES, MARIAN_IDS, piece_model, random_model, save, transformers
from transformer.checkpoint.safetensors_file import header_bytes
from transformer.checkpoint.weights import Refused, TensorInfo
from transformer.config import ModelConfig
from transformer.decoding import finish, greedy

SEPARATE = {**MARIAN_IDS, "share_encoder_decoder_embeddings": False, "decoder_vocab_size": 36}
ODD = {"d_model": 15, "encoder_attention_heads": 3, "decoder_attention_heads": 5}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "marian": ("marian", {**MARIAN_IDS, "activation_function": "swish", "scale_embedding": True}),
    "marian, two vocabularies": ("marian", {**SEPARATE, "activation_function": "relu"}),
    "marian, its own output": ("marian", {**SEPARATE, "tie_word_embeddings": False}),
    "bart": ("bart", {"forced_bos": 0}),
    "mbart": ("mbart", {"decoder_start_token_id": 30}),
    "mbart-50": ("mbart", {"decoder_start_token_id": 2, "forced_bos": 29, "scale_embedding": True}),
    "plbart": ("plbart", {"decoder_start_token_id": 30}),
    "pegasus": ("pegasus", {"activation_function": "relu", "scale_embedding": True, **ODD}),
    "blenderbot": ("blenderbot", {"forced_bos": 3}),
    "blenderbot-small": ("blenderbot-small", {"scale_embedding": True}),
    "fsmt": ("fsmt", {"scale_embedding": False}),
    "m2m100": ("m2m100", {"forced_bos": 29}),
}


def batch(config: ModelConfig) -> tuple[torch.Tensor, torch.Tensor]:
    """Sentences of different lengths, the target's starting as the model's do."""
    pad, eos, sos = config.pad_id, config.eos_id, config.sos_id
    src = torch.tensor([[5, 9, 11, 7, 12, eos], [6, 8, eos, pad, pad, pad], [4, 13, 14, eos, pad, pad]])
    return src, torch.tensor([[sos, 9, 5, 6], [sos, 7, eos, pad], [sos, 10, 20, eos]])


def assert_equal(theirs: Any, folder: Path) -> None:
    ours = load_translator(folder).model
    config = ours.config
    src, tgt = batch(config)
    seen = (src != config.pad_id).long()
    with torch.no_grad():
        expected = theirs(input_ids=src, attention_mask=seen, decoder_input_ids=tgt, use_cache=False).logits
        real = tgt != config.pad_id
        real[:, 0] = True
        torch.testing.assert_close(ours(src, tgt)[real], expected[real], atol=1e-4, rtol=1e-5)
    never = sorted({config.pad_id, config.sos_id} - {config.eos_id})
    written = theirs.generate(
        input_ids=src, attention_mask=seen, num_beams=1, do_sample=False, max_length=16, suppress_tokens=never
    )
    for row, hypotheses in zip(written[:, 1:].tolist(), finish(greedy(ours, src, max_length=15)), strict=True):
        ids = list(hypotheses[0].ids)
        assert row[: len(ids)] == ids
        assert all(id == config.pad_id for id in row[len(ids) :])


@pytest.mark.parametrize("case", CASES)
def test_logits_and_greedy_output_are_theirs(tmp_path: Path, case: str) -> None:
    """From pickles, with all their tensors; the drawn configurations of every family come from safetensors."""
    family, config = CASES[case]
    model = random_model(family, **config)
    import_model(save(model, tmp_path / "theirs", pickled=True), tmp_path / "ours")
    assert_equal(model, tmp_path / "ours")


def test_a_pair_of_berts_writes_as_theirs(tmp_path: Path) -> None:
    ids = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 1}
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 20}
    both = [transformers.BertGenerationConfig(vocab_size=90, **sizes, **ids) for _ in range(2)]
    joined = transformers.EncoderDecoderConfig.from_encoder_decoder_configs(*both)
    torch.manual_seed(0)
    model = transformers.EncoderDecoderModel(joined).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.4 + ("LayerNorm.weight" in name))
    model.generation_config.update(decoder_start_token_id=2, **ids)
    folder = save(model, tmp_path / "theirs")
    piece_model(tmp_path, "spiece").rename(folder / "spiece.model")
    import_model(folder, tmp_path / "ours")
    assert_equal(model, tmp_path / "ours")
    assert load_translator(tmp_path / "ours").encode("the girl")[-1] != 1  # its tokenizer puts nothing around a text


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"encoder": {"model_type": "gpt2"}}, "not of the kind of BERT or RoBERTa"),
        ({"encoder": "bert"}, "not of the kind of BERT or RoBERTa"),
        ({"encoder": {"hidden_act": "silu"}}, "hidden_act is 'silu' and the decoder's 'gelu'"),
        ({"decoder": {"layer_norm_eps": 1e-3}}, "layer_norm_eps is 1e-12 and the decoder's 0.001"),
        ({"encoder": {"hidden_act": "relu"}, "decoder": {"hidden_act": "relu"}}, "has GELU whatever"),
        ({"decoder": {"position_embedding_type": "relative_key"}}, "only absolute"),
        ({"decoder": {"max_position_embeddings": 10**9}}, "max_position_embeddings"),
        ({"decoder": {"num_hidden_layers": 10**9}}, "num_hidden_layers"),
        ({"decoder": {"pad_token_id": 40}}, "leaves no position"),
        ({"decoder_start_token_id": 1}, "pad_token_id too"),
        ({"encoder": {"type_vocab_size": "2"}}, "type_vocab_size"),
    ],
)
def test_pairs_that_cannot_be_opened_are_refused(tmp_path: Path, values: dict[str, Any], message: str) -> None:
    ids = {"pad_token_id": 1, "bos_token_id": 2, "eos_token_id": 3}
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 20}
    both = [transformers.RobertaConfig(vocab_size=50, max_position_embeddings=40, **sizes, **ids) for _ in range(2)]
    model = transformers.EncoderDecoderModel(transformers.EncoderDecoderConfig.from_encoder_decoder_configs(*both))
    folder = save(model, tmp_path / "theirs")
    config = json.loads((folder / "config.json").read_text())
    for name, value in values.items():
        config[name] = config[name] | value if isinstance(value, dict) else value
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(Refused, match=message):
        import_model(folder, tmp_path / "ours")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_becomes_float32(tmp_path: Path, dtype: torch.dtype) -> None:
    save(random_model("bart").to(dtype), tmp_path / "theirs")
    import_model(tmp_path / "theirs", tmp_path / "ours")
    theirs = CLASSES["bart"][0].from_pretrained(tmp_path / "theirs", dtype=torch.float32)
    assert_equal(theirs.eval(), tmp_path / "ours")


def test_a_stored_table_is_used_as_it_stands(tmp_path: Path) -> None:
    """Old files of Marian carry their table; this one's is another than their code makes."""
    model = random_model("marian", **MARIAN_IDS)
    for stack in (model.model.encoder, model.model.decoder):
        stack.embed_positions.weight.copy_(torch.randn_like(stack.embed_positions.weight))
    import_model(save(model, tmp_path / "theirs", pickled=True), tmp_path / "ours")
    assert_equal(model, tmp_path / "ours")


def test_a_model_saved_without_its_output_is_read_too(tmp_path: Path) -> None:
    model = random_model("bart")
    model.final_logits_bias.zero_()
    save(model.model, tmp_path / "theirs")
    import_model(tmp_path / "theirs", tmp_path / "ours")
    assert_equal(model, tmp_path / "ours")


@pytest.mark.parametrize(("family", "before"), [("marian", True), ("pegasus", False)])
def test_where_norms_stand_is_as_the_family_has_it(tmp_path: Path, family: str, before: bool) -> None:
    """Transformers' own code has no pre-norm Marian, whatever the configuration says."""
    model = random_model(family, **(MARIAN_IDS if family == "marian" else {}))
    folder = save(model, tmp_path / "theirs")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"normalize_before": before}))
    where = "places them after" if before else "places them before"
    assert any("normalize_before" in text and where in text for text in examine(folder).warnings)
    import_model(folder, tmp_path / "ours")
    assert_equal(type(model).from_pretrained(folder).eval(), tmp_path / "ours")


def test_the_examination_reports_what_was_read(tmp_path: Path) -> None:
    save(random_model("mbart", decoder_start_token_id=2), tmp_path / "theirs")
    examination = examine(tmp_path / "theirs")
    assert examination.form == "Hugging Face mBART" and not examination.questions
    facts = dict(examination.facts)
    assert facts["Layers"] == "2 and 3" and facts["Heads"] == "4 and 2"
    assert "first 2 rows" in dict(examination.folded)["Positions"]
    assert "shown as ids" in examination.warnings[0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"model_type": "bert"}, "'bert'"),
        ({"model_type": "nllb-moe"}, "many feed-forward networks"),
        ({"model_type": "fastspeech2_conformer", "is_encoder_decoder": True}, "encoder-decoder of an unsupported"),
        ({"model_type": "encoder-decoder"}, "not of the kind of BERT or RoBERTa"),
        ({"model_type": "t5gemma"}, "rotates queries and keys"),
        ({"model_type": "prophetnet"}, "several words at once"),
        ({"model_type": "led"}, "sees a window of the text"),
        ({"is_encoder_decoder": False}, "not an encoder-decoder"),
        ({"architectures": ["BartForSequenceClassification"]}, "BartForSequenceClassification"),
        ({"activation_function": "relu2"}, "'relu2'"),
        ({"encoder_layers": 10**9}, "encoder_layers"),
        ({"d_model": "16"}, "d_model"),
        ({"vocab_size": True}, "vocab_size"),
        ({"encoder_attention_heads": 5}, "does not divide"),
        ({"pad_token_id": None}, "pad_token_id"),
        ({"eos_token_id": 99}, "eos_token_id"),
        ({"max_position_embeddings": -1}, "max_position_embeddings"),
        ({"scale_embedding": "yes"}, "scale_embedding"),
    ],
)
def test_other_models_are_refused_in_a_sentence(tmp_path: Path, values: dict[str, Any], message: str) -> None:
    folder = save(random_model("bart"), tmp_path / "theirs")
    (folder / "generation_config.json").unlink()
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | values))
    with pytest.raises(Refused, match=message) as refused:
        import_model(folder, tmp_path / "ours")
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 400
    assert not (tmp_path / "ours").exists()


@pytest.mark.parametrize("family", ["bart", "m2m100"])
def test_what_a_configuration_leaves_out_is_as_the_family_has_it(tmp_path: Path, family: str) -> None:
    model = random_model(family, decoder_start_token_id=2)
    folder = save(model, tmp_path / "theirs")
    config = json.loads((folder / "config.json").read_text())
    left = {name: value for name, value in config.items() if name not in ("activation_function", "scale_embedding")}
    (folder / "config.json").write_text(json.dumps(left))
    import_model(folder, tmp_path / "ours")
    assert_equal(model, tmp_path / "ours")


def test_a_file_that_lacks_a_layer_is_diagnosed(tmp_path: Path) -> None:
    folder = save(random_model("bart", encoder_layers=1), tmp_path / "theirs")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"encoder_layers": 2}))
    examination = examine(folder)
    assert examination.diagnosis is not None and examination.diagnosis.nearest == "Hugging Face BART"
    assert "model.encoder.layers.1.fc1.weight" in examination.diagnosis.missing


def test_weights_of_fairseq_without_settings_are_refused(tmp_path: Path) -> None:
    """With the weights saved alone, as the refusal of the whole file advised, they fitted Marian but for 3 tensors."""
    state = random_model("marian", **MARIAN_IDS).model.state_dict()
    names = ("encoder.layers", "decoder.layers", "encoder.embed_tokens", "decoder.embed_tokens")
    theirs = {name: tensor for name, tensor in state.items() if name.startswith(names)}
    extra = {"encoder.version": torch.ones(1), "decoder.version": torch.ones(1)}
    torch.save({**theirs, **extra, "decoder.output_projection.weight": torch.ones(32, 16)}, tmp_path / "model.pt")
    with pytest.raises(Refused, match="weights of a fairseq model without its settings.*checkpoint_best.pt"):
        examine(tmp_path / "model.pt")


def test_a_model_of_madlads_size_is_examined_by_its_header(tmp_path: Path) -> None:
    """Its 11.8 GB are holes in a sparse file, and no weight is read."""
    sizes = {"d_model": 1024, "d_ff": 8192, "d_kv": 128, "num_heads": 16, "num_layers": 32, "vocab_size": 256_000}
    config = {"model_type": "t5", **sizes, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with torch.device("meta"):
        model = transformers.T5ForConditionalGeneration(transformers.T5Config(**config))
    infos = {name: TensorInfo(tuple(p.shape), "F32") for name, p in model.named_parameters()}
    infos["lm_head.weight"] = infos["shared.weight"]
    with open(tmp_path / "model.safetensors", "wb") as file:
        file.write(header_bytes(infos, {}))
        file.truncate(file.tell() + 4 * sum(math.prod(info.shape) for info in infos.values()))
    examination = examine(tmp_path)
    assert examination.form == "Hugging Face T5" and examination.diagnosis is None and not examination.questions
    assert examination.size == (tmp_path / "model.safetensors").stat().st_size > 11.7e9
