"""The weights of `watch` are those that `transformers` gives of an eager model's own generation, in padded batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from headlight.watching import attention_of
from tests.watching.live import DECODERS, ENCODER_DECODERS, END, TEXTS, eager, live_model, word_tokenizer

GREEDY = {"max_new_tokens": 7, "min_new_tokens": 3, "no_repeat_ngram_size": 1}
WAYS: dict[str, dict[str, Any]] = {
    "greedy": GREEDY,
    "beam": {**GREEDY, "num_beams": 3, "length_penalty": 0.6, "early_stopping": True},
}


def generated(model: Any, batch: Any, options: dict[str, Any]) -> Any:
    return model.generate(**batch, **options, return_dict_in_generate=True, output_attentions=True)


def steps_of(out: Any, number: int, prompt: int) -> list[int]:
    """The row of the batch, beams and all, that wrote each token of the chosen hypothesis of a sentence."""
    beams = getattr(out, "beam_indices", None)
    if beams is not None:
        return [row for row in beams[number].tolist() if row >= 0]
    written = out.sequences[number, prompt:].tolist()
    return [number] * (written.index(END) + 1 if END in written else len(written))


def rows_of(attentions: Any, steps: list[int], first: int) -> np.ndarray:
    """[L, H, steps, keys] from the last query of every step; `first` keys are padding. What is not yet there is 0."""
    layers = []
    for layer in range(len(attentions[0])):
        rows = [attentions[step][layer][row, :, -1, first:] for step, row in enumerate(steps)]
        width = max(row.shape[-1] for row in rows)
        layers.append(torch.stack([torch.nn.functional.pad(row, (0, width - row.shape[-1])) for row in rows], 1))
    return torch.stack(layers).numpy()


def close(ours: np.ndarray, theirs: np.ndarray) -> None:
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours, theirs, atol=1e-5, rtol=0)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("family", ENCODER_DECODERS)
def test_of_an_encoder_decoder(family: str, way: str) -> None:
    model, tokenizer = live_model(family), word_tokenizer()
    assert model.config._attn_implementation == "sdpa"
    batch = tokenizer(TEXTS, padding=True, return_tensors="pt")
    out = generated(eager(model), batch, WAYS[way])
    lengths = batch["attention_mask"].sum(1).tolist()
    assert lengths[0] < lengths[1]
    for number, (text, length) in enumerate(zip(TEXTS, lengths, strict=True)):
        trace = attention_of(model, tokenizer, text, **WAYS[way])
        steps = steps_of(out, number, 1)
        assert trace.target.ids == out.sequences[number, : len(steps) + 1].tolist()
        assert trace.source.ids == batch["input_ids"][number, :length].tolist()
        assert (trace.kinds, trace.given, trace.look_ahead) == (("encoder", "decoder", "cross"), 1, False)
        theirs = torch.stack(out.encoder_attentions)[:, number, :, :length, :length].numpy()
        close(trace.pattern("encoder"), theirs)
        close(trace.pattern("decoder"), rows_of(out.decoder_attentions, steps, 0))
        close(trace.pattern("cross"), rows_of(out.cross_attentions, steps, 0)[..., :length])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("family", DECODERS)
def test_of_a_decoder(family: str, way: str) -> None:
    model, tokenizer = live_model(family), word_tokenizer(end=False, side="left")
    batch = tokenizer(TEXTS, padding=True, return_tensors="pt")
    out = generated(eager(model), batch, WAYS[way])
    width = batch["input_ids"].shape[1]
    for number, text in enumerate(TEXTS):
        trace = attention_of(model, tokenizer, text, **WAYS[way])
        steps = steps_of(out, number, width)
        padding = int((batch["attention_mask"][number] == 0).sum())
        prompt = width - padding
        assert trace.target.ids == out.sequences[number, padding : width + len(steps)].tolist()
        assert (trace.kinds, trace.given, len(trace.source)) == (("decoder",), prompt, 0)
        patterns = trace.pattern("decoder")
        first = torch.stack(out.attentions[0])[:, steps[0], :, padding:, padding:].numpy()
        close(patterns[:, :, :prompt, :prompt], first)
        close(patterns[:, :, prompt - 1 :], rows_of(out.attentions, steps, padding))
        assert not patterns[..., trace.masked("decoder")].any() and trace.masked("decoder").any()


def test_of_an_encoder() -> None:
    model, tokenizer = live_model("bert"), word_tokenizer()
    batch = tokenizer(TEXTS, padding=True, return_tensors="pt")
    with torch.no_grad():
        layers = torch.stack(eager(model)(**batch, output_attentions=True).attentions)
    for number, text in enumerate(TEXTS):
        trace = attention_of(model, tokenizer, text)
        length = len(trace.source)
        close(trace.pattern("encoder"), layers[:, number, :, :length, :length].numpy())
        assert trace.kinds == ("encoder",) and not trace.masked("encoder").any() and not len(trace.target)


@pytest.mark.parametrize("family", ["bart", "gpt2"])
def test_log_probabilities_are_those_of_the_written_tokens(family: str) -> None:
    model, tokenizer = live_model(family), word_tokenizer(end=family == "bart")
    trace = attention_of(model, tokenizer, TEXTS[0], max_new_tokens=4)
    out = model.generate(
        **tokenizer(TEXTS[0], return_tensors="pt"), max_new_tokens=4, output_logits=True, return_dict_in_generate=True
    )
    written = out.sequences[0, trace.given :].tolist()
    theirs = [logits[0].log_softmax(-1)[id].item() for logits, id in zip(out.logits, written, strict=True)]
    assert trace.log_probs[trace.given - 1 :] == pytest.approx(theirs, abs=1e-4)
    assert trace.log_prob == pytest.approx(sum(theirs), abs=1e-3)
