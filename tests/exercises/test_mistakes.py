"""The tutorials' mistakes as somebody writes them: a change to the text of a right solution, and what is said of it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from headlight.teaching.exercises import EXERCISES, Verdict
from headlight.teaching.exercises.exercise import ExerciseState
from headlight.teaching.exercises.judge import judge

FILE = Path(__file__).with_name("solutions.py")
SOURCE = FILE.read_text(encoding="utf-8")


def judged(name: str, *changes: tuple[str, str], seed: int = 0) -> Verdict:
    text = SOURCE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    names: dict[str, Any] = {}
    exec(compile(text, str(FILE), "exec"), names)
    return judge(EXERCISES[name], names[name], FILE.parent, seed)


NOT_CARRIED = "Every layer reads the embeddings, so only the last one counts"


# Exercise, the code of the right solution, the mistake in its place, and the explanation. Of the known mistakes, which
# test_table.py has all, a few of each exercise are here.
MISTAKES = [
    ("attend", "dim=-1)\n    return torch", "dim=-2)\n    return torch", "sum to 1 over the queries"),
    ("attend", "scores = scores.masked_fill(", "scores.masked_fill(", "its result is dropped"),
    ("attend", " / math.sqrt(d_k)", "", "not divided by √D"),
    ("attend", "math.sqrt(d_k)", "math.sqrt(q.size(1) * d_k)", "divided by √d_model; it is √D"),
    ("attend", "math.sqrt(d_k)", "math.sqrt(8)", "The scores are divided by √8 whatever the size"),
    ("attend", "mask == 0", "mask", "The mask is inverted"),
    ("attend", "-1e9", "1e-9", "1e-9 in the place of -1e9"),
    ("attend", "mask == 0", "mask.float()", "The mask is bool"),
    ("attend", "torch.matmul(weights, v)", "torch.matmul(weights, v), weights", "return the first tensor alone"),
    ("attend", "    return torch.matmul(weights, v)", "    torch.matmul(weights, v)", "is the `return` missing?"),
    ("attend", "k.transpose(-2, -1)", "k", "exchanged"),
    ("attend", "if mask is not None", "if mask", "if mask is not None"),
    ("attend", "if mask is not None", "if True", "The mask may be None, which hides nothing"),
    ("attend", "torch.softmax(scores, dim=-1)", "torch.exp(scores) / 0 * 0", "not a number (NaN)"),
    ("attend", "scores = torch.matmul(q, k", "q.mul_(1)\n    scores = torch.matmul(q.add_(1).sub(1), k",
     "is changed in place"),
    ("MultiHeadAttention", "out.transpose(1, 2).contiguous().view", "out.reshape", "joined without transposing"),
    ("MultiHeadAttention", ".contiguous().view", ".view", "`view` needs `.contiguous()`"),
    ("MultiHeadAttention", "k_len, d_head = keys.size(1)", "k_len, d_head = q_len", "by the length of the queries"),
    ("MultiHeadAttention", "attend(q, k, v, mask)", "attend(q, k, v)", "The mask hides nothing"),
    ("MultiHeadAttention", "out = attend", "out, weights = attend", "the output, not (output, weights)"),
    ("MultiHeadAttention", "super().__init__()\n        self.n_heads", "self.n_heads",
     "`super().__init__()` is missing"),
    ("MultiHeadAttention", "self.key = nn.Linear(d_model, d_model)",
     "self.key = nn.Linear(d_model, d_model, bias=False)", "It lacks the parameter `key.bias`"),
    ("positions", "return pe", "return pe.unsqueeze(0)", "The shape is [1, length, d_model]"),
    ("positions", "torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))",
     "torch.arange(0, d_model, 2).float() * (-math.log(1000.0) / d_model)", "the exponential is forgotten"),
    ("padding_mask", "(ids != pad_id)", "(ids == pad_id).float()", "The mask is inverted"),
    ("padding_mask", "ids != pad_id", "ids != 0", "0 is taken for the padding"),
    ("target_mask", "pad_id) & look", "pad_id).mT & look", "The padding is hidden as queries, [B, 1, T, 1]"),
    ("target_mask", ".bool()", "", "not on floats"),
    ("greedy", "sos_id, eos_id, max_length):", "sos_id, eos_id):", "keep the first line of each function"),
    ("LayerNorm", "def forward", "def foward", "There is no `forward`"),
    ("look_ahead_mask", "tril", "triu", "`tril`, not `triu`"),
    ("look_ahead_mask", "tril(torch.ones(length, length)).bool()", "triu(torch.ones(length, length), 1).bool()",
     "The mask is inverted"),
    ("look_ahead_mask", ".bool()", ".bool()[None, None]", "The shape is [1, 1, length, length]"),
    ("look_ahead_mask", "torch.tril(torch.ones(length, length)).bool()",
     "nn.Transformer.generate_square_subsequent_mask(length)",
     "This mask is made to be added to the scores, 0 and -inf"),
    ("look_ahead_mask", ".bool()", "[None].bool()", "The shape is [1, length, length]"),
    ("LayerNorm", ", unbiased=False", "", "the unbiased one"),
    ("LayerNorm", "torch.ones(d_model)", "torch.ones(1)", "one number a feature, not a scalar"),
    ("LayerNorm", "x.mean(dim=-1, keepdim=True)", "x.mean(dim=-1)", "`keepdim=True`"),
    ("FeedForward", "torch.relu(self.inner(x))", "self.inner(x)", "There is no ReLU, so that the two linear maps"),
    ("Embedding", "[:, : ids.shape[1], :]", "", "Some sizes do not fit"),
    ("Embedding", " * math.sqrt(self.d_model)", "", "The embeddings are not multiplied with √d_model"),
    ("EncoderLayer", "self.attention(x, x, x, mask)", "self.attention(x, mask)", "An attention takes four"),
    ("EncoderLayer", "attended = self.attention(x, x, x, mask)\n        x = self.norm_1(x + attended)",
     "n = self.norm_1(x)\n        x = self.attention(n, n, n, mask)", "It differs from ours."),
    ("EncoderLayer", "self.norm_1(x + attended)", "self.norm_1(attended)",
     "residual connection around the attention"),
    ("EncoderLayer", "self.norm_1(x + attended)", "self.norm_1(x.add_(attended))", "`x` is changed in place"),
    ("DecoderLayer", "x, memory, memory, source_mask", "memory, x, x, source_mask", "have changed places"),
    ("DecoderLayer", "x = self.norm_2(", "memory = self.norm_2(memory)\n        x = self.norm_2(",
     "The memory is normed before cross-attention reads it"),
    ("Encoder", "x = layer(x, mask)\n        return x", "out = layer(x, mask)\n        return out", NOT_CARRIED),
    ("Decoder", "x = layer(x, memory, target_mask, source_mask)\n        return x",
     "memory = layer(x, memory, target_mask, source_mask)\n        return memory", NOT_CARRIED),
    ("Transformer", "self.output(out)", "F.softmax(self.output(out), dim=-1)", "The result is probabilities"),
    ("teacher_forcing", "target[:, 1:]", "target[:, :-1]", "The target is not shifted"),
    ("teacher_forcing", "return target[:, :-1], target[:, 1:]", "return target, target",
     "The target is not shifted"),
    ("label_smoothing", "(logits.size(-1) - 1)", "logits.size(-1)", "it is ε / (V - 1)"),
    ("label_smoothing", "loss[keep].mean()", 'nn.KLDivLoss(reduction="batchmean")(log_probs[keep], true[keep])',
     "This is the Kullback-Leibler divergence, as `KLDivLoss` computes it"),
    ("noam", "step**-0.5", "torch.pow(step, -0.5)", "`torch.pow` takes tensors"),
    ("noam", "min(", "max(", "the smaller: `min`"),
    ("batches", ", padding_value=pad_id", "", "The padding is 0"),
    ("train", "        optimizer.zero_grad()\n", "", "The gradients of earlier batches are still there"),
    ("train", "torch.nn.utils.clip_grad_norm_(model.parameters(), clip)\n        optimizer.step()",
     "optimizer.step()\n        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)",
     "The gradients are not clipped, or after the step"),
    ("greedy", "        if next_id == eos_id:\n            break\n", "", "You go on after eos_id"),
    ("greedy", "for _ in range(max_length):", "while True:", "stop at max_length = "),
    ("greedy", "int(next_log_probs(ids).argmax())", "next_log_probs(ids)", "Some of the ids are not numbers"),
    ("beam", " / ((5 + len(c[0]) - 1) / 6) ** alpha", "", "not normalised by their length, so short"),
]  # fmt: skip
# Mistakes that change several places.
COMBINED_MISTAKES: list[tuple[str, dict[str, str], str]] = [
    ("attend", {"-1e9": "-torch.inf", "(scores, dim=-1)": "(scores, dim=0)"}, "over the sentences of the batch"),
    ("attend", {"if mask is not None": "if True", "mask == 0": "~mask"}, "The mask may be None"),
    ("attend", {" / math.sqrt(d_k)": "", "(scores, dim=-1)": "(scores, dim=-1) / math.sqrt(d_k)"},
     "You divide by √D after the softmax, so the weights sum to less than 1"),
    (
        "MultiHeadAttention",
        {
            "batch, q_len, self.n_heads, d_head": "batch, -1, 3, d_model // 3",
            "batch, k_len, self.n_heads, d_head": "batch, -1, 3, d_model // 3",
        },
        "Keys and values are reshaped by the length of the queries, a size is left out, or one is a",
    ),
    (
        "positions",
        {"arange(0, d_model, 2)": "arange(d_model)", "sin(position * div_term": "sin(position * div_term[0::2]",
         "cos(position * div_term": "cos(position * div_term[1::2]"},
        "Each column has a frequency of its own",
    ),
    (
        "EncoderLayer",
        {
            "attended = self.attention(x, x, x, mask)\n        x = self.norm_1(x + attended)":
                "n = self.norm_1(x)\n        x = x + self.attention(n, n, n, mask)",
            "thought = self.feed_forward(x)\n        return self.norm_2(x + thought)":
                "return x + self.feed_forward(self.norm_2(x))",
        },
        "that is pre-norm",
    ),
    ("noam", {"d_model**-0.5": "512**-0.5", "warmup**-1.5": "4000**-1.5"},
     "d_model is 512 and warmup is 4000 whatever is asked for"),
    (  # as in "Building a transformer from the ground up"
        "beam",
        {
            "score + value": "(score + value) / ((5 + len(ids)) / 6) ** alpha",
            "c[1] / ((5 + len(c[0]) - 1) / 6) ** alpha": "c[1]",
        },
        "at every step, so it multiplies up",
    ),
    (
        "beam",
        {
            "next_log_probs(ids).topk": "torch.log_softmax(next_log_probs(ids) / 1.2, dim=-1).topk",
            "score + value": "(score + value) / ((5 + len(ids) + 1) / 6) ** alpha",
            "c[1] / ((5 + len(c[0]) - 1) / 6) ** alpha": "c[1]",
        },
        "This is the beam of",
    ),
    ("beam", {"for _ in range(max_length):": "while beams:", "finished + beams": "finished"},
     "The model was asked to go on from 16 ids"),
    ("beam", {"0.0)], []": "1.0)], []", "ids).topk": "ids).exp().topk", "score + value": "score * value"},
     "You multiply probabilities, which are below 1, so that a division by the length penalty makes"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "changes", "explanation"),
    [*((name, {old: new}, explanation) for name, old, new, explanation in MISTAKES), *COMBINED_MISTAKES],
)
def test_a_mistake_is_explained(name: str, changes: dict[str, str], explanation: str) -> None:
    for seed in range(2):
        verdict = judged(name, *changes.items(), seed=seed)
        assert verdict.state is ExerciseState.WRONG
        assert explanation in verdict.messages[0], verdict.messages


def test_keys_cut_by_the_queries_length_are_told_where_a_size_is_left_out() -> None:
    """The reshape itself succeeds, and only the product fails."""
    cut = "view(batch, k_len, self.n_heads, d_head)"
    verdict = judged("MultiHeadAttention", (cut, "view(batch, q_len, self.n_heads, -1)"))
    assert "by the length of the queries" in verdict.messages[0] and "in attend" in " ".join(verdict.messages)


@pytest.mark.parametrize("name", ["attend", "positions", "padding_mask", "teacher_forcing", "noam", "greedy", "beam"])
def test_whatever_is_returned_gets_its_sentence(name: str) -> None:
    odd = [None, True, 1, 0.5, "text", [], (), {}, [[1], [2]], [None], (None, None), ("a", "b"), object(), len]
    odd += [torch.empty(0), torch.tensor(1), torch.ones(2, 3), torch.ones(2, 3, dtype=torch.complex64), np.ones(3)]
    odd += [torch.full((2, 3, 4, 8), torch.nan), (torch.ones(2), torch.ones(3)), [torch.ones(2)], float("nan")]
    for value in odd:
        verdict = judge(EXERCISES[name], lambda *_, value=value: value, FILE.parent)
        assert verdict.state is ExerciseState.WRONG and all(verdict.messages), (value, verdict)


def test_torchs_own_label_smoothing_is_told_as_over_all_tokens() -> None:
    names: dict[str, Any] = {}
    text = "import torch.nn.functional as F\ndef label_smoothing(logits, targets, pad_id, smoothing):\n"
    text += "    return F.cross_entropy(logits, targets, ignore_index=pad_id, label_smoothing=smoothing)\n"
    exec(text, names)
    assert "spread over all V" in judge(EXERCISES["label_smoothing"], names["label_smoothing"], FILE.parent).messages[0]


def test_an_answer_says_where_and_what_was_expected() -> None:
    says = judged("attend", ("dim=-1)\n    return torch", "dim=-2)\n    return torch")).messages
    sizes = EXERCISES["attend"].draw_cases()[0].inputs
    shapes = ", ".join(f"{name} {list(sizes[name].shape)}" for name in "qkv")
    assert says[1] == f"Seen without a mask: {shapes}, mask = None."
    assert says[2].startswith("At [0, 0, 0, 0] yours is ") and "; ours is " in says[2]


def test_a_verdict_is_the_same_each_time_and_names_its_sizes() -> None:
    root_8 = ("math.sqrt(d_k)", "math.sqrt(8)")
    verdict = judged("attend", root_8)
    assert verdict == judged("attend", root_8)
    assert verdict.messages != judged("attend", root_8, seed=1).messages
    assert any(line.startswith("Seen ") and " q [" in line for line in verdict.messages)


def test_what_else_is_wrong_follows_the_first_sentence() -> None:
    inverted_floats = judged("padding_mask", ("(ids != pad_id)", "(ids == pad_id).float()")).messages
    assert inverted_floats[1].startswith("The mask is torch.float32")
    assert judged("look_ahead_mask", (".bool()", "[None].bool()")).messages[2].startswith("Yours has the shape")


def test_an_error_shows_the_students_own_lines_only() -> None:
    says = judged("noam", ("d_model**-0.5 *", "attend(d_model, 1, 1) *")).messages
    assert says[0].startswith("solutions.py, line ") and "in noam" in says[0]
    assert says[1].endswith("in attend: d_k = q.size(-1)") and says[2].startswith("AttributeError: 'int'")
    sizes = EXERCISES["noam"].draw_cases()[0].inputs
    assert says[3] == f"Seen at the first step: step = 1, d_model = {sizes['d_model']}, warmup = {sizes['warmup']}."
