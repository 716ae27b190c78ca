"""Prepare a run before its first step: the vocabulary, the corpus as token ids, and a checkpoint of step 0."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, Generic, TypeVar

import torch

from headlight import checkpoints
from headlight.corpora import fingerprint
from headlight.corpora.corpora import Corpus, Splits, open_corpus, open_parts
from headlight.corpora.encoded import Encoded, framed, learn_tokenizers
from headlight.corpora.held_out import IN_TRAINING, MIN_PAIRS, separate
from headlight.corpora.packed import pack_examples
from headlight.corpora.slots import Slots, slot_languages
from headlight.corpora.varied import Varied
from headlight.evaluation import Evaluator
from headlight.formatting import percent
from headlight.runs import intact, state
from headlight.runs.folder import VALIDATION_FILE, RunFolder
from headlight.runs.recipe import VALIDATE_ON_TRAINING, Recipe
from headlight.runs.state import Position
from headlight.runs.status_writer import StatusWriter
from transformer.checkpoint import Checkpoint
from transformer.checkpoint.native import WEIGHTS, load_weights
from transformer.files import read_json, remove, set_aside, write_json, write_text
from transformer.model import Transformer

REPORT_FILE = "report.json"  # in the run's data folder: how many pairs were read, used and rejected, and two fields:
DUPLICATES_FIELD = "validation_in_training"  # the number of validation pairs left out because training has them
VALIDATED_ON_TRAINING_FIELD = "validated_on_training"  # whether the scores are on training pairs
MAX_SCORED_PAIRS = 1_000  # if a recipe validates on its training data
MAX_UNKNOWN_SHARE = 0.5  # of the tokens of a side
NONE_HELD_OUT_NOTE = f"The corpus has fewer than {MIN_PAIRS} pairs and no part to validate on, so nothing is held out."
TRAINING_SCORES_NOTE = "The scores are on the pairs that are trained on: they say what is known by heart."
VOCABULARY_SECONDS = 3600.0  # the longest time without a heartbeat while a vocabulary is learned
T = TypeVar("T")


def prepare(folder: RunFolder, writer: StatusWriter) -> None:
    """Prepare a new run, and overwrite what an interrupted attempt left. Raises ValueError for unusable data."""
    recipe = folder.recipe()
    splits = recipe_corpora(recipe)
    writer.log(f"Reading {splits.train.name}")
    remove(folder.data)
    checkpoint = _begin(folder, recipe, splits.train, writer)
    prepare_corpus(folder, recipe, splits, checkpoint, writer)
    folder.write_recipe(replace(recipe, model=checkpoint.model.config))
    if folder.metrics.exists() and folder.metrics.stat().st_size:  # of an earlier training whose checkpoints are lost
        set_aside(folder.metrics)
    folder.metrics.write_bytes(b"")
    state.save(folder, checkpoint, {}, Position(steps=recipe.training.steps))


def recipe_corpora(recipe: Recipe) -> Splits:
    """Open the corpora of a recipe; names and numbers of the training part are replaced and its sources varied.

    Once the training part was read, the validation part rejects the pairs that it contains.
    """
    if recipe.validation == VALIDATE_ON_TRAINING:
        splits = open_parts(recipe.data, recipe.folder, recipe.max_characters)
        splits = Splits(splits.train, None, splits.test)
    else:
        splits = open_corpus(recipe.data, recipe.validation, recipe.folder, recipe.max_characters)
    splits.train.count_rows()
    train, validation = splits.train, splits.validation
    if validation is not None:
        train, validation = separate(train, validation)
    if recipe.slots:
        train = Slots(train, recipe.slots, slot_languages(recipe.data), recipe.training.seed)
    if recipe.vary:
        train = Varied(train, recipe.vary, recipe.training.seed)
    return Splits(train, validation, splits.test)


def prepare_corpus(
    folder: RunFolder, recipe: Recipe, splits: Splits, checkpoint: Checkpoint, writer: StatusWriter
) -> None:
    """Write data/: the corpus in tokens of the checkpoint's vocabulary. Raises ValueError for unusable data.

    Where nothing is held out to validate on, the pairs that are trained on are scored.
    """
    (folder.data / intact.CHECKSUM_FILE).unlink(missing_ok=True)
    source, target = checkpoint.source_tokenizer, checkpoint.target_tokenizer
    longest = min(recipe.longest, checkpoint.model.config.max_length)
    examples = Encoded(splits.train, source, target, longest, checkpoint.model.config)
    reading = _WithHeartbeats(examples, writer, "tokenising the corpus")
    packed = pack_examples(reading, folder.data, max(source.vocab_size, target.vocab_size))
    writer.log(str(examples.report))
    checkpoint.card[fingerprint.CARD_KEY] = examples.fingerprint.to_card(checkpoint.card.get(fingerprint.CARD_KEY))
    if not packed.pairs:
        raise ValueError(f"There is no pair to train on. {str(examples.report).splitlines()[0]}.")
    _require_known(examples)
    validation = splits.train if splits.validation is None else splits.validation
    max_pairs = MAX_SCORED_PAIRS if recipe.validation == VALIDATE_ON_TRAINING else None
    pairs, duplicates = list(islice(validation, max_pairs)), validation.report.rejected[IN_TRAINING]
    if splits.validation is None:
        note = f"Validation is on the training data, as asked: its first {len(pairs):,} pairs."
        writer.log(
            f"{note if recipe.validation == VALIDATE_ON_TRAINING else NONE_HELD_OUT_NOTE} {TRAINING_SCORES_NOTE}"
        )
    if duplicates and not pairs:
        raise ValueError(
            f"Every pair of {validation.name} is also in the training data, so scores on it would mean nothing; "
            "choose another corpus to validate on, or none, and pairs are held out."
        )
    if duplicates:
        writer.log(
            f"{duplicates:,} of the {duplicates + len(pairs):,} validation pairs are also in the training data; "
            "they are left out of the validation."
        )
    Evaluator.of(checkpoint, validation.name, pairs)  # raises ValueError if there is no pair to evaluate on
    records = ({"source": pair.source, "target": pair.target, "origin": pair.origin} for pair in pairs)
    write_text(folder.data / VALIDATION_FILE, "".join(json.dumps(record) + "\n" for record in records))
    facts = {
        **vars(examples.report),
        DUPLICATES_FIELD: duplicates,
        VALIDATED_ON_TRAINING_FIELD: splits.validation is None,
    }
    write_json(folder.data / REPORT_FILE, facts)
    intact.record(folder.data)


def _require_known(examples: Encoded) -> None:
    """Raise ValueError where most tokens of a side are unknown to the vocabulary."""
    for share, side in zip(examples.unknown, ("source", "target"), strict=True):
        if share > MAX_UNKNOWN_SHARE:
            raise ValueError(
                f"{percent(share)} of the {side} tokens are unknown to the vocabulary, so there is little to learn; "
                "choose a larger vocabulary, a lower minimum frequency, or bpe."
            )


def is_scored_on_training(folder: RunFolder) -> bool:
    """Return whether a run is scored on the pairs that it is trained on."""
    return _reported(folder, VALIDATED_ON_TRAINING_FIELD) is True


def count_duplicates(folder: RunFolder) -> int:
    """Count the validation pairs that were left out because training has them too; 0 where unknown."""
    count = _reported(folder, DUPLICATES_FIELD)
    return count if type(count) is int and count > 0 else 0


def _reported(folder: RunFolder, name: str) -> Any:
    """Return a field of REPORT_FILE; None where it cannot be read."""
    try:
        return read_json(folder.data / REPORT_FILE)[name]
    except (ValueError, KeyError, TypeError):
        return None


def _begin(folder: RunFolder, recipe: Recipe, corpus: Corpus, writer: StatusWriter) -> Checkpoint:
    """Build the network before its first step, with its tokenizers."""
    if recipe.start is None:
        pairs = _WithHeartbeats(corpus, writer, "learning the vocabulary")
        source, target = learn_tokenizers(
            pairs, recipe.tokenizer, recipe.vocabulary, recipe.separate, recipe.min_frequency
        )
    else:
        start = checkpoints.load(folder.start)
        source, target = start.source_tokenizer, start.target_tokenizer
    config = replace(recipe.model, source_vocab_size=source.vocab_size, target_vocab_size=target.vocab_size)
    config = framed(config, recipe.framing)
    torch.manual_seed(recipe.training.seed)
    model = Transformer(config) if recipe.start is None else load_weights(config, folder.start / WEIGHTS)
    card = recipe.card()
    if recipe.start is not None and fingerprint.CARD_KEY in start.card:
        card[fingerprint.CARD_KEY] = start.card[fingerprint.CARD_KEY]
    return Checkpoint(model, source, target, card)


class _WithHeartbeats(Generic[T]):
    """An iterable that writes heartbeats with the count of its items while they are read."""

    def __init__(self, items: Iterable[T], writer: StatusWriter, doing: str) -> None:
        self.items, self.writer, self.doing = items, writer, doing

    def __iter__(self) -> Iterator[T]:
        for count, item in enumerate(self.items):
            if count % 1000 == 0:
                self.writer.heartbeat(self.doing, VOCABULARY_SECONDS, pairs=count)
            yield item
