"""The Decoding page: the search, the player that steps through it, its branches and the reference."""
