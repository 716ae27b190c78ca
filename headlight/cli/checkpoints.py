"""The commands `import` and `export --as`: models from elsewhere, and other formats."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tqdm import tqdm

from headlight import folders
from headlight.checkpoints import load
from headlight.corpora.corpora import SPLIT_NAMES
from headlight.importers.bundle import safetensors_bundle, zip_folder
from headlight.importers.doctor import Diagnosis
from headlight.importers.importing import Examination, Progress, Unready, import_model, require_free
from headlight.importers.marian_export import export_marian
from headlight.importers.questions import (
    ACTIVATIONS,
    EMBEDDING_SCALES,
    NORM_PLACES,
    POSITIONS,
    SOURCE_FRAMINGS,
    Answers,
    ImportQuestion,
    flag,
    possible_answers,
)
from transformer.checkpoint.native import FLOATS
from transformer.quoting import short

# A name with one of these endings is a file, not the ID of a model on the hub.
IMPORT_SUFFIXES = {
    ".pt", ".pth", ".ckpt", ".bin", ".safetensors", ".zip", ".argosmodel", ".tar", ".tgz", ".gz", ".bz2"
}  # fmt: skip
EXPORT_FORMATS = ("zip", "safetensors", "marian")
_JOINERS = "\u200c\u200d"  # within words of Hindi, Persian and other languages
CHECKPOINT_HELP = "a model that ships, such as en-fr, a checkpoint folder, or hub:OWNER/NAME on the Hugging Face hub"

Verb = Callable[[Callable[[argparse.Namespace], int | None], str], argparse.ArgumentParser]


def takes_checkpoint(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("checkpoint", type=folders.named, help=CHECKPOINT_HELP)


def takes_device(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--device", default="cpu", help="where the model runs: cpu, cuda, cuda:1, or auto for a free GPU")
    text = "the type in which its matrices are held; float32 if absent, and in a large model that of its file"
    sub.add_argument("--dtype", choices=tuple(FLOATS), help=text)


def takes_split(sub: argparse.ArgumentParser) -> None:
    text = "the split; test if absent, or all pairs where it has no splits"
    sub.add_argument("--split", choices=SPLIT_NAMES, help=text)


def add_verbs(verb: Verb) -> None:
    """Add the subcommand `import`; `verb(run, help)` returns its parser."""
    sub = verb(import_, "Import a model as a checkpoint folder, and describe it. Nothing in its files is run.")
    sub.add_argument(
        "source", help="a file, a folder, an archive, or a Hub model ID such as Helsinki-NLP/opus-mt-en-fr"
    )
    sub.add_argument("--out", type=folders.written, required=True, help="the checkpoint folder to make")
    sub.add_argument("--heads", type=int, metavar="N", help="number of attention heads per layer")
    sub.add_argument("--pad-id", type=int, metavar="N", help="id of the padding token")
    sub.add_argument("--sos-id", type=int, metavar="N", help="id of the token that starts a sentence")
    sub.add_argument("--eos-id", type=int, metavar="N", help="id of the token that ends a sentence")
    sub.add_argument("--masks", choices=("never", "applied"), help="for two tutorials: whether masks are applied")
    around = (
        ("norm", NORM_PLACES, "whether its norms are after each sublayer or before it"),
        ("activation", ACTIVATIONS, "its activation"),
        ("embedding-scale", EMBEDDING_SCALES, "whether its embeddings are multiplied by √d_model"),
        ("positions", POSITIONS, "its positions, where the file has no table of them"),
        ("source-framing", SOURCE_FRAMINGS, "the ids around a source sentence"),
    )
    for name, choices, text in around:
        sub.add_argument(f"--{name}", choices=choices, help=f"for torch.nn.Transformer: {text}")
    sub.add_argument("--moses", choices=("yes", "no"), help="for fairseq: whether its text was tokenized by Moses")
    for side in ("source", "target"):
        text = f"the {side} vocabulary: a tokenizer.json, a list or object (JSON or pickled), or a text file with one"
        text += " token per line"
        sub.add_argument(f"--{side}-vocab", type=Path, metavar="FILE", help=text)
        text = f"the {side} language, such as German; a multilingual model needs it"
        sub.add_argument(f"--{side}-language", metavar="L", help=text)


def import_(options: argparse.Namespace) -> None:
    require_free(options.out)  # before anything is fetched
    answers = Answers(**{name: getattr(options, name) for name in Answers.__dataclass_fields__})
    with progress_bar() as progress:
        try:
            examination = import_model(_source(options.source, progress), options.out, answers, progress)
        except Unready as unready:
            print("\n".join(described(unready.examination)))
            raise
    print("\n".join(described(examination)))
    print(f"\nWritten to {options.out}")


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Show a bar while the block runs; yield the function that sets its share, from 0 to 1, and its text."""
    with tqdm(total=1.0, bar_format="{desc} {percentage:3.0f}%|{bar}|", leave=False, disable=None) as bar:

        def progress(share: float, what: str) -> None:
            bar.set_description_str(what, refresh=False)
            bar.update(share - bar.n)

        yield progress


