"""Examine a model from elsewhere, and convert it to a native folder."""

from __future__ import annotations

import contextlib
import glob
import math
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import torch
from torch import Tensor

from headlight.checkpoints import load
from headlight.formatting import plural
from headlight.hub import Progress
from headlight.importers import doctor
from headlight.importers.doctor import Diagnosis
from headlight.importers.examples import examples, suggest_examples
from headlight.importers.forms import FORMS, ForeignModel
from headlight.importers.forms.berts import BERTS
from headlight.importers.forms.fairseq import settings_of
from headlight.importers.forms.hugging_face_config import hugging_face_config
from headlight.importers.forms.marian_family import MarianFamily
from headlight.importers.forms.of_plugins import forms
from headlight.importers.health import TARGET_EMBEDDING, StreamingHealth
from headlight.importers.questions import Answers, ImportQuestion, flag, open_questions, possible_answers
from headlight.importers.source import Source, open_source
from headlight.machine import release_freed_memory
from transformer.access import require_private
from transformer.checkpoint.native import CARD, CONFIG, WEIGHTS, expected_shapes, save_tokenizers, to_json
from transformer.checkpoint.safetensors_file import header_bytes
from transformer.checkpoint.weights import DTYPES, Refused, TensorInfo
from transformer.config import ModelConfig
from transformer.decoding import greedy
from transformer.files import remove, write_json
from transformer.quoting import quoted, short

_FAIRSEQ_OUTPUT = "decoder.output_projection.weight"
FAMILIES = (
    "Marian, BART, mBART, PLBart, M2M100, NLLB, FSMT, Pegasus, Blenderbot, T5, mT5, umT5, MADLAD, and pairs of BERT or "
    "RoBERTa"
)
KNOWN_MODEL_TYPES = (
    *(form.model_type for form in FORMS if isinstance(form, MarianFamily)),
    *("t5", "mt5", "umt5"),  # and encoder-decoder, where both are of BERT's kind
)
_OTHER_MODELS = (
    (("nllb-moe", "switch_transformers"), "whose layers choose among many feed-forward networks"),
    (("encoder-decoder",), "a pair of which one is not of the kind of BERT or RoBERTa"),
    (
        ("t5gemma", "t5gemma2"),
        "whose attention rotates queries and keys by their positions, shares keys among heads, caps its scores and in "
        "every other layer sees a window, between two norms a block; Headlight's network has none of these",
    ),
    (
        ("prophetnet", "xlm-prophetnet"),
        "whose decoder predicts several words at once, each from a stream of attention of its own, where Headlight's "
        "has one pattern a head",
    ),
    (("led", "longt5"), "whose attention sees a window of the text, where Headlight's sees all of it"),
    (("bigbird_pegasus", "pegasus_x"), "whose attention sees blocks of the text, where Headlight's sees all of it"),
)
_OTHER_MODEL_TYPES = {model_type: why for model_types, why in _OTHER_MODELS for model_type in model_types}
TRIAL_TOKENS = 12  # the most of the sentence that an import is tried on, and of its translation


@dataclass(frozen=True)
class Examination:
    """What a source is, before it is converted."""

    title: str  # "This is the model of “Building a transformer from the ground up”"
    form: str | None  # the form's name; None where no form fits
    size: int  # bytes
    tensors: int
    facts: tuple[tuple[str, str], ...]  # what was read from the file: ("Layers", "6 and 6"), ...
    folded: tuple[tuple[str, str], ...]  # what is folded into the weights, which leaves the output the same
    questions: tuple[ImportQuestion, ...]  # what is still to be answered, given the answers so far
    warnings: tuple[str, ...]
    diagnosis: Diagnosis | None  # where no form fits


class Unready(Refused):
    """Raised where a required question is open or no form fits; `examination` has the details."""

    def __init__(self, examination: Examination):
        what, remedy = _why_not(examination)
        super().__init__(what, remedy=remedy)
        self.examination = examination


def examine(source: Path, answers: Answers | None = None) -> Examination:
    """Read names, shapes and configuration, not the weights. Raises Refused for an unsafe or broken source."""
    with _refuse_on_error(), open_source(Path(source)) as opened:
        return examine_source(opened, answers or Answers())[0]


