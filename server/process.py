"""Preparation of the server's process: open files, log lines of bounded length, and idle threads that sleep."""

from __future__ import annotations

import logging
import os
import traceback
from typing import Any

try:
    import resource
except ImportError:  # Windows, which has no such limit
    resource = None  # type: ignore[assignment]

OPEN_FILES = 65_536  # a page holds about four
MESSAGE_CHARACTERS = 2_000
TRACEBACK_CHARACTERS = 20_000


def prepare_process() -> None:
    """Raise the soft limit of open files, bound what is logged, and let idle threads of OpenMP sleep.

    Call it before torch is imported, which loads OpenMP. By default the threads of OpenMP wait for each other in a busy
    loop. Where another program, such as the browser, competes for the cores, each matrix product then waits for it: a
    sentence took a model of 74 million parameters five times as long as with one thread.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    raise_open_files()
    logging.setLogRecordFactory(bounded_record)


def raise_open_files() -> None:
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < target:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
        except (OSError, ValueError) as error:  # a system with a lower limit of its own
            logging.getLogger("headlight").warning("At most %d files can be open: %s.", soft, error)


def bounded_record(*args: Any, **kwargs: Any) -> logging.LogRecord:
    """Return a record as logging makes it, with a long message or traceback cut in the middle."""
    record = logging.LogRecord(*args, **kwargs)
    if isinstance(record.args, tuple):  # each by itself, since uvicorn formats them in its own way
        each = MESSAGE_CHARACTERS // max(2, len(record.args))
        record.args = tuple(shortened(arg, each) if isinstance(arg, str) else arg for arg in record.args)
    try:
        message = record.getMessage()
    except (TypeError, ValueError):  # logging itself reports a message that does not fit its arguments
        return record
    if len(message) > MESSAGE_CHARACTERS:
        record.msg, record.args = shortened(message, MESSAGE_CHARACTERS), ()
    if record.exc_info and record.exc_info[0]:
        text = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
        if len(text) > TRACEBACK_CHARACTERS:
            record.exc_text = shortened(text, TRACEBACK_CHARACTERS)
    return record


def shortened(text: str, max_characters: int) -> str:
    """Return the beginning and end of a text, about `max_characters` long, with the number left out between them."""
    if len(text) <= max_characters:
        return text
    half = max_characters // 2
    return f"{text[:half]} … {len(text) - 2 * half:,} characters … {text[-half:]}"
