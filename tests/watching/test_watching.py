"""`watch` leaves its model unchanged, traces what the model writes or is given, and refuses other models."""

from __future__ import annotations

import copy
import gzip
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

import headlight
from headlight.watching import attention_of
from tests.checkpoints.hugging_face import transformers
from tests.unpacked import unpacked
from tests.watching.live import DECODERS, END, IDS, START, TEXTS, eager, live_model, word_tokenizer

SHORT = {"max_new_tokens": 4}


def state(model: Any) -> Any:
    """Return everything about a model that is visible from outside."""
    settings = [
        (name, module.training, set(vars(module)), len(module._forward_hooks)) for name, module in model.named_modules()
    ]
    tensors = [(id(p), p.requires_grad, p.grad is None, p.dtype) for p in model.parameters()]
    configs = [copy.deepcopy(vars(module.config)) for module in model.modules() if hasattr(module, "config")]
    return settings, tensors, [{k: str(v) for k, v in config.items()} for config in configs]


@pytest.mark.parametrize("family", ["t5", "gpt2", "bert"])
def test_the_model_is_left_as_it_was(family: str) -> None:
    model, tokenizer = live_model(family).train(), word_tokenizer()
    run: list[bool] = []
    models = {id(module) for module in model.modules()}
    for module in model.modules():
        module.register_forward_hook(lambda module, *_: run.append(id(module) in models))
    before, weights = state(model), copy.deepcopy(model.state_dict())
    trace = attention_of(model, tokenizer, TEXTS[0])
    assert state(model) == before and all(torch.equal(weights[k], v) for k, v in model.state_dict().items())
    assert model.config._attn_implementation == "sdpa" and model.training
    assert run and not any(run)  # its hooks are followed, in a copy
    assert np.array_equal(
        trace.pattern(trace.kinds[0]), attention_of(model, tokenizer, TEXTS[0]).pattern(trace.kinds[0])
    )

    def fails(*_: Any) -> None:
        raise RuntimeError("in the middle")

    list(model.modules())[-1].register_forward_hook(fails)
    before = state(model)
    with pytest.raises(RuntimeError, match="in the middle"):
        attention_of(model, tokenizer, TEXTS[0])
    assert state(model) == before


def test_two_threads_may_watch_one_model() -> None:
    model, tokenizer = live_model("bart"), word_tokenizer()
    with ThreadPoolExecutor(4) as pool:
        traces = list(pool.map(lambda _: attention_of(model, tokenizer, TEXTS[1], num_beams=2, **SHORT), range(12)))
    assert all(np.array_equal(trace.pattern("cross"), traces[0].pattern("cross")) for trace in traces)


@pytest.mark.parametrize("family", ["marian", *DECODERS])
def test_what_is_written_is_what_generate_writes(family: str) -> None:
    """Sampled too: the same numbers are drawn, and none by what is done beside."""
    model, tokenizer = live_model(family), word_tokenizer(end=family == "marian")
    options = {"do_sample": True, "top_k": 8, "max_new_tokens": 9}
    torch.manual_seed(3)
    theirs = model.generate(**tokenizer(TEXTS[0], return_tensors="pt"), **options)[0].tolist()
    torch.manual_seed(3)
    assert attention_of(model, tokenizer, TEXTS[0], **options).target.ids == theirs


def test_generate_stops_at_a_text() -> None:
    """For which it needs the tokenizer."""
    letters = {letter: id for id, letter in enumerate("Ġabcdefghijklmnopqrstuvwxyz", 4)}
    inner = Tokenizer(models.BPE({"</s>": END, **letters}, []))
    inner.pre_tokenizer, inner.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    model, tokenizer = live_model("gpt2"), transformers.PreTrainedTokenizerFast(tokenizer_object=inner)
    free = attention_of(model, tokenizer, "girl", **SHORT)
    stopped = attention_of(model, tokenizer, "girl", stop_strings=[free.target.labels[4]], **SHORT)
    assert stopped.target.ids == free.target.ids[:5] and len(free.target) > 5


def test_code_that_computes_something_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights of another computation than the model's would be a wrong picture."""
    module = transformers.models.gpt2.modeling_gpt2
    plain = module.eager_attention_forward

    def sees_all(module: Any, query: Any, key: Any, value: Any, mask: Any, **rest: Any) -> Any:
        return plain(module, query, key, value, None, **rest)

    monkeypatch.setattr(module, "eager_attention_forward", sees_all)
    with pytest.raises(ValueError, match="GPT2LMHeadModel cannot be watched.*something else, .*% off"):
        attention_of(live_model("gpt2"), word_tokenizer(end=False), TEXTS[0], **SHORT)


