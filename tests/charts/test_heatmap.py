from types import SimpleNamespace

import numpy as np
import plotly.graph_objects as go
import pytest

from headlight.charts import THEMES, difference, heatmap, pattern, pattern_spec
from headlight.charts.labels import ordinal

WRITES = ["Une", "fille", "est", "est", "[EOS]"]
READS = ["[SOS]", "Une", "fille", "est", "est"]
SOURCE = ["A", "girl", "is", "[EOS]"]
LATER = np.triu(np.ones((5, 5), bool), 1)


def softmax(scores: np.ndarray) -> np.ndarray:
    odds = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (odds / odds.sum(axis=-1, keepdims=True)).astype(np.float32)


@pytest.fixture
def weights() -> np.ndarray:
    return softmax(np.random.default_rng(0).normal(size=(5, 4)))


@pytest.fixture
def causal() -> np.ndarray:
    return softmax(np.where(LATER, -np.inf, np.random.default_rng(1).normal(size=(5, 5))))


@pytest.fixture
def trace() -> SimpleNamespace:
    """Two encoder layers of three heads, three decoder layers of two: no number stands for another."""
    random = np.random.default_rng(2)
    patterns = {
        "encoder": softmax(random.normal(size=(2, 3, 4, 4))),
        "decoder": softmax(np.where(LATER, -np.inf, random.normal(size=(3, 2, 5, 5)))),
        "cross": softmax(random.normal(size=(3, 2, 5, 4))),
    }
    return SimpleNamespace(
        pattern=patterns.__getitem__,
        rows={"encoder": SOURCE, "decoder": WRITES, "cross": WRITES}.__getitem__,
        columns={"encoder": SOURCE, "decoder": READS, "cross": SOURCE}.__getitem__,
        masked=lambda kind: LATER if kind == "decoder" else np.zeros(patterns[kind].shape[-2:], bool),
        reads=SimpleNamespace(labels=READS),
    )


def matrix_of(figure: go.Figure) -> go.Heatmap:
    """The heatmap that has a colour bar: the other one lies under the hatching."""
    (matrix,) = [t for t in figure.data if t.type == "heatmap" and t.showscale is not False]
    return matrix


def ground_of(figure: go.Figure) -> go.Heatmap:
    (ground,) = [t for t in figure.data if t.type == "heatmap" and t.showscale is False]
    return ground


def test_the_picture_holds_the_weights_bit_for_bit(weights: np.ndarray) -> None:
    z = matrix_of(pattern(weights, WRITES, SOURCE)).z
    assert z.dtype == np.float32
    assert z.tobytes() == weights.tobytes()


@pytest.mark.parametrize("scale", ["row", "sqrt"])
def test_the_hover_keeps_the_raw_weight_when_the_colour_is_scaled(weights: np.ndarray, scale: str) -> None:
    matrix = matrix_of(pattern(weights, WRITES, SOURCE, scale=scale))
    assert matrix.customdata.tobytes() == weights.tobytes()
    assert "%{customdata" in matrix.hovertemplate and "%{z" not in matrix.hovertemplate


def test_scales(weights: np.ndarray) -> None:
    rows = matrix_of(pattern(weights, WRITES, SOURCE, scale="row"))
    np.testing.assert_allclose(rows.z.max(axis=1), 1)
    np.testing.assert_allclose(rows.z * weights.max(axis=1, keepdims=True), weights, rtol=1e-6)
    roots = matrix_of(pattern(weights, WRITES, SOURCE, scale="sqrt"))
    np.testing.assert_allclose(roots.z**2, weights, rtol=1e-6)
    bars = [matrix_of(pattern(weights, WRITES, SOURCE, scale=s)).colorbar.title.text for s in ("fixed", "row", "sqrt")]
    assert bars == ["weight, 0 to 1", "share of the row's largest weight", "square root of the weight"]


