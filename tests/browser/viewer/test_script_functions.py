"""The scripts' pure parts, called in one page, against numbers that Python computes by itself."""

import base64
import bisect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser

from headlight.analysis.combine import merge
from headlight.charts.colours import THEMES, lookup
from headlight.formatting import lesson_number, percent
from headlight.notebook.payload import WEIGHT_STEPS as STEPS_SENT
from headlight.notebook.payload import quantize
from headlight.viewer.packing import pack
from headlight.viewer.scripts import SCRIPTS, viewer_script

Call = Callable[..., Any]
STEPS = 1024
LESSON_NUMBERS = (0, 1, -2, 100, 1234, 0.98412, -0.0712, 1.6249, 38.44, 271.4, 0.00002134)
NBSP, MINUS = "\u00a0", "\u2212"
# All names are declared once, so every script fits into one scope; these act or export when they are read.
ACTING = {"core", "messages", "numbers", "texts", "page", "plot", "streamlit"}
ALL = [path.stem for path in sorted(SCRIPTS.glob("*.js")) if path.stem not in ACTING]
FIRST = ["shared", "strip", "math", "map_box", "head", "overview", "lines"]  # what others use while they are read


@pytest.fixture(scope="module")
def call(browser: Browser) -> Iterator[Call]:
    """`call("clamp(...)", value)`: the JavaScript expression with what is given as `it`, evaluated in the one page."""
    page = browser.new_page()
    page.add_script_tag(content=viewer_script(*FIRST, *(name for name in ALL if name not in FIRST)))
    yield lambda expression, it=None: page.evaluate(f"it => {expression}", it)
    page.close()


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


# ---- the tree of a search ----------------------------------------------------------------------------


def test_before_a_search_ends_its_outcomes_are_those_known_so_far(call: Call) -> None:
    """Step 1: 1 and 2 are kept, 3 is pruned. Step 2: 4 and 5 after 1, and 6 after 2, which ends. Step 3: 7 after 4."""
    parent, step = [-1, 0, 0, 0, 1, 1, 2, 4], [0, 1, 1, 1, 2, 2, 2, 3]
    tree = {"parent": parent, "step": step, "outcome": [0, 0, 1, 4, 0, 3, 1, 0]}
    at = "(it => outcomesAt({ ...it, ended: new Set([6, 7]) }, %d))(it)"
    assert call(at % 1, tree) == [2, 2, 2, 4, None, None, None, None]
    assert call(at % 2, tree) == [1, 2, 1, 4, 2, 2, 1, None]
    assert call(at % 3, tree) == [1, 1, 1, 4, 1, 3, 1, 1]


# ---- what the browser keeps -----------------------------------------------------------------------


def test_a_browser_that_stores_nothing_is_no_error(call: Call) -> None:
    """As in a frame of another site: reading the property throws. The page here has no site, so no storage either.

    What would be stored is remembered as long as the page is open, and `store` says that it is not longer.
    """
    refused = "(() => { try { return String(sessionStorage); } catch (error) { return error.name; } })()"
    assert call(refused) == "SecurityError"
    assert call('[store("sessionStorage", "a", "1"), stored("sessionStorage", "a"), stored("localStorage", "a")]') == [
        False,
        "1",
        None,
    ]
    done = {"guess": 1, "score": 0.5, "right": True, "sure": None}
    assert call("(noteDone('lesson', 'step', 1, it), progress())", {"score": 0.5, "right": True}) == {
        "lesson": {"step": done}
    }


# ---- large type ------------------------------------------------------------------------------------


def test_boxes_and_the_pointer_are_told_in_the_pixels_that_we_draw_in(call: Call) -> None:
    """On a zoomed page the browser gives both in the window's pixels."""
    seen = call(
        """(() => {
          document.body.style.zoom = 1.5;
          const box = document.body.appendChild(el("div"));
          Object.assign(box.style, { position: "absolute", left: "40px", top: "20px", width: "100px", height: "10px" });
          const edges = box.getBoundingClientRect(), ours = boxOf(box);
          let at = null;
          box.onclick = event => { at = pointerOf(event); };
          box.dispatchEvent(new MouseEvent("click", { clientX: edges.left + edges.width / 2, clientY: edges.top }));
          const canvas = sized(box.appendChild(el("canvas")), 100, 10).canvas;
          const found = [ours.x, ours.width, at.x - ours.x, at.y - ours.y, canvas.width, edges.width];
          box.remove();
          document.body.style.zoom = "";
          return found;
        })()"""
    )
    assert seen == [40, 100, 50, 0, 150, 150]


