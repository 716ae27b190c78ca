"""A live Hugging Face model as a `Translator`: its own tensors, its own numbers, and everything a Translator does."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import headlight
from headlight.analysis import contrast, contributions, decoder_lens, patching, why
from headlight.analysis.atlas import atlas
from headlight.checkpoints import load_translator
from headlight.corpora.truth import KnownPair
from headlight.importers.importing import import_model
from tests.checkpoints.hugging_face import CLASSES, piece_model, random_model, save, transformers
from tests.watching.live import END, IDS, PAD, START, TEXTS, live_model, word_tokenizer
from transformer import Translator
from transformer.inference.linear import operators_for
from transformer.taps import Ablate, Site

FAMILIES = [*CLASSES, "t5", "mt5"]
SRC = torch.tensor([[4, 6, 10, 7, END], [5, 8, END, PAD, PAD]])
TGT = torch.tensor([[START, 9, 5, 6], [START, 7, 8, 4]])
# Memory of their own: what the configuration determines, and what is a product.
COPIED = {
    "m2m100": {"encoder.embedding.positions.table", "decoder.embedding.positions.table"},
    "t5": {"decoder.norm.weight"},
    "blenderbot-small": {"decoder.embedding.tokens.weight"},
}


def opened(family: str, **config: Any) -> tuple[Any, Translator]:
    model = live_model(family, **config)
    return model, headlight.from_hugging_face(model, word_tokenizer())


@torch.no_grad()
def assert_same_logits(theirs: Any, ours: Translator, **tap: Any) -> None:
    mask, whole = (SRC != PAD).long(), {"use_cache": False}  # FSMT has no look-ahead mask with a cache
    expected = theirs(input_ids=SRC, attention_mask=mask, decoder_input_ids=TGT, **whole).logits
    torch.testing.assert_close(ours.prepared(SRC, TGT, **tap), expected, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(ours.model(SRC, TGT, **tap), expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_tensors_are_shared_and_what_changes_them_shows(family: str) -> None:
    model = live_model(family)
    before = {name: (tensor.data_ptr(), tensor.clone()) for name, tensor in model.state_dict().items()}
    attributes = {type(module).__name__: set(vars(module)) for module in model.modules()}
    ours = headlight.from_hugging_face(model.train(), word_tokenizer())
    assert model.training and attributes == {type(module).__name__: set(vars(module)) for module in model.modules()}
    for name, tensor in model.state_dict().items():
        assert tensor.data_ptr() == before[name][0] and torch.equal(tensor, before[name][1])
    live = {tensor.untyped_storage().data_ptr() for tensor in model.state_dict().values()}
    copied = {n for n, p in ours.model.named_parameters() if p.untyped_storage().data_ptr() not in live}
    assert copied == set(ours.card["live"]["copied"]) == COPIED.get(family, set())
    assert not {id(p) for p in ours.model.parameters()} & {id(p) for p in model.parameters()}  # for .to() and .grad

    assert_same_logits(model.eval(), ours)
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.5)
    model(input_ids=SRC, decoder_input_ids=TGT, labels=TGT).loss.backward()
    optimizer.step()
    for parameter in model.parameters():  # past what counts changes
        parameter.data.mul_(1.05)
    assert_same_logits(model, ours)


@pytest.mark.parametrize("family", FAMILIES)
def test_it_writes_and_looks_as_the_model_does(family: str) -> None:
    model, ours = opened(family)
    tokenizer = word_tokenizer(end=family != "blenderbot-small")  # whose own puts nothing around a text
    theirs = headlight.attention_of(model, tokenizer, TEXTS[1], num_beams=1, max_new_tokens=6)
    own = ours.trace_ids(theirs.source.ids, theirs.target.ids)
    assert ours.encode(TEXTS[1])[-4:] == theirs.source.ids[-4:]
    for kind in own.kinds:
        assert np.abs(own.pattern(kind) - theirs.pattern(kind)).max() < 1e-5
    assert np.abs(own.log_probs - theirs.log_probs).max() < 1e-4
    never = sorted({ours.model.config.pad_id, ours.model.config.sos_id})  # which ours never writes
    read = torch.tensor([ours.encode(TEXTS[1])])
    written = model.generate(read, num_beams=1, do_sample=False, max_new_tokens=8, suppress_tokens=never)[
        0, 1:
    ].tolist()
    assert written == ours.translate(TEXTS[1], beam_size=1, max_length=8).ids[: len(written)]


def test_a_pair_of_berts_is_shared_but_for_its_positions() -> None:
    sizes = {"hidden_size": 12, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 10}
    both = [transformers.BertConfig(vocab_size=32, **sizes, **IDS) for _ in range(2)]
    joined = transformers.EncoderDecoderConfig.from_encoder_decoder_configs(*both)
    model = transformers.EncoderDecoderModel(joined).eval()
    ours = headlight.from_hugging_face(model, word_tokenizer())
    tables = {f"{stack}.embedding.positions.table" for stack in ("encoder", "decoder")}
    assert set(ours.card["live"]["copied"]) == tables
    assert_same_logits(model, ours)
    for parameter in model.parameters():
        parameter.data.add_(torch.randn_like(parameter) * 0.1)
    assert_same_logits(model, ours)


@pytest.mark.parametrize(("family", "output"), [("marian", "encoder_attn.out_proj"), ("t5", "EncDecAttention.o")])
def test_a_head_that_is_off_is_one_whose_output_weights_are_0(family: str, output: str) -> None:
    model, ours = opened(family)
    without = copy.deepcopy(model)
    outputs = [module for name, module in without.named_modules() if name.endswith(output)]
    heads = ours.model.config.decoder.n_heads
    with torch.no_grad():
        outputs[1].weight.unflatten(1, (heads, -1))[:, 1] = 0
    assert_same_logits(without, ours, tap=Ablate(Site("decoder", 1, "cross"), 1))
    changed = ours.trace(TEXTS[0], interventions=[Ablate(Site("decoder", 1, "cross"), 1)])
    assert not changed.cross[1, 1].any() and headlight.show(changed).trace is changed


@pytest.mark.parametrize("family", ["bart", "t5"])
def test_analyses_give_what_they_give_of_the_imported_model(tmp_path: Path, family: str) -> None:
    model, live = opened(family)
    word_tokenizer().save_pretrained(save(model, tmp_path / "theirs"))
    import_model(tmp_path / "theirs", tmp_path / "ours")
    imported = load_translator(tmp_path / "ours")
    source, other = live.encode(TEXTS[1]), live.encode("a little boy walks on the snow bench")
    target = live.encode_target("the girl runs on")
    corruption = why.Corruption(source, other, target, 2, 5)

    def measured(translator: Translator) -> list[Any]:
        network, pairs = translator.model, [KnownPair(TEXTS[0], TEXTS[1])] * 3
        heads = atlas(translator.checkpoint, lambda: iter(pairs), 3, 2).to_dict()["heads"]["cross"]
        return [
            contributions(network, source, target),
            contrast(network, source, target, 2, 5),
            patching(network, corruption),
            decoder_lens(network, source, target),
            [heads[name] for name in sorted(heads)],
        ]

    for ours, theirs in zip(measured(live), measured(imported), strict=True):
        assert flat(ours) and np.allclose(flat(ours), flat(theirs), atol=1e-4, equal_nan=True)


def flat(value: Any) -> list[float]:
    """Return all numbers in a result."""
    if isinstance(value, np.ndarray | torch.Tensor):
        return list(np.asarray(value, dtype=np.float64).ravel())
    if isinstance(value, int | float):
        return [float(value)]
    if hasattr(value, "__dataclass_fields__"):
        value = [getattr(value, name) for name in value.__dataclass_fields__]
    values = value.values() if isinstance(value, dict) else value
    return [] if isinstance(values, str | None) else [number for part in values for number in flat(part)]


def test_a_model_that_differs_is_refused_with_the_place() -> None:
    for place, change in {
        "layer 2 of the decoder": lambda model: setattr(model.model.decoder.layers[1], "activation_fn", nn.Tanh()),
        "layer 1 of the encoder": lambda model: setattr(model.model.encoder.layers[0], "activation_fn", nn.Tanh()),
        "the encoder's embeddings": lambda model: setattr(model.model.encoder.embed_tokens, "embed_scale", 3.0),
        "the output projection": lambda model: setattr(model, "lm_head", nn.Sequential(model.lm_head, nn.Tanh())),
    }.items():
        model = live_model("bart")
        state = model.state_dict
        model.state_dict = lambda state=state: {k.replace("lm_head.0.", "lm_head."): v for k, v in state().items()}
        change(model)
        with pytest.raises(ValueError, match=f"differs from Headlight's network, first in {place}; its logits"):
            headlight.from_hugging_face(model, word_tokenizer())


def test_other_models_are_pointed_to_watch() -> None:
    for model, message in [
        (live_model("gpt2"), "not an encoder-decoder. headlight.watch"),
        (live_model("bert"), "not an encoder-decoder. headlight.watch"),
        (live_model("bart").model, "BartModel has no output that writes"),
        (live_model("bart").double(), "is in float64; open it in float32, bfloat16, float16"),
        (_quantized(), "is in quantized weights; open it in"),
        (_of_a_subclass(), "has weights of the class Sharded"),
        (live_model("bart").to("meta"), "are offloaded"),
        (transformers.LEDForConditionalGeneration(_led()), "type 'led', .* Marian, .* can. headlight.watch"),
    ]:
        with pytest.raises(ValueError, match=message) as refused:
            headlight.from_hugging_face(model, word_tokenizer())
        assert "\n" not in str(refused.value) and len(str(refused.value)) < 500


def _quantized() -> Any:
    model = live_model("bart")
    model.hf_quantizer = object()
    return model


def _of_a_subclass() -> Any:
    class Sharded(torch.Tensor):
        pass

    model = live_model("bart")
    model.model.encoder.layers[0].fc1.weight = nn.Parameter(torch.ones(20, 16).as_subclass(Sharded))
    return model


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("family", ["marian", "bart", "t5"])
def test_half_precision_is_shared_and_computed_with_in_float32(family: str, dtype: torch.dtype) -> None:
    model = live_model(family).to(dtype)
    storages = {tensor.untyped_storage().data_ptr() for tensor in model.state_dict().values()}
    translator = headlight.from_hugging_face(model, word_tokenizer())
    for parameter in translator.model.parameters():
        if parameter.dim() > 1 and parameter.dtype != torch.float32:  # tables of computed positions are ours
            assert parameter.dtype == dtype and parameter.untyped_storage().data_ptr() in storages
    assert translator.model.output.weight.dtype == dtype
    reference = headlight.from_hugging_face(live_model(family).to(dtype).float(), word_tokenizer())
    ids = [translator.encode(TEXTS[0])], [translator.encode_target(TEXTS[1])]
    rounds = operators_for(translator.model.output.weight) is not None  # this processor multiplies in bfloat16
    atol = 0.3 if rounds else 1e-5
    assert torch.allclose(translator.log_probs(*ids), reference.log_probs(*ids), atol=atol)
    own, due = (each.trace(TEXTS[0], TEXTS[1]).pattern("cross") for each in (translator, reference))
    assert np.allclose(own, due, atol=0.05 if rounds else 1e-5)
    with torch.no_grad():  # a weight and a bias, which is copied, that change show
        for parameter in model.parameters():
            parameter.mul_(0.5)
    changed = headlight.from_hugging_face(model, word_tokenizer()).log_probs(*ids)
    assert torch.allclose(translator.log_probs(*ids), changed, atol=atol)
    assert not torch.allclose(changed, reference.log_probs(*ids), atol=1e-2)


def _led() -> Any:
    sizes = {"encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 8, "decoder_ffn_dim": 8}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "attention_window": 4}
    return transformers.LEDConfig(vocab_size=32, d_model=8, **sizes, **heads)


def test_a_tensor_too_many_or_a_strange_tokenizer_is_refused() -> None:
    model = live_model("bart")
    model.model.encoder.layers[0].adapter = nn.Linear(16, 16)
    with pytest.raises(ValueError, match=r"most similar known format is “Hugging Face BART”: 0 .* unexpected"):
        headlight.from_hugging_face(model, word_tokenizer())
    tokenizer = word_tokenizer()
    tokenizer.save_pretrained = lambda folder: word_tokenizer().save_pretrained(folder)
    tokenizer.add_tokens(["girl "])
    with pytest.raises(ValueError, match="splits 'the girl boy dog' into the ids"):
        headlight.from_hugging_face(live_model("bart"), tokenizer)
    with pytest.raises(ValueError, match="has no choice of languages here; leave target_language out"):
        headlight.from_hugging_face(live_model("bart"), word_tokenizer(), target_language="fr")


def test_languages_are_the_tokenizers_or_asked_for(tmp_path: Path) -> None:
    path = piece_model(tmp_path, "a", "bpe")
    sentencepiece = pytest.importorskip("sentencepiece").SentencePieceProcessor(model_file=str(path))
    tokens = [
        "<s>",
        "<pad>",
        "</s>",
        "<unk>",
        *map(sentencepiece.id_to_piece, range(3, sentencepiece.get_piece_size())),
    ]
    (tmp_path / "vocab.json").write_text(json.dumps({token: id for id, token in enumerate(tokens)}), encoding="utf-8")
    shutil.copy(path, tmp_path / "sentencepiece.bpe.model")
    tokenizer = transformers.M2M100Tokenizer.from_pretrained(tmp_path, src_lang="fr")
    model = random_model("m2m100", vocab_size=len(tokens) + 108, max_position_embeddings=200)
    with pytest.raises(ValueError, match=r"Which language should it write\? .*target_language=.*af, am.* and 92 more"):
        headlight.from_hugging_face(model, tokenizer)
    with pytest.raises(ValueError, match="It cannot be 'klingon'. Give target_language"):
        headlight.from_hugging_face(model, tokenizer, target_language="klingon")
    tokenizer.tgt_lang = "de"
    for languages, ends in [({}, ("fr", "de")), ({"source_language": "it", "target_language": "es"}, ("it", "es"))]:
        ours = headlight.from_hugging_face(model, tokenizer, **languages)
        start, first = map(tokenizer.get_lang_id, ends)
        assert ours.encode("hello")[0] == start and ours.encode_target("hello")[1] == first
    assert ours.card["target"] == "Spanish"
