"""Sentence pairs of a grammar as text that a reader of both languages can judge."""

from collections.abc import Iterable

from headlight.corpora.gold import GoldPair, split_words


def listed(text: str) -> list[str]:
    """Return the words of a text; a test's list of hundreds of words is shorter without quotation marks."""
    return text.split()


def as_text(pairs: Iterable[GoldPair]) -> str:
    """Four lines a pair: source, target, links from 0 as i-j, and what each pronoun stands for."""
    return "\n".join(f"{pair.source}\n{pair.target}\n{_links(pair)}\n{_pronouns(pair)}\n" for pair in pairs)


def _links(pair: GoldPair) -> str:
    return " ".join(f"{here}-{there}" for here, there in pair.links)


def _pronouns(pair: GoldPair) -> str:
    source, target = split_words(pair.source), split_words(pair.target)
    descriptions = [
        f"{source[each.word]} ({each.word}) is {source[each.antecedent]} ({each.antecedent}), "
        f"{'shown by' if each.shows else 'written'} {target[each.written]} ({each.written})"
        for each in pair.pronouns
    ]
    return "; ".join(descriptions) or "-"
