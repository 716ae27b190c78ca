"""`push`: a model with its model card to the Hugging Face hub."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from headlight import __version__, checkpoints, hub
from headlight.cli.checkpoints import Verb, takes_checkpoint
from headlight.model_card import model_card, terms_of
from transformer.access import require_readable
from transformer.files import write_text
from transformer.quoting import short

_CARD_FILE = "README.md"


def add_verbs(verb: Verb) -> None:
    """Add the subcommand `push`; `verb(run, help)` returns its parser."""
    sub = verb(push, "Upload a model with its model card to the Hugging Face hub, after showing what will be uploaded.")
    takes_checkpoint(sub)
    sub.add_argument("repository", nargs="?", metavar="OWNER/NAME", help="the model's name on the hub")
    sub.add_argument("--private", action="store_true", help="make a new repository private")
    text = "the hub's identifier of the model's licence, such as mit; without one the card points to its terms"
    sub.add_argument("--license", metavar="ID", help=text)
    sub.add_argument("--card-only", type=Path, metavar="FILE", help="only write the model card to a file")
    sub.add_argument("--yes", action="store_true", help="upload without asking")
    sub.epilog = "The token is that of `hf auth login`, or HF_TOKEN; it needs write access."


def push(options: argparse.Namespace) -> None:
    folder = Path(options.checkpoint)
    require_readable(folder)
    card = checkpoints.describe(folder).card  # checks the folder, too
    address = _address(options)
    if not terms_of(card) and not options.license:
        raise ValueError(
            f"The card of {short(folder)} does not say under which terms its data may be used. "
            'Add "terms" to its card.json, or give the licence of the model with --license.'
        )
    text = model_card(folder, address.name, options.license)
    if options.card_only:
        write_text(options.card_only, text)
        print(f"{options.card_only}: the model card of {address.name}. Nothing was uploaded.")
        return
    files: dict[str, Path | bytes] = {_CARD_FILE: text.encode()}
    files |= {name: folder / name for name in checkpoints.FILES if (folder / name).is_file()}
    existing = hub.look_up(address)
    if existing is not None and options.private and not existing.private:
        raise ValueError(f"{address.name} is there already, and public; make it private on its page, then push.")
    private = options.private if existing is None else existing.private
    _announce(address, files, existing, private)
    print(f"\nTerms of the training data: {terms_of(card) or 'not stated'}")
    print(f"Licence of the model: {options.license or card.get('license') or 'other, see the terms'}")
    _confirm(options.yes)
    url = hub.upload(address, files, existing, private, f"Upload with Headlight {__version__}")
    print(f'\nUploaded: {url}\nTo load it: headlight.load("{hub.PREFIX}{address.name}")')


def _address(options: argparse.Namespace) -> hub.Address:
    """Return the repository to push to. Raises ValueError for anything but OWNER/NAME."""
    if options.repository is None and options.card_only:
        return hub.Address(f"OWNER/{Path(options.checkpoint).resolve().name}")
    address = hub.parse_address(options.repository or "")
    if address is None or address.revision is not None or "/" not in address.name:
        raise ValueError(
            f"{short(options.repository or 'Nothing')} is not a name on the hub; give one as OWNER/NAME, "
            "or --card-only and a file."
        )
    return address


def _announce(
    address: hub.Address, files: dict[str, Path | bytes], existing: hub.Repository | None, private: bool
) -> None:
    """Print what will be uploaded, and what is there under the same name."""
    state = "a new repository" if existing is None else "a commit; what is there stays in its history"
    print(f"To {address.name}, {'private' if private else 'public'}: {state}\n")
    width = max(map(len, files))
    for name, content in files.items():
        size = content.stat().st_size if isinstance(content, Path) else len(content)
        note = "  replaces the file there" if existing is not None and name in existing.files else ""
        print(f"  {name:<{width}}  {size:>13,} bytes{note}")


def _confirm(yes: bool) -> None:
    """Ask for confirmation. Raises ValueError where it is refused, or where there is no terminal to ask in."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise ValueError("Nothing was uploaded. If all this is right, and the terms allow it, add --yes.")
    if input("\nUpload this, as the terms allow? [y/N] ").strip().lower() not in ("y", "yes"):
        raise ValueError("Nothing was uploaded.")
