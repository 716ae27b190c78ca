"""The tree of a search as a picture for print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headlight.analysis.search_tree import OUTCOMES, Outcome, Tree
from headlight.charts.colours import Theme, theme_named
from headlight.charts.document import Drawing, anchored, document, text_element, text_of
from headlight.charts.labels import cut, width
from headlight.formatting import signed
from headlight.language import gettext
from ui.decoding.lanes import lanes
from ui.decoding.view import FATES, NODE_NUMBERS

# In pixels.
_LANE = 46  # from one lane to the next
_BOX = 26  # the height of a word's box
_GUTTER = 28  # between two steps
_MAX_WORD = 150  # the width of a word
_TOP = 24  # above the centre of the first lane
_LEGEND = 150  # the width of an entry of the legend


def tree_svg(
    tree: Tree,
    names: Sequence[str],
    *,
    title: str,
    facts: Mapping[str, str],
    pruned: bool = True,
    under: str = "total",
    theme: str = "light",
) -> str:
    """Return an SVG document: a column per step, a lane per sentence.

    `under` ("total", "log_prob", "score") stands below each word. `title` and `facts` stand above the tree, and below
    it the meaning of its lines and numbers.
    """
    look, lane = theme_named(theme), lanes(tree, pruned)
    drawn_nodes = [i for i in range(len(tree.nodes)) if lane[i] is not None]
    labels = [cut(name, _MAX_WORD) for name in names]
    boxes = [max(30.0, width(label) + 16) for label in labels]
    steps = max(tree.nodes[i].step for i in drawn_nodes) + 1
    widths = [max([40.0, *(boxes[i] for i in drawn_nodes if tree.nodes[i].step == step)]) for step in range(steps)]
    left = [sum(widths[:step]) + _GUTTER * step for step in range(steps)]
    centres = {
        i: (left[tree.nodes[i].step] + widths[tree.nodes[i].step] / 2, _TOP + _LANE * (lane[i] or 0))
        for i in drawn_nodes
    }
    edges = []
    for i in reversed(drawn_nodes):
        parent = tree.nodes[i].parent
        if parent is not None:
            (x1, y1), (x2, y2), step = centres[parent], centres[i], tree.nodes[i].step
            a, b = left[step - 1] + widths[step - 1], left[step]
            middle = (a + b) / 2
            path = (
                f"M{x1 + boxes[parent] / 2:.1f} {y1}H{a:.1f}C{middle:.1f} {y1} {middle:.1f} {y2} {b:.1f} {y2}"
                f"H{x2 - boxes[i] / 2:.1f}"
            )
            edges.append(f'<path fill="none" {_stroke(tree.nodes[i].outcome, look)} d="{path}"/>')
    words = []
    for i in drawn_nodes:
        x, y = centres[i]
        words.append(_word(labels[i], tree.nodes[i].outcome, x, y, boxes[i], look))
        if i:
            value = signed(getattr(tree.nodes[i], under))
            words.append(text_element((x, y + 26), value, look.muted, 12, anchor="middle"))
    y = _TOP + _LANE * (1 + max(lane[i] or 0 for i in drawn_nodes))
    present = {tree.nodes[i].outcome for i in drawn_nodes}
    legend = _legend([outcome for outcome in OUTCOMES if outcome in present], y, look)
    size = max(left[-1] + widths[-1], _LEGEND * len(present)), y + 24
    numbers = {gettext("Below each token"): gettext(NODE_NUMBERS[under])}
    return document(Drawing([*edges, *words, *legend], size), title, {**facts, **numbers}, theme)


def _legend(outcomes: Sequence[Outcome], y: float, look: Theme) -> list[str]:
    """Return the meaning of each kind of line."""
    parts = []
    for index, outcome in enumerate(outcomes):
        x = index * _LEGEND
        parts += [
            f'<path fill="none" {_stroke(outcome, look)} d="M{x} {y + 8}h28"/>',
            text_element((x + 36, y + 12), gettext(FATES[outcome]), look.muted, 12),
        ]
    return parts


def _stroke(outcome: Outcome, look: Theme) -> str:
    return {
        "winner": f'stroke="{look.accent}" stroke-width="3"',
        "finished": f'stroke="{look.muted}" stroke-width="1.8"',
        "live": f'stroke="{look.muted}" stroke-width="1.4"',
        "dropped": f'stroke="{look.muted}" stroke-width="0.9" opacity="0.7"',
        "pruned": f'stroke="{look.muted}" stroke-width="0.9" stroke-dasharray="3 4" opacity="0.7"',
    }[outcome]


def _word(label: str, outcome: Outcome, x: float, y: float, box: float, look: Theme) -> str:
    frame = {
        "winner": f'fill="{look.field}" stroke="{look.accent}" stroke-width="2"',
        "finished": f'fill="{look.background}" stroke="{look.muted}" stroke-width="1.4"',
        "live": f'fill="{look.background}" stroke="{look.muted}" stroke-width="1.4" stroke-dasharray="1.5 3"',
    }.get(outcome, 'fill="none"')
    ink = look.muted if outcome in ("dropped", "pruned") else look.text
    style = {"winner": ' font-weight="650"', "pruned": ' text-decoration="line-through"'}.get(outcome, "")
    return (
        f'<rect x="{x - box / 2:.1f}" y="{y - _BOX / 2}" width="{box:.1f}" height="{_BOX}" rx="8" {frame}/>'
        f'<text x="{x:.1f}" y="{y + 5}"{anchored(label, "middle")} fill="{ink}"{style}>{text_of(label)}</text>'
    )
