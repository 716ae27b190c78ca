"""Every function that pages call with a model lets others compute between its passes."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from torch import nn

from headlight.analysis import check, head_importance, passes, value_weighted_patterns, why
from headlight.analysis.atlas import atlas, faithfulness
from headlight.analysis.masks import whole_head
from headlight.analysis.order import embedded, encoder_states
from headlight.analysis.precision import gradients
from headlight.analysis.pruning.checkpoint import study
from headlight.analysis.reference import read_reference
from headlight.analysis.resampling import Resampler
from headlight.analysis.several_heads import several_heads
from headlight.analysis.stream import lens, stream
from headlight.corpora.truth import KnownPair
from tests.small import TEXTS, small_checkpoint
from transformer import Translator
from transformer.batches import collate
from transformer.decoding import beam, greedy, sample
from transformer.layers import DecoderLayer, EncoderLayer
from transformer.yielding import on_yield, yield_turn

ROOT = Path(__file__).resolve().parents[3]
# What is given a model and runs no pass of it: it reads its parameters, its configuration or its card.
WITHOUT_A_PASS = {
    "headlight.language.gettext", "transformer.Translator", "headlight.analysis.attention_at",
    "headlight.analysis.head_changes.switched_off", "headlight.analysis.neighbours.tied",
    "headlight.analysis.neighbours.weights", "headlight.analysis.network.network",
    "headlight.analysis.plane.word_vectors", "headlight.analysis.positions.encoding",
    "headlight.analysis.positions.entry", "headlight.analysis.positions.exp_log_difference",
    "headlight.analysis.positions.frequencies", "headlight.analysis.score_positions.score_properties",
    "headlight.analysis.pruning.checkpoint.bits_of", "headlight.analysis.pruning.checkpoint.pruned_checkpoint",
    "headlight.analysis.similar.open_index", "headlight.analysis.sites.attention_at", "headlight.checkpoints.load",
    "headlight.importers.examples.examples", "headlight.importers.health.check_health",
    "headlight.importers.marian_export.export_marian", "headlight.importers.marian_export.marian_notes",
    "headlight.importers.marian_export.reason_against_marian",
    "headlight.teaching.lessons.measuring.LessonComputer", "transformer.checkpoint.Checkpoint",
    "transformer.model.count_parameters", "headlight.runs.Recipe", "headlight.slices.evaluating.score_kinds",
}  # fmt: skip
MODEL = re.compile(r"(^|\.)(model|checkpoint|prepared|translator|base)(\(.*\))?$|translator\(name\)")
METHODS = "translate", "translate_batch", "trace", "trace_ids"

TRANSLATOR = Translator(small_checkpoint(seed=7))
SOURCE, OTHER = TRANSLATOR.encode(TEXTS[1]), TRANSLATOR.encode("two dogs are sitting in the snow .")
TARGET = TRANSLATOR.encode_target(TEXTS[0])
STEP = len(TARGET) - 2


def words() -> list[list[int]]:
    return [[i] for i in range(len(SOURCE) - 1)]


def pairs() -> Iterator[KnownPair]:
    return (KnownPair(text, text) for text in TEXTS for _ in range(3))


def batch() -> object:
    return TRANSLATOR.source_batch([SOURCE])


CORRUPTION = why.Corruption(SOURCE, OTHER, TARGET, STEP, 5)
CASES: dict[str, Callable[[Translator], object]] = {
    "translate": lambda t: t.translate(TEXTS[0]),
    "translate_batch": lambda t: t.translate_batch(TEXTS),
    "trace": lambda t: t.trace(TEXTS[0]),
    "trace_ids": lambda t: t.trace_ids(SOURCE, TARGET),
    "headlight.analysis.check": lambda t: check(t.trace_ids(SOURCE, TARGET), t.model),
    "headlight.analysis.head_importance": lambda t: head_importance(t.model, SOURCE, TARGET),
    "headlight.analysis.value_weighted_patterns": lambda t: value_weighted_patterns(t.model, SOURCE, TARGET),
    "headlight.analysis.atlas.atlas": lambda t: atlas(t.checkpoint, pairs, 9, 2),
    "headlight.analysis.atlas.faithfulness": lambda t: faithfulness(t.model, SOURCE, TARGET, words()),
    "headlight.analysis.stream.lens": lambda t: lens(stream(t.model, SOURCE, TARGET)),
    "headlight.analysis.masks.whole_head": lambda t: whole_head(t.model, [SOURCE], [TARGET], t.model.sites()[0], 0),
    "headlight.analysis.order.embedded": lambda t: embedded(t.model, SOURCE),
    "headlight.analysis.order.encoder_states": lambda t: encoder_states(t.model, SOURCE),
    "headlight.analysis.precision.gradients": lambda t: gradients(t.model, collate([(SOURCE, TARGET)])),
    "headlight.analysis.pruning.checkpoint.study": lambda t: study(t.checkpoint, pairs(), draws=1, every=9),
    "headlight.analysis.reference.read_reference": lambda t: read_reference(t.prepared, SOURCE, TARGET[1:]),
    "headlight.analysis.several_heads.several_heads": lambda t: several_heads(
        t.model, SOURCE, TARGET, t.model.sites()[0]
    ),
    "headlight.analysis.stream.stream": lambda t: stream(t.model, SOURCE, TARGET),
    "headlight.analysis.why.ablated_steps": lambda t: why.ablated_steps(t.model, (SOURCE, TARGET), [(OTHER, TARGET)]),
    "headlight.analysis.why.contrast": lambda t: why.contrast(t.model, SOURCE, TARGET, STEP, 5),
    "headlight.analysis.why.decoder_lens": lambda t: why.decoder_lens(t.model, SOURCE, TARGET),
    "headlight.analysis.why.first_difference": lambda t: why.first_difference(t.model, OTHER, TARGET),
    "headlight.analysis.why.gradient_times_input": lambda t: why.gradient_times_input(t.model, SOURCE, TARGET, STEP),
    "headlight.analysis.why.head_contributions": lambda t: why.head_contributions(t.model, SOURCE, TARGET),
    "headlight.analysis.why.integrated_steps": lambda t: why.integrated_steps(t.model, SOURCE, TARGET[:4]),
    "headlight.analysis.why.measured": lambda t: why.measured(t.model, SOURCE, TARGET),
    "headlight.analysis.why.patching": lambda t: why.patching(t.model, CORRUPTION, why.PARTS),
    "headlight.analysis.why.restored_by": lambda t: why.restored_by(
        t.model, CORRUPTION, [[(t.model.sites()[0], 0)]] * 5
    ),
    "transformer.decoding.beam": lambda t: list(beam(t.prepared, batch(), 3)),
    "transformer.decoding.greedy": lambda t: list(greedy(t.prepared, batch())),
    "transformer.decoding.sample": lambda t: list(sample(t.prepared, batch())),
    "headlight.analysis.resampling.Resampler": lambda t: Resampler(t.prepared, batch()).sample(seed=1),
}


def called_with_a_model() -> set[str]:
    """Return the full names of library functions that pages call with a model, and the methods of a translator."""
    called = set()
    for path in [*(ROOT / "ui").rglob("*.py"), *(ROOT / "pages").glob("*.py")]:
        tree = ast.parse(path.read_text())
        names = {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(("transformer", "headlight"))
            for alias in node.names
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            function = ast.unparse(node.func)
            root, dot, rest = function.partition(".")
            arguments = [ast.unparse(argument) for argument in (*node.args, *(word.value for word in node.keywords))]
            if root in names and any(map(MODEL.search, arguments)):
                called.add(names[root] + dot + rest)
            elif root != "models" and function.rpartition(".")[2] in METHODS:
                called.add(function.rpartition(".")[2])
    return called


def test_each_function_that_pages_call_with_a_model_is_tried_here() -> None:
    called = called_with_a_model()
    assert called - set(CASES) - WITHOUT_A_PASS == set(), "try it in CASES, or say that it runs no pass"
    assert {"headlight.analysis.why.measured", "headlight.analysis.atlas.faithfulness", "trace_ids"} <= called
    assert called >= WITHOUT_A_PASS


@pytest.fixture
def small_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each pass compute one sentence, as if every sentence were as long as the model can read."""
    monkeypatch.setattr(passes, "PASS_TOKENS", 1)
    monkeypatch.setattr(passes, "BATCH_BYTES", 1)


