"""The data of a run that is about to be started: chosen, uploaded or named, and a preview of it."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from headlight.charts.lengths import lengths
from headlight.corpora.about import LANGUAGES as NAMES
from headlight.corpora.about import about
from headlight.corpora.corpora import SPEC_FORMS, GoldCorpus, modified_at, needs_network, open_parts
from headlight.corpora.files import language_pairs, tatoeba_folder
from headlight.corpora.generated import TOY
from headlight.corpora.grammars import GRAMMARS
from headlight.corpora.held_out import MIN_PAIRS
from headlight.corpora.mixtures import MAX_WEIGHT, PART_SEPARATOR
from headlight.corpora.multi30k import LANGUAGES
from headlight.corpora.pairs import FirstRows
from headlight.corpora.preview import PREVIEW_ROWS, Preview, preview
from headlight.formatting import percent, plural
from headlight.glossary import term
from headlight.graphemes import shortened
from transformer.tokenizers import TokenizerKind
from ui.state.cache import cached
from ui.state.public import private_only
from ui.state.view import bound, widget_key
from ui.training.view import TrainingView
from ui.viewer.component import plot
from ui.widgets.controls import choose
from ui.widgets.corpus_upload import upload

DEFAULT_CORPUS = "reverse"  # learned in minutes, so that the first run shows something soon
CHOICES = {
    "reverse": "Letters, reversed",
    "copy": "Letters, copied",
    "dates": "Dates in ISO form",
    TOY: "Five sentences of a tutorial",
    **{name: str(about(name)["title"]) for name in GRAMMARS},
    "multi30k": "Multi30k, image captions",
    "tatoeba": "Tatoeba, everyday sentences",
    "mixture": "Several corpora, mixed",
    "upload": "Upload your own",
    "file": "Files on this machine",
    "hub": "Dataset on the Hugging Face hub",
}
DESCRIPTIONS = {
    "reverse": "Words of 1 to 20 letters, and the same letters in reverse order.",
    "copy": "Words of 1 to 20 letters, and the same letters again.",
    "dates": "Dates as people write them, and the same day as year-month-day.",
    TOY: "“hello world”, “how are you” and three more, with their French: what a network learns by heart in seconds.",
    **dict.fromkeys(GRAMMARS, "200,000 sentences that a grammar generates, with known alignments and antecedents."),
    "multi30k": "29,000 captions of photographs, translated by people.",
    "tatoeba": "Short everyday sentences, translated by volunteers; often in several ways.",
    "mixture": "Each corpus has a weight: how often its pairs stand in an epoch. 2 is twice, 0.5 every second pair.",
    "upload": "A table (.tsv, .csv or .jsonl, also .gz), or two text files whose lines translate each other.",
    "file": "A corpus of any size on this machine; it is read in place.",
    "hub": "Two text columns of a public dataset, read over the network.",
}
HUB_ROWS = 20_000  # the rows that a preview reads over the network, or lets a grammar generate


@dataclass(frozen=True)
class TrainingCorpus:
    """A corpus: `spec` is as `open_corpus` reads it, or None while there is none; `kind` is a key of CHOICES."""

    kind: str
    spec: str | None


def chosen_kind(view: TrainingView) -> str:
    kind = (view.data or DEFAULT_CORPUS).partition(":")[0]
    return kind if kind in CHOICES else DEFAULT_CORPUS


def choose_data(view: TrainingView) -> TrainingCorpus:
    """Draw the choice of the data, with the inputs that the chosen kind needs."""
    kind = chosen_kind(view)
    choose(view, "data", "Data", CHOICES, kind, menu=True, **bound("data", size=None, start=None, reseeds=True))
    st.caption(DESCRIPTIONS[kind])
    if kind == "multi30k":
        return TrainingCorpus(kind, _pair(kind, LANGUAGES, view))
    if kind == "tatoeba":
        return TrainingCorpus(kind, _tatoeba(view))
    if kind == "mixture":
        return TrainingCorpus(kind, _mixture())
    if kind == "upload":
        return TrainingCorpus(kind, upload())
    if kind == "file":
        return TrainingCorpus(kind, _file())
    if kind == "hub":
        return TrainingCorpus(kind, _hub())
    return TrainingCorpus(kind, kind)


def _tatoeba(view: TrainingView) -> str | None:
    """Draw the choice of two languages with sentences in Tatoeba's folder; return their corpus."""
    pairs = language_pairs(tatoeba_folder())
    if not pairs:
        st.info(
            "No table such as en-fr.train.tsv.gz was found. Tatoeba's sentences can be downloaded from "
            "manythings.org/anki; HEADLIGHT_TATOEBA names their folder.",
            icon=":material/info:",
        )
        return None
    return _pair("tatoeba", sorted({language for pair in pairs for language in pair}), view)


def _mixture() -> str | None:
    """Draw a table with a corpus per row, and its weight."""
    columns = {
        "Corpus": st.column_config.TextColumn(required=True, width=155, help=f"One of: {SPEC_FORMS}"),
        "Weight": st.column_config.NumberColumn(required=True, min_value=0.01, max_value=MAX_WEIGHT, width=60),
    }
    rows: list[dict[str, Any]] = st.data_editor(
        [{"Corpus": "tatoeba:en-fr", "Weight": 1.0}, {"Corpus": "multi30k:en-fr", "Weight": 2.0}],
        column_config=columns,
        num_rows="dynamic",
        key="training-mixture",
    )
    parts = [f"{row['Corpus'].strip()}*{row['Weight']:g}" for row in rows if row.get("Corpus") and row.get("Weight")]
    return PART_SEPARATOR.join(part.removesuffix("*1") for part in parts) or None


