"""A model that opens but does not work gets a warning, and a sound one gets none."""

from pathlib import Path

import pytest
import torch

from headlight import checkpoints
from headlight.importers.health import check_health
from tests.small import small_checkpoint
from transformer import Translator
from transformer.checkpoint import Checkpoint
from transformer.tokenizers import Tokenizer

SHIPPED = Path(__file__).parents[2] / "checkpoints"


@pytest.mark.parametrize("name", ["en-fr", "de-en", "reverse", "reverse-learned"])
def test_the_models_that_come_with_headlight_are_sound(name: str) -> None:
    assert check_health(checkpoints.load(SHIPPED / name)) == ()


@pytest.mark.parametrize("changes", [{}, {"tied": "all"}, {"positions": "learned"}, {"norm": "post"}])
def test_an_untrained_model_is_sound(changes: dict) -> None:
    assert check_health(small_checkpoint(**changes)) == ()


def only(checkpoint: Checkpoint) -> str:
    (sentence,) = check_health(checkpoint)
    return sentence


@pytest.mark.parametrize(("number", "what"), [(float("nan"), "NaN"), (float("inf"), "infinity")])
@torch.no_grad()
def test_nan_and_infinity(number: float, what: str) -> None:
    checkpoint = small_checkpoint()
    name, weight = next((n, p) for n, p in checkpoint.model.named_parameters() if "encoder.layers.1.feed_forward" in n)
    weight[0, :2] = number
    assert only(checkpoint).startswith(f"{name} has {what} at 2 of {weight.numel()} numbers")


@torch.no_grad()
def test_large_numbers_are_no_infinity() -> None:
    checkpoint = small_checkpoint()
    next(iter(checkpoint.model.encoder.layers[1].feed_forward.parameters())).fill_(3e38)
    assert check_health(checkpoint) == ()


@torch.no_grad()
def test_ids_that_may_never_be_written_are_no_fault_where_they_are_padding_or_start() -> None:
    checkpoint = small_checkpoint()
    checkpoint.model.output.bias[[0, 2]] = -torch.inf
    assert check_health(checkpoint) == ()
    checkpoint.model.output.bias[7] = -torch.inf
    assert "output.bias has infinity at 1 of" in only(checkpoint)


@torch.no_grad()
def test_a_norm_of_zero() -> None:
    checkpoint = small_checkpoint()
    checkpoint.model.decoder.norm.weight.zero_()
    assert only(checkpoint).startswith("The norm decoder.norm has a gain of zero:")
    checkpoint.model.decoder.norm.weight[:5] = 1
    assert "at 11 of 16 numbers" in only(checkpoint)


@torch.no_grad()
def test_rows_that_were_never_trained() -> None:
    checkpoint = small_checkpoint()
    table = checkpoint.model.encoder.embedding.tokens.weight
    table[checkpoint.model.config.pad_id].zero_()  # which is as it should be
    assert check_health(checkpoint) == ()
    table[9].zero_()
    piece = checkpoint.source_tokenizer.piece(9)
    assert only(checkpoint) == f"Row 9 ({piece}) of the source embedding was never trained: all zeros."
    table[[10, 11, 12, 13]] = 0.0
    assert only(checkpoint).startswith(f"Rows 9 ({piece}), 10") and "and 2 more" in only(checkpoint)


@torch.no_grad()
def test_rows_that_are_the_same() -> None:
    checkpoint = small_checkpoint(tied="all")
    table = checkpoint.model.decoder.embedding.tokens.weight
    table[6] = table[5] = table[12]
    assert only(checkpoint).startswith("Rows 5 (") and "of the embedding are identical" in only(checkpoint)
    table[6, 0] += 1e-6
    table[5, 0] += 2e-6
    assert check_health(checkpoint) == ()


def save_with(checkpoint: Checkpoint, tokenizer: Tokenizer, folder: Path) -> Path:
    checkpoints.save(checkpoint, folder)
    tokenizer.save(folder / "tokenizer.json")
    return folder


def test_a_tokenizer_larger_than_the_embedding_is_opened(tmp_path: Path) -> None:
    text = "every girl is running in the snow"
    larger = Tokenizer.train(
        [f"{text} unheard words {'of many kinds ' * 2}", *["a b c d e f g h i j"] * 2] * 2, "words", 99
    )
    small = small_checkpoint(source_vocab_size=10, target_vocab_size=10)
    checkpoint = checkpoints.load(save_with(small, larger, tmp_path / "m"))
    beyond = larger.vocab_size - 10
    assert only(checkpoint).startswith(f"The tokenizer has {larger.vocab_size} tokens and the embedding only 10 rows")
    assert f"the {beyond} tokens beyond" in only(checkpoint)
    translator = Translator(checkpoint)
    assert max(translator.encode(text)) < 10
    assert translator.translate(text, beam_size=1, max_length=5).tokens


def test_a_tokenizer_smaller_than_the_embedding_is_opened(tmp_path: Path) -> None:
    smaller = Tokenizer.train(["a little girl"], "words", 50, min_frequency=1)
    checkpoint = small_checkpoint()
    rows = checkpoint.model.config.source_vocab_size
    loaded = checkpoints.load(save_with(checkpoint, smaller, tmp_path / "m"))
    assert only(loaded) == (
        f"The tokenizer has {smaller.vocab_size} tokens and the embedding {rows} rows: "
        f"the last {rows - smaller.vocab_size} have no token."
    )
    translation = Translator(loaded).translate("a little girl", beam_size=1, max_length=5)
    assert translation.tokens
