"""Fuzz the server with addresses, widget values and bytes that no browser sends: it survives, and no link fails."""

import asyncio
import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, build_opener

import pytest
from websockets.exceptions import ConnectionClosed

from tests.forked import serve_forked
from tests.fuzzing import fuzz
from tools.streamlit_client import PageSession, open_session
from ui.anatomy.view import AnatomyView
from ui.attention.view import AttentionView
from ui.checkpoints.view import CheckpointsView
from ui.decoding.view import DecodingView
from ui.heads.view import HeadsView
from ui.lessons.view import LessonsView
from ui.positions.view import PositionsView
from ui.training.view import TrainingView
from ui.why.view import WhyView

pytestmark = [pytest.mark.fuzz, pytest.mark.slow]  # it starts the server for real
ROOT = Path(__file__).resolve().parents[1]
PAGES = ("", "decoding", "positions", "anatomy", "training", "checkpoints", "heads", "why", "lessons")
VIEWS = (
    *(AnatomyView, AttentionView, CheckpointsView, DecodingView, HeadsView),
    *(LessonsView, PositionsView, TrainingView, WhyView),
)
FIELDS = sorted({field.name for view in VIEWS for field in fields(view)} | {"new", "data", "unheard-of"})
VALUES = (
    "", "0", "1", "-1", "2", "9" * 30, "1e400", "nan", "-inf", "1.5", "true", "None", "[]", "{}", "\0", "\ud7ff", "٣",
    "..", "../../etc", "/dev/zero", "reverse", "cross", "encoder", "a,b", ",", "1:1:1", "=1+1", "<b>", "%00",
    "x" * 9_999,
)  # fmt: skip
OF_WIDGETS: tuple[dict[str, Any], ...] = (
    *({"string_value": value} for value in VALUES),
    *({"int_value": value} for value in (-(2**63), -1, 0, 2**62)),
    *({"double_value": value} for value in (-1.0, 1e308, float("nan"), float("inf"))),
    *({"bool_value": value} for value in (True, False)),
    {"trigger_value": True},
    *({"string_array_value": {"data": list(value)}} for value in ((), ("",), VALUES)),
    *({"double_array_value": {"data": value}} for value in ([], [float("nan")] * 3, [1e308])),
    *(
        {"json_value": value}
        for value in ("", "null", "[]", '{"a": NaN}', "[" * 999, '{"event": "pick", "value": [-1, 9]}')
    ),
    *(
        {"json_trigger_value": value}
        for value in ("", "null", '[{"event": "pick", "value": [-1, 1e9]}]', '[{"event": 1}]')
    ),
)


@pytest.fixture(scope="module")
def server(reverse_only: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("server")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_CHECKPOINTS", reverse_only)
        for name in ("models", "runs"):
            patch.setenv(f"HEADLIGHT_{name.upper()}", str(folder / name))
        with serve_forked(ROOT / "app.py", folder / "log.txt") as url:
            yield url


def test_the_server_lives_and_no_address_leads_to_a_fault(server: str) -> None:
    def attempt(chance: random.Random) -> bool:
        asyncio.run(visit(server, chance))
        assert build_opener(ProxyHandler({})).open(f"{server}/_stcore/health", timeout=30).read() == b"ok"
        return True

    assert fuzz("server", 5, attempt) == 1


async def visit(server: str, chance: random.Random) -> None:
    """One page by a wild address, which must show no fault, for a link can be sent to anybody; then wild values of what
    is on it, which only their sender hears of, and last some bytes that are no message."""
    query = {name: chance.choice(VALUES) for name in chance.sample(FIELDS, chance.randint(0, 6))}
    page = chance.choice(PAGES)
    async with open_session(server, page, **query) as session:
        await session.run()
        shown = (delta.new_element for delta in session.elements.values())
        faults = [element.exception for element in shown if element.WhichOneof("type") == "exception"]
        assert not faults, (page, query, faults)
        with suppress(ConnectionClosed):  # Streamlit hangs up on what it cannot read
            for _ in range(3):
                ids = widget_ids(session)
                some = chance.sample(ids, min(2, len(ids)))
                await session.run(*({"id": id, **chance.choice(OF_WIDGETS)} for id in some))
            await session.socket.send(chance.randbytes(chance.choice((0, 1, 40, 5_000))))


def widget_ids(session: PageSession) -> list[str]:
    """The ids of all widgets of the page."""
    elements = (delta.new_element for delta in session.elements.values())
    kinds = ((element, element.WhichOneof("type")) for element in elements)
    return [id for element, kind in kinds if kind and (id := getattr(getattr(element, kind), "id", ""))]
