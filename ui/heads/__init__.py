"""The Heads page: every head of a model measured over a corpus."""
