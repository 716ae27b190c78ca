"""Checkpoints of fairseq: the imported model computes what the original code did, recorded, and what its settings say.

`tests/fixtures/fairseq` was made by the original code (fairseq's last commit, subword-nmt 0.3.8): a checkpoint with
random weights in float16, dictionaries, BPE codes, and the logits and pieces that the code computed; and the same with
its settings as objects of omegaconf 2.0.6 and 2.4.0.
"""

import math
import os
import random
import shutil
import sys
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tokenizers
import torch
from torch import Tensor
from torch.nn import functional as F

from headlight.checkpoints import load
from headlight.importers.importing import examine, import_model
from headlight.importers.questions import Answers
from headlight.importers.source import open_source
from tests.checkpoints.hugging_face import piece_model
from tests.faults import in_one_sentence
from transformer.checkpoint import Checkpoint
from transformer.checkpoint.weights import Refused

RECORDED = Path(__file__).resolve().parents[1] / "fixtures" / "fairseq"
SOURCE_VOCABULARY, TARGET_VOCABULARY, PAD, END = 21, 26, 1, 2
SRC = torch.tensor([[9, 10, 5, 7, END], [8, 5, END, PAD, PAD]])
TGT = torch.tensor([[END, 9, 12, 4], [END, 8, 11, 20]])
State = dict[str, Tensor]


@pytest.mark.parametrize("name", ["checkpoint_best.pt", "omegaconf-2.0.pt", "omegaconf-2.4.pt"])
def test_the_original_codes_logits_and_pieces(tmp_path: Path, name: str) -> None:
    import_model(RECORDED / name, tmp_path / "ours")  # the dictionaries lie beside it
    ours = load(tmp_path / "ours")
    with np.load(RECORDED / "expected.npz") as expected, torch.no_grad():
        logits = ours.model(torch.tensor(expected["src"]), torch.tensor(expected["tgt"]))
        np.testing.assert_allclose(logits, expected["logits"], atol=2e-5)
        ids = ours.source_tokenizer.encode("das haus ist kleiner")
        assert ids == expected["ids"].tolist()
        shown = [f"{piece}</w>" if not piece.endswith("@@") else piece[:-2] for piece in expected["pieces"]]
    assert [ours.source_tokenizer.piece(id) for id in ids] == shown
    assert ours.source_tokenizer.decode(ids) == "das haus ist kleiner"
    config = ours.model.config
    assert (config.pad_id, config.sos_id, config.eos_id) == (1, 2, 2)
    assert config.norm == "pre" and config.final_norm and config.embedding_norm and config.tied == "output"


def draw(chance: random.Random) -> dict[str, Any]:
    """Settings of which each that the importer reads is drawn."""
    first, together = chance.random() < 0.5, chance.random() < 0.3
    width = 4 * chance.choice([2, 3])
    return {
        "arch": chance.choice(["transformer", "transformer_iwslt_de_en", "own_architecture"]),
        "encoder_embed_dim": width,
        "decoder_embed_dim": width,
        "encoder_ffn_embed_dim": chance.choice([10, 24]),
        "decoder_ffn_embed_dim": chance.choice([12, 20]),
        "encoder_layers": chance.choice([1, 2]),
        "decoder_layers": chance.choice([1, 2]),
        "encoder_attention_heads": chance.choice([1, 2, 4]),
        "decoder_attention_heads": chance.choice([1, 2, 4]),
        "encoder_normalize_before": first,
        "decoder_normalize_before": first,
        "encoder_learned_pos": chance.random() < 0.5,
        "decoder_learned_pos": chance.random() < 0.5,
        "activation_fn": chance.choice(["relu", "gelu", "gelu_accurate", "linear"]),
        "share_all_embeddings": together,
        "share_decoder_input_output_embed": together or chance.random() < 0.5,
        "no_token_positional_embeddings": chance.random() < 0.2,
        "layernorm_embedding": chance.random() < 0.5,
        "no_scale_embedding": chance.random() < 0.5,
        "max_source_positions": chance.choice([40, 30]),
        "max_target_positions": chance.choice([40, 25]),
    }