def _source(text: str, progress: Progress) -> Path:
    """Return the path of a local model, or fetch the model with this ID from the hub."""
    path = Path(text)
    if path.exists() or path.suffix in IMPORT_SUFFIXES:
        return path
    from headlight.importers.hub import fetch  # which takes a second to import

    return fetch(text, progress)


def pack(folder: Path, form: str, out: Path) -> tuple[str, ...]:
    """Write the checkpoint `folder` in one of EXPORT_FORMATS, and return notes about it.

    Raises ValueError where `out` exists already, or the format cannot hold the model.
    """
    if out.exists():
        raise ValueError(f"{short(out)} exists already; choose another name, or delete it first.")
    if form == "marian":
        return export_marian(load(folder), out)
    write = {"zip": zip_folder, "safetensors": safetensors_bundle}[form]
    write(folder, out)
    return ()


def described(examination: Examination) -> Iterator[str]:
    """Yield the lines of text that describe an examination."""
    yield f"{examination.title}: {examination.size:,} bytes, {examination.tensors:,} tensors"
    yield from _table("Read from the file", examination.facts)
    yield from _table("Folded into the weights; the output stays the same", examination.folded)
    if any(question.required for question in examination.questions):
        for question in examination.questions:
            yield from _question(question)
    if examination.diagnosis is not None:
        yield from _diagnosed(examination.diagnosis)
    for warning in examination.warnings:
        yield f"\nWarning: {warning}"


def _question(question: ImportQuestion) -> Iterator[str]:
    yield f"\n{question.text}{'' if question.required else ' (Optional.)'}"
    yield f"  {question.why}"
    usual = "" if question.usual is None else f"; usually {question.usual}"
    yield f"  {flag(question)}: {possible_answers(question)}{usual}"


def _diagnosed(diagnosis: Diagnosis) -> Iterator[str]:
    yield from _table("Tensors", ((family.name, f"{family.count} × {family.shape}") for family in diagnosis.families))
    yield from _table("What they suggest", diagnosis.guesses)
    if diagnosis.nearest is None:
        return
    yield f"\nThe most similar known format: {diagnosis.nearest}"
    yield from _table("Missing tensors", ((name, "") for name in diagnosis.missing))
    yield from _table("Unexpected tensors", ((name, "") for name in diagnosis.unexpected))
    shapes = ((name, f"{shape} in the file, expected {due}") for name, shape, due in diagnosis.misshapen)
    yield from _table("Tensors of another shape", shapes)


def _table(title: str, rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    rows = [(printable(name), printable(value)) for name, value in rows]
    if rows:
        width = max(len(name) for name, _ in rows)
        yield f"\n{title}"
        yield from (f"  {name:<{width}}  {value}".rstrip() for name, value in rows)


def printable(text: str) -> str:
    """Replace control characters: texts in a file from elsewhere must not control the terminal."""
    return "".join(character if character.isprintable() or character in _JOINERS else "�" for character in text)
