"""What people see of the pieces of every kind of tokenizer, and which of them make a word."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import tokenizers

from headlight.watching import attention_of
from headlight.watching.tokens import tokens_of
from tests.checkpoints.hugging_face import piece_model, random_model, sentences, transformers
from tests.checkpoints.test_hugging_face_tokenizers import marian_folder
from transformer.trace import Tokens

TEXT = "the girl sits, naïve 日"


def words(tokens: Tokens) -> list[str]:
    return ["".join(tokens.labels[i] for i in word) for word in tokens.words]


def trained(inner: Any, **options: Any) -> Any:
    inner.train_from_iterator(sentences(200), **options)
    return inner


def test_bytes_are_read_as_the_characters_that_they_are() -> None:
    inner = trained(tokenizers.ByteLevelBPETokenizer(), vocab_size=330, special_tokens=["<s>", "<pad>", "</s>"])
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=inner._tokenizer, eos_token="</s>", pad_token="<pad>")
    tokens = tokens_of(fast, [*fast(TEXT)["input_ids"], 2])
    assert "Ġ" not in "".join(tokens.labels) and tokens.special == [False] * (len(tokens) - 1) + [True]
    assert words(tokens)[:5] == ["the", "▁girl", "▁sits", ",", "▁naïve"]
    assert "".join(tokens.labels).replace("▁", " ") == "the girl sits, naïve <0xE6><0x97><0xA5></s>"


def test_word_pieces_are_marked_where_a_word_begins(tmp_path: Path) -> None:
    inner = trained(tokenizers.BertWordPieceTokenizer(strip_accents=False), vocab_size=90)
    inner.save_model(str(tmp_path))
    fast = transformers.BertTokenizer.from_pretrained(tmp_path, strip_accents=False)
    tokens = tokens_of(fast, fast(TEXT, padding=False)["input_ids"], reads=True)
    assert "##" not in "".join(tokens.labels) and max(map(len, tokens.words)) > 1
    assert words(tokens)[:6] == ["[CLS]", "▁the", "▁girl", "▁sits", ",", "▁naïve"]
    assert (words(tokens)[-1], tokens.special[0], tokens.special[1]) == ("[SEP]", True, False)


@pytest.mark.filterwarnings("ignore:Recommended")
def test_marian_has_its_slow_tokenizer_and_a_language_in_front(tmp_path: Path) -> None:
    folder = marian_folder(tmp_path)
    slow = transformers.MarianTokenizer.from_pretrained(folder)
    model = transformers.MarianMTModel.from_pretrained(folder).eval()
    trace = attention_of(model, slow, ">>fra<< the girl walks", target="größe Ende")
    assert words(trace.source) == [">>fra<<", "▁the", "▁girl", "▁walks", "</s>"]
    assert words(trace.target) == ["<pad>", "▁größe", "▁Ende", "</s>"]
    assert trace.target.ids[0] == model.config.decoder_start_token_id and trace.translation == "größe Ende"


@pytest.mark.filterwarnings("ignore:Recommended")
def test_two_vocabularies_of_marian_name_each_its_own_ids(tmp_path: Path) -> None:
    folder = marian_folder(tmp_path)
    ids = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    turned = dict(zip(ids, reversed(ids.values()), strict=True))
    (folder / "target_vocab.json").write_text(json.dumps(turned), encoding="utf-8")
    both = transformers.MarianTokenizer.from_pretrained(
        folder, separate_vocabs=True, target_vocab_file=str(folder / "target_vocab.json")
    )
    assert words(tokens_of(both, both("the girl")["input_ids"], reads=True)) == ["▁the", "▁girl", "</s>"]
    written = both(text_target="größe", add_special_tokens=False)["input_ids"]
    assert words(tokens_of(both, written)) == ["▁größe"] and written != [ids["▁größe"]]


@pytest.mark.parametrize("name", ["MBartTokenizer", "MBart50Tokenizer"])
def test_the_languages_of_mbart_stand_where_its_decoder_reads_them(tmp_path: Path, name: str) -> None:
    shutil.copy(piece_model(tmp_path, "a"), tmp_path / "sentencepiece.bpe.model")
    fast = getattr(transformers, name).from_pretrained(tmp_path, src_lang="fr_XX", tgt_lang="de_DE")
    size, german = len(fast), fast.convert_tokens_to_ids("de_DE")
    start = {"decoder_start_token_id": 2} if name == "MBart50Tokenizer" else {}
    model = random_model("mbart", forced_bos=german if start else None, vocab_size=size, **start)
    forced = attention_of(model, fast, "the girl", target="hello")
    first = ["</s>", "de_DE"] if start else ["de_DE"]
    assert words(forced.target) == [*first, "▁hello", "</s>"]
    assert forced.target.special[: len(first)] == [True] * len(first)
    assert "fr_XX" in words(forced.source) and forced.translation == "hello"
    options = {} if start else {"decoder_start_token_id": german}
    written = attention_of(model, fast, "the girl", max_new_tokens=3, num_beams=2, **options)
    assert words(written.target)[: len(first)] == first


def test_an_id_without_a_name_is_called_by_its_number() -> None:
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel({"<unk>": 0, "a": 1}, unk_token="<unk>"))
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="<unk>")
    tokens = tokens_of(fast, [1, 7, 0])
    assert (tokens.labels, tokens.special) == (["a", "[7]", "<unk>"], [False, False, True])
