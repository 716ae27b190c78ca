"""`python -m benchmarks NAME`: measures, prints, and writes benchmarks/results/NAME.json and NAME.svg."""

import argparse
from importlib import import_module

BENCHMARKS = {
    "showing": "bytes and time until every head is seen",
    "stepping": "from a key to the next step, decoding and anatomy",
    "training": "target tokens a second beside the peers",
    "decoding": "sentences a second beside the peers",
    "imported": "a model of opus-mt's size in the app",
    "recording": "what keeping every pattern costs",
    "quality": "BLEU against minutes of training, beside the peers",
    "start": "from starting it to the first heatmap, cold and warm",
    "during_training": "training while its page is watched",
    "classroom": "a class of thirty beside a training",
    "class": "a class of sixty that answers a lesson together",
    "returned": "memory of the server after huge requests",
    "memory": "memory against the size of the corpus",
    "tables": "memory of a corpus that becomes a table",
    "worker": "memory of a training over thousands of updates",
    "atlas": "every head over a corpus, beside plain scoring",
    "why": "what the page Why computes, beside Inseq",
    "published": "a published page in Chromium, beside Python",
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = parser.add_subparsers(metavar="NAME", required=True)
    for name, help in BENCHMARKS.items():
        import_module(f"benchmarks.{name}").add_arguments(names.add_parser(name, help=help))
    options = vars(parser.parse_args())
    run = options.pop("run")
    try:
        run(**options)
    except ValueError as error:
        parser.exit(2, f"{error}\n")


if __name__ == "__main__":
    main()
