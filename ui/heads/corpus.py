"""Which corpus the heads are measured over."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import streamlit as st

from transformer import Translator
from transformer.analysis.atlas.aligner import truths
from transformer.checkpoints.examples import examples
from transformer.data.about import LANGUAGES, about
from transformer.data.corpora import FORMS, open_split, written
from transformer.data.generated import TASKS
from transformer.data.grammars import GRAMMARS
from transformer.data.multi30k import usual_folder
from transformer.data.pairs import First, Pair, Pairs
from transformer.data.preview import READ
from transformer.data.truth import Known, has_truth, known
from ui.heads.view import COUNTS, HeadsView
from ui.state.atlases import shipped
from ui.state.public import private_only, public
from ui.state.queue import TURNS
from ui.state.view import reseed, take, update, widget_key
from ui.widgets.corpus_upload import upload

EXAMPLES, UPLOAD, FILE = "examples", "upload", "file"


@dataclass(frozen=True)
class Chosen:
    """`spec` is as `open_corpus` reads it, or EXAMPLES; None while there is none. `written` is its files' time."""

    spec: str | None
    written: tuple[int, ...] = ()
    brought: bool = False  # by whoever looks, and nobody else's business


def choices(model: Translator) -> dict[str, str]:
    """What can be chosen, by name, and what it is called."""
    named = {spec: str(about(spec)["title"]) for spec in (*GRAMMARS, *TASKS)}
    combinations = {f"{spec}:combinations": f"{named[spec]}, combinations held out" for spec in GRAMMARS}
    here = {f"multi30k:{pair}": f"Multi30k, {pair}" for pair in _captions(model)}
    own = {EXAMPLES: "The model's own examples"} if examples(model.card) else {}
    brought = {} if public() else {UPLOAD: "Upload your own", FILE: "Files on this machine"}
    return {**named, **combinations, **here, **own, **brought}


def _captions(model: Translator) -> list[str]:
    """The pairs of languages that Multi30k has here: that of the model, or the usual one."""
    folder = usual_folder()
    codes = {name: code for code, name in LANGUAGES.items()}
    pair = codes.get(str(model.card.get("source"))), codes.get(str(model.card.get("target")))
    wanted = "-".join(str(code) for code in pair) if all(pair) and "hi" not in pair else "en-fr"
    there = all(any(folder.glob(f"test_2016_flickr.{code}*")) for code in wanted.split("-"))
    return [wanted] if there else []


def suited(model: Translator, among: Iterable[str]) -> str | None:
    """What the model was trained on where that is here, else what speaks its languages, else its own examples."""
    among = list(among)
    trained = re.search(r"--data (\S+)", str(model.card.get("command", "")))
    if trained and trained[1] in among:
        return trained[1]
    sides = model.card.get("source"), model.card.get("target")
    for spec in GRAMMARS:
        if (about(spec)["source"], about(spec)["target"]) == sides:
            return spec
    return EXAMPLES if EXAMPLES in among else None


def choose(name: str, model: Translator, view: HeadsView) -> tuple[Chosen, int]:
    """Draws the choice of the corpus and of how many of its sentences, and what it needs to know."""
    found = choices(model)
    there = (shipped(name) or {}).get("corpus")  # measured already: no page begins empty
    chosen = view.corpus if view.corpus in found else there if there in found else suited(model, found)
    left, right = st.columns([3, 1], gap="small")
    key = widget_key("corpus")
    left.selectbox(
        "Corpus",
        list(found),
        index=None if chosen is None else list(found).index(chosen),
        format_func=found.__getitem__,
        placeholder="Choose a corpus",
        key=key,
        on_change=_take_corpus,
        args=(key,),
        help="Of corpora that a grammar or a rule makes, every alignment and antecedent is known.",
    )
    key, offered = widget_key("pairs"), counts(chosen)
    pairs = min(view.pairs, offered[-1])
    right.selectbox(
        "Sentences",
        offered,
        index=offered.index(pairs),
        format_func=lambda count: f"{count:,}",
        key=key,
        on_change=take,
        args=("pairs", key),
        help="The first so many of the test part, or of all where there are no parts.",
    )
    if chosen in (UPLOAD, FILE):
        private_only()
        st.caption(":material/link_off: A link to this view does not carry the corpus: only you can see it.")
    if chosen == UPLOAD:
        return _brought(upload()), pairs
    if chosen == FILE:
        spec = st.text_input("Which", key="heads-file", placeholder="/data/pairs.tsv:en:hi", help=f"One of: {FORMS}.")
        return _brought((spec or "").strip() or None), pairs
    return Chosen(chosen), pairs


def counts(chosen: str | None) -> tuple[int, ...]:
    """How many sentences can be asked for: the test part of what comes with the app has a thousand."""
    return COUNTS if chosen in (UPLOAD, FILE) else tuple(count for count in COUNTS if count <= 1000)


def _take_corpus(key: str) -> None:
    update(corpus=st.session_state[key], step=None)
    reseed()


def _brought(spec: str | None) -> Chosen:
    try:
        return Chosen(spec, written(spec or ""), brought=True)
    except OSError as error:  # a folder that may not be read, or a name that is too long to be one
        st.info(f"This cannot be opened: {error.strerror}.", icon=":material/info:")
        return Chosen(None)


def opened(model: Translator, spec: str, most: int) -> tuple[Callable[[], Iterable[Known]], str]:
    """The pairs with what is known of them, and who says so. Raises ValueError where there is no such corpus."""
    if spec != EXAMPLES:
        corpus = open_split(spec)
        return truths(corpus if has_truth(corpus) else First(corpus, READ), most)
    texts = [example.text for example in examples(model.card)]
    with TURNS.turn():  # only this: an aligner does not ask the model, and would keep others from it
        written = [found.text for found in model.translate_batch(texts)]
    pairs = Pairs("examples", [Pair(n, *both) for n, both in enumerate(zip(texts, written, strict=True), 1)])
    return lambda: known(pairs), ""
