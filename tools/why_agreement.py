"""`python -m tools.why_agreement`: measure which attribution agrees with leaving words out, over held-out sentences.

For each shipped model, on test pairs of the corpus that its heads were measured on: Spearman's rank correlation of each
measure's values for the source tokens with how much leaving each of them out changes (and, signed, costs), a mean over
the steps of a sentence, then mean, standard deviation and bootstrap interval over the sentences. The explained text is
the model's own translation.

For those that write French by the grammar also activation patching: pairs of sentences that differ in the adjective
which says what "it" is, and that the model tells apart; how much of the difference the three best heads restore
together, and which heads those are.

Writes why.json into each model's folder, which the pages Why and Attention read. An hour on two cores.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from headlight.analysis.why import (
    Corruption,
    close_to_best,
    correlations,
    integrated_steps,
    measured,
    patching,
    restored_by,
    summed_up,
    with_integrated,
)
from headlight.checkpoints import digest, load_translator
from headlight.corpora.corpora import open_corpus
from headlight.corpora.grammars.english_french import reasons
from transformer import Translator
from transformer.files import read_json, write_json

ROOT = Path(__file__).parents[1]
N_SENTENCES, N_PAIRS, N_BEST_HEADS = 60, 200, 3


def over_corpus(translator: Translator, corpus: str, sentences: int) -> dict[str, Any]:
    """Return the rank correlation of each measure over the first test sentences of a corpus."""
    each: dict[str, list[float]] = {}
    signed: dict[str, list[float]] = {}
    test = open_corpus(corpus).test
    assert test is not None, corpus
    for pair in islice(test, sentences):
        source = translator.encode(pair.source)
        target = [translator.model.config.sos_id, *translator.translate(pair.source).ids]
        integrated = integrated_steps(translator.model, source, target)
        attributions = with_integrated(measured(translator.model, source, target), integrated)
        for by, values in ((each, correlations(attributions)), (signed, correlations(attributions, signed=True))):
            for name, steps in values.items():
                by.setdefault(name, []).append(float(np.nanmean(steps)) if not np.isnan(steps).all() else np.nan)
    best, close = close_to_best(each)
    of_signed = _rounded(signed)
    measures = {name: {**values, "signed": of_signed[name]} for name, values in _rounded(each).items()}
    facts = {"best": best, "not_told_apart_from_best": close, "measures": measures}
    return {"corpus": corpus, "part": "test", "sentences": sentences, **facts}


def _rounded(each: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    """Return mean, spread and 95 % interval by measure, the highest mean first."""
    methods = sorted(summed_up(each).items(), key=lambda item: -np.nan_to_num(item[1].mean, nan=-2.0))
    names = ("mean", "spread", "low", "high")
    return {name: {part: round(getattr(summary, part), 4) for part in names} for name, summary in methods}


def distinguished_pairs(translator: Translator) -> Iterator[tuple[str, str]]:
    """Return pairs of sentences that differ in one adjective, and in the gender of what the model writes for "it"."""
    rng = random.Random(0)
    while True:
        text = reasons.by_meaning(rng).source
        swaps = reasons.swaps(text)
        if not swaps:
            continue
        other = rng.choice(swaps)
        translations = [
            f" {translator.translate(sentence).text} ".replace("'", " ").lower() for sentence in (text, other)
        ]
        genders = [
            (" elle " in translation or " elles " in translation, " il " in translation or " ils " in translation)
            for translation in translations
        ]
        if {(True, False), (False, True)} == set(genders) and len(translator.encode(text)) == len(
            translator.encode(other)
        ):
            yield text, other


def causes(translator: Translator, pairs: int) -> dict[str, Any]:
    """Return what the best heads restore of the pronoun's gender: shares of the difference of the two logits."""
    labels = translator.checkpoint.target_tokenizer.labels
    restored, chosen = [], Counter[str]()
    for text, other in islice(distinguished_pairs(translator), pairs):
        source, corrupted = translator.encode(text), translator.encode(other)
        target = [translator.model.config.sos_id, *translator.translate(text).ids]
        rival = [translator.model.config.sos_id, *translator.translate(other).ids]
        step = next(i for i, (a, b) in enumerate(zip(target[1:], rival[1:], strict=False)) if a != b)
        corruption = Corruption(source, corrupted, target, step, rival[step + 1])
        patched = patching(translator.model, corruption)
        ranked = sorted(
            ((site, head) for site, shares in patched.restored.items() for head in range(len(shares))),
            key=lambda at: -patched.restored[at[0]][at[1]],
        )
        restored += restored_by(translator.model, corruption, [ranked[:N_BEST_HEADS]])
        for site, head in ranked[:N_BEST_HEADS]:
            kind = "cross" if site.kind == "cross" else site.stack
            chosen[f"{kind} {site.layer + 1} {head + 1}"] += 1
        assert labels([target[step + 1]]) != labels([rival[step + 1]])
    return {
        "pairs": pairs,
        "top": N_BEST_HEADS,
        "restored": {"mean": round(float(np.mean(restored)), 4), "spread": round(float(np.std(restored)), 4)},
        "heads": dict(chosen.most_common(10)),  # "kind layer head": among the best of how many pairs
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", help="shipped models by their name; all that came measured if absent")
    parser.add_argument("--sentences", type=int, default=N_SENTENCES, help="sentences for each model")
    text = "pairs of sentences that differ in one word; 0 keeps what was measured of them"
    parser.add_argument("--pairs", type=int, default=N_PAIRS, help=text)
    options = parser.parse_args()
    torch.set_num_threads(1)
    command = f"python -m tools.why_agreement --sentences {options.sentences} --pairs {options.pairs or N_PAIRS}"
    for folder in sorted((ROOT / "checkpoints").iterdir()):
        if not (folder / "heads.json").is_file() or folder.name not in (options.models or [folder.name]):
            continue
        translator, corpus = load_translator(folder), read_json(folder / "heads.json")["corpus"]
        facts = {"command": command, "model": digest(folder), **over_corpus(translator, corpus, options.sentences)}
        before = read_json(folder / "why.json") if (folder / "why.json").is_file() else {}
        if options.pairs == 0 and "causes" in before and before["model"] == facts["model"]:
            facts["causes"] = before["causes"]
        elif corpus == "english-french":
            facts["causes"] = causes(translator, options.pairs)
        print(folder.name, facts, flush=True)
        write_json(folder / "why.json", facts)


if __name__ == "__main__":
    main()
