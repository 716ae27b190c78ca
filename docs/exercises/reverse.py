"""The end of the exercises: your own Transformer learns to write words backwards, and opens in Headlight.

Run it where all your files are, with your own Python: `python mine/reverse.py`. It takes your functions and classes
from this folder, trains for two minutes, and writes a folder with your model's weights and letters, which Headlight
reads; of your code it reads and runs nothing.
"""

import argparse
import random
import string
import time
from itertools import count
from pathlib import Path

import tokenizers
import torch
from attend import attend  # noqa: F401 - which your multi_head.py may import
from batches import batches
from decoder import Decoder
from decoder_layer import DecoderLayer
from embedding import Embedding
from encoder import Encoder
from encoder_layer import EncoderLayer
from feed_forward import FeedForward
from greedy import greedy
from layer_norm import LayerNorm
from model import Transformer
from multi_head import MultiHeadAttention
from noam import noam
from positions import positions
from safetensors.torch import save_file
from torch import nn
from training_loop import train

TOKENS = ["[PAD]", "[UNK]", "[SOS]", "[EOS]", *string.ascii_lowercase]
PAD, UNK, SOS, EOS = range(4)
D_MODEL, HEADS, D_FF, LAYERS, MAX_LENGTH = 64, 4, 256, 2, 64
LONGEST_WORD = 12


def build() -> Transformer:
    """Put your parts together."""

    def attention():
        return MultiHeadAttention(D_MODEL, HEADS)

    def norms(number):
        return [LayerNorm(D_MODEL) for _ in range(number)]

    def embedding():
        return Embedding(len(TOKENS), D_MODEL, positions(MAX_LENGTH, D_MODEL)[None].float())

    encoder = Encoder(
        embedding(), [EncoderLayer(attention(), FeedForward(D_MODEL, D_FF), *norms(2)) for _ in range(LAYERS)]
    )
    decoder = Decoder(
        embedding(),
        [DecoderLayer(attention(), attention(), FeedForward(D_MODEL, D_FF), *norms(3)) for _ in range(LAYERS)],
    )
    model = Transformer(encoder, decoder, nn.Linear(D_MODEL, len(TOKENS)), PAD)
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)
    return model


def draw_word() -> list[int]:
    """Draw the ids of a word's letters."""
    return [random.randrange(4, len(TOKENS)) for _ in range(random.randint(1, LONGEST_WORD))]


def reversed_by(model: Transformer, word: list[int]) -> list[int]:
    """Return what your model writes for a word, without its end."""
    source = torch.tensor([[*word, EOS]])

    def next_log_probs(ids):
        return model(source, torch.tensor([list(ids)]))[0, -1].log_softmax(-1)

    with torch.no_grad():
        written = greedy(next_log_probs, SOS, EOS, len(word) + 3)
    return [id for id in written if id != EOS]


def learn(model: Transformer, minutes: float, steps: int = 50, size: int = 64, warmup: int = 300) -> None:
    """Train until the time is over: `steps` batches of `size` words at a time."""
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    start = time.monotonic()
    for done in count(0, steps):
        spent = (time.monotonic() - start) / 60
        if spent >= minutes:
            break
        words = [draw_word() for _ in range(steps * size)]
        drawn = batches([(word, word[::-1]) for word in words], size, SOS, EOS, PAD)
        random.shuffle(drawn)  # or short words would always come first
        losses = train(model, drawn, optimizer, lambda step, done=done: noam(done + step, D_MODEL, warmup), PAD, 1.0)
        print(f"{60 * spent:4.0f} s, step {done + steps}: loss {sum(losses) / len(losses):.4f}", flush=True)


def save(model: Transformer, folder: Path) -> None:
    """Write the weights as safetensors, and the letters as a tokenizer.json."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.contiguous() for name, tensor in model.state_dict().items()}, folder / "model.safetensors")
    vocabulary = {token: id for id, token in enumerate(TOKENS)}
    letters = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    letters.pre_tokenizer = tokenizers.pre_tokenizers.Split(tokenizers.Regex("."), "isolated")
    letters.decoder = tokenizers.decoders.Fuse()
    letters.add_special_tokens(TOKENS[:4])
    letters.save(str(folder / "tokenizer.json"))


def main() -> None:
    parser = argparse.ArgumentParser(description="Train your own Transformer on words to reverse.")
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("reverse"))
    options = parser.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    model = build()
    learn(model, options.minutes)
    words = [draw_word() for _ in range(200)]
    right = sum(reversed_by(model, word) == word[::-1] for word in words)
    print(f"{right} of {len(words)} new words of 1 to {LONGEST_WORD} letters are written backwards without a mistake.")
    save(model, options.out)
    letters = options.out / "tokenizer.json"
    print(
        "Now open it in Headlight:\n"
        f"  python -m headlight import {options.out} --out models/mine --heads {HEADS} --pad-id {PAD} --sos-id {SOS} "
        f"--eos-id {EOS} --source-vocab {letters} --target-vocab {letters}\n"
        "  streamlit run app.py, and choose models/mine"
    )


if __name__ == "__main__":
    main()
