"""Similar places: the tokens of a corpus where a state, a head's output or its row is nearest to that of a token."""

from __future__ import annotations

import html
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from headlight import folders
from headlight.analysis.similar import IndexRefused, SimilarToken, TokenIndex, TokenSite, open_index
from headlight.analysis.similar.index_files import FACTS_FILE
from headlight.analysis.similar.token_vectors import Form
from headlight.formatting import plain_label, signed
from headlight.language import gettext, localized, translatable
from transformer import Trace
from transformer.taps import Intervention, chain
from transformer.trace import Kind
from ui.state import atlases, models
from ui.state.cache import cached
from ui.state.public import public
from ui.state.view import widget_key
from ui.widgets.disclosure import draw_when_open
from ui.widgets.table import Cell, bar, table_html
from ui.widgets.text import literal

MAX_SIMILAR_TOKENS = 20
BAR_SHARE = 0.5  # of a column's width, of the bar of a group that has every token
MAX_GROUPS_IN_LINE = 4  # of a layer in the table of layers
MAX_LAYERS = 12  # of that table: each is a search
FORM_NAMES: dict[Form, str] = {
    "state": translatable("The state of the token"),
    "output": translatable("The output of this head"),
    "row": translatable("Where this head looks"),
}
FORM_CAPTIONS: dict[Form, str] = {
    "state": translatable("The {count} tokens of the corpus whose state is nearest to that of “{token}”."),
    "output": translatable(
        "The {count} tokens of the corpus at which this head's output is nearest to its output at “{token}”."
    ),
    "row": translatable("The {count} tokens of the corpus whose row in this head is most like that of “{token}”."),
}
FORM_REFUSALS = {
    "missing": translatable("This model has no index of a corpus yet. This command makes one:"),
    "stale": translatable(
        "The index of this model was made with other weights, so it is not used. This command makes a new one:"
    ),
    "broken": translatable("The index of this model is damaged, so it is not used. Delete it, and make a new one:"),
}


def similar_tokens(
    name: str,
    trace: Trace,
    kind: Kind,
    head: tuple[int, int] | None,
    cell: tuple[int | None, int | None],
    taps: tuple[Intervention, ...] = (),
) -> None:
    """Draw an expander with the tokens of a corpus that are most similar to a token of the trace.

    The token is that of the held cell (query, key) of a head (layer, head), all from 0, and can be chosen. Without a
    head only states are compared. A model that is broken on purpose has no index.
    """
    if models.unbroken_name(name) != name:
        return

    def draw() -> None:
        try:
            folder = _folder(name)
            changed = (folder / FACTS_FILE).stat().st_mtime_ns if (folder / FACTS_FILE).is_file() else 0
            _draw(name, trace, kind, head, cell, taps, (folder, changed))
        except IndexRefused as error:
            _refused(name, error)

    draw_when_open(gettext("Similar places"), "similar-places", draw)


def _folder(name: str) -> Path:
    """Return the folder of a model's index: the one built here, else the one shipped with its weights."""
    own = models.RUNS / ".similar" / atlases.digest_of(name)[:16]
    return own if (own / FACTS_FILE).is_file() else models.model_folder(name) / "similar"


def _refused(name: str, error: IndexRefused) -> None:
    st.markdown(gettext(FORM_REFUSALS[error.reason]))
    st.code(f"{folders.COMMAND} index {name} --data FILE.tsv", language="shell")
    if error.reason == "broken" and not public():
        st.caption(literal(str(error)))


def _draw(
    name: str,
    trace: Trace,
    kind: Kind,
    head: tuple[int, int] | None,
    cell: tuple[int | None, int | None],
    taps: tuple[Intervention, ...],
    index_file: tuple[Path, int],
) -> None:
    """Draw the controls and the tokens; `index_file` is the index's folder and when it was written."""
    index = _opened(name, models.version(name), index_file)
    controls = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    form: Form = "state"
    if head is not None:
        with controls:
            form = st.selectbox(
                gettext("Compare"),
                list(FORM_NAMES),
                format_func=lambda form: gettext(FORM_NAMES[form]),
                key=widget_key("similar-form"),
                width=240,
            )
    of_source = kind == "encoder" or (kind == "cross" and form == "state")
    tokens = trace.source if of_source else trace.writes
    choices = [at for at in range(len(tokens)) if not tokens.special[at]]
    if not choices:
        st.caption(gettext("This sentence has no tokens but special ones."))
        return
    labels = [plain_label(label) for label in tokens.labels]
    with controls:
        token = st.selectbox(
            gettext("Token"),
            choices,
            choices.index(_token_of_cell(trace, kind, head, cell, form, choices)),
            format_func=lambda at: f"{at + 1} {labels[at]}",
            key=widget_key(f"similar-token-{kind}-{form}-{head}-{cell}-{trace.text}"),
            width=200,
        )
    if head is None or form == "state":
        stack = "encoder" if of_source else "decoder"
        config = models.translator(name).model.config
        layers = (config.encoder if of_source else config.decoder).n_layers
        with controls:
            layer = st.select_slider(
                gettext("Encoder layer") if of_source else gettext("Decoder layer"),
                list(range(layers + 1)),
                layers,
                format_func=lambda layer: str(layer) if layer else gettext("embedding"),
                key=widget_key(f"similar-layer-{stack}"),
                width=260,
            )
        site = TokenSite(stack, layer)  # type: ignore[arg-type]
    else:
        layers, site = 0, TokenSite(kind, head[0], form, head[1])
    key = name, models.version(name), index_file, (tuple(trace.source.ids), tuple(trace.target.ids)), token
    try:
        similar = _similar(*key, site, taps)
    except IndexRefused:
        raise
    except ValueError as error:  # the head is off, or the index is too large to compute what it lacks
        st.caption(literal(str(error)))
        return
    sentences = [gettext(FORM_CAPTIONS[form], count=len(similar), token=labels[token])]
    if of_source:
        sentences.append(gettext("They are grouped by the word that each was translated to."))
    else:
        sentences.append(gettext("They are grouped by the source word that each comes from."))
    st.markdown(literal(" ".join(sentences)))
    st.html(groups_html(similar))
    if form == "state" and layers <= MAX_LAYERS:
        st.markdown(f"**{gettext('Layer by layer')}**")
        by_layer = [_similar(*key, site._replace(layer=at), taps) for at in range(layers + 1)]
        st.html(_layers_html(by_layer, site.layer))
    st.caption(_about(index, bool(taps)))


