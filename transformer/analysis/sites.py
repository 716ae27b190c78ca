"""From the model's sites to the kinds of attention that people see, and to the modules that stand there.

Shapes: L layers, H heads, Q queries, K keys.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from transformer.attention import MultiHeadAttention
from transformer.model import Transformer
from transformer.taps import Site
from transformer.trace import KINDS, Kind


def kind_of(site: Site) -> Kind:
    """Site("decoder", 3, "cross") -> "cross"."""
    if site.kind == "cross":
        return "cross"
    return "encoder" if site.stack == "encoder" else "decoder"


def by_kind(by_site: Mapping[Site, np.ndarray]) -> dict[Kind, np.ndarray]:
    """The patterns of every site, [H, Q, K] each, as one array a kind, [L, H, Q, K]."""
    ordered = sorted(by_site)
    return {kind: np.stack([by_site[site] for site in ordered if kind_of(site) == kind]) for kind in KINDS}


def all_heads(model: Transformer) -> list[tuple[Site, int]]:
    """Every head of the network, in the order in which a sentence meets them."""
    config = model.config
    n_heads = {"encoder": config.encoder.n_heads, "decoder": config.decoder.n_heads}
    return [(site, head) for site in model.sites() for head in range(n_heads[site.stack])]


def attention_at(model: Transformer, site: Site) -> MultiHeadAttention:
    """The attention that stands at `site`. Raises ValueError where the model has none."""
    for module in model.modules():
        if isinstance(module, MultiHeadAttention) and module.site == site:
            return module
    raise ValueError(f"The model has no attention at {tuple(site)}; choose one of `model.sites()`.")
