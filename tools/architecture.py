"""Draw the layers of pyproject.toml's contracts: `python -m tools.architecture > docs/images/architecture.svg`."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WIDTH, ROW, GAP = 760, 34, 8
PACKAGES = {
    "ui": "what is on the screen, in Streamlit",
    "server": "what answers before Streamlit, beside ui",
    "headlight": "the instrument: everything that a notebook or a shell can do as well",
    "transformer": "the paper as code",
}
STYLE = """
    svg.architecture:root { color: #1d2433; }
    @media (prefers-color-scheme: dark) { svg.architecture:root { color: #e8eaf0; } }
    .architecture rect { fill: currentColor; fill-opacity: 0.06; stroke: currentColor; stroke-opacity: 0.3; }
    .architecture .frame { fill-opacity: 0.03; }
    .architecture text { fill: currentColor; font: 12px system-ui, sans-serif; text-anchor: middle; }
    .architecture .name { font-weight: 650; font-size: 13px; text-anchor: start; }
  """


def layers(package: str) -> list[list[str]]:
    """Return the rows of a package from the top: each imports only from the rows below it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (rows,) = [contract["layers"] for contract in contracts if contract.get("containers") == [package]]
    return [[name.strip() for name in row.split("|")] for row in rows]


def box(x: float, y: float, width: float, text: str) -> str:
    return (
        f'  <rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{ROW}" rx="6"/>\n'
        f'  <text x="{x + width / 2:.0f}" y="{y + ROW / 2 + 4:.0f}">{text}</text>\n'
    )


def frame(x: float, y: float, width: float, package: str, about: str) -> tuple[str, float]:
    """Draw a package with its rows of boxes; return where it ends."""
    rows = layers(package)
    height = 30 + len(rows) * (ROW + GAP) + GAP
    svg = f'  <rect class="frame" x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height}" rx="10"/>\n'
    svg += f'  <text class="name" x="{x + 12:.0f}" y="{y + 21:.0f}">{package}/: {about}</text>\n'
    for number, row in enumerate(rows):
        # A box is as wide as its name needs; what is left is shared.
        needs = [len(name) * 7.0 + 14 for name in row]
        spare = (width - 2 * GAP - GAP * (len(row) - 1) - sum(needs)) / len(row)
        left, top = x + GAP, y + 30 + number * (ROW + GAP)
        for name, need in zip(row, needs, strict=True):
            svg += box(left, top, need + spare, name.replace("__main__", "python -m headlight"))
            left += need + spare + GAP
    return svg, y + height


def picture() -> str:
    svg, top = "", 10.0
    for text in ("tools/: what starts the app, and scripts", "app.py", "pages/: a short script for each page"):
        svg, top = svg + box(10, top, WIDTH - 20, text), top + ROW + GAP
    for package, about in PACKAGES.items():
        package_drawn, end = frame(10, top, WIDTH - 20, package, about)
        svg, top = svg + package_drawn, end + GAP
    label = "Which package may import which: each row imports only from the rows below it"
    return (
        f'<svg class="architecture" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top:.0f}" role="img" '
        f'aria-label="{label}">\n'
        "  <!-- On its own it follows the system's theme; in a page it takes the colour of the text around it. -->\n"
        f"  <style>{STYLE}</style>\n{svg}</svg>\n"
    )


if __name__ == "__main__":
    print(picture(), end="")
