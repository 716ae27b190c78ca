import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pytest

from headlight.corpora.corpora import HubDataset, Pair, open_corpus

Writer = Callable[[dict[str, list[dict[str, Any]]]], str]


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Writer:
    """A folder that `datasets` opens by its path as it opens a dataset of the hub by its name."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    folder = tmp_path / "english-hindi"
    folder.mkdir()

    def write(splits: dict[str, list[dict[str, Any]]]) -> str:
        for split, records in splits.items():
            text = "".join(json.dumps(record) + "\n" for record in records)
            (folder / f"{split}.jsonl").write_text(text, encoding="utf-8")
        return str(folder)

    return write


NESTED: list[dict[str, Any]] = [
    {"translation": {"en": "one", "hi": "एक"}},
    {"translation": {"en": "", "hi": "दो"}},
    {"translation": {"en": None, "hi": "तीन"}},
    {"translation": {"en": "four", "hi": "चार"}},
]


def test_reads_translations_again_and_again(dataset: Writer) -> None:
    corpus = HubDataset(dataset({"train": NESTED}), "en", "hi")
    assert list(corpus) == list(corpus) == [Pair(1, "one", "एक"), Pair(4, "four", "चार")]
    assert corpus.report.first == [(2, "empty source"), (3, "not text")]


def test_reads_plain_columns_and_its_splits(dataset: Writer) -> None:
    name = dataset({split: [{"a": split, "b": "2"}] for split in ("train", "validation", "test")})
    splits = open_corpus(f"hub:{name}:a:b")
    assert [pair[1:3] for split in splits if split for pair in split] == [
        ("train", "2"), ("validation", "2"), ("test", "2")
    ]  # fmt: skip


def test_validation_is_held_out_where_the_dataset_has_none(dataset: Writer) -> None:
    name = dataset({"train": [{"a": str(number), "b": "x"} for number in range(70)]})
    train, validation, test = open_corpus(f"hub:{name}:a:b")
    assert validation is not None and (len(list(train)), len(list(validation)), test) == (69, 1, None)


def test_missing_columns_and_splits_are_answered_with_those_there_are(dataset: Writer) -> None:
    name = dataset({"test": NESTED})
    with pytest.raises(ValueError, match="no column 'fr'; it has en, hi"):
        list(HubDataset(name, "en", "fr", "test"))
    with pytest.raises(ValueError, match="no split 'train'; its splits are test"):
        open_corpus(f"hub:{name}:en:hi")
    with pytest.raises(ValueError, match="cannot be read from the Hugging Face hub"):
        list(HubDataset(name, "en", "hi", "train"))


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(ValueError, match=r"needs datasets: pip install .*\[datasets\]"):
        list(HubDataset("someone/something", "en", "hi"))


def test_without_network_the_error_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ConnectionError("Couldn't reach the hub\nmany more lines")

    monkeypatch.setattr(datasets, "load_dataset", fail)
    with pytest.raises(ValueError, match="'someone/something' cannot be read.*Couldn't reach the hub") as error:
        list(HubDataset("someone/something", "en", "hi"))
    assert "\n" not in str(error.value)
