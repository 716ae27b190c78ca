"""Configurations refuse what cannot be built, in a sentence that names the field, and survive JSON."""

import json
from dataclasses import fields, replace
from typing import Any

import pytest

from transformer.config import ConfigError, ModelConfig, StackConfig, TrainConfig

HUGE = 10**9

NOT_WHOLE: list[Any] = ["6", 6.0, None, [], {}, True, float("nan"), -1, 10**400]
NOT_A_FLAG = ["yes", 0, 1, None, []]
NOT_A_CHOICE = ["", "nonsense", 0, None, [], {}, True]
NOT_A_NUMBER: list[Any] = ["0.1", None, [], {}, True, float("nan"), float("inf"), -0.1]
WRONG_IDS: list[Any] = ["7", 7, [7], (-1,), (100,), ("a",), (True,), tuple(range(9))]

WRONG_MODEL: dict[str, list[Any]] = {
    "source_vocab_size": [*NOT_WHOLE, 0, 1, HUGE],
    "target_vocab_size": [*NOT_WHOLE, 0, 1, HUGE],
    "d_model": [*NOT_WHOLE, 0, HUGE],
    "encoder": ["deep", 6, None, [], [6, 8, 2048], {"n_layers": 6}],
    "decoder": ["deep", 6, None, [], [6, 8, 2048], {"n_layers": 6}],
    "norm": NOT_A_CHOICE,
    "final_norm": NOT_A_FLAG,
    "norm_eps": [*NOT_A_NUMBER, 0, 10**400],
    "activation": NOT_A_CHOICE,
    "positions": NOT_A_CHOICE,
    "max_length": [*NOT_WHOLE, 0, HUGE],
    "qkv_bias": NOT_A_FLAG,
    "attention_output_bias": NOT_A_FLAG,
    "logits_bias": NOT_A_FLAG,
    "tied": NOT_A_CHOICE,
    "dropout": [*NOT_A_NUMBER, 1, 1.0, 10**400],
    "attention_dropout": [*NOT_A_NUMBER, 1, 1.0, 10**400],
    "activation_dropout": [*NOT_A_NUMBER, 1, 1.0, 10**400],
    "dropout_after_sum": NOT_A_FLAG,
    "norm_form": NOT_A_CHOICE,
    "position_base": [*NOT_A_NUMBER, 0, 10**400],
    "initialisation": NOT_A_CHOICE,
    "scale_embeddings": NOT_A_FLAG,
    "residual": NOT_A_FLAG,
    "embedding_norm": NOT_A_FLAG,
    "decoder_embedding_norm": NOT_A_FLAG,
    "output_transform": NOT_A_FLAG,
    "source_start": WRONG_IDS,
    "source_end": WRONG_IDS,
    "target_start": [*WRONG_IDS, None],
    "padding_mask": [True, None, "inverted", "Applied"],
    "look_ahead_mask": [False, None, 0, "sometimes"],
    "pruned_heads": ["all", None, 3, {}, [3], [["encoder", 0, "self"]], [["encoder", 0, "self", "1"]], [[0, 0, 0, 0]]],
    "pad_id": [*NOT_WHOLE, 100],
    "sos_id": [*NOT_WHOLE, 100],
    "eos_id": [*NOT_WHOLE, 100],
}
WRONG_STACK: dict[str, list[Any]] = {
    "n_layers": [*NOT_WHOLE, 0, HUGE],
    "n_heads": [*NOT_WHOLE, 0, HUGE, 7],
    "d_ff": [*NOT_WHOLE, 0, HUGE],
}
WRONG_TRAINING: dict[str, list[Any]] = {
    "steps": [*NOT_WHOLE, 0, HUGE],
    "batch_tokens": [*NOT_WHOLE, 0, HUGE],
    "accumulate": [*NOT_WHOLE, 0, HUGE],
    "learning_rate": [*NOT_A_NUMBER, 0, 10**400],
    "schedule": NOT_A_CHOICE,
    "warmup": [*NOT_WHOLE, HUGE],
    "label_smoothing": [*NOT_A_NUMBER, 1],
    "clip": [*NOT_A_NUMBER, 10**400],
    "scheduled_sampling": [value for value in NOT_A_CHOICE if not isinstance(value, bool)],
    "adam_beta2": [*NOT_A_NUMBER, 1],
    "adam_eps": [*NOT_A_NUMBER, 0, 10**400],
    "padding_in_loss": NOT_A_FLAG,
    "precision": NOT_A_CHOICE,
    "evaluate_every": [*NOT_WHOLE, 0, HUGE],
    "checkpoint_every": [*NOT_WHOLE, 0, HUGE],
    "patience": [*NOT_WHOLE, HUGE],
    "snapshots": [*NOT_WHOLE, HUGE],
    "average": [*NOT_WHOLE, HUGE],
    "seed": [*NOT_WHOLE, 2**63],
}

