"""Evaluate models on slices of a data set: by length, rare words, names, negation, pronouns or a column of its file.

from headlight import slices
evaluation = slices.evaluate(model, "multi30k:en-fr", ["length", "negation"])
evaluation.slices[0].bleu  # of all sentences, with a 95 % interval
evaluation.worst(20)  # the sentences with the lowest chrF
"""

from headlight.slices.evaluating import MAX_SENTENCES, evaluate
from headlight.slices.kinds import KINDS, Slice, slice_sentences
from headlight.slices.scores import Estimate, SlicedEvaluation, SlicedSentence, SliceScores

__all__ = [
    "KINDS",
    "MAX_SENTENCES",
    "Estimate",
    "Slice",
    "SliceScores",
    "SlicedEvaluation",
    "SlicedSentence",
    "evaluate",
    "slice_sentences",
]
