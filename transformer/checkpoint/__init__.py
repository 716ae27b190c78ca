"""The native checkpoint: a folder with the weights, the configuration, the tokenizers and a card."""

from transformer.checkpoint.native import Checkpoint, load, save

__all__ = ["Checkpoint", "load", "save"]
