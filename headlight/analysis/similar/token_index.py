"""An index of the tokens of a corpus: a folder of safetensors files and a table of its sentences, and the search in it.

index.json                   the model's digest, the corpus, the counts and the checksums of all other files
sentences.jsonl              a line for each sentence: its source and its target
encoder.3.safetensors ...    the vectors of a `TokenSite` of each token, float16 of length 1
source_ids.safetensors ...   the ids of the sentences, where each begins, which of them are tokens of the index, and
                             which token of the other side each was translated to

Vectors of sites that a small index does not hold are computed from its sentences when they are first asked for.

Shapes: N tokens, S source tokens, T target tokens that are read, M = d_model, H heads.
"""

from __future__ import annotations

import hashlib
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
from headlight.analysis.similar.columns import SUFFIX, read_column
from headlight.analysis.similar.search import nearest, unit
from headlight.analysis.similar.token_vectors import TokenSite, special_tokens, token_vectors
from transformer.batches import collate
from transformer.config import ModelConfig
from transformer.files import open_regular, read_json
from transformer.model import count_parameters
from transformer.quoting import quoted, short
from transformer.taps import Tap
from transformer.tokenizers import Tokenizer
from transformer.translator import Translator

EDITION = 1  # of the files of an index
FACTS, SENTENCES = "index.json", "sentences.jsonl"
COLUMNS = {
    "source_ids": "I32", "target_ids": "I32",  # of all sentences, one after the other
    "source_starts": "I64", "target_starts": "I64",  # where in them each sentence begins, and at last where they end
    "line_starts": "I64",  # the same of the lines of the sentences, in bytes
    "source_tokens": "I64", "target_tokens": "I64",  # [N] where in the ids each token of the index is
    "source_links": "I32", "target_links": "I32",  # [N] the token of the other side, from its sentence's start; or -1
}  # fmt: skip
MAX_TOKENS = 5_000_000  # of an index, on either side
MAX_INDEX_BYTES = 32 * 2**30  # of all its files together
MAX_LINE_BYTES = 100_000  # of a sentence and its target
BATCH_TOKENS = 2048  # of a pass
# Multiplications that vectors may take which are not in the index: 5,000 tokens of a model with 40 million parameters.
MAX_COMPUTED = 200_000_000_000
MAX_COMPUTED_BYTES = 100_000_000  # of the vectors that are computed together, and held
Side = Literal["source", "target"]


class IndexRefused(ValueError):
    """An index that cannot be used; `reason` is "missing", "stale" (of another model) or "broken"."""

    def __init__(self, reason: Literal["missing", "stale", "broken"], text: str) -> None:
        super().__init__(text)
        self.reason = reason


class Marked(NamedTuple):
    """A sentence around one of its words."""

    before: str
    word: str
    after: str


@dataclass(frozen=True)
class SimilarToken:
    """A token of the corpus whose vector is near."""

    cosine: float
    source: str
    target: str
    token: str  # its label; of a target token the one that is written
    marked: Marked  # the sentence that it is in, around the word that it belongs to
    translated: str  # the word of the other side that cross-attention links it to; "" where there is none


