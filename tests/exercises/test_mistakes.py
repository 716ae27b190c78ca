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


def judged(name: str, *changes: tuple[str, str]) -> Verdict:
    text = SOURCE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    names: dict[str, Any] = {}
    exec(compile(text, str(FILE), "exec"), names)
    return judge(EXERCISES[name], names[name], FILE.parent)


@pytest.mark.parametrize(
    ("name", "old", "new", "explanation"),
    [
        ("attend", "dim=-1)\n    return torch", "dim=-2)\n    return torch", "sum to 1 over the queries"),
        ("attend", "scores = scores.masked_fill(", "scores.masked_fill(", "its result is dropped"),
        ("attend", " / math.sqrt(d_k)", "", "not divided by √D"),
        ("attend", "math.sqrt(d_k)", "math.sqrt(q.size(1) * d_k)", "divided by √d_model; it is √D"),
        ("attend", "math.sqrt(d_k)", "d_k", "it is its square root"),
        ("attend", "mask == 0", "mask", "The mask is inverted"),
        ("attend", "-1e9", "1e-9", "1e-9 in the place of -1e9"),
        ("attend", "mask == 0", "mask.float()", "The mask is bool"),
        ("attend", "torch.matmul(weights, v)", "torch.matmul(weights, v), weights", "return the first tensor alone"),
        ("attend", "    return torch.matmul(weights, v)", "    torch.matmul(weights, v)", "is the `return` missing?"),
        ("attend", "k.transpose(-2, -1)", "k", "exchanged"),
        ("attend", "if mask is not None", "if mask", "if mask is not None"),
        ("attend", "torch.softmax(scores, dim=-1)", "torch.exp(scores) / 0 * 0", "not a number (NaN)"),
        (
            "attend",
            "scores = torch.matmul(q, k",
            "q.mul_(1)\n    scores = torch.matmul(q.add_(1).sub(1), k",
            "is changed in place",
        ),
        ("MultiHeadAttention", "out.transpose(1, 2).contiguous().view", "out.reshape", "joined without transposing"),
        ("MultiHeadAttention", ".contiguous().view", ".view", "`view` needs `.contiguous()`"),
        ("MultiHeadAttention", "k_len, d_head = keys.size(1)", "k_len, d_head = q_len", "by the length of the queries"),
        ("MultiHeadAttention", "return self.output(out)", "return out", "The output projection is missing"),
        ("MultiHeadAttention", "self.key(keys)", "self.query(keys)", "The keys go through `self.query`"),
        (
            "MultiHeadAttention",
            "super().__init__()\n        self.n_heads",
            "self.n_heads",
            "`super().__init__()` is missing",
        ),
        (
            "MultiHeadAttention",
            "self.key = nn.Linear(d_model, d_model)",
            "self.key = nn.Linear(d_model, d_model, bias=False)",
            "It lacks the parameter `key.bias`",
        ),
        ("positions", "1::2] = torch.cos", "0::2] = torch.cos", "The cosines overwrite the sines"),
        ("positions", "10000.0", "1000.0", "The base is 1000"),
        (
            "positions",
            "torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))",
            "torch.arange(0, d_model, 2).float() * (-math.log(1000.0) / d_model)",
            "the exponential is forgotten",
        ),
        ("padding_mask", "(ids != pad_id)", "(ids == pad_id)", "The mask is inverted"),
        ("padding_mask", "(ids != pad_id)", "(ids == pad_id).float()", "The mask is torch.float32"),
        ("padding_mask", "(ids != pad_id)", "(ids == pad_id).float()", "The mask is inverted"),
        ("target_mask", ".bool()", "", "not on floats"),
        ("greedy", "sos_id, eos_id, max_length):", "sos_id, eos_id):", "keep the first line of each function"),
        ("LayerNorm", "def forward", "def foward", "There is no `forward`"),
        ("look_ahead_mask", "tril", "triu", "`tril`, not `triu`"),
        (
            "look_ahead_mask",
            "tril(torch.ones(length, length)).bool()",
            "triu(torch.ones(length, length), 1).bool()",
            "The mask is inverted",
        ),
        ("look_ahead_mask", ".bool()", "[None].bool()", "Yours has the shape"),
        ("target_mask", "padding_mask(ids, pad_id) & look", "padding_mask(ids, pad_id) | look", "both have to: `&`"),
        ("LayerNorm", ", unbiased=False", "", "the unbiased one"),
        ("LayerNorm", "torch.sqrt(var + self.eps)", "(torch.sqrt(var) + self.eps)", "outside of the root"),
        ("LayerNorm", "torch.ones(d_model)", "torch.ones(1)", "one number a feature, not a scalar"),
        ("LayerNorm", "x.mean(dim=-1, keepdim=True)", "x.mean(dim=-1)", "`keepdim=True`"),
        (
            "EncoderLayer",
            "attended = self.attention(x, x, x, mask)\n        x = self.norm_1(x + attended)",
            "n = self.norm_1(x)\n        x = self.attention(n, n, n, mask)",
            "It differs from ours.",
        ),
        (
            "EncoderLayer",
            "self.norm_1(x + attended)",
            "self.norm_1(attended)",
            "residual connection around the attention",
        ),
        ("EncoderLayer", "self.norm_2(x + thought)", "self.norm_1(x + thought)", "each has a norm of its own"),
        ("EncoderLayer", "self.norm_1(x + attended)", "self.norm_1(x.add_(attended))", "`x` is changed in place"),
        ("DecoderLayer", "x, memory, memory, source_mask", "memory, x, x, source_mask", "have changed places"),
        ("DecoderLayer", "x, memory, memory, source_mask", "x, x, x, source_mask", "reads the target itself"),
        ("DecoderLayer", "x, x, x, target_mask", "x, x, x, source_mask", "Self-attention gets `source_mask`"),
        ("DecoderLayer", "x, x, x, target_mask", "x, x, x", "it sees the tokens that it should predict"),
        ("teacher_forcing", "target[:, 1:]", "target[:, :-1]", "The target is not shifted"),
        (
            "teacher_forcing",
            "return target[:, :-1], target[:, 1:]",
            "return target, target",
            "The target is not shifted",
        ),
        ("label_smoothing", "(logits.size(-1) - 1)", "logits.size(-1)", "it is ε / (V - 1)"),
        ("label_smoothing", "loss[keep].mean()", "loss.mean()", "Padding is counted in the loss"),
        ("noam", "step**-0.5", "torch.pow(step, -0.5)", "`torch.pow` takes tensors"),
        ("noam", "warmup**-1.5", "warmup**-0.5", "The power of warmup is -0.5"),
        ("noam", "min(", "max(", "the smaller: `min`"),
        ("greedy", "        if next_id == eos_id:\n            break\n", "", "You go on after eos_id"),
        ("greedy", "for _ in range(max_length):", "while True:", "stop at max_length = "),
        ("greedy", "return ids[1:]\n\n", "return ids\n\n", "begins with sos_id"),
        ("greedy", "int(next_log_probs(ids).argmax())", "next_log_probs(ids)", "Some of the ids are not numbers"),
        ("beam", " / ((5 + len(c[0]) - 1) / 6) ** alpha", "", "not normalised by their length"),
        ("beam", "if not beams:", "if finished or not beams:", "You stop at the first finished hypothesis"),
    ],
)
def test_a_mistake_is_told(name: str, old: str, new: str, explanation: str) -> None:
    verdict = judged(name, (old, new))
    assert verdict.state is ExerciseState.WRONG
    assert explanation in " ".join(verdict.messages), verdict.messages


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