MODEL = ModelConfig(100, 100)


def cases(table: dict[str, list[Any]]) -> list[Any]:
    return [pytest.param(name, wrong, id=f"{name}={wrong!r:.20}") for name in table for wrong in table[name]]


def assert_names(error: pytest.ExceptionInfo[ConfigError], name: str, value: object) -> None:
    """The message says which field, begins to say what was given, and is a sentence a person can read."""
    message = str(error.value)
    assert error.value.field == name
    assert message == f"{name} {error.value.reason}"
    assert repr(value)[:8] in message
    assert message.endswith(".")
    assert len(message) < 400


@pytest.mark.parametrize(
    ("table", "config"),
    [(WRONG_MODEL, ModelConfig), (WRONG_STACK, StackConfig), (WRONG_TRAINING, TrainConfig)],
)
def test_every_field_has_wrong_values_here(table: dict[str, list[Any]], config: type) -> None:
    assert set(table) == {field.name for field in fields(config)}


@pytest.mark.parametrize(
    ("config", "name", "wrong"),
    [(config, *case.values) for config, table in ((MODEL, WRONG_MODEL), (TrainConfig(), WRONG_TRAINING))
     for case in cases(table)],
)  # fmt: skip
def test_a_wrong_field_is_refused(config: ModelConfig | TrainConfig, name: str, wrong: Any) -> None:
    with pytest.raises(ConfigError) as error:
        replace(config, **{name: wrong})
    assert_names(error, name, wrong)


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
@pytest.mark.parametrize(("name", "wrong"), cases(WRONG_STACK))
def test_a_wrong_field_of_a_stack_is_refused(stack: str, name: str, wrong: Any) -> None:
    values: dict[str, Any] = {stack: replace(StackConfig(), **{name: wrong})}
    with pytest.raises(ConfigError) as error:
        replace(MODEL, **values)
    assert_names(error, f"{stack}.{name}", wrong)
    with pytest.raises(ValueError, match=f"{stack}.{name}"):
        ModelConfig.from_dict({**MODEL.to_dict(), stack: {name: wrong}})


@pytest.mark.parametrize(
    "config",
    [
        MODEL,
        ModelConfig(
            *(50, 60, 48, StackConfig(1, 3, 20), StackConfig(4, 6, 10), "pre", True, 1e-6, "silu", "learned"),
            *(False, True, 30, False, False, False, "output", 0.0, 4, 5, 6, (7, 8), (5, 7), (9,)),
        ),
    ],
)  # fmt: skip
def test_a_model_configuration_survives_json(config: ModelConfig) -> None:
    again = ModelConfig.from_dict(json.loads(json.dumps(config.to_dict())))
    assert again == config
    assert hash(again) == hash(config)


def test_a_training_configuration_survives_json() -> None:
    config = TrainConfig(steps=7, schedule="paper", precision="bfloat16", seed=2**63 - 1)
    assert TrainConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config
    assert config != TrainConfig()


@pytest.mark.parametrize("from_dict", [ModelConfig.from_dict, TrainConfig.from_dict])
def test_an_unknown_field_is_refused_with_the_known_ones(from_dict: Any) -> None:
    with pytest.raises(ValueError, match="'n_haeds'.*; the fields are .*[a-z_]+, "):
        from_dict({"n_haeds": 4})


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_an_unknown_field_of_a_stack_is_refused(stack: str) -> None:
    with pytest.raises(ValueError, match=f"{stack} has an unknown field 'depth'"):
        ModelConfig.from_dict({**MODEL.to_dict(), stack: {"depth": 4}})


