"""The other sentence of "Swap the cause", typed or proposed."""

from __future__ import annotations

from typing import NamedTuple

from headlight.analysis.compared import text_diff
from headlight.importers.examples import examples
from transformer import Trace, Translator
from ui.why.passes import first_difference, forced_pass
from ui.why.view import WhyView

MAX_PROPOSALS = 8


class Cause(NamedTuple):
    """A sentence with another cause, the first step at which it makes the model write another token, and that token.

    `first` and `instead` are None where the sentence makes no difference.
    """

    text: str
    ids: tuple[int, ...]
    first: int | None
    instead: int | None


def cause_of(name: str, model: Translator, view: WhyView, trace: Trace) -> Cause | None:
    """Return the sentence to swap with: the one that was typed, else the first that is proposed, if any.

    Raises ValueError where the model cannot read it.
    """
    if view.corrupted is not None:
        text = view.corrupted
    elif offered := proposals(model, trace):
        text = offered[0]
    else:
        return None
    ids = tuple(model.encode(text))
    try:
        return Cause(text, ids, *first_difference(*forced_pass(name, trace, view)._replace(source=ids)))
    except ValueError:  # it leads to the same words; another step or token may still be asked about
        return Cause(text, ids, None, None)


def proposals(model: Translator, trace: Trace) -> list[str]:
    """Propose sentences that differ in one word and are equally long, as the model reads them."""
    # Imported only here, since it imports the grammar, for which the first page would have to wait.
    from headlight.corpora.grammars.english_french.reasons import swaps

    of_grammar = swaps(trace.text) if model.card.get("source") == "English" else []
    alike = [example.text for example in examples(model.card) if _one_word(trace.text, example.text)]
    unknown = model.checkpoint.source_tokenizer.unk_id
    fitting = []
    for text in dict.fromkeys([*of_grammar, *alike]):
        ids = model.encode(text)
        if len(ids) == len(trace.source) and unknown not in ids:
            fitting.append(text)
    return fitting[:MAX_PROPOSALS]


def _one_word(text: str, other: str) -> bool:
    changed = [piece for op, piece in text_diff(text, other) if op != "equal"]
    return len(changed) == 2 and all(len(piece.split()) == 1 for piece in changed)
