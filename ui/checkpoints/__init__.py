"""The Checkpoints page: the list of models, the contents of one, imports, and a comparison of two models."""
