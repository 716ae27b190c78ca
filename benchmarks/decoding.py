"""Sentences per second in decoding, compared with the alternatives: 30 tokens each, greedy and with a beam of 5.

Every contestant has the same network with the same weights, drawn at random: 6 + 6 layers, d_model 256, 8 heads, d_ff
2048, vocabulary 8,000, in Marian's form, which all of them read. Its end is never likely, so everyone writes as many
tokens as are allowed. The tutorials' loop is our network without a cache, each hypothesis read whole at each step.
Single sentences are also decoded with a network of an opus-mt model's size: d_model 512, 58,101 words.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import torch

from benchmarks.contest import Contestant, compete, contest
from benchmarks.measure import (
    MIN_ROUNDS,
    RATIO_HEADING,
    ROOT,
    aim_text,
    alternate,
    range_text,
    ratio_text,
    ratios,
    spread,
    table,
)
from benchmarks.peers import END, UNKNOWN, write_marian
from headlight import checkpoints
from headlight.checkpoints import load_tokenizer
from headlight.corpora.corpora import open_corpus
from headlight.machine import retain_freed_memory
from headlight.runs import Evaluator
from transformer.decoding import beam, finish, greedy
from transformer.inference.prepared import Prepared
from transformer.model import Transformer
from transformer.presets import preset

BATCH, BEAM = 64, 5
THREADS = (1, 2)
# d_model and words: the network that the tutorials build, and that of an opus-mt model.
SHAPES = {"small": (256, 8_000), "opus-mt": (512, 58_101)}

F32, BF16, RECORDING = "Headlight, float32", "Headlight, bfloat16 weights", "Headlight, recording"
MARIAN, TUTORIAL = "generate of transformers", "the tutorials' loop"
CT2, CT2_INT8 = "CTranslate2, float32", "CTranslate2, int8"
NAMES = [F32, BF16, RECORDING, MARIAN, CT2, CT2_INT8, TUTORIAL]


class DecodingSetting(NamedTuple):
    """A network, a beam size and a batch size to decode with."""

    shape: str
    beam: int
    batch: int  # sentences at a time


SETTINGS = [
    DecodingSetting("small", 1, 1),
    DecodingSetting("small", BEAM, 1),
    DecodingSetting("small", 1, BATCH),
    DecodingSetting("small", BEAM, BATCH),
    DecodingSetting("opus-mt", 1, 1),
    DecodingSetting("opus-mt", BEAM, 1),
]


def targets(setting: DecodingSetting) -> list[tuple[str, str, float | None]]:
    """Return our contestant, theirs, and the ratio that was aimed at, where there is one."""
    if setting.batch > 1:
        aims = [(F32, CT2, 1.0), (BF16, CT2, 1.3), (BF16, CT2_INT8, 0.8)]
    else:
        exact_to_rounded = None if setting.shape != "small" else 0.6 if setting.beam == 1 else 0.5
        aims = [(F32, CT2, 1.5 if setting.beam == 1 else 1.2), (F32, CT2_INT8, exact_to_rounded)]
    aims += [(F32, MARIAN, 1.4), (RECORDING, F32, 1 / 1.15)]
    if has_tutorial(setting):
        aims.append((F32, TUTORIAL, 10 if setting.beam > 1 else None))
    return aims


def has_tutorial(setting: DecodingSetting) -> bool:
    """Return whether the tutorials' loop, which is slow, takes part."""
    return setting.batch == 1 and setting.shape == "small"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--multi30k", type=Path, help="the folder of the corpus; generated sentences without it")
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--tokens", type=int, default=30, help="tokens that are written for each sentence")
    parser.add_argument("--rounds", type=int, default=MIN_ROUNDS)


