"""A checkpoint with its tokenizers: from text to a translation, or to a trace of every attention weight.

Shapes: B sentences, S source tokens, T target tokens, V target vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from transformer.attention import attention_weights
from transformer.checkpoint import Checkpoint, native
from transformer.decoding import Decoding, Hypothesis, finish
from transformer.decoding.strategies import LENGTH_PENALTY, beam_or_greedy
from transformer.inference.prepared import Prepared
from transformer.model import Transformer
from transformer.quoting import UnreadableTextError, quoted, short
from transformer.taps import InputRecorder, Recorder, Site, Tap, chain, require_heads
from transformer.tokenizers import Tokenizer
from transformer.trace import LayerPatterns, Patterns, Tokens, Trace
from transformer.yielding import yield_turn

SENTENCE_TOO_LONG = "The sentence has {tokens} tokens and this model reads at most {longest}; shorten it."
TRANSLATION_TOO_LONG = "The translation has {tokens} tokens and this model reads at most {longest}; shorten it."


@dataclass(frozen=True)
class Translation:
    """A translation. `score` ranks hypotheses: the log-probability over the length penalty."""

    text: str
    tokens: list[str]  # as people read them, [EOS] included where the model wrote it
    score: float
    log_prob: float
    ids: list[int]  # after [SOS]
    finished: bool  # False where the length limit came before [EOS]

    @property
    def log_prob_per_token(self) -> float:
        """The mean, in nats: how confident the model was, whatever the length."""
        return self.log_prob / len(self.ids)


# A trace stores up to 100 MB of patterns; larger ones are computed layer by layer, from queries and keys, when read.
MAX_STORED_WEIGHTS = 25_000_000


class Translator:
    """A checkpoint that translates text. It is never modified, so threads may share it.

    It uses the model's weights as of its first use; after changing them, make a new one.
    """

    def __init__(self, checkpoint: Checkpoint):
        self.checkpoint = checkpoint

    @classmethod
    def load(cls, folder: str | Path, device: str = "cpu", dtype: str | None = None) -> Translator:
        """Open a checkpoint folder that you trust, as `native.load` does; its errors name the file that is wrong."""
        return cls(native.load(folder, device=device, dtype=dtype))

    @property
    def model(self) -> Transformer:
        """The network."""
        return self.checkpoint.model

    @cached_property
    def prepared(self) -> Prepared:
        """The model prepared for running and decoding, made once."""
        return Prepared(self.model)

    @cached_property
    def _heads(self) -> dict[Site, tuple[int, ...]]:
        """The heads of each attention module, without pruned ones."""
        return {site: self.model.config.kept_heads(*site) for site in self.model.sites()}

    @property
    def card(self) -> dict[str, Any]:
        """The checkpoint's description of itself: its task, data, scores and examples."""
        return self.checkpoint.card

    def encode(self, text: str) -> list[int]:
        """Return the source ids of a sentence, with [EOS] at its end, or the start and end that the model expects.

        Raises ValueError for an empty text and for one with more tokens than the model reads.
        """
        ids = self.checkpoint.source_tokenizer.encode(_require_text(text, "text"))
        if not ids:
            raise UnreadableTextError("There is nothing to translate: the text is empty. Type a sentence.")
        config = self.model.config
        end = (config.eos_id,) if config.source_end is None else config.source_end
        return self._bounded([*config.source_start, *ids, *end], SENTENCE_TOO_LONG)

    def encode_target(self, text: str) -> list[int]:
        """Return the target ids of a given translation, from [SOS] to [EOS]. Raises ValueError as `encode` does.

        [SOS] is followed by the tokens that the model's targets start with, such as the name of the language.
        """
        ids = self.checkpoint.target_tokenizer.encode(_require_text(text, "translation"))
        if not ids:
            raise UnreadableTextError("The translation is empty. Type one, or let the model write its own.")
        config = self.model.config
        return self._bounded([config.sos_id, *config.target_start, *ids, config.eos_id], TRANSLATION_TOO_LONG)

    def _bounded(self, ids: list[int], message: str) -> list[int]:
        if len(ids) > self.model.config.max_length:
            raise UnreadableTextError(message, tokens=f"{len(ids):,}", longest=self.model.config.max_length)
        return ids

    def translate(
        self, text: str, beam_size: int = 5, length_penalty: float = LENGTH_PENALTY, **options: Any
    ) -> Translation:
        """Return the best translation found by beam search, or by greedy decoding if `beam_size` is 1.

        `options` go to `decoding.beam` or `decoding.greedy` (`max_length`, `prefix`, `tap`; to a beam `temperature`).
        """
        return self.n_best(text, beam_size, length_penalty, **options)[0]

    def n_best(
        self, text: str, beam_size: int = 5, length_penalty: float = LENGTH_PENALTY, **options: Any
    ) -> list[Translation]:
        """Return the `beam_size` best translations, best first."""
        return self.decode(text, beam_or_greedy(beam_size, length_penalty), **options)[:beam_size]

    def translate_batch(
        self,
        texts: Sequence[str],
        beam_size: int = 5,
        length_penalty: float = LENGTH_PENALTY,
        batch: int = 64,
        **options: Any,
    ) -> list[Translation]:
        """Return the best translation of each text, translating `batch` texts of about the same length at a time.

        A model without a padding mask would attend to padding, so its batches hold sources of equal length.
        """
        ids = [self.encode(text) for text in texts]
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        groups = [order]
        if self.model.config.padding_mask == "never":
            groups = [list(alike) for _, alike in groupby(order, key=lambda i: len(ids[i]))]
        translations: dict[int, Translation] = {}
        for chosen in (group[at : at + batch] for group in groups for at in range(0, len(group), batch)):
            results = self._search([ids[i] for i in chosen], beam_or_greedy(beam_size, length_penalty), options)
            translations.update((i, best[0]) for i, best in zip(chosen, results, strict=True))
        return [translations[i] for i in range(len(ids))]

    def sample(self, text: str, **options: Any) -> Translation:
        """Return one sampled translation; `options` go to `decoding.sample` (temperature, top_k, top_p, seed)."""
        return self.decode(text, Decoding.of("sampling"), **options)[0]

    def decode(self, text: str, decoding: Decoding, **options: Any) -> list[Translation]:
        """Return the translations that a decoding strategy finds, best first; `options` go to the strategy."""
        return self._search([self.encode(text)], decoding, options)[0]

    def _search(self, sources: list[list[int]], decoding: Decoding, options: dict[str, Any]) -> list[list[Translation]]:
        require_heads(options.get("tap"), self._heads)
        steps = decoding.steps(self.prepared, self.source_batch(sources), **options)
        return [[self.translation(hypothesis) for hypothesis in hypotheses] for hypotheses in finish(steps)]

    def source_batch(self, sources: list[list[int]]) -> Tensor:
        """Return source ids as one padded tensor [B, S] on the model's device."""
        rows = pad_sequence([torch.tensor(ids, dtype=torch.int64) for ids in sources], True, self.model.config.pad_id)
        return rows.to(next(self.model.parameters()).device)

    def translation(self, hypothesis: Hypothesis) -> Translation:
        """Return a hypothesis of the search as text with its tokens and scores."""
        tokenizer, ids = self.checkpoint.target_tokenizer, list(hypothesis.ids)
        return Translation(
            tokenizer.decode(ids),
            tokenizer.labels(ids),
            hypothesis.score,
            hypothesis.log_prob,
            ids,
            hypothesis.finished,
        )

    @torch.inference_mode()
    def log_probs(self, src_ids: ArrayLike | Tensor, tgt_ids: ArrayLike | Tensor, tap: Tap | None = None) -> Tensor:
        """Return log p(next token | source, target so far) after each target token, in float32: [B, T, V].

        `src_ids` [B, S] and `tgt_ids` [B, T] are integer ids, padded with the configuration's `pad_id`; padding is
        hidden from every attention, and later tokens from the decoder's, where the model's masks are applied. Raises
        ValueError for ids that are not in the vocabulary, and for an intervention on a head that the model lacks.
        """
        require_heads(tap, self._heads)
        config = self.model.config
        src = self._ids(src_ids, config.source_vocab_size, "src_ids")
        tgt = self._ids(tgt_ids, config.target_vocab_size, "tgt_ids")
        if len(src) != len(tgt):
            raise ValueError(f"src_ids has {len(src)} rows and tgt_ids {len(tgt)}; give one target for each source.")
        return self.prepared(src, tgt, tap).log_softmax(-1)

    def _ids(self, values: ArrayLike | Tensor, vocab_size: int, name: str) -> Tensor:
        ids = values if isinstance(values, Tensor) else torch.as_tensor(np.asarray(values))
        if ids.ndim != 2 or not ids.numel() or ids.is_floating_point() or ids.dtype == torch.bool:
            raise ValueError(
                f"{name} has shape {tuple(ids.shape)} and type {ids.dtype}; give integer ids [batch, tokens]."
            )
        if ids.min() < 0 or ids.max() >= vocab_size:
            raise ValueError(
                f"{name} goes from {ids.min()} to {ids.max()}; the vocabulary has ids 0 to {vocab_size - 1}."
            )
        return ids.to(next(self.model.parameters()).device, torch.int64)

    def trace(
        self,
        text: str,
        target: str | None = None,
        interventions: Sequence[Tap] = (),
        beam_size: int = 5,
        *,
        own: Translation | None = None,
        **options: Any,
    ) -> Trace:
        """Record every head's attention while the model reads `text` and writes `target`, or its own translation.

        `interventions` change heads, in the search for the translation as well as in the recorded pass. `own` is the
        result of that search, if it is known already. Raises ValueError for an intervention on a head that the model
        lacks, and for a text that is not a str.
        """
        tap = chain(*_require_taps(interventions))
        source = self.encode(text)
        finished = True
        if target is None:
            best = own or self._search([source], beam_or_greedy(beam_size), {**options, "tap": tap})[0][0]
            written, finished = [self.model.config.sos_id, *best.ids], best.finished
        else:
            written = self.encode_target(target)
        trace = self.trace_ids(source, written, interventions)
        checkpoint, tokenizer = self.checkpoint, self.checkpoint.target_tokenizer
        return replace(
            trace,
            text=text,
            translation=tokenizer.decode(written),
            finished=finished,
            source=describe_tokens(checkpoint.source_tokenizer, source, text),
            target=describe_tokens(tokenizer, written, target),
        )

    def encode_pair(self, text: str, target: str | None = None) -> tuple[list[int], list[int]]:
        """Return the ids of a sentence, and those of `target` or of the model's own translation, from [SOS] on."""
        if target is not None:
            return self.encode(text), self.encode_target(target)
        return self.encode(text), [self.model.config.sos_id, *self.translate(text).ids]

    def token(self, named: int | str, like: int) -> int:
        """Return the id of a target token given by its text or its id; `like` as in `Tokenizer.named`."""
        return self.checkpoint.target_tokenizer.named(named, like) if isinstance(named, str) else named

    def trace_ids(self, source: Sequence[int], target: Sequence[int], interventions: Sequence[Tap] = ()) -> Trace:
        """Return the trace of one source (to [EOS]) and one target (from [SOS] on), both given as ids."""
        yield_turn()
        n_src, n_tgt, config = len(source), len(target) - 1, self.model.config
        size = config.encoder.n_layers * config.encoder.n_heads * n_src**2
        size += config.decoder.n_layers * config.decoder.n_heads * n_tgt * (n_tgt + n_src)
        recorder = Recorder() if size <= MAX_STORED_WEIGHTS else InputRecorder()
        log_probs = self.log_probs([source], [target[:-1]], chain(*interventions, recorder))[0]
        written = torch.as_tensor(target[1:], device=log_probs.device)
        checkpoint = self.checkpoint
        return Trace(
            text=checkpoint.source_tokenizer.decode(source),
            translation=checkpoint.target_tokenizer.decode(target),
            source=describe_tokens(checkpoint.source_tokenizer, source),
            target=describe_tokens(checkpoint.target_tokenizer, target),
            encoder=self._patterns(recorder, "encoder", "self", chain(*interventions)),
            decoder=self._patterns(recorder, "decoder", "self", chain(*interventions)),
            cross=self._patterns(recorder, "decoder", "cross", chain(*interventions)),
            log_probs=log_probs.gather(1, written[:, None])[:, 0].cpu().numpy(),
            interventions=[str(tap) for tap in interventions],
            model=str(self.card.get("title", "")),
            look_ahead=self.model.config.look_ahead_mask == "never",
        )

    def _patterns(self, recorder: Recorder | InputRecorder, stack: str, kind: str, tap: Tap | None) -> Patterns:
        """Return the patterns of one kind of attention, of the first sentence: [L, H, Q, K].

        From an InputRecorder, which has the queries and keys of the pass, each layer is computed when it is read.
        """
        sites = sorted(site for site in recorder if (site.stack, site.kind) == (stack, kind))
        if isinstance(recorder, Recorder):
            return np.stack([recorder[site][0][0].float().cpu().numpy() for site in sites])
        recorded = [recorder[site] for site in sites]
        tensors = {id(x): x.nbytes for inputs in recorded for x in inputs if isinstance(x, Tensor)}

        @torch.inference_mode()
        def compute(layer: int) -> np.ndarray:
            site, inputs = sites[layer], recorded[layer]
            pattern = attention_weights(inputs.q, inputs.k, inputs.mask, inputs.scale, inputs.bias)
            pruned = sorted({*range(pattern.size(1))} - {*self._heads[site]})
            pattern[:, pruned] = 0
            return (pattern if tap is None else tap(site, pattern, inputs))[0].float().cpu().numpy()

        q, k = recorded[0].q, recorded[0].k
        return LayerPatterns((len(sites), q.size(1), q.size(2), k.size(2)), compute, sum(tensors.values()))


def _require_text(text: object, what: str) -> str:
    if isinstance(text, list | tuple):
        raise ValueError(f"There are {len(text)} texts; give one str, or use translate_batch.")
    if not isinstance(text, str):
        raise ValueError(f"The {what} is {quoted(text)}; give a str.")
    return text


def _require_taps(interventions: object) -> Sequence[Tap]:
    if callable(interventions):
        raise ValueError(f"interventions is {short(str(interventions))}; give a list of them: interventions=[...].")
    if not isinstance(interventions, Sequence) or not all(map(callable, interventions)):
        raise ValueError(f"interventions is {quoted(interventions)}; give a list such as [Ablate(site, head)].")
    return interventions


def describe_tokens(tokenizer: Tokenizer, ids: Iterable[int], text: str | None = None) -> Tokens:
    """Return a sentence's tokens with the labels that people see; `text` is the text that was typed, if any."""
    ids = list(ids)
    pieces = [tokenizer.piece(i) for i in ids]
    special = [i in tokenizer.special_ids for i in ids]
    return Tokens(ids, pieces, tokenizer.labels(ids), tokenizer.word_groups(ids, text), special)
