"""Changes of heads as the address names them."""

from headlight.analysis.head_changes import HeadChange
from transformer import ModelConfig, StackConfig
from transformer.taps import Ablate, Scale, Site, Uniform

CONFIG = ModelConfig(10, 10, d_model=8, encoder=StackConfig(2, 4, 8), decoder=StackConfig(3, 2, 8))


def test_a_change_is_the_intervention_that_it_names() -> None:
    assert HeadChange.parse("cross.2.1").tap() == Ablate(Site("decoder", 1, "cross"), 0)  # type: ignore[union-attr]
    assert HeadChange.parse("encoder.1.4u").tap() == Uniform(Site("encoder", 0, "self"), 3)  # type: ignore[union-attr]
    assert HeadChange.parse("decoder.3.2x0.25").tap() == Scale(Site("decoder", 2, "self"), 1, 0.25)  # type: ignore[union-attr]
    assert HeadChange.parse("cross.2") is None
    assert HeadChange.parse("cross.2.1x3") is not None
    assert HeadChange.parse("cross.2.1x3.25") is None  # the slider ends at 3


def test_a_change_exists_only_in_a_model_that_has_the_head() -> None:
    assert HeadChange("encoder", 2, 4).exists_in(CONFIG)
    assert not HeadChange("decoder", 2, 4).exists_in(CONFIG)
    assert not HeadChange("encoder", 3, 1).exists_in(CONFIG)
