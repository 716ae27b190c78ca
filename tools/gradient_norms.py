"""`python -m tools.gradient_norms`: measure the gradients of a deep network with pre- and post-norm, for Anatomy.

Four short trainings of one network of 6 + 6 layers on the task `reverse`, from the same weights, on the same batches:
norms before or after each block, with warm-up and without. Writes the gradient's norm in each layer at the first step,
and the losses, to ui/anatomy/gradient_norms.json. A few minutes on two cores.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from headlight.corpora.corpora import open_corpus
from headlight.corpora.encoded import Encoded, learn_tokenizers
from transformer import ModelConfig, StackConfig, TrainConfig, Transformer
from transformer.batches import BatchStream
from transformer.files import write_json
from transformer.training.loop import Diverged, Trainer

OUTPUT = Path(__file__).parents[1] / "ui/anatomy/gradient_norms.json"
LAYERS, STEPS, WARMUP, RATE = 6, 300, 100, 2e-3
SETUP = (
    f"{LAYERS} + {LAYERS} layers, d_model 64, 4 heads, d_ff 256; the task reverse, 1,024 tokens a batch; Adam, "
    f"learning rate {RATE:g}, {STEPS} steps; the same first weights and batches"
)


def trained(norm: str, warmup: int) -> dict[str, Any]:
    """Return the gradient's norm in each layer at the first step, encoder first, and the loss of each step."""
    corpus = open_corpus("reverse").train
    source, target = learn_tokenizers(corpus, "characters", 64)
    size = source.vocab_size
    torch.manual_seed(0)
    stack = StackConfig(LAYERS, 4, 256)
    config = ModelConfig(size, size, 64, stack, stack, norm=norm, final_norm=norm == "pre", max_length=64, dropout=0.0)  # type: ignore[arg-type]
    model = Transformer(config)
    training = TrainConfig(
        steps=STEPS, batch_tokens=1024, learning_rate=RATE, schedule="constant", warmup=warmup, label_smoothing=0.0,
        precision="float32", clip=0.0,
    )  # fmt: skip
    trainer = Trainer(model, training)
    batches = iter(BatchStream(Encoded(corpus, source, target, 64), 1024, config.pad_id, 0, pool=5_000))
    losses: list[float] = []
    gradients: list[float] = []
    for step in range(STEPS):
        try:
            report = trainer.update(batches)
        except Diverged:
            break
        losses.append(round(report.loss, 4))
        if step == 0:  # the gradients of the step are still in `grad`
            gradients = [_norm(layer) for layer in (*model.encoder.layers, *model.decoder.layers)]
    return {"norm": norm, "warmup": warmup, "gradients": gradients, "losses": losses}


def _norm(layer: torch.nn.Module) -> float:
    squares = sum(float(p.grad.square().sum()) for p in layer.parameters() if p.grad is not None)
    return float(f"{squares**0.5:.4g}")


def main() -> None:
    torch.set_num_threads(1)
    runs = []
    for norm in ("pre", "post"):
        for warmup in (0, WARMUP):
            run = trained(norm, warmup)
            print(norm, warmup, run["gradients"], run["losses"][::50], run["losses"][-1])
            runs.append(run)
    write_json(OUTPUT, {"command": "python -m tools.gradient_norms", "setup": SETUP, "runs": runs})


if __name__ == "__main__":
    main()
