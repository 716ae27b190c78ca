"""The exercises as a reader of the tutorials would write them, all in one file, independent of ours."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def attend(q, k, v, mask=None):
    d_k = q.size(-1)
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, v)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, queries, keys, values, mask=None):
        batch, q_len, d_model = queries.shape
        k_len, d_head = keys.size(1), d_model // self.n_heads
        q = self.query(queries).view(batch, q_len, self.n_heads, d_head).transpose(1, 2)
        k = self.key(keys).view(batch, k_len, self.n_heads, d_head).transpose(1, 2)
        v = self.value(values).view(batch, k_len, self.n_heads, d_head).transpose(1, 2)
        out = attend(q, k, v, mask)
        out = out.transpose(1, 2).contiguous().view(batch, q_len, d_model)
        return self.output(out)


def positions(length, d_model):
    pe = torch.zeros(length, d_model)
    position = torch.arange(0, length, dtype=torch.float).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


def padding_mask(ids, pad_id):
    return (ids != pad_id).unsqueeze(1).unsqueeze(2)


def look_ahead_mask(length):
    return torch.tril(torch.ones(length, length)).bool()


def target_mask(ids, pad_id):
    return padding_mask(ids, pad_id) & look_ahead_mask(ids.size(1))


class LayerNorm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = 1e-5

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        var = x.var(dim=-1, unbiased=False, keepdim=True)
        return self.gain * (x - mean) / torch.sqrt(var + self.eps) + self.bias


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.inner = nn.Linear(d_model, d_ff)
        self.outer = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.outer(torch.relu(self.inner(x)))


class Embedding(nn.Module):
    def __init__(self, vocabulary, d_model, table):
        super().__init__()
        self.d_model = d_model
        self.tokens = nn.Embedding(vocabulary, d_model)
        self.register_buffer("table", table)

    def forward(self, ids):
        return self.tokens(ids) * math.sqrt(self.d_model) + self.table[:, : ids.shape[1], :]


class EncoderLayer(nn.Module):
    def __init__(self, attention, feed_forward, norm_1, norm_2):
        super().__init__()
        self.attention, self.feed_forward = attention, feed_forward
        self.norm_1, self.norm_2 = norm_1, norm_2

    def forward(self, x, mask):
        attended = self.attention(x, x, x, mask)
        x = self.norm_1(x + attended)
        thought = self.feed_forward(x)
        return self.norm_2(x + thought)


class DecoderLayer(nn.Module):
    def __init__(self, self_attention, cross_attention, feed_forward, norm_1, norm_2, norm_3):
        super().__init__()
        self.self_attention, self.cross_attention = self_attention, cross_attention
        self.feed_forward = feed_forward
        self.norm_1, self.norm_2, self.norm_3 = norm_1, norm_2, norm_3

    def forward(self, x, memory, target_mask, source_mask):
        x = self.norm_1(x + self.self_attention(x, x, x, target_mask))
        x = self.norm_2(x + self.cross_attention(x, memory, memory, source_mask))
        return self.norm_3(x + self.feed_forward(x))


class Encoder(nn.Module):
    def __init__(self, embedding, layers):
        super().__init__()
        self.embedding, self.layers = embedding, nn.ModuleList(layers)

    def forward(self, ids, mask):
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x, mask)
        return x


class Decoder(nn.Module):
    def __init__(self, embedding, layers):
        super().__init__()
        self.embedding, self.layers = embedding, nn.ModuleList(layers)

    def forward(self, ids, memory, target_mask, source_mask):
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x, memory, target_mask, source_mask)
        return x


class Transformer(nn.Module):
    def __init__(self, encoder, decoder, output, pad_id):
        super().__init__()
        self.encoder, self.decoder, self.output, self.pad_id = encoder, decoder, output, pad_id

    def forward(self, source, target):
        source_mask = padding_mask(source, self.pad_id)
        memory = self.encoder(source, source_mask)
        out = self.decoder(target, memory, target_mask(target, self.pad_id), source_mask)
        return self.output(out)


def teacher_forcing(target):
    return target[:, :-1], target[:, 1:]


def label_smoothing(logits, targets, pad_id, smoothing):
    log_probs = F.log_softmax(logits, dim=-1)
    true = torch.full_like(log_probs, smoothing / (logits.size(-1) - 1))
    true.scatter_(1, targets.unsqueeze(1), 1.0 - smoothing)
    loss = -(true * log_probs).sum(dim=-1)
    keep = targets != pad_id
    return loss[keep].mean()


def noam(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def batches(pairs, size, sos_id, eos_id, pad_id):
    padded_batches = []
    pairs = sorted(pairs, key=lambda pair: len(pair[0]))
    for start in range(0, len(pairs), size):
        group = pairs[start : start + size]
        sources = [torch.tensor(source + [eos_id]) for source, _ in group]
        targets = [torch.tensor([sos_id] + target + [eos_id]) for _, target in group]
        padded = (
            nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad_id) for rows in (sources, targets)
        )
        padded_batches.append(tuple(padded))
    return padded_batches


def train(model, batches, optimizer, rate, pad_id, clip):
    criterion = nn.CrossEntropyLoss(ignore_index=pad_id)
    losses = []
    for step, (src, tgt) in enumerate(batches, start=1):
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        optimizer.zero_grad()
        output = model(src, tgt[:, :-1])
        loss = criterion(output.reshape(-1, output.size(-1)), tgt[:, 1:].reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        losses.append(loss.item())
    return losses


def greedy(next_log_probs, sos_id, eos_id, max_length):
    ids = [sos_id]
    for _ in range(max_length):
        next_id = int(next_log_probs(ids).argmax())
        ids.append(next_id)
        if next_id == eos_id:
            break
    return ids[1:]


def beam(next_log_probs, sos_id, eos_id, size, max_length, alpha):
    beams, finished = [([sos_id], 0.0)], []
    for _ in range(max_length):
        candidates = []
        for ids, score in beams:
            values, tokens = next_log_probs(ids).topk(size)
            for value, token in zip(values.tolist(), tokens.tolist(), strict=True):
                candidates.append((ids + [token], score + value))
        candidates = sorted(candidates, key=lambda c: c[1], reverse=True)[:size]
        finished += [c for c in candidates if c[0][-1] == eos_id]
        beams = [c for c in candidates if c[0][-1] != eos_id]
        if not beams:
            break
    best = max(finished + beams, key=lambda c: c[1] / ((5 + len(c[0]) - 1) / 6) ** alpha)
    return best[0][1:]
