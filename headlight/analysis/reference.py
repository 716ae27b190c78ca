"""Compare a model with a reference: the reference's probability, and the similarity of the model's own translation.

Shapes: V target vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

import sacrebleu
import torch

from transformer.decoding import forced
from transformer.inference.prepared import Prepared
from transformer.model import Transformer


class TokenRead(NamedTuple):
    """A token of the reference, and the model's most probable token after the same prefix."""

    id: int
    log_prob: float
    rank: int  # 1 where it is the most probable
    likeliest: int
    likeliest_log_prob: float


class Similarity(NamedTuple):
    """The sacreBLEU scores of one sentence, from 0 to 100, and the signature of BLEU."""

    bleu: float
    chrf: float
    signature: str


def read_reference(model: Transformer | Prepared, src_ids: Sequence[int], tgt_ids: Sequence[int]) -> list[TokenRead]:
    """Return each token of a reference as the model reads it: from the first after [SOS] to [EOS].

    `src_ids` ends with [EOS], and so does `tgt_ids`, which has no [SOS]. Raises ValueError for ids that the model
    cannot read.
    """
    tokens = []
    for step, token in zip(forced(model, torch.tensor([src_ids]), tgt_ids), tgt_ids, strict=True):
        log_probs = step.log_probs[0]
        best = int(log_probs.argmax())
        rank = 1 + int((log_probs > log_probs[token]).sum())
        tokens.append(TokenRead(token, float(log_probs[token]), rank, best, float(log_probs[best])))
    return tokens


def similarity(output: str, reference: str) -> Similarity:
    """Return sentence BLEU and chrF of `output`, cased and detokenised.

    A sentence may be too short for n-grams of four words: BLEU then counts up to the longest that it has (sacreBLEU's
    effective order), as sentence scores need.
    """
    bleu = sacrebleu.metrics.BLEU(effective_order=True)
    score = bleu.sentence_score(output, [reference]).score
    chrf = sacrebleu.metrics.CHRF().sentence_score(output, [reference]).score
    return Similarity(score, chrf, str(bleu.get_signature()))


class BleuParts(NamedTuple):
    """The counts behind a sentence BLEU: of n = 1 to 4 words in a row, those that the reference has too, and all."""

    matches: list[int]
    totals: list[int]
    brevity: float  # the factor for an output shorter than its reference
    score: float  # brevity times the geometric mean of matches / totals, from 0 to 100


def bleu_parts(output: str, reference: str) -> BleuParts:
    """Return the counts behind `similarity`'s BLEU (Papineni et al. 2002, as sacreBLEU computes it)."""
    bleu = sacrebleu.metrics.BLEU(effective_order=True).sentence_score(output, [reference])
    return BleuParts(list(bleu.counts), list(bleu.totals), float(bleu.bp), float(bleu.score))


class Branching(NamedTuple):
    """The place where two sequences diverge: they share the first `shared` tokens. Each `..._differs` is True at tokens
    that the other sequence lacks there.
    """

    shared: int
    before_differs: list[bool]
    after_differs: list[bool]


def branching(before: Sequence[int], after: Sequence[int]) -> Branching:
    """Compare two sentences, given as ids. A token that both have after the first difference does not count as one."""
    shared = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(map(len, (before, after)))
    )
    in_before, in_after = [True] * len(before), [True] * len(after)
    in_before[:shared], in_after[:shared] = [False] * shared, [False] * shared
    matcher = SequenceMatcher(None, before[shared:], after[shared:], autojunk=False)
    for i, k, length in matcher.get_matching_blocks():
        in_before[shared + i : shared + i + length] = [False] * length
        in_after[shared + k : shared + k + length] = [False] * length
    return Branching(shared, in_before, in_after)
