"""How a sentence ends, and which of its forms it takes: statement, negation or question."""

from collections.abc import Callable

from headlight.corpora.gold import Word
from headlight.corpora.grammars.english_hindi.choices import Scene
from headlight.corpora.grammars.english_hindi.clauses import Clause, Side, Tense


def stop(side: Side, mark: str = ".") -> Side:
    end = Word(mark, glued=True)
    return Side([*side.english, end], [*side.hindi, Word({".": "।"}.get(mark, mark), (end,), glued=True)])


def ask(side: Side) -> Side:
    return stop(side, "?")


def any_form(scene: Scene, build: Callable[[bool, bool], Clause]) -> Side:
    """A statement, negated now and then, or a question: `build` takes (negative, question)."""
    how = scene.rng.random()
    if how < 0.2:
        return ask(build(False, True).whether())
    return stop(build(how > 0.85, False).statement())


def be_tense(scene: Scene) -> Tense:
    weights: dict[Tense, int] = {"present": 5, "past": 3, "future": 1}
    return scene.weighted(weights)
