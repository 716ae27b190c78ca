"""`python -m tools.space FOLDER`: make the folder of a Hugging Face Space, to be pushed as it is.

It holds what git tracks and the container needs, the container file with the settings of a Space, and what the hub
reads: README.md with its front matter, and .gitattributes.
"""

import argparse
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SPACE = ROOT / "deploy" / "space"
IGNORED = ROOT / "deploy" / "Dockerfile.dockerignore"


def needed() -> list[str]:
    """Return the files of the container: those that git tracks and a "!" line of the .dockerignore names."""
    lines = IGNORED.read_text("utf-8").splitlines()
    patterns = [line.removeprefix("!") for line in lines if line.startswith("!")]
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return [
        name for name in names.split("\0") if any(fnmatch(name, at) or name.startswith(f"{at}/") for at in patterns)
    ]


def build(folder: Path) -> None:
    """Make the folder anew; a clone keeps its history. Raises ValueError where something else is there."""
    if folder.exists():
        existing = [path for path in folder.iterdir() if path.name != ".git"]
        if existing and not _is_ours(folder):
            raise ValueError(f"{folder} holds something else; give a folder that is empty, or that this made.")
        for path in existing:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    for name in needed():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    container = (ROOT / "deploy" / "Dockerfile").read_text("utf-8") + (SPACE / "settings").read_text("utf-8")
    (folder / "Dockerfile").write_text(container, "utf-8")
    shutil.copy2(IGNORED, folder / ".dockerignore")
    shutil.copy2(SPACE / "README.md", folder)
    shutil.copy2(SPACE / "gitattributes", folder / ".gitattributes")


def _is_ours(folder: Path) -> bool:
    """Return whether a folder is a Space of this app, of any version: nothing else has its front matter."""
    page, beginning = folder / "README.md", (SPACE / "README.md").read_bytes().partition(b"colorFrom")[0]
    return page.is_file() and page.read_bytes().startswith(beginning)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.space", description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    try:
        build(folder)
    except (ValueError, OSError) as error:
        sys.exit(str(error))
    print(f"{folder} is ready: hf upload OWNER/NAME {folder} --repo-type space")


if __name__ == "__main__":
    main()
