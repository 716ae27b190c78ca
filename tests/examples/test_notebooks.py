"""The notebooks of docs/examples/: committed without outputs, and what their text says of the outputs is so."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("transformers")

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "examples").glob("*.ipynb"))
# The pictures of each, and lines among what it prints.
DUE: dict[str, tuple[int, list[str]]] = {
    "1-first-look": (1, ["'La petite fille mange une pomme rouge.'", "99%  ▁apple", "78%  ▁red"]),
    "2-a-translator-of-hugging-face": (
        2,
        ["le chien rouge voit le chat blanc", "'cross': (2, 4, 8, 8)", "('sdpa', True)"],
    ),
    "3-bert-and-gpt-2": (2, ["'dates', 'honey'],\n ['figs', 'lemon', 'apple', 'kale', 'dates']"]),
    "4-switching-heads-off": (2, [" 2 off: La petite fille mange une pomme rouge.", "12 off: "]),
    "5-your-checkpoint": (2, ["pad_id: Which id is padding?", "'cinq un quatre un trois'"]),
    "6-a-live-marian-and-t5": (
        1,
        [
            "MarianMTModel: le chien rouge voit le chat blanc (logits differ by less than 0.0001: True)",
            "T5ForConditionalGeneration: le chien rouge voit le chat blanc (logits differ by less than 0.0001: True)",
            "T5ForConditionalGeneration: rouge rather than vert",
            "  red      1.00   0.9",
            "100 sentences, 9 columns: step, written",
        ],
    ),
}
# What their cells import, and the extra that installs it.
EXTRA_OF = {"transformers": "import", "pandas": "tables"}


def read(path: Path) -> Any:
    return nbformat.read(path, 4)


def test_none_is_left_out() -> None:
    assert [path.stem for path in NOTEBOOKS] == list(DUE)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_kept_without_outputs_and_installs_what_it_needs_in_a_cell(path: Path) -> None:
    notebook = read(path)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in cells)
    assert cells[0].source.startswith("try:\n    import headlight")
    (extras,) = re.findall(r'%pip install --quiet "?headlight-attention(?:\[([a-z,]+)\])?', cells[0].source)
    code = "\n".join(cell.source for cell in cells)
    needed = {extra for package, extra in EXTRA_OF.items() if re.search(rf"^\s*(import|from) {package}\b", code, re.M)}
    assert set(filter(None, extras.split(","))) == needed
    assert path.stat().st_size < 12_000 and set(notebook.metadata) == {"kernelspec", "language_info"}


def said(output: Any) -> str:
    if output.output_type == "stream":
        assert output.name == "stdout", output.text
        return str(output.text)
    return str(output.data["text/plain"])


@pytest.mark.slow
def test_they_run_and_their_text_is_true_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one process, which imports torch once; in between every name of theirs is forgotten."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    together = nbformat.v4.new_notebook(metadata=read(NOTEBOOKS[0]).metadata)
    for path in NOTEBOOKS:
        cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
        together.cells += [nbformat.v4.new_code_cell("%reset -f"), *cells]
        for cell in cells:
            cell.metadata.notebook = path.stem
            cell.id = f"{path.stem}-{cell.id}"
    folder = {"metadata": {"path": str(ROOT / "docs" / "examples")}}
    client = nbclient.NotebookClient(together, timeout=120, resources=folder)
    client.execute(env=environment)
    for name, (pictures, lines) in DUE.items():
        outputs = [out for cell in together.cells if cell.metadata.get("notebook") == name for out in cell.outputs]
        assert sum("text/html" in out.get("data", {}) for out in outputs) == pictures
        text = "".join(map(said, outputs))
        assert [line for line in lines if line not in text] == []
