"""Makes docs/examples/tutorial: the files of a student of "Coding a transformer from scratch on PyTorch".

It reads number words in English and writes them in French, from the last to the first. The forward pass is the one
that the importer's tests compare with the tutorial's own; run this as `python -m tests.examples.tutorial_checkpoint`.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import torch

from headlight.importers.forms.tutorials import TUTORIALS
from tests.checkpoints.tutorial_code import Model, kept
from tests.checkpoints.tutorials import facts, file

NAME = "pytorch-transformer"
FOLDER = Path(__file__).resolve().parents[2] / "docs" / "examples" / "tutorial"
SPECIALS = ["[UNK]", "[PAD]", "[SOS]", "[EOS]"]
ENGLISH = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
FRENCH = ["zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf"]
PAD, SOS, EOS = 1, 2, 3
LONGEST, STEPS, BATCH = 8, 1500, 64


def padded(rows: list[list[int]]) -> torch.Tensor:
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])


def batch(chance: random.Random) -> tuple[torch.Tensor, torch.Tensor]:
    digits = [[chance.randrange(10) for _ in range(chance.randint(1, LONGEST))] for _ in range(BATCH)]
    source = [[SOS, *(len(SPECIALS) + d for d in of), EOS] for of in digits]
    target = [[SOS, *(len(SPECIALS) + d for d in reversed(of)), EOS] for of in digits]
    return padded(source), padded(target)


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    chance, size = random.Random(0), len(SPECIALS) + len(ENGLISH)
    tensors = torch.load(file(NAME), weights_only=True)["model_state_dict"]
    for name in tensors:
        if "embed" in name or "projection" in name:
            tensors[name] = tensors[name][:size].clone()
        if name.endswith(".pe"):
            tensors[name] = tensors[name][:, : LONGEST + 8].clone()
    learned = {name: tensor.requires_grad_() for name, tensor in tensors.items() if not name.endswith(".pe")}
    model = Model(TUTORIALS[NAME], tensors, facts(NAME)["heads"], PAD, kept)
    optimizer = torch.optim.Adam(learned.values(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, STEPS)
    for step in range(STEPS):
        source, target = batch(chance)
        log_probs = model.log_probs(source, target[:, :-1])
        loss = torch.nn.functional.nll_loss(log_probs.flatten(0, 1), target[:, 1:].flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 100 == 99:
            print(step + 1, loss.item())
    FOLDER.mkdir(exist_ok=True)
    state = {name: tensor.detach() for name, tensor in tensors.items()}
    torch.save({"epoch": 19, "model_state_dict": state, "global_step": STEPS}, FOLDER / "tmodel_19.pt")
    for side, words in (("source", ENGLISH), ("target", FRENCH)):
        text = json.dumps([*SPECIALS, *words], ensure_ascii=False)
        (FOLDER / f"{side}_vocabulary.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
