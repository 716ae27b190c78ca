"""The Checkpoints page: what is here, what is in it, a model from elsewhere, two models beside each other."""