@pytest.mark.parametrize("name", ["source_vocab_size", "target_vocab_size"])
def test_a_missing_vocabulary_is_named(name: str) -> None:
    values = MODEL.to_dict()
    del values[name]
    with pytest.raises(ValueError, match=f"lacks {name}"):
        ModelConfig.from_dict(values)


def nested(depth: int) -> list[Any]:
    inner: list[Any] = []
    for _ in range(depth):
        inner = [inner]
    return inner


JUNK: list[Any] = [
    None, True, 0, 1.5, float("nan"), "", "{}", [], [MODEL.to_dict()], b"", object(),
    {1: 2}, {None: None}, {"": {}},
    {"x" * 10**6: 1}, {"source_vocab_size": nested(5_000), "target_vocab_size": 10},
    {"source_vocab_size": 10, "target_vocab_size": 10, "encoder": nested(5_000)},
    {"source_vocab_size": 10, "target_vocab_size": 10, "norm": nested(5_000)},
    {"source_vocab_size": 10, "target_vocab_size": 10, "decoder": {"n_layers": {"n_layers": {}}}},
    {"source_vocab_size": "9" * 10**6, "target_vocab_size": 10},
]  # fmt: skip


@pytest.mark.parametrize("junk", JUNK, ids=range(len(JUNK)))
def test_junk_is_refused_in_a_short_sentence(junk: Any) -> None:
    """A configuration may be a stranger's file: whatever it holds, the answer is one readable sentence."""
    with pytest.raises(ValueError) as error:
        ModelConfig.from_dict(junk)
    assert len(str(error.value)) < 600


@pytest.mark.parametrize("junk", [None, [], "x", 3, {1: 2}, {"steps": nested(5_000)}, {"clip": {"clip": 1}}])
def test_training_junk_is_refused(junk: Any) -> None:
    with pytest.raises(ValueError):
        TrainConfig.from_dict(junk)


def test_heads_that_do_not_divide_come_with_those_that_do() -> None:
    with pytest.raises(ValueError, match=r"encoder\.n_heads is 5, .* 12; choose one of 1, 2, 3, 4, 6, 12,"):
        ModelConfig(10, 10, 12, StackConfig(1, 5, 8))


def test_an_odd_width_needs_other_positions() -> None:
    one_head = StackConfig(1, 1, 8)
    with pytest.raises(ValueError, match="d_model is 33; .*even"):
        ModelConfig(10, 10, 33, one_head, one_head)
    assert ModelConfig(10, 10, 33, one_head, one_head, positions="learned").d_model == 33


def test_one_matrix_for_all_needs_one_vocabulary() -> None:
    with pytest.raises(ValueError, match="tied is 'all', but source_vocab_size is 10 and .* 11"):
        ModelConfig(10, 11, tied="all")


def test_padding_may_be_the_start_and_the_end() -> None:
    assert replace(MODEL, pad_id=7, sos_id=7).sos_id == 7
    assert replace(MODEL, pad_id=7, sos_id=7, eos_id=7).eos_id == 7


def test_a_file_without_masks_is_of_a_model_that_applies_them() -> None:
    older = {name: value for name, value in MODEL.to_dict().items() if not name.endswith("_mask")}
    assert ModelConfig.from_dict(older) == MODEL
    assert (MODEL.padding_mask, MODEL.look_ahead_mask) == ("applied", "applied")


@pytest.mark.parametrize("name", ["pad_id", "eos_id"])
def test_padding_and_end_are_in_the_source_vocabulary_too(name: str) -> None:
    """Both ids stand in source sentences, where an id beyond the embedding would fail at the first batch."""
    values: dict[str, Any] = {"source_vocab_size": 40, "target_vocab_size": 100, name: 50}
    with pytest.raises(ValueError, match=f"{name} is 50"):
        ModelConfig(**values)


def test_a_table_of_positions_that_no_file_backs_stays_small() -> None:
    """The sinusoidal table is computed, so a file of a few bytes could ask for one of any size."""
    with pytest.raises(ValueError, match="max_length is 1000000"):
        ModelConfig(10, 10, d_model=512, max_length=1_000_000)
    assert ModelConfig(10, 10, d_model=512, max_length=10_000).max_length == 10_000
    assert ModelConfig(10, 10, d_model=512, max_length=1_000_000, positions="none").positions == "none"
