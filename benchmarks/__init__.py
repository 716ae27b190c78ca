"""Benchmarks for each figure that the documents state, measured in turns with the alternatives."""
