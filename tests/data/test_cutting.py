"""How words are cut, against the tokenizers' own encoding: of every model that ships, and of other kinds."""

from __future__ import annotations

from pathlib import Path

import pytest
import tokenizers
from tokenizers import decoders, models, pre_tokenizers, trainers

from headlight.checkpoints import load_tokenizer
from headlight.corpora.cutting import Merges, describe_splitting, has_merges
from tests.small import TEXTS
from transformer.tokenizers import SPECIALS, Tokenizer

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "checkpoints").glob("*/*tokenizer.json"))
SENTENCES = [
    "The animal didn't cross the street because it was too tired.",
    "Die Überraschung war groß, unbelievable! façade, naïve, bientôt",
    "जलवायु परिवर्तन आज मानवता के सामने",
    "北京 \ue000\ue001 x\ue000y",  # what hardly any vocabulary has: bytes, or one unknown token for several
    "  two   spaces ",
    "",
]


def own(tokenizer: Tokenizer, text: str) -> list[str | None]:
    return [tokenizer.inner.id_to_token(id) for id in tokenizer.inner.encode(text, add_special_tokens=False).ids]


def agrees(tokenizer: Tokenizer, text: str) -> None:
    cuts = Merges(tokenizer).cut(text)
    assert [piece for cut in cuts for piece in cut.pieces] == own(tokenizer, text)
    for cut in cuts:
        before = cut.start
        for step in cut.merges:
            assert len(step.pieces) == len(before) - 1 and step.joined in step.pieces
            before = step.pieces


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.parent.name)
def test_merging_ends_where_the_shipped_tokenizer_ends(path: Path) -> None:
    tokenizer = load_tokenizer(path)
    if has_merges(tokenizer):
        for text in [*SENTENCES, *(text for text in TEXTS)]:
            agrees(tokenizer, text)
    else:
        with pytest.raises(ValueError, match="no merges. Each character is a token"):
            Merges(tokenizer)


def trained(model: models.Model, trainer: trainers.Trainer) -> Tokenizer:
    inner = tokenizers.Tokenizer(model)
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    inner.train_from_iterator(TEXTS, trainer)
    return Tokenizer(inner)


@pytest.mark.parametrize("marks", [{"continuing_subword_prefix": "##"}, {"end_of_word_suffix": "</w>"}])
def test_pieces_that_mark_where_in_a_word_they_stand(marks: dict[str, str]) -> None:
    trainer = trainers.BpeTrainer(vocab_size=90, special_tokens=list(SPECIALS), show_progress=False, **marks)
    tokenizer = trained(models.BPE(unk_token="[UNK]", **marks), trainer)
    for text in [*TEXTS, "dog snowing doggy"]:
        agrees(tokenizer, text)


def test_bytes_for_characters() -> None:
    inner = tokenizers.Tokenizer(models.BPE())
    inner.pre_tokenizer, inner.decoder = pre_tokenizers.ByteLevel(), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    inner.train_from_iterator(
        TEXTS,
        trainers.BpeTrainer(
            vocab_size=320, special_tokens=list(SPECIALS), initial_alphabet=alphabet, show_progress=False
        ),
    )
    for text in SENTENCES:
        agrees(Tokenizer(inner), text)


def test_the_lowest_rank_goes_first_and_of_equal_ones_the_leftmost() -> None:
    vocabulary = {piece: id for id, piece in enumerate([*SPECIALS, "a", "b", "c", "bc", "ab", "abc", "aa"])}
    inner = tokenizers.Tokenizer(models.BPE(vocabulary, [("b", "c"), ("a", "b"), ("a", "bc"), ("a", "a")]))
    (cut,) = Merges(Tokenizer(inner)).cut("abcaaa")
    assert cut.start == tuple("abcaaa")
    assert [(step.rank, step.pair) for step in cut.merges] == [(0, ("b", "c")), (2, ("a", "bc")), (3, ("a", "a"))]
    assert cut.pieces == ("abc", "aa", "a")


def test_what_is_no_bpe_says_how_it_cuts() -> None:
    unigram = trained(
        models.Unigram(),
        trainers.UnigramTrainer(vocab_size=60, special_tokens=list(SPECIALS), unk_token="[UNK]", show_progress=False),
    )
    pieces = trained(
        models.WordPiece(unk_token="[UNK]"),
        trainers.WordPieceTrainer(vocab_size=90, special_tokens=list(SPECIALS), show_progress=False),
    )
    said = {
        "unigram": describe_splitting(unigram),
        "pieces": describe_splitting(pieces),
        "words": describe_splitting(Tokenizer.train(TEXTS, "words", 200, min_frequency=1)),
        "characters": describe_splitting(Tokenizer.train(TEXTS, "characters", 200)),
        "bpe": describe_splitting(Tokenizer.train(TEXTS, "bpe", 100)),
    }
    starts = {"unigram": "A unigram", "pieces": "WordPiece", "words": "Each word", "characters": "Each character"}
    assert all(said[kind].startswith(start) for kind, start in (starts | {"bpe": "A byte-pair"}).items())
