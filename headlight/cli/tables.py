"""Tables over a file of sentences, for the commands `why`, `trace` and `watch`: `FILE --out results.parquet`."""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from headlight import __version__
from headlight.analysis.head_changes import require_heads_off
from headlight.checkpoints import digest, load_translator
from headlight.cli.checkpoints import Verb
from headlight.corpora.files import lines
from headlight.corpora.pairs import Rejected
from headlight.formatting import plural
from headlight.tables.columns import Columns, RowKind, column_types, columns_of
from headlight.tables.files import SUFFIXES, Summary, Table, write_table
from headlight.tables.passes import Computed, explain_rows, trace_rows, watch_rows
from headlight.tables.sentences import Row, read_rows, windows
from transformer.extras import require_package
from transformer.quoting import short

FILE_HELP = "a file: a sentence a line, or .tsv, .csv or .jsonl with a source and a target; - for standard input"
OUT_HELP = f"a table, in the format of its suffix: {', '.join(SUFFIXES)}; a run that was stopped is resumed"
_WINDOW_SHARES: dict[RowKind, int] = {"heads": 1, "steps": 1, "weights": 64}
_MAX_PRINTED_LINES = 20  # of the lines that were left out

Compute = Callable[[list[Row]], Iterator[Computed[Columns]]]


@dataclass(frozen=True)
class TableRequest:
    """A table to write: its input and output files, the kind of its rows, and the settings it depends on."""

    file: str
    out: Path
    rows: RowKind
    settings: Mapping[str, Any] = field(default_factory=dict)


def add_verbs(verb: Verb) -> None:
    """Add the subcommand `watch`; `verb(run, help)` returns its parser."""
    sub = verb(watch, "Measure every head of a Hugging Face model over the sentences of a file, as a table.")
    sub.add_argument("model", help="a model of the hub by its name, or a folder that transformers saved")
    sub.add_argument("file", help=FILE_HELP)
    sub.add_argument("--out", required=True, help=OUT_HELP)
    takes_rows(sub)


def takes_rows(sub: argparse.ArgumentParser) -> None:
    text = "of a table: a row for each head with its measures, or for each weight"
    sub.add_argument("--rows", choices=("heads", "weights"), default="heads", help=text)


def is_table(out: str | None) -> bool:
    return out is not None and Path(out).suffix in SUFFIXES


def why_table(options: argparse.Namespace) -> None:
    """Write a row for each written token and each earlier or source token, for each sentence of a file."""
    translator = load_translator(options.checkpoint, options.device, options.dtype)
    off = require_heads_off(translator.model, options.off)
    settings = {
        "model": digest(options.checkpoint),
        "left_out": not options.no_left_out,
        "dtype": options.dtype,
        "off": [str(head) for head in off],
    }
    request = TableRequest(options.sentence, Path(options.out), "steps", settings)
    taps = [head.tap() for head in off]
    _write(request, lambda window: _columns(explain_rows(translator, window, not options.no_left_out, taps), "steps"))


def trace_table(options: argparse.Namespace) -> None:
    """Write a row for each head, or for each weight, of each sentence of a file."""
    files = options.sentence or ["-"]
    if len(files) > 1 or options.target is not None:
        raise ValueError("A table is made of one file; give a .tsv with a sentence and its translation in each line.")
    settings = {"model": digest(options.checkpoint), "beam": options.beam, "dtype": options.dtype}
    request = TableRequest(files[0], Path(options.out), options.rows, settings)
    translator = load_translator(options.checkpoint, options.device, options.dtype)
    make = partial(columns_of, rows=options.rows)
    _write(request, lambda window: trace_rows(translator, window, make, beam_size=options.beam))


def watch(options: argparse.Namespace) -> None:
    if not is_table(options.out):
        raise ValueError(f"{short(options.out)} ends in no format of a table; give a name in {', '.join(SUFFIXES)}.")
    model, tokenizer = load_pretrained(options.model)
    request = TableRequest(options.file, Path(options.out), options.rows, {"model": digest_of_tensors(model)})
    _write(request, lambda window: _columns(watch_rows(model, tokenizer, window, {}), options.rows))


def _columns(results: Iterable[Computed[Any]], rows: RowKind) -> Iterator[Computed[Columns]]:
    for result in results:
        yield result if isinstance(result, Rejected) else (result[0], columns_of(result[1], rows))


def _write(request: TableRequest, compute: Compute) -> None:
    settings = {"rows": request.rows, "version": __version__, **request.settings}
    table = Table(request.out, column_types(request.rows), settings)
    total = None if request.file == "-" else sum(1 for line in lines(request.file) if line.strip())
    with tqdm(total=total, unit="sentence", disable=None, smoothing=0.05) as bar:

        def skip(count: int) -> None:
            if not bar.disable:
                bar.initial += count  # so that resumed sentences do not distort the estimated time
                bar.update(count)

        def numbered(window: list[Row]) -> Iterator[tuple[int, Columns] | Rejected]:
            for computed in compute(window):
                bar.update()
                yield computed if isinstance(computed, Rejected) else (computed[0].line, computed[1])

        rows = windows(read_rows(request.file), _WINDOW_SHARES[request.rows])
        summary = write_table(table, rows, numbered, skip)
    for line in _report(request.out, summary):
        print(line, file=sys.stderr)


def _report(out: Path, summary: Summary) -> Iterator[str]:
    resumed = f", {plural(summary.resumed, 'sentence')} of an earlier run" if summary.resumed else ""
    yield f"{out}: {plural(summary.rows, 'row')} of {plural(summary.sentences, 'sentence')}{resumed}"
    if summary.wrong:
        yield f"{plural(summary.wrong, 'line')} left out:"
        yield from (f"  line {wrong.line:,}: {wrong.reason}" for wrong in summary.first_wrong[:_MAX_PRINTED_LINES])
        if summary.wrong > _MAX_PRINTED_LINES:
            yield f"  and {summary.wrong - _MAX_PRINTED_LINES:,} more"


def load_pretrained(name: str) -> tuple[Any, Any]:
    """Return the model and the tokenizer of a folder or of the hub: an encoder-decoder, a decoder, or an encoder.

    Only safetensors are read, and no code of the repository is run. Raises ValueError for a model that does not exist,
    that has no safetensors or needs its own code, and where the package transformers is missing.
    """
    transformers = require_package("transformers", "A Hugging Face model", "import")
    try:
        config = transformers.AutoConfig.from_pretrained(name, trust_remote_code=False)
        architectures = " ".join(config.architectures or ())
        kind: Any
        if config.is_encoder_decoder:
            kind = transformers.AutoModelForSeq2SeqLM
        elif "CausalLM" in architectures or "LMHead" in architectures:
            kind = transformers.AutoModelForCausalLM
        else:
            kind = transformers.AutoModel
        model = kind.from_pretrained(name, trust_remote_code=False, use_safetensors=True)
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, trust_remote_code=False)
    except (OSError, ValueError, ImportError) as error:
        raise ValueError(f"{short(name)} cannot be opened with transformers: {short(error)}") from None
    return model, tokenizer


def digest_of_tensors(model: torch.nn.Module) -> str:
    """Return the SHA-256 digest of a model's parameters, in hexadecimal."""
    whole = hashlib.sha256()
    for name, parameter in model.named_parameters():
        whole.update(f"{name} {parameter.dtype} {tuple(parameter.shape)}\n".encode())
        whole.update(parameter.detach().cpu().contiguous().view(torch.uint8).numpy().data)
    return whole.hexdigest()
