"""The sentence, and its translation underlined by the probability of each token."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from headlight.analysis import text_diff
from headlight.formatting import signed
from headlight.glossary import explained, term
from headlight.graphemes import right_to_left, sentence_dir, token_dir
from headlight.importers.examples import examples
from headlight.language import gettext, ngettext, translatable
from transformer import Trace, Translator
from transformer.byte_pieces import SPACE, ends_with_byte, starts_with_byte
from transformer.trace import Tokens
from ui.state.view import PageView, bound, set_view, widget_key
from ui.widgets.sentence_box import sentence_box
from ui.widgets.table import bar
from ui.widgets.text import literal

TRANSLATION = translatable("Translation")
MARK = translatable("{mark} marks a space: a token without it continues the previous token.")


def source_input(model: Translator, view: PageView) -> str:
    """Draw the box in which a sentence is typed, and the examples next to it; return what is to be translated.

    If nothing was typed, this is the first of all examples, the same on every page.
    """
    card, every = model.card, examples(model.card)
    offered = {example.text: example.why for example in examples(card, view.PAGE)}
    text = view.text if view.text is not None else every[0].text if every else ""
    source = card.get("source")
    label = gettext("{language} sentence", language=gettext(str(source))) if source else gettext("Source sentence")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        sentence_box(label, text, "text")
        if offered:
            key = widget_key("example")
            name, texts = gettext("Examples"), list(offered)
            st.menu_button(name, texts, key=key, on_click=_take_example, args=(key,), format_func=literal)
    reason = next((example.why for example in every if example.text == text), "")
    if reason and view.unchanged:
        st.caption(f":material/lightbulb: {literal(gettext(reason))}")
    return text


def _take_example(key: str) -> None:
    if (example := st.session_state[key]) is not None:
        set_view(text=example, target=None)


def target_input(model: Translator, view: PageView, model_translation: str) -> None:
    """Draw the switch between the model's translation and a typed one, and the box for the latter."""
    toggle = bound("target", "typed", convert=lambda typed: model_translation if typed else None, reseeds=True)
    st.session_state.setdefault(toggle["key"], view.target is not None)
    st.toggle(
        gettext("Type your own"),
        **toggle,
        help=gettext(
            "Force-decodes a translation that you type: what the model would attend to, and how probable each token "
            "would be, if it wrote this."
        ),
    )


def two_sides(model: Translator, view: PageView) -> tuple[str, DeltaGenerator, DeltaGenerator]:
    """Draw the sentence's box, and next to it a container for `translation`.

    Returns the text to be translated, the container below its box, and the container for `translation`.
    """
    source, target = st.container(key="two-sides").columns([5, 6], gap="medium")
    with source:
        text = source_input(model, view)
        below = st.container()
    with target:
        container = st.container()
    if view.target is not None:  # before the model reads it, so that a translation that cannot be read can be changed
        with container:
            _written_by(model, view, "")
            sentence_box(gettext("Your translation"), view.target, "target", label_visibility="collapsed")
    return text, below, container


def translation(
    container: DeltaGenerator, model: Translator, view: PageView, trace: Trace, model_translation: str, note: str = ""
) -> None:
    """Draw the shown translation; `model_translation` is the model's own; `note` follows the log-probability."""
    with container:
        if view.target is None:
            _written_by(model, view, model_translation)
        token_strip(trace, model, note)
        token_notes(trace.source, *trace.writes.labels)


def _written_by(model: Translator, view: PageView, model_translation: str) -> None:
    with st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", key="written-by"
    ):
        text = translatable("{language}, written by the model; bars show token probabilities")
        if view.target is not None:
            text = translatable("{language}, written by you; bars show token probabilities")
        side = gettext(str(model.card.get("target", TRANSLATION)))
        st.caption(explained(gettext(text, language=side), "token"))
        target_input(model, view, model_translation)


def token_strip(trace: Trace, model: Translator, note: str = "") -> None:
    """Draw what was written, each token over a bar as long as its probability."""
    parts, leftwards = [], right_to_left(trace.writes.labels)
    for label, special, log_prob in zip(
        trace.writes.labels, trace.writes.special, trace.log_probs.tolist(), strict=True
    ):
        kind, direction = "special" if special else "", token_dir(label, leftwards)
        parts.append(token_bar(_marked(label), math.exp(log_prob), direction, kind=kind))
    spoken = html.escape(
        gettext(
            "{language}: {translation}. Sequence log-probability {number} nats.",
            language=gettext(str(model.card.get("target", "translation"))),
            translation=trace.translation,
            number=signed(trace.log_prob),
        )
    )
    score = gettext("{number} nats", number=signed(trace.log_prob))
    st.html(
        f'<div class="translation tokens" role="group" aria-label="{spoken}" dir="{sentence_dir(trace.writes.labels)}">'
        f'{"".join(parts)}<span class="score" dir="ltr">{term("sequence log-probability", as_html=True)} '
        f"{score}{html.escape(note and f' · {note}')}</span></div>"
    )
    if not trace.finished:
        text = gettext("The model reached its length limit before it ended the sentence.")
        st.caption(f":material/info: {text}")


def token_bar(
    label: str, probability: float, direction: str, more: Sequence[str] = (), below: str = "", kind: str = ""
) -> str:
    """Return a token over a bar as long as its probability; `label` and `below` are HTML, `more` is for the tooltip."""
    title = html.escape("; ".join([gettext("probability {number}", number=signed(probability)), *more]))
    track = f'<span class="track">{bar(probability, "var(--theme-accent)")}</span>'
    return f'<span class="{kind}" title="{title}" dir="{direction}">{label}{track}{below}</span>'


def _marked(label: str) -> str:
    """Return a label as HTML, its word-start mark faint: it has no probability of its own."""
    return html.escape(label).replace(SPACE, f"<i>{SPACE}</i>")


def token_notes(source: Tokens, *target_labels: str) -> None:
    """Explain unusual tokens on a page: the word-start mark, and what the model doesn't know.

    `target_labels` are the labels of the other tokens that the page draws.
    """
    if any(SPACE in label for label in (*source.labels, *target_labels)):
        st.caption(f":material/space_bar: {gettext(MARK, mark=SPACE)}")
    if any(starts_with_byte(piece) or ends_with_byte(piece) for piece in source.pieces):
        text = gettext(
            "A character of the sentence is not in the model's vocabulary; it reads the character's bytes, such as "
            "{example}. Joined into words, they are shown as the character.",
            example=r"\<0xE7>",
        )
        st.caption(f":material/info: {explained(text, 'vocabulary')}")
    unknown = [piece for piece in source.pieces if piece in ("[UNK]", "<unk>")]
    if unknown:
        text = ngettext(
            "{count} piece of the sentence is not in the model's vocabulary; it reads {token} there.",
            "{count} pieces of the sentence are not in the model's vocabulary; it reads {token} there.",
            len(unknown),
            token=unknown[0].replace("<", r"\<"),  # which Markdown would take for a tag
        )
        st.caption(f":material/info: {explained(text, 'vocabulary')}")


def difference(before: str, after: str) -> None:
    """Draw two translations as one text: words that went are struck through, words that came are underlined."""
    tags = {"equal": "span", "delete": "del", "insert": "ins"}
    parts = (f"<{tags[op]}>{html.escape(text)}</{tags[op]}>" for op, text in text_diff(before, after))
    st.html(f'<div class="difference" dir="auto">{"".join(parts)}</div>')
