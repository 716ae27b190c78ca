"""Build an index of the tokens of a corpus: pairs are read in passes, and each pass is written immediately.

Shapes: S source tokens, T target tokens that are read.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch

from headlight import checkpoints
from headlight.analysis.atlas.reading import PairReading, Reader, SkippedPairs, batches
from headlight.analysis.combine import merge
from headlight.analysis.similar.columns import SUFFIX, ColumnWriter
from headlight.analysis.similar.index_files import (
    COLUMNS,
    EDITION,
    FACTS_FILE,
    MAX_LINE_BYTES,
    MAX_TOKENS,
    SENTENCES_FILE,
)
from headlight.analysis.similar.search import unit
from headlight.analysis.similar.token_index import BATCH_TOKENS, TokenIndex, open_index, pass_of
from headlight.analysis.similar.token_vectors import SITE_FORMS, TokenSite, special_tokens, token_vectors
from headlight.corpora.truth import KnownPair
from transformer.checkpoint import Checkpoint
from transformer.config import check_whole
from transformer.files import require_folder, write_json
from transformer.model import Transformer
from transformer.quoting import short
from transformer.tokenizers import Tokenizer
from transformer.translator import Translator
from transformer.yielding import yield_turn

DEFAULT_SITES = ("encoder",)
SITES_HELP = (
    "the vectors to store for each token: encoder or decoder for its states after every layer, encoder.output, "
    f"decoder.row and the like for all layers' heads; or {SITE_FORMS}; or none, which computes all vectors when they "
    "are needed (for a small index)"
)
MAX_PAIR_CHARACTERS = MAX_LINE_BYTES // 8  # a character takes at most 6 bytes of JSON
Progress = Callable[[int], None]  # called with the number of source tokens read so far


def index(
    model: str | Path,
    pairs: Iterable[tuple[str, str]],
    out: str | Path,
    *,
    corpus: str = "",
    tokens: int = 100_000,
    sites: Sequence[str] = DEFAULT_SITES,
    device: str = "cpu",
    progress: Progress = lambda read: None,
) -> TokenIndex:
    """Write an index of the first sentences of `pairs`, up to `tokens` source tokens, into `out`, and open it.

    `model` is a name or folder as `headlight.load` takes it. The decoder reads the target of each pair. Pairs that the
    model cannot read, and pairs with the source of an earlier one, are left out. `sites` says what is stored of each
    token, in 16 bits a number: "encoder" and "decoder" are the states after every layer, "encoder.output",
    "decoder.row" and "cross.row" the outputs and attention rows of all heads, "encoder.3" and "encoder.2.output" those
    of one layer. Without sites, vectors are computed when a search first needs them, which only a small index allows.
    `corpus` is the name of the corpus to show. Memory grows only by one number for each distinct source.
    Raises ValueError if `out` exists, if the model lacks one of the sites, and if it can read no pair.
    """
    check_whole("tokens", tokens, 1, MAX_TOKENS)
    folder, out = checkpoints.find(model), Path(out)
    require_folder(out)
    if os.path.lexists(out):
        raise ValueError(f"{short(out)} exists already; choose another name, or delete it first.")
    checkpoint = checkpoints.load(folder, device)
    chosen = stored_sites(checkpoint.model, sites)
    temporary = out.with_name(f"{out.name}.{os.getpid()}.part")
    temporary.mkdir()
    try:
        files = _Writer(temporary, checkpoint, chosen).write(pairs, tokens, progress)
        facts = {"edition": EDITION, "model": checkpoints.digest(folder), "corpus": corpus}
        write_json(temporary / FACTS_FILE, facts | {"sites": list(map(str, chosen)), "files": files})
        os.rename(temporary, out)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return open_index(out, Translator(checkpoint), facts["model"])  # type: ignore[arg-type]


def stored_sites(model: Transformer, names: Sequence[str]) -> list[TokenSite]:
    """Return the sites that `names` mean, as `index` describes them, without duplicates; none for ["none"].

    Raises ValueError for a name that is no site of the model.
    """
    sites: list[TokenSite] = []
    for name in names if list(names) != ["none"] else ():
        kind, _, form = name.partition(".")
        config = model.config
        layers = (config.encoder if kind == "encoder" else config.decoder).n_layers
        if kind in ("encoder", "decoder") and not form:
            sites += [TokenSite(kind, layer) for layer in range(layers + 1)]  # type: ignore[arg-type]
        elif kind in ("encoder", "decoder", "cross") and form in ("output", "row"):
            sites += [TokenSite(kind, layer, form) for layer in range(layers)]  # type: ignore[arg-type]
        else:
            sites.append(TokenSite.parse(name).every_head)
            sites[-1].shape(model)  # raises ValueError where the model has no such layer
    return list(dict.fromkeys(sites))


class _Writer:
    """An index being written: its columns, and the model that reads the pairs."""

    def __init__(self, folder: Path, checkpoint: Checkpoint, sites: Sequence[TokenSite]) -> None:
        self.folder, self.checkpoint, self.sites = folder, checkpoint, sites
        self.tokenizers = {"source": checkpoint.source_tokenizer, "target": checkpoint.target_tokenizer}
        self.columns = {name: ColumnWriter(folder / (name + SUFFIX), (), dtype) for name, dtype in COLUMNS.items()}
        model = checkpoint.model
        self.vectors = {site: ColumnWriter(folder / f"{site}{SUFFIX}", site.shape(model), "F16") for site in sites}
        self.is_full, self.read, self.ends = False, 0, {"source": 0, "target": 0, "line": 0}
        self.texts: dict[int, tuple[str, str]] = {}  # of the pairs that are being read, by their number

    def write(self, pairs: Iterable[tuple[str, str]], tokens: int, progress: Progress) -> dict[str, str]:
        """Write the columns and the sentences. Returns the checksums of the files."""
        config = self.checkpoint.model.config
        reader = Reader(config, self.tokenizers["source"], self.tokenizers["target"])
        padded, left = config.padding_mask == "applied", SkippedPairs()
        with open(self.folder / SENTENCES_FILE, "wb") as lines:
            for chunk in reader.chunks(self._distinct(pairs), left):
                for batch in batches(self._first(chunk, tokens), BATCH_TOKENS, padded):
                    yield_turn()
                    self._write(batch, lines.write)
                    progress(self.read)
                self.texts.clear()
                if self.is_full:
                    break
        if not self.ends["line"]:
            raise ValueError(
                f"There is no pair that this model reads ({left.long:,} are empty or too long); give another corpus."
            )
        for side, end in self.ends.items():
            self.columns[f"{side}_starts"].append(np.array([end]))
        for column in (*self.columns.values(), *self.vectors.values()):
            column.close()
        names = [SENTENCES_FILE, *(column.path.name for column in (*self.columns.values(), *self.vectors.values()))]
        return {name: checkpoints.file_checksum(self.folder / name) for name in names}

    def _distinct(self, pairs: Iterable[tuple[str, str]]) -> Iterator[KnownPair]:
        known = set[int]()
        number = 0
        for source, target in pairs:
            if hash(source) in known or len(source) + len(target) > MAX_PAIR_CHARACTERS:
                continue
            known.add(hash(source))
            self.texts[number] = source, target
            number += 1
            yield KnownPair(source, target)

    def _first(self, readings: Sequence[PairReading], tokens: int) -> list[PairReading]:
        """Return the first readings that still fit into the index; its first sentence always fits."""
        chosen, count = list[PairReading](), self.read
        for reading in readings:
            length = sum(_is_ordinary(self.tokenizers["source"], id) for id in reading.source)
            self.is_full = count > 0 and count + length > tokens
            if self.is_full:
                break
            count += length
            chosen.append(reading)
        return chosen

    def _write(self, batch: Sequence[PairReading], write_line: Callable[[bytes], object]) -> None:
        """Write the sentences of a batch, and the vectors of their tokens."""
        model, pad_id = self.checkpoint.model, self.checkpoint.model.config.pad_id
        src, tgt = pass_of(batch, model.config, model.output.weight.device)
        special = (
            special_tokens(self.tokenizers["source"], src, pad_id),
            special_tokens(self.tokenizers["target"], tgt, pad_id),
        )
        vectors = token_vectors(model, src, tgt, self.sites, special, with_cross=True)
        assert vectors.cross is not None
        positions = {"source": list[np.ndarray](), "target": list[np.ndarray]()}
        for reading, weights in zip(batch, vectors.cross.cpu().numpy(), strict=True):
            cross = weights[: len(reading.target) - 1, : len(reading.source)]
            ordinary = self._write_sentence(reading, cross, write_line)
            positions["source"].append(ordinary["source"])
            positions["target"].append(ordinary["target"] - 1)  # the step that writes the token
        for site, of_batch in vectors.by_site.items():
            chosen = positions[site.side]
            sentences = np.repeat(np.arange(len(batch)), [len(of_sentence) for of_sentence in chosen])
            indices = torch.from_numpy(sentences), torch.from_numpy(np.concatenate(chosen))
            self.vectors[site].append(unit(of_batch[indices].float()).half().cpu().numpy())

    def _write_sentence(
        self, reading: PairReading, cross: np.ndarray, write_line: Callable[[bytes], object]
    ) -> dict[str, np.ndarray]:
        """Write the line and the columns of a sentence. Returns the positions of its ordinary tokens by side.

        `cross` [T, S] is the mean of all cross-attention heads.
        """
        texts = dict(zip(("source", "target"), self.texts[reading.index], strict=True))
        line = f"{json.dumps(texts, ensure_ascii=False)}\n".encode()
        write_line(line)
        self._append("line_starts", [self.ends["line"]])
        self.ends["line"] += len(line)
        words, ordinary = {}, {}
        for side, ids in (("source", reading.source), ("target", reading.target)):
            tokenizer = self.tokenizers[side]
            words[side] = tokenizer.word_groups(ids, texts[side])
            ordinary[side] = np.flatnonzero([_is_ordinary(tokenizer, id) for id in ids])
            self._append(f"{side}_ids", ids)
            self._append(f"{side}_starts", [self.ends[side]])
            self._append(f"{side}_tokens", self.ends[side] + ordinary[side])
            self.ends[side] += len(ids)
        for side, linked in links(cross, words["source"], words["target"], ordinary).items():
            self._append(f"{side}_links", linked)
        self.read += len(ordinary["source"])
        return ordinary

    def _append(self, name: str, values: Sequence[int] | np.ndarray) -> None:
        self.columns[name].append(np.asarray(values))


def _is_ordinary(tokenizer: Tokenizer, id: int) -> bool:
    """Return whether a token is part of the text: ordinary tokens and [UNK] are, other special tokens are not."""
    return id not in tokenizer.special_ids or id == tokenizer.unk_id


def links(
    weights: np.ndarray, source: list[list[int]], target: list[list[int]], ordinary: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return for each side the token of the other side that each ordinary token is linked to, or -1.

    `weights` [T, S] is the mean of all cross-attention heads; row t writes token t + 1 of the target. Weights are
    summed over the tokens of a `source` word and averaged over those of a `target` word. A source word is linked to the
    target word that looks at it most, and a target word to the source word that it looks at most.
    """
    groups = {"source": source, "target": [group for group in target if group[0] > 0]}  # [SOS] is written by no row
    between = merge(weights, [[at - 1 for at in group] for group in groups["target"]], source)  # [words, words]
    words = {side: [i for i, group in enumerate(of) if group[0] in ordinary[side]] for side, of in groups.items()}
    linked = {side: np.full(len(ordinary[side]), -1) for side in groups}
    if all(words.values()):
        between = between[np.ix_(words["target"], words["source"])]
        for side, other, best in (("source", "target", between.argmax(0)), ("target", "source", between.argmax(1))):
            for word, chosen in zip(words[side], best.tolist(), strict=True):
                linked[side][np.isin(ordinary[side], groups[side][word])] = groups[other][words[other][chosen]][0]
    return linked