def test_the_fixed_scale_does_not_follow_the_data(weights: np.ndarray) -> None:
    for picture in (pattern(weights, WRITES, SOURCE), pattern(weights / 100, WRITES, SOURCE)):
        assert (matrix_of(picture).zmin, matrix_of(picture).zmax) == (0, 1)
    norms = matrix_of(pattern(weights * 7, WRITES, SOURCE, name="norm", limit=8))
    assert (norms.zmax, norms.colorbar.title.text) == (8, "norm, 0 to 8")


def test_a_row_of_zeros_stays_zero_on_the_row_scale(weights: np.ndarray) -> None:
    weights[2] = 0
    assert (matrix_of(pattern(weights, WRITES, SOURCE, scale="row")).z[2] == 0).all()


def test_ranks_count_from_the_largest_and_ties_share_theirs() -> None:
    weights = np.array([[0.1, 0.6, 0.3], [0.4, 0.4, 0.2]], np.float32)
    assert matrix_of(pattern(weights, ["a", "b"], ["x", "y", "z"])).text.tolist() == [
        ["3rd", "1st", "2nd"],
        ["1st", "1st", "3rd"],
    ]


@pytest.mark.parametrize("scale", ["fixed", "row", "sqrt"])
def test_masked_cells_have_no_colour_and_a_zero_weight_has_one(causal: np.ndarray, scale: str) -> None:
    causal[4] = [1, 0, 0, 0, 0]
    matrix = matrix_of(pattern(causal, WRITES, READS, masked=LATER, scale=scale))
    assert (np.isnan(matrix.z) == LATER).all()
    assert matrix.hoverongaps is False
    assert (matrix.text == "").tolist() == LATER.tolist()


def test_masked_cells_are_named_and_hatched() -> None:
    masked = np.random.default_rng(3).random((7, 9)) < 0.4
    figure = pattern(np.zeros((7, 9)), list("abcdefg"), list("abcdefghi"), masked=masked)
    assert (ground_of(figure).z == masked).all()
    assert "masked: this key comes later" in ground_of(figure).hovertemplate
    (hatching,) = [t for t in figure.data if t.type == "scatter" and t.fill == "toself"]
    assert covered(hatching, masked.shape).tolist() == masked.tolist()


def covered(hatching: go.Scatter, shape: tuple[int, int]) -> np.ndarray:
    """The cells inside the rectangles, which are five corners and a gap each."""
    cells = np.zeros(shape, bool)
    for xs, ys in zip(hatching.x.reshape(-1, 6), hatching.y.reshape(-1, 6), strict=True):
        left, right, top, bottom = (round(float(v) + 0.5) for v in (xs[0], xs[1], ys[0], ys[2]))
        assert np.isnan(xs[5]) and not cells[top:bottom, left:right].any()
        cells[top:bottom, left:right] = True
    return cells


def test_without_a_mask_nothing_is_hatched(weights: np.ndarray) -> None:
    assert [t.type for t in pattern(weights, WRITES, SOURCE).data] == ["heatmap", "scatter"]


def test_everything_masked_is_still_a_picture() -> None:
    figure = pattern(np.zeros((2, 2)), ["a", "b"], ["x", "y"], masked=np.ones((2, 2), bool))
    assert np.isnan(matrix_of(figure).z).all()
    assert figure.layout.meta == "All 2 rows are masked."


def test_equal_tokens_keep_their_own_rows(causal: np.ndarray) -> None:
    layout = pattern(causal, WRITES, READS, masked=LATER, reads=READS).layout
    for axis, labels in ((layout.yaxis, WRITES), (layout.yaxis2, WRITES), (layout.yaxis3, READS)):
        assert axis.labelalias == {str(i): label for i, label in enumerate(labels)}
    assert list(layout.yaxis.range) == [4.5, -0.5]  # row 0 at the top
    assert layout.xaxis.side == layout.xaxis2.side == "top"


