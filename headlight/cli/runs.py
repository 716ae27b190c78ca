"""The commands that train: train, resume, pause, stop, runs, export; and work, which is the worker."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields, replace
from io import TextIOWrapper
from pathlib import Path
from typing import Any, get_args, get_type_hints

from tqdm import tqdm

from headlight import folders
from headlight.checkpoints import load
from headlight.cli.checkpoints import EXPORT_FORMATS, Verb, pack
from headlight.corpora.about import about
from headlight.corpora.corpora import SPEC_FORMS
from headlight.runs import steer
from headlight.runs.cautions import cautions, shared
from headlight.runs.export import best_of
from headlight.runs.export import export as export_run
from headlight.runs.folder import RUNS, RunFolder
from headlight.runs.metrics import Metrics
from headlight.runs.recipe import Recipe, usual_values
from headlight.runs.run_status import Status, status, statuses
from headlight.runs.settings import DERIVED_FIELDS, SETTING_HELP
from headlight.runs.steer import start
from headlight.runs.worker import work as work_on
from headlight.teaching.mistakes import MISTAKES, TRAINABLE
from transformer.config import ModelConfig, StackConfig, TrainConfig
from transformer.decoding.strategies import LENGTH_PENALTY
from transformer.files import open_regular
from transformer.presets import DIFFERENCES, PRESETS, preset
from transformer.quoting import short
from transformer.training.processes import is_distributed, require_all_started

STACKS = ("encoder", "decoder")
VOCABULARY_OPTIONS = ("tokenizer", "vocabulary", "separate", "min_frequency", "max_characters", "max_tokens", "framing")


def add_verbs(verb: Verb) -> None:
    """Add the subcommands about runs; `verb(run, help)` returns the parser of one."""
    sub = verb(train, f"Train a model into a run folder. DATA is one of: {SPEC_FORMS}")
    sub.add_argument("--data", required=True, help=SETTING_HELP["data"])
    sub.add_argument("--validation", help=SETTING_HELP["validation"])
    sub.add_argument("--folder", help=SETTING_HELP["folder"])
    sub.add_argument("--out", type=folders.written, required=True, help="the run folder to create, such as runs/en-fr")
    _add_fields(sub, Recipe, VOCABULARY_OPTIONS)
    sub.add_argument("--slots", type=float, default=0.0, metavar="SHARE", help=SETTING_HELP["slots"])
    sub.add_argument("--vary", type=float, default=0.0, metavar="SHARE", help=SETTING_HELP["vary"])
    sub.add_argument(
        "--watch", action="append", metavar="SENTENCE", help=SETTING_HELP["watch"] + " May be given repeatedly."
    )
    sub.add_argument("--start", metavar="CHECKPOINT", help=SETTING_HELP["start"])
    sub.add_argument("--threads", type=int, help=SETTING_HELP["threads"])
    sub.add_argument("--tensorboard", action="store_true", help=SETTING_HELP["tensorboard"])
    sub.add_argument("--break", dest="broken", choices=TRAINABLE, help=SETTING_HELP["broken"])
    sub.add_argument("--detach", action="store_true", help="Return at once; the worker goes on in the background.")
    network = sub.add_argument_group("network", "what to change in the preset")
    network.add_argument(
        "--preset",
        choices=PRESETS,
        default="small",
        help="the network, unless --start names a model; a tutorial's preset also sets its training and vocabulary",
    )
    _add_fields(network, ModelConfig, [f.name for f in fields(ModelConfig) if f.name not in (*DERIVED_FIELDS, *STACKS)])
    stack = [f.name for f in fields(StackConfig)]
    for prefix in ("", *(f"{name}_" for name in STACKS)):
        _add_fields(network, StackConfig, stack, prefix)
    training = sub.add_argument_group("training")
    _add_fields(training, TrainConfig, [f.name for f in fields(TrainConfig)])

    sub = verb(resume, "Continue a run from its last checkpoint.")
    _takes_run(sub)
    sub.add_argument("--steps", type=int, help="new total number of steps")
    sub.add_argument("--detach", action="store_true", help="Return at once; the worker goes on in the background.")
    _takes_run(verb(pause, "Save a checkpoint and pause a run; resume goes on from it."))
    _takes_run(verb(stop, "Save a checkpoint and stop a run; it can be resumed."))
    sub = verb(runs, "List the runs, the latest first.")
    sub.add_argument("root", nargs="?", default=RUNS, help="the folder of the runs")
    _takes_run(verb(work, "Work on a run in this process; train and resume start it."))

    sub = verb(export, "Export a run's best checkpoint: weights in 16 bits, snapshots in 8, scores.")
    _takes_run(sub)
    sub.add_argument("--out", type=folders.written, required=True, help="the checkpoint folder to make, or the file")
    text = "pack a checkpoint folder, or a run's best, as it is: a zip of it, one safetensors file, or a Marian folder "
    text += "(which needs a network trained with --norm post --no-final-norm and sinusoidal positions)"
    sub.add_argument("--as", dest="packed", choices=EXPORT_FORMATS, help=text)
    sub.add_argument("--beam", type=int, default=5, help="hypotheses kept at each step; 1 is greedy")
    sub.add_argument(
        "--length-penalty", type=float, default=LENGTH_PENALTY, help="the exponent α of Wu et al. 2016; 0 is no penalty"
    )
    sub.add_argument("--folder", help=SETTING_HELP["folder"])
    sub.add_argument("--average", type=int, metavar="N", help="also try the mean of the last N saved weights")


def _takes_run(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("run_folder", type=folders.written, metavar="run", help="the run folder, such as runs/en-fr")


def _add_fields(group: Any, config: type, names: Sequence[str], prefix: str = "") -> None:
    """Add a flag for each field of a configuration, with its type, choices and help; None by default."""
    hints = get_type_hints(config)
    for field in fields(config):
        if field.name not in names:
            continue
        options: dict[str, Any] = {"default": None, "help": SETTING_HELP[field.name]}
        if config in (Recipe, TrainConfig) and field.default not in (False, MISSING):
            options["help"] += f" (default: {field.default})"
        if hints[field.name] is bool:
            options["action"] = argparse.BooleanOptionalAction
        elif field.name == "scheduled_sampling":  # formerly a flag without a value
            options |= {"choices": get_args(hints[field.name]), "nargs": "?", "const": "parallel"}
            never = "the same as --scheduled-sampling never"
            group.add_argument(
                "--no-scheduled-sampling", dest=field.name, action="store_const", const="never", help=never
            )
        elif choices := get_args(hints[field.name]):
            options["choices"] = choices
        else:
            options["type"] = hints[field.name]
        if prefix:
            options["help"] = f"The same, for the {prefix.rstrip('_')} only."
        group.add_argument(f"--{(prefix + field.name).replace('_', '-')}", **options)


def train(options: argparse.Namespace) -> None:
    recipe = _recipe(options)
    if options.start is None and options.preset in DIFFERENCES:
        print(DIFFERENCES[options.preset], file=sys.stderr)
    _caution([*cautions(recipe), *_shared(options.out, recipe)])
    _work(options, options.out, lambda launcher: start(recipe, options.out, launcher))


def resume(options: argparse.Namespace) -> None:
    path = options.run_folder
    if RunFolder(path).is_run():  # else it is refused below
        _caution(_shared(path, RunFolder(path).recipe()))
    if options.steps is None:
        _work(options, path, lambda launcher: steer.resume(path, launcher))
    else:
        _work(options, path, lambda launcher: steer.extend(path, options.steps, launcher))


def _caution(cautions: list[str]) -> None:
    for caution in cautions:
        print(f"Caution: {caution}", file=sys.stderr)


def _shared(path: str, recipe: Recipe) -> list[str]:
    """Return cautions about other runs that train in the same folder of runs."""
    here = Path(path).resolve()
    running = [run for run in statuses(here.parent) if run.alive and run.folder.resolve() != here]
    return shared(recipe.threads, running)


def pause(options: argparse.Namespace) -> None:
    steer.pause(options.run_folder)
    _follow(options.run_folder)


def stop(options: argparse.Namespace) -> None:
    steer.stop(options.run_folder)
    _follow(options.run_folder)


def runs(options: argparse.Namespace) -> None:
    for run in statuses(options.root):
        texts = " ".join(filter(None, (run.cause, *run.repairs, *run.damaged, run.advice)))
        steps = f"{run.step:>9,} of {run.steps:<9,}" if run.steps else " " * 22  # unknown where its files are damaged
        print(f"{run.name:<24}{run.state:<12}{steps}  {texts}".rstrip())


def work(options: argparse.Namespace) -> None:
    work_on(options.run_folder)


def export(options: argparse.Namespace) -> None:
    if options.packed is not None:
        run = RunFolder(options.run_folder)
        folder = _best_checkpoint(run) if run.is_run() and run.checkpoints.is_dir() else run.path
        print(*pack(folder, options.packed, Path(options.out)), options.out, sep="\n")
        return
    _best_checkpoint(RunFolder(options.run_folder))
    checkpoint = export_run(
        options.run_folder, options.out, options.beam, options.length_penalty, options.folder, average=options.average
    )
    print(json.dumps(checkpoint.card, indent=2, ensure_ascii=False))


def _best_checkpoint(run: RunFolder) -> Path:
    """Return the run's best checkpoint, and print a note where it is damaged and another is used."""
    run.recipe()
    best = best_of(run)
    if best != run.checkpoints / "best":
        print(f"The best checkpoint is damaged; {best.name} is used instead.", file=sys.stderr)
    return best


