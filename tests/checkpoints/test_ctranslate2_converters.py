"""What CTranslate2's own converters make of Hugging Face's models: ours computes what both compute."""

from pathlib import Path
from typing import Any

import pytest
import torch

from headlight.checkpoints import load_translator
from headlight.importers.importing import import_model
from headlight.importers.questions import Answers
from tests.checkpoints.hugging_face import MARIAN_IDS, random_model, save, transformers
from tests.checkpoints.test_ctranslate2 import scores

ctranslate2 = pytest.importorskip("ctranslate2")
HEADS = {"encoder_attention_heads": 4, "decoder_attention_heads": 4}  # its converter takes the encoder's for both
WORDS = [f"w{n}" for n in range(32)]
FAIRSEQ = ["<s>", "<pad>", "</s>", "<unk>", *WORDS[4:30]]
MARIAN = ["</s>", "<unk>", *WORDS[2:31], "<pad>"]
CASES: dict[str, tuple[dict[str, Any], list[str], dict[str, list[str]]]] = {
    "marian": ({**MARIAN_IDS, "scale_embedding": True}, MARIAN, {"after": ["</s>"]}),
    "bart": ({"normalize_before": False}, [*FAIRSEQ, *WORDS[30:]], {"before": ["<s>"], "after": ["</s>"]}),
    "m2m100": ({}, [*FAIRSEQ, "__de__", "__fr__"], {"before": ["__de__"], "after": ["</s>"], "prefix": ["__fr__"]}),
    "mbart": (
        {"normalize_before": True},
        [*FAIRSEQ, "de_DE", "fr_XX"],
        {"after": ["</s>", "de_DE"], "prefix": ["fr_XX"]},
    ),
    "t5": ({"feed_forward_proj": "gated-gelu"}, ["<pad>", "</s>", "<unk>", *WORDS[3:]], {"after": ["</s>"]}),
}
SRC, TGT = [5, 9, 11, 7], [9, 5, 6]


class WordList:
    """The part of a tokenizer that the converter uses."""

    eos_token, unk_token, pad_token = "</s>", "<unk>", "<pad>"

    def __init__(self, tokens: list[str]):
        self.special_tokens_map: dict[str, list[str]] = {}
        self.tokens, self.bos_token, self.unk_token_id = tokens, "<s>", tokens.index("<unk>")

    def get_vocab(self) -> dict[str, int]:
        return {token: id for id, token in enumerate(self.tokens)}

    def convert_ids_to_tokens(self, id: int) -> str:
        return self.tokens[id]


def convert(family: str, folder: Path, quantization: str | None) -> Any:
    """Convert a random model of a family, and return the original."""
    config, tokens, _ = CASES[family]
    if family == "t5":
        torch.manual_seed(0)
        sizes = {"vocab_size": 32, "d_model": 16, "d_kv": 6, "d_ff": 20, "num_layers": 2, "num_heads": 3}
        config = {**sizes, **config, "relative_attention_num_buckets": 8, "decoder_start_token_id": 0}
        model = transformers.T5ForConditionalGeneration(transformers.T5Config(**config)).eval()
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, 0.2, 0.4)
    else:
        model = random_model(family, **HEADS, **config)
    if family == "marian":
        with torch.no_grad():
            model.model.shared.weight[-1] = 0  # as it is in all of them: a translation starts from it
    save(model, folder / "original")
    converter = ctranslate2.converters.TransformersConverter(str(folder / "original"))
    converter.load_tokenizer = lambda *_, **__: WordList(tokens)
    converter.convert(str(folder / "converted"), quantization=quantization)
    return model


@pytest.mark.parametrize(
    ("family", "quantization"), [*((family, None) for family in CASES), ("m2m100", "int8"), ("t5", "bfloat16")]
)
def test_scores_are_those_of_both(tmp_path: Path, family: str, quantization: str | None) -> None:
    original = convert(family, tmp_path, quantization)
    _, tokens, around = CASES[family]
    before, after, prefix = (around.get(name, []) for name in ("before", "after", "prefix"))
    languages = [token.strip("_") for token in tokens[-2:]] if prefix else [None, None]
    chosen = Answers(source_language=languages[0], target_language=languages[1])
    import_model(tmp_path / "converted", tmp_path / "ours", chosen)
    ours = load_translator(tmp_path / "ours").model
    mine = scores(ours, SRC, TGT)

    translator = ctranslate2.Translator(str(tmp_path / "converted"), compute_type="float32", intra_threads=1)
    src, tgt = ([tokens[id] for id in ids] for ids in (SRC, TGT))
    scored = translator.score_batch([[*before, *src, *after]], [[*prefix, *tgt]])[0]
    torch.testing.assert_close(mine, torch.tensor(scored.log_probs), atol=2e-5, rtol=1e-4)

    if quantization is None:
        read = [tokens.index(token) for token in (*before, *src, *after)]
        written = [ours.config.sos_id, *ours.config.target_start, *TGT, ours.config.eos_id]
        with torch.no_grad():
            logits = original(torch.tensor([read]), decoder_input_ids=torch.tensor([written[:-1]])).logits[0]
        if family == "marian":  # the converter leaves out its padding, which is never written
            logits[:, -1] = -torch.inf
        expected = logits.log_softmax(-1).gather(1, torch.tensor(written[1:])[:, None])[:, 0]
        torch.testing.assert_close(mine, expected, atol=2e-5, rtol=1e-4)
