"""The configuration of a T5 model."""

from __future__ import annotations

from dataclasses import dataclass, field

from transformer.config import (
    MAX_SIZES,
    ConfigError,
    ModelConfig,
    Norm,
    NormForm,
    Positions,
    StackConfig,
    Tied,
    check_whole,
)


@dataclass(frozen=True)
class T5Config(ModelConfig):
    """`ModelConfig` with T5's additional fields; fields that are the same in every T5 model cannot be set.

    Both stacks share one embedding. `tied` is "all" if the output projection is that matrix too (T5 1.0), else "none".
    "gelu" is the tanh approximation, as in T5's own code. Raises ConfigError as `ModelConfig` does.
    """

    norm_eps: float = 1e-6
    tied: Tied = "all"
    pad_id: int = 0
    sos_id: int = 0
    eos_id: int = 1
    d_kv: int = 64  # the size of a head, which need not be d_model / n_heads
    buckets: int = 32  # ranges of distances, each with its own bias
    max_distance: int = 128  # distances beyond it share a bucket
    gated: bool = False
    shared_bias: bool = True  # whether all layers of a stack have the same position bias

    norm: Norm = field(default="pre", init=False)
    final_norm: bool = field(default=True, init=False)
    positions: Positions = field(default="none", init=False)  # nothing is added to the embeddings
    scale_embeddings: bool = field(default=False, init=False)
    norm_form: NormForm = field(default="standard", init=False)
    embedding_norm: bool = field(default=False, init=False)
    output_transform: bool = field(default=False, init=False)
    qkv_bias: bool = field(default=False, init=False)
    attention_output_bias: bool = field(default=False, init=False)
    logits_bias: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("buckets", self.buckets, 4, MAX_SIZES["width"])
        check_whole("max_distance", self.max_distance, self.buckets // 2 + 1, MAX_SIZES["length"])
        if self.source_vocab_size != self.target_vocab_size:
            raise ConfigError(
                "source_vocab_size",
                f"is {self.source_vocab_size} and target_vocab_size {self.target_vocab_size}; "
                "T5 reads and writes one vocabulary, so give both the same.",
            )
        if self.tied not in ("all", "none"):
            raise ConfigError(
                "tied", f"is {self.tied}; T5's output is the embedding ('all') or its own matrix ('none')."
            )

    def _validate_stack(self, name: str, stack: StackConfig) -> None:
        stack.validate_sizes(name)
        check_whole("d_kv", self.d_kv, 1, MAX_SIZES["width"] // stack.n_heads)

    def d_head(self, stack: StackConfig) -> int:
        """Return the size of each head."""
        return self.d_kv
