"""Refusal of other accounts' connections on a server for this machine alone, by the owner of their socket."""

from __future__ import annotations

import os
import sys
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from server.access import as_ip

SOCKET_TABLES = {4: Path("/proc/net/tcp"), 6: Path("/proc/net/tcp6")}  # all TCP sockets with owners (proc_pid_net(5))
REFUSAL = (
    "This server was started without a password and answers only the account that started it. To let others of this "
    "machine in, start it with HEADLIGHT_PASSWORD."
)
Address = tuple[str, int]


class Owner:
    """Refuses, with 403, whatever comes from the socket of another user than the server's own and root.

    Every HTTP request and websocket is checked, since another user may have got the port by the next one. On systems
    other than Linux, which don't report the owner of a socket, nothing is refused; docs/security.md says so.
    """

    def __init__(self, app: ASGIApp):
        self.app, self.allowed = app, {os.getuid(), 0} if tells_owners() else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.allowed is not None and scope["type"] in ("http", "websocket"):
            client, server = scope.get("client"), scope.get("server")
            if not client or not server or owner_of(tuple(client), tuple(server)) not in self.allowed:
                return await PlainTextResponse(REFUSAL, 403)(scope, receive, send)
        await self.app(scope, receive, send)


def tells_owners() -> bool:
    return sys.platform == "linux" and SOCKET_TABLES[4].is_file()


def owner_of(client: Address, server: Address) -> int | None:
    """Return the user id that owns the client's end of a connection on this machine.

    None where there is no such open socket. The kernel lists a closed socket with user 0 and inode 0; it counts as
    absent, so a client cannot send a request, close the socket and pass for root.
    """
    ends = [_as_kernel(*end) for end in (client, server)]
    if None in ends:
        return None
    for table in SOCKET_TABLES.values():
        try:
            lines = table.read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if len(fields) > 9 and fields[1:3] == ends and fields[9] != "0":
                return int(fields[7])
    return None


def _as_kernel(host: str, port: int) -> str | None:
    """Return an end of a connection as in SOCKET_TABLES: 32-bit words in the processor's byte order, in hexadecimal."""
    ip = as_ip(host.partition("%")[0])
    if isinstance(ip, IPv6Address):
        ip = ip.ipv4_mapped or ip
    if not isinstance(ip, IPv4Address | IPv6Address):
        return None
    words = [ip.packed[at : at + 4] for at in range(0, len(ip.packed), 4)]
    return "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words) + f":{port:04X}"
