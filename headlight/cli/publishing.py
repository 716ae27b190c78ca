"""`publish`: a model, or the attention of one sentence, as pages that need no installation."""

from __future__ import annotations

import argparse
from pathlib import Path

from headlight.checkpoints import find
from headlight.cli.checkpoints import CHECKPOINT_HELP, Verb
from headlight.formatting import file_size
from headlight.language import LANGUAGES, ORIGINAL_LANGUAGE, using
from headlight.web.publish import single_gallery, single_page, write_folder, write_gallery
from headlight.web.traces import load_trace, trace_page
from transformer.files import write_text


def add_verbs(verb: Verb) -> None:
    """Add the subcommand `publish`; `verb(run, help)` returns its parser."""
    sub = verb(publish, "Write a page that draws every head of a model, or of a saved trace, in any browser.")
    sub.add_argument("model", nargs="?", help=CHECKPOINT_HELP)
    sub.add_argument("folder", nargs="?", help="a new folder for a web server; with --gallery, give only this")
    sub.add_argument("--trace", type=Path, metavar="FILE", help="the .npz of a trace, in place of a model")
    sub.add_argument("--gallery", type=Path, metavar="FILE", help="a text with addresses of views, in place of a model")
    sub.add_argument("--single", metavar="FILE", help="one HTML file that needs no server")
    sub.add_argument("--title", help="the heading of a trace's page; the model's name if absent")
    sub.add_argument("--language", choices=LANGUAGES, default=ORIGINAL_LANGUAGE, help="the page's language")


def publish(options: argparse.Namespace) -> None:
    with using(options.language):
        _publish(options)


def _publish(options: argparse.Namespace) -> None:
    if options.trace:
        if options.model or not options.single:
            raise ValueError(
                "A trace is published as one file, without its model: --trace trace.npz --single page.html."
            )
        page = trace_page(load_trace(options.trace), title=options.title)
    elif options.gallery:
        if options.folder or bool(options.model) == bool(options.single):
            raise ValueError("Say where to write the gallery: a new folder, or --single and a file.")
        if options.model:  # with --gallery, the first argument is the folder
            _print_written(options.model, write_gallery(options.gallery, options.model))
            return
        page = single_gallery(options.gallery)
    elif not options.model or bool(options.folder) == bool(options.single):
        raise ValueError("Name a model and where to write it: a new folder, or --single and a file.")
    elif options.folder:
        _print_written(options.folder, write_folder(str(find(options.model)), options.folder))
        return
    else:
        page = single_page(str(find(options.model)))
    write_text(options.single, page)
    print(f"{options.single}: {file_size(len(page.encode()))}. Open it in a browser, or send it.")


def _print_written(folder: str, size: int) -> None:
    use = f"Put it on a web server, or try it: python -m http.server --bind 127.0.0.1 --directory {folder}"
    print(f"{folder}: {file_size(size)}. {use}")
