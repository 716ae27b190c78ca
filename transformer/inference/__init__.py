"""The same network with its weights prepared for fast inference."""

from transformer.inference.prepared import Prepared

__all__ = ["Prepared"]
