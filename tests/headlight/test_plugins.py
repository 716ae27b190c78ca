"""The example package, installed as pip does: its measure, its importer and its page; and packages that fail."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

import headlight
from headlight import plugins
from headlight.analysis import measures
from headlight.analysis.measures import MEASURES
from headlight.cli.doctor import _plugins
from headlight.cli.verbs import main
from headlight.importers.forms import of_plugins
from headlight.importers.importing import examine
from headlight.tables.columns import column_types
from tests.small import TEXTS, small_checkpoint, small_translator
from transformer.checkpoint import native
from transformer.files import write_json
from transformer.translator import Translator
from ui.widgets.pages import plugin_pages

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "plugin"


def forget() -> None:
    """Forget what was read of other packages, as in a new process."""
    for cached in (plugins.declared, plugins.plugins, plugins.report, of_plugins.forms):
        cached.cache_clear()
    for name in set(measures._BUILT_IN_MEASURES) - OURS:
        del measures._BUILT_IN_MEASURES[name]
    MEASURES._begun = MEASURES._complete = False


OURS = set(measures._BUILT_IN_MEASURES)


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], None]]:
    """A function that puts a folder of packages on the path."""

    def put(folder: Path) -> None:
        monkeypatch.syspath_prepend(folder)
        forget()

    yield put
    monkeypatch.undo()
    forget()
    for name in [name for name in sys.modules if name.startswith(("headlight_example", "broken_"))]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--target", str(folder), str(EXAMPLE)], check=True, timeout=120)
    return folder


def test_the_example_package(
    installed: Path, fresh: Callable[[Path], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "last_key" not in MEASURES and plugin_pages() == []
    fresh(installed)
    trace = small_translator().trace(TEXTS[1])
    values = headlight.measure(trace, "cross")["last_key"]
    np.testing.assert_allclose(values, trace.pattern("cross")[..., -1].mean(-1), atol=1e-6)
    assert headlight.MEASURES["last_key"].on_attention and "last_key" in column_types("heads")
    both = list(headlight.trace_over(small_translator(), ["a girl", TEXTS[1]]))  # in a batch with padding
    np.testing.assert_allclose(headlight.measure(both[1], "cross")["last_key"], values, atol=1e-5)

    ((path, page),) = plugin_pages()
    assert (path, page.title) == ("vocabulary", "Vocabulary") and callable(page.draw)
    assert [line for line, fine in _plugins() if fine] == [
        "headlight.measures: last-key", "headlight.importers: lab", "headlight.pages: vocabulary",
    ]  # fmt: skip

    checkpoint = small_checkpoint()
    native.save(checkpoint, tmp_path / "lab")
    (tmp_path / "lab" / "config.json").rename(tmp_path / "lab" / "lab.json")
    weights = {f"net.{name}": weight.detach().clone() for name, weight in checkpoint.model.named_parameters()}
    save_file(weights, tmp_path / "lab" / "model.safetensors")
    assert main(["import", str(tmp_path / "lab"), "--out", str(tmp_path / "imported")]) == 0
    assert "This is a model of the example lab" in capsys.readouterr().out
    imported = Translator.load(tmp_path / "imported")
    assert imported.translate(TEXTS[0]) == Translator(checkpoint).translate(TEXTS[0])


def package(folder: Path, name: str, code: str, **points: str) -> None:
    """Write a package as it is when it is installed; `points` are the entry points, by group."""
    (folder / f"{name}.py").write_text(code)
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    groups = (f"[headlight.{group}]\n{point}\n" for group, point in points.items())
    (about / "entry_points.txt").write_text("".join(groups))


def test_what_fails_is_named_and_everything_else_works(
    fresh: Callable[[Path], None], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    code = """
from headlight.analysis.measures import Measure
def of(name, function, unit="share"):
    return Measure(name, name, unit, "", "", "", function)
