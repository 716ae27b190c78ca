"""`python -m tools.everyday CHECKPOINT LIST`: write into a model's card how many everyday sentences it gets right.

LIST is a table: a sentence, and after each tab an accepted translation of it, such as tests/everyday/en-fr.tsv. The
model writes as in the app: by beam search of 5.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headlight.analysis.accepted_translations import accepted, sentences
from headlight.checkpoints import load_translator, update_card
from headlight.corpora.files import lines

CARD_KEY = "everyday"  # in the card


def judged(folder: str | Path, listed: str | Path) -> dict[str, Any]:
    """Return a card's entry for a list: how many translations are "accepted", "of" how many, and which "failed".

    Raises ValueError naming what cannot be read.
    """
    sentence_pairs = sentences(lines(listed))
    translations = load_translator(folder).translate_batch(
        [sentence.source for sentence in sentence_pairs], beam_size=5
    )
    right, failed = accepted([translation.text for translation in translations], sentence_pairs)
    return {"accepted": right, "of": len(sentence_pairs), "failed": [failure._asdict() for failure in failed]}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.everyday", description=__doc__)
    parser.add_argument("checkpoint", help="a checkpoint's folder")
    parser.add_argument("list", help="a table: a sentence, and after each tab an accepted translation")
    options = parser.parse_args(arguments)
    try:
        judgement = judged(options.checkpoint, options.list)
        command = f"python -m tools.everyday {options.checkpoint} {options.list}"
        update_card(options.checkpoint, {CARD_KEY: {**judgement, "command": command}})
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    for failure in judgement["failed"]:
        print(f"{failure['source']}\t{failure['written']}")
    print(f"{judgement['accepted']} of {judgement['of']} accepted.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
