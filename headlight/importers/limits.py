"""Limits on what an untrusted file may declare, each with its reason; a file beyond them is refused unread."""

from transformer.config import MAX_SIZES

MAX_LAYERS, MAX_WIDTH, MAX_TOKENS = (MAX_SIZES[name] for name in ("layers", "width", "vocabulary"))
MAX_INDEX_BYTES = 2**22  # bytes of the list that says which file holds which tensor; 10,000 names take 1 million
MAX_PICKLE_BYTES = 2**25  # bytes; names, shapes and types of 10,000 tensors take 3 million
MAX_PICKLE_INSTRUCTIONS = 600_000  # of a pickle; 10,000 tensors take 300,000; reading 600,000 takes half a second
MAX_LISTING_BYTES = 2**22  # bytes of a zip's table of contents; 10,000 members take 1 million
MAX_ENTRY_BYTES = 2**14  # bytes of the headers of one file in a tar archive, its name above all
MAX_PICKLE_DEPTH = 100  # nested marks of a pickle; a training checkpoint has about five

MAX_FILES = 1_000  # in an archive; a sharded model has some hundreds
MAX_COMPRESSION_RATIO = 20  # of unpacked to packed; weights reach 2, and JSON 10
MAX_FOLDER_DEPTH = 8  # folders inside folders
