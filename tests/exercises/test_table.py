"""Our solutions are the library's own computations, and their inputs tell every known mistake from every other."""

import re
from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from headlight.teaching.exercises import EXERCISES, FOLDER, stub
from headlight.teaching.exercises.decoding import beam
from headlight.teaching.exercises.exercise import Exercise, ExerciseState, KnownMistake
from headlight.teaching.exercises.judge import judge
from tests.exercises import right, solutions
from transformer.attention import MultiHeadAttention
from transformer.attention import attend as our_attend
from transformer.config import TrainConfig
from transformer.masks import look_ahead_mask, visible_keys
from transformer.positions import sinusoidal
from transformer.taps import Site
from transformer.training.schedule import learning_rate

FOLDER_OF_TESTS = Path(__file__).parent
SITE = Site("encoder", 0, "self")


def inputs(name: str) -> list[dict[str, Any]]:
    return [case.inputs for case in EXERCISES[name].draw_cases()]


def solve(name: str, case: dict[str, Any]) -> Any:
    return EXERCISES[name].solution(**case)


def test_attention_is_the_librarys() -> None:
    for case in inputs("attend"):
        torch.testing.assert_close(solve("attend", case), our_attend(**case, site=SITE))
    for case in inputs("MultiHeadAttention"):
        same = MultiHeadAttention(case["d_model"], case["n_heads"], SITE)
        same.load_state_dict(case["weights"])
        keys_values = same.keys_values(case["keys"])[0], same.keys_values(case["values"])[1]
        expected = same(case["queries"], keys_values, case["mask"])
        torch.testing.assert_close(solve("MultiHeadAttention", case), expected)


def test_positions_masks_and_norm_are_the_librarys() -> None:
    for case in inputs("positions"):
        torch.testing.assert_close(solve("positions", case), sinusoidal(**case))
    for case in inputs("padding_mask"):
        seen, before = visible_keys(**case), look_ahead_mask(len(case["ids"][0]), len(case["ids"][0]), seen_on())
        assert torch.equal(solve("padding_mask", case), seen)
        assert torch.equal(solve("target_mask", case), seen & before)
    for case in inputs("look_ahead_mask"):
        assert torch.equal(solve("look_ahead_mask", case), look_ahead_mask(case["length"], case["length"], seen_on()))
    for case in inputs("LayerNorm"):
        weights = case["weights"]
        torch.testing.assert_close(
            solve("LayerNorm", case), F.layer_norm(case["x"], (case["d_model"],), weights["gain"], weights["bias"])
        )


def seen_on() -> torch.device:
    return torch.device("cpu")


def test_layers_are_pytorchs() -> None:
    """PyTorch's own layers with the same weights; ours are held to them in tests/test_model.py."""
    for name, built in (("EncoderLayer", nn.TransformerEncoderLayer), ("DecoderLayer", nn.TransformerDecoderLayer)):
        for case in inputs(name):
            parts, d_model = case["parts"], case["x"].size(-1)
            heads = parts.get("attention", parts.get("self_attention")).n_heads
            torch_layer = built(d_model, heads, 16, dropout=0.0, batch_first=True).eval()
            names = {"self_attn": parts.get("attention", parts.get("self_attention"))}
            names |= {"multihead_attn": parts["cross_attention"]} if "cross_attention" in parts else {}
            state = torch_layer.state_dict()
            for attention, part in names.items():
                w = part.weights
                state[f"{attention}.in_proj_weight"] = torch.cat([w[f"{n}.weight"] for n in ("query", "key", "value")])
                state[f"{attention}.in_proj_bias"] = torch.cat([w[f"{n}.bias"] for n in ("query", "key", "value")])
                state[f"{attention}.out_proj.weight"] = w["output.weight"]
                state[f"{attention}.out_proj.bias"] = w["output.bias"]
            state["linear1.weight"], state["linear1.bias"] = parts["feed_forward"].inner.T, torch.zeros(16)
            state["linear2.weight"], state["linear2.bias"] = parts["feed_forward"].outer.T, torch.zeros(d_model)
            for i in range(1, len(names) + 2):
                norm = parts[f"norm_{i}"]
                state[f"norm{i}.weight"], state[f"norm{i}.bias"] = norm.weight, norm.bias
            torch_layer.load_state_dict(state)
            with torch.no_grad():
                if name == "EncoderLayer":
                    padding = None if case["mask"] is None else ~case["mask"][:, 0, 0]
                    expected = torch_layer(case["x"], src_key_padding_mask=padding)
                else:
                    expected = torch_layer(
                        case["x"],
                        case["memory"],
                        tgt_mask=~case["target_mask"][0, 0],
                        memory_key_padding_mask=~case["source_mask"][:, 0, 0],
                    )
            torch.testing.assert_close(solve(name, case), expected)


