"""The wheel without extras suffices for notebooks and the library's commands; errors name a missing extra."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import headlight
from headlight.charts.document import Drawing
from headlight.cli import main as command
from headlight.cli.tables import load_pretrained
from headlight.tables.files import Table, write_table
from tests.small import small_translator
from tests.test_requirements import EXTRAS, PROJECT, ROOT, key, of_extra
from transformer.extras import MissingPackageError, require_package

OWNERS = packages_distributions()  # of each top-level module
BASE = {key(one) for one in map(Requirement, PROJECT["dependencies"])}


def modules_of(packages: set[str]) -> set[str]:
    """The top-level modules of installed packages."""
    return {module for module, names in OWNERS.items() if {canonicalize_name(name) for name in names} & packages}


OF_EXTRAS = modules_of({name for extra in EXTRAS for name in of_extra(extra)})

# Refuses the packages of every extra, as in an environment that has none of them.
WITHOUT_EXTRAS = f"""
import json, sys
from importlib.abc import MetaPathFinder
class Refused(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {OF_EXTRAS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Refused())
"""


def run(code: str, folder: Path = ROOT) -> str:
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_it_imports_nothing_that_has_to_be_installed() -> None:
    code = "import sys, json; before = {*sys.modules}; import headlight; print(json.dumps([*{*sys.modules} - before]))"
    tops = {name.partition(".")[0] for name in json.loads(run(code))}
    assert tops - sys.stdlib_module_names == {"headlight"}


@pytest.mark.slow
def test_a_notebook_needs_no_extra_and_looks_for_none() -> None:
    """huggingface_hub comes with the tokenizers, and is imported only where a model of the hub is fetched."""
    code = "import sys, json, headlight; model = headlight.load('reverse'); view = headlight.show(model.trace('abc'))\n"
    code += "assert view._repr_mimebundle_(); print(json.dumps([*sys.modules]))"
    tops = {name.partition(".")[0] for name in json.loads(run(code))}
    assert {"anywidget", "torch"} <= tops
    assert tops & (OF_EXTRAS | {"huggingface_hub"}) == set()


COMMANDS = [
    ["translate", "reverse", "abc"],
    ["trace", "reverse", "abc", "--out", "trace.npz"],
    ["trace", "reverse", "words.txt", "--out", "heads.csv"],
    ["why", "reverse", "words.txt", "--out", "why.jsonl"],
    ["publish", "--trace", "trace.npz", "--single", "page.html"],
    ["lesson", "it", "--handout", "handout.html"],
    ["describe", "reverse"],
]


@pytest.mark.slow
def test_the_commands_need_no_extra_nor_does_a_module_of_the_library_but_those_with_figures(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("abc\nheadlight\n")
    code = f"""{WITHOUT_EXTRAS}
from importlib import import_module
from pkgutil import walk_packages
import headlight, transformer
from headlight.cli.verbs import main
from transformer.extras import MissingPackageError
print(json.dumps([main(arguments) for arguments in {COMMANDS!r}]))
missing = {{}}
for package in (headlight, transformer):
    for module in walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.endswith("__main__"):
            try:
                import_module(module.name)
            except MissingPackageError as error:
                missing[module.name] = str(error)
print(json.dumps(missing))"""
    codes, missing = map(json.loads, run(code, tmp_path).splitlines()[-2:])
    assert codes == [0] * len(COMMANDS)
    assert all((tmp_path / words[-1]).stat().st_size for words in COMMANDS if "." in words[-1])
    assert "headlight.charts.figure" in missing and "headlight.charts.heatmap" not in missing
    assert {name.rpartition(".")[0] for name in missing} == {"headlight.charts"}
    assert set(missing.values()) == {'A figure needs plotly: pip install "headlight-attention[charts]"'}


# ---- what is said where one is missing -------------------------------------------------------------


def required() -> Iterator[tuple[str, str]]:
    """Yield each module and extra that the code passes to `require_package`."""
    for path in [*(ROOT / "headlight").rglob("*.py"), *(ROOT / "transformer").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "require_package":
                name, _purpose, *extra = map(ast.literal_eval, node.args)
                yield name, extra[0] if extra else ""


@pytest.mark.slow
def test_each_extra_that_is_named_installs_what_is_missing() -> None:
    named = set(required())
    assert {extra for _, extra in named} - {""} == EXTRAS.keys() - {"all"}
    for name, extra in named:
        assert name in modules_of({*of_extra(extra)} if extra else BASE), (name, extra)


def table(path: Path) -> None:
    write_table(Table(path / "heads.parquet", {"line": "integer"}, {}), [], lambda window: [])


@pytest.mark.parametrize(
    ("call", "package", "extra"),
    [
        (lambda path: small_translator().trace("a girl").to_dataframe(), "pandas", "tables"),
        (lambda path: headlight.head_table(small_translator().trace("a girl")), "pandas", "tables"),
        (table, "pyarrow", "tables"),
        (lambda path: headlight.charts.heatmap(small_translator().trace("a girl"), "cross", 1, 1), "plotly", "charts"),
        (lambda path: Drawing([], (1, 1)).savefig(path / "head.png"), "typst", "charts"),
        (lambda path: load_pretrained("someone/something"), "transformers", "import"),
    ],
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    call: Callable[[Path], object], package: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "headlight.charts.figure", raising=False)  # imports Plotly
    line = re.escape(f'needs {package}: pip install "headlight-attention[{extra}]"')
    with pytest.raises(MissingPackageError, match=f"^[A-Z].* {line}$"):
        call(tmp_path)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("verb", ["app", "class", "serve", "desktop"])
def test_the_app_without_streamlit_says_what_installs_it(
    verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "streamlit", None)
    monkeypatch.setattr(sys, "argv", ["headlight", verb])
    monkeypatch.setattr("os.execve", lambda *_: pytest.fail("it goes on without Streamlit"))
    with pytest.raises(SystemExit) as end:
        command.main()
    assert end.value.code == 1
    assert capsys.readouterr().err == 'headlight: The app needs streamlit: pip install "headlight-attention[app]"\n'


def test_a_package_that_a_package_needs_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "half_installed.py").write_text("import surely_missing")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingPackageError, match="^This needs surely_missing: pip install headlight-attention$"):
        require_package("half_installed", "This")