def random_state(s: dict[str, Any]) -> State:
    """The tensors of a model with these settings, named as the newest version does."""
    d = s["encoder_embed_dim"]
    shapes: dict[str, tuple[int, ...]] = {}

    def affine(name: str, *shape: int) -> None:
        shapes[f"{name}.weight"], shapes[f"{name}.bias"] = shape, shape[:1]

    for stack, rows in (("encoder", SOURCE_VOCABULARY), ("decoder", TARGET_VOCABULARY)):
        shapes[f"{stack}.embed_tokens.weight"] = (TARGET_VOCABULARY if s["share_all_embeddings"] else rows, d)
        if s[f"{stack}_learned_pos"] and not s["no_token_positional_embeddings"]:
            side = "source" if stack == "encoder" else "target"
            shapes[f"{stack}.embed_positions.weight"] = (s[f"max_{side}_positions"] + PAD + 1, d)
        if s["layernorm_embedding"]:
            affine(f"{stack}.layernorm_embedding", d)
        if s[f"{stack}_normalize_before"]:
            affine(f"{stack}.layer_norm", d)
        attentions = ("self_attn",) if stack == "encoder" else ("self_attn", "encoder_attn")
        for layer in range(s[f"{stack}_layers"]):
            for attention in attentions:
                for projection in ("q_proj", "k_proj", "v_proj", "out_proj"):
                    affine(f"{stack}.layers.{layer}.{attention}.{projection}", d, d)
                affine(f"{stack}.layers.{layer}.{attention}_layer_norm", d)
            d_ff = s[f"{stack}_ffn_embed_dim"]
            affine(f"{stack}.layers.{layer}.fc1", d_ff, d)
            affine(f"{stack}.layers.{layer}.fc2", d, d_ff)
            affine(f"{stack}.layers.{layer}.final_layer_norm", d)
    state = {name: torch.randn(shape) * 0.4 for name, shape in shapes.items()}
    if s["share_all_embeddings"]:
        state["decoder.embed_tokens.weight"] = state["encoder.embed_tokens.weight"]
    tied = s["share_decoder_input_output_embed"]
    own = torch.randn(TARGET_VOCABULARY, d)
    state["decoder.output_projection.weight"] = state["decoder.embed_tokens.weight"] if tied else own
    return state | {"encoder.version": torch.tensor([3.0]), "decoder.version": torch.tensor([3.0])}


