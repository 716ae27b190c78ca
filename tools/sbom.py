"""`python -m tools.sbom FILE`: write the software bill of materials of the wheel, CycloneDX 1.6 as JSON.

The components are what `pip install "headlight-attention[app]"` brings, in the tested versions: the packages of two
locks that the project asks for, with what asks for each, and torch, which requirements.txt pins. A font lies in the
wheel itself. The file is the same for the same lists, so it has no time and no serial number.
"""

from __future__ import annotations

import hashlib
import re
import sys
import tomllib
from pathlib import Path

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.model.license import DisjunctiveLicense
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("app.lock", "docs.lock")  # of the app, and of the notebook's widget and more
LIST = "requirements.txt"
WIDGET = "anywidget"  # the dependency that LIST lacks, since the app does without it
FONTS = ROOT / "ui" / "static" / "fonts"
_ENTRY = re.compile(r"^([\w.-]+)==([^ \\]+)(?: ; ([^\\]+))?", re.M)  # its name, version and marker
_TORCH = re.compile(r"^(torch)==(\S+)", re.M)


def package(name: str, version: str, optional: bool = False) -> Component:
    """Return a package of the index; `optional` is one that only some systems or versions of Python need."""
    return Component(
        name=name,
        version=version,
        bom_ref=f"{name}=={version}",
        purl=PackageURL("pypi", name=name, version=version),
        scope=ComponentScope.OPTIONAL if optional else ComponentScope.REQUIRED,
    )


def locked() -> list[tuple[Component, list[str]]]:
    """Return the packages that the project asks for, each with the names that ask for it; LIST is this project."""
    by_ref: dict[str, tuple[Component, list[str]]] = {}
    for lock in ((ROOT / "requirements" / name).read_text("utf-8") for name in LOCKS):
        entries = list(_ENTRY.finditer(lock))
        ends = [entry.start() for entry in entries[1:]] + [len(lock)]
        for entry, end in zip(entries, ends, strict=True):
            part = package(entry[1], entry[2], optional=bool(entry[3]))
            askers = re.findall(r"^ +# +(?:via +)?(?:-r )?([\w.-]+)$", lock[entry.end() : end], re.M)
            askers += [LIST] * (part.name == WIDGET)
            by_ref.setdefault(str(part.bom_ref.value), (part, []))[1].extend(name for name in askers if name != "via")
    name, version = _TORCH.findall((ROOT / LIST).read_text("utf-8"))[0]
    by_ref[name] = (package(name, version), [LIST])
    needed, size = {LIST}, 0
    while len(needed) > size:  # until nothing more is asked for
        size = len(needed)
        needed |= {part.name for part, askers in by_ref.values() if needed & set(askers)}
    return [(part, askers) for part, askers in by_ref.values() if part.name in needed]


def fonts() -> list[Component]:
    license_ = DisjunctiveLicense(id="OFL-1.1")
    return [
        Component(
            name=path.name,
            type=ComponentType.FILE,
            bom_ref=path.name,
            licenses=[license_],
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=hashlib.sha256(path.read_bytes()).hexdigest())],
        )
        for path in sorted(FONTS.glob("noto-*.woff2"))
    ]


def bill() -> str:
    """Return the bill of materials as JSON, with a line break at its end."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    version = re.findall(r'^__version__ = "(.+)"$', (ROOT / "headlight" / "__init__.py").read_text("utf-8"), re.M)[0]
    root = package(project["name"], version)
    root.type = ComponentType.APPLICATION
    root.description = project["description"]
    root.licenses.add(DisjunctiveLicense(id=project["license"]))
    packages = locked()
    bom = Bom(metadata=BomMetaData(component=root), components=[*(component for component, _ in packages), *fonts()])
    for asker in [root, *(component for component, _ in packages)]:
        name = LIST if asker is root else asker.name
        bom.register_dependency(asker, [component for component, askers in packages if name in askers])
    bom.register_dependency(root, fonts())
    bom.serial_number, bom.metadata.timestamp = None, None  # type: ignore[assignment]
    return JsonV1Dot6(bom).output_as_string(indent=2) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(bill(), "utf-8")
