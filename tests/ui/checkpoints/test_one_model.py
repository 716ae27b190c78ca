"""One model in numbers and words: its parts, its configuration, its tokenizer."""

from __future__ import annotations

from pathlib import Path

import pytest

from headlight.analysis.blocks import BlockGroup, blocks, groups, sizes
from headlight.analysis.weights import shapes
from headlight.importers.forms.t5 import T5Config
from tests.small import small_checkpoint
from transformer import ModelConfig, StackConfig
from ui.checkpoints import parts, tokens
from ui.checkpoints.configuration import configuration
from ui.checkpoints.listing import open_listed, warnings


def test_the_chosen_block_holds_the_chosen_tensor(shelf: Path) -> None:
    known = shapes(shelf / "checkpoints" / "small" / "model.safetensors")
    all_blocks = blocks(sizes(known))
    name = "decoder.layers.1.cross_attention.query.weight"
    assert parts.chosen_names(name, all_blocks, known) == (
        next(block for block in all_blocks if block.path == "decoder.layers.1.cross_attention"),
        name,
    )
    assert parts.chosen_names("encoder", all_blocks, known)[1] is None
    for nonsense in (None, "", "<b>", "decoder.layers.99"):
        block, tensor = parts.chosen_names(nonsense, all_blocks, known)
        assert (block.path, tensor) == ("decoder.layers.2.cross_attention", block.names[0])
    drawn = parts.header(all_blocks, all_blocks[0])
    assert sum(block["parameters"] for block in drawn["blocks"] if block["level"] == 0) == drawn["total"]


def test_shapes_in_short(shelf: Path) -> None:
    known = shapes(shelf / "checkpoints" / "small" / "model.safetensors")
    shape_of = {group.title: parts.family_shape(group, known) for group in groups(known)}
    vocabulary = known["encoder.embedding.tokens.weight"][0]
    assert shape_of["Source embedding"] == f"{vocabulary} × 16"
    assert shape_of["Decoder, cross-attention"] == "3 × (4 × 16 × 16)"
    assert shape_of["Encoder, feed-forward"] == "2 × (2 × 16 × 32)"
    assert shape_of["Norms"] == "30 × 16"
    odd = {"a.b": (), "encoder.layers.0.x.w": (2, 3), "encoder.layers.0.x.v": (2, 3), "encoder.layers.1.x.w": (2, 3)}
    assert parts.family_shape(BlockGroup("A", None, ("a.b",)), odd) == "one number"
    assert parts.family_shape(BlockGroup("X", None, tuple(odd)[1:]), odd) == "3 × 2 × 3"


def test_a_configuration_in_words() -> None:
    rows = dict(configuration(ModelConfig(8000, 9000, 256, StackConfig(3, 4, 1024), StackConfig(2, 8, 1024))))
    assert rows["Layers, encoder and decoder"] == "3 and 2"
    assert rows["Heads"] == "4 and 8, d_k = 64 and 32"
    assert rows["Vocabulary"] == "8,000 and 9,000"
    assert rows["Around a sentence"] == "source … 3; target 2 … 3"
    assert rows["Hidden from attention"] == "padding and later words in the decoder"
    toy = ModelConfig(20, 20, 32, pad_id=0, sos_id=0, eos_id=0, padding_mask="never", look_ahead_mask="never")
    assert dict(configuration(toy))["Hidden from attention"] == "nothing: no mask is applied"
    assert "padding is the end" in dict(configuration(toy))["Special ids"]
    t5 = dict(configuration(T5Config(100, 100, 32, StackConfig(1, 2, 64), StackConfig(1, 2, 64), d_kv=8)))
    assert t5.keys() == rows.keys()
    assert t5["Heads"] == "2, d_k = 8" and "relative" in t5["Positions"]


def test_the_tokenizer_shows_pieces_words_and_what_is_unknown() -> None:
    tokenizer = small_checkpoint("bpe").source_tokenizer
    pieces = tokens.cut(tokenizer, "two sitters ☃")
    assert [piece.id for piece in pieces] == tokenizer.encode("two sitters ☃")
    assert [piece.first for piece in pieces].count(True) == pieces[-1].word + 1 == 3
    assert pieces[-1].unknown and sum(piece.unknown for piece in pieces) == 1
    assert tokens.summary(pieces).startswith(
        f"{len(pieces)} tokens for 3 words, {len(pieces) / 3:.2f} per word, 1 unknown"
    )
    assert tokens.summary([]) == "No tokens."
    words = small_checkpoint("words").source_tokenizer
    assert "&lt;" in tokens.chips(tokens.cut(words, "<b>")) and "<b>" not in tokens.chips(tokens.cut(words, "<b>"))


def test_what_cannot_be_loaded_says_so_without_its_folder(shelf: Path) -> None:
    assert warnings("small") == ()
    (shelf / "checkpoints" / "small" / "tokenizer.json").write_text("{}")
    (shelf / "checkpoints" / "small" / "card.json").touch()
    with pytest.raises(ValueError, match=r"^tokenizer\.json is not a tokenizer") as error:
        open_listed("small")
    assert str(shelf) not in str(error.value)