def run(multi30k: Path | None, sentences: int, tokens: int, rounds: int) -> dict[str, Any]:
    """Return the measurements. Raises ValueError where a peer or the corpus is missing."""
    result: dict[str, Any] = {"rounds": rounds, "sentences": sentences, "tokens": tokens, "modes": {}}
    with tempfile.TemporaryDirectory() as folder:
        for setting in SETTINGS:
            shape, size, batch = setting
            if not (at := Path(folder) / shape).exists():
                export(shape, at)
            mode = f"{f'beam {size}' if size > 1 else 'greedy'}, {f'{batch} at once' if batch > 1 else 'one sentence'}"
            if shape != "small":
                mode += f", {shape}'s size"
            with contest() as contestants:
                for name in NAMES:
                    if name != TUTORIAL or has_tutorial(setting):
                        options = name, at, multi30k or "", sentences, tokens, *setting
                        contestants[name] = Contestant(__name__, *options, trains=False)
                result["modes"][mode] = setting._asdict() | measured(contestants, setting, rounds)
            print(f"{mode}: done", flush=True)
    if multi30k is not None:
        result["bleu"] = {dtype: bleu(multi30k, dtype) for dtype in ("float32", "bfloat16")}
    return result


def measured(contestants: dict[str, Contestant], setting: DecodingSetting, rounds: int) -> dict[str, Any]:
    """Measure each contestant with every number of threads in turns; the number with the better median counts."""
    translations = {name: contestant.ask("written") for name, contestant in contestants.items()}
    tasks = {(name, n): contestant.round(n) for name, contestant in contestants.items() for n in THREADS}
    every = alternate(rounds, tasks)
    threads = {name: max(THREADS, key=lambda n: median(every[name, n])) for name in contestants}
    speeds = {name: every[name, threads[name]] for name in contestants}
    return {
        "agree": {name: agreement(ids, translations[F32]) for name, ids in translations.items()},
        "distinct_tokens": len({token for sentence in translations[F32] for token in sentence}),
        "threads": threads,
        "by_threads": {f"{name}, {n}": spread(values) for (name, n), values in every.items()},
        "sentences_per_second": {name: spread(values) for name, values in speeds.items()},
        "times": {f"{ours} / {theirs}": ratios(speeds[ours], speeds[theirs]) for ours, theirs, _ in targets(setting)},
    }


def agreement(ids: list[list[int]], other_ids: list[list[int]]) -> str:
    """Count the sentences that both contestants translated into the same tokens."""
    same = sum(a == b for a, b in zip(ids, other_ids, strict=False))
    return f"{same} of {min(len(ids), len(other_ids))}"


def bleu(multi30k: Path, dtype: str) -> float:
    checkpoint = checkpoints.load(ROOT / "checkpoints" / "de-en", dtype=dtype)
    test = open_corpus("multi30k:de-en", folder=multi30k).test
    assert test is not None
    return round(Evaluator.of(checkpoint, test.name, test)(checkpoint, BEAM).bleu, 2)


# ---- the network and its sentences ----------------------------------------------------------------


def network(shape: str = "small", max_length: int = 512) -> Transformer:
    torch.manual_seed(0)
    d_model, words = SHAPES[shape]
    start = words - 1
    special = {"pad_id": start, "sos_id": start, "eos_id": END}
    marian = {"norm": "post", "norm_form": "standard", "norm_eps": 1e-5, "final_norm": False, "tied": "none"}
    special["max_length"] = max(512, max_length)
    model = Transformer(preset("nlp7-en-hi", words, words, d_model=d_model, **marian, **special)).eval()
    with torch.no_grad():
        model.output.weight.mul_(3)  # sharper, so that few choices are near a tie
        for side in (model.encoder, model.decoder):
            side.embedding.tokens.weight[start] = 0
        model.output.bias[[END, UNKNOWN, start]] = -1e4
    return model