# ---- colours ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("scale", ["sequential", "signed", "diverging"])
def test_a_scale_runs_straight_between_its_stops(call: Call, theme: str, scale: str) -> None:
    """Each channel within one of `lookup`, which rounds halves to even."""
    stops = getattr(THEMES[theme], scale)
    colours = np.array(call("[...shadesOf(it)]", list(stops)), np.uint32)
    channels = np.stack([colours & 255, colours >> 8 & 255, colours >> 16 & 255, colours >> 24], axis=1).astype(int)
    assert channels.shape == (STEPS + 1, 4) and (channels[:, 3] == 255).all()
    assert np.abs(channels[:, :3] - lookup(stops, STEPS + 1).astype(int)).max() <= 1


def test_the_page_has_the_palette_of_the_charts(call: Call) -> None:
    assert call("PALETTE.dark.heads") == list(THEMES["dark"].heads)
    assert call("PALETTE.light.accent") == THEMES["light"].accent


def test_a_weight_on_its_way_to_the_ramp(call: Call) -> None:
    weights, peak, largest = [0.0, 0.05, 0.3, 0.6, 1.0], 0.6, 0.75
    shade = "it.map(value => shadeOf(value, '{}', 0.6, 0.75))"
    assert call(shade.format("fixed"), weights) == pytest.approx(np.minimum(np.array(weights) / peak, 1))
    assert call(shade.format("sqrt"), weights) == pytest.approx(np.sqrt(np.minimum(np.array(weights) / peak, 1)))
    assert call(shade.format("row"), weights) == pytest.approx(np.array(weights) / largest)
    assert call("shadeOf(0, 'row', 1, 0)") == 0  # a row without any weight


def test_a_vectors_colours_end_where_nine_numbers_in_ten_do(call: Call) -> None:
    values = rng(1).normal(size=1001) * 3
    limit = call("limitOf(Float64Array.from(it))", values.tolist())
    assert limit == float(f"{np.sort(np.abs(values))[900]:.2g}")
    assert call("limitOf([0, 0, 0])") == 1
    assert call("[-9, -1, 0, 0.5, 1, 9].map(value => shadeAt(value, 1))") == [0, 0, 512, 768, 1024, 1024]


@pytest.mark.parametrize("theme", THEMES)
def test_text_on_a_coloured_cell_can_be_read(call: Call, theme: str) -> None:
    """A contrast of 3 and more (WCAG, large text) on every shade of the scale, by the formula of WCAG 2."""

    def luminance(colours: np.ndarray) -> np.ndarray:
        share = colours / 255
        return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    cells = lookup(THEMES[theme].sequential, 101)
    inks = call("it.map(inkOn)", cells.tolist())
    ink = luminance(np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in inks]))
    low, high = np.sort([ink, luminance(cells)], axis=0)
    assert ((high + 0.05) / (low + 0.05)).min() >= 3


# ---- arrays ----------------------------------------------------------------------------------------


def test_every_half_precision_number_is_widened_exactly(call: Call) -> None:
    halves = np.arange(31 << 10, dtype=np.uint16)  # all from 0 to the largest
    values = call("[...widened(Uint16Array.from(it))]", halves.tolist())
    assert values == halves.view(np.float16).astype(np.float64).tolist()


@pytest.mark.parametrize("shift", [0, 1, 3])
def test_a_message_is_unpacked_wherever_it_starts(call: Call, shift: int) -> None:
    given = {
        "bytes": rng(2).integers(0, 256, (3, 5), np.uint8),
        "half": rng(3).random((2, 3)).astype(np.float16),
        "weights": rng(4).random((2, 2, 2)).astype(np.float32),
    }
    message = bytes(shift) + pack({"title": "ça va ▁"}, given)
    contents = call(
        """(() => {
            const bytes = Uint8Array.from(atob(it.text), letter => letter.charCodeAt(0)).subarray(it.shift);
            const { header, arrays } = unpack(bytes);
            return [header.title, Object.fromEntries(Object.entries(arrays).map(([name, a]) => [name, [...a]]))];
        })()""",
        {"text": base64.b64encode(message).decode(), "shift": shift},
    )
    assert contents == ["ça va ▁", {name: array.astype(float).ravel().tolist() for name, array in given.items()}]


