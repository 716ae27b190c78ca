"""The face of Headlight."""
