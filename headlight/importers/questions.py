"""Questions that a foreign file leaves open, and its owner's answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from transformer.checkpoint.weights import Refused
from transformer.quoting import short


@dataclass(frozen=True)
class Answers:
    """The owner's answers; None means not answered."""

    heads: int | None = None
    pad_id: int | None = None
    sos_id: int | None = None
    eos_id: int | None = None
    masks: str | None = None
    source_vocab: Path | None = None
    target_vocab: Path | None = None
    source_language: str | None = None
    target_language: str | None = None
    norm: str | None = None
    activation: str | None = None
    embedding_scale: str | None = None
    positions: str | None = None
    source_framing: str | None = None
    moses: str | None = None


@dataclass(frozen=True)
class ImportQuestion:
    """A fact that must be stated before the import; nothing is guessed."""

    field: str  # of Answers
    text: str  # "How many heads does it have?"
    why: str  # "The file cannot say: every number that divides 512 fits the same weights."
    choices: tuple[int | str, ...] = ()  # the possible answers; empty for a file, and for an id (see `below`)
    below: int = 0  # for an id, a whole number from 0 to below - 1
    usual: int | str | None = None  # the value in the tutorial or family: suggested, never assumed
    required: bool = True  # a vocabulary is not (without one, ids are shown), nor are masks (then `usual` is taken)


def about_heads(d_model: int, usual: int | None) -> ImportQuestion:
    divisors = tuple(n for n in range(1, d_model + 1) if d_model % n == 0)
    return ImportQuestion(
        "heads",
        "How many heads does each attention layer have?",
        f"The file cannot say: every number that divides {d_model} fits the same weights.",
        choices=divisors,
        usual=usual if usual in divisors else None,
    )


def about_ids(both: int, target: int, usual: tuple[int | None, int | None, int | None]) -> tuple[ImportQuestion, ...]:
    """Ask for ids below `both` (shared by the vocabularies) or `target`; `usual` are padding, start and end."""
    needed = (
        ("pad_id", "Which id is padding?", "Padding is hidden from every attention.", both),
        ("sos_id", "Which id starts a sentence?", "The decoder reads it before it has written anything.", target),
        ("eos_id", "Which id ends a sentence?", "Writing stops there.", both),
    )
    return tuple(
        ImportQuestion(field, text, why, below=below, usual=id if id is not None and id < below else None)
        for (field, text, why, below), id in zip(needed, usual, strict=True)
    )


def about_vocabularies() -> tuple[ImportQuestion, ...]:
    why = "The weights contain only ids; without a vocabulary, ids are shown instead of words."
    return (
        ImportQuestion("source_vocab", "Which file holds the source vocabulary?", why, required=False),
        ImportQuestion("target_vocab", "Which file holds the target vocabulary?", why, required=False),
    )


def about_moses() -> ImportQuestion:
    return ImportQuestion(
        "moses",
        "Was its text cut into words by the Moses tokenizer?",
        "The file cannot say; texts of WMT and IWSLT usually are, so that “it's” is two words.",
        choices=("yes", "no"),
        usual="yes",
        required=False,
    )


def about_masks(nats: float) -> ImportQuestion:
    """Ask whether masks apply in a tutorial's model whose code masks nothing; they move log-probabilities by up to
    `nats`.
    """
    return ImportQuestion(
        "masks",
        "Are its attention masks applied?",
        "As the tutorial's code runs: never, although its text describes them, so its attention sees padding and, in "
        "the decoder, the words still to be written. With masks applied the model computes what the text describes, "
        f"which is not what was trained: on an example, log-probabilities differ by up to {nats:g} nats.",
        choices=("never", "applied"),
        usual="never",
        required=False,
    )


NORM_PLACES, ACTIVATIONS = ("after", "before"), ("relu", "gelu")
EMBEDDING_SCALES, POSITIONS = ("yes", "no"), ("sinusoidal", "none")
SOURCE_FRAMINGS = ("start and end", "end", "neither")


def about_computation(positions: bool) -> tuple[ImportQuestion, ...]:
    """Ask for what code around nn.Transformer decides and its weights do not show; `positions` only where the file has
    no table of them.
    """
    tables = ImportQuestion(
        "positions",
        "How are positions encoded?",
        "The file has no table of positions: it was computed, or the model has none.",
        choices=POSITIONS,
        usual="sinusoidal",
    )
    return (
        ImportQuestion(
            "norm",
            "Do the norms stand after each sublayer, or before it (norm_first=True)?",
            "The file cannot say: the same weights fit both.",
            choices=NORM_PLACES,
            usual="after",
        ),
        ImportQuestion(
            "activation",
            "Which activation do the feed-forward networks have?",
            "The file cannot say: an activation has no weights.",
            choices=ACTIVATIONS,
            usual="relu",
        ),
        ImportQuestion(
            "embedding_scale",
            "Are the embeddings multiplied by √d_model?",
            "The file cannot say; the paper and PyTorch's tutorial multiply them, as in `* math.sqrt(emb_size)`.",
            choices=EMBEDDING_SCALES,
            usual="yes",
        ),
        *([tables] if positions else []),
        ImportQuestion(
            "source_framing",
            "Which ids stand around the tokens of a source sentence?",
            "As the model was trained: the start's and the end's, as around a target sentence, or the end's alone.",
            choices=SOURCE_FRAMINGS,
            usual="start and end",
            required=False,
        ),
    )


def open_questions(questions: tuple[ImportQuestion, ...], answers: Answers) -> tuple[ImportQuestion, ...]:
    """Return the questions that are still open. Raises Refused for an impossible answer."""
    for question in questions:
        answer = getattr(answers, question.field)
        if answer is not None and not _possible(question, answer):
            raise Refused(
                f"{question.text} It cannot be {short(answer)}.", remedy=f"Choose {possible_answers(question)}."
            )
    return tuple(question for question in questions if getattr(answers, question.field) is None)


def _possible(question: ImportQuestion, answer: object) -> bool:
    if question.choices:
        return answer in question.choices
    return not question.below or (isinstance(answer, int) and 0 <= answer < question.below)


def possible_answers(question: ImportQuestion) -> str:
    """Describe the possible answers: "one of 1, 2, 4", "a whole number from 0 to 52", "a file"."""
    if question.choices:
        return f"one of {', '.join(map(str, question.choices))}"
    return f"a whole number from 0 to {question.below - 1}" if question.below else "a file"


def flag(question: ImportQuestion) -> str:
    """Return the option of the command line that gives the answer: "--pad-id"."""
    return f"--{question.field.replace('_', '-')}"
