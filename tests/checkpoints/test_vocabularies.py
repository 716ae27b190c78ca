"""Vocabularies from elsewhere: the kinds of file that are read, the pickles that are not, and none at all."""

import io
import json
import os
import pickle
import shlex
import sys
import types
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer as Inner
from tokenizers import models, pre_tokenizers

from headlight.importers.questions import Answers
from headlight.importers.vocabularies import open_vocabularies, open_vocabulary
from transformer.checkpoint.weights import Refused
from transformer.config import ModelConfig

WORDS = ["<s>", "</s>", "<blank>", "<unk>", "ein", "Hund", "läuft", "."]
CONFIG = ModelConfig(len(WORDS), len(WORDS), pad_id=2, sos_id=0, eos_id=1)


def as_list(path: Path) -> None:
    path.write_text(json.dumps(WORDS))


def as_object(path: Path) -> None:
    path.write_text(json.dumps({word: id for id, word in reversed(list(enumerate(WORDS)))}))


def as_lines(path: Path) -> None:
    path.write_bytes("\r\n".join([*WORDS, ""]).encode("utf-8-sig"))


def as_tokenizer(path: Path) -> None:
    inner = Inner(models.WordLevel({word: id for id, word in enumerate(WORDS)}, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    inner.save(str(path))


@pytest.mark.parametrize("write", [as_list, as_object, as_lines, as_tokenizer])
def test_four_kinds_of_file_give_the_same_tokens(tmp_path: Path, write: Callable[[Path], None]) -> None:
    write(tmp_path / "vocab")
    tokenizer = open_vocabulary(tmp_path / "vocab", CONFIG)
    assert [tokenizer.piece(id) for id in range(len(WORDS))] == WORDS
    assert tokenizer.encode("ein Hund läuft.") == [4, 5, 6, 7]
    assert tokenizer.encode("ein <s> Vogel")[0] == 4 and 0 not in tokenizer.encode("ein <s> Vogel")
    assert tokenizer.encode("ein Vogel") == [4, 3]
    assert tokenizer.decode([0, 4, 5, 1]) == "ein Hund"
    assert (tokenizer.pad_id, tokenizer.sos_id, tokenizer.eos_id, tokenizer.unk_id) == (2, 0, 1, 3)


def test_a_vocabulary_in_small_letters_reads_capitals_too(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text(json.dumps([word.lower() for word in WORDS]))
    assert open_vocabulary(tmp_path / "vocab.json", CONFIG).encode("Ein Hund") == [4, 5]
    as_list(tmp_path / "vocab.json")
    assert open_vocabulary(tmp_path / "vocab.json", CONFIG).encode("Ein Hund") == [3, 5]


def test_ids_without_a_token_are_called_by_their_number(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text(json.dumps({"<unk>": 0, "a": 5}))
    tokenizer = open_vocabulary(tmp_path / "vocab.json", CONFIG)
    assert [tokenizer.piece(id) for id in range(6)] == ["<unk>", "[1]", "[2]", "[3]", "[4]", "a"]


class Ran:
    """An object whose unpickling would run code."""

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("touch ran",)


def torch_saved(value: object) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


# ---- pickles that are read: nothing of them is run ------------------------------------------------------------------


Made = Callable[[list[str]], object]


@pytest.fixture
def makers(monkeypatch: pytest.MonkeyPatch) -> dict[str, Made]:
    """Stand-ins for torchtext's classes under the names by which they are pickled, and what needs none."""
    for name in ("torchtext", "torchtext.vocab", "torchtext.vocab.vocab", "torchtext._torchtext"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))

    def class_of(module: str, base: type, **methods: object) -> type:
        cls = type("Vocab", (base,), {"__module__": module, "__qualname__": "Vocab", **methods})
        monkeypatch.setattr(sys.modules[module], "Vocab", cls, raising=False)
        return cls

    core = class_of(
        "torchtext._torchtext", object, __getstate__=lambda self: ("0.0.2", [3], self.words, []), words=None
    )
    module, legacy = class_of("torchtext.vocab.vocab", torch.nn.Module), class_of("torchtext.vocab", object)

    def in_module(words: list[str]) -> object:  # since 0.9: a module that holds an object of C++
        held, whole = core(), module()
        held.words, whole.vocab = words, held
        return whole

    def before(words: list[str]) -> object:
        whole = legacy()
        whole.freqs, whole.itos, whole.unk_index, whole.vectors = Counter(words), words, 0, None
        return whole

    return {"dictionary": dictionary, "list": list, "tuple": tuple, "torchtext": in_module, "legacy torchtext": before}


def dictionary(words: list[str]) -> dict[str, int]:
    return {word: id for id, word in enumerate(words)}


@pytest.mark.parametrize("kind", ["dictionary", "list", "tuple", "torchtext", "legacy torchtext"])
@pytest.mark.parametrize("saved", [torch.save, pickle.dump])
def test_a_pickled_vocabulary_is_read(
    tmp_path: Path, kind: str, saved: Callable[..., None], makers: dict[str, Made]
) -> None:
    path = tmp_path / "src_vocab.pth"
    with open(path, "wb") as file:
        saved(makers[kind](WORDS), file)
    tokenizer = open_vocabulary(path, CONFIG)
    assert [tokenizer.piece(id) for id in range(len(WORDS))] == WORDS
    assert tokenizer.encode("ein Hund läuft.") == [4, 5, 6, 7]


@pytest.mark.parametrize("protocol", range(6))
def test_pickles_of_every_age_are_read(tmp_path: Path, protocol: int) -> None:
    (tmp_path / "vocab.pkl").write_bytes(pickle.dumps(dictionary(WORDS), protocol))
    assert open_vocabulary(tmp_path / "vocab.pkl", CONFIG).encode("ein Hund") == [4, 5]


def test_of_a_pair_each_side_has_its_own(tmp_path: Path, makers: dict[str, Made]) -> None:
    other = [*WORDS[:4], "a", "dog", "runs", "."]
    torch.save((makers["torchtext"](WORDS), makers["torchtext"](other)), tmp_path / "vocab.pt")
    given = Answers(source_vocab=tmp_path / "vocab.pt", target_vocab=tmp_path / "vocab.pt")
    (source, target), warnings = open_vocabularies(given, CONFIG)
    assert source.encode("ein Hund") == [4, 5] and target.encode("a dog") == [4, 5] and warnings == ()


# ---- those that are not -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        pickle.dumps(Ran(), 0), pickle.dumps(Ran()), pickle.dumps({"the": 0, "of": Ran()}), torch_saved(Ran()),
        torch_saved(({"der": 0}, Ran())), pickle.dumps(Path("a")),
    ],
)  # fmt: skip
def test_a_pickle_that_would_run_is_refused_and_nothing_of_it_runs(
    tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "vocab.pkl"
    path.write_bytes(content)
    with pytest.raises(Refused, match=r"vocab\.pkl") as caught:
        open_vocabulary(path, CONFIG)
    assert "\n" not in str(caught.value) and caught.value.command
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("content", [pickle.dumps(7), pickle.dumps([1, 2]), torch_saved(torch.ones(2))])
def test_a_pickle_of_no_words_is_no_vocabulary(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "vocab.pkl").write_bytes(content)
    with pytest.raises(Refused, match="not a vocabulary"):
        open_vocabulary(tmp_path / "vocab.pkl", CONFIG)


class Words(dict):  # type: ignore[type-arg]
    """A class of one's own, which the reader does not know."""


@pytest.mark.parametrize("saved", ["pickle", "torch"])
def test_the_command_that_converts_a_pickle_works(tmp_path: Path, saved: str) -> None:
    path = tmp_path / "it's a vocab.pkl"
    both = (Words(dictionary(WORDS)), Words({"a": 0, "b": 1}))
    path.write_bytes(pickle.dumps(both) if saved == "pickle" else torch_saved(both))
    with pytest.raises(Refused) as caught:
        open_vocabulary(path, CONFIG)
    python, flag, program = shlex.split(caught.value.command)
    assert (python, flag) == ("python", "-c")
    exec(program, {})
    written = sorted(tmp_path.glob("*.json"))
    assert [len(json.loads(file.read_text())) for file in written] == [len(WORDS), 2]
    assert open_vocabulary(written[0], CONFIG).encode("ein Hund") == [4, 5]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "not a vocabulary"),
        (b"[]", "not a vocabulary"),
        (b"{}", "ids"),
        (b'["a", 1]', "not a vocabulary"),
        (b'["a", "b", "a"]', "twice"),
        (b'{"a": 0, "b": 0}', "same id"),
        (b'{"a": 0, "b": 1000000000}', "ids"),
        (b'{"a": "0"}', "ids"),
        (b'{"a": -1}', "ids"),
        (b'{"a": true}', "ids"),
        (b"a\t0\nb\t1\n", "columns"),
        (b"\xff\xfea\x00b\x00", "UTF-8"),
        (b'{"model": {"type": "none"}}', "tokenizer"),
        ("\n".join(["<unk>", "▁ein", "▁Hu", "nd"]).encode(), "parts of words"),
        (b'["<unk>", "ein", "##e"]', "parts of words"),
    ],
)
def test_what_is_no_vocabulary_is_refused_in_one_sentence(tmp_path: Path, content: bytes, what: str) -> None:
    path = tmp_path / "vocab"
    path.write_bytes(content)
    with pytest.raises(Refused, match=what) as caught:
        open_vocabulary(path, CONFIG)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="none.json"):
        open_vocabulary(tmp_path / "none.json", CONFIG)