def test_only_rows_that_write_have_two_labels(trace: SimpleNamespace) -> None:
    def texts(kind: str) -> set[str]:
        return {note.text for note in heatmap(trace, kind, 1, 1).layout.annotations}

    assert {"reads", "writes"} <= texts("decoder") & texts("cross")
    assert not {"reads", "writes"} & texts("encoder")
    assert texts("encoder") == {"token that looks (query)", "looks at (key)"}


@pytest.mark.parametrize("token", ["<b>bold</b>", "<img src=x onerror=alert(1)>", "&lt;", "$x$", "%{z}"])
def test_a_token_is_never_markup(token: str) -> None:
    figure = pattern(np.eye(2), [token, "a"], [token, "b"], reads=[token, "c"], width=900)
    layout = figure.layout
    for axis in (layout.xaxis, layout.xaxis2, layout.yaxis, layout.yaxis2, layout.yaxis3):
        assert not set("<>$") & set(axis.labelalias["0"])
    # Plotly fills its templates once, from the axes: no token is part of a template.
    assert all(token not in (trace.hovertemplate or "") for trace in figure.data)


def test_a_long_token_is_cut_on_the_axis_and_named_on_hover() -> None:
    token = "Donaudampfschifffahrtsgesellschaft"
    layout = pattern(np.eye(2), [token, "a"], [token, "b"]).layout
    assert layout.yaxis2.labelalias["0"].endswith("…")
    assert layout.yaxis.labelalias["0"] == layout.xaxis.labelalias["0"] == token


def rows_of(figure: go.Figure) -> tuple[float, float]:
    """Pixels from the figure's top to its first row, and of each row."""
    layout = figure.layout
    return layout.margin.t, (layout.height - layout.margin.t - layout.margin.b) / (layout.yaxis.range[0] + 0.5)


@pytest.mark.parametrize("size", [1, 2, 3, 10, 25, 60, 255])
def test_cells_are_square_and_the_picture_fits_its_width(size: int) -> None:
    figure = pattern(np.eye(size), ["token"] * size, ["token"] * size, reads=["token"] * size, width=480)
    layout = figure.layout
    top, row = rows_of(figure)
    room = layout.width - layout.margin.l - layout.margin.r
    column = room * layout.xaxis.domain[1] / size
    assert row == pytest.approx(column, rel=0.02)
    assert top + size * row + layout.margin.b == layout.height
    assert layout.margin.l + size * column <= layout.width - layout.margin.r + 1


def test_the_grid_never_claims_more_than_the_width_there_is() -> None:
    """A share of 1.0000000000000002, which some numbers of columns give, is refused by Plotly."""
    for columns in range(1, 60):
        spec = pattern_spec(np.ones((1, columns), np.float32), ["a"], ["b"] * columns, width=440)
        assert spec["layout"]["xaxis"]["domain"][1] <= 1


def test_a_given_height_is_kept_and_the_rows_share_it() -> None:
    figure = pattern(np.eye(8), ["a"] * 8, ["b"] * 8, height=500)
    top, row = rows_of(figure)
    assert figure.layout.height == 500
    assert top + 8 * row == 500 - figure.layout.margin.b


def test_narrow_rows_are_labelled_every_few_and_can_be_zoomed() -> None:
    few, many = (pattern(np.eye(n), ["token"] * n, ["token"] * n).layout for n in (10, 120))
    assert (few.yaxis2.dtick, few.yaxis.fixedrange) == (1, True)
    assert many.yaxis2.dtick > 1 and not many.yaxis.fixedrange
    titles = pattern(np.eye(120), ["t"] * 120, ["t"] * 120).layout.annotations
    assert sum(f"every {ordinal(many.yaxis2.dtick)} labelled" in title.text for title in titles) >= 1  # and says so
    assert rows_of(pattern(np.eye(120), ["t"] * 120, ["t"] * 120))[1] * many.yaxis2.dtick >= 12


def test_the_page_shows_through(weights: np.ndarray) -> None:
    for theme in THEMES:
        figure = pattern(weights, WRITES, SOURCE, theme=theme)
        assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0,0,0,0)"
        assert matrix_of(figure).colorscale[0] == (0, THEMES[theme].background)


