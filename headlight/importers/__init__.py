"""Import other people's checkpoints: a file per format, and bounded readers for untrusted files."""
