"""The expression language of lessons, for answers, claims, and numbers in their texts.

    row of encoder 2.2 from "it"                        all weights of a row, in per cent
    top key of cross 3.1 from "elle"                    the word that a row looks at most
    weight of cross 3.1 from "elle" to "street"         0 to 1
    previous of decoder 1.3                             a measure of a head; `measure_names` has them all
    head with the largest previous in decoder           or smallest; also "largest weight from .. to .. in .."
    number of heads with previous above 0.5 in encoder
    number of heads with effect on "elle" above 0.7 in cross   how much less probable without that head, in nats
    probability of "elle" at "elle"                     of a token, where the model wrote the second one
    log-probability                                     of the whole translation, in nats
    translation                                         also: translation by greedy, translation by beam 4
    tokens                                              how many the sentence has
    contribution of "street" to "elle"                  the share of a source word in a written one (ALTI+)
    effect of leaving out "street" on "elle"            how much less probable it becomes, in nats
    similarity of positions 3 and 5                     the cosine of two positional encodings

An expression may be followed by changes of the run: `for "another sentence"`, `as "another translation"`,
`without cross 3.1, cross 3.2`, `with no-scaling` (a mistake), `at step 281` (of the training), `model reverse`. A word
is named by its text, its second occurrence as "the"#2, or as `first word` or `last word`; a row of cross or decoder is
named by the word that it writes. Two values are compared by = != < <= > >= or has, and `and` joins conditions. In a
text, `in %` writes a share as a percentage.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from headlight.analysis.measures import MEASURES
from headlight.teaching.mistakes import RUNNABLE
from transformer.quoting import quoted

MAX_POSITION = 1_000_000
MAX_BEAM_SIZE = 20
MAX_STEP = 1_000_000_000  # of a training
KINDS = ("encoder", "decoder", "cross")
FIRST_WORD, LAST_WORD = 1, -1
OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "has")
_TOKEN = re.compile(r'\s*("[^"]*"(?:#\d+)?|\d+\.\d+|-?\d+(?:\.\d+)?|[a-z_][\w-]*|!=|<=|>=|[=<>,%])')


class Head(NamedTuple):
    """A head; layer and head count from 1."""

    kind: Literal["encoder", "decoder", "cross"]
    layer: int
    head: int

    def __str__(self) -> str:
        return f"{self.kind} {self.layer}.{self.head}"


class TokenReference(NamedTuple):
    """A token by its text and its occurrence, from 1; without a text the FIRST_WORD or LAST_WORD with a letter."""

    text: str
    occurrence: int = 1


@dataclass(frozen=True)
class Run:
    """The settings of a run that differ from the model's own, taken from the step's view."""

    text: str | None = None
    target: str | None = None
    without: tuple[Head, ...] = ()
    broken: str | None = None
    snapshot: int | None = None
    model: str | None = None


@dataclass(frozen=True)
class Expression:
    """An expression: `what` names the computation, the other fields its arguments."""

    what: str
    text: str = ""  # the source text
    head: Head | None = None
    words: tuple[TokenReference, ...] = ()
    measure: str = ""
    kind: str = ""
    number: float = 0.0
    string: str = ""
    largest: bool = True
    positions: tuple[int, int] = (0, 0)
    run: Run = Run()
    parts: tuple[Expression, ...] = ()  # of a comparison or a conjunction
    share: bool = False  # whether it is written as a percentage


def measure_names() -> dict[str, str]:
    """Return the measures that a lesson can name, by what it calls them: their names in `MEASURES`."""
    return {measure.lesson_name or measure.name: measure.name for measure in MEASURES.values() if measure.of_weights}


def parse(text: str) -> Expression:
    """Parse an expression. Raises ValueError saying what was expected where."""
    return replace(_ExpressionParser(text).parse_all(), text=text)


class _ExpressionParser:
    def __init__(self, text: str):
        self.text, self.tokens, at = text, [], 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                raise ValueError(f"{quoted(text)}: {quoted(text[at:].strip())} cannot be read there.")
            self.tokens.append(match[1])
            at = match.end()

    # ---- the parser's own verbs ------------------------------------------------------------------------------------

    def take(self, *words: str) -> bool:
        """Take these words where they come next."""
        if self.tokens[: len(words)] != list(words):
            return False
        del self.tokens[: len(words)]
        return True

    def need(self, *words: str) -> None:
        if not self.take(*words):
            raise self.wrong(f"“{' '.join(words)}”")

    def wrong(self, expected: str) -> ValueError:
        after = f"before {quoted(' '.join(self.tokens))}" if self.tokens else "at its end"
        return ValueError(f"{quoted(self.text)}: {expected} is missing {after}.")

    def next(self, pattern: str, expected: str) -> str:
        if not self.tokens or not re.fullmatch(pattern, self.tokens[0]):
            raise self.wrong(expected)
        return self.tokens.pop(0)

    def at_most(self, maximum: int, expected: str) -> int:
        """Return the whole number that comes next."""
        digits = self.next(r"\d+", expected)
        if len(digits) > len(str(maximum)) or int(digits) > maximum:
            raise ValueError(
                f"{quoted(self.text)}: {quoted(digits)} is too large for {expected}; give at most {maximum:,}."
            )
        return int(digits)

    # ---- what there is ---------------------------------------------------------------------------------------------

    def parse_all(self) -> Expression:
        parts = [self.comparison()]
        while self.take("and"):
            parts.append(self.comparison())
        if self.tokens:
            raise ValueError(f"{quoted(self.text)}: {quoted(' '.join(self.tokens))} is not understood there.")
        return parts[0] if len(parts) == 1 else Expression("and", parts=tuple(parts))

    def comparison(self) -> Expression:
        value = self.value()
        operator = next((sign for sign in OPERATORS if self.take(sign)), None)
        return value if operator is None else Expression("compare", measure=operator, parts=(value, self.value()))

    def value(self) -> Expression:
        if self.tokens and self.tokens[0].startswith('"'):
            return Expression("string", string=self.string())
        if self.tokens and re.fullmatch(r"-?\d+(\.\d+)?", self.tokens[0]):
            return Expression("constant", number=float(self.tokens.pop(0)))
        expression = self.measured()
        return replace(expression, share=True) if self.take("in", "%") else expression

    def measured(self) -> Expression:
        if self.take("row", "of"):
            return self.with_run(Expression("row", head=self.head(), words=(self.after("from"),)))
        if self.take("top", "key", "of"):
            return self.with_run(Expression("top", head=self.head(), words=(self.after("from"),)))
        if self.take("weight", "of"):
            return self.with_run(Expression("weight", head=self.head(), words=(self.after("from"), self.after("to"))))
        if self.take("head", "with", "the"):
            return self.extreme()
        if self.take("number", "of", "heads", "with"):
            words = (self.word(),) if self.take("effect", "on") else ()
            measure = "effect" if words else self.measure()
            self.need("above")
            least = float(self.next(r"-?\d+(\.\d+)?", "a number"))
            return self.with_run(Expression("count", words=words, measure=measure, number=least, kind=self.kind()))
        if self.take("probability", "of"):
            return self.with_run(Expression("probability", words=(self.word(), self.after("at"))))
        if self.take("log-probability"):
            return self.with_run(Expression("log-probability"))
        if self.take("translation"):
            return self.translation()
        if self.take("tokens"):
            return self.with_run(Expression("tokens"))
        if self.take("contribution", "of"):
            return self.with_run(Expression("contribution", words=(self.word(), self.after("to"))))
        if self.take("effect", "of", "leaving", "out"):
            return self.with_run(Expression("effect", words=(self.word(), self.after("on"))))
        if self.take("similarity", "of", "positions"):
            position = self.at_most(MAX_POSITION, "a position")
            self.need("and")
            return self.with_run(
                Expression("similarity", positions=(position, self.at_most(MAX_POSITION, "a position")))
            )
        measure = self.measure()
        self.need("of")
        return self.with_run(Expression("measure", measure=measure, head=self.head()))

    def extreme(self) -> Expression:
        largest = self.take("largest")
        if not largest:
            self.need("smallest")
        if self.take("weight"):
            return self.with_run(
                Expression("extreme", largest=largest, words=(self.after("from"), self.after("to")), kind=self.kind())
            )
        return self.with_run(Expression("extreme", largest=largest, measure=self.measure(), kind=self.kind()))

    def translation(self) -> Expression:
        beam = 5
        if self.take("by", "greedy"):
            beam = 1
        elif self.take("by", "beam"):
            beam = self.at_most(MAX_BEAM_SIZE, "a beam size")
        return self.with_run(Expression("translation", number=beam))

    # ---- its words -------------------------------------------------------------------------------------------------

    def string(self) -> str:
        return self.next(r'"[^"]*"', "a text in quotation marks")[1:-1]

    def word(self) -> TokenReference:
        for name, end in (("first", FIRST_WORD), ("last", LAST_WORD)):
            if self.take(name, "word"):
                return TokenReference("", end)
        text, _, occurrence = self.next(r'"[^"]+"(#[1-9]\d?)?', 'a word, as "it",').rpartition("#")
        return TokenReference(text[1:-1], int(occurrence)) if text else TokenReference(occurrence[1:-1])

    def after(self, preposition: str) -> TokenReference:
        self.need(preposition)
        return self.word()

    def measure(self) -> str:
        names = measure_names()
        for name in names:
            if self.take(*name.split()):
                return name
        raise self.wrong(f"what is to be computed, such as “row of ...” or one of {', '.join(names)},")

    def kind(self) -> str:
        self.need("in")
        return self.next("|".join(KINDS), "encoder, decoder or cross")

    def head(self) -> Head:
        kind = self.next("|".join(KINDS), "encoder, decoder or cross")
        layer, head = self.next(r"\d+\.\d+", "layer and head, as 2.3,").split(".")
        return Head(kind, int(layer), int(head))  # type: ignore[arg-type]

    def with_run(self, expression: Expression) -> Expression:
        run = Run()
        while True:
            if self.take("for"):
                run = replace(run, text=self.string())
            elif self.take("as"):
                run = replace(run, target=self.string())
            elif self.take("without"):
                heads = [self.head()]
                while self.take(","):
                    heads.append(self.head())
                run = replace(run, without=tuple(heads))
            elif self.take("with"):
                run = replace(run, broken=self.next("|".join(RUNNABLE), f"a mistake ({', '.join(RUNNABLE)})"))
            elif self.take("at", "step"):
                run = replace(run, snapshot=self.at_most(MAX_STEP, "a step"))
            elif self.take("model"):
                run = replace(run, model=self.next(r"[\w-]+", "the name of a model"))
            else:
                return replace(expression, run=run)