def test_the_sentence_names_the_largest_weight() -> None:
    weights = np.array([[0.5, 0.5], [0.03, 0.97]], np.float32)
    assert pattern(weights, ["est", "assis"], ["is", "sitting"]).layout.meta == (
        "2 rows by 2 columns; the largest weight is 0.97, where assis looks at sitting."
    )


def test_a_difference_is_symmetrical_about_none(weights: np.ndarray) -> None:
    change = weights - weights[:, ::-1]
    matrix = matrix_of(difference(change, WRITES, SOURCE))
    assert matrix.z.tobytes() == change.tobytes()
    assert -matrix.zmin == matrix.zmax == np.abs(change).max()
    assert matrix.colorscale[1] == (0.5, THEMES["light"].diverging[1])
    assert matrix.colorbar.title.text == f"change in weight, ±{np.abs(change).max():.2g}"


def test_no_difference_at_all_is_all_neutral() -> None:
    matrix = matrix_of(difference(np.zeros((2, 2)), ["a", "b"], ["x", "y"]))
    assert (matrix.zmin, matrix.zmax) == (-1, 1)


def test_masked_cells_do_not_stretch_the_scale_of_a_difference() -> None:
    change, masked = np.array([[0.1, 9.0]]), np.array([[False, True]])
    assert matrix_of(difference(change, ["a"], ["x", "y"], masked=masked)).zmax == pytest.approx(0.1)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_a_trace_is_opened_at_the_layer_and_head_that_people_count(trace: SimpleNamespace, kind: str) -> None:
    layers, heads, *_ = trace.pattern(kind).shape
    for layer, head in np.ndindex(layers, heads):
        figure = heatmap(trace, kind, layer + 1, head + 1)
        expected = trace.pattern(kind)[layer, head].copy()
        expected[trace.masked(kind)] = np.nan
        np.testing.assert_array_equal(matrix_of(figure).z, expected)
        assert figure.layout.meta.startswith(f"{kind.capitalize()} attention, layer {layer + 1}, head {head + 1}: ")


def test_options_reach_the_pattern(trace: SimpleNamespace) -> None:
    figure = heatmap(trace, "cross", layer=3, head=1, scale="sqrt", theme="dark", width=640)
    assert figure.layout.width == 640
    assert matrix_of(figure).colorbar.title.text == "square root of the weight"


@pytest.mark.parametrize(
    ("kind", "layer", "head", "sentence"),
    [
        ("self", 1, 1, "no kind of attention 'self': choose one of encoder, decoder, cross"),
        ("encoder", 3, 1, "no layer 3 of encoder attention: choose one from 1 to 2"),
        ("cross", 0, 1, "no layer 0 of cross attention: choose one from 1 to 3"),
        ("decoder", 1, 3, "no head 3 of decoder attention: choose one from 1 to 2"),
    ],
)
def test_what_is_not_there_is_refused(trace: SimpleNamespace, kind: str, layer: int, head: int, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        heatmap(trace, kind, layer, head)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"scale": "log"}, "no scale 'log': choose one of fixed, row, sqrt"),
        ({"theme": "sepia"}, "no theme 'sepia'"),
        ({"masked": np.zeros((4, 5), bool)}, "the mask is 4 x 5"),
        ({"reads": ["a"]}, "there are 1 tokens"),
    ],
)
def test_options_that_do_not_fit_are_refused(weights: np.ndarray, options: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        pattern(weights, WRITES, SOURCE, **options)


@pytest.mark.parametrize("shape", [(4, 5), (5,), (5, 4, 1)])
def test_a_matrix_of_another_shape_than_its_labels_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="5 rows and 4 columns"):
        pattern(np.zeros(shape), WRITES, SOURCE)
    with pytest.raises(ValueError, match="0 rows"):
        pattern(np.zeros((0, 0)), [], [])