class TokenIndex:
    """The tokens of a corpus with a model's vectors of them. Threads may share it; it is never written to.

    Open one with `open_index`.
    """

    def __init__(self, folder: Path, model: Translator, facts: Mapping[str, Any], columns: Mapping[str, Tensor]):
        self.folder, self.model, self._facts = folder, model, facts
        self._columns = {name: column.numpy() for name, column in columns.items() if name in COLUMNS}
        self._stored = {TokenSite.parse(name): column for name, column in columns.items() if name not in COLUMNS}
        self._computed: dict[TokenSite, Tensor] = {}

    @property
    def corpus(self) -> str:
        """The corpus that it was made from."""
        return str(self._facts["corpus"])

    @property
    def sentences(self) -> int:
        """The number of its sentences."""
        return len(self._columns["line_starts"]) - 1

    @property
    def tokens(self) -> int:
        """The number of its source tokens, special ones not counted."""
        return len(self._columns["source_tokens"])

    @property
    def sites(self) -> list[str]:
        """The sites whose vectors it holds; those of others are computed where they are few."""
        return [str(site) for site in self._stored]

    @property
    def nbytes(self) -> int:
        """The bytes in memory; what is mapped does not count."""
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

        `token` counts from 0 in `text`, and of a site of the decoder or of cross-attention in the tokens that are
        written in `target`, or in the model's own translation. `site` is one of SITE_FORMS; of a head's output or row
        with the head, as in "encoder.2.output.1". Sentences with the same source are left out. Raises ValueError for
        a site or a token that there is none of.
        """
        site = TokenSite.parse(site) if isinstance(site, str) else site
        source, written = self.model.encode_pair(text, target)
        return self.nearest(source, written, token, site, count)

    def nearest(
        self, source: Sequence[int], target: Sequence[int], token: int, site: TokenSite, count: int = 20,
        tap: Tap | None = None,
    ) -> list[SimilarToken]:  # fmt: skip
        """Return the same as `like` for a sentence and its translation given as ids; `tap` may change its heads."""
        rows, cosines = self.search(source, target, token, site, count, tap)
        return [self.token(int(row), site.side, float(cosine)) for row, cosine in zip(rows, cosines, strict=True)]

    def search(
        self, source: Sequence[int], target: Sequence[int], token: int, site: TokenSite, count: int = 20,
        tap: Tap | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """Return the rows of the nearest tokens and their cosines, as `nearest` describes them."""
        query = self._query(source, target, token, site, tap)
        vectors = self.vectors(site.every_head)
        vectors = vectors if site.head is None else vectors[:, site.head]
        excluded = self._rows_of_same_source(source, site.side)
        try:
            return nearest(vectors, query, count, excluded)
        except ValueError as error:
            if "not numbers" in str(error):
                raise IndexRefused("broken", f"The index {short(self.folder)} is broken. {error}") from None
            raise

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
        chosen: np.ndarray = (vectors if site.head is None else vectors[site.head]).float().cpu().numpy()
        return chosen

    def _special(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, Tensor]:
        checkpoint, pad_id = self.model.checkpoint, self.model.model.config.pad_id
        source = special_tokens(checkpoint.source_tokenizer, src, pad_id)
        return source, special_tokens(checkpoint.target_tokenizer, tgt, pad_id)

    def labels(self, source: Sequence[int], target: Sequence[int], side: Side) -> list[str]:
        """Return the labels of the tokens of a sentence that can be looked up: those read, or those written."""
        return self._tokenizer(side).labels(source if side == "source" else target[1:])

    # ---- tokens ------------------------------------------------------------------------------------------------------

    def token(self, row: int, side: Side, cosine: float = 1.0) -> SimilarToken:
        """Return the token of a row, as people read it."""
        starts, link = self._columns[f"{side}_starts"], int(self._columns[f"{side}_links"][row])
        place = int(self._columns[f"{side}_tokens"][row])
        sentence = int(np.searchsorted(starts, place, "right")) - 1
        position, texts = place - int(starts[sentence]), self._texts(sentence)
        words = {}
        for which, text in texts.items():
            ids = self._ids(sentence, which)  # type: ignore[arg-type]
            words[which] = _words(self._tokenizer(which), ids, text)  # type: ignore[arg-type]
        other = "target" if side == "source" else "source"
        linked = next((word for group, word in words[other] if link in group), "")
        at = next(index for index, (group, _) in enumerate(words[side]) if position in group)
        label = self._tokenizer(side).label(self._ids(sentence, side)[position])
        marked = marked_in(texts[side], [word for _, word in words[side]], at)
        return SimilarToken(cosine, texts["source"], texts["target"], label, marked, linked)

    def _tokenizer(self, side: Side) -> Tokenizer:
        checkpoint = self.model.checkpoint
        return checkpoint.source_tokenizer if side == "source" else checkpoint.target_tokenizer

    def _ids(self, sentence: int, side: Side) -> list[int]:
        starts = self._columns[f"{side}_starts"]
        ids: list[int] = self._columns[f"{side}_ids"][starts[sentence] : starts[sentence + 1]].tolist()
        return ids

    def _texts(self, sentence: int) -> dict[str, str]:
        start, end = self._columns["line_starts"][sentence : sentence + 2].tolist()
        with open_regular(self.folder / SENTENCES) as file:
            file.seek(start)
            line = file.read(end - start)
        try:
            texts = json.loads(line)
            return {"source": _text(texts["source"]), "target": _text(texts["target"])}
        except (ValueError, KeyError, TypeError, RecursionError):
            raise _broken(self.folder, f"Line {sentence + 1:,} of {SENTENCES} is no sentence.") from None

    def _rows_of_same_source(self, source: Sequence[int], side: Side) -> np.ndarray:
        """Return which rows are of sentences whose source has the same ids: bool [N]."""
        starts, ids = self._columns["source_starts"], self._columns["source_ids"]
        same = np.flatnonzero(np.diff(starts) == len(source))
        for offset, id in enumerate(source):
            same = same[ids[starts[same] + offset] == id]
        excluded = np.zeros(len(self._columns[f"{side}_tokens"]), bool)
        for sentence in same.tolist():
            places = self._columns[f"{side}_starts"][sentence : sentence + 2]
            begin, end = np.searchsorted(self._columns[f"{side}_tokens"], places)
            excluded[begin:end] = True
        return excluded

    # ---- vectors -----------------------------------------------------------------------------------------------------

    def vectors(self, site: TokenSite) -> Tensor:
        """Return the vectors of every token at a site, [N, M] or [N, H, ...], float16 of length 1.

        Raises ValueError for a site that the model lacks, and where the index does not hold it and is too large to
        compute it.
        """
        shape = site.shape(self.model.model)
        if site in self._stored:
            return self._stored[site]
        if self.tokens * count_parameters(self.model.model) > MAX_COMPUTED:
            held = ", ".join(self.sites) or "no vectors"
            raise ValueError(
                f"This index holds {held}, and is too large to compute {site} now; make one with --sites {site}."
            )
        computed = self._computed
        if site not in computed:  # without a lock, which would be held while others have their turn
            alike = [site._replace(layer=layer) for layer in range(self._layers(site))]
            size = 2 * int(np.prod(shape)) * len(self._columns[f"{site.side}_tokens"])
            together = [other for other in alike if other not in self._stored]
            chosen = together if size * len(together) <= MAX_COMPUTED_BYTES else [site]
            fits = self.nbytes + size * len(chosen) <= 2 * MAX_COMPUTED_BYTES
            self._computed = computed = {**(computed if fits else {}), **self._compute(chosen)}
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
            found = token_vectors(model, src, tgt, sites, self._special(src, tgt)).by_site
            starts = self._columns[f"{side}_starts"][sentences]
            spans = np.stack([starts, self._columns[f"{side}_starts"][[index + 1 for index in sentences]]])
            bounds = np.searchsorted(self._columns[f"{side}_tokens"], spans)
            for b, (start, begin, end) in enumerate(zip(starts, *bounds, strict=True)):
                positions = torch.from_numpy(self._columns[f"{side}_tokens"][begin:end] - start)
                if side == "target":
                    positions -= 1  # the step that writes the token
                for site, of_batch in found.items():
                    vectors[site][begin:end] = unit(of_batch[b, positions].float()).half().cpu()
        return vectors

    def _batches(self) -> Iterator[list[PairReading]]:
        readings = [
            PairReading(index, self._ids(index, "source"), self._ids(index, "target"))
            for index in range(self.sentences)
        ]
        yield from batches(readings, BATCH_TOKENS, self.model.model.config.padding_mask == "applied")


def pass_of(batch: Sequence[PairReading], config: ModelConfig, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return what a pass reads of a batch: the source [B, S], and the target but its last token [B, T]."""
    padded = collate([(reading.source, reading.target[:-1]) for reading in batch], config.pad_id)
    return padded.src.to(device), padded.tgt.to(device)


