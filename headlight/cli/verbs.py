"""The command line: `python -m headlight translate | trace | train | resume | import | export | describe ...`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from headlight import checkpoints, hub
from headlight.analysis.typical import guessed_words, unlike, unlike_note, unread_note, unread_words
from headlight.checkpoints import load_translator, read_words
from headlight.cli import align, publishing, pushing, similar, slicing, tables, teaching, why
from headlight.cli import checkpoints as opening
from headlight.cli import heads as atlas
from headlight.cli import prune as pruning
from headlight.cli import runs as commands
from headlight.cli.checkpoints import Verb, takes_checkpoint, takes_device, takes_split
from headlight.corpora import fingerprint
from headlight.corpora.corpora import SPEC_FORMS, open_split
from headlight.formatting import error_message, percent, plural, translation_score
from headlight.machine import retain_freed_memory
from headlight.runs import MIN_SENTENCES, Evaluation, Evaluator
from transformer.checkpoint.native import to_json
from transformer.checkpoint.weights import Refused
from transformer.decoding.strategies import (
    LENGTH_PENALTY,
    STRATEGIES,
    Decoding,
    Strategy,
    beam_or_greedy,
    parameters,
)
from transformer.files import write_json
from transformer.quoting import MAX_QUOTED_CHARACTERS, short
from transformer.training.processes import is_distributed, leave
from transformer.translator import Translation, Translator

MAX_TRAINED_SHARE = 0.05  # of the scored pairs, since the same short sentences are in many corpora


def main(arguments: list[str] | None = None, parser: argparse.ArgumentParser | None = None) -> int:
    """Run the verb that the arguments name, of `parser` or of the library's own. Returns the exit status."""
    parser = parser or command_line()
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parser.parse_args(arguments, argparse.Namespace(arguments=arguments))
    try:
        if hub.is_address(checkpoint := getattr(options, "checkpoint", "")):
            options.checkpoint = str(checkpoints.fetch(checkpoint))
        status = options.run(options) or 0  # most verbs raise their errors; a few, such as `check`, return a status
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe; the exit must not write to it either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, OSError) as error:
        print(f"{parser.prog}: {error_message(error)}", *_details(error), sep="\n", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{parser.prog}: stopped", file=sys.stderr)
        return 130
    return int(status)


def _details(error: Exception) -> list[str]:
    """Return the facts about a refused file, and the command that may help."""
    if not isinstance(error, Refused):
        return []
    return [f"  {name}: {value}" for name, value in error.facts] + [error.command] * bool(error.command)


def command_line(
    program: str = "python -m headlight", more: Callable[[Verb], None] = lambda verb: None
) -> argparse.ArgumentParser:
    """Return the parser of `program`: its verbs are those that `more` adds, and the library's."""
    parser = _ArgumentParser(program, description="See inside an encoder-decoder transformer.")
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    def verb(run: Any, text: str) -> argparse.ArgumentParser:
        name = run.__name__.rstrip("_")  # `import` is a keyword, so the function is `import_`
        sub = verbs.add_parser(name, help=text, description=text, formatter_class=_Formatter)
        sub.set_defaults(run=run)
        return sub

    more(verb)

    def takes_sentences(sub: argparse.ArgumentParser) -> None:
        takes_checkpoint(sub)
        what = "the sentences; standard input, one per line, if absent"
        sub.add_argument("sentence", nargs="*", default=[], help=what)
        takes_device(sub)

    sub = verb(translate, "Translate sentences.")
    takes_sentences(sub)
    sub.add_argument("--n-best", type=int, default=1, help="hypotheses to print, best first, with their scores")
    sub.add_argument("--strategy", choices=tuple(STRATEGIES), help="how the next token is chosen; beam if absent")
    sub.add_argument("--sample", action="store_true", help="the same as --strategy sampling")
    for sharing in parameters().values():
        parameter, names = sharing[0][1], " and ".join(strategy.name for strategy, _ in sharing)
        what = f"for {names}: {parameter.help[0].lower()}{parameter.help[1:]}"
        sub.add_argument(parameter.flag, dest=parameter.name, type=parameter.type, default=parameter.default, help=what)

    sub = verb(trace, "Save the attention weights of every head as .npz, or measure the heads over a file, as a table.")
    takes_sentences(sub)
    sub.epilog = f"To make a table, give {tables.FILE_HELP}."
    tables.takes_rows(sub)
    sub.add_argument("--beam", type=int, default=5, help="hypotheses kept at each step; 1 is greedy")
    sub.add_argument("--target", help="a translation to force-decode instead of the model's own")
    text = f"the .npz file, numbered where there are several sentences; or {tables.OUT_HELP}"
    sub.add_argument("--out", required=True, help=text)

    commands.add_verbs(verb)
    opening.add_verbs(verb)
    atlas.add_verbs(verb)
    align.add_verbs(verb)
    similar.add_verbs(verb)
    why.add_verbs(verb)
    tables.add_verbs(verb)
    pruning.add_verbs(verb)
    teaching.add_verbs(verb)
    publishing.add_verbs(verb)
    pushing.add_verbs(verb)

    sub = verb(evaluate, "Score a checkpoint: loss, perplexity, sacreBLEU, chrF, share exactly right, pronouns.")
    _takes_corpus(sub)
    takes_device(sub)
    sub.add_argument("--json", type=Path, metavar="FILE", help="a file for the scores")
    sub.add_argument("--translations", help="a file to write the translations to")
    slicing.takes_slices(sub)

    sub = verb(describe, "Describe a checkpoint.")
    takes_checkpoint(sub)
    sub.add_argument("--json", action="store_true", help="as JSON")
    return parser


class _ArgumentParser(argparse.ArgumentParser):
    """An argument parser that shortens long arguments in its error messages."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        options, unknown = self.parse_known_args(args, namespace)
        if getattr(options, "sentence", None) == [] and not any(word.startswith("-") for word in unknown):
            options.sentence, unknown = unknown, []  # argparse itself takes a sentence only before the options
        if unknown:
            self.error(f"unrecognized arguments: {short(' '.join(unknown))}")
        return options

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self._arguments = list(args or ())
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        for argument in self._arguments:
            for part in (argument, argument.partition("=")[2]):
                if len(part) > MAX_QUOTED_CHARACTERS:
                    message = message.replace(repr(part)[1:-1], short(repr(part)[1:-1])).replace(part, short(part))
        super().error(message)


class _Formatter(argparse.ArgumentDefaultsHelpFormatter):
    """A help formatter that shows defaults, but not "(default: None)"."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        return action.help if action.default in (None, False) else super()._get_help_string(action)


def _takes_corpus(sub: argparse.ArgumentParser) -> None:
    takes_checkpoint(sub)
    sub.add_argument("--data", required=True, help=f"the corpus: {SPEC_FORMS}")
    takes_split(sub)
    sub.add_argument("--folder", help="the folder of Multi30k")
    sub.add_argument("--beam", type=int, default=5, help="hypotheses kept at each step; 1 is greedy")
    sub.add_argument(
        "--length-penalty", type=float, default=LENGTH_PENALTY, help="the exponent α of Wu et al. 2016; 0 is no penalty"
    )


def _sentences(options: argparse.Namespace) -> Iterator[str]:
    if options.sentence:
        yield " ".join(options.sentence)
        return
    for line in sys.stdin:
        if line.strip():
            yield line.rstrip("\n")


def translate(options: argparse.Namespace) -> None:
    translator = load_translator(options.checkpoint, options.device, options.dtype)
    read = read_words(options.checkpoint)
    for sentence in _sentences(options):
        written = _translations(translator, sentence, options)
        for translation in written:
            score = f"{translation.score:9.4f}\t" if options.n_best > 1 else ""
            print(f"{score}{translation.text}", flush=True)
        # No warnings for the sentences of a file, which may be many, nor for sampled translations, which are often odd.
        is_typed = options.sentence and not _strategy(options).draws
        if is_typed and (warning := _warning(translator, sentence, written[0], read)):
            print(warning, file=sys.stderr)


def _warning(translator: Translator, sentence: str, written: Translation, read: frozenset[str]) -> str:
    """Return a warning about a sentence unlike the training data or with words never read, else ""."""
    words = unread_words(sentence, written.text, read) if read else []
    if words := guessed_words(translator.card, words, sentence, written.log_prob_per_token):
        return unread_note(words)
    return unlike_note() if unlike(translator.card, written.log_prob_per_token) else ""


def _strategy(options: argparse.Namespace) -> Strategy:
    """Return the strategy of --strategy, or of --sample, or else of a beam of the requested size."""
    if options.strategy is None and not options.sample:
        return beam_or_greedy(max(options.size, options.n_best)).strategy
    return STRATEGIES[options.strategy or "sampling"]


def _translations(translator: Translator, sentence: str, options: argparse.Namespace) -> list[Translation]:
    strategy = _strategy(options)
    settings = {parameter.name: getattr(options, parameter.name) for parameter in strategy.parameters}
    if options.temperature != 1 and "temperature" not in settings:
        raise ValueError(f"A temperature has no effect on {strategy.title}; give --sample, or a beam of 2 or more.")
    if strategy.draws:
        seeds = range(options.seed, options.seed + options.n_best)
        return [translator.decode(sentence, Decoding.of(strategy.name, **settings | {"seed": n}))[0] for n in seeds]
    if "size" in settings:
        settings["size"] = max(options.size, options.n_best)
    return translator.decode(sentence, Decoding.of(strategy.name, **settings))[: options.n_best]


def trace(options: argparse.Namespace) -> None:
    out = Path(options.out)
    if tables.is_table(options.out):
        return tables.trace_table(options)
    if out.suffix != ".npz":
        suffixes = ", ".join(tables.SUFFIXES)
        raise ValueError(
            f"{short(out)} would hold NumPy arrays; give a name that ends in .npz, or a table: {suffixes}."
        )
    translator = load_translator(options.checkpoint, options.device, options.dtype)
    for number, sentence in enumerate(_sentences(options), 1):
        recorded = translator.trace(sentence, options.target, beam_size=options.beam)
        path = out if number == 1 else out.with_stem(f"{out.stem}-{number}")
        recorded.save(path)
        print(f"{path}: {recorded.translation} (log-probability {recorded.log_prob:.2f})")


def evaluate(options: argparse.Namespace) -> None:
    checkpoint = checkpoints.load(options.checkpoint, options.device, options.dtype)
    corpus = open_split(options.data, options.split, options.folder)
    request = slicing.request(options)
    other_checkpoints = [] if request is None else request.other_checkpoints
    evaluator = Evaluator.of(checkpoint, corpus.name, corpus, other_checkpoints, options.pairs)
    if evaluator.left_out:
        who = "the model" if not other_checkpoints else "one of the models"
        print(f"{evaluator.left_out} pairs of {corpus.name} are longer than {who} can read", file=sys.stderr)
    slices = None if request is None else request.prepare(evaluator, corpus, checkpoint)
    trained = fingerprint.overlap(checkpoint.card, corpus)
    scores = evaluator(checkpoint, options.beam, options.length_penalty)
    print(corpus.report if options.pairs is None else f"{corpus.name}: {plural(options.pairs, 'pair')} at most")
    if trained is not None and trained.in_training > 1 and trained.in_training >= MAX_TRAINED_SHARE * trained.looked_up:
        print(
            f"Caution: about {percent(trained.in_training / trained.looked_up)} of these pairs were trained on (of "
            f"{trained.looked_up:,} that can be looked up): the scores say what the model knows by heart.",
            file=sys.stderr,
        )
    for name, part in (scores.parts or {"": scores}).items():
        _print_scores(name, part, options.beam)
        if part.sentences < MIN_SENTENCES:
            print(f"Fewer than {MIN_SENTENCES} sentences: their scores say little.", file=sys.stderr)
    facts = {"checkpoint": options.checkpoint, "on": corpus.name, **scores.to_dict()}
    if request is not None and slices is not None:
        facts |= request.report(evaluator, scores, slices)
    if options.json:
        write_json(options.json, facts)
    if options.translations:
        Path(options.translations).write_text("".join(f"{text}\n" for text in scores.translations), encoding="utf-8")


def _print_scores(name: str, scores: Evaluation, beam: int) -> None:
    if name:
        print(f"\n{name}")
    of = plural(scores.sentences, "sentence")
    print(f"loss {scores.loss:.4f}  perplexity {scores.perplexity:.3f}  exact {percent(scores.exact, 1)} of {of}")
    bleu, chrf = translation_score(scores.bleu, 2), translation_score(scores.chrf, 2)
    print(f"BLEU {bleu}  chrF {chrf}  beam {beam}  {scores.signature}")
    if scores.pronouns is not None:
        right, every = scores.pronouns
        share = percent(right / every, 1)
        print(f"pronouns resolved {share} of {every:,}, judged by the word whose form shows the antecedent")


def describe(options: argparse.Namespace) -> None:
    described = checkpoints.describe(options.checkpoint)
    facts = {
        "card": described.card,
        "config": to_json(described.config),
        "parameters": described.parameters,
        "tensors": described.dtypes,
    }
    if options.json:
        print(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    for title, values in facts.items():
        print(title)
        for name, value in values.items():
            if name == fingerprint.CARD_KEY and isinstance(value, dict):
                value = value.get("pairs")
            text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else value
            print(f"  {name:<24}{text}")


def run(parser: argparse.ArgumentParser | None = None) -> NoReturn:
    """Run the command of this process, and exit with its status."""
    retain_freed_memory()
    code = main(parser=parser)
    if is_distributed():
        leave(code)
    sys.exit(code)


if __name__ == "__main__":
    run()
