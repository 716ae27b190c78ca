"""An index of the tokens of a corpus, and the search for those with similar vectors; index_files.py has its format.

Vectors that a small index does not hold are computed from its sentences when a search first needs them.

Shapes: N tokens, S source tokens, T target tokens that are read, M = d_model, H heads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from headlight import checkpoints, folders
from headlight.analysis.atlas.reading import PairReading, batches
from headlight.analysis.similar.index_files import COLUMNS, SENTENCES_FILE, IndexRefused, broken_index, read_index
from headlight.analysis.similar.search import nearest, unit
from headlight.analysis.similar.token_vectors import TokenSite, special_tokens, token_vectors
from transformer.batches import collate
from transformer.config import ModelConfig
from transformer.files import open_regular
from transformer.model import count_parameters
from transformer.quoting import short
from transformer.taps import Tap
from transformer.tokenizers import Tokenizer
from transformer.translator import Translator

BATCH_TOKENS = 2048
# Multiplications for vectors that are not in the index: enough for 5,000 tokens of a model with 40 million parameters.
MAX_COMPUTED_PRODUCTS = 200_000_000_000
MAX_COMPUTED_BYTES = 100_000_000  # of the vectors of one computation; twice as many are cached
Side = Literal["source", "target"]


class MarkedSentence(NamedTuple):
    """A sentence in three parts, the middle one being a word."""

    before: str
    word: str
    after: str


@dataclass(frozen=True)
class SimilarToken:
    """A token of the corpus that a search found."""

    cosine: float
    source: str
    target: str
    token: str  # its label
    marked: MarkedSentence  # its sentence, with the word that it belongs to in the middle
    translated: str  # the word of the other side that cross-attention links it to; "": none


class TokenIndex:
    """The tokens of a corpus with a model's vectors of them, as `open_index` returns them. Threads may share it."""

    def __init__(self, folder: Path, model: Translator, facts: Mapping[str, Any], columns: Mapping[str, Tensor]):
        self.folder, self.model, self._facts = folder, model, facts
        self._columns = {name: column.numpy() for name, column in columns.items() if name in COLUMNS}
        self._stored = {TokenSite.parse(name): column for name, column in columns.items() if name not in COLUMNS}
        self._computed: dict[TokenSite, Tensor] = {}

    @property
    def corpus(self) -> str:
        """The name of the corpus."""
        return str(self._facts["corpus"])

    @property
    def sentences(self) -> int:
        """The number of sentences."""
        return len(self._columns["line_starts"]) - 1

    @property
    def tokens(self) -> int:
        """The number of source tokens, special ones not counted."""
        return len(self._columns["source_tokens"])

    @property
    def sites(self) -> list[str]:
        """The sites whose vectors are stored. A small index computes those of other sites when they are needed."""
        return [str(site) for site in self._stored]

    @property
    def nbytes(self) -> int:
        """The number of bytes that the index takes in memory, without mapped files."""
        return sum(vectors.nbytes for vectors in self._computed.values()) + 1_000_000

    def like(
        self,
        text: str,
        token: int,
        site: str | TokenSite = "encoder.0",
        target: str | None = None,
        count: int = 20,
    ) -> list[SimilarToken]:
        """Return the `count` tokens whose vector at `site` is nearest to that of a token of `text`, nearest first.

        `token` is an index from 0: into the tokens of `text` for a site of the encoder, and into the written tokens for
        a site of the decoder or of cross-attention. These are the tokens of `target`, or of the model's own translation
        if it is None. `site` is one of SITE_FORMS; the output or row of a single head ends in its number, as in
        "encoder.2.output.1". Sentences with the same source are left out. Raises ValueError if there is no such site or
        token.
        """
        site = TokenSite.parse(site) if isinstance(site, str) else site
        source, written = self.model.encode_pair(text, target)
        return self.nearest(source, written, token, site, count)

    def nearest(
        self, source: Sequence[int], target: Sequence[int], token: int, site: TokenSite, count: int = 20,
        tap: Tap | None = None,
    ) -> list[SimilarToken]:  # fmt: skip
        """Return the same as `like` for the ids of a sentence and of its translation; `tap` may change heads."""
        query = self._query(source, target, token, site, tap)
        vectors = self.vectors(site.every_head)
        vectors = vectors if site.head is None else vectors[:, site.head]
        excluded = self._rows_of_same_source(source, site.side)
        try:
            best = nearest(vectors, query, count, excluded)
        except ValueError as error:
            if "not numbers" in str(error):
                raise IndexRefused("broken", f"The index {short(self.folder)} is broken. {error}") from None
            raise
        rows = zip(best.rows.tolist(), best.cosines.tolist(), strict=True)
        return [self._token(row, site.side, cosine) for row, cosine in rows]

    def _query(
        self, source: Sequence[int], target: Sequence[int], token: int, site: TokenSite, tap: Tap | None
    ) -> np.ndarray:
        model = self.model.model
        shape = site.shape(model)
        if len(shape) > 1 and site.head is None:
            raise ValueError(f"{site} is about all heads of a layer; name one, as in {site}.1.")
        length = len(source) if site.side == "source" else len(target) - 1
        if not 0 <= token < length:
            raise ValueError(f"There is no token {token} here; choose one from 0 to {length - 1}.")
        device = model.output.weight.device
        src, tgt = torch.tensor([source], device=device), torch.tensor([target[:-1]], device=device)
        special = self._special(src, tgt)
        vectors = token_vectors(model, src, tgt, [site.every_head], special, tap).by_site[site.every_head][0, token]
        query: np.ndarray = (vectors if site.head is None else vectors[site.head]).float().cpu().numpy()
        return query

    def _special(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, Tensor]:
        checkpoint, pad_id = self.model.checkpoint, self.model.model.config.pad_id
        source = special_tokens(checkpoint.source_tokenizer, src, pad_id)
        return source, special_tokens(checkpoint.target_tokenizer, tgt, pad_id)

    def labels(self, source: Sequence[int], target: Sequence[int], side: Side) -> list[str]:
        """Return the labels of a sentence's tokens that can be searched for: those read, or those written."""
        return self._tokenizer(side).labels(source if side == "source" else target[1:])

    # ---- tokens ------------------------------------------------------------------------------------------------------

    def _token(self, row: int, side: Side, cosine: float) -> SimilarToken:
        """Return the token of a row of the index, with its sentence."""
        starts, index = self._columns[f"{side}_starts"], int(self._columns[f"{side}_tokens"][row])
        sentence = int(np.searchsorted(starts, index, "right")) - 1
        position, texts = index - int(starts[sentence]), self._texts(sentence)
        words = self._words(sentence, side, texts[side])
        word = next(number for number, (positions, _) in enumerate(words) if position in positions)
        marked = mark_word(texts[side], [text for _, text in words], word)
        other: Side = "target" if side == "source" else "source"
        link = int(self._columns[f"{side}_links"][row])
        linked = next((text for positions, text in self._words(sentence, other, texts[other]) if link in positions), "")
        label = self._tokenizer(side).label(self._ids(sentence, side)[position])
        return SimilarToken(cosine, texts["source"], texts["target"], label, marked, linked)

    def _words(self, sentence: int, side: Side, text: str) -> list[tuple[list[int], str]]:
        """Return the words of a sentence: the positions of their tokens, and their texts."""
        tokenizer, ids = self._tokenizer(side), self._ids(sentence, side)
        groups = tokenizer.word_groups(ids, text)
        return [(group, tokenizer.decode([ids[position] for position in group]).strip()) for group in groups]

    def _tokenizer(self, side: Side) -> Tokenizer:
        checkpoint = self.model.checkpoint
        return checkpoint.source_tokenizer if side == "source" else checkpoint.target_tokenizer

    def _ids(self, sentence: int, side: Side) -> list[int]:
        starts = self._columns[f"{side}_starts"]
        ids: list[int] = self._columns[f"{side}_ids"][starts[sentence] : starts[sentence + 1]].tolist()
        return ids

    def _texts(self, sentence: int) -> dict[Side, str]:
        start, end = self._columns["line_starts"][sentence : sentence + 2].tolist()
        with open_regular(self.folder / SENTENCES_FILE) as file:
            file.seek(start)
            line = file.read(end - start)
        try:
            texts = json.loads(line)
            return {"source": _text(texts["source"]), "target": _text(texts["target"])}
        except (ValueError, KeyError, TypeError, RecursionError):
            raise broken_index(self.folder, f"Line {sentence + 1:,} of {SENTENCES_FILE} is no sentence.") from None

    def _rows_of_same_source(self, source: Sequence[int], side: Side) -> np.ndarray:
        """Return which rows of the index are of sentences with the same source: bool [N]."""
        starts, ids = self._columns["source_starts"], self._columns["source_ids"]
        same = np.flatnonzero(np.diff(starts) == len(source))
        for offset, id in enumerate(source):
            same = same[ids[starts[same] + offset] == id]
        excluded = np.zeros(len(self._columns[f"{side}_tokens"]), bool)
        for sentence in same.tolist():
            bounds = self._columns[f"{side}_starts"][sentence : sentence + 2]
            begin, end = np.searchsorted(self._columns[f"{side}_tokens"], bounds)
            excluded[begin:end] = True
        return excluded

    # ---- vectors -----------------------------------------------------------------------------------------------------

    def vectors(self, site: TokenSite) -> Tensor:
        """Return the vectors of every token at a site, [N, M] or [N, H, ...], float16 of length 1.

        Raises ValueError for a site that the model lacks, and for one that is not stored in an index that is too large
        to compute it.
        """
        shape = site.shape(self.model.model)
        if site in self._stored:
            return self._stored[site]
        if self.tokens * count_parameters(self.model.model) > MAX_COMPUTED_PRODUCTS:
            stored = ", ".join(self.sites) or "no vectors"
            raise ValueError(
                f"This index holds {stored}, and is too large to compute {site} now; make one with --sites {site}."
            )
        computed = self._computed
        if site not in computed:  # no lock: it would be held while other requests have their turn
            # One pass computes this site in all layers, if they fit.
            sites = [site._replace(layer=layer) for layer in range(self._layers(site))]
            sites = [other for other in sites if other not in self._stored]
            size = 2 * int(np.prod(shape)) * len(self._columns[f"{site.side}_tokens"])
            sites = sites if size * len(sites) <= MAX_COMPUTED_BYTES else [site]
            fits = self.nbytes + size * len(sites) <= 2 * MAX_COMPUTED_BYTES
            self._computed = computed = {**(computed if fits else {}), **self._compute(sites)}
        return computed[site]

    def _layers(self, site: TokenSite) -> int:
        config = self.model.model.config
        layers = (config.encoder if site.kind == "encoder" else config.decoder).n_layers
        return layers + 1 if site.form == "state" else layers

    def _compute(self, sites: Sequence[TokenSite]) -> dict[TokenSite, Tensor]:
        model, side = self.model.model, sites[0].side
        count = len(self._columns[f"{side}_tokens"])
        vectors = {site: torch.zeros((count, *site.shape(model)), dtype=torch.float16) for site in sites}
        for batch in self._batches():
            sentences = [reading.index for reading in batch]
            src, tgt = pass_of(batch, model.config, model.output.weight.device)
            by_site = token_vectors(model, src, tgt, sites, self._special(src, tgt)).by_site
            starts = self._columns[f"{side}_starts"][sentences]
            spans = np.stack([starts, self._columns[f"{side}_starts"][[index + 1 for index in sentences]]])
            bounds = np.searchsorted(self._columns[f"{side}_tokens"], spans)
            for b, (start, begin, end) in enumerate(zip(starts, *bounds, strict=True)):
                positions = torch.from_numpy(self._columns[f"{side}_tokens"][begin:end] - start)
                if side == "target":
                    positions -= 1  # the step that writes the token
                for site, batch_vectors in by_site.items():
                    vectors[site][begin:end] = unit(batch_vectors[b, positions].float()).half().cpu()
        return vectors

    def _batches(self) -> Iterator[list[PairReading]]:
        readings = [
            PairReading(index, self._ids(index, "source"), self._ids(index, "target"))
            for index in range(self.sentences)
        ]
        yield from batches(readings, BATCH_TOKENS, self.model.model.config.padding_mask == "applied")


