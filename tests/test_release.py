"""What a release says about itself agrees: its version, its citation, its settings."""

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest
import yaml
from babel import Locale
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import headlight
from tools import production, sbom

ROOT = Path(__file__).resolve().parents[1]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
FORMS = ROOT / ".github" / "ISSUE_TEMPLATE"
CATALOGUES = sorted(path.name for path in (ROOT / "headlight" / "locale").iterdir() if path.is_dir())
INSTALLED = ("app", "charts", "tables", "datasets")  # the extras that the app has
MAX_UPLOAD_BYTES = 100_000_000  # the index takes a few more
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]


def test_readme_citation_and_package_have_one_version() -> None:
    """The version is defined in headlight/__init__.py, and the wheel takes it from there."""
    assert ProjectMetadata(str(ROOT), PluginManager()).version == headlight.__version__
    assert CITATION["version"] == headlight.__version__
    (line,) = [line for line in (ROOT / "README.md").read_text("utf-8").splitlines() if "*Headlight*, version" in line]
    assert f"*Headlight*, version {headlight.__version__}." in line


def test_the_changelog_has_this_release_in_at_most_forty_lines() -> None:
    """The release has the citation's date, and "Unreleased" stands above it."""
    sections = re.split(r"^## ", (ROOT / "docs" / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)[1:]
    assert sections[0].startswith("Unreleased\n")
    heading, *lines = (line for line in sections[1].splitlines() if line.strip())
    assert heading == f"{headlight.__version__} ({CITATION['date-released']})"
    assert len(lines) <= 40


def test_the_command_says_its_version_without_torch() -> None:
    """Torch takes seconds to import."""
    code = "import atexit, runpy, sys; atexit.register(lambda: print('torch' in sys.modules))\n"
    code += "sys.argv[1:] = ['--version']; runpy.run_module('headlight', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"headlight {headlight.__version__}", "False"]


def test_the_citation_says_what_the_project_says() -> None:
    """The required keys of the schema of CFF 1.2.0, and what the licence and pyproject.toml say."""
    assert {"cff-version", "message", "title", "authors"} <= CITATION.keys()
    assert (CITATION["cff-version"], CITATION["type"], CITATION["license"]) == ("1.2.0", "software", PROJECT["license"])
    (author,) = CITATION["authors"]
    assert author["name"].removeprefix("The ") in (ROOT / "LICENSE").read_text("utf-8")
    assert author["name"] in (ROOT / "README.md").read_text("utf-8")


@pytest.mark.slow
def test_streamlit_sends_no_usage_statistics(tmp_path: Path) -> None:
    """The app's settings win over the user's, also when the app starts in another folder."""
    assert production.options()["browser.gatherUsageStats"] == "false"
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "config.toml").write_text("[browser]\ngatherUsageStats = true\n")
    code = "import sys; from streamlit import config; config._main_script_path = sys.argv[1]\n"
    code += "print(config.get_option('browser.gatherUsageStats'))"
    environment = {**os.environ, "HOME": str(tmp_path)}
    for app, expected in ((ROOT / "app.py", "False"), (tmp_path / "app.py", "True")):
        command = [sys.executable, "-c", code, str(app)]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == expected, app


def test_both_texts_on_security_promise_the_same() -> None:
    """The host shows the short one, where people report; docs/security.md has the reasons."""
    answer = "You get an answer within seven days, and a fix or a date for one within thirty."
    for path in (".github/SECURITY.md", "docs/security.md"):
        assert answer in " ".join((ROOT / path).read_text("utf-8").split()), path


