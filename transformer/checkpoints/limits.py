"""Limits on what an untrusted file may declare, each with its reason. A file that declares more is refused unread."""

LARGEST_WEIGHTS = 8 * 2**30  # bytes; an encoder-decoder of 1.3 thousand million parameters in float32 has 5.5e9
MOST_TENSORS = 10_000  # a model has some hundreds, thousands at most, and its optimizer two for each
LONGEST_NAME = 500  # characters of a tensor's name
MOST_DIMENSIONS = 16
LARGEST_DIMENSION = 2**40
MOST_REPEATS = 4  # tensors may share their numbers, as tied embeddings do three times, but not make much of little
SMALL = 2**24  # bytes below which repetition, or a high ratio of compression, is harmless

LARGEST_HEADER = 2**25  # bytes of a safetensors header; it carries the tokenizers where a model is one file
LARGEST_INDEX = 2**22  # bytes of the list that says which file holds which tensor; 10,000 names take 1 million
LARGEST_PICKLE = 2**25  # bytes; names, shapes and types of 10,000 tensors take 3 million
MOST_INSTRUCTIONS = 600_000  # of a pickle; 10,000 tensors take 300,000, and it takes half a second to read so many
LARGEST_CONTENTS = 2**22  # bytes of a zip's table of contents; 10,000 members take 1 million
LARGEST_ENTRY = 2**14  # bytes that a tar archive may say of one file, its name above all
DEEPEST_PICKLE = 100  # things begun and not ended; a training checkpoint has five or so

MOST_FILES = 1_000  # in an archive; a sharded model has some hundreds
LARGEST_RATIO = 20  # of unpacked to packed; weights reach 2, and JSON 10
DEEPEST = 8  # folders inside folders