def _words(tokenizer: Tokenizer, ids: Sequence[int], text: str) -> list[tuple[list[int], str]]:
    """Return the words of a sentence: the positions of their tokens, and their texts."""
    groups = tokenizer.word_groups(ids, text)
    return [(group, tokenizer.decode([ids[at] for at in group]).strip()) for group in groups]


def marked_in(text: str, words: Sequence[str], at: int) -> Marked:
    """Return `text` around the word `at` of its words.

    Where a vocabulary spells words in another way than the text, the sentence is that of the vocabulary.
    """
    cursor, folded = 0, text.casefold()
    if len(folded) == len(text):
        for index, word in enumerate(words[: at + 1]):
            start = folded.find(word.casefold(), cursor)
            if start < 0 or re.search(r"\w", text[cursor:start]):  # a word of the text is missing among the tokens
                break
            cursor = start + len(word)
            if index == at and word:
                return Marked(text[:start], text[start:cursor], text[cursor:])
    before, after = " ".join(filter(None, words[:at])), " ".join(filter(None, words[at + 1 :]))
    return Marked(f"{before} " * bool(before), words[at], f" {after}" * bool(after))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


# ---- opening --------------------------------------------------------------------------------------------------------


def index_folders(model: str | Path) -> list[Path]:
    """Return where the app looks for the index of a model's folder: made here for these weights, or beside them."""
    folder = checkpoints.find(model)
    return [folders.runs() / ".similar" / checkpoints.digest(folder)[:16], folder / "similar"]


