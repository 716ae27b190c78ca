"""Sentences of a core vocabulary: every frequent word in at least ten pairs, and everyday grammar."""
