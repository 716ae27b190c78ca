"""The Lessons page: guess first, then see."""
