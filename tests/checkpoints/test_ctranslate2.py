"""Models of CTranslate2 become ours, and compute what CTranslate2 does, and the model that they were made of."""

import json
import random
import struct
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from headlight.checkpoints import load, load_translator
from headlight.importers.importing import examine, import_model
from headlight.importers.questions import Answers
from tests.checkpoints.ctranslate2_writer import TOKENS, File, draw_model, folder_of, of_model, quantized
from transformer.checkpoint.weights import Refused
from transformer.model import Transformer

WORDS = list(range(4, len(TOKENS)))
SRC = [WORDS[:7], WORDS[9:12]]
TGT = [WORDS[3:9], WORDS[15:18]]


def scores(model: Transformer, src: list[int], tgt: list[int]) -> torch.Tensor:
    """The log-probability of each token of a target and of its end, [T + 1]."""
    config = model.config
    end = (config.eos_id,) if config.source_end is None else config.source_end
    read = torch.tensor([[*config.source_start, *src, *end]])
    written = torch.tensor([[config.sos_id, *config.target_start, *tgt, config.eos_id]])
    with torch.no_grad():
        return model(read, written[:, :-1]).log_softmax(-1)[0].gather(1, written[0, 1:, None])[:, 0]


def imported(folder: Path, out: Path, answers: Answers | None = None) -> Transformer:
    import_model(folder, out, answers)
    return load_translator(out).model


def assert_same(ours: Transformer, theirs: Transformer, atol: float = 1e-5) -> None:
    for src, tgt in zip(SRC, TGT, strict=True):
        torch.testing.assert_close(scores(ours, src, tgt), scores(theirs, src, tgt), atol=atol, rtol=1e-5)