def test_two_models_in_one_are_both_watched() -> None:
    """Encoder and decoder have configurations of their own, with copies in their layers."""
    sizes = {
        "vocab_size": 32, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_size": 20,
    }  # fmt: skip
    config = transformers.BertConfig(**sizes)
    decoder = transformers.BertConfig(**sizes, is_decoder=True, add_cross_attention=True)
    model = transformers.EncoderDecoderModel(
        encoder=transformers.BertModel(config), decoder=transformers.BertLMHeadModel(decoder)
    )
    model.config.decoder_start_token_id, model.config.pad_token_id = START, 3
    trace = attention_of(model, word_tokenizer(), TEXTS[0], target="a dog")
    assert {kind: trace.pattern(kind).shape for kind in trace.kinds} == {
        "encoder": (2, 4, 4, 4), "decoder": (2, 4, 3, 3), "cross": (2, 4, 3, 4)
    }  # fmt: skip
    assert trace.target.ids == [START, 5, 8, END]


def test_a_model_whose_weights_are_offloaded_is_watched() -> None:
    accelerate = pytest.importorskip("accelerate")
    offloaded = accelerate.cpu_offload(live_model("bart"), execution_device="cpu")
    assert offloaded.device.type == "meta"
    trace = attention_of(offloaded, word_tokenizer(), TEXTS[0], num_beams=2, **SHORT)
    whole = attention_of(live_model("bart"), word_tokenizer(), TEXTS[0], num_beams=2, **SHORT)
    assert np.array_equal(trace.pattern("cross"), whole.pattern("cross"))


def test_a_half_precision_model_gives_float32() -> None:
    model, tokenizer = live_model("bart").to(torch.bfloat16), word_tokenizer()
    trace = attention_of(model, tokenizer, TEXTS[0], target="a dog")
    whole = attention_of(live_model("bart"), tokenizer, TEXTS[0], target="a dog")
    for kind in trace.kinds:
        assert trace.pattern(kind).dtype == np.float32
        assert np.abs(trace.pattern(kind) - whole.pattern(kind)).max() < 0.2
    assert next(model.parameters()).dtype == torch.bfloat16


def test_a_beginning_of_the_target_counts_as_given() -> None:
    model, tokenizer = live_model("bart"), word_tokenizer()
    trace = attention_of(model, tokenizer, TEXTS[0], decoder_input_ids=torch.tensor([[START, 5, 8]]), **SHORT)
    assert (trace.target.ids[:3], trace.given) == ([START, 5, 8], 3)
    without = attention_of(model, tokenizer, TEXTS[0], decoder_input_ids=torch.tensor([[5, 8]]), **SHORT)
    assert (without.target.ids, without.given) == (trace.target.ids, 3)


@pytest.mark.parametrize("family", ["marian", "t5", "m2m100"])
def test_a_target_is_forced(family: str) -> None:
    model, tokenizer = live_model(family), word_tokenizer()
    trace = attention_of(model, tokenizer, TEXTS[0], target="a dog runs")
    assert (trace.target.ids, trace.translation, trace.finished) == ([START, 5, 8, 10, END], "a dog runs", True)
    assert trace.pattern("cross").shape[2:] == (4, 4)


@pytest.mark.parametrize("family", DECODERS)
def test_a_decoder_goes_on_with_a_target_or_only_reads(family: str) -> None:
    model, tokenizer = live_model(family), word_tokenizer(end=False)
    trace = attention_of(model, tokenizer, "the girl", target="runs on")
    assert (trace.target.ids, trace.given, trace.translation) == ([4, 6, 10, 12], 2, "runs on")
    reading = attention_of(model, tokenizer, "the girl runs on", target="")
    assert (reading.target.ids, reading.given, reading.translation) == ([4, 6, 10, 12], 4, "")
    assert np.array_equal(trace.pattern("decoder"), reading.pattern("decoder"))
    assert np.array_equal(trace.log_probs, reading.log_probs)
    assert trace.log_prob == pytest.approx(float(trace.log_probs[1:].sum())) and reading.log_prob == 0


@pytest.mark.parametrize(
    ("family", "arguments", "message"),
    [
        ("bart", {"text": " \n"}, "empty"),
        ("bart", {"text": ["the girl", "a dog"]}, "2 texts; give one"),
        ("bart", {"text": 7}, "give a str"),
        ("bart", {"text": "the \ud800"}, "half of a character"),
        ("bart", {"target": "a \udc00"}, "target has .* half of a character"),
        ("gpt2", {"text": "the " * 30, "min_new_tokens": 30, "max_new_tokens": 30}, "smaller max_new_tokens"),
        ("bart", {"target": 7}, "give a str"),
        ("bart", {"tokenizer": None}, "NoneType.*AutoTokenizer"),
        ("bart", {"model": "gpt2"}, "The model is a str"),
        ("bart", {"num_return_sequences": 2}, "must be 1"),
        ("bart", {"attention_mask": 1}, "attention_mask is set here"),
        ("bart", {"target": "a", "num_beams": 2}, "target is given.*num_beams"),
        ("bart", {"text": "the " * 50}, "40 positions.*shorten"),
        ("gpt2", {"text": "the", "target": ""}, "one token"),
        ("gpt2", {"text": "the girl", "target": "the " * 50}, "40 positions"),
        ("bert", {"target": "a"}, "only an encoder.*leave out the target"),
        ("bert", {"max_new_tokens": 3}, "only an encoder.*max_new_tokens"),
    ],
)
def test_what_cannot_be_watched_is_refused_in_a_sentence(family: str, arguments: dict[str, Any], message: str) -> None:
    given = {"model": live_model(family), "tokenizer": word_tokenizer(end=False), "text": "the girl", **arguments}
    with pytest.raises(ValueError, match=message) as refused:
        attention_of(**given)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 200


