"""`python -m tools.typical CHECKPOINT --data CORPUS`: writes into a model's card how sure it is of sentences like those
that it was trained on, so that the app can tell others from them (headlight/analysis/typical.py), and into its folder
the words that it was trained to read (headlight/analysis/unread.py).

CORPUS is what the model was trained on, as for `python -m headlight train`: the words are those of its training part,
the thresholds are measured on its validation part.
The model writes as the app lets it: by beam search of 5.
"""

from __future__ import annotations

import argparse
import math
import random
import shlex
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from headlight.analysis.typical import KEY, SHARE, lowest
from headlight.analysis.unread import has_unread, threshold_of, unread, words_of
from headlight.checkpoints import load_translator, save_words
from headlight.corpora.corpora import Corpus, open_split
from transformer import Translator
from transformer.checkpoint.native import CARD
from transformer.files import read_json, write_json

MOST = 1000  # sentences of each part of a corpus
SHARE_UNREAD = 0.008  # of all held-out sentences in which a word may be named; with SHARE, under 2 %


def measured(model: Translator, corpus: Corpus, read: Collection[str]) -> dict[str, Any]:
    """What a card says of held-out pairs; `read` are the words of the training. Raises ValueError for too few pairs."""
    kinds, scores = {}, []
    for name, texts in drawn(model, corpus).items():
        translations = model.translate_batch(texts, beam_size=5)
        kinds[name] = [translation.log_prob_per_token for translation in translations]
        scores += [least(model, text, read) for text in texts]
    return {
        "log_prob_per_token": round(lowest(kinds), 6),
        "unread_log_prob": round(threshold_of(scores, SHARE_UNREAD), 6),
        "share_below": SHARE,
        "on": corpus.name,
        "sentences": {name: len(log_probs) for name, log_probs in kinds.items()},
    }


def least(model: Translator, text: str, read: Collection[str]) -> float:
    """The log-probability of what the model is least sure of among the words that it never read; inf without any."""
    if not has_unread(text, read):
        return math.inf
    return min((log_prob for _, log_prob in unread(model.trace(text), read)), default=math.inf)


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
        trained = open_split(given.data, "train", given.folder)
        words = Counter(word for pair in trained for word in words_of(pair.source))
        validation = open_split(given.data, "validation", given.folder)
        values = measured(load_translator(given.checkpoint), validation, words)
        listed = save_words(card.parent, words)
        facts = read_json(card) if card.exists() else {}
        command = shlex.join(["python", "-m", "tools.typical", given.checkpoint, "--data", given.data])
        write_json(card, facts | {KEY: {**values, "command": command}})
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    count = sum(values["sentences"].values())
    print(
        f"{values['log_prob_per_token']:.6f} per token, {values['unread_log_prob']:.6f} for a word never read, from "
        f"{count:,} sentences; {listed:,} words."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