def export(shape: str, folder: Path) -> None:
    """Write the network for the peers. Raises ValueError where CTranslate2 is missing."""
    folder.mkdir()
    write_marian(network(shape), folder / "marian")
    try:
        from ctranslate2.converters import TransformersConverter  # type: ignore[import-not-found]
    except ImportError as error:
        raise ValueError(f"CTranslate2 is missing ({error}); install requirements/bench.txt.") from None
    for kind in ("float32", "int8"):
        TransformersConverter(str(folder / "marian")).convert(str(folder / kind), quantization=kind)


def sources(shape: str, multi30k: Path | None, count: int) -> list[list[int]]:
    """Return sentences as ids, the longest last, so that the sentences of a batch have about the same length."""
    start = SHAPES[shape][1] - 1
    if multi30k is None:
        draw = random.Random(0)
        sentences = [[draw.randrange(2, start) for _ in range(draw.randint(8, 22))] for _ in range(count)]
    else:
        tokenizer = load_tokenizer(ROOT / "checkpoints" / "en-fr" / "tokenizer.json")
        test = open_corpus("multi30k:en-fr", folder=multi30k).test
        assert test is not None
        texts = [pair.source for pair in list(test)[:count]]
        sentences = [[min(max(id, 2), start - 1) for id in ids] for ids in tokenizer.encode_batch(texts)]
    return sorted(([*ids, END] for ids in sentences), key=len)


# ---- in a contestant's process --------------------------------------------------------------------

Write = Callable[[list[list[int]]], list[list[int]]]  # from source ids without padding to the written ids


def contestant(
    name: str, folder: Path, multi30k: Path | None, count: int, tokens: int, setting: DecodingSetting
) -> tuple[None, dict[str, Callable]]:
    shape, size, batch = setting
    retain_freed_memory()  # as the command line does; for every contestant, so that the networks alone are compared
    every = sources(shape, multi30k, count)
    if batch == 1:  # over the rounds all lengths come equally often
        random.Random(1).shuffle(every)
    part = {TUTORIAL: 5}.get(name, 20) if batch == 1 else len(every)
    writers = {threads: writer(name, shape, folder, tokens, size, threads) for threads in THREADS}
    position = 0

    def round(threads: int) -> float:
        """Return the sentences per second over the next part of them."""
        nonlocal position
        torch.set_num_threads(threads)
        chosen = [every[(position + i) % len(every)] for i in range(part)]
        position += part
        start = time.perf_counter()
        for first in range(0, len(chosen), batch):
            translations = writers[threads](chosen[first : first + batch])
            assert all(len(ids) == tokens for ids in translations), f"not {tokens} tokens: {translations[0]}"
        return len(chosen) / (time.perf_counter() - start)

    def translate() -> list[list[int]]:
        """Decode some sentences: the longest of them, as a batch where the contest is about batches."""
        chosen = every[: 2 if name == TUTORIAL else 10] if batch == 1 else every[-batch:]
        return [ids for first in range(0, len(chosen), batch) for ids in writers[1](chosen[first : first + batch])]

    return None, {"round": round, "written": translate}


def writer(name: str, shape: str, folder: Path, tokens: int, size: int, threads: int) -> Write:
    if name in (CT2, CT2_INT8):
        return ctranslate2(folder / ("int8" if name == CT2_INT8 else "float32"), tokens, size, threads)
    if name == MARIAN:
        return marian(folder / "marian", tokens, size)
    model = network(shape)
    if name == TUTORIAL:
        return lambda batch: [tutorial(model, ids, tokens, size) for ids in batch]
    if name == BF16:
        for parameter in model.parameters():
            if parameter.ndim > 1:  # matrices alone, as `checkpoints.load` reads them
                parameter.data = parameter.data.bfloat16()
    record, ready = name == RECORDING, Prepared(model)

    def write(batch: list[list[int]]) -> list[list[int]]:
        src = padded(batch, model.config.pad_id)
        if size == 1:
            steps = greedy(ready, src, max_length=tokens, record=record)
        else:
            steps = beam(ready, src, size, max_length=tokens, record=record)
        return [list(best[0].ids) for best in finish(list(steps) if record else steps)]  # recorded, they are kept

    return write


