"""The doctor describes what it does not know, and compares it with what it does."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import nn

from headlight.importers.doctor import Diagnosis, Family, diagnose, group_families
from headlight.importers.source import Source, open_source
from transformer.checkpoint.weights import Refused

TUTORIALS = sorted((Path(__file__).parents[1] / "fixtures" / "tutorial-checkpoints").glob("*/*.pt*"))
DUE = {"embed.weight": (7, 4), "layers.0.w": (4, 4), "layers.1.w": (4, 4), "layers.1.b": (4,)}


@dataclass
class Known:
    """A form that has always the same tensors, or cannot say."""

    name: str
    shapes: Mapping[str, tuple[int, ...]] | Exception

    def due(self, source: Source) -> Mapping[str, tuple[int, ...]]:
        if isinstance(self.shapes, Exception):
            raise self.shapes
        return self.shapes


def diagnosis(tmp_path: Path, shapes: Mapping[str, tuple[int, ...]], *forms: Known) -> Diagnosis:
    torch.save({name: torch.zeros(shape) for name, shape in shapes.items()}, tmp_path / "a.pt")
    with open_source(tmp_path / "a.pt") as source:
        return diagnose(source, forms)


def test_missing_unexpected_and_misshapen_are_listed(tmp_path: Path) -> None:
    shapes = {"embed.weight": (9, 4), "layers.0.w": (4, 4), "layers.1.w": (4, 4), "extra": (2,), "layers.7.w": (1,)}
    result = diagnosis(tmp_path, shapes, Known("far", {"embed.weight": (9, 4)}), Known("near", DUE))
    assert result.nearest == "near"
    assert result.missing == ("layers.1.b",)
    assert result.unexpected == ("extra", "layers.7.w")
    assert result.misshapen == (("embed.weight", (9, 4), (7, 4)),)


def test_a_form_that_does_not_know_the_sizes_is_no_candidate(tmp_path: Path) -> None:
    forms = Known("a", KeyError("embed")), Known("b", Refused("no sizes")), Known("c", {"other": (1,)})
    result = diagnosis(tmp_path, DUE, *forms)
    assert result.nearest is None and result.missing == result.unexpected == result.misshapen == ()


def test_families_differ_in_the_layers_number_only() -> None:
    shapes = {"l.0.w": (2,), "l.1.w": (2,), "l.2.w": (3,), "conv1.w": (2,), "conv2.w": (2,), "7": (1,)}
    assert group_families(shapes) == (
        Family("l.*.w", 2, (2,)), Family("l.*.w", 1, (3,)), Family("conv1.w", 1, (2,)), Family("conv2.w", 1, (2,)),
        Family("*", 1, (1,)),
    )  # fmt: skip
    assert sum(family.count for family in group_families(shapes)) == len(shapes)


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.parent.name)
def test_it_sees_what_the_tutorials_are_made_of(path: Path) -> None:
    with open_source(path) as source:
        seen = dict(diagnose(source, ()).guesses)
    assert seen["Looks like"] == "an encoder-decoder"
    assert (seen["Layers"], seen["d_model"], seen["d_ff"]) == ("2 and 2", "32", "64")
    assert seen["Vocabularies"] == "53 and 61"


D, F, V = 8, 32, 50


@pytest.mark.parametrize(
    ("shapes", "what", "layers"),
    [
        (
            {"wte.weight": (V, D), "wpe.weight": (20, D)}
            | {f"h.{n}.attn.c_attn.weight": (D, 3 * D) for n in range(3)}
            | {f"h.{n}.mlp.c_fc.weight": (D, F) for n in range(3)}
            | {f"h.{n}.mlp.c_proj.weight": (F, D) for n in range(3)},
            "a decoder-only model, such as GPT",
            "3",
        ),
        (
            {"model.embed_tokens.weight": (V, D)}
            | {f"model.layers.{n}.self_attn.q_proj.weight": (D, D) for n in range(4)}
            | {f"model.layers.{n}.mlp.gate_proj.weight": (F, D) for n in range(4)},
            "a decoder-only model, such as GPT or Llama",
            "4",
        ),
        (
            {"embeddings.word_embeddings.weight": (V, D)}
            | {f"encoder.layer.{n}.attention.self.query.weight": (D, D) for n in range(2)},
            "an encoder-only model, such as BERT",
            "2",
        ),
        ({"patch_embed.proj.weight": (D, 3, 16, 16), "blocks.0.attn.qkv.weight": (3 * D, D)}, "a vision", "1"),
        ({"encoder.weight_ih_l0": (4 * D, D), "decoder.weight_hh_l0": (4 * D, D)}, "a recurrent network", None),
        ({"encoder.layers.0.linear1.weight": (F, D), "encoder.layers.1.linear1.weight": (F, D)}, "an encoder", "2"),
    ],
)
def test_it_names_what_is_no_encoder_decoder(
    tmp_path: Path, shapes: Mapping[str, tuple[int, ...]], what: str, layers: str | None
) -> None:
    seen = dict(diagnosis(tmp_path, shapes).guesses)
    assert what in seen["Looks like"] and "no cross-attention" in seen["Looks like"]
    assert seen.get("Layers") == layers


def test_it_sees_pytorchs_own_transformer(tmp_path: Path) -> None:
    model = nn.Transformer(16, 2, 2, 3, 40)
    shapes = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    seen = dict(diagnosis(tmp_path, shapes).guesses)
    assert (seen["Looks like"], seen["Layers"], seen["d_ff"]) == ("an encoder-decoder", "2 and 3", "40")


def test_hostile_names_are_described_like_any(tmp_path: Path) -> None:
    names = [
        "." * 400, "enc." * 100 + "1.", "dec" + "_" * 400, "<script>alert(1)</script>", "\u202e.0", "０.1",
        "1" * 400,
    ]  # fmt: skip
    result = diagnosis(tmp_path, dict.fromkeys(names, (2, 2)))
    assert sum(family.count for family in result.families) == len(names)