@pytest.mark.parametrize("sizes", [(7, 9, 3, 4), (12, 5, 5, 9), (40, 3, 1, 1), (4, 4, 8, 8)])
def test_pooling_keeps_the_largest_of_each_bin(call: Call, sizes: tuple[int, int, int, int]) -> None:
    rows, columns, high, wide = sizes
    shade = rng(5).integers(1, STEPS, (rows, columns))
    masked = rng(6).random((rows, columns)) < 0.5
    shade[masked] = 0
    h, w = min(rows, high), min(columns, wide)
    row_bin, column_bin = np.arange(rows) * h // rows, np.arange(columns) * w // columns
    largest = [[shade[np.ix_(row_bin == i, column_bin == j)].max() for j in range(w)] for i in range(h)]
    hidden = [[masked[np.ix_(row_bin == i, column_bin == j)].all() for j in range(w)] for i in range(h)]
    pooled = call(
        """(({ shade, masked, rows, columns }) => [[...shade], [...masked].map(Boolean), rows, columns])(
            maxPooled(Uint16Array.from(it.shade), Uint8Array.from(it.masked), ...it.sizes))""",
        {"shade": shade.ravel().tolist(), "masked": masked.ravel().tolist(), "sizes": sizes},
    )
    assert pooled == [np.ravel(largest).tolist(), np.ravel(hidden).tolist(), h, w]


def test_the_weights_of_one_query_are_found_among_all(call: Call) -> None:
    answers, layers, heads, queries, keys = 3, 2, 4, 5, 6
    weights = rng(7).random((answers, layers, heads, queries, keys)).astype(np.float32)
    ask = "weightsOf(Float32Array.from(it), { layers: 2, heads: 4 }, null, [7, 2], 2, { size: 5, at: 3 }, 6)"
    row = call(f"[...{ask}]", weights.ravel().tolist())  # of layers that are not there, the last
    assert row == pytest.approx(weights[2, layers - 1, 2, 3].tolist())
    one = weights[:, 1:2, 2:3].ravel().tolist()
    assert call(f"[...{ask.replace('null', '[1, 2]')}]", one) == pytest.approx(weights[2, 1, 2, 3].tolist())
    assert call(ask.replace("null", "[0, 2]"), one) is None  # another head's are here


def test_weights_in_steps_are_those_that_were_sent(call: Call) -> None:
    weights = rng(9).random((2, 3, 4)) * 2
    sent = {name: part.ravel().tolist() for name, part in quantize(weights, peak=2.0).items()}
    found = call(f"[...inUnits(it.high, it.low, {2 / STEPS_SENT})]", sent)
    np.testing.assert_allclose(found, weights.ravel(), atol=1.01 / STEPS_SENT)


def test_tokens_merge_into_words_as_in_python(call: Call) -> None:
    weights = rng(10).random((3, 5, 4)).astype(np.float32)
    groups = [[[0], [1, 2], [3, 4]], [[0, 1, 2], [3]]]
    found = call(
        "[...mergedWeights(Float32Array.from(it.weights), 3, it.groups)]",
        {"weights": weights.ravel().tolist(), "groups": groups},
    )
    np.testing.assert_allclose(np.reshape(found, (3, 3, 2)), merge(weights, *groups), rtol=1e-5)


