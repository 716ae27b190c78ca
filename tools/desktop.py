"""`python -m tools.desktop`: open the app in its own window. The server starts and ends with that window."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.serving import serve

APP = Path(__file__).resolve().parents[1] / "app.py"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "microsoft-edge", "brave-browser")
BROWSER_PATHS = (  # where they are on macOS and Windows, and not on the path
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)


def browser() -> str:
    """Return a browser that can show a page as a window. Raises ValueError where there is none."""
    browser = next(filter(None, map(shutil.which, (*BROWSERS, *BROWSER_PATHS))), None)
    if browser is None:
        raise ValueError("No Chromium, Chrome or Edge found: install one, or open the app in yours: `headlight`.")
    return browser


def window(url: str, profile: str) -> list[str]:
    """Return the command that shows an address without tabs and address bar.

    With a profile of its own, it runs for as long as its window is open, whatever else that browser has open.
    """
    options = [f"--app={url}", f"--user-data-dir={profile}", "--no-first-run", "--window-size=1360,900"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--no-sandbox")  # it refuses to run as root otherwise
    return [browser(), *options, *os.environ.get("HEADLIGHT_BROWSER_OPTIONS", "").split()]


def main() -> None:
    try:
        browser()
    except ValueError as error:
        sys.exit(str(error))
    for name in ("SIGTERM", "SIGHUP"):  # a terminal that is closed ends the window and the server as well
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: sys.exit())
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        serve(APP, Path(folder) / "log.txt", errors="none") as url,
    ):
        subprocess.run(window(url, str(Path(folder) / "profile")), check=False, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
