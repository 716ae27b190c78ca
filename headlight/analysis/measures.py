"""The measures of attention heads, one entry each in `MEASURES`, for one sentence and over a corpus alike.

Other packages add measures of their own (docs/extending.md).

Shapes: B sentences, H heads, Q queries, K keys, W words of the keys, V words of the queries, P pronouns, L layers.

Each row of a pattern is divided by its sum before it is measured, so scaling a head changes no measure. Rows that sum
to 0, as in a head that is switched off, are left out, and a head without any other row measures NaN.

Distances are numbers of tokens: query i and key j are compared by their positions, in cross-attention each in its own
sentence, without scaling to the other's length. In the decoder of a short sentence, "same position" is always high,
because the first tokens can attend to little but themselves.
"""

from __future__ import annotations

import math
import string
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

from headlight.formatting import plain_label
from headlight.language import translatable
from headlight.plugins import Plugin, Registry, guarded, report
from transformer.quoting import quoted
from transformer.trace import Patterns

Unit = Literal["share", "correlation", "bits", "nats", "tokens"]
HeadValues = dict[str, np.ndarray]  # by the name of a measure, [L, H]
Values = tuple[Tensor, Tensor]  # [B, H], NaN where a sentence has none; and the units of each mean, [B]


@dataclass(frozen=True)
class Targets:
    """The gold alignment of the target words; sentences without one have no links."""

    rows: Tensor  # [B, V, Q], 1 where a query belongs to a target word
    right: Tensor  # bool [B, V, W], True where target word V is aligned with source word W
    estimated: bool = False  # the links are those of a statistical aligner, not gold

    @property
    def aligned(self) -> Tensor:
        """Which target words have a link: bool [B, V]."""
        return self.right.any(-1)


@dataclass(frozen=True)
class Pronouns:
    """The pronouns of a batch and their antecedents."""

    sentence: Tensor  # [P], the index of the pronoun's sentence in the batch
    rows: Tensor  # [P, Q], 1 where a query stands for the pronoun
    right: Tensor  # bool [P, W], the antecedent
    candidates: Tensor  # bool [P, W], all words but the pronoun itself, without special tokens
    guessed: Tensor  # [P, rules], 1 where a simple rule, such as "the last noun", names the antecedent


@dataclass(frozen=True)
class Context:
    """The masks and gold alignment of one kind of attention in a batch.

    Row t of the decoder reads target token t and writes token t + 1.
    """

    rows: Tensor  # bool [B, Q], False at padding
    visible: Tensor  # bool [B, Q, K]
    special: Tensor  # [B, K], 1 at special tokens
    punctuation: Tensor | None = None  # [B, K], 1 at tokens of nothing but punctuation
    # [B, K, W], 1 where a key belongs to a word. A special token is a word of its own, among the last K.
    words: Tensor | None = None
    writes: Targets | None = None  # the rows of a target word are those that write it
    reads: Targets | None = None  # ... those that read it, one later
    pronouns: Pronouns | None = None


@dataclass(frozen=True)
class Pattern:
    """The attention patterns of several heads, as each measure gets them."""

    shares: Tensor  # [B, H, Q, K], each row divided by its sum; 0 where the sum is 0
    counted: Tensor  # bool [B, H, Q], the rows that are measured: no padding, and a sum other than 0
    context: Context

    @classmethod
    def of(cls, weights: Tensor, context: Context) -> Pattern:
        """Divide each row of `weights` [B, H, Q, K] by its sum."""
        total = weights.sum(-1, keepdim=True)
        counted = (total != 0) & context.rows[:, None, :, None]
        return cls(torch.where(counted, weights / total, 0.0), counted[..., 0], context)

    def mean(self, values: Tensor) -> Tensor:
        """Return the mean over the counted rows of `values` [B, H, Q], as [B, H]; NaN where no row counts."""
        return (values * self.counted).sum(-1) / self.counted.sum(-1)

    @cached_property
    def by_word(self) -> Tensor:
        """The weight on each word, summed over its tokens: [B, H, Q, W]."""
        assert self.context.words is not None
        return self.shares @ self.context.words[:, None]

    @cached_property
    def of_pronouns(self) -> Tensor:
        """The weight on each word, summed over the rows that stand for a pronoun: [P, H, W]."""
        pronouns, words = self.context.pronouns, self.context.words
        assert pronouns is not None and words is not None
        sentence = pronouns.sentence
        return torch.einsum("pq,phqk->phk", pronouns.rows, self.shares[sentence]) @ words[sentence]


