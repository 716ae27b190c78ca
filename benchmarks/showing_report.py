"""The report of `python -m benchmarks showing`: its tables and its picture, with the targets."""

from __future__ import annotations

from typing import Any

from benchmarks.measure import (
    ALTERNATIVE_COLOUR,
    HEADLIGHT_COLOUR,
    RATIO_HEADING,
    Dot,
    range_text,
    ratio_text,
    short,
    stat_dot,
    table,
)

APP_TOKENS = 32  # of the sentence in the app
# The aim, by tokens: how many times the bytes of the overview model_view takes, at least.
BYTES_TARGETS = {64: 25, 256: 100}
# Milliseconds at the 95th percentile, at most.
TARGETS = {
    "choose a head": 200,
    "choose a head, exact on hover": None,
    "switch encoder, decoder, cross": 200,
    "hover over the lines of 8 heads": 16,
    "type a new sentence of 20": 1000,
}
NAMES = {
    "headlight": "Headlight, overview",
    "app": "Headlight, the whole page",
    "headlight_file": "Headlight, offline file",
    "cell": "Headlight, notebook cell",
    "cell_saved": "Headlight, saved cell",
    "model_view": "BertViz model_view",
    "head_view": "BertViz head_view",
}
BERTVIZ_PAGES = ("model_view", "head_view")
TIMED_PAGES = ("headlight", "headlight_file", *BERTVIZ_PAGES)
OPENED_PAGES = ("app", "headlight_file", *BERTVIZ_PAGES)


def sizes_report(pages: dict[int, dict[str, Any]]) -> str:
    """Return two tables by tokens: the bytes of each page, and the milliseconds to make it."""
    sizes, times = [], []
    for tokens, page in pages.items():
        size, fewer = page["bytes"], ["", ""]
        if "model_view" in size:
            target = BYTES_TARGETS.get(tokens)
            ratios = [size["model_view"] / size[name] for name in ("headlight", "cell")]
            fewer = [f"{short(ratio)}{target_text(target, ratio >= (target or 0))}" for ratio in ratios]
        seconds_made = {name: short(1000 * took["median"]) for name, took in page["seconds"].items()} | page["failed"]
        longer = [ratio_text(page["times_longer"][name]) for name in ("model_view",) if name in page["times_longer"]]
        times.append([tokens, *(seconds_made.get(name, "") for name in TIMED_PAGES), *(longer or [""])])
        sizes_written = {name: megabytes(count) for name, count in size.items()} | page["failed"]
        sizes.append([tokens, *(sizes_written[name] for name in NAMES), *fewer])
    made_names = [NAMES[name] for name in TIMED_PAGES]
    return "\n\n".join(
        [
            "Bytes to the browser (the whole page: over its socket, from its opening to the last of it)",
            table(["tokens", *NAMES.values(), "times fewer than model_view: overview", "notebook cell"], sizes),
            f"Milliseconds to make them, medians; the ratio, {RATIO_HEADING}",
            table(["tokens", *made_names, "model_view / overview, times as long"], times),
        ]
    )


def times_report(pages: dict[int, dict[str, Any]], app: dict[str, dict[str, float]]) -> str:
    """Return two tables: the milliseconds until pages are painted, by tokens, and those until the app answers."""
    opened, answered = [], []
    for tokens, page in pages.items():
        painted = {name: range_text(page[name]) for name in OPENED_PAGES if name in page} | page["failed"]
        ratios = [
            page[f"times_longer_than_{headlight_page}"].get(view)
            for view in BERTVIZ_PAGES
            for headlight_page in ("app", "headlight_file")
        ]
        longer = [ratio_text(ratio) if ratio else "" for ratio in ratios]
        opened.append([tokens, *(painted.get(name, "not made") for name in OPENED_PAGES), *longer])
    for name, stats in app.items():
        reached = target_text(TARGETS[name], stats["p95"] <= (TARGETS[name] or 0))
        answered.append([name, range_text(stats), f"{short(stats['p95'])}{reached}", stats["count"]])
    names = [NAMES[name] for name in OPENED_PAGES]
    longer_than = [
        f"{view} / {headlight_page}, times as long"
        for view in BERTVIZ_PAGES
        for headlight_page in ("page", "file")
    ]
    return "\n\n".join(
        [
            "\nMilliseconds from opening a page until it is painted, median (least to most); the ratios, "
            f"{RATIO_HEADING}",
            table(["tokens", *names, *longer_than], opened),
            f"Milliseconds from an event in the app to two frames after its answer, {APP_TOKENS} tokens",
            table(["", "median (least to most)", "95th percentile", "times"], answered),
        ]
    )


def target_text(target: int | None, reached: bool) -> str:
    return "" if target is None else f" (target {target:,}: {'reached' if reached else 'missed'})"


def megabytes(count: int) -> str:
    return f"{count / 1e6:.3g} MB"


def panels(result: dict[str, Any]) -> dict[str, list[Dot]]:
    """Return the dots of the picture's panels, by their titles."""
    colours = {name: ALTERNATIVE_COLOUR if name in BERTVIZ_PAGES else HEADLIGHT_COLOUR for name in NAMES}
    sizes = [
        Dot(f"{tokens} tokens, {NAMES[name]}", numbers["bytes"][name], megabytes(numbers["bytes"][name]), colours[name])
        for tokens, numbers in result["sizes"].items()
        for name in ("headlight", "cell", "model_view", "head_view")
        if name in numbers["bytes"]
    ]
    opened = [
        stat_dot(f"{tokens} tokens, {NAMES[name]}", numbers[name], " ms", ours=name not in BERTVIZ_PAGES)
        for tokens, numbers in result["opened"].items()
        for name in OPENED_PAGES
        if name in numbers
    ]
    app = [
        stat_dot(
            name,
            result["app"][name],
            f" ms (at most {target:,})" if target else " ms",
            target=target,
            statistic="p95",
        )
        for name, target in TARGETS.items()
    ]
    return {
        "Bytes to the browser, 6 + 6 layers of 8 heads": sizes,
        "Milliseconds from opening a page until it is painted, median": opened,
        f"Milliseconds in the app at {APP_TOKENS} tokens, 95th percentile; the bar is the target": app,
    }
