"""The parts of a score in words: the names of writers, and sentences about the largest parts."""

from __future__ import annotations

from headlight.analysis.stream import CROSS, FEED_FORWARD, SELF
from headlight.analysis.why.residual_parts import BIAS, EMBEDDING, POSITION, Writer
from headlight.analysis.why.score_parts import ScoreParts
from headlight.formatting import percent, signed
from headlight.language import gettext, translatable

_WRITER_NAMES = {
    EMBEDDING: translatable("the token's embedding"),
    POSITION: translatable("the position"),
    BIAS: translatable("the biases"),
    CROSS: translatable("cross-attention layer {layer}, head {head}"),
    f"encoder {SELF}": translatable("encoder layer {layer}, head {head}"),
    f"decoder {SELF}": translatable("decoder layer {layer}, head {head}"),
    f"encoder {FEED_FORWARD}": translatable("encoder feed-forward network {layer}"),
    f"decoder {FEED_FORWARD}": translatable("decoder feed-forward network {layer}"),
}
MIN_MAIN_SHARE = 0.5  # a pair with at least this share of the sum of all pairs of its sign is most of the score


def writer_name(writer: Writer) -> str:
    """Return the name of a writer within a sentence: "encoder layer 2, head 2"; layers and heads count from 1."""
    layer, head = writer.layer + 1, writer.head + 1
    name = _WRITER_NAMES.get(writer.part) or _WRITER_NAMES[f"{writer.stack} {writer.part}"]
    return gettext(name, layer=layer, head=head)


def score_sentences(parts: ScoreParts, query: str, key: str, rather: str | None = None) -> list[str]:
    """Return three sentences: the score and what it is relative to, its largest pair, and each side's largest writer.

    `query`, `key` and `rather`, the other key, are the labels of the tokens.
    """
    if parts.relative_to is None:
        text = translatable("The score of “{key}” for “{query}” is {value}.")
        first = gettext(text, key=key, query=query, value=signed(parts.score))
    elif parts.relative_to == "mean":
        text = translatable("“{key}” has a score {value} above the mean of the row of “{query}”.")
        if parts.score < 0:
            text = translatable("“{key}” has a score {value} below the mean of the row of “{query}”.")
        first = gettext(text, key=key, query=query, value=signed(abs(parts.score)))
    else:
        text = translatable("For “{query}” the score of “{key}” is {value} above that of “{rather}”.")
        if parts.score < 0:
            text = translatable("For “{query}” the score of “{key}” is {value} below that of “{rather}”.")
        first = gettext(text, key=key, query=query, rather=rather, value=signed(abs(parts.score)))
    (pair,) = parts.largest()
    share = pair.value / parts.pairs[parts.pairs * pair.value > 0].sum() if pair.value else 0.0
    names = {
        "query_writer": writer_name(pair.query),
        "query": query,
        "key_writer": writer_name(pair.key),
        "key": key,
        "value": signed(pair.value, plus=True),
        "share": percent(share),
    }
    if pair.value * parts.score > 0 and share >= MIN_MAIN_SHARE:
        second = gettext(
            "Mostly because of what {query_writer} wrote at “{query}”, with what {key_writer} wrote at “{key}”: "
            "{value}, {share} of all pairs with that sign.",
            **names,
        )
    else:
        second = gettext(
            "No pair makes most of it. The largest is what {query_writer} wrote at “{query}”, with what {key_writer} "
            "wrote at “{key}”: {value}, {share} of all pairs with that sign.",
            **names,
        )
    by_query, by_key = parts.pairs.sum(1), parts.pairs.sum(0)
    i, j = int(abs(by_query).argmax()), int(abs(by_key).argmax())
    third = gettext(
        "Summed over its pairs, the largest part at “{query}” is that of {query_writer} ({value}), at “{key}” that of "
        "{key_writer} ({key_value}).",
        query_writer=writer_name(parts.query_writers[i]),
        key_writer=writer_name(parts.key_writers[j]),
        query=query,
        key=key,
        value=signed(float(by_query[i]), plus=True),
        key_value=signed(float(by_key[j]), plus=True),
    )
    return [first, second, third]
