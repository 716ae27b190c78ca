"""Map the model's sites to the kinds of attention that people see, and to their modules.

Shapes: L layers, H heads, Q queries, K keys.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from transformer.attention import MultiHeadAttention
from transformer.config import ModelConfig
from transformer.model import Transformer
from transformer.taps import Site, Tap, require_heads
from transformer.trace import KINDS, Kind


def kind_of(site: Site) -> Kind:
    """Return the kind of a site: Site("decoder", 3, "cross") -> "cross"."""
    if site.kind == "cross":
        return "cross"
    return "encoder" if site.stack == "encoder" else "decoder"


def site_of(kind: str, layer: int) -> Site:
    """Return the site of a kind in a layer, which counts from 0: ("cross", 3) -> Site("decoder", 3, "cross")."""
    stack = "encoder" if kind == "encoder" else "decoder"
    return Site(stack, layer, "cross" if kind == "cross" else "self")


def by_kind(by_site: Mapping[Site, np.ndarray]) -> dict[Kind, np.ndarray]:
    """Return the patterns of every site, [H, Q, K] each, as one array a kind, [L, H, Q, K]."""
    ordered = sorted(by_site)
    return {kind: np.stack([by_site[site] for site in ordered if kind_of(site) == kind]) for kind in KINDS}


def all_heads(model: Transformer) -> list[tuple[Site, int]]:
    """Return every head that the network has left, in the order in which a sentence meets them."""
    return [(site, head) for site in model.sites() for head in model.config.kept_heads(*site)]


def pruned_heads(config: ModelConfig, kind: Kind) -> set[tuple[int, int]]:
    """Return the (layer, head) that were pruned in one kind of attention."""
    return {
        (layer, head) for stack, layer, name, head in config.pruned_heads if kind_of(Site(stack, layer, name)) == kind
    }


def require_intervened_heads(model: Transformer, tap: Tap | None) -> None:
    """Raise ValueError for an intervention on a head that the model lacks."""
    require_heads(tap, {site: model.config.kept_heads(*site) for site in model.sites()})


def require_unpruned(attention: MultiHeadAttention, head: int) -> None:
    """Raise ValueError if the attention module at a site lacks the head."""
    if not 0 <= head < attention.n_heads:
        raise ValueError(f"There is no head {head} here; choose one from 0 to {attention.n_heads - 1}.")
    if head not in attention.remaining:
        remaining = ", ".join(map(str, attention.remaining))
        remedy = f"choose one of {remaining}." if remaining else "so were all others."
        raise ValueError(f"Head {head} was pruned here; {remedy}")


def attention_at(model: Transformer, site: Site) -> MultiHeadAttention:
    """Return the attention module of the network at `site`. Raises ValueError where the model has none."""
    for module in model.modules():
        if isinstance(module, MultiHeadAttention) and module.site == site:
            return module
    raise ValueError(f"The model has no attention at {tuple(site)}; choose one of `model.sites()`.")
