"""Sentences about heads that are named after antecedents: do they decide between "il" and "elle"?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headlight.analysis.sites import kind_of
from headlight.formatting import percent, plural
from transformer.taps import Site
from ui.state.atlases import HeadIndex, known_roles
from ui.state.why_measured import antecedents_measured, why_measured
from ui.why.components import KIND_NAMES
from ui.why.passes import Head


def head_name(site: Site, head: int) -> str:
    """Return a head's name on screen: "Decoder self 2, head 3"."""
    return f"{KIND_NAMES[kind_of(site)]} {site.layer + 1}, head {head + 1}"


def _antecedents(name: str) -> set[HeadIndex]:
    """Return the heads that the Heads page names after antecedents."""
    roles = known_roles(name)
    by_head = {} if roles is None else roles.of
    return {head for head, named in by_head.items() if any("antecedent" in role.name for role in named)}


def named_among_best(name: str, best: Sequence[Head]) -> str:
    """Say which of the best heads are named after antecedents."""
    if not (named := _antecedents(name)):
        return ""
    both = [(site, head) for site, head in best if (kind_of(site), site.layer, head) in named]
    names = ", ".join(head_name(*at) for at in both) or "none"
    return f"The Heads page names {plural(len(named), 'head')} after antecedents; among these: {names}."


def _named_over_pairs(name: str, heads: Mapping[str, int], pairs: int) -> str:
    """Say in how many pairs each head named after antecedents is among the best; `heads` counts "kind layer head"."""
    counts = {head: heads.get(f"{head[0]} {head[1] + 1} {head[2] + 1}", 0) for head in sorted(_antecedents(name))}
    if not counts:
        return ""
    shares = "; ".join(
        f"{KIND_NAMES[kind]} {layer + 1}, head {head + 1}, in {count}" for (kind, layer, head), count in counts.items()
    )
    most = max(counts.values())
    moral = "" if 2 * most >= pairs else " A head that looks at the antecedent need not be the one that decides."
    return f"Those that the Heads page names after antecedents: {shares}.{moral}"


def pairs_of_the_grammar(name: str) -> str | None:
    """Return what the model's files say of pairs of the grammar, measured beforehand; None if they say nothing."""
    facts = (why_measured(name) or {}).get("causes")
    if not isinstance(facts, dict):
        return None
    restored, heads = facts["restored"], facts["heads"]
    most, count = next(iter(heads.items()))
    kind, layer, head = most.split()
    share = f"{percent(restored['mean'], 0)} ± {round(100 * restored['spread'])}"
    return (
        f"Over {facts['pairs']} pairs of sentences of the grammar that the model tells apart by “il” and “elle”, the "
        f"{facts['top']} best heads of each pair together restore {share}. Most often among them: "
        f"{KIND_NAMES[kind]} {layer}, head {head}, in {count} pairs. {_same_three(name)}"
        + _named_over_pairs(name, heads, facts["pairs"])
    )


def _same_three(name: str) -> str:
    """Say how much the same three heads restore in every pair, rather than the best of each."""
    facts = antecedents_measured(name)
    if facts is None:
        return ""
    top, named, drawn = (
        f"{percent(mean, 0)} ± {round(100 * spread)}"
        for mean, spread in (facts[part]["restored"] for part in ("top", "named", "random"))
    )
    heads = ", ".join(f"{KIND_NAMES[kind]} {layer + 1}.{head + 1}" for kind, layer, head in facts["top"]["heads"])
    return (
        f"The same three in each of {facts['pairs']} other pairs ({heads}) restore {top}; three drawn at random "
        f"{drawn}, and what is named after antecedents alone {named}. "
    )
