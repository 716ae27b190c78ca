"""Work that is done as the server starts, since the first visitor would wait for it.

Most of it is imports: two seconds of processor time.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

log = logging.getLogger("headlight")
_imported: threading.Event | None = None


def begin(imports: Callable[[], object], example: Callable[[], object]) -> None:
    """Start a thread that imports, then prepares the example. A failure is logged, and the pages say what is wrong."""
    global _imported
    _imported = imported = threading.Event()

    def run() -> None:
        try:
            imports()
            imported.set()
            example()
        except Exception:
            log.exception("the first page could not be made ready")
        finally:
            imported.set()

    threading.Thread(target=run, daemon=True, name="warming").start()


def wait() -> None:
    """Wait until the imports are done, if begun: two threads would find modules that the other has half imported."""
    if _imported is not None:
        _imported.wait()
