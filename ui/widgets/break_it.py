"""A tutorial's mistake, or a part left out, made in the open model: chosen in the sidebar, named atop the page."""

from __future__ import annotations

import streamlit as st

from headlight.language import gettext, translatable, within
from headlight.teaching.mistakes import MISTAKES
from transformer import Translator
from transformer.masks import describe_missing_masks
from ui.state.view import PageView, bound, set_view
from ui.widgets.controls import choose

NO_MISTAKE = ""
NO_MISTAKE_TITLE = translatable("No: the model as it is")


def break_it(view: PageView, broken: str) -> None:
    """Draw the choice among the page's mistakes, and where one is made, both equations and what to look at."""
    titles = {name: gettext(MISTAKES[name].title) for name in view.MISTAKES}
    with st.sidebar:
        choose(
            view,
            "broken",
            gettext("Break it"),
            {NO_MISTAKE: gettext(NO_MISTAKE_TITLE), **titles},
            broken,
            menu=True,
            **bound("broken", reseeds=True, kind=telling_kind),
            help=gettext(
                "Runs this very model with a mistake that tutorials make, or without one of its parts. Dropout has no "
                "switch: it acts in training alone, so a model that translates is already without it. Resets when you "
                "leave this page."
            ),
        )
    if not broken:
        return
    mistake = MISTAKES[broken]
    with st.container(border=True, key="broken"):
        text_column, action_column = st.columns([7, 3], vertical_alignment="center")
        text_column.markdown(
            f":material/bolt: **{gettext('Broken on purpose: {mistake}.', mistake=within(gettext(mistake.title)))}** "
            f":small[:gray[{gettext(mistake.look_at)}]]"
        )
        with action_column, st.container(horizontal=True, horizontal_alignment="right"):
            with st.popover(gettext("Equations"), icon=":material/function:", key="broken-equations"):
                st.caption(gettext("As it should be"))
                st.latex(mistake.right)
                st.caption(gettext("As it runs now"))
                st.latex(mistake.wrong)
            repair = {"broken": NO_MISTAKE}
            st.button(gettext("Repair it"), icon=":material/build:", on_click=set_view, kwargs=repair, key="repair")


def telling_kind(mistake: str) -> str:
    """Return the attention in which the mistake can be seen, or else the one that is open.

    Fragments change that without drawing the sidebar again, so it is read when a mistake is chosen.
    """
    open_kind: str = st.session_state["view"].kind
    return (MISTAKES[mistake].kind if mistake else None) or open_kind


def mistakes(model: Translator, broken_here: bool = False) -> None:
    """Draw a note on what is known to be wrong with the model, if anything.

    If the model is `broken_here`, the page already says what is wrong with it.
    """
    if note := _one_pass(model) if broken_here else describe_mistakes(model):
        st.caption(f":material/visibility: {note}")


def describe_mistakes(model: Translator) -> str:
    """Describe what attention sees that the paper hides from it, and the mistake that the model was trained with."""
    config, broken = model.model.config, MISTAKES.get(str(model.card.get("broken")))
    notes = []
    if broken is not None:
        text = translatable("This model is broken on purpose ({name}): {mistake}.")
        notes = [gettext(text, name=broken.name, mistake=within(gettext(broken.title)))]
    if (unmasked := describe_missing_masks(config)) is not None:
        notes.append(unmasked)
    return " ".join(filter(None, [*notes, _one_pass(model)]))


def _one_pass(model: Translator) -> str:
    if model.model.config.look_ahead_mask != "never":
        return ""
    return gettext(
        "Attention and probabilities are of one pass over the whole translation, as in training; to write, it reads "
        "what it has written so far, all of it again for each token, which Decoding shows."
    )