@pytest.mark.slow
@pytest.mark.usefixtures("small_passes")
@pytest.mark.parametrize("name", CASES)
def test_there_is_no_more_than_a_pass_between_two_yields(name: str) -> None:
    translator = Translator(small_checkpoint(seed=7))
    layers = [module for module in translator.model.modules() if isinstance(module, EncoderLayer | DecoderLayer)]
    yields, ran, most = 0, 0, 0

    def count(module: nn.Module, given: object, result: object) -> None:
        nonlocal ran, most
        ran += 1
        most = max(most, ran)

    def reset() -> None:
        nonlocal yields, ran
        yields, ran = yields + 1, 0

    for layer in layers:
        layer.register_forward_hook(count)
    with on_yield(reset):
        CASES[name](translator)
    assert yields > 0
    assert most <= len(layers), f"{most} layers ran between two yields; a pass has {len(layers)}"


@pytest.mark.usefixtures("small_passes")
@pytest.mark.parametrize("name", CASES)
def test_what_yielding_raises_ends_it(name: str) -> None:
    class Ended(BaseException):
        pass

    def end() -> None:
        raise Ended

    with pytest.raises(Ended), on_yield(end):
        CASES[name](Translator(small_checkpoint(seed=7)))


def test_callbacks_end_with_their_context() -> None:
    calls = list[str]()
    with on_yield(lambda: calls.append("outer")):
        with on_yield(lambda: calls.append("inner")):
            yield_turn()
        yield_turn()
    yield_turn()
    assert calls == ["outer", "inner", "outer"]
