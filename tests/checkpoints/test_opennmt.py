"""OpenNMT-py's checkpoints become ours: the same log-probabilities as an implementation of its published equations."""

import argparse
import math
import random
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from headlight.checkpoints import load, load_translator
from headlight.importers.importing import examine, import_model
from transformer.checkpoint.weights import Refused

WORDS = [f"w{n}" for n in range(24)]
TOKENS = ["<unk>", "<blank>", "<s>", "</s>", *WORDS]


def draw(chance: random.Random) -> dict[str, Any]:
    """The options of a training, as OpenNMT-py keeps them, each that changes the network drawn."""
    share = chance.choice(["none", "decoder", "all"])
    return {
        "encoder_type": "transformer",
        "decoder_type": "transformer",
        "model_task": "seq2seq",
        "enc_layers": chance.choice([1, 2]),
        "dec_layers": chance.choice([1, 2, 3]),
        "hidden_size": 12,
        "heads": chance.choice([2, 3, 4]),
        "transformer_ff": chance.choice([10, 20]),
        "position_encoding": chance.random() < 0.7,
        "position_encoding_type": chance.choice(["SinusoidalInterleaved", "SinusoidalConcat"]),
        "pos_ffn_activation_fn": chance.choice(["relu", "gelu"]),
        "norm_eps": chance.choice([1e-6, 1e-2]),
        "add_qkvbias": chance.random() < 0.5,
        "add_ffnbias": chance.random() < 0.7,
        "share_decoder_embeddings": share != "none",
        "share_embeddings": share == "all",
        "max_relative_positions": 0,
        "self_attn_type": "scaled-dot",
        "layer_norm": "standard",
        "dropout": [0.1],
        "src_vocab": "data/vocab.src",
    }