def padded(batch: list[list[int]], pad_id: int) -> torch.Tensor:
    longest = max(map(len, batch))
    return torch.tensor([ids + [pad_id] * (longest - len(ids)) for ids in batch])


def marian(folder: Path, tokens: int, size: int) -> Write:
    from transformers import MarianMTModel  # type: ignore[import-not-found]

    model = MarianMTModel.from_pretrained(folder).eval()
    model.generation_config.max_length = None  # `max_new_tokens` says it

    def write(batch: list[list[int]]) -> list[list[int]]:
        pad_id = model.config.pad_token_id
        src = padded(batch, pad_id)
        mask = (src != pad_id).long()
        translations = model.generate(src, attention_mask=mask, num_beams=size, max_new_tokens=tokens, do_sample=False)
        return [ids[1:] for ids in translations.tolist()]

    return write


def ctranslate2(folder: Path, tokens: int, size: int, threads: int) -> Write:
    import ctranslate2  # type: ignore[import-not-found]

    translator = ctranslate2.Translator(str(folder), compute_type=folder.name, inter_threads=1, intra_threads=threads)

    def write(batch: list[list[int]]) -> list[list[int]]:
        texts = [[f"w{id}" for id in ids[:-1]] + ["</s>"] for ids in batch]
        results = translator.translate_batch(texts, beam_size=size, max_decoding_length=tokens)
        return [[int(token[1:]) for token in result.hypotheses[0]] for result in results]

    return write


@torch.inference_mode()
def tutorial(model: Transformer, ids: list[int], tokens: int, size: int) -> list[int]:
    """Decode as tutorials do: one hypothesis at a time, each read from its beginning at every step."""
    src = torch.tensor([ids])
    memory = model.encode(src)
    live = [([model.config.sos_id], 0.0)]
    for _ in range(tokens):
        grown = []
        for prefix, total in live:
            state = model.decode(torch.tensor([prefix]), memory, src)
            best = model.output(state[:, -1]).log_softmax(-1)[0].topk(size)
            grown += [
                ([*prefix, token], total + value)
                for token, value in zip(best.indices.tolist(), best.values.tolist(), strict=True)
            ]
        live = sorted(grown, key=lambda pair: -pair[1])[:size]
    return live[0][0][1:]


# ---- the report ---------------------------------------------------------------------------------


def report(result: dict[str, Any]) -> str:
    bleu = f"BLEU of checkpoints/de-en on Multi30k's test set, beam {BEAM}: {result.get('bleu', 'not measured')}"
    return "\n\n".join([*(mode_report(mode, numbers) for mode, numbers in result["modes"].items()), bleu])


def mode_report(mode: str, numbers: dict[str, Any]) -> str:
    rows = [
        [name, range_text(stats), numbers["threads"][name], numbers["agree"][name]]
        for name, stats in numbers["sentences_per_second"].items()
    ]
    times = []
    for ours, theirs, target in targets(DecodingSetting(numbers["shape"], numbers["beam"], numbers["batch"])):
        ratio = numbers["times"][f"{ours} / {theirs}"]
        times.append([ours, theirs, ratio_text(ratio), aim_text(ratio, target)])
    return "\n\n".join(
        [
            f"Sentences a second, {mode}: median (least to most)",
            table(["", "sentences/s", "threads", "written as Headlight in float32"], rows),
            "Times as fast, round by round",
            table(["ours", "theirs", RATIO_HEADING, "target"], times),
        ]
    )


if __name__ == "__main__":
    who, at, corpus, sentences, length, form, beam_size, batch_size = sys.argv[1:]
    arguments = Path(at), Path(corpus) if corpus else None, int(sentences), int(length)
    compete(who, lambda: contestant(who, *arguments, DecodingSetting(form, int(beam_size), int(batch_size))))