@dataclass(frozen=True)
class Measure:
    """A number for each head: its name, its meaning, and the function that computes it.

    `name` is used in files and addresses. In `meaning`, {unit} and {units} are the units of the corpus: words or
    letters.
    """

    name: str
    label: str
    unit: Unit
    meaning: str
    formula: str  # for row i, where p_j is the share of key j; the measure is the mean over the rows
    source: str  # the paper that defines the measure, or inspired it
    # Returns [B, H], or None where this kind of attention or the corpus lacks what the measure needs. A measure without
    # a function takes many passes, in headlight/analysis/atlas/over_corpus.py.
    function: Callable[[Pattern], Tensor | None] | None
    units: Callable[[Context], Tensor] | None = None  # counts each sentence's words or pronouns, [B]; None: always 1
    limit: Callable[[Tensor], float] | None = None  # the largest value that the visible cells [Q, K] allow
    brief: str = ""  # the meaning in one line; "": `meaning` itself
    lesson_name: str = ""  # what lessons call it; "": `name`
    smaller_is_better: bool = False  # as for an error rate
    on_attention: bool = True  # shown in the table and the strips of the Attention page
    over_corpora: bool = True  # shown in the atlas
    chance: Callable[[Context], Tensor] | None = None  # of a random choice, [B]; None: the measure of uniform weights

    @property
    def range(self) -> tuple[float | None, float | None]:
        """The smallest and the largest possible value; None where there is no bound."""
        return {"share": (0.0, 1.0), "correlation": (-1.0, 1.0), "nats": (None, None)}.get(self.unit, (0.0, None))

    @property
    def digits(self) -> int:
        """The decimals to show: more for nats, since a single head changes the loss by little."""
        return 4 if self.unit == "nats" else 2

    @property
    def of_weights(self) -> bool:
        """Whether the weights of a single sentence suffice to compute it, without gold data."""
        return self.function is not None and self.units is None

    def largest(self, values: np.ndarray, masked: np.ndarray) -> float:
        """Return the upper end of a scale for `values`: the largest that a head can reach with `masked` [Q, K]."""
        bound = self.limit(torch.from_numpy(~masked)) if self.limit else self.range[1]
        return max(float(np.nan_to_num(values).max(initial=0.0)) if bound is None else bound, 1e-9)


# ---- measures of the weights alone ---------------------------------------------------------------------------------


def entropy(pattern: Pattern) -> Tensor:
    return pattern.mean(torch.special.entr(pattern.shares.clamp(min=0)).sum(-1) / math.log(2)).abs()  # 0, never -0


def largest_entropy(visible: Tensor) -> float:
    return float(visible.sum(-1).double().log2().mean())


def distance(pattern: Pattern) -> Tensor:
    return pattern.mean((pattern.shares * _distances(pattern.shares)).sum(-1))


def largest_distance(visible: Tensor) -> float:
    return float((visible * _distances(visible)).amax(-1).double().mean())


def _distances(weights: Tensor) -> Tensor:
    queries, keys = (torch.arange(count, device=weights.device) for count in weights.shape[-2:])
    return (queries[:, None] - keys).abs()


