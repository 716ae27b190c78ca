"""A session without a browser: it speaks Streamlit's own protocol, and keeps the elements that a browser would show."""

from __future__ import annotations

import asyncio
import json
import math
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlencode

import numpy as np
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from server.login import cookie

MAX_MESSAGE_BYTES = 2**28


class PageSession:
    """A page of the app; elements are found by component, by key, or by kind, as in a browser."""

    def __init__(self, socket: ClientConnection, query: str, page: str):
        self.socket, self.query, self.page = socket, query, page
        self.elements: dict[tuple[int, ...], Delta] = {}
        self.message_by_hash: dict[str, ForwardMsg] = {}  # long messages, which come again as their hash
        self.script = ""  # the hash of the page
        self.first = math.nan  # when the first heads came, in the seconds of `perf_counter`

    async def run(self, *widgets: dict[str, Any], fragment: str = "", seconds: float = 60) -> None:
        """Run the page's script to its end, after widgets changed. Raises TimeoutError."""
        await self.begin(*widgets, fragment=fragment)
        async with asyncio.timeout(seconds):
            await self.finish()

    async def begin(self, *widgets: dict[str, Any], fragment: str = "") -> None:
        state = ClientState(
            query_string=self.query,
            page_script_hash=self.script,
            page_name="" if self.script else self.page,
            fragment_id=fragment,
            cached_message_hashes=self.message_by_hash,
        )
        state.context_info.timezone = "UTC"
        for widget in widgets:
            state.widget_states.widgets.add(**widget)
        await self.socket.send(BackMsg(rerun_script=state).SerializeToString())

    async def finish(self) -> None:
        fresh: set[tuple[int, ...]] = set()
        while True:
            message = ForwardMsg.FromString(await self.socket.recv(decode=False))
            match message.WhichOneof("type"):
                case "new_session":
                    fresh = set()
                case "navigation":
                    self.script = message.navigation.page_script_hash
                case "page_info_changed":
                    self.query = message.page_info_changed.query_string
                case "delta" | "ref_hash":
                    fresh.add(self._take(message))
                case "script_finished" if message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                        self.elements = {path: self.elements[path] for path in self.elements if path in fresh}
                    return

    def _take(self, message: ForwardMsg) -> tuple[int, ...]:
        path = tuple(message.metadata.delta_path)
        if message.WhichOneof("type") == "ref_hash":
            message = self.message_by_hash[message.ref_hash]
        elif message.metadata.cacheable:
            self.message_by_hash[message.hash] = message
        self.elements[path] = message.delta
        if math.isnan(self.first) and message.delta.new_element.bidi_component.component_name.endswith("overview"):
            self.first = time.perf_counter()
        return path

    def vanish(self) -> None:
        """Break the connection off, as when a lid is closed."""
        self.socket.transport.abort()

    # ---- what is on the page ---------------------------------------------------------------------------------------

    def component(self, name: str) -> Delta:
        """Return a component of the app by its name, with the fragment that it belongs to."""
        for delta in self.elements.values():
            if delta.new_element.bidi_component.component_name.endswith(name):
                return delta
        raise LookupError(f"There is no {name} on the page: {self.texts()[-1:]}")

    def shows(self, name: str) -> bool:
        """Return whether the component is on the page."""
        return any(d.new_element.bidi_component.component_name.endswith(name) for d in self.elements.values())

    def widget(self, kind: str, key: str) -> str:
        """Return the id of a widget by its kind and the beginning of its key."""
        for delta in self.elements.values():
            widget = getattr(delta.new_element, kind)
            if delta.new_element.WhichOneof("type") == kind and f"-{key}" in widget.id:
                return str(widget.id)
        raise LookupError(f"There is no {kind} {key} on the page: {self.texts()[-1:]}")

    def texts(self) -> list[str]:
        return [text for delta in self.elements.values() for text in _texts(delta.new_element)]

    def errors(self) -> list[str]:
        """Return the errors that the page shows."""
        elements = [delta.new_element for delta in self.elements.values()]
        return [e.exception.message for e in elements if e.WhichOneof("type") == "exception"] + [
            e.alert.body for e in elements if e.WhichOneof("type") == "alert"
        ]

    # ---- what a reader does ----------------------------------------------------------------------------------------

    async def choose(self, layer: int, head: int) -> None:
        """Press a head of the overview; layer and head count from 0."""
        overview = self.component("overview")
        event = json.dumps([{"event": "pick", "value": [layer, head]}])
        id = f"$$STREAMLIT_INTERNAL_KEY_{overview.new_element.bidi_component.id}__events"
        await self.run({"id": id, "json_trigger_value": event}, fragment=overview.fragment_id)

    async def type(self, text: str, seconds: float = 60) -> None:
        """Type a sentence and press Enter."""
        await self.run({"id": self.widget("text_area", "text-"), "string_value": text}, seconds=seconds)

    # ---- what it shows ---------------------------------------------------------------------------------------------

    def head(self) -> tuple[str, np.ndarray]:
        """Return the large head: its title, and its weights [Q, K] as in the message of headlight/viewer/packing.py."""
        message = self.component("_head").new_element.bidi_component.bytes
        begin = 4 + int.from_bytes(message[:4], "little")
        header = json.loads(message[4:begin])
        (described,) = (array for array in header["arrays"] if array["name"] == "weights")
        queries, keys = described["shape"]
        weights = np.frombuffer(message, described["dtype"], queries * keys, begin + described["at"])
        return header["title"][0], weights.reshape(queries, keys)

    def translation(self) -> str:
        """Return the translation as it is read out: its language, its words and its log-probability."""
        return next((text for text in self.texts() if 'class="translation ' in text), "")


def _texts(element: Element) -> Iterator[str]:
    match element.WhichOneof("type"):
        case "markdown":
            yield element.markdown.body
        case "html":
            yield element.html.body
        case "alert":
            yield element.alert.body


@asynccontextmanager
async def open_session(url: str, page: str = "", **query: str) -> AsyncIterator[PageSession]:
    """Open a session at the address of a running app, before its first run.

    HEADLIGHT_PASSWORD lets it in where it asks.
    """
    password = os.environ.get("HEADLIGHT_PASSWORD")
    address = f"{url.replace('http', 'ws', 1)}/_stcore/stream"
    async with connect(
        address,
        subprotocols=[Subprotocol("streamlit")],
        max_size=MAX_MESSAGE_BYTES,
        proxy=None,
        close_timeout=1,
        compression=None,
        additional_headers={"Cookie": cookie(password)} if password else None,
    ) as socket:
        yield PageSession(socket, urlencode(query), page)
