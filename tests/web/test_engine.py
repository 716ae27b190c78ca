"""The engine of the published page, in Node, held to torch with the same rounded weights."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
import torch

from headlight import checkpoints, folders
from headlight.corpora.corpora import open_split
from headlight.teaching.mistakes import MISTAKES
from headlight.web.model_file import in_bits, model_bytes, round_weights
from tests.small import small_checkpoint, small_t5_checkpoint
from transformer import Translator
from transformer.checkpoint import Checkpoint
from transformer.config import ModelConfig, StackConfig
from transformer.model import Transformer
from transformer.taps import Ablate, Site
from transformer.tokenizers import Tokenizer
from transformer.trace import KINDS, Kind

NODE = Path(sys.executable).with_name("node")
ROOT = Path(__file__).resolve().parents[2]
STRANGE = [
    "  Two   spaces, a tab\tand\u00a0more  ",
    "Caf\u00e9, cafe\u0301 and na\u00efve: \u00abquoted\u00bb \u2014 dash\u2026",
    "\u2581 [EOS] [SOS] <0x41> <unk>",
    "\u4f60\u597d \U0001f600 \u0928\u092e\u0938\u094d\u0924\u0947 \ud83d",
    "x" * 60,
    "3,000.50 $5 + 7 = ^`~|",
    "don't won't l'homme",
]


def everyday(languages: str) -> list[str]:
    lines = (ROOT / f"tests/everyday/{languages}.tsv").read_text("utf-8").splitlines()
    return [line.split("\t")[0] for line in lines]


def generated(corpus: str, count: int) -> list[str]:
    return [pair.source for pair in islice(open_split(corpus, "test"), count)]


def run(checkpoint: Checkpoint, sentences: list[str], tmp: Path, off: list[str] | None = None) -> Any:
    """Return the engine's answers for each sentence, and all their numbers in one row."""
    (tmp / "model").write_bytes(model_bytes(checkpoint, {}))
    (tmp / "asked").write_text(json.dumps({"sentences": sentences, "off": off or []}))
    files = [tmp / name for name in ("model", "asked", "answers", "numbers")]
    subprocess.run([NODE, ROOT / "tests/web/engine.mjs", *files], check=True, timeout=300)
    return json.loads(files[2].read_text("utf-8")), np.fromfile(files[3], np.float32)


def kind_of(site: Site) -> Kind:
    return next(kind for kind in KINDS if kind == ("cross" if site.kind == "cross" else site.stack))


def compare(checkpoint: Checkpoint, sentences: list[str], tmp: Path, off: list[Ablate] | None = None) -> None:
    """Tokens, hypotheses, logits and every pattern of the engine are those of torch.

    Without residual connections hypotheses tie, and the last of five is one of those that do.
    """
    names = [f"{kind_of(one.site)} {one.site.layer} {one.head}" for one in off or []]
    answers, numbers = run(checkpoint, sentences, tmp, names)
    round_weights(checkpoint.model)
    model = Translator(checkpoint)
    tap = off[0] if off else None
    at = 0
    for text, answer in zip(sentences, answers, strict=True):
        source = model.encode(text)
        assert answer["ids"] == source, text
        assert answer["labels"] == checkpoint.source_tokenizer.labels(source)
        greedy = model.translate(text, beam_size=1, tap=tap)
        assert answer["greedy"] == greedy.ids, text
        assert answer["text"] == greedy.text
        best = model.n_best(text, 5, tap=tap)
        if checkpoint.model.config.residual:
            assert [one["ids"] for one in answer["beam"]] == [one.ids for one in best], text
        np.testing.assert_allclose([one["score"] for one in answer["beam"]], [one.score for one in best], atol=1e-3)
        written = [model.model.config.sos_id, *greedy.ids]
        trace = model.trace_ids(source, written, off or [])
        with torch.inference_mode():
            logits = model.model(torch.tensor([source]), torch.tensor([written[:-1]]), tap)[0].numpy()
        for expected, tolerance in ((logits, 1e-3), *((trace.pattern(kind), 1e-4) for kind in KINDS)):
            found = numbers[at : at + expected.size].reshape(expected.shape)
            np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
            at += expected.size
    assert at == len(numbers)


# Models with tokenizers of one kind read the strange texts once.
COMPARED: dict[str, Callable[[], list[str]]] = {
    "en-fr": lambda: everyday("en-fr")[::30] + STRANGE,
    "de-en": lambda: everyday("de-en")[::30] + STRANGE[:3],
    "english-french": lambda: generated("english-french", 4) + STRANGE,
    "english-hindi": lambda: generated("english-hindi", 4) + STRANGE[:4],
    "reverse": lambda: generated("reverse", 4) + STRANGE[:3],
    "reverse-learned": lambda: generated("reverse", 4),
    "reverse-unmasked": lambda: generated("reverse", 4),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPARED)
