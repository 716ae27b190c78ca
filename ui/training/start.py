"""The form that starts a run: data, size, forecast, and every setting for those who want them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from headlight import folders
from headlight.corpora.about import about
from headlight.corpora.corpora import needs_network
from headlight.corpora.preview import Preview
from headlight.formatting import error_message
from headlight.importers.marian_export import reason_against_marian
from headlight.runs import RunFolder, run_path, start, statuses
from transformer import PRESETS
from transformer.presets import DIFFERENCES
from ui.state import models
from ui.state.public import private_only
from ui.state.view import set_view
from ui.training import corpus, draft
from ui.training.corpus import TrainingCorpus
from ui.training.draft import Draft, Values
from ui.training.forecast import forecast
from ui.training.settings import every_setting, key_of, setting
from ui.training.view import TrainingView
from ui.widgets.controls import choose
from ui.widgets.corpus_upload import hand_over_uploads
from ui.widgets.errors import cannot, without_folders
from ui.widgets.text import literal

_COUNTER = itertools.count()
SUGGESTED_SENTENCES = 3  # sentences to watch, if none were typed


@dataclass
class StartForm:
    """The form of this session: its data, its number, and its settings as they were last typed."""

    occasion: tuple[Any, ...]
    number: int
    values: Values
    watch: str = ""  # the sentences, one a line
    suggested: str | None = None  # the data for which sentences were last suggested


def form(view: TrainingView) -> None:
    """Draw the form. Raises ValueError in a public demonstration."""
    private_only()
    st.subheader("Start a run", anchor="start-a-run")
    left, middle, right = st.columns([33, 33, 34], gap="large")
    before = _before(view)
    with left:
        chosen = corpus.choose_data(view) if before is None else _same_data(before)
        pictures = st.container()
    values = _values(view, chosen.kind, before)
    weights = before is not None and _weights(before)
    with middle:
        _middle(view, chosen, values, before, fresh=not weights)
    examples, preview = _examples(chosen, before), None
    has_examples = bool(examples)
    if not has_examples:  # then sentences of the corpus are suggested
        with pictures:
            preview = _preview(chosen, values)
        examples = [pair.source for pair in preview.pairs[:SUGGESTED_SENTENCES]] if preview else []
    start_from = str(before.trained()) if before is not None and weights else None

    def typed() -> Draft:
        current_values = _values(view, chosen.kind, before)
        return draft.drafted(chosen.spec or chosen.kind, current_values, _watched(chosen, examples), start_from)

    plan = typed()
    fixed = _fixed() if weights else ()
    with middle:
        setting("training.steps", values, plan.wrong, note=False)
        _sentences(plan)
    with st.expander("All settings", icon=":material/tune:", key=key_of("all")):
        every_setting(values, plan.wrong, fixed, elsewhere=["training.steps"])
    if has_examples:  # reading the corpus takes time, so everything else is drawn first
        with pictures:
            preview = _preview(chosen, values)
    with right:
        forecast(plan.recipe, preview)
        key = _name_box(view, chosen, before)
        _begin(chosen, plan, typed, preview, key)
    if plan.recipe is not None and chosen.spec is not None:
        with st.expander("The same run from the command line", icon=":material/terminal:", key=key_of("command")):
            st.code(plan.recipe.command(f"{_runs_root()}/{_name(key)}"), language="bash", wrap_lines=True)
            if (reason := reason_against_marian(plan.recipe.model)) is not None:
                st.caption(
                    f"As this model will be, it cannot be exported as a Marian model: {reason}. Norms after the "
                    "sublayers (`--norm post --no-final-norm`) make one that can; the other formats take any model."
                )


# ---- where the settings come from ----------------------------------------------------------------------------------


def _before(view: TrainingView) -> RunFolder | None:
    """Return the run whose settings this one starts with."""
    if view.start is None:
        return None
    folder = RunFolder(models.RUNS / view.start)
    return folder if folder.is_run() else None


def _same_data(before: RunFolder) -> TrainingCorpus:
    data = before.recipe().data
    st.markdown(f"**Like {literal(before.name)}, with other settings**")
    st.caption(f"Data: `{without_folders(data)}`")
    st.button(
        "Choose other data",
        icon=":material/undo:",
        on_click=set_view,
        kwargs={"start": None},
        type="tertiary",
        key="other-data",
    )
    return TrainingCorpus(data.partition(":")[0], data)


def _weights(before: RunFolder) -> bool:
    """Return whether the run starts from the weights of the earlier one."""
    return before.trained() is not None and st.session_state.get(key_of("weights"), "best") == "best"


def _values(view: TrainingView, kind: str, before: RunFolder | None) -> Values:
    """Return the settings: what was typed last, else what suits the data and the size."""
    size = _size(view, kind)
    occasion = (kind, size, before.name if before else None)
    stored: StartForm | None = st.session_state.get("draft")
    if stored is None or stored.occasion != occasion:
        first = _from_run(before) if before else draft.defaults(kind, size)
        stored = st.session_state["draft"] = StartForm(occasion, next(_COUNTER), first)
    for name in stored.values:
        stored.values[name] = st.session_state.get(key_of(name), stored.values[name])
    return stored.values


def _from_run(before: RunFolder) -> Values:
    values = draft.from_recipe(before.recipe())
    states = {run.name: run.state for run in statuses(models.RUNS)}
    return draft.lower_rate(values) if states.get(before.name) == "diverged" else values


def _size(view: TrainingView, kind: str) -> str:
    return view.size if view.size in PRESETS else draft.advice(kind).size


def _fixed() -> set[str]:
    """Return the settings that the weights of a checkpoint decide."""
    return {*draft.NETWORK, "tokenizer", "vocabulary", "separate"} - {*draft.CHANGEABLE_SETTINGS}


# ---- the middle: size, steps, sentences ----------------------------------------------------------------------------


def _middle(view: TrainingView, chosen: TrainingCorpus, values: Values, before: RunFolder | None, fresh: bool) -> None:
    if before is not None:
        _weights_choice(before)
    else:
        sizes = {name: name.replace("-", " ").capitalize() for name in PRESETS}
        choose(
            view,
            "size",
            "Size",
            sizes,
            _size(view, chosen.kind),
            menu=True,
            help="Four sizes, and five widely followed tutorials with their networks and how they train them; on the "
            "command line, `--preset`.",
        )
        if (differs := DIFFERENCES.get(_size(view, chosen.kind))) is not None:
            st.caption(differs)
    stacks = [values[f"model.{stack}.n_layers"] for stack in draft.STACKS]
    heads = values["model.encoder.n_heads"]
    st.caption(
        f"{stacks[0]} + {stacks[1]} layers, {heads} heads, d_model {values['model.d_model']}"
        + ("" if fresh else ", as in the checkpoint")
    )


def _weights_choice(before: RunFolder) -> None:
    if before.trained() is not None:
        st.segmented_control(
            "Weights",
            ["best", "fresh"],
            default="best",
            required=True,
            format_func={"best": "Its best checkpoint", "fresh": "New weights"}.__getitem__,
            key=key_of("weights"),
            help="Its best checkpoint: the run continues from it with other settings. New weights: it trains from "
            "scratch.",
        )


def _examples(chosen: TrainingCorpus, before: RunFolder | None) -> list[str]:
    """Return sentences to suggest, as far as they are known without reading the corpus."""
    if before is not None:
        return list(before.recipe().watch)
    return [str(text) for text in about(chosen.spec)["examples"][:SUGGESTED_SENTENCES]] if chosen.spec else []


def _watched(chosen: TrainingCorpus, examples: list[str]) -> tuple[str, ...]:
    """Return the sentences to watch; when the corpus changes, its examples replace those in the box."""
    key, stored = key_of("watch"), st.session_state["draft"]
    if stored.suggested != chosen.spec and examples:
        stored.suggested, stored.watch = chosen.spec, "\n".join(examples)
        st.session_state[key] = stored.watch
    stored.watch = st.session_state.get(key, stored.watch)
    return tuple(line.strip() for line in stored.watch.splitlines() if line.strip())


def _sentences(plan: Draft) -> None:
    st.session_state.setdefault(key_of("watch"), st.session_state["draft"].watch)
    st.text_area(
        "Sentences to watch, one per line",
        key=key_of("watch"),
        height=104,
        help="They are translated at each evaluation, and their attention can be watched as it forms.",
    )
    if "watch" in plan.wrong:
        st.caption(f":red[{literal(plan.wrong['watch'])}]")


# ---- what the data look like, and what the run will take -----------------------------------------------------------


def _preview(chosen: TrainingCorpus, values: Values) -> Preview | None:
    """Draw the preview; return None where there is none yet."""
    if chosen.spec is None or (needs_network(chosen.spec) and not _is_requested(chosen.spec)):
        return None
    names = ("folder", "max_characters", "tokenizer", "vocabulary", "separate", "min_frequency")
    try:
        request = corpus.PreviewRequest(chosen.spec, *(draft.parsed(name, values[name]) for name in names))
        preview = corpus.previewed(request)
    except (ValueError, OSError) as error:
        cannot(error, "This cannot be trained on")
        return None
    typed = [str(values[name]) for name in ("model.max_length", "max_tokens")]
    longest = min((int(text) for text in typed if text.isdecimal() and int(text)), default=512)
    corpus.show(preview, longest, chosen.spec)
    return preview


def _is_requested(spec: str) -> bool:
    """Draw the button that reads a dataset of the hub; return whether it was pressed, now or before."""
    requested: set[str] = st.session_state.setdefault("previewed", set())
    if st.button(f"Read its first {corpus.HUB_ROWS:,} pairs", icon=":material/cloud_download:", key="preview-hub"):
        requested.add(spec)
    return spec in requested


# ---- the start -----------------------------------------------------------------------------------------------------


def _name_box(view: TrainingView, chosen: TrainingCorpus, before: RunFolder | None) -> str:
    """Draw the box for the name; return its key."""
    stem = before.name if before else f"{chosen.kind}-{_size(view, chosen.kind)}"
    names = {path.name for path in models.RUNS.glob("*")}
    free = next(name for n in itertools.count(1) if (name := stem if n == 1 else f"{stem}-{n}") not in names)
    key = f"{key_of('name')}-{free}"
    st.text_input("Name", free, key=key, live=True)
    return key


def _name(key: str) -> str:
    return (st.session_state.get(key) or "").strip()


def _begin(chosen: TrainingCorpus, plan: Draft, typed: Callable[[], Draft], preview: Preview | None, key: str) -> None:
    """Draw the button; where it is disabled, say why."""
    name = _name(key)
    problems = [message for field, message in plan.wrong.items() if field not in ("training.steps", "watch")]
    try:
        if run_path(name, models.RUNS).exists():
            problems.append(f"A run named {name} already exists; choose another name.")
    except ValueError as error:
        problems.append(str(error))
    if chosen.spec is None:
        st.caption("Choose the data first.")
    for problem in problems[:3]:
        st.caption(f":red[{literal(problem)}]")
    ready = plan.recipe is not None and not problems and chosen.spec is not None
    ready = ready and (preview is not None or needs_network(chosen.spec or ""))
    st.button(
        "Start training",
        icon=":material/play_arrow:",
        type="primary" if ready else "secondary",  # a disabled primary button has no visible label
        width="stretch",
        key="start-training",
        disabled=not ready,
        on_click=_start,
        args=(st.session_state["draft"].number, typed, key),
    )
    if refusal := st.session_state.pop("start-refused", None):
        cannot(refusal)


def _runs_root() -> str:
    return "runs" if folders.CLONE and models.RUNS == folders.USER_FOLDER / "runs" else str(models.RUNS)


def _start(number: int, typed: Callable[[], Draft], key: str) -> None:
    """Start the run of this form, once: the second half of a double click finds it begun.

    The form is read again: what was typed last may have come with the click, before the page was drawn with it.
    """
    if st.session_state.get("started") == number:
        return
    try:
        private_only()
        plan, name = typed(), _name(key)
        if plan.recipe is None:
            raise ValueError(next(iter(plan.wrong.values())))
        start(plan.recipe, run_path(name, models.RUNS))
    except (ValueError, OSError) as error:
        st.session_state["start-refused"] = error_message(error)
        return
    st.session_state["started"] = number
    del st.session_state["draft"]
    hand_over_uploads()
    set_view(run=name, new=False, start=None, step=None, sentence=1, compare=(), layer=None, head=None)
