"""`python -m tools.average CHECKPOINT CHECKPOINT --out FOLDER`: average the weights of two checkpoints.

Where the second was trained on from the first, their mean can score higher than either (Wortsman et al. 2022, "Robust
fine-tuning of zero-shot models", with equal shares). The card is the second one's.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from headlight import checkpoints
from headlight.runs.averaging import average_into
from transformer.checkpoint.native import SHARED, SOURCE, TARGET
from transformer.quoting import short


def average(first: str, second: str) -> checkpoints.Checkpoint:
    """Return the second checkpoint with the mean of both checkpoints' weights.

    Raises ValueError if their configurations or vocabularies differ.
    """
    earlier, later = checkpoints.load(first), checkpoints.load(second)
    if earlier.model.config != later.model.config:
        raise ValueError(f"{short(first)} and {short(second)} have different configurations; give two of the same.")
    if _tokenizers(first) != _tokenizers(second):
        raise ValueError(f"{short(first)} and {short(second)} have different vocabularies; give two with the same.")
    average_into(later.model, [earlier.model])
    return later


def _tokenizers(folder: str) -> list[bytes]:
    paths = [Path(folder, name) for name in (SHARED, SOURCE, TARGET)]
    return [path.read_bytes() for path in paths if path.exists()]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.average", description=__doc__)
    parser.add_argument("checkpoints", nargs=2, help="two checkpoint folders")
    parser.add_argument("--out", required=True, help="the folder to make")
    options = parser.parse_args(arguments)
    try:
        checkpoints.save(average(*options.checkpoints), options.out, bits=16)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
