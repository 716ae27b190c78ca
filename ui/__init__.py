"""The room between the library and the pages: what draws, caches and downloads."""
