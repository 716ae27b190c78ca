"""Wrong solutions in many styles, of the exercise before the two underscores. The docstring begins the verdict."""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.exercises.solutions import attend, padding_mask, target_mask


def attend__softmax_over_the_batch(q, k, v, mask=None):
    """Your weights sum to 1 over the sentences of the batch"""
    s = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return torch.einsum("bhqk,bhkd->bhqd", F.softmax(s, dim=0), v)


def attend__softmax_over_heads(q, k, v, mask=None):
    """Your weights sum to 1 over the heads"""
    s = q @ k.transpose(2, 3) / q.size(-1) ** 0.5
    if mask is not None:
        s = s.masked_fill(~mask, -1e9)
    return F.softmax(s, dim=1) @ v


def attend__log_softmax(q, k, v, mask=None):
    """These are the logarithms of the weights"""
    s = q @ k.transpose(2, 3) / q.size(-1) ** 0.5
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return F.log_softmax(s, dim=-1) @ v


def attend__root_length(q, k, v, mask=None):
    """The scores are divided by the root of the number of keys"""
    s = q @ k.transpose(2, 3) / math.sqrt(k.size(2))
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return s.softmax(-1) @ v


def attend__root_8(q, k, v, mask=None):
    """The scores are divided by √8 whatever the size"""
    s = q @ k.transpose(2, 3) / math.sqrt(8)
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return s.softmax(-1) @ v


def attend__divided_after_the_softmax(q, k, v, mask=None):
    """You divide by √D after the softmax, so the weights sum to less than 1"""
    s = q @ k.transpose(2, 3)
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return (s.softmax(-1) / math.sqrt(q.size(-1))) @ v


def attend__no_mask_is_not_none(q, k, v, mask=None):
    """The mask may be None, which hides nothing"""
    s = q @ k.transpose(2, 3) / math.sqrt(q.size(-1))
    s = s.masked_fill(mask == 0, -1e9)
    return s.softmax(-1) @ v


def attend__no_mask_is_not_none_mask(q, k, v, mask=None):
    """The mask may be None, which hides nothing"""
    s = q @ k.transpose(2, 3) / math.sqrt(q.size(-1))
    s = s.masked_fill(~mask, -1e9)
    return s.softmax(-1) @ v


def attend__mask_added(q, k, v, mask=None):
    """The mask is added to the scores as it stands, where True counts as 1"""
    s = q @ k.transpose(2, 3) / math.sqrt(q.size(-1))
    if mask is not None:
        s = s + mask
    return s.softmax(-1) @ v


