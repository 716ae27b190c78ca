import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
import tokenizers
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tokenizers import models, pre_tokenizers, trainers

from headlight.checkpoints import load_tokenizer
from headlight.runs.session import PauseOrStop
from transformer.tokenizers import (
    EOS,
    PAD,
    SOS,
    SPECIALS,
    UNK,
    Tokenizer,
    TokenizerKind,
    label,
    number_duplicates,
    word_groups,
)

KINDS: tuple[TokenizerKind, ...] = get_args(TokenizerKind)
SENTENCES = [
    "Don't touch the 3.14 (or \"so\") well-known things — it's 50% off, isn't it?",
    "L'homme n'a pas dit : « Où est l'œuf ? » à Noël, aujourd'hui.",
    "Ein Mädchen hält ein Eis, Straße für Straße; „schön“, sagte es.",
    "लड़की बेंच पर बैठी है और किताब पढ़ रही है। क्‍ष ज्ञान",
    "تجلس الفتاة على المقعد، وتقرأ كِتَابًا؟ لماذا؟",
    "一个小女孩坐在长椅上。她在看书！",
    "เด็กผู้หญิงนั่งอยู่บนม้านั่ง",
    "I 👩‍👧 you 😀😀 !",
]
ENGLISH = ["A little girl is sitting on a bench.", "A man is walking.", "The girls walked, talking."] * 3


def spaced(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).replace("▁", " ").split())


@pytest.mark.parametrize("kind", KINDS)
def test_every_script_comes_back(kind: TokenizerKind) -> None:
    tokenizer = Tokenizer.train(SENTENCES, kind, 2000, min_frequency=1)
    for text in SENTENCES:
        ids = tokenizer.encode(text)
        assert tokenizer.unk_id not in ids
        assert tokenizer.decode(ids) == spaced(text)


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=60)
@given(text=st.text(st.characters(exclude_categories=("Cs", "Cn"))))
def test_any_text_comes_back_up_to_its_spaces(kind: TokenizerKind, text: str) -> None:
    assume(spaced(text))
    tokenizer = Tokenizer.train([text], kind, 1000, min_frequency=1)
    assert tokenizer.decode(tokenizer.encode(text)) == spaced(text)


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)
@given(text=st.text(st.characters(exclude_categories=())))
def test_any_text_can_be_encoded_whatever_was_learned(kind: TokenizerKind, text: str) -> None:
    ids = ENGLISH_TOKENIZERS[kind].encode(text)
    assert not {PAD, SOS, EOS} & set(ids)
    pieces = [ENGLISH_TOKENIZERS[kind].piece(id) for id in ids]
    assert [index for group in word_groups(pieces) for index in group] == list(range(len(pieces)))
    assert all(map(label, pieces))


