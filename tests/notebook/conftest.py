"""A trace of the small model, as a cell of a notebook shows it."""

import pytest

from tests.small import small_translator
from transformer import Trace


@pytest.fixture(scope="module")
def trace() -> Trace:
    return small_translator().trace("two dogs are running .", target="a little girl")
