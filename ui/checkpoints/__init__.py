"""The Checkpoints page: what is here, what is in it, a model from elsewhere, a comparison of two models."""