def at_offset(pattern: Pattern, offset: int) -> Tensor:
    """Return the share on key i + offset, over the rows that have that key and may see it."""
    shares = pattern.shares.diagonal(offset, -2, -1)  # [B, H, n]
    start = max(0, -offset)
    counted = pattern.counted[..., start : start + shares.size(-1)]
    counted = counted & pattern.context.visible.diagonal(offset, -2, -1)[:, None]
    return (shares * counted).sum(-1) / counted.sum(-1)


def on_special(pattern: Pattern) -> Tensor:
    return _on_marked(pattern, pattern.context.special)


def on_punctuation(pattern: Pattern) -> Tensor | None:
    marks = pattern.context.punctuation
    return None if marks is None else _on_marked(pattern, marks)


def _on_marked(pattern: Pattern, marks: Tensor) -> Tensor:
    return pattern.mean((pattern.shares @ marks.to(pattern.shares)[:, None, :, None])[..., 0])


# ---- measures that compare with gold, in whole words ---------------------------------------------------------------


def misaligned(pattern: Pattern, rows: Literal["writes", "reads"]) -> Tensor | None:
    """Return the share of aligned target words whose largest weight, special tokens included, is not on their source.

    It is 1 minus the precision of these links. Their alignment error rate would be unfair: it also counts the second
    link of a word that has two, so no head could reach 0 by its largest weights.
    """
    targets: Targets | None = getattr(pattern.context, rows)
    if targets is None:
        return None
    chosen = (targets.rows[:, None] @ pattern.by_word).argmax(-1)  # [B, H, V]
    hit = targets.right.gather(-1, chosen.transpose(1, 2)).transpose(1, 2)  # [B, H, V]; never at unaligned words
    return 1 - hit.sum(-1) / targets.aligned.sum(-1)[:, None]


def alignment_error(pattern: Pattern, rows: Literal["writes", "reads"]) -> Tensor | None:
    """Return the alignment error rate of the links from each target word to the source word with its largest weight.

    Special tokens are left out, as in headlight/analysis/alignment_error.py. All gold links are sure. There is no rate
    against estimated links.
    """
    context, targets = pattern.context, getattr(pattern.context, rows)
    if targets is None or targets.estimated:
        return None
    count = _without_special(context)
    right = targets.right[..., :count]
    largest, chosen = (targets.rows[:, None] @ pattern.by_word[..., :count]).max(-1)  # [B, H, V]
    linked = largest > 0
    hits = (right.gather(-1, chosen.transpose(1, 2)).transpose(1, 2) & linked).sum(-1)
    rate = 1 - 2 * hits / (linked.sum(-1) + right.sum((1, 2))[:, None])
    return rate.masked_fill(~pattern.counted.any(-1), math.nan)


def _without_special(context: Context) -> int:
    """Return the number of words before the special tokens, which are the last words."""
    assert context.words is not None
    return context.words.size(2) - context.words.size(1)


def count_links(context: Context) -> Tensor:
    """Return |A| + |S|, [B]: a link for every target word, and the gold links."""
    assert context.writes is not None
    return context.writes.rows.any(-1).sum(-1) + context.writes.right.sum((1, 2))


def chance_of_misaligning(context: Context) -> Tensor:
    """Return the mean share of wrong words among those that could be chosen, special tokens included: [B]."""
    assert context.writes is not None
    words = _visible_words(context).sum(-1)
    return 1 - context.writes.right.sum((1, 2)) / words / count_aligned_words(context)


def chance_of_alignment_error(context: Context) -> Tensor:
    """Return the expected alignment error rate of links to random source words: [B]."""
    assert context.writes is not None
    words = _visible_words(context)[:, : _without_special(context)].sum(-1)
    return 1 - 2 * context.writes.right.sum((1, 2)) / words / count_links(context)


def _visible_words(context: Context) -> Tensor:
    """Return which words have a token that some row may see: bool [B, W]."""
    assert context.words is not None
    return (context.words.bool() & context.visible.any(1)[..., None]).any(1)


def count_aligned_words(context: Context) -> Tensor:
    assert context.writes is not None
    return context.writes.aligned.sum(-1)


