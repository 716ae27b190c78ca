"""`python -m tools.typical CHECKPOINT --data CORPUS`: measure how sure a model is of ordinary sentences.

The result goes into the model's card, so that the app can tell sentences that are unlike the training data
(headlight/analysis/typical.py), and the words that the model was trained to read go into its folder. CORPUS is what the
model was trained on, as for `python -m headlight train`: the words are those of its training part, the thresholds are
measured on its validation part. The model writes as in the app: by beam search of 5.
"""

from __future__ import annotations

import argparse
import random
import shlex
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from headlight.analysis.typical import CARD_KEY, UNLIKE_SHARE, find_threshold, unread_words, words_of
from headlight.checkpoints import load_translator, save_words, update_card
from headlight.corpora.corpora import Corpus, open_split
from transformer import Translator

SENTENCES_PER_PART = 1000  # of a corpus
MAX_SHARE_NOTED = 0.015  # of the validation sentences that may get a note of either kind; en-fr's test sentences: 1.7 %


def measured(model: Translator, corpus: Corpus, read: Collection[str]) -> dict[str, Any]:
    """Return a card's entry for held-out pairs; `read` are the words of the training.

    Raises ValueError for too few pairs.
    """
    kinds: dict[str, list[float]] = {}
    new: list[float] = []  # of sentences with words that were never read
    for name, texts in draw_sources(model, corpus).items():
        translations = model.translate_batch(texts, beam_size=5)
        kinds[name] = [translation.log_prob_per_token for translation in translations]
        of_all = zip(texts, translations, strict=True)
        new += [
            translation.log_prob_per_token for text, translation in of_all if unread_words(text, translation.text, read)
        ]
    threshold = find_threshold(kinds)
    every = [log_prob for log_probs in kinds.values() for log_prob in log_probs]
    return {
        "log_prob_per_token": round(threshold, 6),
        "unread_log_prob_per_token": round(threshold_of_unread(every, new, threshold), 6),
        "share_below": UNLIKE_SHARE,
        "on": corpus.name,
        "sentences": {name: len(log_probs) for name, log_probs in kinds.items()},
    }


def threshold_of_unread(every: Sequence[float], new: Sequence[float], threshold: float) -> float:
    """Return the mean log-probability below which the words of a sentence that were never read are named.

    It is the highest value with which at most MAX_SHARE_NOTED of the sentences get a note: those of `every` sentence
    below `threshold`, and those of the `new` ones, which have such words, below the result. 0 where all may be noted.
    Sentences whose words are mostly unread get a note in any case, and are too rare in a held-out split to be counted.
    """
    accepted = sorted(log_prob for log_prob in new if log_prob >= threshold)
    allowed = int(MAX_SHARE_NOTED * len(every)) - sum(log_prob < threshold for log_prob in every)
    return accepted[max(allowed, 0)] if accepted and allowed < len(accepted) else 0.0


def draw_sources(model: Translator, corpus: Corpus) -> dict[str, list[str]]:
    """Draw at most `SENTENCES_PER_PART` different sources of each part of a corpus that the model can read."""
    parts: dict[str, dict[str, None]] = {}
    for pair in corpus:
        parts.setdefault(pair.origin or corpus.name, {})[pair.source] = None
    drawn_sources = {}
    for name, sources in parts.items():
        every = list(sources)
        random.Random(0).shuffle(every)  # a corpus may be sorted; the same sources each time
        drawn_sources[name] = [text for text in every[:SENTENCES_PER_PART] if readable(model, text)]
    return drawn_sources


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
    options = parser.parse_args(arguments)
    try:
        trained = open_split(options.data, "train", options.folder)
        words = Counter(word for pair in trained for word in words_of(pair.source))
        validation = open_split(options.data, "validation", options.folder)
        values = measured(load_translator(options.checkpoint), validation, words)
        listed = save_words(Path(options.checkpoint), words)
        command = shlex.join(["python", "-m", "tools.typical", options.checkpoint, "--data", options.data])
        update_card(options.checkpoint, {CARD_KEY: {**values, "command": command}})
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    count = sum(values["sentences"].values())
    print(
        f"{values['log_prob_per_token']:.6f} per token, "
        f"{values['unread_log_prob_per_token']:.6f} with words never read, from {count:,} sentences; {listed:,} words."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
