"""Pack attention patterns as bytes for the browser: thumbnails, exact weights, and a layout for both.

Letters: L layers, H heads, Q queries (rows), K keys (columns), q and k the same two after pooling.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from headlight.charts.colours import scale_title
from headlight.graphemes import right_to_left
from headlight.language import gettext, localized
from transformer.quoting import quoted
from transformer.trace import Patterns

Scale = Literal["fixed", "row", "sqrt"]
Captions = Sequence[Sequence[Sequence[str]]]  # [L][H], a text in parts of which those at odd places are tokens
MarkedCell = tuple[int | None, int | None] | None  # the row and the column, from 0, that stay marked


class HeadOptions(TypedDict, total=False):
    """Options of the drawing of one large head."""

    rows_read: Sequence[str] | None  # the tokens read at each row, where `rows` are those written
    scale: Scale
    peak: float  # where the scale ends
    signed: bool  # from -peak to peak
    name: str  # of the number in a cell
    title: tuple[str, str] | None  # in bold and in grey
    shows: Shows | None  # the head of the overview, if the browser may draw it before the page answers
    held: MarkedCell
    beside: Labels | None  # of another picture, whose cells are to be of the same size
    before: NDArray[np.floating] | None  # of a difference [Q, K], what was subtracted


class LinesOptions(TypedDict, total=False):
    """Options of the drawing of a layer's lines."""

    rows_read: Sequence[str] | None  # the tokens read at each row, where `rows` are those written
    peak: float  # where the scale ends
    title: str | None
    held: MarkedCell


# 4 MB in float32; more weights are packed in float16.
MAX_EXACT_WEIGHTS = 1_000_000


class Labels(TypedDict):
    """The labels around a pattern; what is read at each row may be missing."""

    rows: Sequence[str]
    columns: Sequence[str]
    rows_read: Sequence[str] | None


class Shows(TypedDict):
    """The head of the overview that is drawn beside it; the browser may draw another choice before the page answers."""

    kind: str
    place: tuple[int, int]  # layer and head, from 0


