"""The command line: `python -m transformer translate | trace | train | evaluate | export | describe`."""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

import torch
from tqdm import tqdm

from transformer import checkpoints
from transformer.checkpoints import Checkpoint
from transformer.config import ModelConfig, StackConfig, TrainConfig
from transformer.data.about import about
from transformer.data.corpora import FORMS, Corpus, Pairs, open_corpus
from transformer.data.encoded import Encoded
from transformer.data.tokenizers import Tokenizer
from transformer.model import Transformer, count_parameters
from transformer.presets import PRESETS, preset
from transformer.training import Evaluator, Run
from transformer.translator import LENGTH_PENALTY, Translation, Translator

MODEL_FLAGS = ("d_model", "norm", "activation", "positions", "max_length", "tied", "dropout", "norm_eps")


def main(arguments: list[str] | None = None) -> int:
    parser = _parser()
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parser.parse_args(arguments, argparse.Namespace(arguments=arguments))
    try:
        options.run(options)
    except (ValueError, OSError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{parser.prog}: stopped", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m transformer", description="See inside an encoder-decoder transformer.")
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    def verb(run: Any, text: str) -> argparse.ArgumentParser:
        sub = verbs.add_parser(run.__name__, help=text, description=text, formatter_class=_Formatter)
        sub.set_defaults(run=run)
        return sub

    def takes_sentences(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("checkpoint", help="a checkpoint folder, such as checkpoints/en-fr")
        sub.add_argument("sentence", nargs="*", help="what to read; standard input, a sentence a line, if absent")
        sub.add_argument("--beam", type=int, default=5, help="hypotheses kept at each step; 1 is greedy")

    sub = verb(translate, "Translate sentences.")
    takes_sentences(sub)
    sub.add_argument("--length-penalty", type=float, default=LENGTH_PENALTY, help="alpha of Wu et al. 2016; 0 is none")
    sub.add_argument("--n-best", type=int, default=1, help="hypotheses to print, best first, with their scores")
    sub.add_argument("--sample", action="store_true", help="draw the translation at random instead of searching")
    sub.add_argument("--temperature", type=float, default=1.0, help="for --sample: below 1 is bolder")
    sub.add_argument("--top-k", type=int, help="for --sample: only the k likeliest tokens")
    sub.add_argument("--top-p", type=float, default=1.0, help="for --sample: the likeliest tokens up to this share")
    sub.add_argument("--seed", type=int, default=0, help="for --sample")

    sub = verb(trace, "Save what every head looked at while reading and writing, as .npz.")
    takes_sentences(sub)
    sub.add_argument("--target", help="a translation to be read along, instead of the model's own")
    sub.add_argument("--out", required=True, help="the .npz file; numbered where there are several sentences")

    sub = verb(train, f"Train a model into a run folder. DATA is one of: {FORMS}")
    sub.add_argument("--data", required=True, help="the corpus to learn from")
    sub.add_argument("--validation", help="another corpus to validate on")
    sub.add_argument("--folder", help="where Multi30k lies")
    sub.add_argument("--out", required=True, help="the run folder to make, such as runs/en-fr")
    sub.add_argument("--tokenizer", choices=("bpe", "words", "characters"), default="bpe", help="how text is cut")
    sub.add_argument("--vocabulary", type=int, default=8000, help="tokens in each vocabulary")
    sub.add_argument("--separate", action="store_true", help="one vocabulary a side instead of one for both")
    sub.add_argument("--preset", choices=PRESETS, default="small", help="the network to start from")
    sub.add_argument("--threads", type=int, help="cores to use; all of them if absent")
    network = sub.add_argument_group("network", "what to change in the preset")
    _add_fields(network, ModelConfig, MODEL_FLAGS)
    _add_fields(network, StackConfig, [field.name for field in fields(StackConfig)])
    training = sub.add_argument_group("training")
    _add_fields(training, TrainConfig, [field.name for field in fields(TrainConfig)], with_defaults=True)

    sub = verb(evaluate, "Score a checkpoint: loss, perplexity, sacreBLEU, chrF, share exactly right.")
    _takes_corpus(sub)
    sub.add_argument("--translations", help="a file to write the translations to")

    sub = verb(export, "Make a run's best checkpoint a folder to ship: 16-bit weights, history, a card with scores.")
    sub.add_argument("run_folder", metavar="run", help="the run folder")
    sub.add_argument("--out", required=True, help="the checkpoint folder to make")
    sub.add_argument("--beam", type=int, default=5, help="hypotheses kept at each step; 1 is greedy")
    sub.add_argument("--length-penalty", type=float, default=LENGTH_PENALTY, help="alpha of Wu et al. 2016; 0 is none")
    sub.add_argument("--folder", help="where Multi30k lies")

    sub = verb(describe, "Print what a checkpoint is.")
    sub.add_argument("checkpoint", help="a checkpoint folder, such as checkpoints/en-fr")
    sub.add_argument("--json", action="store_true", help="as JSON")
    return parser


class _Formatter(argparse.ArgumentDefaultsHelpFormatter):
    """Help that gives the defaults there are, and does not say "(default: None)"."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        return action.help if action.default in (None, False) else super()._get_help_string(action)


def _takes_corpus(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("checkpoint", help="a checkpoint folder, such as checkpoints/en-fr")
    sub.add_argument("--data", required=True, help=f"the corpus: {FORMS}")
    sub.add_argument("--split", choices=("train", "validation", "test"), default="test", help="which part of it")
    sub.add_argument("--folder", help="where Multi30k lies")
    sub.add_argument("--beam", type=int, default=5, help="hypotheses kept at each step; 1 is greedy")
    sub.add_argument("--length-penalty", type=float, default=LENGTH_PENALTY, help="alpha of Wu et al. 2016; 0 is none")


def _add_fields(group: Any, config: type, names: Any, with_defaults: bool = False) -> None:
    """A flag for each field of a configuration, with its type and choices."""
    hints = get_type_hints(config)
    for field in fields(config):
        if field.name in names:
            default = field.default if with_defaults and field.default is not MISSING else None
            choices = get_args(hints[field.name]) or None
            kind = str if choices else hints[field.name]
            text = f"{field.name} of {config.__name__}"
            group.add_argument(
                f"--{field.name.replace('_', '-')}", type=kind, choices=choices, default=default, help=text
            )


def _sentences(options: argparse.Namespace) -> Iterator[str]:
    if options.sentence:
        yield " ".join(options.sentence)
        return
    for line in sys.stdin:
        if line.strip():
            yield line.rstrip("\n")


def translate(options: argparse.Namespace) -> None:
    translator = Translator.load(options.checkpoint)
    for sentence in _sentences(options):
        for found in _translations(translator, sentence, options):
            score = f"{found.score:9.4f}\t" if options.n_best > 1 else ""
            print(f"{score}{found.text}", flush=True)


def _translations(translator: Translator, sentence: str, options: argparse.Namespace) -> list[Translation]:
    if options.sample:
        drawing = {"temperature": options.temperature, "top_k": options.top_k, "top_p": options.top_p}
        seeds = range(options.seed, options.seed + options.n_best)
        return [translator.sample(sentence, seed=seed, **drawing) for seed in seeds]
    size = max(options.beam, options.n_best)
    return translator.n_best(sentence, size, options.length_penalty)[: options.n_best]


def trace(options: argparse.Namespace) -> None:
    translator, out = Translator.load(options.checkpoint), Path(options.out)
    for number, sentence in enumerate(_sentences(options), 1):
        found = translator.trace(sentence, options.target, beam_size=options.beam)
        path = out if number == 1 else out.with_stem(f"{out.stem}-{number}")
        found.save(path)
        print(f"{path}: {found.translation} (log-probability {found.log_prob:.2f})")


def train(options: argparse.Namespace) -> None:
    if options.threads:
        torch.set_num_threads(options.threads)
    splits = open_corpus(options.data, options.validation, folder=options.folder)
    print(f"Learning a vocabulary from {splits.train.name}", file=sys.stderr)
    source, target = _learn_tokenizers(splits.train, options)
    config = _model_config(options, source.vocab_size, target.vocab_size)
    training = TrainConfig(**{f.name: getattr(options, f.name) for f in fields(TrainConfig)})
    torch.manual_seed(training.seed)
    model = Transformer(config).to("cuda" if torch.cuda.is_available() else "cpu")
    card = {**about(options.data), "command": shlex.join(["python", "-m", "transformer", *options.arguments])}
    run = Run(options.out, Checkpoint(model, source, target, card), training, {"data_spec": options.data, **card})
    examples = Encoded(splits.train, source, target, config.max_length)
    evaluator = _evaluator(run.checkpoint, splits.validation)
    print(f"{count_parameters(model):,} parameters; {torch.get_num_threads()} threads; {run.folder}", file=sys.stderr)
    with tqdm(total=training.steps, unit="update", smoothing=0.05) as bar:
        for progress in run.fit(examples, evaluator):
            report, scores = progress.report, progress.evaluation
            bar.update()
            bar.set_postfix_str(
                f"loss {report.loss:.3f}, {report.tokens / report.seconds:,.0f} tokens/s", refresh=False
            )
            if scores is not None:
                tqdm.write(
                    f"update {report.step}: validation loss {scores.loss:.3f}, perplexity {scores.perplexity:.2f}, "
                    f"BLEU {scores.bleu:.2f}, chrF {scores.chrf:.2f}, exact {scores.exact:.1%}"
                )
    print(examples.report, file=sys.stderr)


def _learn_tokenizers(corpus: Corpus, options: argparse.Namespace) -> tuple[Tokenizer, Tokenizer]:
    def learn(texts: Iterator[str]) -> Tokenizer:
        return Tokenizer.train(texts, options.tokenizer, options.vocabulary)

    if options.separate:
        return learn(pair.source for pair in corpus), learn(pair.target for pair in corpus)
    shared = learn(text for pair in corpus for text in (pair.source, pair.target))
    return shared, shared


def _model_config(options: argparse.Namespace, source_size: int, target_size: int) -> ModelConfig:
    changes = {name: getattr(options, name) for name in MODEL_FLAGS if getattr(options, name) is not None}
    start = preset(options.preset, source_size, target_size)
    for stack in ("encoder", "decoder"):
        values = {f.name: getattr(options, f.name) for f in fields(StackConfig)}
        given = {name: value for name, value in values.items() if value is not None}
        changes[stack] = StackConfig(**{**vars(getattr(start, stack)), **given})
    return preset(options.preset, source_size, target_size, **changes)


def _evaluator(checkpoint: Checkpoint, corpus: Corpus) -> Evaluator:
    """The pairs of `corpus` that fit into the model; how many do not is said on standard error."""
    source, target = checkpoint.source_tokenizer, checkpoint.target_tokenizer
    longest = checkpoint.model.config.max_length - 1  # and one special token
    pairs = list(corpus)
    fitting = [p for p in pairs if max(len(source.encode(p.source)), len(target.encode(p.target))) <= longest]
    if len(fitting) < len(pairs):
        print(f"{len(pairs) - len(fitting)} pairs of {corpus.name} are longer than the model reads", file=sys.stderr)
    examples = Encoded(Pairs(corpus.name, fitting), source, target, longest + 1)
    return Evaluator([pair.source for pair in fitting], [pair.target for pair in fitting], examples)


def evaluate(options: argparse.Namespace) -> None:
    checkpoint = checkpoints.load(options.checkpoint)
    corpus = getattr(open_corpus(options.data, folder=options.folder), options.split)
    if corpus is None:
        raise ValueError(f"{options.data} has no {options.split} split; choose another with --split.")
    scores = _evaluator(checkpoint, corpus)(checkpoint, options.beam, options.length_penalty)
    print(f"{corpus.report}")
    print(f"loss {scores.loss:.4f}  perplexity {scores.perplexity:.3f}  exact {scores.exact:.1%}")
    print(f"BLEU {scores.bleu:.2f}  chrF {scores.chrf:.2f}  beam {options.beam}  {scores.signature}")
    if options.translations:
        Path(options.translations).write_text("".join(f"{text}\n" for text in scores.translations), encoding="utf-8")


def export(options: argparse.Namespace) -> None:
    folder, out = Path(options.run_folder), Path(options.out)
    checkpoint = checkpoints.load(folder / "checkpoints" / "best")
    checkpoints.save(checkpoint, out, half=True)
    checkpoint = checkpoints.load(out)  # the scores are those of the rounded weights
    spec = json.loads((folder / "config.json").read_text(encoding="utf-8"))["data_spec"]
    test = open_corpus(spec, folder=options.folder).test
    if test is not None:
        scores = _evaluator(checkpoint, test)(checkpoint, options.beam, options.length_penalty)
        checkpoint.card["scores"] = {
            "on": test.name,
            "BLEU": round(scores.bleu, 2),
            "chrF": round(scores.chrf, 2),
            "exact": round(scores.exact, 4),
            "loss": round(scores.loss, 4),
            "signature": scores.signature,
            "command": f"python -m transformer evaluate {out} --data {spec} --beam {options.beam} "
            f"--length-penalty {options.length_penalty:g}",
        }
    checkpoints.save(checkpoint, out, half=True)
    for snapshot in sorted((folder / "history").glob("*.safetensors")):
        (out / "history").mkdir(exist_ok=True)
        shutil.copy2(snapshot, out / "history" / snapshot.name)
    print(json.dumps(checkpoint.card, indent=2, ensure_ascii=False))


def describe(options: argparse.Namespace) -> None:
    checkpoint = checkpoints.load(options.checkpoint)
    model = checkpoint.model
    facts = {
        "card": checkpoint.card,
        "config": model.config.to_dict(),
        "parameters": {
            "all": count_parameters(model),
            "encoder": count_parameters(model.encoder),
            "decoder": count_parameters(model.decoder),
            "output": count_parameters(model.output),
        },
    }
    if options.json:
        print(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    for title, values in facts.items():
        print(title)
        for name, value in values.items():
            shown = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else value
            print(f"  {name:<24}{shown}")


if __name__ == "__main__":
    sys.exit(main())