def test_thumbnails_have_the_largest_weight_of_each_bin(call: Call) -> None:
    weights = rng(11).random((2, 100, 3)).astype(np.float32) / 2
    masked = rng(12).random((100, 3)) < 0.2
    thumb, shades, hidden = call(
        """(({ thumb, thumbs, thumbs_masked: hidden }) => [thumb, [...thumbs], [...hidden]])(
            thumbsOf(Float32Array.from(it.weights), 2, [100, 3], Uint8Array.from(it.masked), 0.5))""",
        {"weights": weights.ravel().tolist(), "masked": masked.astype(int).ravel().tolist()},
    )
    bins = np.arange(100) * 64 // 100
    assert thumb == [64, 3] and np.array(hidden).sum() == sum(masked[bins == b].all(0).sum() for b in range(64))
    largest = np.stack([weights[:, bins == b].max(1) for b in range(64)], 1)
    assert np.abs(np.reshape(shades, (2, 64, 3)) - 255 * largest / 0.5).max() <= 0.51


@pytest.mark.parametrize("mass", [0.5, 0.9, 1.0])
def test_lines_are_the_fewest_weights_that_reach_the_mass(call: Call, mass: float) -> None:
    weights = rng(8).dirichlet(np.full(9, 0.3), (2, 6)).astype(np.float32)
    result = call(
        """(({ cells, hidden, total }) => [[...cells], hidden, total])(Lines.prototype.strongest.call(
            { header: { rows: Array(6), columns: Array(9) }, weights: Float32Array.from(it.weights), ranked: [],
              rank: Lines.prototype.rank }, 1, it.mass))""",
        {"weights": weights.ravel().tolist(), "mass": mass},
    )
    drawn, hidden, total = np.array(result[0], bool).reshape(6, 9), result[1], result[2]
    for row, chosen in zip(weights[1].astype(float), drawn, strict=True):
        kept = np.sort(row)[::-1][: chosen.sum()]
        assert row[chosen].sum() == pytest.approx(kept.sum())  # the largest
        assert kept.sum() >= mass * row.sum() - 2e-6
        assert kept[:-1].sum() < mass * row.sum()  # none too many
    assert (total, hidden) == pytest.approx((6, weights[1][~drawn].sum()), abs=1e-5)


# ---- places ----------------------------------------------------------------------------------------


def test_ticks_are_round_and_about_as_many_as_asked_for(call: Call) -> None:
    for top in [0.003, 0.7, 1, 9.99, 42, 1000, 123456]:
        for count in (3, 5, 8):
            step = call(f"tickStep({top}, {count})")
            digits = float(f"{step:e}".split("e")[0])
            assert any(digits == pytest.approx(part) for part in (1, 2, 2.5, 5, 10)), step
            assert count / 2.51 <= top / step <= count * 1.002


def test_the_last_value_up_to_another(call: Call) -> None:
    values = sorted(rng(9).integers(0, 50, 20).tolist())
    wanted = [bisect.bisect_right(values, value) - 1 for value in range(-1, 52)]
    assert call("Array.from({ length: 53 }, (_, i) => lastUpTo(it, i - 1))", values) == wanted


@pytest.mark.parametrize("gap", [1.5, 4, 7, 11.9, 12, 30])
def test_labels_of_a_map_leave_each_other_room(call: Call, gap: float) -> None:
    labels = call(f"labelledPlaces(3.2, {80 / gap}, 500, {gap})")
    seen = [i for i in range(500) if 3.2 <= i + 0.5 <= 3.2 + 80 / gap]
    assert labels == sorted(set(labels)) and set(labels) <= set(seen)
    if gap >= 12:  # room for every token
        assert labels == seen
    else:  # numbers at round positions, no closer than 40 pixels
        assert all((i + 1) % 5 == 0 or i == 0 for i in labels)
        assert labels and (np.diff(labels) * gap >= 40).all()
    marked = [seen[1], seen[-1]]
    kept = call(f"labelledPlaces(3.2, {80 / gap}, 500, {gap}, it)", marked)
    assert set(marked) <= set(kept)  # what is pointed at and what is held always have theirs
    assert gap >= 12 or all(i in marked or min(abs(i - m) for m in marked) * gap >= 30 for i in kept)