def assert_as_ctranslate2(ours: Transformer, folder: Path, tokens: list[str] = TOKENS, **around: Any) -> None:
    """Where CTranslate2 is installed, its scores, with matrices of whole numbers as real ones."""
    ctranslate2 = pytest.importorskip("ctranslate2")
    translator = ctranslate2.Translator(str(folder), compute_type="float32", intra_threads=1)
    before, after, prefix = (around.get(name, []) for name in ("before", "after", "prefix"))
    sources = [[*before, *(tokens[id] for id in src), *after] for src in SRC]
    targets = [[*prefix, *(tokens[id] for id in tgt)] for tgt in TGT]
    for src, tgt, scored in zip(SRC, TGT, translator.score_batch(sources, targets), strict=True):
        expected = torch.tensor(scored.log_probs)
        torch.testing.assert_close(scores(ours, src, tgt), expected, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("seed", range(8))
def test_every_field_is_read(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    torch.manual_seed(seed)
    model = draw_model(chance, t5=seed % 3 == 0)
    folder = folder_of(tmp_path / "theirs", of_model(model), layer_norm_epsilon=model.config.norm_eps)
    ours = imported(folder, tmp_path / "ours")
    assert replace(ours.config, dropout=0) == replace(model.config, dropout=0)
    assert_same(ours, model)
    assert_as_ctranslate2(ours, folder)


@pytest.mark.parametrize("to", ["int8", "int16", "float16"])
def test_numbers_of_every_type_are_read(tmp_path: Path, to: str) -> None:
    model = draw_model(random.Random(3), tied="all", logits_bias=True)
    file = of_model(model)
    if to == "float16":
        arrays = file.variables.items()
        halved = {name: array.astype(np.float16) if array.dtype == np.float32 else array for name, array in arrays}
        file = replace(file, variables=halved)
    else:
        file = quantized(file, to)
        aliased = "decoder/projection/weight" in file.aliases
        assert aliased and "decoder/projection/weight_scale" not in file.variables
    folder = folder_of(tmp_path / "theirs", file, layer_norm_epsilon=model.config.norm_eps)
    ours = imported(folder, tmp_path / "ours")
    assert_same(ours, model, atol=0.5)  # rounded, and still the same model
    assert_as_ctranslate2(ours, folder)
    first = next(iter(dict(ours.named_parameters())))
    numbers = dict(model.named_parameters())[first].detach()
    step = numbers.abs().amax(1, keepdim=True) / 127 if to == "int8" else numbers.abs().max() / 2**10
    assert ((dict(ours.named_parameters())[first] - numbers).abs() <= 0.5 * step + 1e-6).all()


@pytest.mark.parametrize(("version", "revision"), [(2, 3), (3, 4), (4, 5), (5, 7)])
def test_older_files_say_in_variables_what_config_json_says_now(tmp_path: Path, version: int, revision: int) -> None:
    model = draw_model(random.Random(5), norm_eps=1e-5, tied="none" if version < 3 else "output", scale_embeddings=True)
    model.config.__dict__["encoder"] = replace(model.config.encoder, n_heads=model.config.decoder.n_heads)
    file = of_model(model)
    variables = dict(file.variables)
    if revision < 5:  # both stacks had the same settings
        for name in ("num_heads", "pre_norm", "activation"):
            variables[name] = variables.pop(f"encoder/{name}")
            del variables[f"decoder/{name}"]
        variables["num_heads"] = variables["num_heads"].astype(np.int8)
        variables["encoder/embeddings/weight"] = variables.pop("encoder/embeddings_0/weight")
        del variables["encoder/scale_embeddings"], variables["decoder/scale_embeddings"]
    variables["eos_token"] = np.frombuffer(b"w27", np.int8)
    variables["with_source_eos"] = np.array(1, np.int8)
    variables["with_target_bos"] = np.array(0, np.int8)
    older = replace(file, variables=variables, version=version, revision=revision)
    folder = folder_of(tmp_path / "theirs", older)
    (folder / "shared_vocabulary.json").unlink()
    (folder / "shared_vocabulary.txt").write_text("\n".join(TOKENS) + "\n", encoding="utf-8")
    ours = imported(folder, tmp_path / "ours")
    end = TOKENS.index("w27")
    assert (ours.config.eos_id, ours.config.sos_id, ours.config.source_end) == (end, end, (end,))
    again = replace(model.config, eos_id=end, sos_id=end, source_end=(end,))
    theirs = type(model)(again)
    theirs.load_state_dict(model.state_dict())
    assert_same(ours, theirs.eval())
    assert_as_ctranslate2(ours, folder)


def test_positions_that_the_file_lacks_are_computed_as_its_code_does(tmp_path: Path) -> None:
    file = of_model(draw_model(random.Random(7), norm_eps=1e-5))
    for stack in ("encoder", "decoder"):
        del file.variables[f"{stack}/position_encodings/encodings"]
    folder = folder_of(tmp_path / "theirs", file)
    ours = imported(folder, tmp_path / "ours")
    table = dict(ours.named_parameters())["encoder.embedding.positions.table"]
    half = ours.config.d_model // 2
    rates = [1e4 ** (-n / (half - 1)) for n in range(half)]
    angles = np.arange(1, len(table) + 1)[:, None] * np.array(rates)
    np.testing.assert_allclose(table.detach(), np.concatenate([np.sin(angles), np.cos(angles)], 1), atol=1e-3)
    assert "sinusoidal" in dict(examine(folder).folded)["Positions"]
    assert_as_ctranslate2(ours, folder)


def test_a_translation_may_start_from_nothing(tmp_path: Path) -> None:
    """Marian's first embedding is 0: ours is that of a padding token that no translation can have."""
    file = of_model(draw_model(random.Random(8), tied="all", norm_eps=1e-5))
    file.variables["decoder/start_from_zero_embedding"] = np.array(1, np.int8)
    tokens = ["</s>", "<unk>", *(f"w{n}" for n in range(30))]
    folder = folder_of(tmp_path / "theirs", file, tokens, decoder_start_token="</s>", add_source_eos=True)
    ours = imported(folder, tmp_path / "ours")
    assert (ours.config.pad_id, ours.config.sos_id, ours.config.target_vocab_size) == (32, 32, 33)
    assert not ours.decoder.embedding.tokens.weight[32].any()
    src = torch.tensor([[5, 6, 0]])
    assert ours(src, torch.tensor([[32, 7]])).softmax(-1)[..., 32].max() == 0
    assert_as_ctranslate2(ours, folder, tokens)


def test_two_vocabularies_whose_padding_differs(tmp_path: Path) -> None:
    file = of_model(draw_model(random.Random(9), tied="none", norm_eps=1e-5))
    folder = folder_of(tmp_path / "theirs", file, decoder_start_token="<s>", add_source_eos=True)
    (folder / "shared_vocabulary.json").unlink()
    first = ["</s>", "<unk>", *(f"w{n}" for n in range(28))]
    for name in ("encoder/embeddings_0/weight",):
        file.variables[name] = file.variables[name][: len(first)]
    file.write(folder / "model.bin")
    (folder / "source_vocabulary.json").write_text(json.dumps(first))
    (folder / "target_vocabulary.json").write_text(json.dumps(TOKENS))
    ours = imported(folder, tmp_path / "ours")
    config = ours.config
    assert (config.source_vocab_size, config.target_vocab_size, config.pad_id) == (31, 33, 30)
    assert (config.source_end, config.eos_id, config.sos_id) == ((0,), 3, 2)
    opened = load(tmp_path / "ours")
    assert opened.source_tokenizer.encode("w3 w27") == [5, 29]
    assert opened.target_tokenizer.decode([4, 31, 32]) == "w0 w26 w27"
    ctranslate2 = pytest.importorskip("ctranslate2")
    translator = ctranslate2.Translator(str(folder), compute_type="float32", intra_threads=1)
    scored = translator.score_batch([["w3", "w27"]], [["w0", "w26", "w27"]])[0]
    torch.testing.assert_close(scores(ours, [5, 29], [4, 31, 32]), torch.tensor(scored.log_probs), atol=2e-5, rtol=1e-4)


M2M = [*TOKENS[:30], "__de__", "__fr__"]
MBART = [*TOKENS[:30], "de_DE", "fr_XX"]
MARIAN = [*TOKENS[:30], ">>de<<", ">>fr<<"]


@pytest.mark.parametrize(
    ("tokens", "start", "chosen", "around"),
    [
        (M2M, "</s>", ("de", "fr"), {"before": ["__de__"], "after": ["</s>"], "prefix": ["__fr__"]}),
        (MBART, None, ("de_DE", "fr_XX"), {"after": ["</s>", "de_DE"], "prefix": ["fr_XX"]}),
        (MARIAN, "<s>", (None, "fr"), {"before": [">>fr<<"], "after": ["</s>"]}),
    ],
    ids=["M2M100", "mBART", "Marian"],
)
def test_languages_are_asked_for(
    tmp_path: Path, tokens: list[str], start: str | None, chosen: tuple[str | None, str], around: dict[str, list[str]]
) -> None:
    """The model is converted from Hugging Face, whose tokenizers add the tokens around a sentence."""
    tokens = ["<pad>", *tokens[1:]]
    file = of_model(draw_model(random.Random(10), tied="all", norm_eps=1e-5))
    folder = folder_of(tmp_path / "theirs", file, tokens, decoder_start_token=start)
    fields = [question.field for question in examine(folder).questions]
    assert fields == ["source_language", "target_language"][-len([code for code in chosen if code]) :]
    ours = imported(folder, tmp_path / "ours", Answers(source_language=chosen[0], target_language=chosen[1]))
    assert load(tmp_path / "ours").card["target"] in ("French", "fr_XX")
    assert_as_ctranslate2(ours, folder, tokens, **around)


def test_a_package_of_argos_opens_as_it_is(tmp_path: Path) -> None:
    spm = pytest.importorskip("sentencepiece")
    text = "the a girl boy dog walks runs sitting on bench snow little Été naïve hello 12 2021 , . !"
    words, chance, pieces = text.split(), random.Random(0), tmp_path / "pieces.model"
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(" ".join(chance.sample(words, 6)) for _ in range(200)),
        model_prefix=str(pieces.with_suffix("")),
        vocab_size=60,
        hard_vocab_limit=False,
        minloglevel=2,
        num_threads=1,
    )
    processor = spm.SentencePieceProcessor(model_file=str(pieces))
    tokens = ["<unk>", "<blank>", "<s>", "</s>"]
    tokens += [piece for n in range(processor.get_piece_size()) if (piece := processor.id_to_piece(n)) not in tokens]
    torch.manual_seed(1)
    sizes = {"source_vocab_size": len(tokens), "target_vocab_size": len(tokens)}
    model = draw_model(random.Random(11), tied="all", norm_eps=1e-5, pad_id=1, **sizes)
    folder = folder_of(tmp_path / "model", of_model(model), tokens, decoder_start_token="<s>")
    metadata = {"from_code": "en", "from_name": "English", "to_code": "es", "to_name": "Spanish"}
    path = tmp_path / "translate-en_es-1_9.argosmodel"
    with zipfile.ZipFile(path, "w") as archive:
        for file in folder.iterdir():
            archive.write(file, f"translate-en_es-1_9/model/{file.name}")
        archive.write(pieces, "translate-en_es-1_9/sentencepiece.model")
        archive.writestr("translate-en_es-1_9/metadata.json", json.dumps(metadata))
        archive.writestr("translate-en_es-1_9/stanza/en/tokenize/ewt.pt", b"of another program")
    ours = imported(path, tmp_path / "ours")
    assert_same(ours, model)
    opened = load(tmp_path / "ours")
    assert (opened.card["title"], opened.card["source"], opened.card["target"]) == (
        "translate-en_es-1_9", "English", "Spanish",
    )  # fmt: skip
    for text in ("the girl walks on snow", "Été, 2021!", "a dog sitting ."):
        cut = processor.encode(text, out_type=str)
        ids = opened.source_tokenizer.encode(text)
        assert [tokens[id] for id in ids] == [piece if piece in tokens else "<unk>" for piece in cut]
        assert opened.target_tokenizer.decode(ids) == processor.decode(cut)
    assert dict(examine(path).facts)["Tokenizer"] == "sentencepiece.model"


def test_a_package_of_argos_with_codes_cuts_words_by_them(tmp_path: Path) -> None:
    tokens = ["<unk>", "<blank>", "<s>", "</s>", "low", "lo@@", "w@@", "er", "e@@", "r", "new@@"]
    sizes = {"source_vocab_size": len(tokens), "target_vocab_size": len(tokens)}
    model = draw_model(random.Random(11), tied="all", norm_eps=1e-5, pad_id=1, **sizes)
    package = tmp_path / "package"
    folder_of(package / "model", of_model(model), tokens)
    (package / "metadata.json").write_text('{"from_code": "en", "to_code": "es"}')
    (package / "bpe.model").write_text("#version: 0.2\nl o\ne r</w>\nlo w</w>\nn e\nne w\n", "utf-8")
    assert "Moses" in import_model(package, tmp_path / "ours").warnings[0]
    opened = load(tmp_path / "ours")
    pieces = [tokens[id] for id in opened.source_tokenizer.encode("low lower newer")]
    assert pieces == ["low", "lo@@", "w@@", "er", "new@@", "er"]  # as subword-nmt applies these pairs by hand
    assert opened.target_tokenizer.decode([5, 6, 7, 4]) == "lower low"
    assert (opened.card["source"], opened.card["target"]) == ("English", "Spanish")


def _with(name: str, value: Any) -> Any:
    def change(file: File) -> None:
        file.variables[name] = np.asarray(value)

    return change


def _without(name: str) -> Any:
    def change(file: File) -> None:
        file.variables = {other: value for other, value in file.variables.items() if name not in other}

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_with("encoder/layer_0/self_attention/relative_position_keys", np.zeros((3, 4), "f4")), "Shaw"),
        (_with("decoder/layer_0/self_attention/rotary_dim", np.int32(4)), "rotary positions"),
        (_with("decoder/layer_0/self_attention/num_heads_kv", np.int32(1)), "share keys and values"),
        (_with("decoder/alibi", np.int8(1)), "ALiBi"),
        (_with("encoder/multi_query_attention", np.int8(1)), "share keys and values"),
        (_with("decoder/project_in/weight", np.zeros((4, 4), "f4")), "narrower than the model"),
        (_with("encoder/embeddings_1/weight", np.zeros((4, 4), "f4")), "features beside the tokens"),
        (_with("decoder/layer_0/ffn/linear_0_noact/weight", np.zeros((4, 4), "f4")), "gated"),
        (_with("decoder/layer_0/self_attention/q_norm/gamma", np.zeros(4, "f4")), "norms of queries"),
        (_with("decoder/what_is_this", np.zeros(4, "f4")), "decoder/what_is_this"),
        (_with("encoder/activation", np.int8(4)), "differ in activation"),
        (_with("encoder/pre_norm", np.zeros(3, "i1")), "must be one number"),
        (_with("encoder/num_heads", np.int16(5)), "not those of 5 heads"),
        (_with("encoder/num_heads", np.int16(-1)), "n_heads"),
        (_with("encoder/scale_embeddings", np.float32(3)), "Encoder and decoder multiply"),
        (_with("decoder/scale_outputs", np.float32(0.5)), "output is scaled"),
        (_with("decoder/layer_0/ffn/linear_1/weight", np.zeros((3, 3), "f4")), "must be"),
        (_with("decoder/layer_0/ffn/linear_1/weight", np.zeros((3, 3), "i1")), "must be"),
        (_without("ffn/layer_norm/beta"), "root mean square"),
        (_without("decoder/layer_0/attention/linear_1/weight"), "lacks decoder/layer_0/attention/linear_1/weight"),
        (_without("decoder/embeddings/weight"), "lacks decoder/embeddings/weight"),
    ],
)
def test_other_networks_are_refused_by_name(tmp_path: Path, change: Any, message: str) -> None:
    file = of_model(draw_model(random.Random(12), tied="none", norm="post", final_norm=False))
    change(file)
    folder = folder_of(tmp_path / "theirs", file)
    with pytest.raises(Refused, match=message) as refused:
        import_model(folder, tmp_path / "ours")
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 300
    assert not (tmp_path / "ours").exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"decoder_start_token": None}, "names no decoder_start_token"),
        ({"decoder_start_token": "nowhere"}, "no token 'nowhere'"),
        ({"decoder_start_token": 7}, "decoder_start_token in config.json is 7"),
        ({"eos_token": "nowhere"}, "no token 'nowhere'"),
        ({"layer_norm_epsilon": "small"}, "norm_eps is 'small'"),
    ],
)
def test_settings_that_cannot_be_are_refused(tmp_path: Path, settings: dict[str, Any], message: str) -> None:
    folder = folder_of(tmp_path / "theirs", of_model(draw_model(random.Random(12))), **settings)
    with pytest.raises(Refused, match=message):
        import_model(folder, tmp_path / "ours")


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    file = of_model(draw_model(random.Random(13), d_model=12))
    folder = folder_of(tmp_path / "theirs", file)
    whole, path = (folder / "model.bin").read_bytes(), folder / "model.bin"
    for end in (30, 60, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:end])
        with pytest.raises(Refused, match="ends|should have"):
            examine(folder)
    path.write_bytes(whole + b"\0")
    with pytest.raises(Refused, match=f"has {len(whole) + 1:,}"):
        examine(folder)
    start = 4 + 2 + len("TransformerSpec") + 1 + 4  # where the number of variables stands
    path.write_bytes(whole[:start] + struct.pack("<I", 2**31) + whole[start + 4 :])
    with pytest.raises(Refused, match="2,147,483,648 tensors"):
        examine(folder)
    path.write_bytes(struct.pack("<I", 9) + whole[4:])
    with pytest.raises(Refused, match="version 9"):
        examine(folder)
    replace(file, aliases={"encoder/what": "nowhere"}).write(path)
    with pytest.raises(Refused, match="second name"):
        examine(folder)


def test_what_is_no_encoder_decoder_of_text_is_refused(tmp_path: Path) -> None:
    file = replace(of_model(draw_model(random.Random(13))), architecture="WhisperSpec")
    with pytest.raises(Refused, match="WhisperSpec of CTranslate2, which is not an encoder-decoder of text"):
        examine(folder_of(tmp_path / "theirs", file))
    folder = folder_of(tmp_path / "other", replace(file, architecture="TransformerSpec"))
    with pytest.raises(Refused, match="Import the folder"):
        examine(folder / "model.bin")
    (folder / "shared_vocabulary.json").unlink()
    with pytest.raises(Refused, match="lacks the vocabulary"):
        examine(folder)
