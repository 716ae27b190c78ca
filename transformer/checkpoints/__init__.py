"""A checkpoint is a folder of weights and facts that people can read."""

from transformer.checkpoints.native import Checkpoint, load, save

__all__ = ["Checkpoint", "load", "save"]
