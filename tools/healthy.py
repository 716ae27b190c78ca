"""`python -m tools.healthy URL`: check whether the app there translates.

The exit status is 0 if it does; otherwise 1, and the reason is printed. A running process is not yet a working app, so
a page is opened as a browser does, and its translation read. After a start this also loads what the first visitor would
wait for.
"""

import argparse
import asyncio
import random
import string
import sys

from tools.streamlit_client import open_session


async def problem(url: str, seconds: float = 60) -> str | None:
    """Return what is wrong with the app at an address, or None."""
    text = " ".join(random.choices(string.ascii_lowercase, k=8))  # random, so that no cached translation answers
    try:
        async with asyncio.timeout(seconds), open_session(url, text=text) as page:
            await page.run(seconds=seconds)
            if page.translation():
                return None
            return "; ".join([*page.errors(), "The page shows no translation."])
    except TimeoutError:
        return f"No translation within {seconds:g} seconds."
    except Exception as error:  # any error means that the app is not healthy
        return f"{type(error).__name__}: {error}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.healthy", description=__doc__)
    parser.add_argument("url", nargs="?", default="http://127.0.0.1:8501")
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    message = asyncio.run(problem(options.url, options.seconds))
    print(message or "It translates.", file=sys.stderr if message else sys.stdout)
    sys.exit(message is not None)


if __name__ == "__main__":
    main()
