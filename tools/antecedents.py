"""`python -m tools.antecedents CHECKPOINT --data GRAMMAR`: measure which heads cause "il" or "elle".

It also says whether they are the heads that look at antecedents, and writes antecedents.json into the model's folder.
Take a held-out sentence whose pronoun shows what it stands for, and the same with another last adjective, which means
the other noun: "... because it was too tired" and "... too wide". Each head's output in the first is put into the run
on the second, alone (activation patching, `headlight/analysis/why/activation_patching.py`): how much of the preference
for the right pronoun is restored? Then the three heads that restore most are patched together, and for comparison those
that the Heads page names after antecedents, and three heads at random. It takes a minute on two cores.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from headlight.analysis.atlas import Atlas
from headlight.analysis.atlas.reading import PRONOUN_MEASURES
from headlight.analysis.atlas.report import places
from headlight.analysis.atlas.roles import roles
from headlight.analysis.sites import all_heads, kind_of
from headlight.analysis.why import Corruption, restored_by
from headlight.checkpoints import digest, load_translator
from headlight.corpora.corpora import open_split
from headlight.corpora.gold import GoldCorpus, GoldPair, split_words
from transformer import Translator
from transformer.files import read_json, write_json
from transformer.taps import Site
from transformer.trace import Kind

FILE = "antecedents.json"
N_PAIRS, N_BEST_HEADS, N_RANDOM_SETS = 200, 3, 10
ADJECTIVE_SENTENCES = 20_000  # read to learn which adjectives a noun can have
Head = tuple[Site, int]
HeadIndex = tuple[Kind, int, int]


class AntecedentQuestion(NamedTuple):
    """A pair of sentences, and the word in which their translations first differ."""

    text: str
    corrupted: str
    source: list[int]
    other: list[int]
    target: list[int]
    step: int
    token: int  # the model's prediction for `text`
    corrupted_token: int  # the model's prediction for `corrupted`


def adjectives(corpus: Iterable[GoldPair]) -> dict[str, set[str]]:
    """Return the adjectives that end a sentence, by the noun that the pronoun before them stands for."""
    adjectives_of: dict[str, set[str]] = defaultdict(set)
    for pair in corpus:
        for pronoun in pair.pronouns:
            words = split_words(pair.source)
            adjectives_of[words[pronoun.antecedent]].add(words[-2])
    return adjectives_of


def questions(
    model: Translator, pairs: Iterable[GoldPair], adjectives_of: dict[str, set[str]]
) -> Iterator[AntecedentQuestion]:
    """Return each held-out sentence with the first adjective, by the alphabet, that changes the pronoun it gets.

    Only where the model translates the sentence as the grammar does, and where no other token differs before.
    """
    tokenizer = model.checkpoint.target_tokenizer
    for pair in pairs:
        if len(pair.resolvable) != 1 or model.translate(pair.source, beam_size=1).text != pair.target:
            continue
        (pronoun,) = pair.resolvable
        words = split_words(pair.source)
        nouns = [word for i, word in enumerate(words) if word in adjectives_of and i != pronoun.antecedent]
        own_adjectives = adjectives_of[words[pronoun.antecedent]]
        right = split_words(pair.target)[pronoun.written]
        for adjective in sorted(set().union(*(adjectives_of[noun] for noun in nouns)) - own_adjectives):
            start, _, end = pair.source.rpartition(words[-2])
            corrupted = start + adjective + end
            question = _question(model, pair.source, corrupted, pair.target)
            if question is None:
                continue
            tokens = question.token, question.corrupted_token
            word, corrupted_word = (tokenizer.decode([id]).strip(" '") for id in tokens)
            if word == right and {word, corrupted_word} in ({"il", "elle"}, {"ils", "elles"}):
                yield question
                break


def _question(model: Translator, text: str, corrupted: str, translation: str) -> AntecedentQuestion | None:
    source, other, target = model.encode(text), model.encode(corrupted), model.encode_target(translation)
    if len(source) != len(other):
        return None
    with torch.no_grad():
        best = model.model(torch.tensor([other]), torch.tensor([target[:-1]]))[0].argmax(-1).tolist()
    for step, (token, corrupted_token) in enumerate(zip(target[1:], best, strict=True)):
        if token != corrupted_token:
            return AntecedentQuestion(text, corrupted, source, other, target, step, token, corrupted_token)
    return None


def shares(
    model: Translator, antecedent_questions: Sequence[AntecedentQuestion], sets: Sequence[Sequence[Head]]
) -> np.ndarray:
    """Return the share that each set of heads restores in each pair: [pairs, sets]."""
    return np.array(
        [
            restored_by(
                model.model,
                Corruption(question.source, question.other, question.target, question.step, question.corrupted_token),
                sets,
            )
            for question in antecedent_questions
        ]
    )


def named_heads(folder: Path) -> list[HeadIndex]:
    """Return the heads that the Heads page names after antecedents, by the measurements in the model's folder."""
    facts = read_json(folder / "heads.json")
    atlas = Atlas.from_dict(facts)
    return [
        head for head in places(atlas) if any(role.kind.measure in PRONOUN_MEASURES for role in roles(atlas, *head))
    ]