def test_issue_forms_ask_each_thing_once_and_name_what_is_there() -> None:
    forms = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in FORMS.glob("*.yml")}
    assert forms.keys() == {"bug", "model", "translation"}
    for form in forms.values():
        questions = [part["id"] for part in form["body"] if part["type"] != "markdown"]
        assert form["name"] and form["description"] and len(set(questions)) == len(questions)
    languages = next(part for part in forms["translation"]["body"] if part["type"] == "dropdown")
    shipped = {Locale.parse(code).english_name for code in ("en", *CATALOGUES)}
    assert set(languages["attributes"]["options"]) == shipped
    texts = [path.read_text("utf-8") for path in (*FORMS.glob("*.yml"), ROOT / ".github/pull_request_template.md")]
    linked = {path for text in texts for path in re.findall(r"/blob/HEAD/([\w./-]+)", text)}
    assert linked and all((ROOT / path).is_file() for path in linked)


def test_the_bill_of_materials_is_valid_and_that_of_the_lists() -> None:
    """`make lock` writes it. The schema is the library's copy of the standard's."""
    text = (ROOT / "requirements" / "headlight.cdx.json").read_text("utf-8")
    assert text == sbom.bill()
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    assert validator.validate_str(text) is None
    assert validator.validate_str(text.replace('"type": "application"', '"type": "app"')) is not None
    assert PROJECT["name"] in text
    assert WheelBuilder(str(ROOT)).config.sbom_files == ["requirements/headlight.cdx.json"]


def installed_with_the_app() -> list[Requirement]:
    texts = [*PROJECT["dependencies"], *(text for name in INSTALLED for text in PROJECT["optional-dependencies"][name])]
    return [requirement for requirement in map(Requirement, texts) if requirement.name != PROJECT["name"]]


def test_the_bill_of_materials_names_each_locked_package_and_what_asks_for_it() -> None:
    """The components are the packages of the app's lock, and those that the notebook's widget needs."""
    bill = json.loads(sbom.bill())
    locks = {name: (ROOT / "requirements" / name).read_text("utf-8") for name in ("app.lock", "docs.lock")}
    pins = {name: set(re.findall(r"^([\w.-]+)==([^ \\]+)", text, re.M)) for name, text in locks.items()}
    torch = set(re.findall(r"^(torch)==(\S+)", (ROOT / "requirements.txt").read_text("utf-8"), re.M))
    packages = {(part["name"], part["version"]) for part in bill["components"] if part["type"] == "library"}
    assert pins["app.lock"] | torch <= packages <= pins["app.lock"] | pins["docs.lock"] | torch
    names = {name for name, _ in packages}
    assert {"anywidget", "ipywidgets", "traitlets"} <= names and not names & {"sphinx", "furo", "myst-parser"}
    asked = {requirement.name.replace("_", "-") for requirement in installed_with_the_app()}
    wanted = {entry["ref"]: entry.get("dependsOn", []) for entry in bill["dependencies"]}
    own = wanted[f"{PROJECT['name']}=={headlight.__version__}"]
    assert {ref.split("==")[0] for ref in own if "==" in ref} == asked
    reached, waiting = set(), list(own)
    while waiting:
        if (ref := waiting.pop()) not in reached:
            reached.add(ref)
            waiting += wanted[ref]
    assert reached == {part["bom-ref"] for part in bill["components"]}  # nothing is there that nothing asks for


def test_the_source_distribution_has_what_the_wheel_is_built_from() -> None:
    sources = {file.distribution_path for file in SdistBuilder(str(ROOT)).recurse_included_files()}
    wheel = {Path(file.path).relative_to(ROOT).as_posix() for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    assert wheel <= sources
    assert {"requirements/headlight.cdx.json", "requirements/app.lock", "CITATION.cff"} <= sources
    assert not {path for path in sources if path.startswith(("tests/", "docs/images/", "benchmarks/"))}


def test_the_wheel_has_the_words_of_the_corpora() -> None:
    wheel = {Path(file.path).relative_to(ROOT).as_posix() for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    paths = (path for ending in ("tsv", "txt") for path in (ROOT / "headlight" / "corpora").rglob(f"*.{ending}"))
    words = {path.relative_to(ROOT).as_posix() for path in paths}
    assert {"headlight/corpora/grammars/english_hindi/verbs.tsv", "headlight/corpora/core/de-en/lexicon.txt"} <= words
    assert words <= wheel


@pytest.mark.slow
def test_the_source_distribution_builds_the_same_wheel_and_may_be_uploaded(tmp_path: Path) -> None:
    (source,) = SdistBuilder(str(ROOT)).build(directory=str(tmp_path / "source"))
    assert os.path.getsize(source) <= MAX_UPLOAD_BYTES
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path, filter="data")
    unpacked = tmp_path / Path(source).name.removesuffix(".tar.gz")
    (again,) = WheelBuilder(str(unpacked)).build(directory=str(tmp_path / "again"))
    (first,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path / "first"))
    assert Path(again).read_bytes() == Path(first).read_bytes()


