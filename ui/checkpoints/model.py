"""The contents of a model: its origin, parameters, configuration, tokenizer and scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from headlight.folders import COMMAND
from headlight.formatting import brief, file_size, on_sentences, percent, plural, translation_score
from headlight.runs import MIN_SENTENCES
from transformer.checkpoint.native import CONFIG, from_json
from transformer.files import read_json
from ui.checkpoints import keeping, parts, tokens
from ui.checkpoints.configuration import configuration
from ui.checkpoints.exports import export
from ui.checkpoints.listing import PLAIN_ORIGINS, ListedModel, day, score_texts, warnings
from ui.state.models import model_card
from ui.widgets.bleu import how_bleu_counts
from ui.widgets.errors import plain_errors
from ui.widgets.pages import open_in
from ui.widgets.table import facts_html
from ui.widgets.text import literal

MAX_EVERYDAY_CHARACTERS = 600  # characters of a text that are shown
# Elsewhere than among the facts.
_SHOWN_ELSEWHERE = {
    "title", "source", "target", "examples", "scores", "more_scores", "everyday", "typical", "command", "origin",
}  # fmt: skip


def model(entry: ListedModel) -> None:
    """Draw the page's body below the list."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(literal(entry.name), anchor="model", width="stretch")
        if not entry.broken:
            export(entry)
        keeping.menu(entry)
    reason = entry.broken
    if reason is None:
        try:
            problems = warnings(entry.name)
        except ValueError as error:  # what only shows when all of it is read
            reason = str(error)
    if reason is not None:
        st.warning(literal(reason), icon=":material/error:", title="This folder cannot be opened")
        return
    card = model_card(entry.folder)
    st.markdown(f":gray[{literal(summary(entry, card))}]")
    open_in(entry.name)
    with plain_errors():
        config = from_json(read_json(entry.folder / CONFIG))
        _headline(entry, card, configuration(config), problems)
    st.space("small")
    parts.draw_parts(entry)
    st.space("small")
    left, right = st.columns(2, gap="large")
    with left, plain_errors():
        st.markdown("**Configuration**")
        st.html(facts_html("at-ends", configuration(config), "Configuration"))
    with right:
        tokens.draw_tokens(entry)
        st.space("small")
        _scores(card)
        everyday_sentences(card)
        _training_facts(card)


def summary(entry: ListedModel, card: Mapping[str, Any]) -> str:
    """Say what the model does and where it is from, in a sentence."""
    title, origin = str(card.get("title", "")), entry.origin
    clauses = [title] if title and title not in origin else []
    clauses.append(origin[:1].lower() + origin[1:] if clauses and origin in PLAIN_ORIGINS else origin)
    clauses.append(f"saved on {day(entry.changed)}")
    data = str(card.get("data", "")).rstrip(".")
    return ", ".join(clauses) + "." + (f" {data}." if data else "")


def _headline(
    entry: ListedModel, card: Mapping[str, Any], words: list[tuple[str, str]], problems: tuple[str, ...]
) -> None:
    score, score_detail = score_texts(card)
    cards = st.grid(5, min_column_width=130, gap="medium")
    cards.metric("Parameters", f"{entry.parameters:,}")
    name = "BLEU" if score_detail.startswith("BLEU") else "Exactly right" if score_detail else "Score"
    scored = cards.container(gap=None)  # the score and its count in one cell
    scored.metric(name, score or "none", help=f"{score_detail}." if score_detail else "Its card has no scores.")
    count = card["scores"].get("sentences") if score_detail else None
    if type(count) is int:
        caveat = f"; fewer than {MIN_SENTENCES} say little" if count < MIN_SENTENCES else ""
        scored.caption(f"{on_sentences(count)}{caveat}")
    cards.metric("Size on disk", file_size(entry.size))
    cards.metric("Vocabulary", dict(words)["Vocabulary"])
    cards.metric("Health", "Sound" if not problems else plural(len(problems), "warning"))
    for warning in problems:
        st.warning(literal(warning), icon=":material/warning:")


