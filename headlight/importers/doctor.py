"""Describe a state dict, and how it differs from the most similar known format."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from headlight.importers.forms.form import Form
from headlight.importers.source import Source

MAX_COMPARED_NAMES = 5_000  # names of each kind of difference

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Family:
    """Tensors whose names differ only in the number of the layer: "encoder.layers.*.self_attn.w_q.weight"."""

    name: str
    count: int
    shape: Shape


@dataclass(frozen=True)
class Diagnosis:
    """A state dict that fits no known format."""

    families: tuple[Family, ...]
    guesses: tuple[tuple[str, str], ...]  # what the names and shapes suggest: ("Layers", "6 and 6"), ...
    nearest: str | None  # the most similar format
    missing: tuple[str, ...]  # tensors of that format that this state dict lacks
    unexpected: tuple[str, ...]
    misshapen: tuple[tuple[str, Shape, Shape], ...]  # the name, its shape here, and its shape in that format


def diagnose(source: Source, forms: Iterable[Form]) -> Diagnosis:
    """Describe the names and shapes, and compare them with those of each format at the same sizes."""
    shapes = {name: info.shape for name, info in source.weights.infos.items()}
    nearest, expected = _nearest(source, shapes, forms)
    missing = [name for name in expected if name not in shapes]
    unexpected = [name for name in shapes if name not in expected] if nearest else []
    misshapen = [(name, shapes[name], size) for name, size in expected.items() if shapes.get(name, size) != size]
    return Diagnosis(
        group_families(shapes),
        guess_facts(shapes),
        nearest,
        tuple(missing[:MAX_COMPARED_NAMES]),
        tuple(unexpected[:MAX_COMPARED_NAMES]),
        tuple(misshapen[:MAX_COMPARED_NAMES]),
    )


def _nearest(
    source: Source, shapes: Mapping[str, Shape], forms: Iterable[Form]
) -> tuple[str | None, Mapping[str, Shape]]:
    """Return the form that shares the largest part of the names with the source (the Jaccard index), and its tensors.

    None where no name inside a layer is shared, since many unrelated models call their output the same.
    """
    best: tuple[float, str | None, Mapping[str, Shape]] = (0.0, None, {})
    for form in forms:
        try:
            expected = form.due(source)
        except (ValueError, LookupError):  # the source lacks the tensors that show the form's sizes
            continue
        shared = shapes.keys() & expected.keys()
        if any(map(_is_in_layer, shared)):
            share = len(shared) / len(shapes.keys() | expected.keys())
            best = max(best, (share, form.name, expected), key=lambda candidate: candidate[0])
    return best[1], best[2]


def group_families(shapes: Mapping[str, Shape]) -> tuple[Family, ...]:
    """Group tensors by name with "*" for each number, in the order of their first occurrence."""
    counted = Counter((re.sub(r"(?<![^.])\d+(?![^.])", "*", name), shape) for name, shape in shapes.items())
    return tuple(Family(name, count, shape) for (name, shape), count in counted.items())


def guess_facts(shapes: Mapping[str, Shape]) -> tuple[tuple[str, str], ...]:
    """Return what names and shapes suggest about the model, as (fact, value)."""
    width = _most_common_width(shapes)
    encoder, decoder = _depth(shapes, r"enc"), _depth(shapes, r"dec")
    other_kind = None if encoder and decoder else _other_kind(shapes)
    depths = f"{encoder} and {decoder}" if encoder and decoder else str(encoder or decoder or _depth(shapes, "") or "")
    guesses = (
        ("Looks like", other_kind or ("an encoder-decoder" if encoder and decoder else "")),
        ("Layers", depths),
        ("d_model", f"{width:,}" if width else ""),
        ("d_ff", _numbers(_feed_forward_widths(shapes, width))),
        ("Vocabularies", _numbers(_vocabularies(shapes, width))),
        ("Parameters", f"{sum(map(math.prod, shapes.values())):,}"),
    )
    return tuple((name, value) for name, value in guesses if value)


_OTHER_KINDS = (  # names that only models of another kind have
    (r"patch_embed|cls_token|conv_proj", "a vision transformer, which reads images"),
    (r"(^|\.)h\.\d+\.(attn|ln_1)|c_attn|rotary|gate_proj|gpt", "a decoder-only model, such as GPT or Llama"),
    (r"(^|\.)encoder\.layer\.\d+\.attention|bert|pooler", "an encoder-only model, such as BERT"),
    (r"(weight|bias)_(ih|hh)_l\d", "a recurrent network, which has no attention heads"),
)
_NO_CROSS = "; there is no cross-attention to show"


def _other_kind(shapes: Mapping[str, Shape]) -> str | None:
    for pattern, kind in _OTHER_KINDS:
        if any(re.search(pattern, name, re.IGNORECASE) for name in shapes):
            return kind + _NO_CROSS
    if not any(re.search("cross|enc_?dec|encoder_att|src_att|memory", name, re.IGNORECASE) for name in shapes):
        for stack, kind in ((r"enc", "an encoder-only model"), (r"dec", "a decoder-only model")):
            if _depth(shapes, stack):
                return kind + _NO_CROSS
    return None


def _depth(shapes: Mapping[str, Shape], stack: str) -> int:
    """Return the number of layers: one more than the highest number after a name part that begins with `stack`."""
    pattern = re.compile(rf"(?:^|[._]){stack}[a-z_]*\.(?:[a-z_]+\.)*?(\d{{1,4}})\.", re.IGNORECASE)
    return max((int(match[1]) + 1 for name in shapes if len(name) < 200 and (match := pattern.search(name))), default=0)


def _most_common_width(shapes: Mapping[str, Shape]) -> int:
    """Return the most frequent side of all matrices."""
    sides = Counter(side for shape in shapes.values() if len(shape) == 2 for side in shape if side > 1)
    return sides.most_common(1)[0][0] if sides else 0


def _is_in_layer(name: str) -> bool:
    return any(part.isdecimal() for part in name.split("."))


def _feed_forward_widths(shapes: Mapping[str, Shape], width: int) -> list[int]:
    """Return the widths of the feed-forward networks: layer matrices from d_model to another size and back."""
    pairs = {shape for name, shape in shapes.items() if _is_in_layer(name) and len(shape) == 2}
    return sorted({side for side, other in pairs if other == width != side and (other, side) in pairs})


def _vocabularies(shapes: Mapping[str, Shape], width: int) -> list[int]:
    """Return rows of the matrices of d_model columns that are called embeddings, but not of positions."""
    tables = {
        name: shape[0]
        for name, shape in shapes.items()
        if len(shape) == 2 and shape[1] == width and re.search(r"emb|shared|wte|lut", name, re.IGNORECASE)
    }
    return list(dict.fromkeys(rows for name, rows in tables.items() if not re.search("pos|type", name, re.IGNORECASE)))


def _numbers(numbers: list[int]) -> str:
    return " and ".join(f"{number:,}" for number in numbers[:4])