def import_model(
    source: Path, out: Path, answers: Answers | None = None, progress: Progress | None = None
) -> Examination:
    """Write the native folder `out`, complete or not at all; the warnings include those about the weights.

    Raises Refused, also where a required question is open, and ValueError on a public server.
    """
    require_private()
    out = Path(out)
    require_free(out)
    with _refuse_on_error(), open_source(Path(source)) as opened:
        examination, reading = examine_source(opened, answers or Answers())
        if reading is None:
            raise Unready(examination)
        # A temporary folder for each import: nobody opens half a checkpoint, nor do two imports to one name collide.
        part = out.with_name(f".{out.name}.{os.getpid()}-{threading.get_ident()}.part")
        _clear(out)
        try:
            part.mkdir(parents=True)
            warnings = _write(reading, part, progress)
            release_freed_memory()  # frees the memory of the largest tensors before the model is opened
            _require_usable(part)
            _rename(part, out)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
    return replace(examination, warnings=tuple(dict.fromkeys((*examination.warnings, *warnings))))


def examine_source(source: Source, answers: Answers) -> tuple[Examination, ForeignModel | None]:
    """Return the examination, and the converted model if no required question is open."""
    infos = source.weights.infos
    form = next((form for form in forms() if form.fits(source)), None)
    if form is None:
        refuse_unsupported(source)
        title = "Unrecognised checkpoint format"
        diagnosis = doctor.diagnose(source, forms())
        return Examination(title, None, source.size, len(infos), (), (), (), (), diagnosis), None
    questions = open_questions(form.questions(source), answers)
    reading = None if any(question.required for question in questions) else form.read(source, answers)
    warnings = () if reading is None else (*reading.warnings, *_shared_id_warnings(reading.config))
    facts, folded = (*source.origin, *form.facts(source)), form.folded(source)
    return Examination(
        form.title, form.name, source.size, len(infos), facts, folded, questions, warnings, None
    ), reading


def _shared_id_warnings(config: ModelConfig) -> tuple[str, ...]:
    """Return a warning where padding has the id of the end of a sentence."""
    if config.pad_id != config.eos_id:
        return ()
    hidden = "hidden from attention like padding, " if config.padding_mask == "applied" else ""
    return (
        f"Padding and the end of a sentence are both id {config.pad_id}: the end is {hidden}left out of losses over "
        "several sentences, and cannot be learned in a training from this model. It translates all the same.",
    )


def _clear(out: Path) -> None:
    """Remove the temporary folders of killed imports to this name."""
    for abandoned in out.parent.glob(f".{glob.escape(out.name)}.*-*.part"):
        process = abandoned.name.split(".")[-2].partition("-")[0]
        if process.isdecimal() and not psutil.pid_exists(int(process)):
            with contextlib.suppress(OSError):
                remove(abandoned)


def _rename(part: Path, out: Path) -> None:
    """Rename the folder. Raises Refused if another import took the name meanwhile."""
    require_free(out)
    try:
        part.rename(out)
    except OSError:
        require_free(out)
        raise


def _write(reading: ForeignModel, folder: Path, progress: Progress | None) -> tuple[str, ...]:
    """Convert and write the weights; return what is wrong with them."""
    shapes = expected_shapes(reading.config)
    tokenizers = reading.source_tokenizer, reading.target_tokenizer
    health = StreamingHealth(reading.config, *tokenizers, TARGET_EMBEDDING not in shapes)
    card = reading.card
    if not examples(card):
        card = card | {"examples": suggest_examples(card.get("source"), reading.source_tokenizer)}

    def tensor(name: str) -> Tensor:
        numbers = reading.tensors[name]()
        health.check(name, numbers)
        return numbers

    write_tensors(
        folder / WEIGHTS,
        shapes,
        tensor,
        progress=None if progress is None else lambda share: progress(share, "Writing the weights"),
    )
    save_tokenizers(*tokenizers, folder)
    write_json(folder / CONFIG, to_json(reading.config))
    write_json(folder / CARD, card)
    return health.faults


