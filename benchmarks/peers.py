"""The peers' networks, each built by its own library with our sizes, and their decoding.

B sentences, S source tokens, T target tokens.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.batches import Batch
from transformer.checkpoint import Checkpoint
from transformer.model import Transformer
from transformer.tokenizers import EOS, PAD, SOS, Tokenizer

END, UNKNOWN = 0, 1  # of the networks that Marian reads, too
VOCABULARY, D_MODEL, LAYERS, HEADS, D_FF, SMOOTHING = 8000, 256, 3, 4, 1024, 0.1
MAX_TOKENS = 50  # tokens that a translation may have; the longest reference has 43


class Peer(nn.Module):
    """A network that trains and decodes; `pad` is the id that fills its batches up."""

    pad = PAD

    def forward(self, src: Tensor, reads: Tensor) -> Tensor:
        """Return the logits of the next token after each token that is read: src [B, S], reads [B, T] to [B, T, V]."""
        raise NotImplementedError

    def loss(self, batch: Batch) -> Tensor:
        """Return the smoothed cross-entropy per target token."""
        logits = self(batch.src, batch.tgt[:, :-1]).float().flatten(0, 1)
        return F.cross_entropy(logits, batch.tgt[:, 1:].flatten(), ignore_index=self.pad, label_smoothing=SMOOTHING)

    def search(self, src: Tensor, beam: int) -> Tensor:
        """Return the ids that it writes, after [SOS]: [B, T]; `beam` is 1 for its greedy decoding."""
        raise NotImplementedError


def write_marian(model: Transformer, folder: Path) -> None:
    """Write a network in Marian's form, whose words are w2, w3, ..., and whose last token starts and pads a text."""
    from headlight.importers.marian_export import export_marian  # JoeyNMT's process imports this file without it

    start = model.config.pad_id
    words = ["</s>", "<unk>", *(f"w{id}" for id in range(2, start)), "<pad>"]
    tokenizer = Tokenizer.of_words(words, start, start, END, UNKNOWN)
    export_marian(Checkpoint(model, tokenizer, tokenizer), folder)


def update_peer(model: Peer, optimizer: torch.optim.Optimizer, batch: Batch, bf16: bool) -> float:
    """Make the update of a plain training loop, with gradients clipped at 1; return the loss."""
    optimizer.zero_grad()
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        loss = model.loss(batch)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


class Torch(Peer):
    """torch.nn.Transformer with tied embeddings and sinusoidal positions."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, D_MODEL, padding_idx=PAD)
        angles = torch.arange(256)[:, None] / 10000 ** (torch.arange(0, D_MODEL, 2) / D_MODEL)
        self.register_buffer("positions", torch.stack((angles.sin(), angles.cos()), -1).flatten(1))
        self.dropout = nn.Dropout(dropout)
        sizes: dict[str, Any] = {"num_encoder_layers": LAYERS, "num_decoder_layers": LAYERS, "dim_feedforward": D_FF}
        self.transformer = nn.Transformer(D_MODEL, HEADS, **sizes, dropout=dropout, batch_first=True, norm_first=True)

    def forward(self, src: Tensor, reads: Tensor) -> Tensor:
        hidden = self.transformer(
            self.embed(src),
            self.embed(reads),
            tgt_mask=torch.ones(reads.size(1), reads.size(1), dtype=torch.bool).triu(1),
            src_key_padding_mask=src == PAD,
            tgt_key_padding_mask=reads == PAD,
            memory_key_padding_mask=src == PAD,
            tgt_is_causal=True,
        )
        return F.linear(hidden, self.embedding.weight)

    def embed(self, ids: Tensor) -> Tensor:
        return self.dropout(self.embedding(ids) * D_MODEL**0.5 + self.positions[: ids.size(1)])


class Marian(Peer):
    """MarianMTModel of `transformers`."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        from transformers import MarianConfig, MarianMTModel  # type: ignore[import-not-found]

        sides = {
            f"{side}_{name}": value
            for side in ("encoder", "decoder")
            for name, value in (("layers", LAYERS), ("attention_heads", HEADS), ("ffn_dim", D_FF))
        }
        config = MarianConfig(
            vocab_size=VOCABULARY,
            d_model=D_MODEL,
            max_position_embeddings=256,
            pad_token_id=PAD,
            eos_token_id=EOS,
            forced_eos_token_id=EOS,
            decoder_start_token_id=SOS,
            dropout=dropout,
            scale_embedding=True,
            **sides,
        )
        self.model = MarianMTModel(config)

    def forward(self, src: Tensor, reads: Tensor) -> Tensor:
        logits: Tensor = self.model(
            input_ids=src, attention_mask=src != PAD, decoder_input_ids=reads, use_cache=False
        ).logits
        return logits

    def search(self, src: Tensor, beam: int) -> Tensor:
        translations: Tensor = self.model.generate(
            input_ids=src, attention_mask=src != PAD, num_beams=beam, do_sample=False, max_new_tokens=MAX_TOKENS
        )
        return translations[:, 1:]