def test_pre_norm_is_told_as_pre_norm() -> None:
    verdict = judged(
        "EncoderLayer",
        (
            "attended = self.attention(x, x, x, mask)\n        x = self.norm_1(x + attended)",
            "n = self.norm_1(x)\n        x = x + self.attention(n, n, n, mask)",
        ),
        (
            "thought = self.feed_forward(x)\n        return self.norm_2(x + thought)",
            "return x + self.feed_forward(self.norm_2(x))",
        ),
    )
    assert "that is pre-norm" in verdict.messages[0]


def test_a_penalty_at_every_step_is_told() -> None:
    """As in "Building a transformer from the ground up"."""
    verdict = judged(
        "beam",
        ("score + value", "(score + value) / ((5 + len(ids)) / 6) ** alpha"),
        ("c[1] / ((5 + len(c[0]) - 1) / 6) ** alpha", "c[1]"),
    )
    assert "at every step, so it multiplies up" in verdict.messages[0]


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


def test_an_error_shows_the_students_own_lines_only() -> None:
    says = judged("noam", ("d_model**-0.5 *", "attend(d_model, 1, 1) *")).messages
    assert says[0].startswith("solutions.py, line ") and "in noam" in says[0]
    assert says[1].endswith("in attend: d_k = q.size(-1)") and says[2].startswith("AttributeError: 'int'")
    sizes = EXERCISES["noam"].draw_cases()[0].inputs
    assert says[3] == f"Seen at the first step: step = 1, d_model = {sizes['d_model']}, warmup = {sizes['warmup']}."
