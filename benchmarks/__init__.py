"""Each figure that the documents show, measured beside what people would pick instead."""
