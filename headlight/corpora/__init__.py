"""Corpora: sentence pairs from files, the hub, mixtures and grammars, and their token ids."""
