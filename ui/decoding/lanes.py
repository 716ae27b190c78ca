"""The lane of each node of a tree: a hypothesis stays in its lane, and a branch takes the nearest free one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from headlight.analysis.search_tree import OUTCOMES, Tree


def lanes(tree: Tree, pruned: bool = True) -> list[int | None]:
    """Return the lane of each node, from 0 at the top; no two nodes of a step share one.

    A branch goes on in the lane of its best continuation. Without `pruned`, pruned nodes have no lane.
    """
    lane_of: list[int | None] = [None] * len(tree.nodes)
    occupied: set[tuple[int, int]] = set()  # (step, lane)
    for branch in _branches(tree, pruned):
        steps = [tree.nodes[i].step for i in branch]
        parent = tree.nodes[branch[0]].parent
        home = 0 if parent is None else lane_of[parent]
        assert home is not None, "a branch comes after the one it leaves"
        lane = next(lane for lane in _outwards(home) if not any((step, lane) in occupied for step in steps))
        occupied |= {(step, lane) for step in steps}
        for index in branch:
            lane_of[index] = lane
    top = min(lane for lane in lane_of if lane is not None)
    return [None if lane is None else lane - top for lane in lane_of]


def _branches(tree: Tree, pruned: bool) -> list[list[int]]:
    """Return the nodes in runs, each from where it leaves another to its end: the best sentence first, leaves last."""
    runs: list[list[int]] = []
    starts = [0]
    while starts:
        run = [starts.pop()]
        while after := _visible_children(tree, run[-1], pruned):
            heir, *siblings = sorted(after, key=lambda i: (OUTCOMES.index(tree.nodes[i].outcome), -tree.nodes[i].score))
            starts += siblings
            run.append(heir)
        runs.append(run)
    # A branch's parent is never worse or later than it: what leaves a run comes after the run.
    return sorted(runs, key=lambda run: (OUTCOMES.index(tree.nodes[run[0]].outcome), tree.nodes[run[0]].step, run[0]))


def _visible_children(tree: Tree, index: int, pruned: bool) -> list[int]:
    return [i for i in tree.children[index] if pruned or tree.nodes[i].outcome != "pruned"]


def _outwards(home: int) -> Iterator[int]:
    """Yield home, home + 1, home - 1, home + 2, ..."""
    return (home + (distance + 1) // 2 * (1 if distance % 2 else -1) for distance in count())