def pass_of(batch: Sequence[PairReading], config: ModelConfig, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return the inputs of a pass: the sources [B, S], and the targets without their last tokens [B, T]."""
    padded = collate([(reading.source, reading.target[:-1]) for reading in batch], config.pad_id)
    return padded.src.to(device), padded.tgt.to(device)


def mark_word(text: str, words: Sequence[str], at: int) -> MarkedSentence:
    """Split `text` around its word number `at`.

    If the words are not spelled as in the text, the sentence is put together from the words instead.
    """
    cursor, folded = 0, text.casefold()
    if len(folded) == len(text):
        for index, word in enumerate(words[: at + 1]):
            start = folded.find(word.casefold(), cursor)
            if start < 0 or re.search(r"\w", text[cursor:start]):  # the word is not there, or only after another one
                break
            cursor = start + len(word)
            if index == at and word:
                return MarkedSentence(text[:start], text[start:cursor], text[cursor:])
    before, after = " ".join(filter(None, words[:at])), " ".join(filter(None, words[at + 1 :]))
    return MarkedSentence(f"{before} " * bool(before), words[at], f" {after}" * bool(after))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


# ---- opening --------------------------------------------------------------------------------------------------------


def index_folders(model: str | Path) -> list[Path]:
    """Return where the app looks for a model's index: in a folder of this machine, then beside the weights."""
    folder = checkpoints.find(model)
    return [folders.runs() / ".similar" / checkpoints.digest(folder)[:16], folder / "similar"]


def open_index(folder: str | Path, model: str | Path | Translator, digest: str | None = None) -> TokenIndex:
    """Open the index in `folder`, which need not be trusted, for the model that it was made with.

    `model` is a name or folder as `headlight.load` takes it, or the opened model together with the `digest` of its
    folder. Raises IndexRefused, a ValueError, where there is no index, and for one that is broken or of another model.
    """
    folder = Path(folder)
    if not isinstance(model, Translator):
        checkpoint = checkpoints.find(model)
        model, digest = checkpoints.load_translator(checkpoint), checkpoints.digest(checkpoint)
    return TokenIndex(folder, model, *read_index(folder, model.model, digest))
