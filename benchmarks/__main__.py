"""`python -m benchmarks NAME`: measures, prints, and writes benchmarks/results/NAME.json and NAME.svg."""

import argparse
from importlib import import_module

from benchmarks import (
    atlas,
    beside,
    classroom,
    decoding,
    imported,
    memory,
    published,
    quality,
    recording,
    returned,
    showing,
    start,
    stepping,
    tables,
    training,
    why,
    worker,
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = parser.add_subparsers(metavar="NAME", required=True)
    showing.add_arguments(names.add_parser("showing", help="bytes and time until every head is seen"))
    stepping.add_arguments(names.add_parser("stepping", help="from a key to the next step, decoding and anatomy"))
    training.add_arguments(names.add_parser("training", help="target tokens a second beside the peers"))
    decoding.add_arguments(names.add_parser("decoding", help="sentences a second beside the peers"))
    imported.add_arguments(names.add_parser("imported", help="a model of opus-mt's size in the app"))
    recording.add_arguments(names.add_parser("recording", help="what keeping every pattern costs"))
    quality.add_arguments(names.add_parser("quality", help="BLEU against minutes of training, beside the peers"))
    start.add_arguments(names.add_parser("start", help="from starting it to the first heatmap, cold and warm"))
    beside.add_arguments(names.add_parser("beside", help="training while its page is watched"))
    classroom.add_arguments(names.add_parser("classroom", help="a class of thirty beside a training"))
    class_ = import_module("benchmarks.class")  # a word of the language can't be imported by a statement
    class_.add_arguments(names.add_parser("class", help="a class of sixty that answers a lesson together"))
    returned.add_arguments(names.add_parser("returned", help="memory of the server after huge requests"))
    memory.add_arguments(names.add_parser("memory", help="memory against the size of the corpus"))
    tables.add_arguments(names.add_parser("tables", help="memory of a corpus that becomes a table"))
    worker.add_arguments(names.add_parser("worker", help="memory of a training over thousands of updates"))
    atlas.add_arguments(names.add_parser("atlas", help="every head over a corpus, beside plain scoring"))
    why.add_arguments(names.add_parser("why", help="what the page Why computes, beside Inseq"))
    published.add_arguments(names.add_parser("published", help="a published page in Chromium, beside Python"))
    options = vars(parser.parse_args())
    run = options.pop("run")
    try:
        run(**options)
    except ValueError as error:
        parser.exit(2, f"{error}\n")


if __name__ == "__main__":
    main()
