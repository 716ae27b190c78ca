"""The sidebar of every page: the model, its facts, and a link to the view."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from headlight.formatting import in_millions, percent, translation_score
from headlight.glossary import explained
from headlight.language import gettext, ngettext, translatable
from transformer import Translator
from transformer.model import count_parameters
from ui.state.models import translator
from ui.state.view import PageView, bound
from ui.widgets.buttons import copy_link
from ui.widgets.errors import plain_errors
from ui.widgets.look_here import look_here

NO_CARD = translatable("A model without a card")
ASSETS = Path(__file__).parents[1] / "assets"


def sidebar(view: PageView, names: Sequence[str]) -> None:
    """Draw the logo, the choice of a model among `names` with its facts, if there are any, and the link."""
    theme = st.context.theme.type or "light"
    st.logo(ASSETS / f"headlight-{theme}.svg", size="large")
    look_here()
    with st.sidebar:
        if names:
            chosen = view.model if view.model and view.model in names else names[0]
            # Another model reads another language, so only the way of looking stays.
            binding = bound("model", text=None, target=None, reseeds=True)
            st.selectbox(gettext("Model"), names, index=names.index(chosen), **binding)
            with plain_errors():
                title, *numbers = facts(translator(chosen))
                st.caption("  \n".join([title, explained("  \n".join(numbers), "layer", "parameter", "BLEU")]))
        if view.shareable:
            copy_link()


def facts(model: Translator) -> list[str]:
    """Describe a model in three lines, or four where it was scored."""
    config, card = model.model.config, model.card
    encoder, decoder = config.encoder, config.decoder
    heads = f"{encoder.n_heads}" if encoder.n_heads == decoder.n_heads else f"{encoder.n_heads} + {decoder.n_heads}"
    if pruned := len(config.pruned_heads):
        heads = gettext("{number} of {all}", number=config.all_heads - pruned, all=config.all_heads)
    lines = [
        gettext(str(card.get("title", NO_CARD))),
        gettext(
            "{layers} layers, {heads} heads, d_model {d_model}",
            layers=f"{encoder.n_layers} + {decoder.n_layers}",
            heads=heads,
            d_model=config.d_model,
        ),
        gettext("{number} parameters", number=in_millions(count_parameters(model.model))),
    ]
    scores = card.get("scores", {})
    count = scores.get("sentences")
    if scores.get("exact", 0) > 0.9 or "pronouns" in scores:  # BLEU says little about a grammar
        lines.append(_exactly_right(percent(scores['exact'], 1), count))
    elif "BLEU" in scores:
        lines.append(_bleu(translation_score(scores["BLEU"]), count))
    return lines


def _exactly_right(share: str, count: object) -> str:
    if type(count) is not int:
        return gettext("{share} exactly right", share=share)
    return ngettext(
        "{share} exactly right on {count} sentence", "{share} exactly right on {count} sentences", count, share=share
    )


def _bleu(score: str, count: object) -> str:
    if type(count) is not int:
        return f"BLEU {score}"
    return ngettext("BLEU {score} on {count} sentence", "BLEU {score} on {count} sentences", count, score=score)
