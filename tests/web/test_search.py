"""The Decoding view of the published page: its search, in Node, held to what the app sends to the same player."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headlight import checkpoints
from headlight.web.model_file import model_bytes, round_weights
from tests.unpacked import unpacked
from tests.web.test_engine import NODE, ROOT
from transformer import Translator
from transformer.decoding.strategies import Decoding
from ui.decoding.payload import Start, player_payload
from ui.decoding.search import searched

FIELDS = (
    "normalises", "bound", "vocabulary", "steps", "top", "never", "nodes", "candidates", "strings", "hides", "only",
)
START = Start("1", 1, 1, 0, 0, False, True, "total", True)


@pytest.mark.parametrize(
    ("name", "text", "size"),
    [
        ("english-french", "The animal didn't cross the street because it was too wide.", 3),
        ("english-french", "The girl sees the dog.", 1),
        ("english-french", "qux zyx", 5),
        ("reverse-unmasked", "headlight", 2),
        ("reverse", "abc", 4),
    ],
)
def test_a_search_is_the_apps(name: str, text: str, size: int, tmp_path: Path) -> None:
    checkpoint = checkpoints.load(name)
    decoding = Decoding.of("greedy") if size == 1 else Decoding.of("beam", size=size, length_penalty=1.0)
    files = [tmp_path / file for file in ("model", "asked", "answer")]
    files[0].write_bytes(model_bytes(checkpoint, {}))
    files[1].write_text(json.dumps({"text": text, "strategy": decoding.name, "size": size}))
    subprocess.run([NODE, ROOT / "tests/web/search.mjs", *files], check=True, timeout=120)
    found: dict[str, Any] = json.loads(files[2].read_text("utf-8"))
    round_weights(checkpoint.model)
    model = Translator(checkpoint)
    source = model.encode(text)
    search = searched(
        model, source, decoding, decoding.steps(model.prepared, model.source_batch([source]), record=True)
    )
    header, arrays = unpacked(player_payload(model, search, START, None))
    assert [found["header"][field] for field in FIELDS] == [header[field] for field in FIELDS]
    assert [{**one, "at_best": 0} for one in found["header"]["hypotheses"]] == [
        {**one, "at_best": 0} for one in header["hypotheses"]
    ]
    for numbers in ("encoder", "decoder", "cross", "log_prob", "total", "score", "probability", "seen"):
        expected = arrays[numbers]
        tolerance = 1e-4 if expected.ndim > 1 else 1e-3
        given = np.array(found["arrays"][numbers]).reshape(expected.shape)
        np.testing.assert_allclose(given, expected, rtol=0, atol=tolerance, err_msg=numbers)