class Joey(Peer):
    """JoeyNMT's model with its own loss, initialised and tied as in the configurations that come with it."""

    pad = 1  # its vocabulary begins with <unk>, <pad>, <s>, </s>

    def __init__(self, dropout: float) -> None:
        super().__init__()
        from joeynmt.model import build_model  # type: ignore[import-not-found]
        from joeynmt.vocabulary import Vocabulary  # type: ignore[import-not-found]

        names = {"unk": "<unk>", "pad": "<pad>", "bos": "<s>", "eos": "</s>"}
        special = {f"{name}_token": token for name, token in names.items()}
        special |= {f"{name}_id": id for id, name in enumerate(names)}  # type: ignore[misc]
        symbols = SimpleNamespace(**special, sep_token=None, sep_id=None, lang_tags=[])
        words = Vocabulary([f"token {i}" for i in range(4, VOCABULARY)], symbols)
        stack = {
            "type": "transformer",
            "num_layers": LAYERS,
            "num_heads": HEADS,
            "embeddings": {"embedding_dim": D_MODEL, "scale": True, "dropout": dropout},
            "hidden_size": D_MODEL,
            "ff_size": D_FF,
            "dropout": dropout,
            "layer_norm": "pre",
        }
        ties = {"tied_embeddings": True, "tied_softmax": True}
        self.model = build_model({"encoder": stack, "decoder": stack, **ties}, words, words)
        self.model.loss_function = ("crossentropy", SMOOTHING)

    def forward(self, src: Tensor, reads: Tensor) -> Tensor:
        masks = {"src_mask": (src != self.pad)[:, None], "trg_mask": (reads != self.pad)[:, None]}
        memory, _, _, _ = self.model(return_type="encode", src=src, src_length=None, src_mask=masks["src_mask"])
        logits: Tensor = self.model(
            return_type="decode",
            trg_input=reads,
            encoder_output=memory,
            encoder_hidden=None,
            unroll_steps=None,
            decoder_hidden=None,
            **masks,
        )[0]
        return logits

    def loss(self, batch: Batch) -> Tensor:
        ready = self._batch(batch.src, batch.tgt)
        ready.sort_by_src_length()
        total, _, _, _ = self.model(return_type="loss", **vars(ready))
        loss: Tensor = ready.normalize(total, normalization="tokens")
        return loss

    def search(self, src: Tensor, beam: int) -> Tensor:
        from joeynmt.search import search  # type: ignore[import-not-found]

        batch = self._batch(src, None)
        translations, _, _ = search(self.model, batch, max_output_length=MAX_TOKENS, beam_size=beam, beam_alpha=1.0)
        return torch.as_tensor(translations)

    def _batch(self, src: Tensor, tgt: Tensor | None) -> Any:
        from joeynmt.batch import Batch as JoeyBatch  # type: ignore[import-not-found]

        return JoeyBatch(
            src=src,
            src_length=(src != self.pad).sum(1),
            src_prompt_mask=None,
            trg=tgt,
            trg_prompt_mask=None,
            indices=torch.arange(len(src)),
            device=torch.device("cpu"),
            pad_index=self.pad,
            eos_index=EOS,
            is_train=tgt is not None,
        )
