"""Pages run without a browser, and the models that they find."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from headlight import checkpoints
from tests.small import TEXTS, small_checkpoint
from tests.unpacked import unpacked
from ui.state import models

PAGES = Path(__file__).resolve().parents[2] / "pages"


def use_folders(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Let the pages take what they show from the folders checkpoints, models and runs of `folder`."""
    for name in ("checkpoints", "models", "runs"):
        (folder / name).mkdir(exist_ok=True)
        patch.setattr(models, name.upper(), folder / name)


def save_small(shelves: Path, **changes: Any) -> Path:
    """Save the small model, with two examples, as checkpoints/small; return its folder."""
    checkpoint = small_checkpoint(**changes)
    checkpoint.card["examples"] = TEXTS[:2]
    checkpoints.save(checkpoint, shelves / "checkpoints" / "small")
    return shelves / "checkpoints" / "small"


def page_at(page: str, **query: str) -> AppTest:
    """Return the page at an address, not yet run."""
    app = AppTest.from_file(str(PAGES / f"{page}.py"), default_timeout=300)
    app.query_params.update(query)
    return app


def open_page(page: str, *expanded: str, **query: str) -> AppTest:
    """Return the page at an address, run without an error; the expanders of these keys are open."""
    app = page_at(page, **query)
    for key in expanded:
        app.session_state[key] = True
    return ran(app)


def ran(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception and not app.error, (app.exception, app.error)
    return app


def captions(app: AppTest) -> str:
    return " ".join(element.value for element in app.caption)


def texts(app: AppTest) -> str:
    """Return the Markdown, the captions and the notes of the page."""
    return " ".join(element.value for element in (*app.markdown, *app.caption, *app.info))


def payload(app: AppTest, key: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and the arrays that the component of this key was sent."""
    component = next(each for each in app.get("bidi_component") if re.search(rf"-{key}(-None)?$", each.proto.id))
    return unpacked(component.proto.bytes)


def header(app: AppTest, key: str) -> dict[str, Any]:
    return payload(app, key)[0]