def measured(
    model: Translator, antecedent_questions: Sequence[AntecedentQuestion], after: Sequence[HeadIndex]
) -> dict[str, Any]:
    """Return the content of antecedents.json; layers and heads count from 0."""
    heads = all_heads(model.model)
    place_of: dict[Head, HeadIndex] = {head: (kind_of(head[0]), head[0].layer, head[1]) for head in heads}
    each = shares(model, antecedent_questions, [[head] for head in heads])  # [pairs, heads]
    top = [heads[at] for at in np.argsort(-each.mean(0))[:N_BEST_HEADS]]
    of_role = [head for head in heads if place_of[head] in after]
    rng = random.Random(0)
    random_sets = [rng.sample(heads, N_BEST_HEADS) for _ in range(N_RANDOM_SETS)]
    restored = shares(model, antecedent_questions, [top, of_role, *random_sets])
    order = np.argsort(-each.mean(0))
    return {
        "pairs": len(antecedent_questions),
        "heads": [[*place_of[heads[at]], *_spread(each[:, at])] for at in order],
        "top": {"heads": [place_of[head] for head in top], "restored": _spread(restored[:, 0])},
        "named": {"heads": [place_of[head] for head in of_role], "restored": _spread(restored[:, 1])},
        "random": {"heads": N_BEST_HEADS, "draws": N_RANDOM_SETS, "restored": _spread(restored[:, 2:].mean(0))},
        "overlap": len(set(top) & set(of_role)),
        "examples": [[question.text, question.corrupted] for question in antecedent_questions[:5]],
    }


def _spread(values: np.ndarray) -> list[float]:
    """Return mean and standard deviation."""
    return [round(float(values.mean()), 4), round(float(values.std(ddof=1)), 4)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.antecedents")
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--data", required=True, help="a grammar whose pronouns show what they stand for")
    options = parser.parse_args()
    model = load_translator(options.checkpoint)
    train, test = open_split(options.data, "train"), open_split(options.data, "test")
    if not isinstance(train, GoldCorpus) or not isinstance(test, GoldCorpus):
        sys.exit(f"{options.data} is no grammar, so the antecedents of its pronouns are not known.")
    adjectives_of = adjectives(islice(train.gold(), ADJECTIVE_SENTENCES))
    antecedent_questions = list(islice(questions(model, test.gold(), adjectives_of), N_PAIRS))
    facts = measured(model, antecedent_questions, named_heads(options.checkpoint))
    command = f"python -m tools.antecedents {options.checkpoint} --data {options.data}"
    write_json(
        options.checkpoint / FILE, {"command": command, "model": digest(options.checkpoint), "on": test.name} | facts
    )
    for name in ("pairs", "top", "named", "random", "overlap"):
        print(name, facts[name])


if __name__ == "__main__":
    main()
