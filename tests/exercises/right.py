"""Right solutions in other styles, of the exercise before the two underscores."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.exercises.solutions import Decoder, EncoderLayer, LayerNorm, attend


def attend__einsum_torch_where(q, k, v, mask=None):
    s = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.size(-1) ** -0.5
    if mask is not None:
        s = torch.where(mask, s, torch.tensor(float("-inf")))
    return torch.einsum("bhqk,bhkd->bhqd", s.softmax(-1), v)


def attend__pytorch_s_own(q, k, v, mask=None):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def attend__numpy_float64(q, k, v, mask=None):
    q, k, v = (x.numpy().astype(np.float64) for x in (q, k, v))
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        s = np.where(mask.numpy(), s, -1e9)
    w = np.exp(s - s.max(-1, keepdims=True))
    w /= w.sum(-1, keepdims=True)
    return w @ v


class MultiHeadAttention__unflatten(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_model = n_heads, d_model
        self.query, self.key, self.value, self.output = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, q, k, v, mask=None):
        q, k, v = (
            f(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for f, x in ((self.query, q), (self.key, k), (self.value, v))
        )
        return self.output(attend(q, k, v, mask).transpose(1, 2).flatten(-2))


def positions__numpy_float64(length, d_model):
    a = np.arange(length)[:, None] / np.power(10000, (2 * (np.arange(d_model) // 2)) / d_model)
    a[:, 0::2] = np.sin(a[:, 0::2])
    a[:, 1::2] = np.cos(a[:, 1::2])
    return a


def look_ahead_mask__numpy(n):
    return np.tril(np.ones((n, n), dtype=bool))


class LayerNorm__f_layer_norm(LayerNorm):
    def forward(self, x):
        return F.layer_norm(x, x.shape[-1:], self.gain, self.bias, self.eps)


class FeedForward__clamp(nn.Module):
    def __init__(s, d, f):
        super().__init__()
        s.inner = nn.Linear(d, f)
        s.outer = nn.Linear(f, d)

    def forward(s, x):
        return s.outer(s.inner(x).clamp(min=0))


class EncoderLayer__in_one_line(EncoderLayer):
    def forward(self, x, mask=None):
        return (lambda y: self.norm_2(self.feed_forward(y) + y))(self.norm_1(self.attention(x, x, x, mask) + x))


class Decoder__keyword_arguments(Decoder):
    def forward(self, ids, memory, target_mask, source_mask):
        h = self.embedding(ids)
        for i in range(len(self.layers)):
            h = self.layers[i](h, memory, target_mask=target_mask, source_mask=source_mask)
        return h


def label_smoothing__f_cross_entropy_with_soft_targets(logits, targets, pad_id, smoothing):
    k = targets != pad_id
    V = logits.size(1)
    t = F.one_hot(targets, V) * (1 - smoothing) + (1 - F.one_hot(targets, V)) * smoothing / (V - 1)
    return F.cross_entropy(logits[k], t[k])


def batches__by_hand(pairs, size, sos, eos, pad):
    s = sorted(pairs, key=lambda p: len(p[0]))
    out = []
    while s:
        g, s = s[:size], s[size:]
        S = max(len(a) + 1 for a, _ in g)
        T = max(len(b) + 2 for _, b in g)
        src = torch.full((len(g), S), pad)
        tgt = torch.full((len(g), T), pad)
        for r, (a, b) in enumerate(g):
            src[r, : len(a) + 1] = torch.tensor(a + [eos])
            tgt[r, : len(b) + 2] = torch.tensor([sos] + b + [eos])
        out.append([src, tgt])
    return out


def train__transposed_logits_masked_mean(model, batches, optimizer, rate, pad_id, clip):
    losses = []
    for i, (src, tgt) in enumerate(batches):
        for g in optimizer.param_groups:
            g["lr"] = rate(i + 1)
        model.zero_grad()
        lp = model(src, tgt[:, :-1]).log_softmax(-1)
        w = tgt[:, 1:]
        m = w != pad_id
        loss = -(lp.gather(2, w[..., None])[..., 0] * m).sum() / m.sum()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses


def beam__topk_over_all_finished_stay(next_log_probs, sos_id, eos_id, size, max_length, alpha):
    beams = [([sos_id], 0.0)]
    for _ in range(max_length):
        new = []
        for ids, s in beams:
            if ids[-1] == eos_id and len(ids) > 1:
                new.append((ids, s))
                continue
            for t, p in enumerate(next_log_probs(torch.tensor([ids])).tolist()):
                new.append((ids + [t], s + p))
        beams = sorted(new, key=lambda b: b[1], reverse=True)[:size]
        if all(b[0][-1] == eos_id for b in beams):
            break
    return max(beams, key=lambda b: b[1] / ((5 + len(b[0]) - 1) / 6) ** alpha)[0][1:]
