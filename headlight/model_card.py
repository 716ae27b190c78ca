"""Write the model card for the Hugging Face hub, a README.md with YAML metadata, from a checkpoint's own card."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from babel import Locale

from headlight.checkpoints import Description, describe
from headlight.formatting import percent, plural

LIBRARY = "headlight"  # the hub's name for the library, and what is imported
PACKAGE = "headlight-attention"
NOT_STATED = "Not stated."  # the terms of a card whose corpus has none
NO_LANGUAGE = "zxx"  # ISO 639: no linguistic content, as in the words of a toy task
_LOAD_SNIPPET = """import headlight

model = headlight.load("hub:{name}")
print(model.translate({example}).text)
headlight.show(model.trace({example}))  # in a notebook: every head
"""
_METRICS = {"BLEU": "bleu", "chrF": "chrf", "exact": "exact_match"}  # of a card, and the hub's names for them
_HUB_DATASET = re.compile(r"\bhub:([\w.-]+(?:/[\w.-]+)?):")


def load_snippet(name: str, example: str = "A dog runs.") -> str:
    """Return the lines of Python that load a model of the hub, translate and show its heads."""
    return _LOAD_SNIPPET.format(name=name, example=json.dumps(example, ensure_ascii=False))


def terms_of(card: Mapping[str, Any]) -> str:
    """Return the terms of the data that a model was trained on, or "" where its card states none."""
    terms = str(card.get("terms") or "").strip()
    return "" if terms == NOT_STATED else terms


def model_card(folder: Path, name: str, license: str | None = None) -> str:
    """Return the model card of a checkpoint's folder, for the repository `name` (OWNER/NAME).

    `license` is one of the hub's identifiers, such as mit; without one, or "license" in card.json, the metadata say
    "other" and point to the terms in the text. Raises ValueError as `headlight.describe` does.
    """
    import huggingface_hub

    description = describe(folder)
    card = description.card
    languages = _languages(card)
    chosen = license or card.get("license")
    scores = list(_scores(card, languages))
    data = huggingface_hub.ModelCardData(
        language=languages or [NO_LANGUAGE],
        license=str(chosen or "other"),
        license_name=None if chosen else "see-terms",
        license_link=None if chosen else f"https://huggingface.co/{name}#terms",
        library_name=LIBRARY,
        pipeline_tag="translation" if languages else None,
        tags=["attention", "interpretability", "encoder-decoder", *["translation"] * bool(languages)],
        datasets=sorted(set(_HUB_DATASET.findall(str(card.get("command", ""))))) or None,
        metrics=[metric for field, metric in _METRICS.items() if any(field in score for score in scores)] or None,
        model_name=name.rpartition("/")[2],
        eval_results=[result for score in scores for result in _results(score)] or None,
    )
    text = "\n\n".join(part for part in _parts(description, name, scores) if part)
    return f"---\n{data.to_yaml().strip()}\n---\n\n{text}\n"


def _languages(card: Mapping[str, Any]) -> list[str]:
    """Return the ISO codes of the languages that the card names in English, source first."""
    codes = {name: code for code, name in Locale("en").languages.items() if len(code) <= 3}
    iso_codes = (codes.get(str(card.get(side))) for side in ("source", "target"))
    return list(dict.fromkeys(filter(None, iso_codes)))


def _scores(card: Mapping[str, Any], languages: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the card's scores on each corpus, without BLEU for tasks that are not a language."""
    more = card.get("more_scores")
    for score in (card.get("scores"), *(more if isinstance(more, list) else ())):
        if isinstance(score, dict) and "on" in score:
            yield {field: value for field, value in score.items() if languages or field != "BLEU"}


def _results(score: Mapping[str, Any]) -> Iterator[Any]:
    import huggingface_hub

    words = shlex.split(str(score.get("command", "")))
    corpus = words[words.index("--data") + 1] if "--data" in words[:-1] else str(score["on"])
    for field, metric in _METRICS.items():
        if isinstance(score.get(field), (int, float)):
            yield huggingface_hub.EvalResult(
                task_type="translation",
                dataset_type=corpus.partition(":")[0],
                dataset_name=str(score["on"]),
                metric_type=metric,
                metric_value=score[field],
            )


