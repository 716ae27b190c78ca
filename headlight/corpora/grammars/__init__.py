"""The grammars by name, each in a folder of its own."""

from headlight.corpora.grammars.english_french import ENGLISH_FRENCH
from headlight.corpora.grammars.english_hindi import ENGLISH_HINDI

GRAMMARS = {grammar.name: grammar for grammar in (ENGLISH_FRENCH, ENGLISH_HINDI)}
