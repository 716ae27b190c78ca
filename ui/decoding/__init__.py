"""The Decoding page's parts: the search, the player that steps through it, its branches and the reference."""