def open_index(folder: str | Path, model: str | Path | Translator, digest: str | None = None) -> TokenIndex:
    """Open the index in `folder`, which need not be trusted, for the model that it was made with.

    `model` is a name or folder as `headlight.load` takes it, or the opened model together with the `digest` of its
    folder. Raises IndexRefused, a ValueError, where there is no index, and for one that is broken or of another model.
    """
    folder = Path(folder)
    if not isinstance(model, Translator):
        found = checkpoints.find(model)
        model, digest = checkpoints.load_translator(found), checkpoints.digest(found)
    if not (folder / FACTS).is_file():
        raise IndexRefused("missing", f"There is no index in {short(folder)}; make one with `headlight index`.")
    try:
        facts = read_json(folder / FACTS, MAX_LINE_BYTES)
        _require_facts(facts)
    except ValueError as error:
        raise _broken(folder, str(error)) from None
    if facts["edition"] != EDITION:
        text = f"The index {short(folder)} was made by another version of Headlight; make it again."
        raise IndexRefused("stale", text)
    if facts["model"] != digest:
        text = f"The index {short(folder)} was made with another model, or before its weights changed; make it again."
        raise IndexRefused("stale", text)
    try:
        _require_checksums(folder, facts["files"])
        sites = [TokenSite.parse(name) for name in facts["sites"]]
        columns = {name: read_column(folder / (name + SUFFIX), (None,), dtype) for name, dtype in COLUMNS.items()}
        _require_consistent(columns, model, (folder / SENTENCES).stat().st_size)
        for site in sites:
            shape = len(columns[f"{site.side}_tokens"]), *site.shape(model.model)
            columns[str(site)] = read_column(folder / f"{site}{SUFFIX}", shape, "F16")
    except (ValueError, OSError) as error:
        raise _broken(folder, str(error)) from None
    return TokenIndex(folder, model, facts, columns)


def _broken(folder: Path, why: str) -> IndexRefused:
    return IndexRefused("broken", f"The index {short(folder)} is broken: {why} Make it again.")


def _require_facts(facts: object) -> None:
    """Raise ValueError unless index.json has what is read of it, of the right kinds."""
    kinds = {"edition": int, "model": str, "corpus": str, "sites": list, "files": dict}
    if not isinstance(facts, dict) or not all(isinstance(facts.get(name), kind) for name, kind in kinds.items()):
        raise ValueError(f"{FACTS} is not that of an index.")
    names = {SENTENCES, *(name + SUFFIX for name in COLUMNS), *(f"{site}{SUFFIX}" for site in facts["sites"])}
    if not all(isinstance(site, str) and str(TokenSite.parse(site)) == site for site in facts["sites"]):
        raise ValueError(f"{FACTS} names sites that there are none of.")
    if set(facts["files"]) != names:
        raise ValueError(f"{FACTS} lists other files than an index has.")


def _require_checksums(folder: Path, files: Mapping[str, Any]) -> None:
    """Raise ValueError for a file that is not as it was written."""
    if sum((folder / name).stat().st_size for name in files) > MAX_INDEX_BYTES:
        raise ValueError(f"Its files are larger than {MAX_INDEX_BYTES:,} bytes together.")
    for name, checksum in files.items():
        if file_checksum(folder / name) != checksum:
            raise ValueError(f"{quoted(name)} is not as it was written.")


def file_checksum(path: Path) -> str:
    """Return the SHA-256 checksum of a regular file, in hexadecimal."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _require_consistent(columns: Mapping[str, Tensor], model: Translator, line_bytes: int) -> None:
    """Raise ValueError unless the tables of sentences and tokens fit each other and the model."""
    if not all(_consistencies(columns, model.model.config, line_bytes)):
        raise ValueError("Its tables of sentences and tokens do not fit each other or the model.")


def _consistencies(columns: Mapping[str, Tensor], config: ModelConfig, line_bytes: int) -> Iterator[bool]:
    lines = columns["line_starts"]
    yield _rises(lines, line_bytes)
    yield int(lines.diff().max()) <= MAX_LINE_BYTES
    for side, size in (("source", config.source_vocab_size), ("target", config.target_vocab_size)):
        ids, starts, places, links = (columns[f"{side}_{name}"] for name in ("ids", "starts", "tokens", "links"))
        yield len(starts) == len(lines)
        yield _rises(starts, len(ids))
        yield int(starts.diff().max()) <= config.max_length
        yield int(ids.min()) >= 0 and int(ids.max()) < size
        yield 0 < len(places) == len(links) <= MAX_TOKENS
        yield int(places[0]) >= 0 and int(places[-1]) < len(ids) and bool((places.diff() > 0).all())


def _rises(starts: Tensor, end: int) -> bool:
    """Return whether positions rise from 0 to `end`."""
    return len(starts) > 1 and int(starts[0]) == 0 and int(starts[-1]) == end and bool((starts.diff() > 0).all())