def _about(index: TokenIndex, changed: bool) -> str:
    text = gettext(
        "The numbers are cosines; at 1 both vectors have the same direction. The corpus is {corpus}, {tokens} tokens. "
        "Its translations were given, not written by the model. Cross-attention says which word belongs to which, and "
        "can be wrong.",
        corpus=literal(index.corpus),
        tokens=localized(f"{index.tokens:,}"),
    )
    return f"{text} {gettext('Heads are changed in your sentence only, not in the corpus.')}" if changed else text


def _token_of_cell(
    trace: Trace,
    kind: Kind,
    head: tuple[int, int] | None,
    cell: tuple[int | None, int | None],
    form: Form,
    choices: Sequence[int],
) -> int:
    """Return the token that a held cell stands for: its key when states are compared, its query otherwise.

    Without a held cell, return the longest token, which is rarely a function word.
    """
    query, key = cell
    of_key = form == "state" and kind != "decoder"
    if head is not None:
        pattern = trace.pattern(kind)[head[0], head[1]]
        if of_key and key is None and query is not None:
            key = query if kind == "encoder" else int(pattern[query].argmax())
        if not of_key and query is None and key is not None:
            query = int(pattern[:, key].argmax())
    chosen = key if of_key else query
    if chosen in choices:
        return int(chosen)  # type: ignore[arg-type]
    labels = (trace.source if kind == "encoder" or of_key else trace.writes).labels
    return max(choices, key=lambda at: len(labels[at]))


@cached(8, translatable("Opening the index"), seconds=3600)
def _opened(name: str, version: tuple[int, ...], index_file: tuple[Path, int]) -> TokenIndex:
    return open_index(index_file[0], models.translator(name), atlases.digest_of(name))


@cached(200, translatable("Searching the corpus"))
def _similar(
    name: str,
    version: tuple[int, ...],
    index_file: tuple[Path, int],
    ids: tuple[tuple[int, ...], tuple[int, ...]],
    token: int,
    site: TokenSite,
    taps: tuple[Intervention, ...],
) -> list[SimilarToken]:
    index = _opened(name, version, index_file)
    return index.nearest(*ids, token, site, MAX_SIMILAR_TOKENS, chain(*taps))


def groups_html(similar: Sequence[SimilarToken]) -> str:
    """Return the tokens in their sentences, grouped by the word on the other side, the largest group first."""
    groups: defaultdict[str, list[SimilarToken]] = defaultdict(list)
    for token in similar:
        groups[token.translated].append(token)
    parts = []
    for word, tokens in sorted(groups.items(), key=lambda group: -len(group[1])):
        count = gettext("{count} of {total}", count=len(tokens), total=len(similar))
        share = bar(BAR_SHARE * len(tokens) / len(similar), "var(--theme-accent)")
        lines = "".join(
            f'<li><span class="cosine">{signed(token.cosine, decimals=2)}</span>'
            f'<span dir="auto">{html.escape(token.marked.before)}<mark>{html.escape(token.marked.word)}</mark>'
            f"{html.escape(token.marked.after)}</span></li>"
            for token in tokens
        )
        title = html.escape(word) if word else html.escape(gettext("no word"))
        parts.append(
            f'<section><h4><span dir="auto">{title}</span>{share}<small>{html.escape(count)}</small></h4>'
            f"<ul>{lines}</ul></section>"
        )
    return f'<div class="similar-places">{"".join(parts)}</div>'


def _layers_html(by_layer: Sequence[Sequence[SimilarToken]], chosen: int) -> str:
    """Return a table of the largest groups at each layer."""
    rows: list[tuple[str | Cell, ...]] = []
    for layer, similar in enumerate(by_layer):
        counted = Counter(token.translated for token in similar).most_common()
        groups = [f"{count} {word or gettext('no word')}" for word, count in counted[:MAX_GROUPS_IN_LINE]]
        remaining = sum(count for _, count in counted[MAX_GROUPS_IN_LINE:])
        groups += [gettext("and {count} more", count=remaining)] * bool(remaining)
        name = str(layer) if layer else gettext("embedding")
        rows.append((Cell(name, "chosen" * (layer == chosen)), " · ".join(groups)))
    return table_html("bars by-layer", rows)