def _recipe(options: argparse.Namespace) -> Recipe:
    """Build the recipe from the options, with the vocabulary's bound as its size, which is not known yet."""
    watch = options.watch or about(options.data)["examples"]
    usual = usual_values(None if options.start else options.preset)
    chosen = {name: value for name, value in vars(options).items() if value is not None}
    values = {name: chosen.get(name.removeprefix("training."), value) for name, value in usual.items()}
    training = TrainConfig(**{f.name: values.pop(f"training.{f.name}") for f in fields(TrainConfig)})
    named = {name: getattr(options, name) for name in ("data", "folder", "start", "threads")}
    # With --validation "" there is no validation corpus, even where the preset has one.
    values["validation"] = values.get("validation", options.validation) or None
    model = _network(options, values["vocabulary"])
    return Recipe(**named, **values, model=model, training=training, watch=tuple(watch))


def _network(options: argparse.Namespace, size: int) -> ModelConfig:
    """Return the configuration of the preset or of the checkpoint to start from, with the changes of the options."""
    values = vars(options)
    names = [f.name for f in fields(ModelConfig) if f.name not in (*DERIVED_FIELDS, *STACKS)]
    changes = dict(MISTAKES[options.broken].changes) if options.broken else {}
    changes |= {name: values[name] for name in names if values[name] is not None}
    usual = load(folders.named(options.start)).model.config if options.start else preset(options.preset, size, size)
    for stack in STACKS:
        both = {f.name: values[f.name] for f in fields(StackConfig) if values[f.name] is not None}
        own = {f.name: values[f"{stack}_{f.name}"] for f in fields(StackConfig)}
        chosen = {name: value for name, value in own.items() if value is not None}
        changes[stack] = replace(getattr(usual, stack), **{**both, **chosen})
    return replace(usual, **changes)


