"""The parameters of a model by part, and the numbers of any of its weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from headlight.analysis.blocks import Block, BlockGroup, blocks, groups, is_norm, sizes, tensor_title
from headlight.analysis.weights import Histogram, Numbers, Shape, histogram, measure_file, pieces, shapes, together
from headlight.charts.weights import weight_histogram
from headlight.formatting import in_millions, percent_of, plural, three_digits
from headlight.glossary import explained
from headlight.viewer.packing import pack
from transformer.checkpoint.native import WEIGHTS
from ui.checkpoints.listing import POSITIONS_SUFFIX, ListedModel
from ui.checkpoints.view import CheckpointsView
from ui.state.cache import cached
from ui.state.models import model_folder, versioned
from ui.state.view import bound, set_view, update, widget_key, write_address
from ui.viewer.component import component, plot
from ui.widgets.disclosure import draw_when_open
from ui.widgets.errors import plain_errors
from ui.widgets.table import clickable_table, facts_html, table_html

_BLOCKS = component("blocks", "mountBlocks", "shared", "icons", "blocks", styles=("checkpoints",))


@st.fragment
def draw_parts(entry: ListedModel) -> None:
    """Draw the parts and the chosen tensor."""
    view: CheckpointsView = st.session_state["view"]
    st.markdown("**Where the parameters are**")
    with plain_errors():
        tensor_shapes = _shapes(entry.name)
        all_blocks = blocks(sizes(tensor_shapes))
        chosen = chosen_names(view.weight, all_blocks, tensor_shapes)

        def picked() -> None:
            match st.session_state["blocks"].get("pick"):
                case str(path) if path in tensor_shapes or any(block.path == path for block in all_blocks):
                    set_view(weight=path)

        _BLOCKS(data=pack(header(all_blocks, chosen[0]), {}), key="blocks", on_pick_change=picked)
        left, right = st.columns(2, gap="large")
        with right:
            _numbers(entry.name, tensor_shapes, *chosen)
        with left:
            _table(entry.name, tensor_shapes)
        if any(name.endswith(POSITIONS_SUFFIX) for name in tensor_shapes) and entry.parameters < sum(
            sizes(tensor_shapes).values()
        ):
            st.caption(
                explained(
                    "Stored positional encodings are drawn but not counted above: they are not trained.",
                    "positional encoding",
                )
            )
    write_address()


def chosen_names(
    weight: str | None, all_blocks: Sequence[Block], tensor_shapes: Mapping[str, Shape]
) -> tuple[Block, str | None]:
    """Return the chosen block and, where one is chosen, the tensor in it; else the last block that is an attention."""
    if weight in tensor_shapes:
        return next(block for block in reversed(all_blocks) if weight in block.names), weight
    by_path = {block.path: block for block in all_blocks}
    if weight in by_path:
        return by_path[weight], None
    attention = [block for block in all_blocks if block.level == 2 and "attention" in block.path]
    block = attention[-1] if attention else all_blocks[0]
    return block, next(iter(block.names)) if attention else None


def header(all_blocks: Sequence[Block], chosen: Block) -> dict[str, Any]:
    """Return the message to the picture."""
    total = sum(block.parameters for block in all_blocks if block.level == 0)
    listed = [
        {
            "path": block.path,
            "title": block.title,
            "brief": block.brief,
            "side": block.side,
            "level": block.level,
            "start": block.start,
            "parameters": block.parameters,
            "count": f"{block.parameters:,}",
            "size": in_millions(block.parameters, thousands=True),
            "share": percent_of(block.parameters, total),
        }
        for block in all_blocks
    ]
    note = "Width is the number of parameters. Click a part for its numbers."
    return {"total": total, "selected": chosen.path, "note": note, "blocks": listed}


def shape_text(shape: Shape) -> str:
    return " × ".join(f"{size:,}" for size in shape) or "one number"


def family_shape(group: BlockGroup, tensor_shapes: Mapping[str, Shape]) -> str:
    """Format the shapes of a group: "3 × (4 × 256 × 256)" for four matrices in each of three layers."""
    layers = _layers(group)
    matrices = [tensor_shapes[name] for name in group.names if len(tensor_shapes[name]) > 1]
    if all(map(is_norm, group.names)) or not matrices:
        return _counted(Counter(tensor_shapes[name] for name in group.names))
    if not layers:
        return _counted(Counter(matrices))
    by_shape = Counter(tuple(sorted(shape)) for shape in matrices)  # in and out of a feed-forward network
    each = {shape: count // layers for shape, count in by_shape.items()}
    if layers == 1 or any(count % layers for count in by_shape.values()):
        return _counted(by_shape)
    return f"{layers} × ({_counted(each)})"


def _counted(shapes: Mapping[Shape, int]) -> str:
    return ", ".join(
        f"{count:,} × {shape_text(shape)}" if count > 1 else shape_text(shape) for shape, count in shapes.items()
    )


def _layers(group: BlockGroup) -> int:
    """Count the layers in which the group has tensors."""
    return len({name.split(".")[2] for name in group.names if ".layers." in name})


# ---- the table -----------------------------------------------------------------------------------------------------


def _table(model: str, tensor_shapes: Mapping[str, Shape]) -> None:
    measured = _measured(model)
    counted = sizes(tensor_shapes)
    total = sum(counted.values())
    rows = []
    for group in groups(tensor_shapes):
        numbers = sum(counted[name] for name in group.names)
        norm = together(measured, group.names).norm
        share = percent_of(numbers, total)
        rows.append((group.title, family_shape(group, tensor_shapes), f"{numbers:,}", share, three_digits(norm)))
    columns = ("Part", "Shape", "Parameters", "Share", "Norm")
    st.html(table_html("parts-table lined", rows, columns, numbers=(2, 3, 4)))
    draw_when_open(
        f"Every tensor ({len(tensor_shapes):,})", "every-tensor", _all_tensors, tensor_shapes, counted, measured
    )


def _all_tensors(
    tensor_shapes: Mapping[str, Shape], counted: Mapping[str, int], measured: Mapping[str, Numbers]
) -> None:
    """Draw all tensors in numbers; a click on a row opens one."""
    names = [name for group in groups(tensor_shapes) for name in group.names]
    clickable_table(
        {
            "Tensor": names,
            "Shape": [shape_text(tensor_shapes[name]) for name in names],
            "Parameters": [counted[name] for name in names],
            "Norm": [measured[name].norm for name in names],
            "Mean": [measured[name].mean for name in names],
            "Std. deviation": [measured[name].deviation for name in names],
        },
        widget_key("tensors"),
        lambda row: update(weight=names[row]),
        column_config=dict.fromkeys(("Norm", "Mean", "Std. deviation"), st.column_config.NumberColumn(format="%.3g")),
        height=min(33 * (len(names) + 1) + 2, 400),
    )


# ---- one weight ----------------------------------------------------------------------------------------------------


def _numbers(model: str, tensor_shapes: Mapping[str, Shape], block: Block, name: str | None) -> None:
    options = [block.path, *block.names] if len(block.names) > 1 else list(block.names)
    st.selectbox(
        "Weight",
        options,
        index=options.index(name) if name is not None else 0,
        format_func=lambda path: (
            f"{block.title}, all {len(block.names)} tensors"
            if path == block.path and path not in tensor_shapes
            else f"{tensor_title(path)}, {shape_text(tensor_shapes[path])}"
        ),
        **bound("weight"),
        label_visibility="collapsed",
    )
    names = [name] if name is not None else list(block.names)
    numbers = together(_measured(model), names)
    if numbers.broken:
        st.warning(f"{numbers.broken:,} of its values are NaN or infinite.", icon=":material/warning:")
    if not numbers.count:
        st.caption("It has no finite value.")
        return
    bars = _histogram(model, tuple(names), numbers)
    plot(weight_histogram(*bars, theme=st.context.theme.type or "light"), key="weight-histogram")
    _facts(numbers)
    out = bars.below + bars.above
    if out:
        st.caption(
            f"{plural(out, 'value lies', 'values lie')} more than six standard deviations from the mean; "
            "the outermost bars include them."
        )


def _facts(numbers: Numbers) -> None:
    facts = {
        "Mean": three_digits(numbers.mean),
        "Std. deviation": three_digits(numbers.deviation),
        "Smallest": three_digits(numbers.smallest),
        "Largest": three_digits(numbers.largest),
        "Exactly 0": f"{numbers.zeros:,}" if numbers.zeros else "none",
        "Norm": three_digits(numbers.norm),
    }
    st.html(facts_html("weight-facts", facts.items(), "Numbers of this weight"))


# ---- what is read from the file, once for all sessions -------------------------------------------------------------


@cached(50, seconds=3600, turn=False, key=versioned)
def _shapes(name: str) -> dict[str, Shape]:
    return shapes(model_folder(name) / WEIGHTS)


@cached(50, "Reading the weights", seconds=3600, turn=False, key=versioned)
def _measured(name: str) -> dict[str, Numbers]:
    return measure_file(model_folder(name) / WEIGHTS)


@cached(200, "Reading the weight", seconds=3600, turn=False, key=versioned)
def _histogram(name: str, tensors: tuple[str, ...], numbers: Numbers) -> Histogram:
    return histogram(pieces(model_folder(name) / WEIGHTS, tensors), numbers)
