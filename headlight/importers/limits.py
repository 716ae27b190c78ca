"""Limits on what an untrusted file may declare, each with its reason; a file beyond them is refused unread."""

MAX_INDEX_BYTES = 2**22  # bytes of the list that says which file holds which tensor; 10,000 names take 1 million
MAX_PICKLE_BYTES = 2**25  # bytes; names, shapes and types of 10,000 tensors take 3 million
MAX_PICKLE_INSTRUCTIONS = (
    600_000  # of a pickle; 10,000 tensors take 300,000, and it takes half a second to read so many
)
MAX_LISTING_BYTES = 2**22  # bytes of a zip's table of contents; 10,000 members take 1 million
MAX_ENTRY_BYTES = 2**14  # bytes that a tar archive may say of one file, its name above all
MAX_PICKLE_DEPTH = 100  # things begun and not ended; a training checkpoint has five or so

MAX_FILES = 1_000  # in an archive; a sharded model has some hundreds
MAX_COMPRESSION_RATIO = 20  # of unpacked to packed; weights reach 2, and JSON 10
MAX_FOLDER_DEPTH = 8  # folders inside folders
