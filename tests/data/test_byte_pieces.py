"""Pieces that are bytes: named alone, and joined to the character that they spell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.analysis.combine import merge_labels
from tests.twelve_scripts import TOKENS
from transformer.byte_pieces import BYTE_NAMES, byte_characters, decode_bytes, join_labels
from transformer.tokenizers import Tokenizer


def named(text: str) -> list[str]:
    return [BYTE_NAMES[byte] for byte in text.encode()]


@pytest.mark.parametrize("script", TOKENS)
def test_bytes_that_spell_a_word_of_any_script_are_joined_to_it(script: str) -> None:
    """One piece a byte, and two bytes a piece, as byte-level vocabularies cut them."""
    word = "".join(TOKENS[script])
    wide = "".join(letter for letter in word if not letter.isascii())
    assert join_labels(named(wide)) == wide
    spelling = {byte: character for character, byte in byte_characters().items()}
    raw = [spelling[byte] for byte in word.encode()]
    pairs = ["".join(raw[at : at + 2]) for at in range(0, len(raw), 2)]
    assert join_labels(map(decode_bytes, pairs)) == word


@given(st.text(st.characters(min_codepoint=128, exclude_categories=["Cs"]), max_size=12), st.integers(0, 40))
def test_no_byte_is_lost_and_none_is_added(text: str, cut: int) -> None:
    """Bytes that form no whole character keep their names."""
    names = named(text)[cut:]
    shown = join_labels(names)
    assert "".join(letter if letter.isascii() else "".join(named(letter)) for letter in shown) == "".join(names)
    assert cut or shown == text


def test_a_byte_is_a_part_of_a_word_only_where_it_is_joined() -> None:
    assert join_labels(["<0xE7>"]) == "<0xE7>"
    assert join_labels(["<0xE7>", "<0x8C>", "x"]) == "<0xE7><0x8C>x"
    assert join_labels(["a<0xC3>", "<0xA9>b"]) == "aéb"
    assert join_labels(["<0x41>", "<0x0A>"]) == "<0x41><0x0A>"  # characters of one byte, which have a name already
    assert join_labels(["<", "0xC3", ">", "<0xA9>"]) == "<0xC3><0xA9>"  # what was typed is no byte
    assert merge_labels(["▁", *named("猫"), "s", "<0xE7>"], [[0, 1, 2, 3, 4], [5]]) == ["▁猫s", "<0xE7>"]


def test_words_in_bytes_are_one_word_and_read_as_it() -> None:
    tokenizer = Tokenizer.train(["the cat sat on the mat", "le chat est là"] * 3, "bpe", 1000)
    ids = tokenizer.encode("the 猫 sat 🎉")
    groups = tokenizer.word_groups(ids)
    assert merge_labels(tokenizer.labels(ids), groups) == ["▁the", "▁猫", "▁sat", "▁🎉"]