def test_the_paper_keeps_the_limits_of_its_journal_and_names_what_exists() -> None:
    """At most 1,000 words with the header; sources and bibliography list the same entries."""
    folder = ROOT / "docs" / "paper"
    text = (folder / "paper.md").read_text("utf-8")
    assert len(text.split()) <= 1000
    cited = set(re.findall(r"@([a-z]+[0-9]{4})", text))
    listed = re.findall(r"^@\w+\{(\w+),$", (folder / "paper.bib").read_text("utf-8"), re.MULTILINE)
    assert cited == set(listed) and len(listed) == len(set(listed))
    figures = re.findall(r"^!\[.+\]\((.+)\)$", text, re.MULTILINE)
    assert figures and all((folder / figure).is_file() for figure in figures)
    assert f"- name: {CITATION['authors'][0]['name']}\n" in text


def test_every_notebook_opens_in_colab_and_binder() -> None:
    """All links have one address: the placeholder, or the one by which docs/releasing.md replaces it."""
    text = (ROOT / "docs" / "notebook.md").read_text("utf-8")
    (address,) = set(re.findall(r"(?:colab\.research\.google\.com/github|mybinder\.org/v2/gh)/([^/]+/[^/]+)/", text))
    for path in (ROOT / "docs" / "examples").glob("*.ipynb"):
        place = path.relative_to(ROOT).as_posix()
        assert f"(https://colab.research.google.com/github/{address}/blob/main/{place})" in text
        assert f"(https://mybinder.org/v2/gh/{address}/main?labpath={place})" in text


def test_binder_builds_with_a_python_that_the_package_accepts() -> None:
    """With a folder .binder, Binder ignores requires-python and takes an older Python unless runtime.txt names one."""
    runtime = (ROOT / ".binder" / "runtime.txt").read_text("utf-8").strip()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert runtime.removeprefix("python-") in SpecifierSet(project["requires-python"])


def test_the_recipe_for_conda_asks_for_what_the_package_asks_for() -> None:
    recipe = yaml.safe_load((ROOT / "deploy" / "conda" / "recipe.yaml").read_text("utf-8"))
    assert recipe["context"]["version"] == headlight.__version__ and recipe["package"]["name"] == PROJECT["name"]
    names = {"torch": "pytorch", "redis": "redis-py", "typst": "typst-py"}  # there; the other names are the same
    asked = {names.get(one.name, one.name): one.specifier for one in installed_with_the_app() if one.marker is None}
    asked["python"] = SpecifierSet(PROJECT["requires-python"])
    texts = [text.split(" ", 1) for text in recipe["requirements"]["run"]]
    assert {name: SpecifierSet(versions) for name, versions in texts} == asked
    (backend,) = PYPROJECT["build-system"]["requires"]
    assert backend.replace("==", " ==") in recipe["requirements"]["host"]
    (script,) = PROJECT["scripts"].items()
    assert recipe["build"]["python"]["entry_points"] == [" = ".join(script)]
    assert recipe["about"]["license_file"] == PROJECT["license-files"]
    source = recipe["source"]["path"].replace("${{ version }}", headlight.__version__)
    assert Path(source).name == f"{SdistBuilder(str(ROOT)).artifact_project_id}.tar.gz"
