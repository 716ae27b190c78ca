"""How far imported and live models are from their own code: `python -m tools.models_table` writes docs/models.md.

Small models of each family are made with random weights and drawn configurations, imported (and opened live), and run
on the same sentences as the original code. An entry of FAMILIES has a function that makes one such model. With names of
families as arguments, only their rows, and those that the document lacks, are made again.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

import headlight
from headlight.checkpoints import load_translator
from headlight.importers.importing import import_model
from headlight.importers.questions import Answers
from tests.checkpoints import ctranslate2_writer, tutorials
from tests.checkpoints import test_opennmt as opennmt
from tests.checkpoints import test_random_configurations as drawn
from tests.checkpoints import test_torch_transformer as around_torch
from tests.checkpoints.hugging_face import random_model, save, transformers
from tests.watching.live import word_tokenizer
from transformer.config import ModelConfig
from transformer.files import write_text
from transformer.inference.prepared import Prepared
from transformer.taps import Recorder

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "models.md"
FIXTURES = Path(__file__).resolve().parents[1] / "tests" / "fixtures"
N_CONFIGURATIONS = 12  # that are drawn of each family
NOT_COMPARED = {"Headlight", "Exercises"}  # forms of files that Headlight's own code or a student's has written
_ATTENTIONS = {
    ("encoder", "self"): "encoder_attentions",
    ("decoder", "self"): "decoder_attentions",
    ("decoder", "cross"): "cross_attentions",
}


class Outputs(NamedTuple):
    """What the original code computes for a batch of sources and targets."""

    logits: Tensor  # [B, T, V]; log-probabilities where the original code returns those
    attention: Mapping[tuple[str, str], Sequence[Tensor]] = {}  # by (stack, kind) a [B, H, Q, K] per layer


class Original(NamedTuple):
    """A model as its own code saved it, and that code."""

    path: Path
    run: Callable[[Tensor, Tensor], Outputs]  # on ids of sources [B, S] and targets [B, T]
    answers: Answers = Answers()
    live: Any = None  # a model of `transformers`, to be opened live too
    batch: tuple[Tensor, Tensor] | None = None  # the ids that were recorded, where the code is not run again
    log_probs: bool = False  # whether it returns log-probabilities


@dataclass(frozen=True)
class TestedFamily:
    name: str
    form: str  # the name of its form in FORMS
    compared_with: str
    make: Callable[[Path, random.Random], Original]  # writes a model into a folder
    configurations: int = N_CONFIGURATIONS


class TableRow(NamedTuple):
    family: str
    opened_from: str
    compared_with: str
    logits: float  # the largest difference
    attention: float | None  # likewise; None where the original code gives no attention


def row(family: TestedFamily, configurations: int | None = None) -> TableRow:
    """Make a family's models, open them, and return the largest differences."""
    logits, attention, sources = 0.0, None, dict[str, None]()
    for seed in range(configurations or family.configurations):
        chance = random.Random(f"{family.name} {seed}")
        torch.manual_seed(seed)
        with TemporaryDirectory() as folder:
            original = family.make(Path(folder), chance)
            import_model(original.path, Path(folder) / "imported", original.answers)
            models = {_kind(original.path): load_translator(Path(folder) / "imported").prepared}
            if original.live is not None:
                models["live"] = headlight.from_hugging_face(original.live, word_tokenizer()).prepared
            for source, model in models.items():
                sources[source] = None
                of_logits, of_attention = differences(model, original)
                logits = max(logits, of_logits)
                attention = attention if of_attention is None else max(attention or 0.0, of_attention)
    return TableRow(family.name, ", ".join(sources), family.compared_with, logits, attention)


def _kind(path: Path) -> str:
    return "folder" if path.is_dir() else f"file ({path.suffix})"


@torch.no_grad()
def differences(model: Prepared, original: Original) -> tuple[float, float | None]:
    """Return the largest difference of logits and of attention weights over a padded batch."""
    config = model.config
    src, tgt = _batch(config) if original.batch is None else original.batch
    theirs, recorder = original.run(src, tgt), Recorder()
    logits = model(src, tgt, recorder)
    if original.log_probs:
        logits = logits.log_softmax(-1)
    apart = float((logits - theirs.logits).abs().max())
    if not theirs.attention:
        return apart, None
    patterns = {site: pattern for site, (pattern,) in recorder.items()}
    assert len(patterns) == sum(map(len, theirs.attention.values()))
    read = (src != config.pad_id)[:, None, :, None]  # the row of a padded query is nobody's
    off = 0.0
    for site, pattern in patterns.items():
        due = theirs.attention[site.stack, site.kind][site.layer]
        rows = read if site.stack == "encoder" else torch.tensor(True)
        off = max(off, float(((pattern - due) * rows).abs().max()))
    return apart, off


