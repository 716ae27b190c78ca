"""Reading the viewer's pictures: where a cell is, what colour it has, what its tooltip says."""

import re

from playwright.sync_api import Locator, Page

LIGHT = ["#ffffff", "#c9d8f0", "#6f9bd1", "#2f5fa8", "#0b2a66"]
DARK = ["#0e1117", "#3b2f63", "#b5476d", "#f9a25c", "#fff3c4"]
MAP = ".map canvas"


def ramp(weight: float, stops: list[str]) -> list[float]:
    """The colour of a weight from 0 to 1: straight lines between five stops."""
    points = [[int(stop[i : i + 2], 16) for i in (1, 3, 5)] for stop in stops]
    at = min(max(weight, 0.0), 1.0) * 4
    i = min(3, int(at))
    return [a + (b - a) * (at - i) for a, b in zip(points[i], points[i + 1], strict=True)]


def near(colour: list[int], expected: list[float], tolerance: float = 3) -> bool:
    return max(abs(a - b) for a, b in zip(colour, expected, strict=True)) <= tolerance


def pixel(canvas: Locator, x: float, y: float) -> list[int]:
    """Red, green and blue at a point of the canvas, in CSS pixels."""
    channels: list[int] = canvas.evaluate(
        """(canvas, [x, y]) => {
            const scale = canvas.width / canvas.getBoundingClientRect().width;
            return [...canvas.getContext("2d").getImageData(x * scale, y * scale, 1, 1).data].slice(0, 3);
        }""",
        [x, y],
    )
    return channels


def cell(page: Page, row: int, column: int) -> dict[str, float]:
    """The middle of a cell of the large map, in pixels of its canvas; the map shows all of itself."""
    x, y, across, down = (float(part) for part in str(page.locator(MAP).get_attribute("data-cells")).split())
    return {"x": x + (column + 0.5) * across, "y": y + (row + 0.5) * down}


def thumb_pixel(page: Page, layer: int, head: int, shape: tuple[int, int], at: tuple[int, int]) -> list[int]:
    canvas = page.locator(".sheet")
    whole = canvas.bounding_box()
    box = page.locator(f'.thumb[aria-label^="Layer {layer + 1}, head {head + 1},"]').bounding_box()
    assert box is not None and whole is not None
    x, y = (at[1] + 0.5) * box["width"] / shape[1], (at[0] + 0.5) * box["height"] / shape[0]
    return pixel(canvas, box["x"] - whole["x"] + x, box["y"] - whole["y"] + y)


def tooltip(page: Page) -> str:
    return re.sub(r"\s+", " ", page.locator(".map .tip:visible").inner_text())
