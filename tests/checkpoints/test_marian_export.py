"""Our models as Marian's: `transformers` opens the folder and computes the same logits."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from headlight.checkpoints import load_translator
from headlight.importers.importing import import_model
from headlight.importers.marian_export import export_marian, reason_against_marian
from tests.checkpoints.hugging_face import MARIAN_IDS, random_model, save, transformers
from tests.small import TEXTS, small_checkpoint
from transformer import StackConfig, Translator
from transformer.checkpoint import Checkpoint
from transformer.checkpoint.weights import Refused
from transformer.decoding import finish, greedy
from transformer.tokenizers import Tokenizer

PAD, SOS, EOS = 0, 2, 3
SRC = torch.tensor([[5, 9, 11, 7, 12, EOS], [6, 8, EOS, PAD, PAD, PAD]])
TGT = torch.tensor([[SOS, 9, 5, 6], [SOS, 7, EOS, PAD]])
LIKE_MARIAN: dict[str, Any] = {"norm": "post", "final_norm": False}


def checkpoint(**changes: Any) -> Checkpoint:
    made = small_checkpoint(**{**LIKE_MARIAN, **changes})
    torch.manual_seed(1)
    with torch.no_grad():  # norms and biases too, so that their order matters
        for parameter in made.model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return made


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"tied": "all", "activation": "gelu"},
        {"tied": "output", "activation": "silu", "logits_bias": False},
        {"qkv_bias": False, "attention_output_bias": False, "scale_embeddings": False},
        {"encoder": StackConfig(1, 8, 20), "decoder": StackConfig(2, 4, 16), "target_start": (7,)},
    ],
    ids=lambda changes: ",".join(changes) or "plain",
)
def test_transformers_opens_it_with_the_same_logits(tmp_path: Path, changes: dict[str, Any]) -> None:
    ours = checkpoint(**changes)
    export_marian(ours, tmp_path / "marian")
    theirs, loading = transformers.MarianMTModel.from_pretrained(tmp_path / "marian", output_loading_info=True)
    assert not loading["missing_keys"] and not loading["unexpected_keys"] and not loading["mismatched_keys"]
    theirs.eval()
    seen = (SRC != PAD).long()
    with torch.no_grad():
        logits = theirs(input_ids=SRC, attention_mask=seen, decoder_input_ids=TGT).logits
        real = TGT != PAD
        torch.testing.assert_close(logits[real], ours.model(SRC, TGT)[real], atol=1e-4, rtol=1e-5)
    written = theirs.generate(input_ids=SRC, attention_mask=seen, num_beams=1, do_sample=False, max_length=12)
    for row, hypotheses in zip(written[:, 1:].tolist(), finish(greedy(ours.model, SRC, max_length=11)), strict=True):
        assert row[: len(hypotheses[0].ids)] == list(hypotheses[0].ids)


def test_the_tokenizer_goes_with_it_and_both_come_back(tmp_path: Path) -> None:
    ours = checkpoint()
    (note,) = export_marian(ours, tmp_path / "marian")
    assert "SentencePiece" in note
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "marian")
    translator = Translator(ours)
    for text in TEXTS:
        assert tokenizer(text)["input_ids"] == translator.encode(text)
        assert tokenizer.decode(tokenizer(text)["input_ids"], skip_special_tokens=True) == text
    import_model(tmp_path / "marian", tmp_path / "back")
    back = load_translator(tmp_path / "back")
    assert back.encode(TEXTS[0]) == translator.encode(TEXTS[0])
    with torch.no_grad():
        torch.testing.assert_close(back.model(SRC, TGT), ours.model(SRC, TGT), atol=1e-4, rtol=1e-5)


def test_two_tokenizers_are_both_written(tmp_path: Path) -> None:
    ours = checkpoint()
    ours.target_tokenizer = Tokenizer(ours.source_tokenizer.inner)
    notes = export_marian(ours, tmp_path / "marian")
    assert "target_tokenizer.json" in notes[1]
    import_model(tmp_path / "marian", tmp_path / "back")
    assert (tmp_path / "back" / "target_tokenizer.json").exists()


def test_what_came_from_marian_goes_back_as_it_was(tmp_path: Path) -> None:
    theirs = random_model("marian", **MARIAN_IDS, activation_function="swish", scale_embedding=True)
    import_model(save(theirs, tmp_path / "theirs"), tmp_path / "ours")
    export_marian(load_translator(tmp_path / "ours").checkpoint, tmp_path / "again")
    again = transformers.MarianMTModel.from_pretrained(tmp_path / "again")
    for name, tensor in theirs.state_dict().items():
        torch.testing.assert_close(again.state_dict()[name], tensor, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"norm": "pre"}, "norms stand before"),
        ({"final_norm": True}, "norms stand before"),
        ({"embedding_norm": True}, "normalises the embeddings"),
        ({"norm_eps": 1e-6}, "1e-06"),
        ({"positions": "learned"}, "'learned'"),
        ({"positions": "none"}, "'none'"),
        ({"positions": "stored"}, "not Marian's sines"),
    ],
)
def test_other_architectures_are_refused_with_the_reason(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    made = small_checkpoint(**{**LIKE_MARIAN, **changes})
    with pytest.raises(Refused, match=f"cannot be written as a Marian model: .*{message}"):
        export_marian(made, tmp_path / "marian")
    assert list(tmp_path.iterdir()) == []
    reason = reason_against_marian(made.model.config)
    assert reason is not None if changes != {"positions": "stored"} else reason is None


def test_a_folder_that_is_there_stays(tmp_path: Path) -> None:
    made = checkpoint()
    assert reason_against_marian(replace(made.model.config)) is None
    with pytest.raises(Refused, match="exists already"):
        export_marian(made, tmp_path)