def _batch(config: ModelConfig) -> tuple[Tensor, Tensor]:
    """Return two sources of different lengths [2, 8] and their targets [2, 7]."""
    pad, eos, sos = config.pad_id, config.eos_id, config.sos_id
    words = [id for id in range(min(config.source_vocab_size, config.target_vocab_size)) if id not in (pad, eos, sos)]
    src = torch.tensor([[*words[:7], eos], [*words[9:12], eos, pad, pad, pad, pad]])
    return src, torch.tensor([[sos, *words[3:9]], [sos, *words[14:20]]])


def hugging_face(model: Any, folder: Path) -> Original:
    """Save a model as `transformers` does, and run it by its own eager code, which returns the attention."""
    pad = getattr(model.config, "decoder", model.config).pad_token_id
    save(model, folder / "theirs")

    def run(src: Tensor, tgt: Tensor) -> Outputs:
        model.set_attn_implementation("eager")
        attention_mask, options = (src != pad).long(), {"output_attentions": True, "use_cache": False}
        output = model(input_ids=src, attention_mask=attention_mask, decoder_input_ids=tgt, **options)
        return Outputs(output.logits, {site: getattr(output, name) for site, name in _ATTENTIONS.items()})

    return Original(folder / "theirs", run, live=model)


def _like_marian(name: str, form: str, kind: str) -> TestedFamily:
    def make(folder: Path, chance: random.Random) -> Original:
        return hugging_face(random_model(kind, **drawn.draw_configuration(kind, chance)), folder)

    return TestedFamily(name, f"Hugging Face {form}", "transformers", make)


def _t5(folder: Path, chance: random.Random) -> Original:
    kind = chance.choice(["T5", "MT5", "UMT5"])
    config = getattr(transformers, f"{kind}Config")(**drawn.draw_t5(chance))
    model = getattr(transformers, f"{kind}ForConditionalGeneration")(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3)
    return hugging_face(model, folder)


def _two_berts(folder: Path, chance: random.Random) -> Original:
    return hugging_face(drawn.two_berts(chance), folder)


def _around_torch(folder: Path, chance: random.Random) -> Original:
    drawing = around_torch.draw(chance)
    original = around_torch.Original(drawing)
    torch.save(original.state(), folder / "model.pt")
    return Original(
        folder / "model.pt", lambda src, tgt: Outputs(original.logits(src, tgt)), around_torch.answers(drawing)
    )


def _opennmt(folder: Path, chance: random.Random) -> Original:
    options = opennmt.draw(chance)
    weights = opennmt.weights(options)
    pad = opennmt.TOKENS.index("<blank>")

    def run(src: Tensor, tgt: Tensor) -> Outputs:
        pairs = zip(src, tgt, strict=True)
        return Outputs(
            torch.stack([opennmt.expected(options, weights, s[s != pad].tolist(), t.tolist()) for s, t in pairs])
        )

    return Original(opennmt.saved(folder / "model.pt", options, weights), run, log_probs=True)


def _ctranslate2(folder: Path, chance: random.Random) -> Original:
    model = ctranslate2_writer.draw_model(chance, t5=chance.random() < 0.3)
    file, eps = ctranslate2_writer.of_model(model), model.config.norm_eps
    path = ctranslate2_writer.folder_of(folder / "theirs", file, layer_norm_epsilon=eps)
    return Original(path, lambda src, tgt: Outputs(model(src, tgt)))


def _tutorial(name: str) -> TestedFamily:
    def make(folder: Path, chance: random.Random) -> Original:
        due = {key: torch.from_numpy(values) for key, values in tutorials.expected(name).items()}
        recorded = Outputs(due["log_probs"])
        batch, answers = (due["src"], due["tgt"]), tutorials.answers(name, masks="applied")
        return Original(tutorials.file(name), lambda src, tgt: recorded, answers, batch=batch, log_probs=True)

    return TestedFamily(tutorials.TITLES[name], tutorials.TITLES[name], "its code, run once", make, configurations=1)


def _recorded(name: str, *fixtures: str) -> TestedFamily:
    def make(folder: Path, chance: random.Random) -> Original:
        path = FIXTURES / chance.choice(fixtures)
        with np.load((path if path.is_dir() else path.parent) / "expected.npz") as expected:
            src, tgt, logits = (torch.tensor(expected[key]) for key in ("src", "tgt", "logits"))
        return Original(path, lambda *batch: Outputs(logits), batch=(src, tgt))

    return TestedFamily(name, name, "its code, run once", make, configurations=2 * len(fixtures))


