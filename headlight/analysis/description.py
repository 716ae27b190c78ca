"""Describe in a sentence what each head does, as far as its numbers support it.

A pattern is named where the share of a head's weight that follows it, as a mean over the rows, is at least MIN_SHARE,
and at least MIN_RATIO_TO_UNIFORM times what uniform attention gives under the same mask. Several may be named. Most
heads follow none: their sentence names the key that gets the most, or all keys that get the same.

Shapes: L layers, H heads, Q queries, K keys.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headlight.analysis.combine import normalise
from headlight.analysis.measures import HeadValues, measure
from headlight.formatting import percent
from headlight.language import gettext, in_parts, localized, ngettext, translatable
from transformer.trace import Kind, Patterns

MIN_SHARE = 0.5
MIN_RATIO_TO_UNIFORM = 2.0
MAX_NAMED_KEYS = 3  # keys that are named together; where more get the same, they are counted
MIN_SPECIAL_LEAD = 0.05  # how much more special tokens must get than the named key, to be named beside it
ROW_SUM_TOLERANCE = 0.01  # how far from 1 half precision leaves the sum of a row
OFF_NOTE = translatable("is off: its measures are not defined")
PRUNED_NOTE = translatable("was pruned: the model has no such head any more")
_PATTERN_TEXTS = {
    "key": translatable("looks at {token}: {share} of its weight"),
    "previous": translatable("looks at the previous token: {share} of its weight"),
    "next": translatable("looks at the next token: {share} of its weight"),
    "same": translatable("looks at the same position: {share} of its weight"),
    "special": translatable("looks at special tokens: {share} of its weight"),
}
_STRONGEST_KEY_TEXTS = (
    translatable("follows no single pattern: {first} gets the most, {share} on average"),
    translatable("follows no single pattern: {first} and {second} get the most, {share} each on average"),
    translatable("follows no single pattern: {first}, {second} and {third} get the most, {share} each on average"),
)

Text = list[str]  # parts of a text; every second one, from index 1, is a token
Shares = dict[str, np.ndarray]  # [L, H] by the pattern that a head may be named after


def describe(
    patterns: Patterns,
    values: HeadValues,
    masked: np.ndarray,
    special: np.ndarray,
    keys: Sequence[str],
    kind: Kind,
) -> list[list[Text]]:
    """Return a text for each head of `patterns` [L, H, Q, K], to stand after its name: [L][H].

    `values` are the measures of these patterns, [L, H] each. `masked` is bool [Q, K], `special` bool [K], `keys`
    are the labels of the keys.
    """
    uniform = normalise((~masked).astype(np.float64))[None, None]
    chance = _shares(uniform, measure(uniform, masked, special), masked, kind)
    least = {what: max(MIN_SHARE, MIN_RATIO_TO_UNIFORM * float(share[0, 0])) for what, share in chance.items()}
    shares = _shares(patterns, values, masked, kind)
    return [
        [
            _text(pattern, masked, keys, {what: float(share[layer, h]) for what, share in shares.items()}, least)
            for h, pattern in enumerate(heads)
        ]
        for layer, heads in enumerate(patterns)
    ]


def _shares(patterns: Patterns, values: HeadValues, masked: np.ndarray, kind: Kind) -> Shares:
    """Return the shares of each pattern. In cross-attention, keys next to the query's position mean nothing."""
    names = ("same", "special") if kind == "cross" else ("same", "special", "previous", "next")
    return {name: values[name] for name in names} | {
        "key": np.stack([strongest_column(layer, masked)[1] for layer in patterns]),
        "row": values["sharpness"],
    }


