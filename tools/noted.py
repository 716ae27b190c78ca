"""`python -m tools.noted CHECKPOINT --data CORPUS --strange FILE...`: count the sentences that the app warns of.

A warning names a word that the model never read, or says that the sentence is unlike those of the training
(tools/typical.py). CORPUS is what the model was trained on; few sentences of its test part should be warned of. Many
should be of the sentences in each FILE, one per line, and of the test part's sentences with their words in another
order.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from headlight.analysis.typical import guessed_words, unlike, unread_words
from headlight.checkpoints import load_translator, read_words
from headlight.corpora.corpora import open_split
from tools.typical import draw_sources, readable
from transformer import Translator
from transformer.quoting import short

MAX_SALADS = 200


def shares(model: Translator, read: Collection[str], kinds: dict[str, list[str]]) -> dict[str, tuple[int, int, int]]:
    """Count, for each kind of sentences, those with an unread word, the others that are unlike the training's, and all.

    The model writes as in the app.
    """
    counts = {}
    for name, texts in kinds.items():
        words = other_words = 0
        for text, translated in zip(texts, model.translate_batch(texts, beam_size=5), strict=True):
            unread = unread_words(text, translated.text, read) if read else []
            guessed = guessed_words(model.card, unread, text, translated.log_prob_per_token)
            words += bool(guessed)
            other_words += not guessed and unlike(model.card, translated.log_prob_per_token)
        counts[name] = words, other_words, len(texts)
    return counts


def salads(texts: Sequence[str]) -> list[str]:
    """Return sentences of five words or more with their words in another order, and the stop at the end."""
    shuffled, mixed = random.Random(0), []
    for text in texts:
        words = text.rstrip(".?!").split()
        if len(words) >= 5:
            shuffled.shuffle(words)
            mixed.append(f"{' '.join(words)}.")
    return mixed[:MAX_SALADS]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.noted", description=__doc__)
    parser.add_argument("checkpoint", help="a checkpoint's folder")
    parser.add_argument("--data", required=True, help="what it was trained on, such as multi30k:en-fr")
    parser.add_argument("--strange", nargs="*", default=[], metavar="FILE", help="strange sentences, one a line")
    parser.add_argument("--folder", help="where Multi30k lies")
    options = parser.parse_args(arguments)
    try:
        model = load_translator(options.checkpoint)
        kinds = draw_sources(model, open_split(options.data, "test", options.folder))
        kinds["words in another order"] = salads([text for texts in kinds.values() for text in texts[:MAX_SALADS]])
        for file in options.strange:
            lines = Path(file).read_text(encoding="utf-8").splitlines()
            kinds[short(file)] = [line for line in lines if readable(model, line)]
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    for name, (words, other_words, count) in shares(model, read_words(options.checkpoint), kinds).items():
        noted = words + other_words
        print(f"{name:<40}{words:>6} +{other_words:>5} of {count:<6}{noted / max(count, 1):>7.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