FAMILIES: tuple[TestedFamily, ...] = (
    _like_marian("Marian (opus-mt)", "Marian", "marian"),
    _like_marian("BART", "BART", "bart"),
    _like_marian("mBART, mBART-50", "mBART", "mbart"),
    _like_marian("PLBart", "PLBart", "plbart"),
    _like_marian("M2M100, NLLB", "M2M100 or NLLB", "m2m100"),
    _like_marian("Pegasus", "Pegasus", "pegasus"),
    _like_marian("Blenderbot", "Blenderbot", "blenderbot"),
    _like_marian("Blenderbot-small", "Blenderbot-small", "blenderbot-small"),
    _like_marian("FSMT (WMT19)", "FSMT", "fsmt"),
    TestedFamily("T5, T5 1.1, Flan-T5, mT5, umT5, ByT5", "Hugging Face T5", "transformers", _t5),
    TestedFamily("BERT, RoBERTa, BERT generation (bert2bert)", "Hugging Face BERT", "transformers", _two_berts),
    TestedFamily("torch.nn.Transformer, with embeddings", "torch.nn.Transformer", "torch", _around_torch),
    TestedFamily("OpenNMT-py 3", "OpenNMT-py", "its equations, written again", _opennmt),
    _recorded("fairseq", "fairseq/checkpoint_best.pt"),
    _recorded("JoeyNMT", "joeynmt-pre", "joeynmt-post"),
    TestedFamily("CTranslate2, Argos Translate", "CTranslate2", "the model that was written so", _ctranslate2),
    *map(_tutorial, tutorials.TITLES),
)

_HEAD = f"""# The models that open

Every family that `headlight import` reads, held to the code that it comes from. Small models with random weights and
drawn configurations ({N_CONFIGURATIONS} of each family, fewer where its code was run once) are saved by that code,
imported and run on the same padded batch; "live" is [the model itself](notebook.md#a-live-model-as-a-translator),
without a file. The last two columns have the largest differences between float32 numbers: of logits (of
log-probabilities for the tutorials), and of attention weights, which lie between 0 and 1.

| family | opened from | compared with | logits | attention |
|---|---|---|---|---|
"""

_TAIL = """
## What does not open, and why

A model that Headlight's network cannot compute is refused by name; a picture of something else would be worse than
none.

- **T5Gemma** differs in each part of a layer. Queries and keys are rotated by their positions; several heads share
  keys and values; scores are capped (c · tanh(s / c)) before the softmax, and so are the logits; a block has a norm
  before it and one after it, inside the residual connection; every other layer attends to a window. The attention
  itself would need some hundred lines. But these also change what is computed from it: the patterns of long traces
  that are computed again from queries and keys, the absorbed projections of a search, the norms that ALTI and the
  parts of a logit hold still (a capped logit is no sum of parts), the page's engine and the Anatomy page.
- **ProphetNet** predicts the next word from a stream of its own beside the main one: a head has two patterns over
  twice as many keys, and heads, patches and contributions here have one pattern a head. `headlight.watch` shows what
  such a model gives.
- **LED, LongT5, BigBird-Pegasus, Pegasus-X** attend to windows or blocks of a long text, **NLLB-MoE** and **Switch
  Transformers** choose among many feed-forward networks.
- Of Hugging Face's EncoderDecoderModel, pairs of which one is not of the kind of BERT or RoBERTa, such as GPT-2.
- Of fairseq, adaptive softmax and embeddings, experts, norms inside attention, and other architectures than
  transformers and BART.
"""


def line(measured: TableRow) -> str:
    *texts, logits, attention = measured
    return f"| {' | '.join(texts)} | {logits:.0e} | {'' if attention is None else f'{attention:.0e}'} |"


def main(names: Sequence[str]) -> None:
    old = DOCUMENT.read_text(encoding="utf-8").splitlines() if DOCUMENT.exists() else []
    lines = {text.split(" | ")[0].removeprefix("| "): text for text in old}
    for family in FAMILIES:
        if not names or family.name in names or family.name not in lines:
            lines[family.name] = line(row(family))
            print(lines[family.name], flush=True)
    versions = f"Made with torch {torch.__version__} and transformers {transformers.__version__} on a processor."
    rows = "\n".join(lines[family.name] for family in FAMILIES)
    write_text(DOCUMENT, f"{_HEAD}{rows}\n\n{versions} `python -m tools.models_table` makes this page again.\n{_TAIL}")


if __name__ == "__main__":
    main(sys.argv[1:])