def test_without_vocabularies_the_ids_are_the_text() -> None:
    config = ModelConfig(40, 50, pad_id=2, sos_id=0, eos_id=1)
    (source, target), warnings = open_vocabularies(Answers(), config)
    assert (source.vocab_size, target.vocab_size) == (40, 50)
    assert source.encode("17 4 39") == [17, 4, 39]
    assert target.decode([0, 17, 49, 1]) == "17 49"
    assert len(warnings) == 1 and "ids" in warnings[0]
    with pytest.raises(ValueError, match="no token for"):
        source.encode("17 40")


def test_one_file_for_both_sides_is_one_tokenizer(tmp_path: Path) -> None:
    as_list(tmp_path / "vocab.json")
    path = tmp_path / "vocab.json"
    (source, target), warnings = open_vocabularies(Answers(source_vocab=path, target_vocab=path), CONFIG)
    assert source is target and warnings == ()


@pytest.mark.parametrize("write", [as_list, as_tokenizer])
@pytest.mark.parametrize(("rows", "which"), [(len(WORDS) - 1, "beyond them"), (len(WORDS) + 3, "have no token")])
def test_a_vocabulary_of_another_size_is_a_warning(
    tmp_path: Path, write: Callable[[Path], None], rows: int, which: str
) -> None:
    write(tmp_path / "vocab")
    config = ModelConfig(rows, rows, pad_id=2, sos_id=0, eos_id=1)
    (source, target), warnings = open_vocabularies(Answers(source_vocab=tmp_path / "vocab"), config)
    assert source.vocab_size == target.vocab_size == rows
    assert source.encode("ein Hund") == [4, 5] and max(source.encode("ein .")) < rows
    without, about = warnings
    assert f"{len(WORDS)} tokens" in about and f"{rows} rows" in about and which in about
    assert "target" in without


def test_an_id_that_the_vocabulary_contradicts_is_a_warning(tmp_path: Path) -> None:
    as_list(tmp_path / "vocab.json")
    path = tmp_path / "vocab.json"
    config = ModelConfig(len(WORDS), len(WORDS), pad_id=4, sos_id=0, eos_id=1)
    *_, warnings = open_vocabularies(Answers(source_vocab=path, target_vocab=path), config)
    (warning,) = warnings
    assert "padding" in warning and "<blank> at 2" in warning and "'ein' at 4" in warning