def on_antecedent(pattern: Pattern, among_words: bool) -> Tensor | None:
    """Return the share of pronouns whose largest weight is on the antecedent.

    `among_words` leaves out the pronoun itself and special tokens, where heads put the weight that they have no use
    for; they may still prefer the antecedent among the rest.
    """
    pronouns = pattern.context.pronouns
    if pronouns is None:
        return None
    weights = pattern.of_pronouns
    largest, chosen = (weights.masked_fill(~pronouns.candidates[:, None], -1) if among_words else weights).max(-1)
    return mean_over_pronouns(pronouns.right.gather(-1, chosen) & (largest > 0), pattern.context)


def mean_over_pronouns(values: Tensor, context: Context) -> Tensor:
    """Return the mean of `values` [P, H] over each sentence's pronouns, [B, H]."""
    assert context.pronouns is not None
    total = torch.zeros(len(context.rows), values.size(1), device=values.device)
    return total.index_add_(0, context.pronouns.sentence, values.float()) / count_pronouns(context)[:, None]


def count_pronouns(context: Context) -> Tensor:
    assert context.pronouns is not None
    return torch.bincount(context.pronouns.sentence, minlength=len(context.rows))


# ---- the registry --------------------------------------------------------------------------------------------------

CHUNK_BYTES = 1 << 20  # of the double-precision weights that are measured at once
_CLARK = "Clark et al. 2019, What does BERT look at?"
_VIG = "Vig and Belinkov 2019, Analyzing the structure of attention in a transformer language model"
_OCH = "Och and Ney 2003, A systematic comparison of various statistical alignment models"
_CHEN = "Chen et al. 2020, Accurate word alignment induction from neural machine translation"
_UNITS = translatable("bits"), translatable("tokens"), translatable("share")  # marks them for translation
# fmt: off
_BUILT_IN_MEASURES = {entry.name: entry for entry in (
    Measure(
        "entropy", translatable("Entropy"), "bits",
        translatable("Spread of the weights: 0 bits is one token; each bit doubles their number."),
        "-Σ_j p_j log2 p_j", _VIG, entropy, limit=largest_entropy,
        brief=translatable("spread of the weights; 0 is one token"),
    ),
    Measure(
        "distance", translatable("Distance"), "tokens",
        translatable("Mean distance from the query to the tokens it attends to."),
        "Σ_j p_j |i - j|", _VIG, distance, limit=largest_distance,
        brief=translatable("from the query's own position, on average"),
    ),
    Measure(
        "previous", translatable("Previous"), "share",
        translatable("Share of weight on the token before the query's."),
        "p_(i-1)", _CLARK, partial(at_offset, offset=-1), brief=translatable("share of weight on the token before"),
    ),
    Measure(
        "same", translatable("Same position"), "share",
        translatable("Share of weight on the token at the query's own position."),
        "p_i", _CLARK, partial(at_offset, offset=0),
        brief=translatable("share of weight on the key at the query's position"),
        lesson_name="same position",
    ),
    Measure(
        "next", "Next", "share", "Share of weight on the token after the query's.",
        "p_(i+1)", _CLARK, partial(at_offset, offset=1), lesson_name="following", on_attention=False,
    ),
    Measure(
        "first", "First", "share", "Share of weight on the first token.",
        "p_1", "Xiao et al. 2023, Efficient streaming language models with attention sinks",
        lambda pattern: pattern.mean(pattern.shares[..., 0]), on_attention=False,
    ),
    Measure(
        "special", translatable("Special"), "share",
        translatable("Share of weight on special tokens such as [EOS]."),
        "Σ p_j over special tokens j", _CLARK, on_special,
        brief=translatable("share of weight on special tokens such as [EOS]"),
    ),
    Measure(
        "punctuation", "Punctuation", "share", "Share of weight on punctuation.",
        "Σ p_j over punctuation j", _CLARK, on_punctuation, on_attention=False,
    ),
    Measure(
        "sharpness", "Sharpness", "share", "The largest share of a row, on average: 1 where each looks at one token.",
        "max_j p_j", "Voita et al. 2019, Analyzing multi-head self-attention (there: confidence)",
        lambda pattern: pattern.mean(pattern.shares.amax(-1)), on_attention=False, over_corpora=False,
    ),
    Measure(
        "alignment", "Misaligned", "share",
        "Share of aligned target {units} whose largest weight, in the row that writes the {unit}, misses every aligned "
        "source {unit} (1 minus the precision of Och and Ney 2003). 0 is a perfect alignment.",
        "1 - |{v : (argmax_w Σ_(j in w) p_j, v) is aligned}| / |{v : v is aligned}|", _OCH,
        partial(misaligned, rows="writes"), count_aligned_words, smaller_is_better=True, chance=chance_of_misaligning,
    ),
    Measure(
        "reading", "Misaligned late", "share",
        "The same error in the next row, which reads the {unit}: decoders often align best there (Chen et al. 2020).",
        "as Misaligned, one row later", _CHEN,
        partial(misaligned, rows="reads"), count_aligned_words, smaller_is_better=True, chance=chance_of_misaligning,
    ),
    Measure(
        "alignment_error", "AER", "share",
        "Alignment error rate (Och and Ney 2003) of the links from each target {unit} to the source {unit} with the "
        "largest weight in the row that writes it, special tokens left out: the share of these links and of the known "
        "ones that do not agree. 0 is a perfect alignment.",
        "1 - 2 |A ∩ S| / (|A| + |S|), A the links (argmax_w Σ_(j in w) p_j, v), S the known ones", _OCH,
        partial(alignment_error, rows="writes"), count_links, smaller_is_better=True, chance=chance_of_alignment_error,
    ),
    Measure(
        "reading_error", "AER late", "share",
        "The alignment error rate in the next row, which reads the {unit}.",
        "as AER, one row later", _CHEN,
        partial(alignment_error, rows="reads"), count_links, smaller_is_better=True, chance=chance_of_alignment_error,
    ),
    Measure(
        "antecedent", "Antecedent", "share",
        "Share of pronouns whose largest weight of all, special tokens included, is on the antecedent, the noun that "
        "the pronoun stands for.",
        "|{pronouns : argmax_w Σ_(j in w) p_j is the antecedent}| / |{pronouns}|", _CLARK,
        partial(on_antecedent, among_words=False), count_pronouns,
    ),
    Measure(
        "among_words", "Among words", "share",
        "Share of pronouns whose antecedent gets more weight than any other word, the pronoun itself and special "
        "tokens aside.",
        "as Antecedent, with w among the other words", _CLARK, partial(on_antecedent, among_words=True), count_pronouns,
    ),
    Measure(
        "importance", "Importance", "nats", "How much the loss per target token rises when the head is switched off.",
        "loss without the head - loss", "Michel et al. 2019, Are sixteen heads really better than one?", None,
    ),
    Measure(
        "agreement", "Agreement", "correlation",
        "Spearman's rank correlation, over the {units} of a source sentence, of the attention that a {unit} gets with "
        "how much less likely the output is without the {unit}: 1 is the same order, 0 is no relation.",
        "Spearman's ρ(Σ_i p_ij, log P(target) - log P(target | source without j))",
        "Jain and Wallace 2019, Attention is not explanation (there: Kendall's τ)", None,
    ),
    Measure(
        "positional", "Positional", "share",
        "Share of a row that stays on the same positions when the tokens of the sentence are shuffled: 1 where the "
        "head goes by positions alone.",
        "Σ_j min(p_ij, p'_ij), p' of the shuffled sentence", "ours", None, on_attention=False,
    ),
    Measure(
        "content", "Content", "share",
        "Share of a row that stays on the same tokens when they are shuffled: 1 where the head goes by what the tokens "
        "are. A head that looks at everything alike has 1 in both.",
        "Σ_j min(p_ij, p'_(π(i) π(j))), token i at place π(i) of the shuffled sentence", "ours", None,
        on_attention=False,
    ),
)}
# fmt: on


