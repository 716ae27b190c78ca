"""torch.nn.Transformer with embeddings around it: the imported model computes what PyTorch does."""

import math
import random
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headlight.checkpoints import load_translator
from headlight.importers.importing import Unready, examine, import_model
from headlight.importers.questions import Answers
from transformer.checkpoint.weights import Refused

pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor", "ignore:The PyTorch API of nested tensors")

SOURCE_VOCABULARY, TARGET_VOCABULARY, PAD, START, END = 23, 29, 5, 6, 7
# Names of embeddings, tables of positions and output, as tutorials give them; one name is for both sides.
NAMES = [
    ("src_tok_emb.embedding", "tgt_tok_emb.embedding", "positional_encoding.pos_embedding", None, "generator"),
    ("src_word_embedding", "trg_word_embedding", "src_position_embedding", "trg_position_embedding", "fc_out"),
    ("encoder_embedding", "decoder_embedding", "positional_encoding.pe", None, "fc"),
    ("src_embed.lut", "tgt_embed.lut", "src_embed.pe", "tgt_embed.pe", "linear"),
    ("embedding", None, None, None, "lm_head"),
    ("input_embedding", "output_embedding", "pos_encoder.pe", None, "projection"),
]


def draw(chance: random.Random) -> dict[str, Any]:
    return {
        "names": chance.choice(NAMES),
        "prefix": chance.choice(["transformer.", "", "model.transformer."]),
        "d_model": chance.choice([8, 12, 16]),
        "nhead": chance.choice([1, 2, 4]),
        "num_encoder_layers": chance.choice([1, 2]),
        "num_decoder_layers": chance.choice([1, 2]),
        "dim_feedforward": chance.choice([10, 24]),
        "activation": chance.choice(["relu", "gelu"]),
        "norm_first": chance.random() < 0.5,
        "batch_first": chance.random() < 0.5,
        "bias": chance.random() < 0.6,
        "final_norm": chance.random() < 0.7,
        "output_bias": chance.random() < 0.5,
        "scaled": chance.random() < 0.5,
        "table": chance.choice(["rows", "first", "middle"]),
    }


class Original:
    """PyTorch's own model of a drawing: its state dict, and its logits."""

    def __init__(self, drawn: dict[str, Any]):
        self.drawn, d = drawn, drawn["d_model"]
        keys = ("nhead", "num_encoder_layers", "num_decoder_layers", "dim_feedforward", "activation")
        settings = {key: drawn[key] for key in (*keys, "norm_first", "batch_first", "bias")}
        self.core = nn.Transformer(d, **settings).eval()
        if not drawn["final_norm"]:
            self.core.encoder.norm = self.core.decoder.norm = None
        with torch.no_grad():
            for parameter in self.core.parameters():
                parameter.add_(torch.randn_like(parameter) * 0.3)
        source, target, table, second, output = drawn["names"]
        sizes = (TARGET_VOCABULARY if target is None else SOURCE_VOCABULARY, TARGET_VOCABULARY)
        embeddings = [torch.randn(size, d) for size in sizes]
        self.embeddings = embeddings if target else [embeddings[1], embeddings[1]]
        self.tables = [torch.randn(20, d), torch.randn(18, d)] if second else [torch.randn(20, d)] * 2
        if table is None:
            self.tables = [sines(20, d)] * 2
        self.output = torch.randn(TARGET_VOCABULARY, d)
        self.output_bias = torch.randn(TARGET_VOCABULARY) if drawn["output_bias"] else None

    def state(self) -> dict[str, Tensor]:
        source, target, table, second, output = self.drawn["names"]
        state = {f"{self.drawn['prefix']}{name}": tensor for name, tensor in self.core.state_dict().items()}
        state |= {f"{source}.weight": self.embeddings[0], f"{output}.weight": self.output}
        state |= {f"{target}.weight": self.embeddings[1]} if target else {}
        for name, rows in zip((table, second), self.tables, strict=True):
            if name:
                shaped = {"rows": rows, "first": rows[None], "middle": rows[:, None]}[self.drawn["table"]]
                state[f"{name}.weight" if second and "position" in name else name] = shaped
        return state | ({f"{output}.bias": self.output_bias} if self.output_bias is not None else {})

    def logits(self, src: Tensor, tgt: Tensor) -> Tensor:
        scale = math.sqrt(self.drawn["d_model"]) if self.drawn["scaled"] else 1.0
        inputs = [
            embedding[ids] * scale + table[: ids.size(1)]
            for ids, embedding, table in zip((src, tgt), self.embeddings, self.tables, strict=True)
        ]
        if not self.drawn["batch_first"]:
            inputs = [x.transpose(0, 1) for x in inputs]
        later = torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).triu(1)
        hidden = self.core(
            *inputs,
            tgt_mask=later,
            src_key_padding_mask=src == PAD,
            tgt_key_padding_mask=tgt == PAD,
            memory_key_padding_mask=src == PAD,
        )
        hidden = hidden if self.drawn["batch_first"] else hidden.transpose(0, 1)
        return nn.functional.linear(hidden, self.output, self.output_bias)


