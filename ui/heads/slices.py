"""Translations in slices: where the model is good and where not, its worst sentences, and a second model beside it."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from headlight.checkpoints import read_words
from headlight.corpora.corpora import open_split
from headlight.corpora.files import JsonLines, TableCorpus, columns
from headlight.corpora.pairs import Corpus, FirstRows
from headlight.corpora.preview import PREVIEW_ROWS
from headlight.formatting import plural
from headlight.graphemes import shortened
from headlight.slices import KINDS, SlicedEvaluation, SlicedSentence, SliceScores
from headlight.slices.evaluating import read_sentences, score_kinds, translate
from headlight.slices.kinds import COLUMN_PREFIX, kind_title
from headlight.slices.scores import MIN_INTERVAL_SENTENCES, RESAMPLES
from transformer import Translator
from transformer.decoding.strategies import LENGTH_PENALTY
from ui.heads.measurements import MeasurementRequest, find_cached, keep
from ui.heads.view import HeadsView
from ui.heads.waiting import mark_in_use, result_of
from ui.state import atlases, models
from ui.state.atlases import EXAMPLES
from ui.state.jobs import JOBS, Progress
from ui.state.queue import TURNS
from ui.state.view import bound, set_view, update, write_address
from ui.widgets.pages import PAGES, switch_page
from ui.widgets.text import literal

ABOUT_SENTENCES = (
    "The button has the chrF of the sentence by itself, from 0 to 100. Below the sentence is what the model writes; in "
    "grey, the translation that it is compared with."
)
EDITION = 1  # of the slices in cached results; it rises when a definition changes
BEAM_SIZE = 5  # as on Attention, so that it shows the translation that was scored
LISTED_SENTENCES = 10
MAX_ROWS = 14  # of the table that does not scroll
MAX_COLUMNS = 100  # of a file, among which one can be chosen
MAX_TEXT_COLUMNS = 160  # columns of a sentence, as wide as a Latin letter
HELP = (
    "The sentences of the corpus by length, rare words, names, negation and pronouns. BLEU and chrF are sacreBLEU's, "
    f"and ± is half of its 95\u00a0% interval of {RESAMPLES:,} resamples. How each slice is defined is in the "
    "documentation of the command `evaluate`."
)


@dataclass(frozen=True)
class SliceRequest:
    """A request for slices: which sentences of which model, a second model with its version, a column of the file."""

    of: MeasurementRequest
    against: tuple[str, tuple[int, ...]] | None
    column: str | None


@st.fragment
def slices(name: str, model: Translator, request: MeasurementRequest) -> None:
    """Draw the section. Translating takes minutes, so it begins only at a click or with a link that asks for it."""
    view: HeadsView = st.session_state["view"]
    st.subheader("Translations in slices", anchor="translations-in-slices", help=HELP)
    if request.chosen.spec == EXAMPLES:
        st.caption("The model's own examples have no other translations to compare with. Choose another corpus.")
        return
    if not view.slices:
        st.caption("Which sentences does the model translate badly? By length, rare words, names, negation, pronouns.")
        st.button(
            "Translate and score", icon=":material/call_split:", key="slices-begin", on_click=update,
            kwargs={"slices": True},
        )  # fmt: skip
        return
    write_address()
    row = st.container(horizontal=True, gap="small", vertical_alignment="bottom")
    with row:
        slice_request = SliceRequest(request, _against(name, model, view), _column(request))
    measure, find = partial(measure_slices, slice_request), partial(find_slices, slice_request)
    job = JOBS.get("slices", slice_request, measure, find, request.chosen.is_private)
    if request.chosen.is_private:
        mark_in_use({"slices": slice_request})

    def cancel_button() -> None:
        row.button("Cancel", icon=":material/close:", key="slices-cancel", on_click=_cancel, args=(slice_request,))

    evaluation: SlicedEvaluation | None = result_of(job, "slices", slice_request, cancel_button)
    if evaluation is None:
        return
    names = [name] if slice_request.against is None else [name, slice_request.against[0]]
    with row:
        st.download_button(
            "JSON", partial(_json, evaluation, names, request), f"{name.replace('/', '-')}-slices.json",
            "application/json", icon=":material/download:", key="slices-json",
        )  # fmt: skip
    _draw(evaluation, names)


def _cancel(slice_request: SliceRequest) -> None:
    JOBS.drop("slices", slice_request)
    update(slices=False)


def _json(evaluation: SlicedEvaluation, names: Sequence[str], request: MeasurementRequest) -> str:
    facts = {"models": list(names), "corpus": request.chosen.spec, "pairs": request.pairs, **evaluation.to_dict()}
    return json.dumps(facts, ensure_ascii=False) + "\n"


# ---- the request ---------------------------------------------------------------------------------------------------


def _against(name: str, model: Translator, view: HeadsView) -> tuple[str, tuple[int, ...]] | None:
    """Draw the choice of a second model between the same languages; return it with its version."""
    candidates = rivals(name, model)
    chosen = view.against if view.against in candidates else None
    if not candidates:
        return None
    st.selectbox(
        "Compare with",
        candidates,
        index=None if chosen is None else candidates.index(chosen),
        placeholder="No other model",
        width=260,
        **bound("against"),
        help="Another model between the same languages, on the same sentences.",
    )
    return None if chosen is None else (chosen, models.version(chosen))


def rivals(name: str, model: Translator) -> list[str]:
    """Return the other models that translate between the same languages."""
    languages = model.card.get("source"), model.card.get("target")
    cards = ((other, models.model_card(models.model_folder(other))) for other in models.model_names() if other != name)
    return [other for other, card in cards if (card.get("source"), card.get("target")) == languages]


def _column(request: MeasurementRequest) -> str | None:
    """Draw the choice of a column of the file, if it has others than source and target; return its name."""
    names = other_columns(open_split(request.spec)) if request.chosen.is_private else []
    if not names:
        return None
    picked = st.selectbox(
        "Column of the file", names, index=None, placeholder="None", width=200, key="slices-column",
        help="Its most frequent values are slices, too.",
    )  # fmt: skip
    return None if picked is None else str(picked)


def other_columns(corpus: Corpus) -> list[str]:
    """Return the names of the columns of a file that are neither its source nor its target, where they have names."""
    if not isinstance(corpus, TableCorpus | JsonLines) or not (
        isinstance(corpus.source, str) and isinstance(corpus.target, str)
    ):
        return []
    try:
        names = columns(corpus.path)
    except ValueError:  # what is wrong with the file is said elsewhere
        return []
    return [name for name in dict.fromkeys(names) if name and name not in (corpus.source, corpus.target)][:MAX_COLUMNS]


def measure_slices(slice_request: SliceRequest, progress: Progress) -> SlicedEvaluation:
    """Translate the sentences and score their slices."""
    progress(0.0, "Opening the corpus")
    request = slice_request.of
    model = models.translator(request.name)
    compared = [model] if slice_request.against is None else [model, models.translator(slice_request.against[0])]
    corpus = open_split(request.spec)
    if request.chosen.is_private:
        corpus = FirstRows(corpus, PREVIEW_ROWS)
    kinds = [*KINDS, *([] if slice_request.column is None else [COLUMN_PREFIX + slice_request.column])]
    evaluator, values = read_sentences(compared, corpus, kinds, request.pairs)
    with TURNS.turn():  # only for translating: scoring needs no model
        translations = translate(compared, evaluator, BEAM_SIZE, LENGTH_PENALTY, progress)
    read = read_words(models.model_folder(request.name))
    evaluation = score_kinds(model, evaluator, translations, kinds, values, read, progress)
    keep(_cache_kind(slice_request), request, evaluation.to_dict())
    return evaluation


def find_slices(slice_request: SliceRequest) -> SlicedEvaluation | None:
    """Return what `measure_slices` computed before."""
    return find_cached(_cache_kind(slice_request), slice_request.of, SlicedEvaluation.from_dict)


def _cache_kind(slice_request: SliceRequest) -> str:
    """Return the kind of measurement in the cache, which includes the digest of a second model."""
    if slice_request.against is None:
        return f"slices{EDITION}"
    return f"slices{EDITION}-{atlases.digest_of(slice_request.against[0])[: atlases.DIGEST_CHARACTERS]}"


# ---- the results ---------------------------------------------------------------------------------------------------


def _draw(evaluation: SlicedEvaluation, names: Sequence[str]) -> None:
    two = len(names) == 2
    if two:
        st.caption(f"1: {literal(names[0])} · 2: {literal(names[1])}")
    key = f"slices-table-{len(evaluation.slices)}-{'-'.join(names)}"
    state = st.dataframe(
        _rows(evaluation),
        key=key,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        placeholder="",
        alt="Every slice with its number of sentences, BLEU and chrF, and half of the 95\u00a0% interval of each.",
        column_config=_columns(two),
        height="content" if len(evaluation.slices) <= MAX_ROWS else 460,
    )
    st.caption(" ".join(_notes(evaluation, two)))
    picked = [row for row in state.selection.rows if row < len(evaluation.slices)]
    scores = evaluation.slices[picked[0] if picked else 0]
    _sentences(evaluation, scores, names)


def _rows(evaluation: SlicedEvaluation) -> dict[str, list[Any]]:
    slices = evaluation.slices
    table: dict[str, list[Any]] = {
        "Kind": [_short_title(scores) for scores in slices],
        "Slice": [scores.slice.name for scores in slices],
        "Sentences": [scores.sentences for scores in slices],
    }
    for metric, estimates, p_values in (
        ("BLEU", [scores.bleu for scores in slices], [scores.p_bleu for scores in slices]),
        ("chrF", [scores.chrf for scores in slices], [scores.p_chrf for scores in slices]),
    ):
        for number in range(len(estimates[0])):
            label = metric if len(estimates[0]) == 1 else f"{metric} {number + 1}"
            table[label] = [of_models[number].score for of_models in estimates]
            table[f"± {label}"] = [of_models[number].half_width for of_models in estimates]
        if len(estimates[0]) == 2:
            table[f"p {metric}"] = p_values
    return table


def _short_title(scores: SliceScores) -> str:
    kind = scores.slice.kind
    titles = {"all": "All", "length": "Length", "rare": "Rare words", "pronouns": "Pronouns"}
    return titles.get(kind) or kind_title(kind)


def _columns(two: bool) -> dict[str, Any]:
    score = st.column_config.NumberColumn(width=60, format="%.1f")
    half = f"Half of the 95\u00a0% interval of {RESAMPLES:,} resamples."
    config: dict[str, Any] = {
        "Kind": st.column_config.TextColumn(width=88),
        "Slice": st.column_config.TextColumn(width=174 if two else 220),
        "Sentences": st.column_config.NumberColumn(width=76, format="localized"),
    }
    for metric in ("BLEU", "chrF"):
        for label in (metric, f"{metric} 1", f"{metric} 2"):
            config[label] = score
            config[f"± {label}"] = st.column_config.NumberColumn("±", width=46, format="%.1f", help=half)
        help = "How probable so large a difference is by chance: sacreBLEU's paired bootstrap."
        config[f"p {metric}"] = st.column_config.NumberColumn("p", width=56, format="%.3f", help=help)
    return config


def _notes(evaluation: SlicedEvaluation, two: bool) -> list[str]:
    """Say what is missing and why, and what to be careful about."""
    notes = ["Select a slice to see its sentences below."]
    if any(scores.is_small for scores in evaluation.slices):
        notes.append(f"Slices of fewer than {MIN_INTERVAL_SENTENCES} sentences are too small for an interval.")
    if evaluation.too_long:
        pairs = plural(evaluation.too_long, "pair is", "pairs are")
        notes.append(f"{pairs} longer than {'a' if two else 'the'} model reads.")
    notes += [f"{kind_title(kind)}: left out, since {literal(reason)}." for kind, reason in evaluation.left_out.items()]
    if two:
        notes.append("There is no p-value where the scores are equal or the slice is small.")
        notes.append("Of 20 slices without a real difference, about one has p < 0.05.")
    return notes


def _sentences(evaluation: SlicedEvaluation, scores: SliceScores, names: Sequence[str]) -> None:
    """Draw the sentences of a slice with the lowest chrF; of two models, those where they differ most."""
    two = len(names) == 2
    find = evaluation.differing if two else evaluation.worst
    sentences = find(LISTED_SENTENCES, scores.slice)
    what = "Where the models differ most" if two else "The lowest chrF"
    st.markdown(f"**{what}: {literal(scores.slice.name)}**", help=ABOUT_SENTENCES)
    if not sentences:
        same = "Both models have the same chrF in every sentence." if two else "Every translation is as it should be."
        st.caption(same)
    for row, sentence in enumerate(sentences):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            for number, (name, chrf) in enumerate(zip(names, sentence.chrf, strict=True), 1):
                if st.button(
                    f"{number}: {chrf:.0f}" if two else f"{chrf:.0f}",
                    icon=":material/grid_view:",
                    width=96,
                    key=f"slices-open-{row}-{number}",
                    help=f"chrF of {literal(name)}. Opens the sentence on the Attention page.",
                ):
                    # With its own translation, of the page's model or of the other.
                    set_view(text=sentence.source, target=None, **({} if number == 1 else {"model": name}))
                    switch_page(PAGES[0].script, "Choose Attention in the menu.")
            st.html(_sentence_html(sentence))


def _sentence_html(sentence: SlicedSentence) -> str:
    def line(text: str, classes: str = "") -> str:
        return f'<div dir="auto" class="{classes}">{html.escape(shortened(text, MAX_TEXT_COLUMNS))}</div>'

    several = len(sentence.translations) > 1
    numbered = (f"{number}: {text}" if several else text for number, text in enumerate(sentence.translations, 1))
    translations = "".join(map(line, numbered))
    reference = line(sentence.references[0], "faint")
    return f'<div class="translated-sentence"><b>{line(sentence.source)}</b>{translations}{reference}</div>'
