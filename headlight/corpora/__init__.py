"""Texts in, padded batches out: tokenizers, corpora and batches."""
