"""A head measure: how much weight lies on the last token of the sentence."""

from torch import Tensor

from headlight.analysis.measures import Measure, Pattern


def last_key(pattern: Pattern) -> Tensor:
    """Return a number for each head, [B, H], of the weights [B, H, Q, K] as shares of their rows."""
    context = pattern.context
    keys = context.visible.any(1)  # [B, K], the tokens that are no padding
    last = keys.sum(-1) - 1  # [B]
    at = last[:, None, None, None].expand(*pattern.shares.shape[:3], 1)
    return pattern.mean(pattern.shares.gather(-1, at)[..., 0])


LAST_KEY = Measure(
    name="last_key",
    label="Last key",
    unit="share",
    meaning="Share of weight on the last token.",
    formula="p_K",
    source="an example",
    function=last_key,
)
