"""`python -m tools.typical CHECKPOINT --data CORPUS`: writes into a model's card how sure it is of sentences like those
that it was trained on, so that the app can tell others from them (headlight/analysis/typical.py).

CORPUS is what the model was trained on, as for `python -m headlight train`; what is read is its validation part.
The model writes as the app lets it: by beam search of 5.
"""

from __future__ import annotations

import argparse
import random
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headlight.analysis.typical import KEY, SHARE, lowest
from headlight.checkpoints import load_translator
from headlight.corpora.corpora import Corpus, open_split
from transformer import Translator
from transformer.checkpoint.native import CARD
from transformer.files import read_json, write_json

MOST = 1000  # sentences of each part of a corpus


def measured(model: Translator, corpus: Corpus) -> dict[str, Any]:
    """What a card says of held-out pairs. Raises ValueError where there are too few."""
    kinds = {
        name: [translation.log_prob_per_token for translation in model.translate_batch(texts, beam_size=5)]
        for name, texts in drawn(model, corpus).items()
    }
    return {
        "log_prob_per_token": round(lowest(kinds), 6),
        "share_below": SHARE,
        "on": corpus.name,
        "sentences": {name: len(log_probs) for name, log_probs in kinds.items()},
    }


def drawn(model: Translator, corpus: Corpus) -> dict[str, list[str]]:
    """At most `MOST` different sources of each part of a corpus, less those that the model can't read."""
    parts: dict[str, dict[str, None]] = {}
    for pair in corpus:
        parts.setdefault(pair.origin or corpus.name, {})[pair.source] = None
    drawn = {}
    for name, sources in parts.items():
        every = list(sources)
        random.Random(0).shuffle(every)  # a corpus may be sorted; the same sources each time
        drawn[name] = [text for text in every[:MOST] if readable(model, text)]
    return drawn


def readable(model: Translator, text: str) -> bool:
    try:
        model.encode(text)
    except ValueError:
        return False
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.typical", description=__doc__)
    parser.add_argument("checkpoint", help="a checkpoint's folder")
    parser.add_argument("--data", required=True, help="what it was trained on, such as multi30k:en-fr")
    parser.add_argument("--folder", help="where Multi30k lies")
    given = parser.parse_args(arguments)
    card = Path(given.checkpoint) / CARD
    try:
        values = measured(load_translator(given.checkpoint), open_split(given.data, "validation", given.folder))
        facts = read_json(card) if card.exists() else {}
        command = shlex.join(["python", "-m", "tools.typical", given.checkpoint, "--data", given.data])
        write_json(card, facts | {KEY: {**values, "command": command}})
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{values['log_prob_per_token']:.6f} per token, from {sum(values['sentences'].values()):,} sentences.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
