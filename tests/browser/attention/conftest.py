"""A small untrained model with two encoder layers of 4 heads and three decoder layers of 2; its tokens are hostile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import tokenizers
from tokenizers import models, pre_tokenizers

from headlight import checkpoints
from headlight.checkpoints import load_translator
from tests.browser.attention.looking import HOSTILE, SENTENCE, WORDS
from tests.forked import serve_forked
from tests.small import small_checkpoint
from transformer import Trace, Translator
from transformer.checkpoint import Checkpoint
from transformer.tokenizers import SPECIALS, Tokenizer

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def odd(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Translator]:
    """A folder of checkpoints with one model whose depths differ and whose words are hostile."""
    inner = tokenizers.Tokenizer(models.WordLevel({t: i for i, t in enumerate([*SPECIALS, *HOSTILE, *WORDS])}, "[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = Tokenizer(inner)
    # This seed's untrained weights happen to write a dozen tokens before they end.
    model = small_checkpoint(seed=33, max_length=600, source_vocab_size=14, target_vocab_size=14).model
    folder = tmp_path_factory.mktemp("checkpoints")
    card = {"title": "Odd <b>words</b>", "source": "Odd", "target": "Even", "examples": [SENTENCE, "one two"]}
    checkpoints.save(Checkpoint(model, tokenizer, tokenizer, card), folder / "odd")
    return folder, load_translator(folder / "odd")


@pytest.fixture(scope="session")
def odd_url(odd: tuple[Path, Translator], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ExitStack() as serving:
        with pytest.MonkeyPatch.context() as patch:  # over before the tests of other files
            patch.setenv("HEADLIGHT_CHECKPOINTS", str(odd[0]))
            address = serving.enter_context(serve_forked(ROOT / "app.py", tmp_path_factory.mktemp("odd") / "log.txt"))
        yield address


@pytest.fixture
def odd_trace(odd: tuple[Path, Translator]) -> Trace:
    return odd[1].trace(SENTENCE)