def positions(kind: str, width: int, length: int = 50) -> Tensor:
    place = torch.arange(length).float()[:, None]
    table = torch.zeros(length, width)
    if kind == "SinusoidalInterleaved":
        angle = place * torch.exp(torch.arange(0, width, 2) * -(math.log(1e4) / width))
        table[:, 0::2], table[:, 1::2] = angle.sin(), angle.cos()
        return table
    angle = place * torch.exp(torch.arange(width // 2) * -(math.log(1e4) / (width // 2 - 1)))
    return torch.cat([angle.sin(), angle.cos()], 1)


def weights(options: dict[str, Any], vocabularies: tuple[int, int] = (len(TOKENS), len(TOKENS))) -> dict[str, Tensor]:
    """Random tensors under OpenNMT-py's names."""
    d, made = options["hidden_size"], {}

    def linear(name: str, rows: int, columns: int, bias: bool) -> None:
        made[f"{name}.weight"] = torch.randn(rows, columns) * 0.4
        if bias:
            made[f"{name}.bias"] = torch.randn(rows) * 0.4

    def norm(name: str) -> None:
        made[f"{name}.weight"], made[f"{name}.bias"] = 1 + torch.randn(d) * 0.4, torch.randn(d) * 0.4

    for side, layers, attentions, norms, depth, rows in (
        ("encoder", "transformer", ["self_attn"], ["layer_norm"], options["enc_layers"], vocabularies[0]),
        (
            "decoder", "transformer_layers", ["self_attn", "context_attn"], ["layer_norm_1", "layer_norm_2"],
            options["dec_layers"], vocabularies[1],
        ),
    ):  # fmt: skip
        made[f"{side}.embeddings.make_embedding.emb_luts.0.weight"] = torch.randn(rows, d) * 0.4
        if options["position_encoding"]:
            table = positions(options["position_encoding_type"], d)
            made[f"{side}.embeddings.make_embedding.pe.pe"] = table[:, None]
        for layer in range(depth):
            at = f"{side}.{layers}.{layer}"
            for attention in attentions:
                for part in ("linear_keys", "linear_values", "linear_query", "final_linear"):
                    linear(f"{at}.{attention}.{part}", d, d, options["add_qkvbias"])
            linear(f"{at}.feed_forward.w_1", options["transformer_ff"], d, options["add_ffnbias"])
            linear(f"{at}.feed_forward.w_2", d, options["transformer_ff"], options["add_ffnbias"])
            for name in (*norms, "feed_forward.layer_norm"):
                norm(f"{at}.{name}")
        norm(f"{side}.layer_norm")
    linear("generator", vocabularies[1], d, True)
    embeddings = [f"{side}.embeddings.make_embedding.emb_luts.0.weight" for side in ("encoder", "decoder")]
    if options["share_embeddings"]:
        made[embeddings[1]] = made[embeddings[0]]
    if options["share_decoder_embeddings"]:
        made["generator.weight"] = made[embeddings[1]]
    return made


def saved(path: Path, options: dict[str, Any], made: dict[str, Tensor], **vocab: Any) -> Path:
    model = {name: tensor for name, tensor in made.items() if not name.startswith("generator")}
    generator = {name.removeprefix("generator."): made[name] for name in made if name.startswith("generator")}
    lists = {"src": TOKENS, "tgt": TOKENS, "data_task": "seq2seq", "decoder_start_token": "<s>"}
    optim = {"training_step": 10, "state": {"exp_avg": torch.ones(3)}}
    opt = argparse.Namespace(**options)
    torch.save({"model": model, "generator": generator, "vocab": lists | vocab, "opt": opt, "optim": optim}, path)
    return path


def expected(options: dict[str, Any], w: dict[str, Tensor], src: list[int], tgt: list[int]) -> Tensor:
    """Log-probabilities [T, V] by onmt/modules and onmt/encoders, decoders/transformer.py, for one sentence pair."""
    d, heads = options["hidden_size"], options["heads"]

    def linear(x: Tensor, name: str) -> Tensor:
        return F.linear(x, w[f"{name}.weight"], w.get(f"{name}.bias"))

    def norm(x: Tensor, name: str) -> Tensor:
        return F.layer_norm(x, (d,), w[f"{name}.weight"], w[f"{name}.bias"], options["norm_eps"])

    def attend(x: Tensor, keys: Tensor, name: str, mask: Tensor | None = None) -> Tensor:
        def split(y: Tensor) -> Tensor:
            return y.view(len(y), heads, d // heads).transpose(0, 1)

        parts = ((x, "query"), (keys, "keys"), (keys, "values"))
        q, k, v = (split(linear(y, f"{name}.linear_{part}")) for y, part in parts)
        scores = q / math.sqrt(d // heads) @ k.transpose(1, 2)
        if mask is not None:
            scores = scores.masked_fill(mask, -1e18)
        return linear((scores.softmax(-1) @ v).transpose(0, 1).reshape(len(x), d), f"{name}.final_linear")

    def feed(x: Tensor, name: str) -> Tensor:
        act: Any = {"relu": F.relu, "gelu": F.gelu}[options["pos_ffn_activation_fn"]]
        return linear(act(linear(norm(x, f"{name}.layer_norm"), f"{name}.w_1")), f"{name}.w_2") + x

    def embed(ids: list[int], side: str) -> Tensor:
        x = w[f"{side}.embeddings.make_embedding.emb_luts.0.weight"][ids]
        if not options["position_encoding"]:
            return x
        return x * math.sqrt(d) + w[f"{side}.embeddings.make_embedding.pe.pe"][: len(ids), 0]

    x = embed(src, "encoder")
    for layer in range(options["enc_layers"]):
        at = f"encoder.transformer.{layer}"
        normed = norm(x, f"{at}.layer_norm")
        x = feed(attend(normed, normed, f"{at}.self_attn") + x, f"{at}.feed_forward")
    memory, y = norm(x, "encoder.layer_norm"), embed(tgt, "decoder")
    future = torch.ones(len(tgt), len(tgt)).triu(1).bool()
    for layer in range(options["dec_layers"]):
        at = f"decoder.transformer_layers.{layer}"
        normed = norm(y, f"{at}.layer_norm_1")
        query = attend(normed, normed, f"{at}.self_attn", future) + y
        context = attend(norm(query, f"{at}.layer_norm_2"), memory, f"{at}.context_attn")
        y = feed(context + query, f"{at}.feed_forward")
    return linear(norm(y, "decoder.layer_norm"), "generator").log_softmax(-1)


@pytest.mark.parametrize("seed", range(8))
def test_every_option_is_read(tmp_path: Path, seed: int) -> None:
    torch.manual_seed(seed)
    options = draw(random.Random(seed))
    made = weights(options)
    import_model(saved(tmp_path / "model_step_10.pt", options, made), tmp_path / "ours")
    ours = load_translator(tmp_path / "ours").model
    config = ours.config
    assert (config.pad_id, config.sos_id, config.eos_id, config.source_end) == (1, 2, 3, ())
    shared = options["share_embeddings"], options["share_decoder_embeddings"]
    assert config.tied == {(True, True): "all", (False, True): "output", (False, False): "none"}[shared]
    assert config.qkv_bias == options["add_qkvbias"]
    src, tgt = [5, 9, 11, 7], [2, 9, 5, 6]
    with torch.no_grad():
        actual = ours(torch.tensor([src]), torch.tensor([tgt])).log_softmax(-1)[0]
    torch.testing.assert_close(actual, expected(options, made, src, tgt), atol=1e-5, rtol=1e-5)
    assert load(tmp_path / "ours").source_tokenizer.encode("w5 what w1") == [9, 0, 5]


def test_two_vocabularies_and_an_older_generator(tmp_path: Path) -> None:
    """Each side has its own size; a generator was once a sequence of modules."""
    torch.manual_seed(3)
    options = draw(random.Random(3)) | {"share_embeddings": False, "share_decoder_embeddings": False}
    other = ["</s>", "<unk>", *WORDS[:9]]
    made = weights(options, (len(other), len(TOKENS)))
    path = saved(tmp_path / "model.pt", options, made, src=other)
    content = torch.load(path, weights_only=False)
    content["generator"] = {f"0.{name}": tensor for name, tensor in content["generator"].items()}
    torch.save(content, path)
    import_model(path, tmp_path / "ours")
    ours = load_translator(tmp_path / "ours").model
    pad = len(other)
    assert (ours.config.source_vocab_size, ours.config.target_vocab_size, ours.config.pad_id) == (pad + 1, 29, pad)
    tgt = [2, 9, 12, 20]
    with torch.no_grad():
        logits = ours(torch.tensor([[5, 9, 7]]), torch.tensor([[id + (id >= pad) for id in tgt]]))
    actual = logits.log_softmax(-1)[0]
    kept = [id for id in range(29) if id != pad]
    torch.testing.assert_close(actual[:, kept], expected(options, made, [5, 9, 7], tgt), atol=1e-5, rtol=1e-5)
    assert actual[:, pad].exp().max() == 0


@pytest.mark.parametrize(
    ("options", "vocab", "message"),
    [
        ({"max_relative_positions": 20}, {}, "relative, rotary or ALiBi positions"),
        ({"relative_positions_buckets": 32}, {}, "position biases"),
        ({"layer_norm": "rms"}, {}, "root mean square"),
        ({"num_kv": 1}, {}, "share keys and values"),
        ({"parallel_residual": True}, {}, "side by side"),
        ({"copy_attn": True}, {}, "a generator that copies"),
        ({"self_attn_type": "average"}, {}, "'average'"),
        ({"pos_ffn_activation_fn": "silu"}, {}, "'silu'; supported are relu and gelu"),
        ({"encoder_type": "brnn"}, {}, "another encoder"),
        ({"heads": 5}, {}, "does not divide"),
        ({"heads": "many"}, {}, "must be a whole number"),
        ({"enc_layers": 7}, {}, "lacks encoder.transformer"),
        ({"transformer_ff": 30}, {}, "must be"),
        ({}, {"src": {"w": 0}}, "not lists of tokens"),
        ({}, {"src_feats": [["a"]]}, "features beside the tokens"),
        ({}, {"tgt": WORDS}, "no token"),
    ],
)
def test_other_networks_are_refused_by_name(
    tmp_path: Path, options: dict[str, Any], vocab: dict[str, Any], message: str
) -> None:
    usual = draw(random.Random(4))
    path = saved(tmp_path / "model.pt", usual | options, weights(usual), **vocab)
    with pytest.raises(Refused, match=message) as refused:
        import_model(path, tmp_path / "ours")
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 300


def test_the_examination_reports_what_was_read(tmp_path: Path) -> None:
    options = draw(random.Random(5))
    examination = examine(saved(tmp_path / "model.pt", options, weights(options)))
    assert examination.form == "OpenNMT-py" and not examination.questions
    facts = dict(examination.facts)
    assert facts["Layers"] == f"{options['enc_layers']} and {options['dec_layers']}"
    assert facts["Merged from"] == "model, generator"
    assert "with spaces between them" in examination.warnings[0]


def test_what_ctranslate2_makes_of_it_is_the_same_model(tmp_path: Path) -> None:
    ctranslate2 = pytest.importorskip("ctranslate2")
    torch.manual_seed(6)
    options = draw(random.Random(6)) | {"position_encoding": True, "norm_eps": 1e-5}
    path = saved(tmp_path / "model.pt", options, weights(options))
    converter = ctranslate2.converters.OpenNMTPyConverter(str(path), unsafe_deserialization=True)
    converter.convert(str(tmp_path / "converted"))
    import_model(path, tmp_path / "ours")
    import_model(tmp_path / "converted", tmp_path / "again")
    first, second = (load_translator(tmp_path / name).model for name in ("ours", "again"))
    src, tgt = torch.tensor([[5, 9, 11, 7]]), torch.tensor([[2, 9, 5, 6]])
    assert first.config.source_end == second.config.source_end == ()
    with torch.no_grad():
        torch.testing.assert_close(first(src, tgt), second(src, tgt), atol=1e-5, rtol=1e-5)
        mine = first(src, tgt).log_softmax(-1)[0]
    translator = ctranslate2.Translator(str(tmp_path / "converted"), intra_threads=1)
    read, written = ([TOKENS[id] for id in ids] for ids in (src[0], tgt[0, 1:]))
    scored = translator.score_batch([read], [written])[0]
    ends = torch.tensor([9, 5, 6, 3])[:, None]
    torch.testing.assert_close(mine.gather(1, ends)[:, 0], torch.tensor(scored.log_probs), atol=2e-5, rtol=1e-4)