@pytest.mark.parametrize("width", [230, 310, 411, 525, 703])
@pytest.mark.parametrize("rows", [2, 19, 45, 96, 300])
@pytest.mark.parametrize("columns", [2, 15, 40, 96, 512])
def test_cells_of_a_map_are_labelled_or_tiny(call: Call, width: int, rows: int, columns: int) -> None:
    """Of columns from 230 to 703 pixels, as the widths of screens leave them, with long labels on both sides."""
    box = call("mapBox(...it)", [rows, columns, {"rows": 90, "read": 84, "columns": 100}, width])
    assert box["x"] + box["w"] <= width and box["w"] >= min(0.25 * width, 12 * columns)
    for count, axis, side in ((columns, "across", box["w"]), (rows, "down", box["h"])):
        start, whole = box["start"][axis], box["whole"][axis]
        assert whole * count == pytest.approx(side) and start >= whole - 1e-9
        assert count > 96 or start >= 12
        assert start == pytest.approx(whole) or count <= 96  # more than that begin as a whole
    assert box["h"] <= 640 or (width < 420 and rows <= 96)


def test_a_width_is_split_into_equal_parts(call: Call) -> None:
    parts = call("split(10, 100, 3, 5)")
    assert [part[1] for part in parts] == pytest.approx([30] * 3)
    assert [part[0] for part in parts] == pytest.approx([10, 45, 80])


def test_bars_of_scores_fill_their_width_around_zero(call: Call) -> None:
    at = call("axis([-2, 3, -Infinity], 100, 50)")  # what is masked has no bar
    assert at["zero"] == pytest.approx(100 + 50 * 2 / 5) and at["unit"] == pytest.approx(10)
    assert call("axis([0, 0], 7, 50)") == {"zero": 7, "unit": 50}


def test_a_step_of_positions_is_one_rotation(call: Call) -> None:
    p, k, w = 37, 12, 0.31
    rotation = call(f"turned({p}, {k}, {w})")
    turn = np.array([[np.cos(k * w), np.sin(k * w)], [-np.sin(k * w), np.cos(k * w)]])
    assert np.allclose(rotation["turn"], turn) and np.allclose(rotation["here"], [np.sin(p * w), np.cos(p * w)])
    assert np.allclose(rotation["product"], [np.sin((p + k) * w), np.cos((p + k) * w)]) and rotation["residual"] < 1e-12


# ---- numbers as text -------------------------------------------------------------------------------


def test_scripts_write_shares_as_python_does(call: Call) -> None:
    written = [0, 1e-6, 1e-5, 2e-5, 0.004999, 0.005, 0.125, 0.345, 0.5, 0.994999, 0.995, 0.99998, 0.999999, 1]
    assert call("it.map(percent)", written) == [percent(share) for share in written]


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("percent(0)", f"0{NBSP}%"),
        ("percent(0.0049)", f"under 1{NBSP}%"),
        ("percent(0.005)", f"1{NBSP}%"),
        ("percent(0.994)", f"99{NBSP}%"),
        ("percent(0.996)", f"over 99{NBSP}%"),
        ("percent(0.999995)", f"100{NBSP}%"),
        ("percent(1)", f"100{NBSP}%"),
        ("weightText(0)", "0.000"),
        ("weightText(0.0005)", "0.001"),
        ("weightText(0.00049)", "0.00049"),
        ("probabilityText(0)", "0"),
        ("probabilityText(0.0004)", "<0.001"),
        ("probabilityText(0.0094)", "0.009"),
        ("probabilityText(0.0095)", "0.01"),
        ("signed(-0.000000001)", "0.00"),
        ("signed(-0.0004215)", f"{MINUS}4.2e{MINUS}4"),
        ("signed(-0.0042)", f"{MINUS}0.0042"),
        ("signed(0.02)", "0.020"),
        ("hundredths(0.0049)", "<0.01"),
        ("hundredths(0.005) + ' ' + hundredths(0)", "0.01 0.00"),
        ("signed(-1.5)", f"{MINUS}1.50"),
        ("compact(0.5921)", "0.59"),
        ("compact(18.83)", "18.8"),
        ("compact(-213.4)", f"{MINUS}213"),
        ("compact(0.0004)", f"4.0e{MINUS}4"),
        ("compact(7)", "7"),
        *((f"lessonNumber({value})", lesson_number(value)) for value in LESSON_NUMBERS),
        ("briefly(0)", "0.00"),
        ("briefly(12345.6)", "12,346"),
        ("briefly(0.0000034)", f"3.4e{MINUS}6"),
        ("briefly(0.000034)", f"3.4e{MINUS}5"),
        ("briefly(-0.5) + ' ' + briefly(NaN)", f"{MINUS}0.50 \u2013"),
        ("tickText(2500000)", "2.5M"),
        ("tickText(2.5e34)", "2.5e34"),
        ("tickText(12000)", "12k"),
        ("tickText(0.00005)", f"5e{MINUS}5"),
        ("[1, 2, 3, 4, 11, 12, 21, 111, 122].map(ordinal).join(' ')", "1st 2nd 3rd 4th 11th 12th 21st 111th 122nd"),
        ("inWords(12) + ' ' + inWords(13)", "twelve 13"),
        ("scaleNote('fixed', 1)", ""),
        ("scaleNote('fixed', 0.25)", "Full colour stands for 0.25."),
    ],
)
def test_a_number_as_it_is_written(call: Call, expression: str, text: str) -> None:
    assert call(expression) == text


