"""The Positions page: positional encodings, and what they do to a sentence."""
