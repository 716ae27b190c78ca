"""Film the app as docs/images/screencast.webp, an animated WebP of about twenty seconds for the README.

Run it from the repository's root: `make screencast`, or `python -m tools.screencast [file]`. Chromium drives the real
app. Each frame is a screenshot with a duration of its own, so the film has the same pace on any machine; the waits for
the server are left out.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageChops
from playwright.sync_api import Locator, Page, expect, sync_playwright

from tools.serving import launch, serve, skip_tour, wait_until_idle

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docs" / "images" / "screencast.webp"
SENTENCE = "The white cat is sleeping under the old table."
WIDTH, HEIGHT = 1280, 800  # in CSS pixels
SCALE, REDUCTION = 1.5, 2  # screenshots are 1,920 pixels wide, the film 960: sharper letters than with a scale of 0.75
FRAME_MILLISECONDS = 50
TYPING_MILLISECONDS = 110  # for two letters
# Screenshots have no pointer, so the page draws one, which the mouse cannot hit.
_POINTER = """() => {
  const pointer = document.createElement("div");
  pointer.id = "screencast-pointer";
  pointer.style.cssText = "position: fixed; left: 0; top: 0; z-index: 2147483647; pointer-events: none; line-height: 0";
  pointer.innerHTML = '<svg width="20" height="28" viewBox="0 0 20 28"><path d="M2 2v20l5-5 3.5 8 3.5-1.6L10.5 16H17z" '
    + 'fill="#111" stroke="#fff" stroke-width="1.6" stroke-linejoin="round"/></svg>';
  document.body.append(pointer);
}"""
_MOVE = """([x, y]) => {
  document.getElementById("screencast-pointer").style.transform = `translate(${x - 2}px, ${y - 2}px)`;
}"""


class Film:
    """Screenshots of a page with their durations, and a pointer that moves over it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.frames: list[Image.Image] = []
        self.durations: list[int] = []  # in milliseconds
        self.x, self.y = 0.62 * WIDTH, 0.62 * HEIGHT
        page.evaluate(_POINTER)
        page.evaluate(_MOVE, [self.x, self.y])

    def hold(self, milliseconds: int) -> None:
        """Show the page as it is for this long."""
        screenshot = Image.open(io.BytesIO(self.page.screenshot(caret="initial")))
        picture = screenshot.convert("RGB").reduce(REDUCTION)
        if self.frames and ImageChops.difference(self.frames[-1], picture).getbbox() is None:
            self.durations[-1] += milliseconds
        else:
            self.frames.append(picture)
            self.durations.append(milliseconds)

    def move(self, target: Locator, x: float = 0.5, y: float = 0.5, milliseconds: int = 600) -> None:
        """Move the pointer to a place of the target, given as shares of its width and height; slow at both ends."""
        box = target.bounding_box()
        assert box is not None, target
        start_x, start_y = self.x, self.y
        end_x, end_y = box["x"] + x * box["width"], box["y"] + y * box["height"]
        steps = milliseconds // FRAME_MILLISECONDS
        for step in range(1, steps + 1):
            share = step / steps
            share = share * share * (3 - 2 * share)
            self.x, self.y = start_x + share * (end_x - start_x), start_y + share * (end_y - start_y)
            self.page.mouse.move(self.x, self.y)
            self.page.evaluate(_MOVE, [self.x, self.y])
            self.hold(FRAME_MILLISECONDS)

    def click(self, target: Locator, x: float = 0.5, y: float = 0.5, milliseconds: int = 600) -> None:
        """Move the pointer to the target, click, and wait until the app has answered."""
        self.move(target, x, y, milliseconds)
        self.page.mouse.click(self.x, self.y)
        self.page.wait_for_timeout(300)
        wait_until_idle(self.page)

    def save(self, path: Path) -> None:
        """Write the frames as a lossless animated WebP that repeats."""
        first, *later = self.frames
        first.save(
            path,
            save_all=True,
            append_images=later,
            duration=self.durations,
            loop=0,
            lossless=True,
            quality=80,  # the effort of the compression: 0.4 MB instead of 0.9 for 20 seconds more
            method=4,
            minimize_size=True,
        )


def _type_sentence(film: Film) -> None:
    page = film.page
    film.click(page.get_by_role("textbox").first, x=0.04)  # from there no technical term is on the way to the heads
    page.keyboard.press("ControlOrMeta+a")
    film.hold(400)
    for start in range(0, len(SENTENCE), 2):
        page.keyboard.type(SENTENCE[start : start + 2])
        film.hold(TYPING_MILLISECONDS)
    film.hold(250)
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    wait_until_idle(page)
    film.hold(1500)


def _choose_head(film: Film) -> None:
    page = film.page
    film.click(page.locator('.thumb[aria-label^="Layer 1, head 1,"]'))
    film.hold(900)
    film.click(page.locator('.thumb[aria-label^="Layer 2, head 3,"]'), milliseconds=500)
    film.hold(700)
    canvas = page.locator(".map canvas")
    box = canvas.bounding_box()
    assert box is not None
    left, top, across, down = (float(part) for part in str(canvas.get_attribute("data-cells")).split())
    # The row that writes the adjective, and the adjective's column: where the two languages differ in order.
    film.move(canvas, (left + 1.5 * across) / box["width"], (top + 2.5 * down) / box["height"])
    film.hold(1600)


def _step_through_decoding(film: Film) -> None:
    page = film.page
    film.click(page.get_by_role("link", name="Decoding"))
    page.locator(".player[data-step]").wait_for(timeout=60_000)
    wait_until_idle(page)
    film.hold(1000)
    forward = page.get_by_role("button", name="Step forward (right arrow)")
    for step in range(4):
        film.click(forward, milliseconds=600 if step == 0 else FRAME_MILLISECONDS)
        film.hold(750)


def _ask_why(film: Film) -> None:
    page = film.page
    film.click(page.get_by_role("link", name="Why"))
    expect(page.get_by_role("heading", name="came from")).to_be_visible(timeout=60_000)
    wait_until_idle(page)
    film.hold(800)
    film.click(page.locator(".scrubber .step").nth(2), y=0.2, milliseconds=700)
    film.hold(2600)


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        for name in ("RUNS", "MODELS"):  # none of the user's own
            os.environ[f"HEADLIGHT_{name}"] = f"{folder}/{name.lower()}"
        browser = launch(playwright)
        with serve(ROOT / "app.py", Path(folder) / "log.txt") as address:
            size = {"width": WIDTH, "height": HEIGHT}
            context = browser.new_context(
                viewport=size,  # type: ignore[arg-type]
                device_scale_factor=SCALE,
                color_scheme="light",
                reduced_motion="reduce",
            )
            page = skip_tour(context).new_page()
            page.goto(address)
            page.locator(".thumb").first.wait_for(timeout=60_000)
            wait_until_idle(page)
            film = Film(page)
            film.hold(1200)
            for scene in (_type_sentence, _choose_head, _step_through_decoding, _ask_why):
                scene(film)
        browser.close()
    film.save(path)
    seconds, megabytes = sum(film.durations) / 1000, path.stat().st_size / 1e6
    print(f"{path}: {len(film.frames)} frames, {seconds:.1f} s, {megabytes:.2f} MB")


if __name__ == "__main__":
    main()