def test_a_model_that_ships(name: str, tmp_path: Path) -> None:
    compare(checkpoints.load(name), COMPARED[name](), tmp_path)


def test_a_head_that_is_off(tmp_path: Path) -> None:
    compare(checkpoints.load("reverse"), ["headlight"], tmp_path, [Ablate(Site("decoder", 1, "cross"), 1)])


@pytest.mark.parametrize("kind", ["words", "characters"])
def test_other_networks(kind: Any, tmp_path: Path) -> None:
    """Post-norm, no last norm, untied, positions of their own or none, no biases, depths that differ."""
    texts = ["the cat sees a dog", "a dog sees the cat, and the cat's dog"]
    tokenizer = Tokenizer.train(texts, kind, 60)
    config = ModelConfig(
        source_vocab_size=tokenizer.vocab_size,
        target_vocab_size=tokenizer.vocab_size,
        d_model=20,
        encoder=StackConfig(1, 2, 12),
        decoder=StackConfig(2, 5, 9),
        norm="post" if kind == "words" else "pre",
        final_norm=kind == "characters",
        positions="none" if kind == "words" else "learned",
        tied="none" if kind == "words" else "output",
        qkv_bias=False,
        attention_output_bias=False,
        logits_bias=False,
        scale_embeddings=False,
        max_length=64,
    )
    torch.manual_seed(3)
    compare(Checkpoint(Transformer(config).eval(), tokenizer, tokenizer, {}), texts, tmp_path)


@pytest.mark.parametrize("name", ["no-residual", "no-norms", "no-non-linearity", "no-embedding-scale"])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_parts_left_out(name: str, norm: str, tmp_path: Path) -> None:
    changes = dict(MISTAKES[name].changes)
    compare(small_checkpoint(**{"norm": norm, "seed": 5, **changes}), ["two dogs are running in the snow ."], tmp_path)


def test_ten_bits_are_as_near_as_a_row_allows() -> None:
    weights = torch.randn(7, 5) * torch.logspace(-6, 3, 7)[:, None]
    weights[2] = 0
    numbers, step = in_bits(weights)
    assert numbers.abs().max() <= 511
    assert (numbers * step - weights).abs().max(1).values.le(weights.abs().amax(1) / 1022 * 1.001 + 1e-30).all()


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"activation": "gelu"}, "activation"),
        ({"norm_form": "scalar"}, "norm_form"),
        ({"positions": "no-exp"}, "positions"),
        ({"position_base": 1_000.0}, "position_base"),
        ({"source_end": ()}, "source_end"),
        ({"source_end": (1, 2)}, "source_end"),
        ({"target_start": (5,)}, "target_start"),
    ],
)
def test_what_the_engine_lacks_is_refused_by_name(change: dict[str, Any], word: str) -> None:
    checkpoint = small_checkpoint()
    checkpoint.model.config = replace(checkpoint.model.config, **change)
    with pytest.raises(ValueError, match=word):
        model_bytes(checkpoint, {})
    network = (ROOT / "headlight/web/js/network.js").as_uri()
    asked = f"import {{ checkConfig }} from '{network}'; checkConfig({json.dumps(checkpoint.model.config.to_dict())});"
    answer = subprocess.run([NODE, "--input-type=module", "--eval", asked], capture_output=True, text=True)
    assert answer.returncode == 1 and f"Error: {word} is " in answer.stderr


def test_other_architectures_and_tokenizers_are_refused() -> None:
    with pytest.raises(ValueError, match="The model is a T5"):
        model_bytes(small_t5_checkpoint(), {})
    checkpoint = small_checkpoint()
    lowercase = json.loads(checkpoint.source_tokenizer.inner.to_str())
    lowercase["normalizer"]["normalizers"].append({"type": "Lowercase"})
    checkpoint.source_tokenizer = Tokenizer(tokenizers.Tokenizer.from_str(json.dumps(lowercase)))
    with pytest.raises(ValueError, match="tokenizer"):
        model_bytes(checkpoint, {})
    checkpoint = small_checkpoint()
    checkpoint.target_tokenizer = checkpoint.target_tokenizer.of_size(500)  # rows without tokens
    with pytest.raises(ValueError, match="tokenizer"):
        model_bytes(checkpoint, {})


@pytest.mark.slow
def test_every_other_model_that_ships_can_be_published() -> None:
    others = set(folders.shipped()) - COMPARED.keys()
    assert len(others) > 2
    for name in others:
        model_bytes(checkpoints.load(name), {})