def sines(length: int, d_model: int) -> Tensor:
    return torch.tensor(
        [
            [(math.sin, math.cos)[i % 2](position / 10_000 ** (i // 2 * 2 / d_model)) for i in range(d_model)]
            for position in range(length)
        ]
    )


def answers(drawn: dict[str, Any], **changes: Any) -> Answers:
    known = {
        "heads": drawn["nhead"],
        "norm": "before" if drawn["norm_first"] else "after",
        "activation": drawn["activation"],
        "embedding_scale": "yes" if drawn["scaled"] else "no",
        "positions": None if drawn["names"][2] else "sinusoidal",
        "pad_id": PAD,
        "sos_id": START,
        "eos_id": END,
    }
    return Answers(**{**known, **changes})


@pytest.mark.parametrize("seed", range(10))
def test_logits_are_those_of_pytorch(tmp_path: Path, seed: int) -> None:
    drawn = draw(random.Random(f"nn.Transformer {seed}"))
    torch.manual_seed(seed)
    original = Original(drawn)
    torch.save(original.state(), tmp_path / "model.pt")
    import_model(tmp_path / "model.pt", tmp_path / "ours", answers(drawn))
    src = torch.tensor([[START, 9, 10, 3, 1, END], [START, 8, END, PAD, PAD, PAD]])
    tgt = torch.tensor([[START, 9, 12, 4, 0], [START, 8, 11, 2, 13]])
    ours = load_translator(tmp_path / "ours").model
    with torch.no_grad():
        torch.testing.assert_close(ours(src, tgt), original.logits(src, tgt), atol=2e-4, rtol=1e-4)


def drawing(**changes: Any) -> dict[str, Any]:
    return {**draw(random.Random(0)), "names": NAMES[0], "prefix": "transformer.", **changes}


def test_what_the_file_leaves_open_is_asked(tmp_path: Path) -> None:
    drawn = drawing()
    torch.save(Original(drawn).state(), tmp_path / "model.pt")
    asked = {question.field: question.usual for question in examine(tmp_path / "model.pt").questions}
    assert asked.items() >= {"norm": "after", "activation": "relu", "embedding_scale": "yes"}.items()
    assert asked.items() >= {"pad_id": 1, "sos_id": 2, "eos_id": 3, "source_framing": "start and end"}.items()
    assert "positions" not in asked  # the file has a table
    for field in ("norm", "activation", "embedding_scale", "heads"):
        with pytest.raises(Unready):
            import_model(tmp_path / "model.pt", tmp_path / "ours", answers(drawn, **{field: None}))
    with pytest.raises(Refused, match="cannot be tanh"):
        import_model(tmp_path / "model.pt", tmp_path / "ours", answers(drawn, activation="tanh"))


@pytest.mark.parametrize(("framing", "start", "end"), [(None, (START,), None), ("end", (), None), ("neither", (), ())])
def test_a_source_is_framed_as_answered(
    tmp_path: Path, framing: str | None, start: tuple[int, ...], end: tuple[int, ...] | None
) -> None:
    drawn = drawing(num_encoder_layers=1, num_decoder_layers=1)
    torch.save(Original(drawn).state(), tmp_path / "model.pt")
    import_model(tmp_path / "model.pt", tmp_path / "ours", answers(drawn, source_framing=framing))
    config = load_translator(tmp_path / "ours").model.config
    assert (config.source_start, config.source_end) == (start, end)


def test_a_bare_transformer_is_refused_with_what_it_lacks(tmp_path: Path) -> None:
    torch.save(nn.Transformer(8, 2, 1, 1, 8).state_dict(), tmp_path / "bare.pt")
    with pytest.raises(Refused, match="bare torch.nn.Transformer: layers without the embeddings.*Save the state dict"):
        examine(tmp_path / "bare.pt")


def test_one_final_norm_of_two_is_refused(tmp_path: Path) -> None:
    state = Original(drawing(final_norm=True)).state()
    kept = {name: tensor for name, tensor in state.items() if not name.startswith("transformer.decoder.norm.")}
    torch.save(kept, tmp_path / "model.pt")
    with pytest.raises(Refused, match="One stack of this torch.nn.Transformer has a final norm"):
        examine(tmp_path / "model.pt")


def test_a_name_that_says_no_side_is_diagnosed(tmp_path: Path) -> None:
    state = Original(drawing()).state()
    state["first_emb.weight"] = state.pop("src_tok_emb.embedding.weight")
    torch.save(state, tmp_path / "model.pt")
    diagnosis = examine(tmp_path / "model.pt").diagnosis
    assert diagnosis is not None and diagnosis.nearest == "torch.nn.Transformer"
    assert "first_emb.weight" in diagnosis.unexpected
