"""`python -m benchmarks NAME`: measure, print a report, and write benchmarks/results/NAME.json.

A benchmark is a module with `add_arguments`, `run`, which takes these arguments and returns the result, and `report`,
which formats the result as Markdown.
"""

import argparse
from importlib import import_module

from benchmarks.busy import Busy, busy_text
from benchmarks.measure import ROOT, machine
from transformer.files import write_json

RESULTS = ROOT / "benchmarks" / "results"
BENCHMARKS = {
    "showing": "bytes and time until every head is seen",
    "stepping": "from a key to the next step, decoding and anatomy",
    "training": "target tokens a second beside the peers",
    "decoding": "sentences a second beside the peers",
    "imported": "a model of opus-mt's size in the app",
    "recording": "what keeping every pattern costs",
    "quality": "BLEU against minutes of training, beside the peers",
    "start": "from starting it to the first heatmap, cold and warm",
    "classroom": "a class of thirty beside a training",
    "class": "a class of sixty that answers a lesson together",
    "memory": "memory against the size of the corpus",
    "atlas": "every head over a corpus, beside plain scoring",
    "why": "what the page Why computes, beside Inseq",
    "published": "a published page in Chromium, beside Python",
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = parser.add_subparsers(metavar="NAME", required=True)
    for name, help in BENCHMARKS.items():
        benchmark = import_module(f"benchmarks.{name}")
        options = names.add_parser(name, help=help)
        options.add_argument("--name", default=name, help="of the file in results/")
        options.set_defaults(benchmark=benchmark)
        benchmark.add_arguments(options)
    arguments = vars(parser.parse_args())
    name, benchmark = arguments.pop("name"), arguments.pop("benchmark")
    busy = Busy()
    try:
        result = benchmark.run(**arguments)
    except ValueError as error:
        parser.exit(2, f"{error}\n")
    result = {"machine": machine(), **result, "busy": busy.shares_since_begin()}
    print(f"{benchmark.report(result)}\n\n{busy_text(result['busy'])}")
    write_json(RESULTS / f"{name}.json", result)
    print(f"Written: {RESULTS / name}.json")


if __name__ == "__main__":
    main()
