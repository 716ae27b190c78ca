"""Messages that Streamlit drops."""

from __future__ import annotations

import re

from playwright.sync_api import Page, WebSocketRoute
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg


class DroppedFragments:
    """From when `dropping` is set, a page does not get what whole runs draw for fragments.

    Streamlit drops that if the fragment runs again before it is sent. Made before the page is opened.
    """

    def __init__(self, page: Page) -> None:
        self.dropping, self.dropped, self._whole_run = False, 0, False
        page.route_web_socket(re.compile("_stcore/stream"), self._connect)

    def _connect(self, socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        socket.on_message(lambda message: server.send(message))
        server.on_message(lambda message: None if self._drops(message) else socket.send(message))

    def _drops(self, data: str | bytes) -> bool:
        assert isinstance(data, bytes)
        message = ForwardMsg.FromString(data)
        if message.HasField("new_session"):
            self._whole_run = not message.metadata.run.fragment_ids
        lost = self._whole_run and self.dropping and bool(message.delta.fragment_id)
        self.dropped += lost
        return lost
