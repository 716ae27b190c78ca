"""A visitor without a browser who uses every widget of a page, and says in each what no widget of that page offers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Delta_pb2 import Delta

from tools.streamlit_client import PageSession

MOST = 2  # of the choices that a widget offers
TYPED = 4  # of the texts, into a box

# What the app's own components may say, and what none of them ever says; "?" stands for each hostile text.
PICKS: list[Any] = [
    *([0, 0], [1, 1], 0, "?", {"open": "?"}, {"bring": True}, {"compare": ["?", "?"]}, {"tick": ["?"]}),
    *({"head": [0, 0], "measure": "entropy"}, {"step": 0}, {"path": "?"}, ["?", "?"]),
]


@dataclass
class Visitor:
    """`texts` are what it types and sends; what it used already, on the same page, it leaves alone."""

    texts: list[str]
    words: list[str]  # what it would like to read
    used: set[tuple[str, ...]] = field(default_factory=set)
    read: set[str] = field(default_factory=set)  # those of the words that stood on a page

    async def use_all(self, session: PageSession, page: str, most: int = 200) -> None:
        """Runs the page, and uses what is on it, and what comes up by that, until there is nothing new."""
        await session.run()
        self.look(session)
        home = session.script
        for _ in range(most):
            unused = next(((w, d) for w, d in widgets(session) if _place(page, *w[:2]) not in self.used), None)
            if unused is None:
                return
            (kind, name, id), delta = unused
            self.used.add(_place(page, kind, name))
            for state in self.states(kind, id, delta):
                await session.run(state, fragment=delta.fragment_id)
                self.look(session)
                if session.script != home:  # another page, whose turn comes
                    session.script = home
                    await session.run()
        raise AssertionError(f"The page {page} has no end of widgets.")

    def look(self, session: PageSession) -> None:
        for delta in session.elements.values():
            content = delta.SerializeToString()
            self.read.update(word for word in self.words if word.encode() in content)

    def states(self, kind: str, id: str, delta: Delta) -> Iterator[dict[str, Any]]:
        """What is sent of a widget: some of its choices, and then what it does not offer."""
        widget = getattr(delta.new_element, kind, None)
        match kind:
            case "text_input" | "text_area":
                yield from ({"id": id, "string_value": text} for text in self.texts[:TYPED])
            case "selectbox" | "radio":
                yield from ({"id": id, "string_value": text} for text in [*self.texts[:1], *widget.options[:MOST]])
            case "multiselect" | "button_group":
                options = [getattr(option, "content", option) for option in widget.options[:MOST]]
                yield from ({"id": id, "string_array_value": {"data": [text]}} for text in [*self.texts[:1], *options])
            case "checkbox" | "popover" | "expandable" | "dialog":
                yield from ({"id": id, "bool_value": value} for value in (False, True))
            case "button" | "download_button":
                yield {"id": id, "trigger_value": True}
            case "menu_button":
                yield from ({"id": id, "string_trigger_value": {"data": text}} for text in widget.options[:MOST])
            case "slider" if widget.options:
                yield from ({"id": id, "string_array_value": {"data": [text]}} for text in widget.options[:MOST])
            case "slider":
                yield from ({"id": id, "double_array_value": {"data": [end]}} for end in (widget.min, widget.max))
            case "number_input":
                yield from ({"id": id, "double_value": value} for value in (-1.0, 1.0, widget.max))
            case "dataframe":
                yield {"id": id, "string_value": json.dumps({"selection": {"rows": [0], "columns": [], "cells": []}})}
            case "tab_container":
                yield {"id": id, "string_value": self.texts[0]}
            case "bidi_component":
                for pick in PICKS:
                    value = json.loads(json.dumps(pick).replace("?", self.texts[0]))
                    events = [{"event": event, "value": value} for event in ("pick", "shown")]
                    trigger = f"$$STREAMLIT_INTERNAL_KEY_{id}__events"
                    yield {"id": trigger, "json_trigger_value": json.dumps(events)}
            case _:
                raise AssertionError(f"There is a {kind}; teach the visitor to use it.")


def widgets(session: PageSession) -> Iterator[tuple[tuple[str, str, str], Delta]]:
    """(kind, name, id) of everything that can be used. The name is the key, or the label where there is none."""
    for delta in session.elements.values():
        part = delta.new_element if delta.WhichOneof("type") == "new_element" else delta.add_block
        kind = part.WhichOneof("type")
        id = getattr(getattr(part, kind, None), "id", "") if kind else ""
        if not id or getattr(getattr(part, kind), "disabled", False):
            continue
        yield (kind, _name(getattr(part, kind), id), id), delta


def _place(page: str, kind: str, name: str) -> tuple[str, str, str]:
    """A component of the app does the same on every page."""
    return ("" if kind == "bidi_component" else page), kind, name


def _name(widget: Any, id: str) -> str:
    """The same for the same widget, whatever is chosen elsewhere: its label, as far as it is words."""
    label = getattr(widget, "label", "") or getattr(widget, "component_name", "") or id.split("-", 2)[-1]
    return "".join(letter for letter in label if not letter.isdecimal())[:60]


async def ask_server(session: PageSession, *files: str) -> None:
    """What a browser may ask without any widget: what the server is made of, that it forget, and files for later."""
    for message in (BackMsg(load_git_info=True), BackMsg(set_run_on_save=True), BackMsg(clear_cache=True)):
        await session.socket.send(message.SerializeToString())
    for number, file in enumerate(files):
        message = BackMsg()
        message.backend_operation_request.request_id = str(number)
        message.backend_operation_request.deferred_file.file_id = file
        await session.socket.send(message.SerializeToString())
    for name in ("install_skills", "dismiss_skills_nudge"):
        message = BackMsg()
        message.backend_operation_request.request_id = name
        getattr(message.backend_operation_request, name).SetInParent()
        await session.socket.send(message.SerializeToString())