def _parts(description: Description, name: str, scores: list[dict[str, Any]]) -> Iterator[str]:
    card, config = description.card, description.config
    source, target = _inline(card.get("source", "source")), _inline(card.get("target", "target"))
    yield f"# {_inline(card.get('title') or name)}"
    encoder, decoder = config.encoder, config.decoder
    yield (
        f"An encoder-decoder transformer ({source} → {target}) with {description.parameters['all']:,} parameters: "
        f"{plural(encoder.n_layers, 'encoder layer')} of {plural(encoder.n_heads, 'head')}, "
        f"{plural(decoder.n_layers, 'decoder layer')} of {plural(decoder.n_heads, 'head')}, d_model {config.d_model}. "
        "It opens in Headlight, an app and a library that show what every attention head looks at."
    )
    yield "## How to use"
    examples = card.get("examples")
    first = examples[0] if isinstance(examples, list) and examples else "A dog runs."
    example = str(first.get("text") if isinstance(first, dict) else first)
    yield f"```\npip install {PACKAGE}\n```"
    yield f"```python\n{load_snippet(name, example)}```"
    yield f"Or on the command line: `headlight translate hub:{name} {shlex.quote(example)}`"
    if scores:
        yield "## Scores"
        yield _score_table(scores)
        yield _code([str(score["command"]) for score in scores if score.get("command")])
    yield "## Limits"
    yield "\n".join(f"- {line}" for line in _limits(description))
    yield "## Training"
    yield _inline(card.get("data") or "The card does not say which data the model was trained on.")
    if isinstance(trained := card.get("trained_on"), dict) and isinstance(trained.get("pairs"), int):
        yield f"It was trained on {trained['pairs']:,} different pairs."
    yield _code([str(card["command"])] if card.get("command") else [])
    yield "## Terms"
    yield _inline(terms_of(card) or "The card does not state the terms of the training data.")


def _score_table(scores: list[dict[str, Any]]) -> str:
    fields = [field for field in ("sentences", "BLEU", "chrF", "exact", "loss") if any(field in s for s in scores)]
    rows = [["on", *fields], ["---", *("---:" for _ in fields)]]
    for score in scores:
        values = [score.get(field, "") for field in fields]
        texts = [
            percent(value, 1) if field == "exact" and isinstance(value, (int, float)) else str(value)
            for field, value in zip(fields, values, strict=True)
        ]
        rows.append([_cell(score["on"]), *map(_cell, texts)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _limits(description: Description) -> Iterator[str]:
    card = description.card
    if card.get("broken"):
        yield f"It was trained with a mistake on purpose, `{_inline(card['broken'])}`, to show what the mistake does."
    yield f"It reads and writes at most {description.config.max_length:,} tokens."
    yield "It is for looking inside a model. Don't rely on it where a wrong output does harm."
    if isinstance(everyday := card.get("everyday"), dict):
        failed = everyday.get("failed")
        wrong = [
            f"“{_inline(pair['source'])}” → “{_inline(pair['written'])}”" for pair in failed or () if "source" in pair
        ]
        yield f"Of {everyday.get('of')} everyday sentences, {everyday.get('accepted')} translations were accepted." + (
            f" Wrong: {'; '.join(wrong)}." if wrong else ""
        )
    if isinstance(copying := card.get("copying"), dict):
        counts = [
            f"{copying[kind]['exact']} of {plural(copying[kind]['of'], singular)}"
            for kind, singular in (("names", "name"), ("numbers", "number"))
            if isinstance(copying.get(kind), dict)
        ]
        yield f"It copies {' and '.join(counts)} exactly."


def _inline(value: object) -> str:
    """Return a text on a single line."""
    return " ".join(str(value).split())


def _cell(value: object) -> str:
    return _inline(value).replace("|", r"\|")


def _code(lines: list[str]) -> str:
    """Return a block of commands, whose fence is longer than any in them; "" without lines."""
    text = "\n".join(lines)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}\n{text}\n{fence}" if lines else ""
