"""The Transformer that a student wrote in the exercises (`docs/exercises`), as `reverse.py` saves it."""

from headlight.importers.forms.tutorials import Deviation, Tutorial

EXERCISES = Tutorial(
    name="Exercises",
    embeddings=("encoder.embedding.tokens", "decoder.embedding.tokens"),
    tables=("encoder.embedding.table", "decoder.embedding.table"),
    layers=("encoder.layers", "decoder.layers"),
    attentions=(("attention",), ("self_attention", "cross_attention")),
    maps=("query", "key", "value", "output"),
    feed_forwards=("feed_forward", "feed_forward"),
    inner_outer=("inner", "outer"),
    norms=("norm_1", "norm_2", "norm_3"),
    gain_bias=("gain", "bias"),
    final_norms=None,
    output="output",
    norm="post",
    deviation=Deviation(),
    usual_heads=4,
    usual_ids=(0, 2, 3),
)