def _require_usable(folder: Path) -> None:
    """Open the written checkpoint and translate a sentence. Raises Refused where either fails."""
    try:
        checkpoint = load(folder)
        config, texts = checkpoint.model.config, [example.text for example in examples(checkpoint.card)]
        ids = checkpoint.source_tokenizer.encode(texts[0])[:TRIAL_TOKENS] if texts else []
        end = (config.eos_id,) if config.source_end is None else config.source_end
        src = torch.tensor([[*config.source_start, *ids, *end][: config.max_length]])
        steps = greedy(checkpoint.model.eval(), src, max_length=min(TRIAL_TOKENS, config.max_length - 1))
        for _ in steps:
            pass
    except (ValueError, RuntimeError, IndexError) as error:
        raise Refused(
            f"The imported model cannot be used: {error}", remedy="Nothing was kept; report the model's name."
        ) from error


def require_free(out: Path) -> None:
    """Raise Refused if the path exists already."""
    if out.exists():
        raise Refused(f"{short(out)} exists already.", remedy="Choose another name, or delete it first.")


def _why_not(examination: Examination) -> tuple[str, str]:
    diagnosis = examination.diagnosis
    if diagnosis is not None and diagnosis.nearest is not None:
        missing, unexpected, misshapen = map(len, (diagnosis.missing, diagnosis.unexpected, diagnosis.misshapen))
        differences = f"{plural(missing, 'tensor')} missing, {unexpected} unexpected, {misshapen} of another shape"
        return f"{examination.title}.", f"The most similar known format is “{diagnosis.nearest}”: {differences}."
    if diagnosis is not None:
        return f"{examination.title}.", "Compare the listed tensors with the formats that can be imported."
    question = next(question for question in examination.questions if question.required)
    return f"{question.text} {question.why}", f"Give it with {flag(question)}: {possible_answers(question)}."


@contextmanager
def _refuse_on_error() -> Iterator[None]:
    """Turn an impossible configuration value or a full disk into Refused."""
    try:
        yield
    except Refused:
        raise
    except (ValueError, OSError) as error:
        raise Refused(str(error)) from None


def refuse_unsupported(source: Source) -> None:
    """Raise Refused for fairseq's weights without its settings, and for an unsupported type in `config.json`."""
    config = hugging_face_config(source)
    if config is None and _FAIRSEQ_OUTPUT in source.weights.infos and settings_of(source) is None:
        raise Refused(
            "These are the weights of a fairseq model without its settings, which say where its norms stand.",
            remedy="Import the whole file that fairseq-train saved, such as checkpoint_best.pt.",
        )
    if config is None or config.model_type in KNOWN_MODEL_TYPES or BERTS.due(source):
        return
    name = config.model_type[:60]
    if name in _OTHER_MODEL_TYPES:
        why = _OTHER_MODEL_TYPES[name]
    elif config.values.get("is_encoder_decoder") is True:
        why = "an encoder-decoder of an unsupported family"
    else:
        why = "which is unsupported, or not an encoder-decoder"
    raise Refused(f"This is a model of type {quoted(name)}, {why}.", remedy=f"Supported are {FAMILIES}.")


def write_tensors(
    path: Path,
    shapes: Mapping[str, tuple[int, ...]],
    tensor: Callable[[str], Tensor],
    progress: Callable[[float], None] | None = None,
) -> None:
    """Write a safetensors file: matrices of 16 bits as they are, all else in float32.

    `tensor` returns a tensor by name when its turn comes; `progress` is called with the share that is written.
    """
    total, written = sum(math.prod(shape) for shape in shapes.values()), 0
    infos = {name: TensorInfo(shape, "F32") for name, shape in shapes.items()}
    room = -(-(len(header_bytes(infos, {})) + len(infos)) // 8) * 8  # "BF16" is longer than "F32" by a character
    with open(path, "wb") as file:
        file.seek(room)  # the header comes last, when the types are known
        for name, shape in shapes.items():
            numbers = tensor(name).contiguous()
            dtype = next((half for half in ("F16", "BF16") if numbers.dtype == DTYPES[half]), "F32")
            if numbers.dim() < 2 or dtype == "F32":
                numbers, dtype = numbers.float(), "F32"
            assert numbers.shape == shape, f"{name} is {tuple(numbers.shape)}, and must be {shape}"
            file.write(numbers.flatten().view(torch.uint8).numpy().data)
            infos[name] = TensorInfo(shape, dtype)
            written += numbers.numel()
            del numbers  # frees its memory before the next is computed
            if progress is not None:
                progress(written / total)
        file.seek(0)
        file.write(header_bytes(infos, {}, room))