def _scores(card: Mapping[str, Any]) -> None:
    st.markdown("**Scores, and the command that computed them**")
    more = card.get("more_scores")
    entries = [card.get("scores"), *(more if isinstance(more, list) else [])]
    scored = [scores for scores in entries if isinstance(scores, Mapping) and scores]
    if not scored:
        st.caption(f"Not scored yet: `{COMMAND} evaluate FOLDER --data CORPUS`.")
    for scores in scored:
        _scored(scores)
    if any(scores.get("BLEU") for scores in scored):
        how_bleu_counts()


def _scored(scores: Mapping[str, Any]) -> None:
    """Draw the scores on one part of a corpus: shares of a grammar, else BLEU and chrF first."""
    shares = {"exact": "exactly right", "pronouns": "pronouns understood"}
    counts = {"sentences", "pronouns_counted"}
    numbers = {n: v for n, v in scores.items() if isinstance(v, int | float) and n not in (*shares, *counts)}
    of_translations = {"BLEU", "chrF"}
    values = [(n, translation_score(v) if n in of_translations else brief(v)) for n, v in numbers.items()]
    percentages = [
        (label, percent(scores[n], 1)) for n, label in shares.items() if isinstance(scores.get(n), int | float)
    ]
    values = [*percentages, *values] if "pronouns" in scores else [*values, *percentages]
    with st.container(horizontal=True, gap="medium"):
        for name, value in values[:6]:
            st.markdown(f":gray[{literal(str(name))}]  \n**{value}**", width="content")
    if scores.get("command"):
        st.code(str(scores["command"]), language="bash", wrap_lines=True)
    of = [f"{scores[n]:,} {n.removesuffix('_counted')}" for n in sorted(counts) if isinstance(scores.get(n), int)]
    notes = [
        f"On {scores['on']}{': ' + ', '.join(reversed(of)) if of else ''}." if scores.get("on") else "",
        f"sacreBLEU {scores['signature']}." if scores.get("signature") else "",
    ]
    st.caption(literal(" ".join(note for note in notes if note)))


def _training_facts(card: Mapping[str, Any]) -> None:
    """Draw how the model was trained, and whatever else the card says."""
    facts = [(_label(name), _text(value)) for name, value in card.items() if name not in _SHOWN_ELSEWHERE]
    if not facts and not card.get("command"):
        return
    st.space("small")
    st.markdown("**How it was made**")
    if card.get("command"):
        st.code(str(card["command"]), language="bash", wrap_lines=True)
    if facts:
        st.html(facts_html("at-ends", facts, "Card"))


def _label(name: object) -> str:
    text = str(name).replace("_", " ")
    return text[:1].upper() + text[1:]


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_text(inner)}" for name, inner in value.items())[:600]
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))[:600]
    return (f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value))[:600]


def everyday_sentences(card: Mapping[str, Any]) -> None:
    """Draw how many everyday sentences a model translates acceptably, where its card says so, and what failed."""
    everyday = card.get("everyday")
    if not isinstance(everyday, Mapping):
        return
    right, of = everyday.get("accepted"), everyday.get("of")
    if not isinstance(right, int) or not isinstance(of, int):
        return
    st.markdown(f"**{right:,} of {of:,}** everyday sentences translated acceptably")
    if everyday.get("command"):
        st.code(_line(str(everyday["command"])), language="bash", wrap_lines=True)
    if failed := everyday_failures(everyday.get("failed")):
        with st.expander("What failed"):
            rows = (f":gray[{literal(source)}]  \n**{literal(translation) or '–'}**" for source, translation in failed)
            st.markdown("\n\n".join(rows))


def everyday_failures(failed: object) -> list[tuple[str, str]]:
    """Return the sources and what was written for them, each on one line, of a card that anybody may have written."""
    rows = [row for row in failed if isinstance(row, Mapping)] if isinstance(failed, list) else []
    texts = [(row.get("source"), row.get("written")) for row in rows]
    return [(_line(a), _line(b)) for a, b in texts if isinstance(a, str) and isinstance(b, str)]


def _line(text: str) -> str:
    """Return a text as one line: a line break would begin a paragraph of markup."""
    return " ".join(text[:MAX_EVERYDAY_CHARACTERS].split())
