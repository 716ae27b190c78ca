"""`python -m tools.production`: the app as it is served to others. HOST and PORT say where, BASE below which path.

HEADLIGHT_PUBLIC=1 makes it a public demonstration, to which nothing can be uploaded.
"""

import os
import sys
from pathlib import Path

from ui.public import public

APP = Path(__file__).resolve().parents[1] / "app.py"


def options() -> dict[str, str]:
    """Streamlit's options; config.toml says what holds everywhere."""
    return {
        "server.address": os.environ.get("HOST", "127.0.0.1"),
        "server.port": os.environ.get("PORT", "8501"),
        "server.baseUrlPath": os.environ.get("BASE", ""),
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "server.runOnSave": "false",
        "server.enableXsrfProtection": "true",
        "server.enableCORS": "true",  # which, for Streamlit, is to refuse other sites
        "server.maxUploadSize": "0" if public() else "2048",
        "server.maxMessageSize": "100",
        "server.disconnectedSessionTTL": "60",  # seconds in which a lost connection may come back
        "client.showErrorDetails": "none",
        "client.toolbarMode": "viewer",
        "browser.gatherUsageStats": "false",
    }


def environment() -> dict[str, str]:
    """One thread a request, for many come at once; and few heaps, since each keeps what its threads let go of."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}


def command() -> list[str]:
    given = [f"--{name}={value}" for name, value in options().items() if value]
    return [sys.executable, "-m", "streamlit", "run", str(APP), *given]


if __name__ == "__main__":
    os.chdir(APP.parent)
    os.execve(sys.executable, command(), environment())