def _pair(kind: str, languages: Sequence[str], view: TrainingView) -> str:
    pair = (view.data or "").partition(":")[2]
    source, target = pair.split("-") if pair.count("-") == 1 else ("en", "fr")
    if source not in languages or target not in languages:
        source, target = ("en", "fr") if {"en", "fr"} <= {*languages} else languages[:2]
    names = {code: {"cs": "Czech", **NAMES}.get(code, code) for code in languages}
    keys = widget_key("from"), widget_key("to")

    def data(_: str) -> str:
        return f"{kind}:{st.session_state[keys[0]]}-{st.session_state[keys[1]]}"

    with st.grid(2, min_column_width=110, gap="small"):
        choose(view, "data", "From", names, source, menu=True, **bound("data", "from", convert=data))
        choose(view, "data", "To", names, target, menu=True, **bound("data", "to", convert=data))
    return f"{kind}:{source}-{target}"


# ---- files and datasets by name ------------------------------------------------------------------------------------


def _file() -> str | None:
    private_only()
    spec = st.text_input(
        "File or files",
        placeholder="/data/pairs.tsv:en:hi, or /data/train.en,/data/train.hi",
        key="training-file",
        help="A table with the names (or, from 0, the numbers) of its two columns, or two text files separated "
        "by a comma.",
    )
    return spec.strip() or None if spec else None


def _hub() -> str | None:
    private_only()
    name = (st.text_input("Name", placeholder="cfilt/iitb-english-hindi", key="hub-name") or "").strip()
    grid = st.grid(3, min_column_width=110, gap="small")
    source = (grid.text_input("Source column", placeholder="en", key="hub-source") or "").strip()
    target = (grid.text_input("Target column", placeholder="hi", key="hub-target") or "").strip()
    config = (grid.text_input("Configuration", placeholder="if it has any", key="hub-config") or "").strip()
    if not (name and source and target):
        return None
    if any(":" in part for part in (name, source, target, config)):
        st.warning("The name and the columns of a dataset cannot contain a colon here.", icon=":material/error:")
        return None
    return ":".join(["hub", name, source, target, *([config] if config else [])])


# ---- what they look like -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PreviewRequest:
    """A corpus and the settings with which it is read and cut."""

    spec: str
    folder: str | None
    max_characters: int
    tokenizer: TokenizerKind
    vocabulary: int
    separate: bool
    min_frequency: int


def previewed(request: PreviewRequest) -> Preview:
    return _preview(request, modified_at(request.spec))


@cached(12, "Reading the corpus", turn=False)
def _preview(request: PreviewRequest, modified_at: tuple[int, ...]) -> Preview:
    corpus = open_parts(request.spec, request.folder, request.max_characters)[0]
    is_large_grammar = isinstance(corpus, GoldCorpus) and corpus.size > HUB_ROWS  # a grammar generates slowly
    part = FirstRows(corpus, HUB_ROWS) if is_large_grammar or needs_network(request.spec) else corpus
    read = preview(part, request.tokenizer, request.vocabulary, request.separate, request.min_frequency)
    return replace(read, in_all=corpus.size) if isinstance(corpus, GoldCorpus) else read


def show(preview: Preview, max_length: int, spec: str) -> None:
    """Draw some pairs, how many there are, their lengths, how much the vocabulary covers, and what is left out."""
    theme = st.context.theme.type or "light"
    rows = "".join(
        f'<div><div dir="auto">{html.escape(shortened(pair.source, 200))}</div>'
        f'<div dir="auto" class="faint">{html.escape(shortened(pair.target, 200))}</div></div>'
        for pair in preview.pairs[:3]
    )
    st.html(f'<div class="pairs">{rows}</div>')
    report, part = preview.report, not preview.complete or needs_network(spec)
    rejected = report.rejected.total()
    if preview.in_all and preview.in_all > report.accepted:
        many = f"The first {report.accepted:,} of {plural(preview.in_all, 'pair')}"
    else:
        first = "The first " if part and report.read in (PREVIEW_ROWS, HUB_ROWS) else ""
        many = f"{first}{plural(report.accepted, 'pair')}"
    mean_lengths = [sum(side.lengths) / len(side.lengths) for side in (preview.source, preview.target)]
    too_long = sum(max(pair) > max_length for pair in zip(preview.source.lengths, preview.target.lengths, strict=True))
    too_long_share = percent(too_long / len(preview.source.lengths), 1)
    lost = f"; {too_long_share} of them are longer than {max_length} tokens and left out" if too_long else ""
    out = "none rejected" if not rejected else f"{rejected:,} rejected"
    st.caption(f"{many}, {mean_lengths[0]:.1f} and {mean_lengths[1]:.1f} tokens on average, {out}{lost}.")
    plot(lengths(preview.source.lengths, preview.target.lengths, theme=theme), key="lengths")
    sides = {preview.source.vocabulary, preview.target.vocabulary}
    sizes = " and ".join(f"{size:,}" for size in sorted(sides))
    other = "pairs that it was not learned from" if preview.report.accepted >= MIN_PAIRS else "these pairs"
    st.caption(
        f"{term('vocabulary', 'Vocabulary')}: {sizes} tokens. In {other}, it covers "
        f"{_share(preview.source.covered)} of the source tokens and {_share(preview.target.covered)} of the target "
        "tokens."
    )
    if rejected:
        with st.expander(f"{plural(rejected, 'line')} left out"):
            counts = ", ".join(f"{count:,} {reason}" for reason, count in report.rejected.most_common())
            st.caption(f"{counts}." + (f" The first {len(report.first)}:" if rejected > len(report.first) else ""))
            st.dataframe(
                {"Line": [row.line for row in report.first], "Reason": [row.reason for row in report.first]},
                hide_index=True,
                height="auto",
            )


def _share(value: float) -> str:
    return percent(value, 1) if value < 1 else "all"