def _accepted(plugin: Plugin, known: dict[str, Measure]) -> Iterator[Measure]:
    """Yield the plugin's valid measures; its value is a `Measure` or several. Report the others."""
    for entry in plugin.value if isinstance(plugin.value, list | tuple) else [plugin.value]:
        if not isinstance(entry, Measure) or entry.function is None:
            what = f"is left out: {plugin.name} is {quoted(entry)}; it must be a Measure with a function."
            report(plugin.package, what)
        elif entry.name in known or entry.unit not in get_args(Unit):
            why = "there is a measure of that name" if entry.name in known else f"its unit is {quoted(entry.unit)}"
            report(plugin.package, f"is left out: the measure {quoted(entry.name)} cannot be added, since {why}.")
        else:
            yield replace(entry, function=_guarded(plugin.package, entry.name, entry.function))


def _guarded(
    package: str, name: str, function: Callable[[Pattern], Tensor | None]
) -> Callable[[Pattern], Tensor | None]:
    """Return `function` made safe: NaN where it raises, or returns another shape than [B, H]."""

    def checked(pattern: Pattern) -> Tensor | None:
        values = function(pattern)
        if values is not None and values.shape != pattern.shares.shape[:2]:
            raise ValueError(f"it returned {tuple(values.shape)} for {tuple(pattern.shares.shape[:2])} heads")
        return values

    def unknown(pattern: Pattern) -> Tensor:
        return pattern.shares.new_full(pattern.shares.shape[:2], math.nan)

    return guarded(package, f"the measure {name}", checked, unknown)