def strongest_column(patterns: np.ndarray, masked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the key that receives the most from all rows of [..., Q, K], and its mean share as in `share_by_key`.

    It is chosen by its total: by that mean, a key which only the last row of a causal pattern may see would
    often win. The share is NaN (and the key 0) for a head that is switched off.
    """
    index = normalise(patterns.astype(np.float64)).sum(-2).argmax(-1)
    return index, np.take_along_axis(share_by_key(patterns, masked), index[..., None], -1)[..., 0]


def share_by_key(patterns: np.ndarray, masked: np.ndarray) -> np.ndarray:
    """Return the mean share that each key gets from the rows that may see it, [..., K]; NaN for a head that is off."""
    shares = normalise(patterns.astype(np.float64))
    counted = (shares != 0).any(-1, keepdims=True) & ~masked  # [..., Q, K]
    number = counted.sum(-2)
    total = np.where(counted, shares, 0.0).sum(-2)
    return np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)


def _text(
    pattern: np.ndarray, masked: np.ndarray, keys: Sequence[str], shares: dict[str, float], least: dict[str, float]
) -> Text:
    if not pattern.any():
        return [gettext(OFF_NOTE)]
    clear = {what: share for what, share in shares.items() if share >= least[what]}
    sharp = clear.pop("row", None)
    if "key" in clear and clear.get("special", 0.0) <= clear["key"] + MIN_SPECIAL_LEAD:
        clear.pop("special", None)  # the key's own name says more than that it is a special token
    if clear:
        named = sorted(clear, key=lambda what: -clear[what])
        return _joined([_pattern_text(what, clear[what], pattern, keys) for what in named])
    if sharp is not None:
        count = len(set(pattern.argmax(-1).tolist()))
        text = ngettext(
            "looks mainly at one token in each row, {share} on average: always the same one in all",
            "looks mainly at one token in each row, {share} on average: {count} different tokens in all",
            count,
            share=percent(sharp),
        )
        return [text]
    return _strongest_keys(pattern, masked, keys)


def _pattern_text(what: str, share: float, pattern: np.ndarray, keys: Sequence[str]) -> Text:
    if what == "key":
        token = keys[int(normalise(pattern.astype(np.float64)).sum(-2).argmax())]
        return in_parts(_PATTERN_TEXTS[what], {"token": token}, share=percent(share))
    return [gettext(_PATTERN_TEXTS[what], share=percent(share))]


def _joined(texts: list[Text]) -> Text:
    """Join the texts; tokens stay at odd indices."""
    joined = list(texts[0])
    for text in texts[1:]:
        joined[-1] += f"; {text[0]}"
        joined += text[1:]
    return joined


def _strongest_keys(pattern: np.ndarray, masked: np.ndarray, keys: Sequence[str]) -> Text:
    """Name the key with the largest share, or all keys whose rounded shares tie with it."""
    shares, totals = share_by_key(pattern, masked), normalise(pattern.astype(np.float64)).mean(0)
    order = np.argsort(-totals, kind="stable").tolist()
    read = [(percent(totals[k]), percent(shares[k])) for k in order]
    tied = [keys[k] for k, numbers in zip(order, read, strict=True) if numbers == read[0]]
    best = read[0][1]
    if len(tied) > MAX_NAMED_KEYS:
        text = ngettext(
            "follows no single pattern: {count} token gets the most, {share} on average",
            "follows no single pattern: {count} tokens get the most, {share} each on average",
            len(tied),
            share=best,
        )
        return [text]
    tokens = dict(zip(("first", "second", "third"), tied, strict=False))
    return in_parts(_STRONGEST_KEY_TEXTS[len(tied) - 1], tokens, share=best)


def row_note(patterns: Patterns) -> str:
    """Return a note on the heads of `patterns` [L, H, Q, K] with rows that do not sum to 1; "" if there are none."""
    sums = np.concatenate([layer.sum(-1)[layer.any((1, 2))] for layer in patterns])  # [heads that are on, Q]
    wrong = np.abs(sums - 1) > ROW_SUM_TOLERANCE
    if not wrong.any():
        return ""
    return gettext(
        "In {some} of {all} heads there are rows that do not sum to 1: their sums go from {least} to {most}.",
        some=int(wrong.any(-1).sum()),
        all=patterns.shape[0] * patterns.shape[1],
        least=localized(f"{sums.min():.2g}"),
        most=localized(f"{sums.max():.2g}"),
    )