@dataclass(frozen=True)
class Profile:
    """The measures of every head for the strips below the overview: `values` is [measures, L, H].

    `units` follow the numbers, "" for a share of 1; `meanings` explain each measure in a line.
    """

    names: Sequence[str]
    units: Sequence[str]
    meanings: Sequence[str]
    values: NDArray[np.floating]
    maxima: Sequence[float]


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return header and arrays as one `bytes`, everything little-endian and aligned to 4 bytes:

    uint32   n, the length of the header in bytes, a multiple of 4
    n bytes  JSON in ASCII, filled up with spaces; its "arrays" lists name, dtype, shape and "at",
             the array's offset in bytes from the end of the header
    ...      the arrays in that order, each in C order and filled up with zero bytes
    """
    listed, body = [], bytearray()
    for name, array in arrays.items():
        assert array.dtype.name in ("uint8", "float16", "float32"), array.dtype
        listed.append({"name": name, "dtype": array.dtype.name, "shape": array.shape, "at": len(body)})
        body += array.astype(array.dtype.newbyteorder("<")).tobytes()
        body += bytes(-len(body) % 4)
    text = json.dumps({**header, "arrays": listed}, allow_nan=False).encode("ascii")
    text += b" " * (-len(text) % 4)
    return len(text).to_bytes(4, "little") + text + bytes(body)


def thumbnails(
    patterns: NDArray[np.floating], limit: int = 64, scale: Scale = "fixed", peak: float = 1.0
) -> NDArray[np.uint8]:
    """Return weights [L, H, Q, K] as shades from 0 to 255, [L, H, q, k]; `peak` has the full shade.

    An axis longer than `limit` is max-pooled to `limit`: a mean would hide the single bright cell that
    a thumbnail is for. "fixed" is linear, "sqrt" the square root, "row" divides each row by its largest
    weight. Raises ValueError for weights that the scale cannot show.
    """
    weights = checked(patterns, 4)
    if scale not in get_args(Scale):
        raise ValueError(f"scale is {quoted(scale)}; choose one of {', '.join(get_args(Scale))}.")
    if scale == "row":
        largest = weights.max(axis=3, keepdims=True)
        weights = np.divide(weights, largest, out=np.zeros_like(weights), where=largest > 0)
    else:
        if weights.max() > peak * 1.001:
            raise ValueError(f"The patterns reach {weights.max():.3g}, the scale ends at {peak:g}; raise peak.")
        weights = weights / np.float32(peak)
    pooled = _pool(_pool(weights, 2, limit, np.maximum), 3, limit, np.maximum)
    return np.rint(255 * np.clip(np.sqrt(pooled) if scale == "sqrt" else pooled, 0, 1)).astype(np.uint8)


def pooled_mask(masked: NDArray[np.bool_], limit: int = 64) -> NDArray[np.uint8]:
    """Pool a mask [Q, K] to [q, k] of 0 and 1: a pooled cell is masked where all its cells are."""
    return _pool(_pool(masked, 0, limit, np.logical_and), 1, limit, np.logical_and).astype(np.uint8)


@dataclass(frozen=True)
class EveryHead:
    """The content of the overview of one kind of attention."""

    patterns: Patterns  # [L, H, Q, K]
    captions: Captions
    masked: NDArray[np.bool_] | None = None  # [Q, K], hatched
    profile: Profile | None = None
    pruned: Collection[tuple[int, int]] = ()  # (layer, head) of the heads that the model lacks
    columns: Sequence[str] = ()  # the K keys, which say whether they run from right to left


def peak_of(patterns: Patterns) -> float:
    """Return the weight with the full colour: 1, or more if a head was scaled up."""
    return max(1.0, *(float(layer.max()) for layer in patterns))


@dataclass(frozen=True)
class Kinds:
    """The kinds of attention of one sentence, packed: `id` is the digest of what they hold."""

    payload: bytes
    id: str
    shapes: Mapping[str, tuple[int, int]]  # layers and heads of each


def pack_kinds(kinds: Mapping[str, EveryHead], scale: Scale = "fixed") -> Kinds:
    """Pack the message of kinds.js; the order of `kinds` is that of the buttons."""
    headers: dict[str, Any] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for name, heads in kinds.items():
        header, kind_arrays = overview_parts(heads, scale)
        headers[name] = header | {"profile": None if heads.profile is None else _profile(heads.profile)}
        arrays |= {f"{name} {array}": values for array, values in kind_arrays.items()}
    id = hashlib.sha256(pack({"kinds": headers}, arrays)).hexdigest()[:16]
    shapes = {name: (heads.patterns.shape[0], heads.patterns.shape[1]) for name, heads in kinds.items()}
    return Kinds(pack({"id": id, "kinds": headers}, arrays), id, shapes)


def chosen_payload(kinds: Kinds, kind: str, selected: tuple[int, int], switch: str | None) -> bytes:
    """Pack the message of chosen.js: which kinds are shown."""
    return pack({"of": kinds.id, "kind": kind, "selected": list(selected), "switch": switch}, {})


def overview_parts(every: EveryHead, scale: Scale = "fixed") -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of the overview, unpacked and without the reader's selection."""
    layers, heads, queries, keys = every.patterns.shape
    # Beyond 64 heads a thumbnail is some 20 pixels wide, so a finer one would not be visible.
    limit = 64 if layers * heads <= 64 else 32
    peak = peak_of(every.patterns)
    shades, on = [], []
    for layer in every.patterns:  # one at a time, since all layers of a long sentence are large
        shades.append(thumbnails(layer[None], limit, scale, peak)[0])
        on.append(np.any(layer, (1, 2)).tolist())
    masked = np.zeros((queries, keys), bool) if every.masked is None else every.masked
    header = {
        "layers": layers,
        "heads": heads,
        "queries": queries,
        "keys": keys,
        "rtl": right_to_left(every.columns),
        "thumb": list(shades[0].shape[1:]),
        "scale": scale,
        "peak": peak,
        "captions": [[list(text) for text in layer] for layer in every.captions],
        "off": [
            ["pruned" if (layer, head) in every.pruned else "" if is_on else "off" for head, is_on in enumerate(row)]
            for layer, row in enumerate(on)
        ],
    }
    return header, {"thumbs": np.stack(shades), "thumbs_masked": pooled_mask(masked, limit)}


