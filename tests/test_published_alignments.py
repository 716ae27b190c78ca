"""The alignment error rates that lilt/alignment-scripts publishes, from its own alignments and awesome-align's gold.

Not here: German-English, whose gold may only be downloaded from RWTH Aachen, and lilt's way to grow the diagonal, which
adds a neighbour only where both words are without a link; ours, as Koehn et al. 2003 describe it, where one of them is.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import numpy as np
import pytest

from headlight.analysis.alignment_error import error_counts, error_rates
from headlight.corpora.pharaoh import read_links

ARCHIVE = Path(__file__).parent / "fixtures" / "alignments" / "alignments.tar.xz"
# Percent, precision and recall, as its README has them: source to target, back, grow-diagonal, grow-diagonal-final.
PUBLISHED = {
    ("fastalign", "roen"): ["33.8 71.8 61.3", "35.5 70.6 59.4", "32.1 85.1 56.5", "32.2 81.4 58.1"],
    ("giza", "roen"): ["28.7 82.7 62.6", "32.2 79.5 59.1", "27.9 94.0 58.5", "26.4 90.9 61.8"],
    ("fastalign", "enfr"): ["16.4 80.0 90.1", "15.9 81.3 88.7", "10.5 90.8 87.8", "12.1 87.7 88.3"],
    ("giza", "enfr"): ["8.0 91.4 92.9", "9.8 91.6 88.3", "5.9 97.5 89.7", "6.2 95.5 91.6"],
}
# Where the published alignments don't give the published figures, also by lilt's own scripts/aer.py.
OTHERWISE = {("fastalign", "roen", ""): "33.8 71.9 61.4", ("fastalign", "roen", ".reverse"): "35.6 70.5 59.3"}
WAYS = ("", ".reverse", ".grow-diagonal", ".grow-diagonal-final")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("alignments")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(path, filter="data")
    return path


@pytest.mark.parametrize(("aligner", "languages"), PUBLISHED)
def test_the_published_figures_are_reproduced(aligner: str, languages: str, folder: Path) -> None:
    gold = read_links(folder / f"{languages}.gold", one_based=True)
    for way, published in zip(WAYS, PUBLISHED[aligner, languages], strict=True):
        links = read_links(folder / f"{aligner}.{languages}{way}.talp")
        found = [of.reversed.sure if way == ".reverse" else of.sure for of in links]
        counts = np.array([error_counts(*of) for of in zip(found, gold, strict=True)])
        ((rate, low, high),) = error_rates(counts[:, :1], counts[:, 1:])
        assert low < rate < high
        made, known = (sum(map(len, of)) for of in (found, [of.sure for of in gold]))
        precision = sum(len(a & b.possible) for a, b in zip(found, gold, strict=True)) / made
        recall = sum(len(a & b.sure) for a, b in zip(found, gold, strict=True)) / known
        figures = " ".join(f"{100 * figure:.1f}" for figure in (rate, precision, recall))
        assert figures == OTHERWISE.get((aligner, languages, way), published), way
