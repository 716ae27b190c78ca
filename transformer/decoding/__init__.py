"""Decoding is a generator: `greedy`, `beam`, `diverse_beam`, `sample` and `forced` yield a `DecodeStep` for each token.

    for step in beam(model, src, size=5): ...          # watch it write
    best = finish(beam(model, src, size=5))[0][0].ids  # or take what it wrote

Their common arguments are checked at the call, which raises ValueError for wrong ones:

model       in evaluation mode. It is never written to, so any number of threads may decode with it. A `Transformer` is
            prepared for this decode; to decode more than once, prepare it once and pass the `Prepared`.
src         [B, S] source ids, padded at the end.
max_length  the most tokens to write, [EOS] included, but never more than the model can read. Without it, each sentence
            may have 2 * (its source tokens) + 10. A hypothesis that gets there without [EOS] ends unfinished.
prefix      what the target must begin with, after [SOS]: one list of ids for all sentences, one list each, or
            a tensor [B, P] padded at the end. To ask "What if it had said ...?", decode with that as the prefix. Where
            the model's targets start in a given way (`target_start`), the prefix includes that start; whatever part of
            the start the prefix does not reach is written after it.
tap         sees each pattern: the encoder's once and the decoder's at every step.
tap_at      returns the tap of a step, counted from 0, which sees the decoder's patterns there after `tap`. Those have
            one query, [N, H, 1, K], so a `Replace` there has one row. Only in a model without a look-ahead mask do they
            have all queries, [N, H, T, K]: there earlier tokens attend to later ones, so the whole prefix is computed
            anew at each step, as the code that trained the model does.
record      stores in each step the patterns of that step, as the taps left them.

`yield_turn` (transformer/yielding.py) is called before each step: an exception that it raises ends the decode.

A step holds [N, V] log-probabilities, so keeping all steps of a large batch takes much memory.
"""

from transformer.decoding.choosers import tempered
from transformer.decoding.diverse_beam import diverse_beam
from transformer.decoding.search import allowed
from transformer.decoding.step import DecodeStep, Fate, Hypothesis, finish, recorded, rows_of
from transformer.decoding.strategies import STRATEGIES, Decoding, beam, forced, greedy, sample

given = forced  # its name in version 1.0
__all__ = [
    "STRATEGIES", "DecodeStep", "Decoding", "Fate", "Hypothesis", "allowed", "beam", "diverse_beam", "finish",
    "forced", "greedy", "recorded", "rows_of", "sample", "tempered",
]  # fmt: skip