class MultiHeadAttention__mask_not_passed_on(nn.Module):
    """The mask hides nothing"""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_model = n_heads, d_model
        self.query, self.key, self.value, self.output = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, q, k, v, mask=None):
        def s(x):
            return x.view(x.size(0), -1, self.n_heads, self.d_model // self.n_heads).transpose(1, 2)

        z = attend(s(self.query(q)), s(self.key(k)), s(self.value(v)))
        return self.output(z.transpose(1, 2).flatten(2))


class MultiHeadAttention__3_heads(nn.Module):
    """Keys and values are reshaped by the length of the queries, a size is left out, or one is a"""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_model = n_heads, d_model
        self.query, self.key, self.value, self.output = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, q, k, v, mask=None):
        def s(x):
            return x.view(x.size(0), -1, 3, self.d_model // 3).transpose(1, 2)

        z = attend(s(self.query(q)), s(self.key(k)), s(self.value(v)), mask)
        return self.output(z.transpose(1, 2).flatten(2))


class MultiHeadAttention__unpacks_weights(nn.Module):
    """One tensor is given here, the output, not (output, weights)"""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_model = n_heads, d_model
        self.query, self.key, self.value, self.output = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, q, k, v, mask=None):
        def s(x):
            return x.view(x.size(0), -1, self.n_heads, self.d_model // self.n_heads).transpose(1, 2)

        z, w = attend(s(self.query(q)), s(self.key(k)), s(self.value(v)), mask)
        return self.output(z.transpose(1, 2).flatten(2))


def positions__1_l_d(length, d_model):
    """The shape is [1, length, d_model]"""
    pe = torch.zeros(length, d_model)
    p = torch.arange(length).unsqueeze(1).float()
    d = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(p * d)
    pe[:, 1::2] = torch.cos(p * d)
    return pe.unsqueeze(0)


def positions__sign_of_exp(length, d_model):
    """The sign of the exponent is wrong, so that the angles are multiplied with 10000^(2i / d_model)"""
    pe = torch.zeros(length, d_model)
    p = torch.arange(length).unsqueeze(1).float()
    d = torch.exp(torch.arange(0, d_model, 2).float() * (math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(p * d)
    pe[:, 1::2] = torch.cos(p * d)
    return pe


def positions__a_frequency_each_numpy(length, d_model):
    """Each column has a frequency of its own"""
    a = np.arange(length)[:, None] / np.power(10000, np.arange(d_model)[None] / d_model)
    a[:, 0::2] = np.sin(a[:, 0::2])
    a[:, 1::2] = np.cos(a[:, 1::2])
    return a


def padding_mask__pad_0(ids, pad_id):
    """0 is taken for the padding"""
    return (ids != 0).unsqueeze(1).unsqueeze(2)


def target_mask__pad_0(ids, pad_id):
    """0 is taken for the padding"""
    return (ids != 0)[:, None, None, :] & torch.tril(torch.ones(ids.size(1), ids.size(1))).bool()


def target_mask__padding_as_queries(ids, pad_id):
    """The padding is hidden as queries, [B, 1, T, 1], so that a query at a padding sees nothing and"""
    return (ids != pad_id).unsqueeze(1).unsqueeze(3) & (
        1 - torch.triu(torch.ones(1, ids.size(1), ids.size(1)), diagonal=1)
    ).bool()


def look_ahead_mask__1_1_l_l(n):
    """The shape is [1, 1, length, length]"""
    return torch.tril(torch.ones(n, n)).bool()[None, None]


def look_ahead_mask__inf_to_be_added(n):
    """This mask is made to be added to the scores, 0 and -inf"""
    return nn.Transformer.generate_square_subsequent_mask(n)


class LayerNorm__batch_norm_over_0_1(nn.Module):
    """Mean and variance are over the batch and its tokens, as in batch norm, so that a token depends"""

    def __init__(self, d_model):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = 1e-5

    def forward(self, x):
        m = x.mean((0, 1), keepdim=True)
        v = x.var((0, 1), unbiased=False, keepdim=True)
        return self.gain * (x - m) / torch.sqrt(v + self.eps) + self.bias


class FeedForward__no_relu(nn.Module):
    """There is no ReLU, so that the two linear maps are together no more than one"""

    def __init__(s, d, f):
        super().__init__()
        s.inner = nn.Linear(d, f)
        s.outer = nn.Linear(f, d)

    def forward(s, x):
        return s.outer(s.inner(x))


class Embedding__not_cut(nn.Module):
    """Some sizes do not fit"""

    def __init__(self, vocabulary, d_model, table):
        super().__init__()
        self.d_model = d_model
        self.tokens = nn.Embedding(vocabulary, d_model)
        self.register_buffer("table", table)

    def forward(self, ids):
        return self.tokens(ids) * math.sqrt(self.d_model) + self.table


class Embedding__not_scaled(nn.Module):
    """The embeddings are not multiplied with √d_model"""

    def __init__(self, vocabulary, d_model, table):
        super().__init__()
        self.d_model = d_model
        self.tokens = nn.Embedding(vocabulary, d_model)
        self.register_buffer("table", table)

    def forward(self, ids):
        return self.tokens(ids) + self.table[:, : ids.size(1)]


class EncoderLayer__attention_x_mask(nn.Module):
    """An attention takes four"""

    def __init__(self, attention, feed_forward, norm_1, norm_2):
        super().__init__()
        self.attention, self.feed_forward, self.norm_1, self.norm_2 = attention, feed_forward, norm_1, norm_2

    def forward(self, x, mask):
        x = self.norm_1(x + self.attention(x, mask))
        return self.norm_2(x + self.feed_forward(x))


class EncoderLayer__residual_of_the_normed(nn.Module):
    """The residual connection starts after the norm, norm(x) + sublayer(norm(x)), so that x itself"""

    def __init__(self, attention, feed_forward, norm_1, norm_2):
        super().__init__()
        self.attention, self.feed_forward, self.norm_1, self.norm_2 = attention, feed_forward, norm_1, norm_2

    def forward(self, x, mask):
        n = self.norm_1(x)
        x = n + self.attention(n, n, n, mask)
        n = self.norm_2(x)
        return n + self.feed_forward(n)


class DecoderLayer__memory_normed(nn.Module):
    """The memory is normed before cross-attention reads it"""

    def __init__(self, self_attention, cross_attention, feed_forward, norm_1, norm_2, norm_3):
        super().__init__()
        self.sa, self.ca, self.ff, self.n1, self.n2, self.n3 = (
            self_attention,
            cross_attention,
            feed_forward,
            norm_1,
            norm_2,
            norm_3,
        )

    def forward(self, x, memory, target_mask, source_mask):
        x = self.n1(x + self.sa(x, x, x, target_mask))
        m = self.n2(memory)
        x = self.n2(x + self.ca(x, m, m, source_mask))
        return self.n3(x + self.ff(x))


class Encoder__not_carried(nn.Module):
    """Every layer reads the embeddings, so only the last one counts"""

    def __init__(self, embedding, layers):
        super().__init__()
        self.embedding, self.layers = embedding, nn.ModuleList(layers)

    def forward(self, ids, mask):
        x = self.embedding(ids)
        for layer in self.layers:
            out = layer(x, mask)
        return out


class Decoder__x_for_memory(nn.Module):
    """Every layer reads the embeddings, so only the last one counts"""

    def __init__(self, embedding, layers):
        super().__init__()
        self.embedding, self.layers = embedding, nn.ModuleList(layers)

    def forward(self, ids, memory, tm, sm):
        x = self.embedding(ids)
        for layer in self.layers:
            memory = layer(x, memory, tm, sm)
        return memory


class Transformer__softmax_at_the_end(nn.Module):
    """The result is probabilities"""

    def __init__(self, encoder, decoder, output, pad_id):
        super().__init__()
        self.encoder, self.decoder, self.output, self.pad_id = encoder, decoder, output, pad_id

    def forward(self, source, target):
        sm = padding_mask(source, self.pad_id)
        return F.softmax(
            self.output(self.decoder(target, self.encoder(source, sm), target_mask(target, self.pad_id), sm)), dim=-1
        )


def label_smoothing__kldivloss(logits, targets, pad_id, smoothing):
    """This is the Kullback-Leibler divergence, as `KLDivLoss` computes it"""
    V = logits.size(1)
    t = torch.full_like(logits, smoothing / (V - 1))
    t.scatter_(1, targets[:, None], 1 - smoothing)
    k = targets != pad_id
    return nn.KLDivLoss(reduction="batchmean")(logits.log_softmax(1)[k], t[k])


def label_smoothing__epsilon_always_0_1(logits, targets, pad_id, smoothing=0.1):
    """ε is 0.1 whatever is asked for"""
    V = logits.size(1)
    t = torch.full_like(logits, 0.1 / (V - 1))
    t.scatter_(1, targets[:, None], 0.9)
    losses = -(t * logits.log_softmax(1)).sum(1)
    return losses[targets != pad_id].mean()


def noam__512_and_4000(step, d_model=512, warmup=4000):
    """d_model is 512 and warmup is 4000 whatever is asked for"""
    return 512**-0.5 * min(step**-0.5, step * 4000**-1.5)


def batches__pad_0(pairs, size, sos, eos, pad):
    """The padding is 0"""
    pairs = sorted(pairs, key=lambda p: len(p[0]))
    out = []
    for i in range(0, len(pairs), size):
        g = pairs[i : i + size]
        out.append(
            tuple(
                nn.utils.rnn.pad_sequence([torch.tensor(r) for r in rows], batch_first=True)
                for rows in ([s + [eos] for s, _ in g], [[sos] + t + [eos] for _, t in g])
            )
        )
    return out


def train__no_zero_grad(model, batches, optimizer, rate, pad_id, clip):
    """The gradients of earlier batches are still there, and add up"""
    losses = []
    for i, (src, tgt) in enumerate(batches):
        for g in optimizer.param_groups:
            g["lr"] = rate(i + 1)
        out = model(src, tgt[:, :-1])
        loss = F.cross_entropy(out.transpose(1, 2), tgt[:, 1:], ignore_index=pad_id)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        losses.append(loss.item())
    return losses


def train__clips_after_the_step(model, batches, optimizer, rate, pad_id, clip):
    """The gradients are not clipped, or after the step"""
    losses = []
    for i, (src, tgt) in enumerate(batches):
        for g in optimizer.param_groups:
            g["lr"] = rate(i + 1)
        optimizer.zero_grad()
        out = model(src, tgt[:, :-1])
        loss = F.cross_entropy(out.transpose(1, 2), tgt[:, 1:], ignore_index=pad_id)
        loss.backward()
        optimizer.step()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        losses.append(loss.item())
    return losses


def greedy__asks_with_a_tensor_of_one(f, sos, eos, n):
    """There is one token too few"""
    ids = [sos]
    while len(ids) < n:
        ids.append(f(ids).argmax().item())
        if ids[-1] == eos:
            break
    return ids[1:]


def beam__no_length_penalty(next_log_probs, sos_id, eos_id, size, max_length, alpha):
    """The hypotheses are not normalised by their length, so short ones win"""
    live = [([sos_id], 0.0)]
    done = []
    for _ in range(max_length):
        c = [(i + [t], s + p) for i, s in live for t, p in enumerate(next_log_probs(i).tolist())]
        c = sorted(c, key=lambda x: -x[1])[:size]
        done += [x for x in c if x[0][-1] == eos_id]
        live = [x for x in c if x[0][-1] != eos_id]
        if not live:
            break
    return max(done + live, key=lambda x: x[1])[0][1:]


def beam__never_cut(next_log_probs, sos_id, eos_id, size, max_length, alpha):
    """The model was asked to go on from 16 ids"""
    live = [([sos_id], 0.0)]
    done = []
    while live:
        c = [(i + [t], s + p) for i, s in live for t, p in enumerate(next_log_probs(i).tolist())]
        c = sorted(c, key=lambda x: -x[1])[:size]
        done += [x for x in c if x[0][-1] == eos_id]
        live = [x for x in c if x[0][-1] != eos_id]
    return max(done, key=lambda x: x[1] / ((5 + len(x[0]) - 1) / 6) ** alpha)[0][1:]


def beam__on_probabilities(next_log_probs, sos_id, eos_id, size, max_length, alpha):
    """You multiply probabilities, which are below 1, so that a division by the length penalty makes"""
    live = [([sos_id], 1.0)]
    done = []
    for _ in range(max_length):
        c = [(i + [t], s * p) for i, s in live for t, p in enumerate(next_log_probs(i).exp().tolist())]
        c = sorted(c, key=lambda x: -x[1])[:size]
        done += [x for x in c if x[0][-1] == eos_id]
        live = [x for x in c if x[0][-1] != eos_id]
        if not live:
            break
    return max(done + live, key=lambda x: x[1] / ((5 + len(x[0]) - 1) / 6) ** alpha)[0][1:]


def beam__temperature_penalty_each_step_ground_up(next_log_probs, sos_id, eos_id, size, max_length, alpha):
    """This is the beam of"""
    beams = [([sos_id], 0.0)]
    for _ in range(max_length):
        new = []
        for seq, score in beams:
            if seq[-1] == eos_id:
                new.append((seq, score))
                continue
            lp = torch.log_softmax(next_log_probs(seq) / 1.2, dim=-1)
            v, ix = lp.topk(size)
            for p, t in zip(v.tolist(), ix.tolist(), strict=False):
                new.append((seq + [t], (score + p) / ((5 + len(seq) + 1) / 6) ** alpha))
        beams = sorted(new, key=lambda x: x[1], reverse=True)[:size]
        if all(s[-1] == eos_id for s, _ in beams):
            break
    return beams[0][0][1:]
