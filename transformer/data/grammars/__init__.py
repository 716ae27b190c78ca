"""The grammars by name, each in a folder of its own."""

from transformer.data.gold import Grammar
from transformer.data.grammars.english_french import EnglishFrench
from transformer.data.grammars.english_hindi import EnglishHindi

GRAMMARS: dict[str, Grammar] = {grammar.name: grammar for grammar in (EnglishFrench(), EnglishHindi())}
