"""Which corpus the heads are measured over."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from transformer import Translator
from transformer.data.about import LANGUAGES, about
from transformer.data.corpora import FORMS
from transformer.data.generated import TASKS
from transformer.data.grammars import GRAMMARS
from transformer.data.pairs import Pair, Pairs
from transformer.data.truth import Known, known
from transformer.heads import open_split, truths
from ui.heads.stored import shipped
from ui.heads.view import COUNTS, HeadsView
from ui.public import private_only, public
from ui.training.uploads import upload
from ui.view import reseed, take, update, widget_key

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
    own = {EXAMPLES: "The model's own examples"} if model.card.get("examples") else {}
    brought = {} if public() else {UPLOAD: "Upload your own", FILE: "Files on this machine"}
    return {**named, **combinations, **here, **own, **brought}


def _captions(model: Translator) -> list[str]:
    """The pairs of languages that Multi30k has here: that of the model, or the usual one."""
    folder = Path(os.environ.get("HEADLIGHT_MULTI30K") or "data/multi30k")
    codes = {name: code for code, name in LANGUAGES.items()}
    pair = codes.get(str(model.card.get("source"))), codes.get(str(model.card.get("target")))
    wanted = "-".join(str(code) for code in pair) if all(pair) and "hi" not in pair else "en-fr"
    there = all(any(folder.glob(f"test_2016_flickr.{code}*")) for code in wanted.split("-"))
    return [wanted] if there else []


def suited(model: Translator, among: Iterable[str]) -> str:
    """What the model was trained on where that is here, else what speaks its languages, else its own examples."""
    among = list(among)
    trained = re.search(r"--data (\S+)", str(model.card.get("command", "")))
    if trained and trained[1] in among:
        return trained[1]
    sides = model.card.get("source"), model.card.get("target")
    for spec in GRAMMARS:
        if (about(spec)["source"], about(spec)["target"]) == sides:
            return spec
    return EXAMPLES if EXAMPLES in among else among[0]


def choose(name: str, model: Translator, view: HeadsView) -> Chosen:
    """Draws the choice of the corpus and how much of it, and what it needs to know."""
    found = choices(model)
    there = (shipped(name) or {}).get("corpus")  # measured already: no page begins empty
    chosen = view.corpus if view.corpus in found else there if there in found else suited(model, found)
    left, right = st.columns([3, 1], gap="small")
    key = widget_key("corpus")
    left.selectbox(
        "Corpus",
        list(found),
        index=list(found).index(chosen),
        format_func=found.__getitem__,
        key=key,
        on_change=_take_corpus,
        args=(key,),
        help="Of corpora that a grammar or a rule makes, every alignment and antecedent is known.",
    )
    key = widget_key("pairs")
    right.selectbox(
        "Sentences",
        COUNTS,
        index=COUNTS.index(view.pairs),
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
        return _written(upload())
    if chosen == FILE:
        spec = st.text_input("Which", key="heads-file", placeholder="/data/pairs.tsv:en:hi", help=f"One of: {FORMS}.")
        return _written((spec or "").strip() or None)
    return Chosen(chosen)


def _take_corpus(key: str) -> None:
    update(corpus=st.session_state[key], step=None)
    reseed()


def _written(spec: str | None) -> Chosen:
    times = []
    for part in (spec or "").split(","):
        path = Path(part if Path(part).is_file() else part.partition(":")[0])
        times.append(path.stat().st_mtime_ns if path.is_file() else 0)
    return Chosen(spec, tuple(times), brought=True)


def opened(model: Translator, spec: str, most: int) -> tuple[Callable[[], Iterable[Known]], str]:
    """The pairs with what is known of them, and who says so. Raises ValueError where there is no such corpus."""
    if spec != EXAMPLES:
        return truths(open_split(spec), most)
    texts = [str(text) for text in model.card.get("examples", [])]
    written = [found.text for found in model.translate_batch(texts)]
    pairs = Pairs("examples", [Pair(n, *both) for n, both in enumerate(zip(texts, written, strict=True), 1)])
    return lambda: known(pairs), ""
