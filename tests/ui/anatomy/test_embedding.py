"""What stands beside an embedding: the word that is cut, its table, and the neighbours."""

from __future__ import annotations

import pytest

from headlight.analysis.neighbours import neighbours
from headlight.corpora.cutting import Merges
from tests.small import TEXTS, small_checkpoint, small_translator
from transformer.tokenizers import Tokenizer
from ui.anatomy.embedding import cut_html, default_word, describe_matrices, matrices_of, near_html

BPE = Tokenizer.train(TEXTS, "bpe", 60)


def test_the_word_is_the_first_of_the_sentence_that_is_several_tokens() -> None:
    text = "two dogs are running"
    ids = [BPE.sos_id, *BPE.encode(text), BPE.eos_id]
    word = default_word(BPE, ids)
    assert len(BPE.encode(word)) > 1 and word in text.split()
    before = text.split()[: text.split().index(word)]
    assert all(len(BPE.encode(other)) == 1 for other in before)
    words = Tokenizer.train(TEXTS, "words", 200, min_frequency=1)
    assert default_word(words, words.encode("two dogs are running")) == "running"
    assert default_word(words, [words.eos_id]) == ""


def test_a_cut_is_a_row_a_merge_and_escaped() -> None:
    (cut,) = Merges(BPE).cut("running")
    page = cut_html(cut, BPE)
    assert page.count("<tr") == 1 + len(cut.merges)
    assert f"merge {cut.merges[0].rank + 1}<" in page
    odd = Tokenizer.train(["<b> <b> <b>"], "bpe", 60)
    tables = [cut_html(cut, odd) for cut in Merges(odd).cut("<b>")]
    assert all("<b>" not in table for table in tables) and any("&lt;" in table for table in tables)


def test_neighbours_leave_special_tokens_out() -> None:
    model = small_translator()
    tokenizer = model.checkpoint.target_tokenizer
    matrix = model.model.output.weight.detach().numpy()
    nearest_tokens = neighbours(matrix, 10, without=tokenizer.special_ids)
    assert nearest_tokens and not {near.id for near in nearest_tokens} & {*tokenizer.special_ids, 10}
    page = near_html(nearest_tokens, tokenizer)
    assert page.count("<tr") == len(nearest_tokens) and f"{nearest_tokens[0].cosine:.2f}" in page


@pytest.mark.parametrize(
    ("tied", "source", "target", "said"),
    [
        ("none", [["encoder"], ["output"]], [["decoder"], ["output"]], "are different matrices"),
        ("output", [["encoder"], ["output"]], [["decoder", "output"]], "The encoder's embedding is another."),
        ("all", [["encoder", "output"]], [["decoder", "output"]], "are one matrix, so a token is written by"),
    ],
)
def test_which_matrices_are_compared(tied: str, source: list[list[str]], target: list[list[str]], said: str) -> None:
    model = small_translator(tied=tied)
    assert matrices_of(model, "encoder") == source
    assert matrices_of(model, "decoder") == target
    groups = {"none": [["encoder"], ["decoder"], ["output"]], "output": [["encoder"], ["decoder", "output"]]}
    assert said in describe_matrices(groups.get(tied, [["encoder", "decoder", "output"]]))


def test_two_vocabularies_are_not_compared() -> None:
    model = small_translator()
    model.checkpoint.target_tokenizer = small_checkpoint().target_tokenizer
    assert matrices_of(model, "encoder") == [["encoder"]]