def reference(state: State, s: dict[str, Any]) -> Tensor:
    """The logits for SRC and TGT, written from fairseq's documentation of its settings."""
    d = s["encoder_embed_dim"]
    activation: Callable[[Tensor], Tensor] = {
        "relu": F.relu,
        "gelu": F.gelu,
        "gelu_accurate": lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
        "linear": lambda x: x,
    }[s["activation_fn"]]

    def affine(name: str, x: Tensor) -> Tensor:
        return F.linear(x, state[f"{name}.weight"], state[f"{name}.bias"])

    def norm(name: str, x: Tensor) -> Tensor:
        return F.layer_norm(x, (d,), state[f"{name}.weight"], state[f"{name}.bias"])

    def sublayer(name: str, stack: str, x: Tensor, compute: Callable[[Tensor], Tensor]) -> Tensor:
        if s[f"{stack}_normalize_before"]:
            return x + compute(norm(name, x))
        return norm(name, x + compute(x))

    def attention(name: str, x: Tensor, y: Tensor, hidden: Tensor, heads: int) -> Tensor:
        q, k, v = (
            affine(f"{name}.{letter}_proj", z).unflatten(-1, (heads, -1)).transpose(1, 2)
            for letter, z in (("q", x), ("k", y), ("v", y))
        )
        scores = (q @ k.transpose(2, 3) / math.sqrt(d // heads)).masked_fill(hidden, -math.inf)
        return affine(f"{name}.out_proj", (scores.softmax(-1) @ v).transpose(1, 2).flatten(2))

    def sines(position: int) -> list[float]:
        frequencies = [10_000 ** (-i / (d // 2 - 1)) for i in range(d // 2)]
        return [f(position * w) for f in (math.sin, math.cos) for w in frequencies]

    def embedded(stack: str, ids: Tensor) -> Tensor:
        x = state[f"{stack}.embed_tokens.weight"][ids] * (1.0 if s["no_scale_embedding"] else math.sqrt(d))
        if not s["no_token_positional_embeddings"]:
            rows = range(PAD + 1, PAD + 1 + ids.size(1))
            learned = s[f"{stack}_learned_pos"]
            x = x + (
                state[f"{stack}.embed_positions.weight"][rows] if learned else torch.tensor(list(map(sines, rows)))
            )
        return norm(f"{stack}.layernorm_embedding", x) if s["layernorm_embedding"] else x

    def stack(name: str, x: Tensor, own: Tensor, memory: Tensor | None, padding: Tensor) -> Tensor:
        heads = s[f"{name}_attention_heads"]
        for layer in (f"{name}.layers.{n}" for n in range(s[f"{name}_layers"])):
            self_attention = lambda h, at=f"{layer}.self_attn": attention(at, h, h, own, heads)  # noqa: E731
            x = sublayer(f"{layer}.self_attn_layer_norm", name, x, self_attention)
            if memory is not None:
                cross = lambda h, at=f"{layer}.encoder_attn": attention(at, h, memory, padding, heads)  # noqa: E731
                x = sublayer(f"{layer}.encoder_attn_layer_norm", name, x, cross)
            feed = lambda h, at=layer: affine(f"{at}.fc2", activation(affine(f"{at}.fc1", h)))  # noqa: E731
            x = sublayer(f"{layer}.final_layer_norm", name, x, feed)
        return norm(f"{name}.layer_norm", x) if f"{name}.layer_norm.weight" in state else x

    padding = (SRC == PAD)[:, None, None, :]
    memory = stack("encoder", embedded("encoder", SRC), padding, None, padding)
    later = torch.ones(TGT.size(1), TGT.size(1), dtype=torch.bool).triu(1)
    return (
        stack("decoder", embedded("decoder", TGT), later, memory, padding) @ state["decoder.output_projection.weight"].T
    )


def old_names(state: State, s: dict[str, Any]) -> State:
    """The same tensors as the first versions named them: fused projections, numbered norms, `embed_out`."""
    old = dict(state)
    for stack, norms in (("encoder", ("self_attn", "final")), ("decoder", ("self_attn", "encoder_attn", "final"))):
        old[f"{stack}.embed_positions._float_tensor"] = torch.ones(1)
        for layer in (f"{stack}.layers.{n}" for n in range(s[f"{stack}_layers"])):
            for attention in norms[:-1]:
                for kind in ("weight", "bias"):
                    parts = [old.pop(f"{layer}.{attention}.{letter}_proj.{kind}") for letter in "qkv"]
                    old[f"{layer}.{attention}.in_proj_{kind}"] = torch.cat(parts)
            for number, name in enumerate(norms):
                for kind in ("weight", "bias"):
                    old[f"{layer}.layer_norms.{number}.{kind}"] = old.pop(f"{layer}.{name}_layer_norm.{kind}")
    output = old.pop("decoder.output_projection.weight")
    if not s["share_decoder_input_output_embed"]:
        old["decoder.embed_out"] = output
    for name in [name for name in old if name.startswith(("encoder.layer_norm.", "decoder.layer_norm."))]:
        del old[name]  # they did not normalise after the stack
    return old | {"encoder.version": torch.tensor([1.0]), "decoder.version": torch.tensor([2.0])}


def grouped(s: dict[str, Any]) -> dict[str, Any]:
    """The settings as Hydra groups them: {"encoder": {"embed_dim": 8}}."""
    groups: dict[str, Any] = {"encoder": {}, "decoder": {}, "_name": s["arch"], "quant_noise": {"pq": 0.0}}
    for name, value in s.items():
        stack, _, rest = name.partition("_")
        (groups[stack] if stack in ("encoder", "decoder") else groups)[rest if stack in groups else name] = value
    return groups


def save(path: Path, state: State, s: dict[str, Any], how: str = "args", language: str | None = "de") -> Path:
    task = {"_name": "translation", "source_lang": "de", "target_lang": "en"}
    settings = {
        "args": {"args": Namespace(**{"source_lang": language, "target_lang": "en", **s}), "cfg": None},
        "cfg": {"args": None, "cfg": {"model": Namespace(**s), "task": task}},
        "groups": {"args": None, "cfg": {"model": grouped(s), "task": task}},
    }[how]
    extra = {"extra_state": {"train_iterator": {"epoch": 1}}, "last_optimizer_state": {"state": {0: {"step": 1}}}}
    torch.save({**settings, "model": state, **extra}, path)
    return path


@pytest.mark.parametrize("seed", range(9))
def test_logits_are_what_the_settings_say(tmp_path: Path, seed: int) -> None:
    s = draw(random.Random(f"fairseq {seed}"))
    torch.manual_seed(seed)
    state = random_state(s)
    saved = old_names(state, s) if seed % 3 == 0 else state
    if seed % 3 == 0:
        state = {name: tensor for name, tensor in state.items() if "coder.layer_norm" not in name}
    import_model(save(tmp_path / "model.pt", saved, s, ["args", "cfg", "groups"][seed % 3]), tmp_path / "ours")
    ours = load(tmp_path / "ours").model
    with torch.no_grad():
        torch.testing.assert_close(ours(SRC, TGT), reference(state, s), atol=2e-4, rtol=1e-4)


SMALL = {**draw(random.Random(0)), "arch": "transformer", "share_all_embeddings": False}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"adaptive_input": True}, "has adaptive input embeddings .adaptive_input., which is not supported"),
        ({"adaptive_softmax_cutoff": "1000,2000"}, "has an adaptive softmax"),
        ({"cross_self_attention": True}, "one attention over source and target"),
        ({"activation_fn": "tanh"}, "activation of this fairseq model is 'tanh'; supported are relu"),
        (
            {"decoder_normalize_before": not SMALL["encoder_normalize_before"]},
            "norms before the sublayers of one stack",
        ),
        ({"decoder_embed_dim": 32}, "different widths"),
        ({"arch": "transformer_lm_big"}, "architecture 'transformer_lm_big'.*convert_"),
        ({"task": "translation_from_pretrained_bart"}, "do not say which languages"),
        ({"encoder_layers": 2, "encoder_attention_heads": 0}, "encoder_attention_heads is 0; it must be"),
    ],
)
def test_what_ours_lacks_is_refused_by_name(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = save(tmp_path / "model.pt", random_state(SMALL), {**SMALL, **change}, language=None)
    with pytest.raises(Refused, match=message):
        examine(path)


def test_weights_of_another_kind_are_compared_with_fairseqs(tmp_path: Path) -> None:
    state = random_state(SMALL) | {"decoder.embed_length.weight": torch.ones(2, 2)}
    diagnosis = examine(save(tmp_path / "model.pt", state, SMALL)).diagnosis
    assert diagnosis is not None and diagnosis.nearest == "fairseq"
    assert diagnosis.unexpected == ("decoder.embed_length.weight",) and not diagnosis.missing


def test_dictionaries_beside_it_are_read_and_asked_for_otherwise(tmp_path: Path) -> None:
    path = save(tmp_path / "checkpoint_best.pt", random_state(SMALL), SMALL)
    assert [question.field for question in examine(path).questions] == ["source_vocab", "target_vocab"]
    (tmp_path / "dict.de.txt").write_text("der 9\nHaus 3\n")
    (tmp_path / "dict.en.txt").write_text("#fairseq:overwrite 3 #fairseq:overwrite\nthe 9\n")
    assert examine(path).questions == ()
    warnings = import_model(path, tmp_path / "ours").warnings
    ours = load(tmp_path / "ours")
    assert not any("spaces" in warning for warning in warnings)
    assert [ours.source_tokenizer.piece(id) for id in range(6)] == ["<s>", "<pad>", "</s>", "<unk>", "der", "Haus"]
    assert ours.source_tokenizer.encode("der <s> Baum") == [4, 3, 3]
    assert ours.target_tokenizer.encode("#fairseq:overwrite the") == [4, 5]
    shutil.copy(path, tmp_path / "checkpoint_last.pt")  # of a folder with several, the best is opened
    assert examine(tmp_path).form == "fairseq"
    (tmp_path / "dict.de.txt").write_text("der\n")
    with pytest.raises(Refused, match="not a dictionary of fairseq: line 1"):
        import_model(path, tmp_path / "again")


def test_pieces_are_cut_as_sentencepiece_cuts_them(tmp_path: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    model = piece_model(tmp_path, "spm", size=60)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    pieces = [processor.id_to_piece(id) for id in range(3, processor.get_piece_size())]
    for language in ("de", "en"):
        (tmp_path / f"dict.{language}.txt").write_text("".join(f"{piece} 1\n" for piece in pieces), encoding="utf-8")
    s = {**SMALL, "share_all_embeddings": True, "share_decoder_input_output_embed": True, "encoder_learned_pos": False}
    state = random_state(s)
    rows = torch.randn(len(pieces) + 4, s["encoder_embed_dim"])
    state |= dict.fromkeys(("encoder.embed_tokens.weight", "decoder.embed_tokens.weight"), rows)
    state["decoder.output_projection.weight"] = rows
    import_model(save(tmp_path / "model.pt", state, s), tmp_path / "ours")
    ours = load(tmp_path / "ours")
    text = "the girl walks on snow !"
    assert ours.source_tokenizer.encode(text) == [pieces.index(p) + 4 for p in processor.encode(text, out_type=str)]
    assert ours.source_tokenizer is ours.target_tokenizer


class DictConfig:
    """A stand-in for omegaconf's, which is pickled under the same name."""

    def __init__(self, content: object) -> None:
        self._content = content


@pytest.fixture
def pickled_as_omegaconf(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("omegaconf.dictconfig")
    module.DictConfig = DictConfig  # type: ignore[attr-defined]
    monkeypatch.setattr(DictConfig, "__module__", "omegaconf.dictconfig")
    monkeypatch.setitem(sys.modules, "omegaconf", ModuleType("omegaconf"))
    monkeypatch.setitem(sys.modules, "omegaconf.dictconfig", module)


def endless() -> DictConfig:
    config = DictConfig({})
    config._content = {"model": config}
    return config


def doubled(times: int) -> DictConfig:
    config = DictConfig({"a": 1})
    for _ in range(times):
        config = DictConfig({"a": config, "b": config})
    return config


@pytest.mark.usefixtures("pickled_as_omegaconf")
@pytest.mark.parametrize("config", [endless(), doubled(40), doubled(90)], ids=["endless", "doubled", "deep"])
def test_settings_that_do_not_end_are_refused(tmp_path: Path, config: DictConfig) -> None:
    torch.save({"cfg": config, "model": {"encoder.weight": torch.ones(2)}}, tmp_path / "model.pt")
    with pytest.raises(Refused, match="lists inside lists that do not end"):
        examine(tmp_path / "model.pt")


@pytest.mark.usefixtures("pickled_as_omegaconf")
def test_references_lead_to_values_or_to_nothing(tmp_path: Path) -> None:
    texts = {"a": "${b.c}", "b": {"c": "${d}"}, "d": 7, "e": "${e}", "f": "${oc.env:HOME}", "g": "???", "h": "${b.x.y}"}
    torch.save({"cfg": DictConfig(texts), "model": {"weight": torch.ones(2)}}, tmp_path / "model.pt")
    with open_source(tmp_path / "model.pt") as source:
        due = {"a": 7, "b": {"c": 7}, "d": 7, "e": None, "f": "${oc.env:HOME}", "g": None, "h": None}
        assert source.facts["cfg"] == due
    torch.save(DictConfig({}), tmp_path / "whole.pt")
    with pytest.raises(Refused, match="whole object of the class omegaconf.dictconfig.DictConfig"):
        examine(tmp_path / "whole.pt")


def test_a_call_among_the_settings_is_still_refused(tmp_path: Path) -> None:
    class Call:
        def __reduce__(self) -> tuple[Any, tuple[str]]:
            return os.system, ("true",)

    torch.save({"cfg": {"a": Call()}, "model": {"weight": torch.ones(2)}}, tmp_path / "model.pt")
    with pytest.raises(Refused, match=r"would call (posix|nt)\.system"):
        examine(tmp_path / "model.pt")


SHARED = {**SMALL, "share_all_embeddings": True, "share_decoder_input_output_embed": True}
WORDS = "".join(f"w{n} 1\n" for n in range(4, 18))


def with_task(folder: Path, state: State, answers: Answers = Answers(), **settings: Any) -> Checkpoint:  # noqa: B008
    """Import a model with a task's settings, whose dictionaries lie beside it."""
    save(folder / "model.pt", state, {**SHARED, **settings}, language=settings.get("source_lang"))
    import_model(folder / "model.pt", folder / "ours", answers)
    return load(folder / "ours")


def around(checkpoint: Checkpoint) -> tuple[list[str], list[str], int]:
    """The symbols around a source, and before a target, and the id that ends one."""
    config, tokenizer = checkpoint.model.config, checkpoint.target_tokenizer
    ends = (config.eos_id,) if config.source_end is None else config.source_end
    source = [*map(tokenizer.piece, config.source_start), "…", *map(tokenizer.piece, ends)]
    return source, [tokenizer.piece(id) for id in (config.sos_id, *config.target_start)], config.eos_id


def test_bart_reads_gpt2s_pieces_between_its_ends(tmp_path: Path) -> None:
    cut = tokenizers.ByteLevelBPETokenizer()
    cut.train_from_iterator(["the girl walks on snow", "the snow is white"] * 3, 275, min_frequency=2)
    cut.save_model(str(tmp_path))
    (tmp_path / "vocab.json").rename(tmp_path / "encoder.json")
    (tmp_path / "merges.txt").rename(tmp_path / "vocab.bpe")
    text = "the girl walks on snow"
    numbers = list(dict.fromkeys(cut.encode("walks the girl on snow is white, the girl").ids))[:19]
    (tmp_path / "dict.txt").write_text("".join(f"{number} 1\n" for number in numbers))
    state = random_state(SHARED) | {"classification_heads.mnli.dense.weight": torch.ones(3, 3)}
    ours = with_task(tmp_path, state, arch="bart_base", task="denoising", bpe="gpt2")
    due = [numbers.index(number) + 4 if number in numbers else 3 for number in cut.encode(text).ids]
    assert ours.source_tokenizer.encode(text) == due and len(set(due)) > 3
    assert around(ours) == (["<s>", "…", "</s>"], ["</s>", "<s>"], END)
    with torch.no_grad():
        torch.testing.assert_close(ours.model(SRC, TGT), reference(state, SHARED), atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("first", [True, False])
def test_a_model_from_pretrained_bart_reads_and_writes_its_languages(tmp_path: Path, first: bool) -> None:
    (tmp_path / "dict.de_DE.txt").write_text(WORDS)
    (tmp_path / "dict.en_XX.txt").write_text(WORDS)
    task = {"task": "translation_from_pretrained_bart", "langs": "ar_AR,de_DE,en_XX", "prepend_bos": first}
    languages = {"source_lang": "de_DE", "target_lang": "en_XX", "arch": "mbart_large"}
    ours = with_task(tmp_path, random_state(SHARED), **task, **languages)
    assert around(ours) == (["<s>"] * first + ["…", "</s>", "[de_DE]"], ["[en_XX]"], END)
    assert ours.model.config.sos_id == 4 + 14 + 2  # after the words and two languages
    assert ours.target_tokenizer.decode([20, 5, 6, END, 19]) == "w5 w6"
    assert ours.source_tokenizer.encode("w5 [de_DE]") == [5, 3]  # what people type is never a language's token
    (tmp_path / "dict.en_XX.txt").unlink()
    with pytest.raises(Refused, match=r"needs '\[en_XX\]', whose id only its dictionary says"):
        import_model(tmp_path / "model.pt", tmp_path / "again")


@pytest.mark.parametrize(
    ("settings", "asked", "due"),
    [
        ({"encoder_langtok": "src", "decoder_langtok": True}, ["source", "target"], ["__de__", "__fr__"]),
        ({"encoder_langtok": "tgt", "decoder_langtok": False}, ["target"], ["__fr__", ""]),
        ({"langtoks": {"main": ("tgt", "tgt")}}, ["target"], ["__fr__", "__fr__"]),
        ({"decoder_langtok": True, "lang_tok_style": "mbart"}, ["target"], ["", "[fr]"]),
        ({}, [], ["", ""]),
    ],
)
def test_one_model_of_many_languages_asks_for_them(
    tmp_path: Path, settings: dict[str, Any], asked: list[str], due: list[str]
) -> None:
    (tmp_path / "dict.fr.txt").write_text(WORDS)
    task = {"task": "translation_multi_simple_epoch", "lang_pairs": "fr-de,de-en", **settings}
    path = save(tmp_path / "model.pt", random_state(SHARED), {**SHARED, **task}, language=None)
    questions = examine(path).questions
    assert [question.field for question in questions] == [f"{side}_language" for side in asked]
    assert all(question.choices == ("de", "en", "fr") for question in questions)
    answers = {"source_language": "de", "target_language": "fr"}
    given = Answers(**{name: text for name, text in answers.items() if name.split("_")[0] in asked})  # type: ignore[arg-type]
    ours = with_task(tmp_path, random_state(SHARED), given, **task)
    before, after = ([text] if text else [] for text in due)
    assert around(ours) == ([*before, "…", "</s>"], ["</s>", *after], END)
    languages = sorted(id for id in (*ours.model.config.source_start, *ours.model.config.target_start))
    assert all(id >= 4 + 14 for id in languages)


def test_of_a_model_for_each_pair_the_asked_one_is_opened(tmp_path: Path) -> None:
    states = {pair: random_state(SHARED) for pair in ("de-en", "fr-en")}
    both = {f"models.{pair}.{name}": tensor for pair, state in states.items() for name, tensor in state.items()}
    for language in ("de", "en", "fr"):
        (tmp_path / f"dict.{language}.txt").write_text(WORDS)
    task = {"task": "multilingual_translation", "lang_pairs": ["de-en", "fr-en"], "arch": "multilingual_transformer"}
    path = save(tmp_path / "model.pt", both, {**SHARED, **task}, language=None)
    assert [question.choices for question in examine(path).questions] == [("de", "fr"), ("en",)]
    answers = Answers(source_language="fr", target_language="en")
    ours = with_task(tmp_path, both, answers, **task, encoder_langtok="tgt", decoder_langtok=True)
    assert around(ours) == (["…", "__en__"], ["__en__"], END)
    with torch.no_grad():
        torch.testing.assert_close(ours.model(SRC, TGT), reference(states["fr-en"], SHARED), atol=2e-4, rtol=1e-4)
    with pytest.raises(Refused, match="no model for de to fr; its pairs are de-en, fr-en|cannot be fr"):
        import_model(path, tmp_path / "again", Answers(source_language="de", target_language="fr"))
    with pytest.raises(Refused, match="names 5,000 languages"):
        examine(save(tmp_path / "long.pt", both, {**SHARED, **task, "lang_pairs": ["a-b"] * 5_000}, language=None))


@pytest.mark.parametrize("told", [True, False])
def test_texts_of_moses_are_cut_and_joined_as_fairseq_does(tmp_path: Path, told: bool) -> None:
    sacremoses = pytest.importorskip("sacremoses")
    words = ["das", "haus", "ist", "klein", ",", ".", "&apos;s", "@-@", "(", ")", "!", "&quot;"]
    for language in ("de", "en"):
        (tmp_path / f"dict.{language}.txt").write_text("".join(f"{word} 1\n" for word in words))
    merges = [f"{word[:n]} {word[n]}{'</w>' * (n == len(word) - 1)} 1" for word in words for n in range(1, len(word))]
    (tmp_path / "bpecodes").write_text("\n".join(merges) + "\n")
    s = {**SHARED, **({"tokenizer": "moses"} if told else {})}
    path = save(tmp_path / "model.pt", random_state(SHARED), s)
    assert [question.field for question in examine(path).questions] == ([] if told else ["moses"])
    import_model(path, tmp_path / "ours")
    ours = load(tmp_path / "ours")
    text = 'das haus ist (klein), das-haus "klein"!'
    cut = sacremoses.MosesTokenizer("de").tokenize(text, aggressive_dash_splits=True, escape=True)
    assert ours.source_tokenizer.encode(text) == [words.index(word) + 4 if word in words else 3 for word in cut]
    ids = ours.target_tokenizer.encode("das haus (klein), das-haus.")
    due = sacremoses.MosesDetokenizer("en").detokenize([words[id - 4] for id in ids])
    assert ours.target_tokenizer.decode([*ids, END]) == due == "das haus (klein), das-haus."
    if not told:
        import_model(path, tmp_path / "spaces", Answers(moses="no"))
        assert ours.source_tokenizer.encode("das haus, klein") == [4, 5, 8, 7]
        plain = load(tmp_path / "spaces").source_tokenizer
        assert plain.encode("das haus , klein") == [4, 5, 8, 7] != plain.encode("das haus, klein")


STRANGE = [None, -1, 10**30, "x" * 700, "x" * 5_000, "[]", ["a"] * 3, {"main": ("src", "tgt")}, {"main": 5}, 1.5]
STRANGE += [math.nan, "de-en", ["de-en", "x", "a-b-c"], "../../etc/passwd", "/dev/zero", b"x", True]
READ = [*SHARED, "task", "langs", "lang_dict", "lang_pairs", "source_lang", "target_lang", "encoder_langtok"]
READ += ["langtoks", "decoder_langtok", "lang_tok_style", "prepend_bos", "source_dict", "fixed_dictionary", "bpe_codes"]
READ += ["tokenizer"]


def test_strange_settings_are_read_or_refused_in_a_sentence(tmp_path: Path) -> None:
    state, chance = random_state(SHARED), random.Random(0)
    for language in ("de", "en", "fr"):
        (tmp_path / f"dict.{language}.txt").write_text(WORDS)
    by_pair = {f"models.de-en.{name}": tensor for name, tensor in state.items()}
    answers = Answers(source_language="de", target_language="en")
    tasks = ["translation", "translation_multi_simple_epoch", "multilingual_translation", "denoising"]
    tasks += ["translation_from_pretrained_bart"]

    def attempt() -> bool:
        task = {"task": chance.choice(tasks), "arch": chance.choice(["transformer", "bart_base"])}
        s = {**SHARED, **task, "lang_pairs": "de-en,en-de", "langs": "de,en"}
        s |= {chance.choice(READ): chance.choice(STRANGE) for _ in range(chance.choice([1, 1, 2, 4]))}
        path = save(tmp_path / "model.pt", chance.choice([state, state, by_pair]), s)
        shutil.rmtree(tmp_path / "ours", ignore_errors=True)
        return in_one_sentence(partial(import_model, path, tmp_path / "ours", answers))

    assert 0.1 < sum(attempt() for _ in range(30)) / 30 < 0.9