def lines_payload(
    patterns: NDArray[np.floating],
    rows: Sequence[str],
    columns: Sequence[str],
    heads: Sequence[int],
    mass: float,
    **options: Unpack[LinesOptions],
) -> bytes:
    """Pack the message of lines.js: `patterns` [H, Q, K] of one layer.

    Large ones are packed in float16, which is more exact than the two decimals shown.
    """
    weights = checked(patterns, 3)
    header = {
        **labels_header(weights.shape[1:], rows, columns, options.get("rows_read")),
        "heads": weights.shape[0],
        "shown": {"heads": [int(h) for h in heads], "mass": mass},
        "peak": options.get("peak", 1.0),
        "title": options.get("title", gettext("Lines")),
        "held": options.get("held"),
    }
    return pack(header, {"weights": weights if weights.size <= MAX_EXACT_WEIGHTS else weights.astype(np.float16)})


def _bar(name: str, scale: str, peak: float, signed: bool) -> str:
    """Return the title of a head's colour bar."""
    if signed:
        return gettext("change in {name}, ±{limit}", name=name, limit=localized(f"{peak:.2g}"))
    return scale_title(scale, name, peak)


def head_payload(
    pattern: NDArray[np.floating],
    rows: Sequence[str],
    columns: Sequence[str],
    masked: NDArray[np.bool_] | None = None,
    **options: Unpack[HeadOptions],
) -> bytes:
    """Pack the message of head.js: `pattern` and `masked` [Q, K]."""
    signed, name, peak = options.get("signed", False), options.get("name", "weight"), options.get("peak", 1.0)
    scale, before = options.get("scale", "fixed"), options.get("before")
    weights = checked(pattern, 2, signed)
    hidden = np.zeros(weights.shape, np.uint8) if masked is None else masked.astype(np.uint8)
    header = {
        **labels_header(weights.shape, rows, columns, options.get("rows_read")),
        "scale": scale,
        "peak": peak,
        "signed": signed,
        "bar": _bar(name, scale, peak, signed),
        **{field: options.get(field) for field in ("title", "shows", "held", "beside")},
    }
    arrays: dict[str, NDArray[Any]] = {"weights": weights, "masked": hidden}
    return pack(header, arrays if before is None else {**arrays, "before": checked(before, 2, signed)})


def labels_header(
    shape: Sequence[int],
    rows: Sequence[str],
    columns: Sequence[str],
    rows_read: Sequence[str] | None,
    prompt_lengths: tuple[int, int] | None = None,
) -> dict[str, Any]:
    """Return the labels of a [Q, K] pattern as header fields; ValueError where their number is not the pattern's.

    The first of `rows` and `columns`, as many as `prompt_lengths` says, are those of a prompt.
    """
    queries, keys = shape
    lists = {"rows": (rows, queries), "columns": (columns, keys), "rows_read": (rows_read, queries)}
    for name, (labels, size) in lists.items():
        if labels is not None and len(labels) != size:
            raise ValueError(f"{name} has {len(labels)} labels and the pattern {size}; give one label for each.")
    return {
        "rows": [str(label) for label in rows],
        "columns": [str(label) for label in columns],
        "rows_read": None if rows_read is None else [str(label) for label in rows_read],
        "given": prompt_lengths,
    }


def checked(patterns: NDArray[np.floating], axes: int, signed: bool = False) -> NDArray[np.float32]:
    """Return the weights as contiguous float32, or a ValueError that says what is wrong with them."""
    if patterns.ndim != axes or 0 in patterns.shape:
        raise ValueError(f"The pattern has shape {patterns.shape}; it must have {axes} axes, none of length 0.")
    weights = np.ascontiguousarray(patterns, np.float32)
    if not (np.isfinite(weights).all() and (signed or weights.min() >= 0)):
        raise ValueError("The pattern holds negative or non-finite weights; a masked cell is 0 and in `masked`.")
    return weights


def _pool(array: NDArray[Any], axis: int, limit: int, join: np.ufunc) -> NDArray[Any]:
    length = array.shape[axis]
    return array if length <= limit else join.reduceat(array, np.arange(limit) * length // limit, axis=axis)


def _profile(profile: Profile) -> dict[str, Any]:
    values = np.asarray(profile.values, np.float64)
    flat = values.reshape(len(profile.names), -1)
    return {
        "names": list(profile.names),
        "units": [f" {unit}" if unit else "" for unit in profile.units],
        "meanings": list(profile.meanings),
        "maxima": [float(most) for most in profile.maxima],
        "values": [[round(v, 4) if np.isfinite(v) else None for v in row] for row in flat.tolist()],
    }
