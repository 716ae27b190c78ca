"""`python -m tools.noted CHECKPOINT --data CORPUS --strange FILE...`: in how many sentences the app names a word that
the model never read, and of how many others it says that they are unlike the training's (tools/typical.py).

CORPUS is what the model was trained on; of its test part there should be few. Of the sentences in each FILE, one a
line, there should be many, as of the test part's sentences with their words in another order.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from headlight.analysis.typical import guessed, unlike, unread
from headlight.checkpoints import load_translator, read_words
from headlight.corpora.corpora import open_split
from tools.typical import drawn, readable
from transformer import Translator
from transformer.quoting import short

SALADS = 200


def shares(model: Translator, read: Collection[str], kinds: dict[str, list[str]]) -> dict[str, tuple[int, int, int]]:
    """Of each kind: in how many sentences a word is named, of how many others it is said that they are unlike the
    training's, and how many there are; the model writes as the app lets it."""
    counts = {}
    for name, texts in kinds.items():
        words = other_words = 0
        for text, one in zip(texts, model.translate_batch(texts, beam_size=5), strict=True):
            named = guessed(model.card, unread(text, one.text, read) if read else [], one.log_prob_per_token)
            words += bool(named)
            other_words += not named and unlike(model.card, one.log_prob_per_token)
        counts[name] = words, other_words, len(texts)
    return counts


def salads(texts: Sequence[str]) -> list[str]:
    """Sentences of five words or more with their words in another order, and the stop at the end."""
    shuffled, mixed = random.Random(0), []
    for text in texts:
        words = text.rstrip(".?!").split()
        if len(words) >= 5:
            shuffled.shuffle(words)
            mixed.append(f"{' '.join(words)}.")
    return mixed[:SALADS]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.noted", description=__doc__)
    parser.add_argument("checkpoint", help="a checkpoint's folder")
    parser.add_argument("--data", required=True, help="what it was trained on, such as multi30k:en-fr")
    parser.add_argument("--strange", nargs="*", default=[], metavar="FILE", help="strange sentences, one a line")
    parser.add_argument("--folder", help="where Multi30k lies")
    options = parser.parse_args(arguments)
    try:
        model = load_translator(options.checkpoint)
        kinds = drawn(model, open_split(options.data, "test", options.folder))
        kinds["words in another order"] = salads([text for texts in kinds.values() for text in texts[:SALADS]])
        for file in options.strange:
            lines = Path(file).read_text(encoding="utf-8").splitlines()
            kinds[short(file)] = [line for line in lines if readable(model, line)]
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    for name, (words, other_words, count) in shares(model, read_words(options.checkpoint), kinds).items():
        said = words + other_words
        print(f"{name:<40}{words:>6} +{other_words:>5} of {count:<6}{said / max(count, 1):>7.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