ENGLISH_TOKENIZERS = {kind: Tokenizer.train(ENGLISH, kind, 200, min_frequency=1) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_decomposed_letters_are_the_composed_ones(kind: TokenizerKind) -> None:
    tokenizer = Tokenizer.train(["à la crème"], kind, 100, min_frequency=1)
    assert tokenizer.encode(unicodedata.normalize("NFD", "à la crème")) == tokenizer.encode("à la crème")


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_never_seen_is_unknown_and_left_out_of_the_text(kind: TokenizerKind) -> None:
    tokenizer = ENGLISH_TOKENIZERS[kind]
    ids = tokenizer.encode("girl 😀 is")
    assert tokenizer.unk_id in ids
    assert "😀" not in tokenizer.decode(ids) and tokenizer.decode(ids).endswith(" is")


@pytest.mark.parametrize("kind", KINDS)
def test_special_tokens_in_a_text_are_text(kind: TokenizerKind) -> None:
    text = f"a {' b '.join(SPECIALS)}"
    tokenizer = Tokenizer.train([text], kind, 100, min_frequency=1)
    ids = tokenizer.encode(text)
    assert not set(ids) & set(range(4))
    assert tokenizer.decode(ids) == text


def test_special_tokens_of_a_foreign_tokenizer_are_never_read_out_of_a_text() -> None:
    """A word-level tokenizer that cuts at spaces only finds "[EOS]" in its vocabulary as a word."""
    vocabulary = {word: index for index, word in enumerate(["[SOS]", "a", "[EOS]", "[UNK]", "[PAD]"])}
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer = Tokenizer(inner)
    assert (tokenizer.pad_id, tokenizer.unk_id, tokenizer.sos_id, tokenizer.eos_id) == (4, 3, 0, 2)
    assert tokenizer.encode("a [EOS] [PAD] [SOS] a") == [1, 3, 3, 3, 1]
    assert tokenizer.decode([0, 1, 4, 1, 2]) == "a a"


@pytest.mark.parametrize("kind", KINDS)
def test_special_ids_and_vocabulary(kind: TokenizerKind) -> None:
    tokenizer = ENGLISH_TOKENIZERS[kind]
    assert [tokenizer.piece(id) for id in range(4)] == list(SPECIALS)
    assert (tokenizer.pad_id, tokenizer.unk_id, tokenizer.sos_id, tokenizer.eos_id) == (PAD, UNK, SOS, EOS)
    assert tokenizer.vocab_size <= 200
    with pytest.raises(ValueError, match=str(tokenizer.vocab_size)):
        tokenizer.piece(tokenizer.vocab_size)


@pytest.mark.parametrize("kind", KINDS)
def test_vocabulary_keeps_its_size_when_there_are_more_characters(kind: TokenizerKind) -> None:
    tokenizer = Tokenizer.train(["".join(map(chr, range(0x4E00, 0x4F00)))], kind, 50, min_frequency=1)
    assert tokenizer.vocab_size <= 50


def test_batch_is_each_text_alone_and_training_again_gives_the_same() -> None:
    tokenizer, again = (Tokenizer.train(SENTENCES, "bpe", 300, min_frequency=1) for _ in range(2))
    assert tokenizer.encode_batch(SENTENCES) == [again.encode(text) for text in SENTENCES]
    assert tokenizer.inner.to_str() == again.inner.to_str()


def test_saved_and_loaded_is_the_same_and_nothing_else_is_left(tmp_path: Path) -> None:
    tokenizer = ENGLISH_TOKENIZERS["bpe"]
    tokenizer.save(tmp_path / "tokenizer.json")
    tokenizer.save(tmp_path / "tokenizer.json")
    loaded = load_tokenizer(tmp_path / "tokenizer.json")
    assert loaded.encode("A girl [EOS] walked.") == tokenizer.encode("A girl [EOS] walked.")
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer.json"]


def test_unusable_tokenizer_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    with pytest.raises(ValueError, match=r"tokenizer\.json is missing"):
        load_tokenizer(path)
    ENGLISH_TOKENIZERS["bpe"].save(path)
    whole = path.read_text(encoding="utf-8")
    for broken in ("", "{}", "[]", "null", whole[: len(whole) // 2], whole[:-2], whole.replace("[SOS]", "[CLS]")):
        path.write_text(broken, encoding="utf-8")
        with pytest.raises(ValueError, match=r"tokenizer\.json"):
            load_tokenizer(path)


@pytest.mark.parametrize(("field", "value"), [("unk_token", "[NONE]"), ("merges", [["e", ""]]), ("vocab", {"a": 0})])
def test_tampered_tokenizer_files_are_refused(tmp_path: Path, field: str, value: object) -> None:
    """A merge with an empty half makes the library panic in Rust, which is no `Exception` in Python."""
    content = json.loads(ENGLISH_TOKENIZERS["bpe"].inner.to_str())
    content["model"][field] = value
    (tmp_path / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ValueError, match=r"tokenizer\.json is not a tokenizer that works here"):
        load_tokenizer(tmp_path / "tokenizer.json")


def test_training_refuses_what_it_cannot_use() -> None:
    with pytest.raises(ValueError, match="'sentences'.*bpe, words, characters"):
        Tokenizer.train(ENGLISH, "sentences", 100)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="vocab_size is 4"):
        Tokenizer.train(ENGLISH, "bpe", 4)
    for nothing in (list[str](), ["", " "]):
        with pytest.raises(ValueError, match="no text"):
            Tokenizer.train(nothing, "bpe", 100)


def test_a_label_shows_all_that_tells_two_pieces_apart() -> None:
    """The candidates of a step had "il" twice: one piece begins a word, and the other goes on with one."""
    pieces = ["[SOS]", "▁gir", "gir", "▁-", "-", "▁", " ", "\n", "\t", "\u00a0", "\0", "\ud800", "<0xE7>", "ड़"]
    assert [label(piece) for piece in pieces] == [
        "[SOS]", "▁gir", "gir", "▁-", "-", "▁", "▁", "\\n", "\\t", "\\xa0", "\\x00", "\\ud800", "<0xE7>", "ड़",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_no_two_tokens_of_a_vocabulary_look_the_same(kind: TokenizerKind) -> None:
    tokenizer = ENGLISH_TOKENIZERS[kind]
    every = tokenizer.labels(range(tokenizer.vocab_size))
    assert len(set(every)) == tokenizer.vocab_size and not any(c.isspace() for name in every for c in name)


def test_word_groups_of_subwords() -> None:
    pieces = ["[SOS]", "▁gir", "ls", ",", "▁", '"', "▁", "x", "y", "'", "s", "▁na", "[UNK]", "ve", "▁", "[EOS]"]
    words = ["".join(pieces[index] for index in group) for group in word_groups(pieces)]
    assert words == ["[SOS]", "▁girls", ",", '▁"', "▁xy", "'", "s", "▁na", "[UNK]", "ve", "▁", "[EOS]"]


def test_word_groups_of_words_and_characters() -> None:
    assert word_groups(["[SOS]", "girl", "s", "."]) == [[0], [1], [2], [3]]
    assert word_groups([*"hi you!", "[EOS]"]) == [[0, 1], [2, 3, 4, 5], [6], [7]]
    assert word_groups([]) == []


@given(st.lists(st.sampled_from(["a", "the", "a₁", "a₂", "[PAD]", "."])))
def test_numbered_labels_are_unique_and_single_ones_untouched(names: list[str]) -> None:
    numbered = number_duplicates(names)
    assert len(set(numbered)) == len(names)
    for name, unique in zip(names, numbered, strict=True):
        assert unique == name if names.count(name) == 1 else unique.startswith(name) and unique != name


def test_numbers_count_from_one() -> None:
    assert number_duplicates(["a", "b", "a", *"c" * 10]) == ["a₁", "b", "a₂", *(f"c{n}" for n in "₁₂₃₄₅₆₇₈₉"), "c₁₀"]


def foreign(**ids: int | None) -> Tokenizer:
    """Byte-level pieces of English, as BART has them."""
    inner = tokenizers.Tokenizer(tokenizers.models.BPE())
    inner.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=["<s>", "<pad>", "</s>", "en_XX"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    inner.train_from_iterator(["a little girl walks", "two little girls were walking"] * 4, trainer)
    return Tokenizer(inner, **{"pad_id": 1, "sos_id": 2, "eos_id": 2, **ids})


def test_special_tokens_of_another_family_are_known_by_their_ids() -> None:
    tokenizer = foreign()
    assert (tokenizer.pad_id, tokenizer.sos_id, tokenizer.eos_id, tokenizer.unk_id) == (1, 2, 2, None)
    assert tokenizer.special_ids == {0, 1, 2, 3}
    text = "a little </s> en_XX girl"
    ids = tokenizer.encode(text)
    assert not set(ids) & tokenizer.special_ids and tokenizer.decode([0, *ids, 3, 2, 1]) == text
    around = [3, *tokenizer.encode("girl"), 2]
    assert tokenizer.labels(around)[0] == "en_XX" and tokenizer.word_groups(around)[0] == [0]


@pytest.mark.parametrize("text", ["little girls", "naïve 日本 😀", "l'homme", "walks, walking"])
def test_bytes_are_shown_as_the_characters_that_they_are(text: str) -> None:
    tokenizer = foreign()
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert tokenizer.piece(tokenizer.encode(" girl")[0]) == "▁girl"
    shown = "".join(tokenizer.piece(id) for id in ids).replace("▁", " ")
    whole = "".join(c if c.isascii() or c == "ï" else "".join(f"<0x{b:02X}>" for b in c.encode()) for c in text)
    assert shown.replace("ï", "<0xC3><0xAF>") == whole.replace("ï", "<0xC3><0xAF>")
    words = ["".join(tokenizer.piece(ids[i]) for i in group) for group in tokenizer.word_groups(ids)]
    if text == "little girls":
        assert words == ["little", "▁girls"]


def test_a_first_word_in_several_pieces_is_one_word() -> None:
    tokenizer = foreign()
    ids = tokenizer.encode("walkingxy")
    assert len(ids) > 1 and tokenizer.word_groups(ids) == [list(range(len(ids)))]
    assert not any(name.startswith("▁") for name in tokenizer.labels(ids))


def test_a_list_of_words_is_a_vocabulary() -> None:
    tokenizer = Tokenizer.of_words(["<pad>", "<s>", "</s>", "<unk>", "girl", "s", "a"], 0, 1, 2, unk_id=3)
    assert tokenizer.encode("a  girl x </s>") == [6, 4, 3, 3]
    assert tokenizer.decode([1, 6, 4, 3, 2]) == "a girl"
    assert tokenizer.word_groups([6, 4, 5]) == [[0], [1], [2]] and tokenizer.labels([4, 5]) == ["girl", "s"]
    with pytest.raises(ValueError, match="'a' twice"):
        Tokenizer.of_words(["a", "a"], 0, 0, 1)


def test_without_a_vocabulary_the_text_is_ids(tmp_path: Path) -> None:
    Tokenizer.of_ids(12, 0, 1, 2).save(tmp_path / "tokenizer.json")
    tokenizer = load_tokenizer(tmp_path / "tokenizer.json", 0, 1, 2)
    assert tokenizer.encode("5 11 3") == [5, 11, 3] and tokenizer.decode([1, 5, 11, 2]) == "5 11"
    assert tokenizer.word_groups([5, 3]) == [[0], [1]]
    for text in ("12", "girl"):
        with pytest.raises(ValueError, match="no token for.*'11'"):
            tokenizer.encode(text)


def test_a_tokenizer_has_as_many_entries_as_the_model_has_rows(tmp_path: Path) -> None:
    small = foreign()
    larger = small.of_size(small.vocab_size + 3)
    assert larger.vocab_size == small.vocab_size + 3
    assert larger.piece(larger.vocab_size - 1) == f"[{larger.vocab_size - 1}]"
    assert larger.encode("a little girl [2]") == small.encode("a little girl [2]")
    larger.save(tmp_path / "tokenizer.json")
    assert load_tokenizer(tmp_path / "tokenizer.json", 1, 2, 2).vocab_size == larger.vocab_size
    words = Tokenizer.of_words(["<pad>", "</s>", "<unk>", "a", "b", "c"], 0, 1, 1, unk_id=2)
    fewer = words.of_size(5)
    assert fewer.vocab_size == 5 and fewer.encode("a b c") == [3, 4, 2]
    with pytest.raises(ValueError, match="vocabulary of 5"):
        fewer.piece(5)


def test_padding_and_truncation_that_a_file_asks_for_are_off(tmp_path: Path) -> None:
    tokenizer = foreign()
    tokenizer.inner.enable_padding(length=50)
    tokenizer.inner.enable_truncation(2)
    tokenizer.save(tmp_path / "tokenizer.json")
    again = load_tokenizer(tmp_path / "tokenizer.json", 1, 2, 2)
    assert again.encode("a little girl walks") == foreign().encode("a little girl walks")


def test_a_large_vocabulary_reads_and_writes_what_it_never_saw_in_bytes() -> None:
    tokenizer = Tokenizer.train(["the cat sat on the mat", "le chat est là"] * 3, "bpe", 1000)
    for text in ("the 猫 sat", "🎉", "the cat <0xE2> sat", "zébu"):
        ids = tokenizer.encode(text)
        assert tokenizer.unk_id not in ids
        assert tokenizer.decode(ids) == text
    names = [tokenizer.piece(id) for id in tokenizer.encode("猫")]
    assert names == ["▁", "<0xE7>", "<0x8C>", "<0xAB>"]


CLIMATE = "Climate change, humanity!"
HINDI = "जलवायु परिवर्तन"


def unmarked(*texts: str) -> Tokenizer:
    """Train a tokenizer as a widely followed tutorial does: no piece marks where a word begins."""
    inner = tokenizers.Tokenizer(models.BPE(unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    inner.train_from_iterator(texts, trainers.BpeTrainer(special_tokens=["[UNK]", "[PAD]", "[SOS]", "[EOS]"]))
    return Tokenizer(inner, 1, 2, 3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CLIMATE, ["Climate", "change", ",", "humanity", "!"]),
        (HINDI, ["जलवायु", "परिवर्तन"]),
        ("Climate", ["Climate"]),
        ("", []),
    ],
)
def test_the_text_says_where_words_begin_that_no_piece_marks(text: str, words: list[str]) -> None:
    tokenizer = unmarked("Cl ima te ch an ge hu man ity , !", "ज ल व ा यु प रि व र् त न")
    ids = [2, *tokenizer.encode(text), 3]
    pieces = tokenizer.labels(ids)
    assert len(ids) - 2 > len(words) or not words
    groups = tokenizer.word_groups(ids, text)
    assert ["".join(pieces[at] for at in group) for group in groups] == ["[SOS]", *words, "[EOS]"]
    assert [at for group in groups for at in group] == list(range(len(ids)))
    other = tokenizer.word_groups(ids, "something else")  # what is not its text says nothing of it
    assert other == tokenizer.word_groups(ids) and (len(other) > len(groups) or not words)


def test_a_vowel_sign_alone_is_no_word() -> None:
    assert word_groups(["[SOS]", "यु", "व", "ा", "न", "."]) == [[0], [1], [2, 3], [4], [5]]
    assert word_groups(["[SOS]", "ा", "नम"]) == [[0], [1], [2]]  # where nothing is before it
    assert word_groups(["a", "\u0301"], marked=False) == [[0], [1]]


@pytest.mark.parametrize("call", [lambda t: t.encode_batch(["a"]), lambda t: t.decode([5])])
def test_a_request_to_stop_is_no_fault_of_the_tokenizer(call: Callable[[Tokenizer], object]) -> None:
    class Interrupted:
        def __getattr__(self, name: str) -> object:
            raise PauseOrStop("stop")

    tokenizer = Tokenizer.train(["a b c"], "words", 20, min_frequency=1)
    tokenizer.inner = Interrupted()  # type: ignore[assignment]
    with pytest.raises(PauseOrStop):
        call(tokenizer)