def test_training_is_the_librarys_and_pytorchs() -> None:
    for case in inputs("noam"):
        peak = (case["d_model"] * case["warmup"]) ** -0.5
        config = TrainConfig(schedule="paper", learning_rate=peak, warmup=case["warmup"])
        assert solve("noam", case) == pytest.approx(learning_rate(case["step"], config))
    for case in inputs("label_smoothing"):
        V, ε = case["logits"].size(1), case["smoothing"]
        # PyTorch spreads over all V, so a little more smoothing leaves the right token the same 1 - ε.
        expected = F.cross_entropy(
            case["logits"], case["targets"], ignore_index=case["pad_id"], label_smoothing=ε * V / (V - 1)
        )
        torch.testing.assert_close(solve("label_smoothing", case), expected)


def test_beams_that_count_finished_hypotheses_differently_agree() -> None:
    for case in inputs("beam"):
        for places in ("taken", "refilled"):
            assert beam(**case, places=places) == beam(**case)


def test_decoding_ends_both_ways() -> None:
    case = inputs("greedy")
    assert [solve("greedy", each)[-1] == each["eos_id"] for each in case] == [True, True, False, False]
    assert all(len(solve("greedy", each)) == each["max_length"] for each in case[2:])


def called_as_ours(exercise: Exercise) -> Exercise:
    return replace(exercise, call=lambda written, case: written(**case))


@pytest.mark.parametrize(
    ("name", "solution"),
    [
        pytest.param(exercise, solution, id=name)
        for name, solution in (vars(solutions) | vars(right)).items()
        if (exercise := name.partition("__")[0]) in EXERCISES
    ],
)
def test_a_right_solution_is_right_in_any_style(name: str, solution: Any) -> None:
    for seed in range(3):
        verdict = judge(EXERCISES[name], solution, FOLDER_OF_TESTS, seed)
        assert verdict.state is ExerciseState.RIGHT, (seed, verdict.messages)


@pytest.mark.parametrize(
    ("exercise", "mistake"),
    [(exercise, mistake) for exercise in EXERCISES.values() for mistake in exercise.mistakes],
    ids=lambda value: value.name if isinstance(value, Exercise) else "-".join(map(str, value.change.values())),
)
def test_a_known_mistake_is_told_by_its_own_sentence(exercise: Exercise, mistake: KnownMistake) -> None:
    verdict = judge(called_as_ours(exercise), partial(exercise.solution, **mistake.change), FOLDER_OF_TESTS)
    assert verdict.state is ExerciseState.WRONG and verdict.messages[0] == mistake.explanation, verdict.messages


def test_two_mistakes_at_once_are_both_told() -> None:
    exercise = EXERCISES["attend"]
    axis, scale = (next(m for m in exercise.mistakes if name in m.change) for name in ("axis", "scale"))
    attempt = partial(exercise.solution, **axis.change, **scale.change)
    assert judge(called_as_ours(exercise), attempt, FOLDER_OF_TESTS).messages[:2] == (
        axis.explanation,
        scale.explanation,
    )


@pytest.mark.parametrize("name", EXERCISES)
def test_a_stub_says_kindly_that_it_is_not_written(name: str) -> None:
    exercise, names = EXERCISES[name], {}
    exec(compile(stub(exercise.file), exercise.file, "exec"), names)
    verdict = judge(exercise, names[name], FOLDER_OF_TESTS)
    assert verdict.state is ExerciseState.NOT_WRITTEN and "Fill in its body" in verdict.messages[0]


def test_every_stub_is_an_exercise_and_stands_in_the_readme_in_order() -> None:
    files = list(dict.fromkeys(exercise.file for exercise in EXERCISES.values()))
    assert sorted([*files, "reverse.py"]) == sorted(path.name for path in FOLDER.glob("*.py"))
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = [f"| {number} | [{file}]({file})" for number, file in enumerate(files, 1)]
    assert [row for row in rows if row not in readme] == []
    assert all(f'"""Exercise {number}:' in stub(file) for number, file in enumerate(files, 1))


@pytest.mark.parametrize("name", EXERCISES)
def test_a_stub_links_to_what_helps_and_ours_is_where_it_says(name: str) -> None:
    text = stub(EXERCISES[name].file)
    links = re.findall(r"https://\S+", text.partition("What helps:")[2])
    assert links or "The page " in text
    for link in links:
        if torch_name := re.fullmatch(r"https://docs\.pytorch\.org/docs/stable/generated/(torch\S+)\.html", link):
            assert callable(attrgetter(torch_name[1].removeprefix("torch."))(torch))
    names, _, path = EXERCISES[name].implementation.partition(" in ")
    if "PyTorch" not in names and path.startswith("transformer/"):
        source = (FOLDER.parents[1] / path).read_text(encoding="utf-8")
        assert all(re.search(rf"^(def|class) {each}\b", source, re.MULTILINE) for each in names.split(" and "))