def test_falcon_with_alibi_is_watched_when_it_is_opened_eagerly() -> None:
    model, tokenizer = live_model("falcon", alibi=True), word_tokenizer(end=False)
    with pytest.raises(ValueError, match="open it so and try again") as refused:
        attention_of(model, tokenizer, TEXTS[0], **SHORT)
    assert 'attn_implementation="eager"' in str(refused.value)
    assert attention_of(eager(model), tokenizer, TEXTS[0], **SHORT).pattern("decoder").shape[0] == 2


SMALL = {"vocab_size": 32, "hidden_size": 16, "num_hidden_layers": 2, **IDS}
HEADS = {"num_attention_heads": 2, "intermediate_size": 20}
GPT2 = {"vocab_size": 20, "n_embd": 16, "n_layer": 1, "n_head": 2, **IDS}
RWKV = {"vocab_size": 32, "hidden_size": 16, "num_hidden_layers": 2, "attention_hidden_size": 16}
STARTED = {"vocab_size": 32, "max_position_embeddings": 40, "decoder_start_token_id": START, **IDS}
PROPHETNET = {
    **STARTED,
    **{f"num_{stack}_layers": 1 for stack in ("encoder", "decoder")},
    **{f"num_{stack}_attention_heads": 2 for stack in ("encoder", "decoder")},
    **{f"{stack}_ffn_dim": 20 for stack in ("encoder", "decoder")},
    "hidden_size": 16,
}
PEGASUS_X = {
    **STARTED,
    **{f"{stack}_layers": 1 for stack in ("encoder", "decoder")},
    **{f"{stack}_attention_heads": 2 for stack in ("encoder", "decoder")},
    **{f"{stack}_ffn_dim": 20 for stack in ("encoder", "decoder")},
    "d_model": 16,
    "num_global_tokens": 2,
    "block_size": 4,
}
SOUNDS = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2}


@pytest.mark.parametrize(
    ("name", "config", "values", "message"),
    [
        ("MambaForCausalLM", "MambaConfig", SMALL, "no attention weights"),
        ("LongformerModel", "LongformerConfig", {**SMALL, **HEADS, "attention_window": 4}, "not one weight for each"),
        ("RwkvForCausalLM", "RwkvConfig", {**RWKV, "context_length": 40}, "mix tokens without attention"),
        ("ProphetNetForConditionalGeneration", "ProphetNetConfig", PROPHETNET, "The code of ProphetNet.* refuses this"),
        ("PegasusXForConditionalGeneration", "PegasusXConfig", PEGASUS_X, "attend block by block"),
        ("RobertaModel", "RobertaConfig", {**SMALL, **HEADS, "max_position_embeddings": 5}, "too long"),
        ("WhisperForConditionalGeneration", "WhisperConfig", {**SOUNDS, "decoder_attention_heads": 2}, "not text"),
        ("GPT2Model", "GPT2Config", GPT2, "no output that writes"),
        ("GPT2LMHeadModel", "GPT2Config", {**GPT2, "vocab_size": 6}, "tokenizer that belongs to the model"),
    ],
)
def test_models_that_cannot_be_watched_are_refused_by_name(
    name: str, config: str, values: dict[str, Any], message: str
) -> None:
    model = getattr(transformers, name)(getattr(transformers, config)(**values))
    with pytest.raises(ValueError, match=message) as refused:
        attention_of(model, word_tokenizer(end=False), "the girl runs on")
    assert name in str(refused.value) and "\n" not in str(refused.value)


def test_watch_draws_the_trace_and_where_its_prompt_ends() -> None:
    payload = pytest.importorskip("headlight.notebook.payload")
    view = headlight.watch(live_model("gpt2"), word_tokenizer(end=False), TEXTS[0], **SHORT)
    assert view.trace.kinds == ("decoder",) and view.selected.kind == "decoder"
    header, _ = unpacked(gzip.decompress(payload.cell_payload(view.trace, view.selected, words=False, theme=None)))
    assert header["kinds"]["decoder"]["tokens"]["given"] == [view.trace.given - 1, view.trace.given]