MEASURES = [of("raises", lambda pattern: 1 / 0), of("misshapen", lambda pattern: pattern.shares),
            of("entropy", print), of("metres", print, "metres"), 7, of("first_key", lambda p: p.mean(p.shares[..., 0]))]
class Lab:
    name = title = "Broken"
    facts = folded = questions = read = due = fits = lambda self, *arguments: 1 / 0
"""
    package(tmp_path, "broken_values", code, measures="all = broken_values:MEASURES", importers="l = broken_values:Lab")
    package(tmp_path, "broken_exit", "raise SystemExit", measures="exit = broken_exit:M", pages="exit = broken_exit:P")
    package(tmp_path, "broken_name", "", importers="x = broken_name:Missing", pages="Not/an address = broken_name:P")
    package(tmp_path, "broken_page", "P = 1", pages="heads = broken_page:P\npage = broken_page:P")
    fresh(tmp_path)
    trace = small_translator().trace("a girl")
    with caplog.at_level(logging.WARNING, "headlight"), pytest.warns(RuntimeWarning):
        values = headlight.measure(trace, "cross")
        ours = {name for name in OURS if MEASURES[name].of_weights}
        assert set(values) == ours | {"raises", "misshapen", "first_key"}
        np.testing.assert_allclose(values["first_key"], values["first"])
        assert np.isnan(values["raises"]).all() and np.isnan(values["misshapen"]).all()
        native.save(small_checkpoint(), tmp_path / "model")
        assert examine(tmp_path / "model").form == "Headlight"
        torch.save({"weight": torch.zeros(2, 2)}, tmp_path / "other.pt")
        assert examine(tmp_path / "other.pt").form is None  # `fits` and `due` of every importer were asked
        assert plugin_pages() == []
        headlight.measure(trace, "cross")
    texts = [record.getMessage() for record in caplog.records]
    for package_, what in (
        ("broken_values", "fails in the measure raises (ZeroDivisionError: division by zero)"),
        ("broken_values", "fails in the measure misshapen (ValueError: it returned (1, "),
        ("broken_values", "the measure 'entropy' cannot be added, since there is a measure of that name"),
        ("broken_values", "the measure 'metres' cannot be added, since its unit is 'metres'"),
        ("broken_values", "all is 7; it must be a Measure with a function"),
        ("broken_values", "fails in the importer Broken (ZeroDivisionError: division by zero)"),
        ("broken_exit", "is left out: broken_exit:M cannot be imported (SystemExit: )"),
        ("broken_name", "is left out: broken_name:Missing cannot be imported (AttributeError"),
        ("broken_name", "names 'Not/an address'"),
        ("broken_page", "is left out: the page page is no headlight.plugins.Page"),
    ):
        assert sum(text.startswith(f"The plugin {package_} ") and what in text for text in texts) == 1, (what, texts)


@pytest.mark.slow
def test_a_plugin_that_is_imported_first(installed: Path) -> None:
    """The plugin imports the registry, which must not look for plugins before it is complete."""
    code = "import headlight_example.measure as m, headlight; assert 'last_key' in headlight.MEASURES"
    path = {"PYTHONPATH": f"{installed}:{EXAMPLE.parents[1]}"}
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], env=path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_file_that_breaks_an_importer_is_refused(fresh: Callable[[Path], None], tmp_path: Path) -> None:
    code = """
class Lab:
    name = title = "Broken"
    fits = lambda self, source: source.file("broken.json") is not None
    facts = folded = questions = lambda self, source: ()
    due = lambda self, source: {}
    read = lambda self, source, answers: 1 / 0
"""
    package(tmp_path, "broken_read", code, importers="lab = broken_read:Lab")
    fresh(tmp_path)
    (tmp_path / "model").mkdir()
    write_json(tmp_path / "model" / "broken.json", {})
    save_file({"weight": torch.zeros(2, 2)}, tmp_path / "model" / "model.safetensors")
    with pytest.raises(ValueError, match="The importer Broken of broken_read failed .ZeroDivisionError"):
        examine(tmp_path / "model")
