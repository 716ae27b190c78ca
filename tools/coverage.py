"""`python -m tools.coverage --data 'MIXTURE' --language en`: list frequent words that are rare in a training corpus.

Of the most frequent words of a language (wordfreq), less those of `headlight/corpora/core/exceptions.LANGUAGE.txt`, it
counts the distinct training pairs whose source has the word, and lists the words that have too few.
"""

import argparse
from collections import Counter
from pathlib import Path

import wordfreq

from headlight.corpora.corpora import Corpus, open_parts

EXCEPTIONS_FOLDER = Path(__file__).parents[1] / "headlight" / "corpora" / "core"


def frequent_words(language: str, n_words: int) -> list[str]:
    """Return the most frequent words of a language, the most frequent first, less its exceptions."""
    path = EXCEPTIONS_FOLDER / f"exceptions.{language}.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    exceptions = {line for line in lines if not line.startswith("#")}
    return [word for word in wordfreq.top_n_list(language, n_words) if word not in exceptions]


def count_pairs(corpus: Corpus, language: str) -> Counter[str]:
    """Count for each word of the sources the distinct pairs that it stands in."""
    counts: Counter[str] = Counter()
    counted: set[int] = set()
    for pair in corpus:
        key = hash((pair.source, pair.target))
        if key not in counted:
            counted.add(key)
            counts.update(set(wordfreq.tokenize(pair.source, language)))
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.coverage", description=__doc__)
    parser.add_argument("--data", required=True, help="a corpus or a mixture, as for training")
    parser.add_argument("--language", required=True, help="the language of the sources, such as en")
    parser.add_argument("--words", type=int, default=3000, help="how many of the most frequent words (3000)")
    parser.add_argument("--least", type=int, default=10, help="in how many pairs each should stand (10)")
    arguments = parser.parse_args()
    words = frequent_words(arguments.language, arguments.words)
    try:
        counts = count_pairs(open_parts(arguments.data)[0], arguments.language)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    rare = [word for word in words if counts[word] < arguments.least]
    print(
        f"{len(words) - len(rare):,} of {len(words):,} words stand in at least {arguments.least:,} pairs; "
        f"{arguments.words - len(words):,} are exceptions."
    )
    for word in rare:
        print(f"{word}\t{counts[word]:,}")


if __name__ == "__main__":
    main()
