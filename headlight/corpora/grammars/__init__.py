"""The grammars by name, each in a folder of its own."""

from headlight.corpora.gold import Grammar
from headlight.corpora.grammars.english_french import EnglishFrench
from headlight.corpora.grammars.english_hindi import EnglishHindi

GRAMMARS: dict[str, Grammar] = {grammar.name: grammar for grammar in (EnglishFrench(), EnglishHindi())}