# ---- wishes ----------------------------------------------------------------------------------------


def test_a_late_answer_does_not_undo_a_later_wish(call: Call) -> None:
    story = """(() => {
        const wishes = new Wishes(), shown = [wishes.answered("a")];
        wishes.make("b");
        wishes.make("c");
        shown.push(wishes.answered("a"), wishes.answered("b"), wishes.answered("c"), wishes.answered("d"));
        return shown;
    })()"""
    assert call(story) == ["a", "c", "c", "c", "d"]  # "d" nobody here wished for: a link, or Back


# ---- a prompt ----------------------------------------------------------------------------------------


def test_a_dashed_line_stands_where_a_prompt_ends(call: Call) -> None:
    """Two rows and three columns of five are the prompt: the lines are drawn there, and nowhere else."""
    weights = np.full((5, 5), 0.2, np.float32)
    header = {"rows": list("bcdef"), "columns": list("abcde"), "rows_read": list("abcde"), "scale": "fixed", "peak": 1}
    header |= {"signed": False, "bar": "weight", "title": None, "shows": None, "held": None, "heads": 1}
    header |= {"shown": {"heads": [0], "mass": 0.9}, "weights": weights.ravel().tolist(), "given": [2, 3]}
    drawn = call(
        """(async ({ weights, ...header }) => {
          const arrays = { weights: Float32Array.from(weights), masked: new Uint8Array(25) };
          const place = () => {
            const root = el("div", { class: "hl" });
            root.style.width = "500px";
            return document.body.appendChild(root);
          };
          const frame = () => new Promise(requestAnimationFrame);
          const shades = async given => {
            const root = place();
            mountHead(root, { header: { ...header, given }, arrays }, () => {});
            await frame();
            await frame();
            const canvas = root.querySelector("canvas"),
              [x, y, across, down] = canvas.dataset.cells.split(" ").map(Number),
              image = canvas.getContext("2d"),
              ratio = canvas.width / canvas.clientWidth;
            const along = (left, top, w, h) => [...image.getImageData(left, top, w, h).data].join();
            const columns = [1, 2, 3, 4].map(n => along((x + n * across - 2) * ratio, y * ratio, 4, down * ratio));
            const rows = [1, 2, 3, 4].map(n => along(x * ratio, (y + n * down - 2) * ratio, across * ratio, 4));
            return { columns, rows, note: root.querySelector(".notes").textContent };
          };
          const [without, within] = [await shades(null), await shades(header.given)];
          const differ = name => [1, 2, 3, 4].filter(n => without[name][n - 1] !== within[name][n - 1]);
          const lines = place();
          mountLines(lines, { header, arrays }, () => {});
          const first = [...lines.querySelectorAll(".token.written")].map(token => token.textContent);
          return { first, notes: [without.note, within.note], rows: differ("rows"), columns: differ("columns") };
        })(it)""",
        header,
    )
    assert drawn["first"] == ["d", "d"]  # the third that is written, and the fourth that is looked at
    assert drawn["notes"][0] == "" and "prompt" in drawn["notes"][1]
    assert (drawn["rows"], drawn["columns"]) == ([2], [3])  # of the seams between cells, in the first column and row
