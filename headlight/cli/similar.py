"""The command `index`: make an index of the tokens of a corpus, or search it for similar tokens."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

from headlight.analysis.similar import SimilarToken, TokenIndex, TokenSite, index_folders, open_index
from headlight.analysis.similar import index as make_index
from headlight.analysis.similar.building import DEFAULT_SITES, SITES_HELP
from headlight.analysis.similar.index_files import FACTS_FILE
from headlight.analysis.similar.token_vectors import SITE_FORMS
from headlight.cli.checkpoints import Verb, printable, takes_checkpoint, takes_split
from headlight.corpora.corpora import SPEC_FORMS, open_split
from headlight.formatting import plural
from transformer.config import check_whole
from transformer.quoting import quoted, short

DEFAULT_TOKENS = 100_000
MAX_PRINTED_TOKENS = 1000


def add_verbs(verb: Verb) -> None:
    """Add the subcommand `index`; `verb(run, help)` returns its parser."""
    sub = verb(index, "Index the tokens of a corpus by a model's vectors, or look up the tokens most similar to one.")
    sub.epilog = "Make an index with --data, and search it with --like and --token."
    takes_checkpoint(sub)
    sub.add_argument("--data", help=f"the corpus to index: {SPEC_FORMS}")
    takes_split(sub)
    sub.add_argument("--folder", help="the folder of Multi30k")
    text = "where the model runs while the index is made: cpu, cuda, cuda:1 or auto"
    sub.add_argument("--device", default="cpu", help=text)
    text = "the folder of the index; if absent, the one in which the app looks for the index of this model"
    sub.add_argument("--out", type=Path, metavar="FOLDER", help=text)
    text = f"number of source tokens to index, from the start; {DEFAULT_TOKENS:,} if absent"
    sub.add_argument("--tokens", type=int, default=DEFAULT_TOKENS, metavar="N", help=text)
    sub.add_argument("--sites", nargs="+", default=list(DEFAULT_SITES), metavar="SITE", help=SITES_HELP)
    sub.add_argument("--like", metavar="SENTENCE", help="a sentence with the token to look up")
    sub.add_argument("--target", help="its translation, for a token of it; the model's own if absent")
    sub.add_argument("--token", help="the token: its text, or its number from 1")
    sub.add_argument("--site", default="encoder.0", help=f"what is compared: {SITE_FORMS} (then .1 for its head 1)")
    sub.add_argument("--count", type=int, default=20, metavar="N", help="number of tokens to print")
    sub.add_argument("--json", action="store_true", help="print JSON lines")


def index(options: argparse.Namespace) -> None:
    if (options.data is None) == (options.like is None):
        raise ValueError("Give --data to make an index, or --like and --token to search one.")
    if options.like is not None:
        _look_up(options)
        return
    out = options.out
    if out is None:
        out = index_folders(options.checkpoint)[0]
        out.parent.mkdir(parents=True, exist_ok=True)
    pairs = ((pair.source, pair.target) for pair in open_split(options.data, options.split, options.folder))
    with tqdm(total=options.tokens, unit="token", unit_scale=True, disable=None) as bar:
        index = make_index(
            options.checkpoint,
            pairs,
            out,
            corpus=options.data,
            tokens=options.tokens,
            sites=options.sites,
            device=options.device,
            progress=lambda read: bar.update(read - bar.n) and None,
        )
    stored = ", ".join(index.sites) or "no vectors"
    print(f"{plural(index.tokens, 'token')} in {plural(index.sentences, 'sentence')}: {stored}")
    print(f"Written to {short(out)}")


def _look_up(options: argparse.Namespace) -> None:
    check_whole("--count", options.count, 1, MAX_PRINTED_TOKENS)
    if options.token is None:
        raise ValueError("Give --token too: the token of the sentence to look up, by its text or its number.")
    folders = [options.out] if options.out is not None else index_folders(options.checkpoint)
    folder = next((folder for folder in folders if (folder / FACTS_FILE).is_file()), folders[0])
    opened = open_index(folder, options.checkpoint)
    site = TokenSite.parse(options.site)
    source, target = opened.model.encode_pair(options.like, options.target)
    token = _numbered(options.token, opened.labels(source, target, site.side))
    similar = opened.nearest(source, target, token, site, options.count)
    for line in _as_json(similar) if options.json else _lines(similar, opened):
        print(line)


def _numbered(text: str, labels: list[str]) -> int:
    """Return the index of a token: the first whose text is `text`, or the one with that number from 1."""
    bare = [label.lstrip("▁") for label in labels]
    if text in bare:
        return bare.index(text)
    if text.isdecimal() and 1 <= int(text[:9]) <= len(labels):
        return int(text) - 1
    raise ValueError(f"There is no token {quoted(text)}; the sentence has {short(' '.join(labels))}.")


def _lines(similar: list[SimilarToken], opened: TokenIndex) -> Iterator[str]:
    for token in similar:
        before, word, after = token.marked
        yield printable(f"{token.cosine:.3f}  {token.translated:<16} {before}[{word}]{after}")
    counted = Counter(token.translated for token in similar).most_common()
    yield printable(", ".join(f"{count} {word or 'without a word'}" for word, count in counted))
    yield printable(f"Of {plural(opened.tokens, 'token')} of {short(opened.corpus)}")


def _as_json(similar: list[SimilarToken]) -> Iterator[str]:
    for token in similar:
        yield json.dumps({**vars(token), "marked": list(token.marked)}, ensure_ascii=False)
