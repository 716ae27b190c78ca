"""The measures of every head as a printed table and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headlight.analysis.atlas import EDITION, Atlas
from headlight.analysis.atlas.reading import RULES
from headlight.analysis.atlas.roles import ROLE_RULE, roles, since
from headlight.analysis.measures import MEASURES
from headlight.formatting import percent
from transformer.trace import KINDS, Kind

COLUMN_CHARACTERS = 16
History = list[tuple[int, Atlas]]  # the steps of snapshots, each with its atlas


def places(atlas: Atlas) -> Iterator[tuple[Kind, int, int]]:
    """Yield every head: its kind, and layer and head from 0."""
    for kind in KINDS:
        n_layers, n_heads = atlas.heads[kind]["entropy"].mean.shape
        yield from ((kind, layer, head) for layer in range(n_layers) for head in range(n_heads))


# ---- what is printed -----------------------------------------------------------------------------------------------


def summary(atlas: Atlas, by: str) -> Iterator[str]:
    yield f"{atlas.pairs:,} pairs, loss {atlas.loss.mean[0, 0]:.4f} nats a token"
    if atlas.left.long:
        yield f"{atlas.left.long:,} pairs left out: empty, or longer than the model can read"
    if atlas.left.unmatched:
        yield (
            f"{atlas.left.unmatched:,} pairs without gold alignment: the tokenisation does not match the aligned words"
        )
    if by != "gold":
        yield f"no gold alignment: misalignment is measured against {by}" if by else "no gold alignment"
    if atlas.sampled:
        mean, spread = atlas.agreement.mean[0, 0], atlas.agreement.deviation[0, 0]
        yield (
            f"importance, agreement and shuffled sentences on the first {atlas.sampled} of them; "
            f"rank correlation of attention with removing words {mean:.2f} ± {spread:.2f}"
        )
    for kind in KINDS:
        chance = atlas.chance[kind]
        if guessed := [f"{rule} {percent(chance[rule])}" for rule in RULES if rule in chance]:
            yield f"antecedents of {kind} heads, as simple rules guess them: {', '.join(guessed)}"
    yield f"mean ± standard deviation over sentences. {ROLE_RULE}"


def table(atlas: Atlas, history: History) -> Iterator[str]:
    names = [name for name in MEASURES if any(name in of for of in atlas.heads.values())]
    yield "head".ljust(14) + "".join(name.rjust(COLUMN_CHARACTERS) for name in names) + "  role"
    for kind, layer, head in places(atlas):
        cells = []
        for name in names:
            spread = atlas.heads[kind].get(name)
            is_measured = spread is not None and spread.sentences[layer, head]
            digits = MEASURES[name].digits
            cell = "-"
            if spread and is_measured:
                cell = f"{spread.mean[layer, head]:z.{digits}f} ±{spread.deviation[layer, head]:.{digits}f}"
            cells.append(cell.rjust(COLUMN_CHARACTERS))
        summary = "; ".join(_with_since(atlas, history, kind, layer, head))
        yield f"{kind} {layer + 1}.{head + 1}".ljust(14) + "".join(cells) + f"  {summary}".rstrip()


def _with_since(atlas: Atlas, history: History, kind: Kind, layer: int, head: int) -> Iterator[str]:
    steps = [step for step, _ in history]
    names = [{role.name for role in roles(then, kind, layer, head)} for _, then in history]
    for role in roles(atlas, kind, layer, head):
        first = since(steps, names, role.name)
        yield f"{role}" + (f"; since step {first:,}" if first is not None else "")


# ---- what is written -----------------------------------------------------------------------------------------------


def facts(
    checkpoint: str, model: str, selection: tuple[str | None, str | None, int | None], measured: str, by: str
) -> dict[str, Any]:
    """Return what was measured: the model's digest, the corpus, its split, the number of pairs, and the date."""
    corpus, split, pairs = selection
    return {
        "checkpoint": checkpoint,
        "model": model,
        "edition": EDITION,
        "measured": measured,
        "corpus": corpus,
        "split": split,
        "asked": pairs,
        "alignment": by or None,
    }


def numbers(atlas: Atlas, history: History) -> dict[str, Any]:
    """Return every measured number with the names of the heads, also at each snapshot."""
    named = [
        {
            "kind": kind,
            "layer": layer + 1,
            "head": head + 1,
            "roles": list(_with_since(atlas, history, kind, layer, head)),
        }
        for kind, layer, head in places(atlas)
    ]
    return {
        **atlas.to_dict(),
        "roles": [head for head in named if head["roles"]],
        "history": [{"step": step, **then.to_dict(), "examples": {}} for step, then in history],
    }
