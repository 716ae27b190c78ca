"""A visitor without a browser that uses every widget of a page and also sends values that the widgets do not offer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Delta_pb2 import Delta

from tools.streamlit_client import PageSession

MAX_OPTIONS = 2  # chosen of each widget, but for the one that is chosen already
MAX_TEXTS = 4  # typed into each text box

# Events of the app's own components, valid and forged; "?" stands for the first text that the visitor sends.
COMPONENT_EVENTS: list[Any] = [
    *([0, 0], [1, 1], 0, "?", {"open": "?"}, {"import": True}, {"compare": ["?", "?"]}, {"tick": ["?"]}),
    *({"head": [0, 0], "measure": "entropy"}, {"step": 0}, {"path": "?"}, ["?", "?"]),
]


@dataclass
class Visitor:
    """A client that sends `texts` and notes which of the `watched` texts the pages show."""

    texts: list[str]
    watched: list[str]
    used: set[tuple[str, ...]] = field(default_factory=set)  # pages and widgets, each of which is used once
    seen: set[str] = field(default_factory=set)  # the watched texts that a page has shown
    _looked: dict[tuple[int, ...], Delta] = field(default_factory=dict)  # the elements of the last look

    async def use_all(self, session: PageSession, page: str, max_widgets: int = 200) -> None:
        """Run the page and use its widgets, those that appear meanwhile included, until all have been used."""
        await session.run()
        self.look(session)
        home = session.script
        for _ in range(max_widgets):
            unused = next(((w, d) for w, d in widgets(session) if _widget_key(page, *w[:2]) not in self.used), None)
            if unused is None:
                return
            (kind, name, id), delta = unused
            self.used.add(_widget_key(page, kind, name))
            for state in self.states(kind, id, delta):
                await session.run(state, fragment=delta.fragment_id)
                self.look(session)
                if session.script != home:  # the widget led to another page: return
                    session.script = home
                    await session.run()
        raise AssertionError(f"The page {page} still has unused widgets after {max_widgets}.")

    def look(self, session: PageSession) -> None:
        """Note the watched texts that the page shows."""
        for path, delta in session.elements.items():
            if self._looked.get(path) is not delta:  # else nothing of it has changed
                content = delta.SerializeToString()
                self.seen.update(text for text in self.watched if text.encode() in content)
        self._looked = dict(session.elements)

    def states(self, kind: str, id: str, delta: Delta) -> Iterator[dict[str, Any]]:
        """Yield the widget states to send: some of the options that it offers, and texts that it does not offer."""
        widget = getattr(delta.new_element, kind, None)
        match kind:
            case "text_input" | "text_area":
                yield from ({"id": id, "string_value": text} for text in self.texts[:MAX_TEXTS])
            case "selectbox" | "radio":
                usual = widget.options[widget.default] if widget.HasField("default") and widget.options else None
                chosen = widget.raw_value if widget.set_value else usual
                options = [option for option in widget.options[:MAX_OPTIONS] if option != chosen]
                yield from ({"id": id, "string_value": text} for text in [*self.texts[:1], *options])
            case "multiselect" | "button_group":
                options = [getattr(option, "content", option) for option in widget.options[:MAX_OPTIONS]]
                yield from ({"id": id, "string_array_value": {"data": [text]}} for text in [*self.texts[:1], *options])
            case "checkbox" if not (widget.value if widget.set_value else widget.default):
                yield {"id": id, "bool_value": True}
            case "checkbox" | "popover" | "expandable" | "dialog":
                yield from ({"id": id, "bool_value": value} for value in (False, True))
            case "button" | "download_button":
                yield {"id": id, "trigger_value": True}
            case "menu_button":
                yield from ({"id": id, "string_trigger_value": {"data": text}} for text in widget.options[:MAX_OPTIONS])
            case "slider" if widget.options:
                yield from ({"id": id, "string_array_value": {"data": [text]}} for text in widget.options[:MAX_OPTIONS])
            case "slider":
                yield from ({"id": id, "double_array_value": {"data": [end]}} for end in (widget.min, widget.max))
            case "number_input":
                yield from ({"id": id, "double_value": value} for value in (-1.0, 1.0, widget.max))
            case "dataframe":
                yield {"id": id, "string_value": json.dumps({"selection": {"rows": [0], "columns": [], "cells": []}})}
            case "tab_container":
                yield {"id": id, "string_value": self.texts[0]}
            case "bidi_component":
                for pick in COMPONENT_EVENTS:
                    value = json.loads(json.dumps(pick).replace("?", self.texts[0]))
                    events = [{"event": event, "value": value} for event in ("pick", "shown")]
                    trigger = f"$$STREAMLIT_INTERNAL_KEY_{id}__events"
                    yield {"id": trigger, "json_trigger_value": json.dumps(events)}
            case _:
                raise AssertionError(f"The visitor cannot use a {kind} yet.")


def widgets(session: PageSession) -> Iterator[tuple[tuple[str, str, str], Delta]]:
    """Yield (kind, name, id) and the delta of each enabled widget."""
    for delta in session.elements.values():
        part = delta.new_element if delta.WhichOneof("type") == "new_element" else delta.add_block
        kind = part.WhichOneof("type")
        id = getattr(getattr(part, kind, None), "id", "") if kind else ""
        if not id or getattr(getattr(part, kind), "disabled", False):
            continue
        yield (kind, _name(getattr(part, kind), id), id), delta


def _widget_key(page: str, kind: str, name: str) -> tuple[str, str, str]:
    """Return what identifies a widget in `used`; the app's own components count once for all pages."""
    return ("" if kind == "bidi_component" else page), kind, name


def _name(widget: Any, id: str) -> str:
    """Return the label of a widget without digits, which change with what is chosen elsewhere on the page."""
    label = getattr(widget, "label", "") or getattr(widget, "component_name", "") or id.split("-", 2)[-1]
    return "".join(letter for letter in label if not letter.isdecimal())[:60]


async def ask_server(session: PageSession, *files: str) -> None:
    """Send the messages that need no widget: Git information, run on save, clear the cache, and deferred files."""
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