MEASURES: Registry[Measure] = Registry(_BUILT_IN_MEASURES, "headlight.measures", _accepted)


def compute(weights: Tensor, context: Context, measures: Iterable[Measure]) -> dict[str, Values]:
    """Compute `measures` of `weights` [B, H, Q, K]; return those that can be computed in this context, by name."""
    pattern, ones = Pattern.of(weights, context), torch.ones(len(weights), dtype=torch.int64)
    measured = ((entry, entry.function(pattern)) for entry in measures if entry.function is not None)
    return {
        entry.name: (values, ones if entry.units is None else entry.units(context))
        for entry, values in measured
        if values is not None
    }


def measure(
    patterns: Patterns, masked: np.ndarray, special: np.ndarray, punctuation: np.ndarray | None = None
) -> HeadValues:
    """Return every measure that needs only the weights, [L, H] each, by name. `patterns` are [L, H, Q, K].

    `masked` is bool [Q, K], `special` and `punctuation` bool [K].
    """
    context = Context(
        torch.ones(1, len(masked), dtype=torch.bool),
        torch.tensor(~masked)[None],
        torch.tensor(special)[None],
        None if punctuation is None else torch.tensor(punctuation)[None],
    )
    # Layer by layer, the calls would take most of the time for short sentences; all at once, a double-precision copy of
    # long patterns would be large. So as many layers are measured at a time as fit into CHUNK_BYTES.
    n_layers, n_heads, *cells = patterns.shape
    chunk_size = max(1, CHUNK_BYTES // max(1, 8 * n_heads * math.prod(cells)))
    chunks = []
    for first in range(0, n_layers, chunk_size):
        heads = patterns[first : first + chunk_size].reshape(1, -1, *cells).astype(np.float64, order="C")
        chunks.append(compute(torch.from_numpy(heads), context, MEASURES.values()))
    return {
        name: np.concatenate([chunk[name][0][0].numpy() for chunk in chunks]).reshape(n_layers, n_heads)
        for name in chunks[0]
    }


def is_punctuation(label: str) -> bool:
    """Return whether a token is nothing but punctuation, by its label."""
    text = plain_label(label)
    return bool(text) and all(sign in string.punctuation or unicodedata.category(sign)[0] == "P" for sign in text)