def _work(options: argparse.Namespace, path: str, launched: Callable[[steer.Launcher], object]) -> None:
    """Launch a worker and follow it; under a distributed launcher, work in this process."""
    require_all_started()
    if not is_distributed():
        launched(steer.spawn)
        if not options.detach:
            _follow(path)
        return
    first = os.environ["RANK"] == "0"
    if first:
        launched(lambda folder: os.getpid())
    work_on(path)  # in it, the other processes wait until the first has prepared the run
    if first:
        _require_success(status(path))


def _follow(path: str) -> None:
    """Show the worker's output until it ends; Ctrl-C and SIGTERM pause it. Raises ValueError if it fails."""
    folder, metrics = RunFolder(path), Metrics(path)
    with (
        _sigterm_as_interrupt(),
        TextIOWrapper(open_regular(folder.log), encoding="utf-8", errors="replace") as log,
        tqdm(unit="step", smoothing=0.05, disable=None) as bar,
    ):
        log.seek(0, os.SEEK_END)
        now = status(path)
        try:
            while now.alive:
                time.sleep(0.2)
                now = status(path)  # before the log, so that nothing is written after the last read
                _show(bar, metrics, now, log.read())
        except KeyboardInterrupt:
            bar.write("Pausing after this step; press Ctrl-C again to return without waiting for it.", sys.stderr)
            steer.pause(path)
            while (now := status(path)).alive:
                time.sleep(0.2)
    _require_success(now)
    if now.state != "finished":
        print(f"{now.state.capitalize()}. Go on with: {folders.COMMAND} resume {path}", file=sys.stderr)


@contextmanager
def _sigterm_as_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGTERM, which does not reach the worker in its own session."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # Python handles signals only there
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _show(bar: Any, metrics: Metrics, now: Status, texts: str) -> None:
    for line in texts.splitlines():
        bar.write(line, sys.stderr)
    lines = metrics.read()
    bar.total = now.steps or None
    if lines and lines[-1]["step"] != bar.n:
        last = lines[-1]
        bar.update(last["step"] - bar.n)
        if {"loss", "tokens", "seconds"} <= set(last):
            speed = last["tokens"] / max(last["seconds"], 1e-9)
            bar.set_postfix_str(f"loss {last['loss']:.3f}, {speed:,.0f} tokens/s", refresh=False)


def _require_success(ended: Status) -> None:
    if ended.state not in ("finished", "paused", "stopped"):
        raise ValueError(f"{short(ended.folder)} has {ended.state}. {ended.cause} {ended.advice}")
