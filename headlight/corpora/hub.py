"""Corpora from the Hugging Face hub, through the `datasets` package."""

from collections.abc import Iterator
from typing import Any

from headlight.corpora.files import pair_of, texts_of
from headlight.corpora.pairs import Corpus, Pair, Rejected
from transformer.access import require_private
from transformer.extras import require_package
from transformer.quoting import quoted, short


class HubDataset(Corpus):
    """Two text columns of a dataset on the Hugging Face hub, read over the network; line numbers are rows, from 1."""

    def __init__(self, name: str, source: str, target: str, split: str = "train", config: str | None = None) -> None:
        super().__init__(f"{name} ({split})")
        self.dataset, self.config, self.split = name, config, split
        self.source, self.target = source, target

    def rows(self) -> Iterator[Pair | Rejected]:
        number = 0
        for number, record in enumerate(self._records(), 1):
            if number == 1:
                self._require_columns(list(texts_of(record)))
            yield pair_of(number, record, self.source, self.target)

    def _records(self) -> Iterator[Any]:
        datasets = _datasets()
        try:
            yield from datasets.load_dataset(self.dataset, self.config, split=self.split, streaming=True)
        except Exception as error:  # the hub's client raises errors of many kinds
            raise _unreadable(self.dataset, error) from None

    def _require_columns(self, available: list[str]) -> None:
        for column in (self.source, self.target):
            if column not in available:
                raise ValueError(
                    f"The dataset {quoted(self.dataset)} has no column {quoted(column)}; "
                    f"it has {short(', '.join(available))}."
                )


def split_names(name: str, config: str | None = None) -> list[str]:
    """Return the splits that a dataset has, such as ["train", "validation", "test"]."""
    datasets = _datasets()
    try:
        return list(datasets.get_dataset_split_names(name, config))
    except Exception as error:
        raise _unreadable(name, error) from None


def _datasets() -> Any:
    """Import the package. Raises ValueError without it, or where this process may not reach the network."""
    require_private()
    return require_package("datasets", "A dataset of the hub", "datasets")


def _unreadable(name: str, error: Exception) -> ValueError:
    message_lines = str(error).strip().splitlines()
    return ValueError(
        f"The dataset {quoted(name)} cannot be read from the Hugging Face hub; "
        f"check its name and the network ({short(message_lines[0]) if message_lines else type(error).__name__})."
    )
