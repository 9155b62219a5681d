"""The report of the bridge: what it shows, what it refuses, and its picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_iris

from suffice import GaussianDiscriminant, bridge
from suffice.errors import BadLabels, BadRows, BadSetting, DegenerateData, NotFinite
from suffice.estimators.bridge_report import score_test_line, verdict
from suffice.models.score_test import ScoreTest
from suffice.plots import draw_bridge
from suffice.plots.bridge import GDA_LINE, LOGISTIC_LINE
from suffice.printing import result_table as text_tables
from tests.reference.bridge import drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Array = NDArray[Any]


@pytest.fixture(scope="module")
def flowers() -> tuple[pd.DataFrame, Array]:
    """Return two species of iris that overlap."""
    found = load_iris(as_frame=True)
    two = found.target.to_numpy() > 0
    return found.data[two].iloc[:, [0, 3]], found.target_names[found.target[two]]


@pytest.fixture
def normal() -> tuple[Array, Array]:
    return drawn("normal", 600, 2.0, np.random.default_rng(1), count=3)


@pytest.fixture
def ax() -> Axes:
    return Figure().add_subplot()


# Figures


def test_theta_is_that_of_the_discriminant_and_of_logistic_regression(
    flowers: tuple[pd.DataFrame, Array],
) -> None:
    found = bridge(*flowers)
    implied = GaussianDiscriminant().fit(*flowers).to_logistic()
    figures = found.figures(1)
    assert figures["gda"] == pytest.approx([*implied.intercept_, *implied.coef_[0]], rel=1e-9)
    assert figures["logistic"] == pytest.approx(found.logistic.estimate(1))
    assert figures["difference"] == pytest.approx(figures["logistic"] - figures["gda"])
    ends = figures["gda_high"] - figures["gda_low"]
    assert ends == pytest.approx(2 * 1.959964 * figures["gda_se"], rel=1e-6)
    assert (figures["difference_se"] < figures["logistic_se"]).all()


def test_the_level_of_intervals_is_the_one_asked_for(flowers: tuple[pd.DataFrame, Array]) -> None:
    narrow, wide = bridge(*flowers, level=0.5).figures(1), bridge(*flowers, level=0.99).figures(1)
    for school in ("gda", "logistic"):
        ends = [each[f"{school}_high"] - each[f"{school}_low"] for each in (narrow, wide)]
        assert ends[1] / ends[0] == pytest.approx(2.575829 / 0.674490, rel=1e-5)


def test_every_pair_is_compared_unless_some_are_named(normal: tuple[Array, Array]) -> None:
    rows, labels = normal
    words = np.array(["a", "b", "c"])[labels]
    assert bridge(rows, words).pairs == ((1, 0), (2, 0), (2, 1))
    assert bridge(rows, words, pairs=("a", "c")).pairs == ((0, 2),)
    assert bridge(rows, labels, pairs=(0, 2)).pairs == ((0, 2),)
    assert bridge(rows, words, pairs=[("a", "c"), ("b", "c")]).pairs == ((0, 2), (1, 2))


def test_weights_are_repetitions_and_zero_is_no_row(normal: tuple[Array, Array]) -> None:
    rows, labels = normal
    times = np.random.default_rng(2).integers(0, 3, len(rows))
    weighted = bridge(rows, labels, times)
    repeated = bridge(np.repeat(rows, times, axis=0), np.repeat(labels, times))
    assert weighted.test.statistic == pytest.approx(repeated.test.statistic, rel=1e-9)
    for name, column in repeated.figures(2, 1).items():
        assert weighted.figures(2, 1)[name] == pytest.approx(column, rel=1e-5), name


def test_float32_rows_give_nearly_the_same(normal: tuple[Array, Array]) -> None:
    rows, labels = normal
    wide, narrow = bridge(rows, labels), bridge(rows.astype(np.float32), labels)
    assert narrow.test.statistic == pytest.approx(wide.test.statistic, rel=1e-3)


def test_the_bootstrap_is_asked_for_and_seeded(normal: tuple[Array, Array]) -> None:
    found = [bridge(*normal, bootstrap=19, random_state=3).test for _ in range(2)]
    assert found[0] == found[1]
    assert found[0].draws == 19
    assert "bootstrap" in found[0].method
    assert round(found[0].p_value * 20) == pytest.approx(found[0].p_value * 20)


def test_separated_classes_have_a_test_and_no_logistic_figures() -> None:
    rng = np.random.default_rng(4)
    labels = np.arange(200) % 2
    rows = np.column_stack([rng.uniform(0.0, 1.0, 200) + 1.05 * labels, rng.standard_normal(200)])
    found = bridge(rows, labels)
    assert np.isnan(found.figures(1)["logistic"]).all()
    assert np.isfinite(found.figures(1)["gda_se"]).all()
    assert found.test.degrees_of_freedom == 3
    assert "a flat boundary separates classes" in str(found)
    assert "–" in str(found)


# Columns


def test_categories_are_coded_as_the_discriminant_codes_them() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {"colour": rng.choice(["red", "green", "blue"], 300), "size": rng.standard_normal(300)}
    )
    labels = (frame["size"] + rng.standard_normal(300) > 0).to_numpy()
    found = bridge(frame, labels)
    assert found.columns == ("colour=blue", "colour=green", "colour=red", "size")
    known = np.isfinite(found.figures(1)["gda_se"])
    assert known.tolist() == [False, False, False, False, True]
    for school in ("gda", "logistic"):
        assert np.isfinite(found.figures(1)[school]).all()
    assert "These rows do not determine (intercept), colour=blue" in str(found)


def test_a_constant_column_is_named_and_has_no_interval() -> None:
    rows, labels = drawn("normal", 300, 2.0, np.random.default_rng(6))
    rows[:, 1] = 4.0
    with pytest.warns(DegenerateData, match="x1"):
        found = bridge(rows, labels)
    figures = found.figures(1)
    assert figures["gda"][2] == figures["logistic"][2] == 0.0
    assert np.isnan([figures["gda_se"][2], figures["logistic_se"][2]]).all()
    assert found.test.degrees_of_freedom == 3


# Words


def test_the_report_reads_pair_by_pair(flowers: tuple[pd.DataFrame, Array]) -> None:
    text = str(bridge(*flowers))
    lines = text.splitlines()
    assert lines[0] == "GDA and logistic regression: 100 rows, 2 classes, 2 columns"
    assert "θ of virginica against versicolor, Δ = 2.95" in lines
    assert any(line.startswith("petal width (cm)") for line in lines)
    assert "T = 5.023 on 3 degrees of freedom, p = 0.1701 by χ²" in text
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize(
    ("p", "words"),
    [(0.31, "No sign (p = 0.3100)"), (0.03, "Some sign"), (1e-7, "Clear sign (p = 1.0e-07)")],
)
def test_the_verdict_says_as_much_as_the_p_value_and_no_more(p: float, words: str) -> None:
    said = verdict(ScoreTest(1.0, 3, p))
    assert said.startswith(words)
    assert ("does not prove" in said) == (p >= 0.05)
    assert ("Prefer logistic regression" in said) == (p < 0.01)


def test_where_there_is_nothing_to_test_it_says_so() -> None:
    labels = np.arange(40) % 2
    rows = np.column_stack([np.random.default_rng(7).standard_normal(40), labels])
    with pytest.warns(DegenerateData):
        found = bridge(rows, labels)
    assert found.test.p_value == 1.0
    assert score_test_line(found.test) in str(found)
    assert "Nothing to compare" in found.verdict
    assert "nan" not in str(found)


@pytest.mark.parametrize(
    ("distance", "words"),
    [(0.5, "rejects too rarely"), (2.5, ""), (4.5, "few rows are uncertain")],
)
def test_the_range_of_the_chi_squared_is_told(distance: float, words: str) -> None:
    rows, labels = drawn("normal", 2000, distance, np.random.default_rng(8))
    said = " ".join(bridge(rows, labels).reservations)
    assert words in said
    assert bool(words) == ("bootstrap=199" in said)


def test_the_frame_holds_numbers_and_leaves_absent_ones_empty(normal: tuple[Array, Array]) -> None:
    rows, labels = normal
    found = bridge(rows, np.array(["a", "b", "c"])[labels])
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == 3 * 4
    assert frame.loc[4, ["class", "against", "column"]].tolist() == ["c", "a", "(intercept)"]
    assert frame["gda"].dtype == np.float64
    other = found.to_frame("polars")
    assert isinstance(other, pl.DataFrame)
    assert other["difference_z"].to_list() == pytest.approx(frame["difference_z"].tolist())


def test_without_a_frame_library_there_is_a_hint(
    flowers: tuple[pd.DataFrame, Array], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = bridge(*flowers)
    monkeypatch.setattr(text_tables, "find_spec", lambda name: None)
    with pytest.raises(BadSetting, match="pip install"):
        found.to_frame()


def test_html_holds_the_table_and_escapes_names() -> None:
    rows, labels = drawn("normal", 200, 2.0, np.random.default_rng(9), width=2)
    page = bridge(pd.DataFrame(rows, columns=["<b>", "plain"]), labels)._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert page.count("<tr>") >= 4
    assert "degrees of freedom" in page


def test_its_short_form_fits_a_line(flowers: tuple[pd.DataFrame, Array]) -> None:
    assert repr(bridge(*flowers)) == "BridgeReport(1 pair of 2 classes, 2 columns, p_value=0.1701)"


# Refusals


def test_missing_cells_are_refused_by_name(flowers: tuple[pd.DataFrame, Array]) -> None:
    frame, labels = flowers
    holes = frame.copy()
    holes.iloc[17, 1] = np.nan
    with pytest.raises(NotFinite, match=r"row 17, .*petal width") as refusal:
        bridge(holes, labels)
    assert "fill the cell or drop the row" in refusal.value.hint


def test_a_row_is_numbered_as_it_was_given(flowers: tuple[pd.DataFrame, Array]) -> None:
    frame, labels = flowers
    holes = frame.copy()
    holes.iloc[17, 1] = np.nan
    weights = np.ones(len(frame))
    weights[:10] = 0.0
    with pytest.raises(NotFinite, match="row 17"):
        bridge(holes, labels, weights)
    weights[17] = 0.0
    assert bridge(holes, labels, weights).bridge.weight == len(frame) - 11


def test_one_class_is_no_pair() -> None:
    with pytest.raises(BadLabels, match="there is no pair to compare"):
        bridge([[1.0], [2.0]], ["a", "a"])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"pairs": ("virginica", "setosa")}, "there is no class 'setosa'"),
        ({"pairs": ("virginica", "virginica")}, "not a pair of classes"),
        ({"pairs": ("virginica",)}, "not a pair of classes"),
        ({"pairs": 3}, "names no classes"),
        ({"level": 95}, "level=95"),
        ({"bootstrap": -1}, "bootstrap=-1"),
        ({"bootstrap": 1.5}, "bootstrap=1.5"),
        ({"bootstrap": True}, "bootstrap=True"),
        ({"random_state": "seed"}, "random_state='seed'"),
    ],
)
def test_settings_without_meaning_are_refused(
    flowers: tuple[pd.DataFrame, Array], settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadSetting, match=words):
        bridge(*flowers, **settings)


# The picture


def lines_of(ax: Axes, style: dict[str, Any]) -> list[Array]:
    """Return the boundary of one school: the lines drawn in its width."""
    return [
        path.vertices
        for each in ax.collections
        if np.allclose(each.get_linewidth(), style["linewidths"])
        for path in each.get_paths()
        if len(path.vertices)
    ]


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("width", [2, 4])
def test_both_boundaries_are_drawn_over_rows_and_ellipses(ax: Axes, count: int, width: int) -> None:
    rows, labels = drawn("normal", 300, 2.5, np.random.default_rng(10), width=width, count=count)
    assert draw_bridge(ax, rows, labels, grid=60) is ax
    assert len(ax.lines) == 2 * count
    for style in (GDA_LINE, LOGISTIC_LINE):
        edges = lines_of(ax, style)
        assert edges
        if count == 2:
            for edge in edges:
                first, second = np.linalg.svd(edge - edge.mean(axis=0), compute_uv=False)
                assert second < 1e-6 * first
    assert [text.get_text() for text in ax.get_legend().get_texts()][:count] == [
        str(c) for c in range(count)
    ]


def test_with_two_classes_the_plane_shows_both_boundaries_whole(ax: Axes) -> None:
    rows, labels = drawn("exponential", 400, 2.0, np.random.default_rng(11), width=5)
    draw_bridge(ax, rows, labels, grid=60)
    # Across GDA's θ nothing changes for GDA: its boundary stands upright.
    for edge in lines_of(ax, GDA_LINE):
        assert np.ptp(edge[:, 0]) < 1e-6 * np.ptp(edge[:, 1])
    assert all(np.ptp(edge[:, 0]) > 1e-3 for edge in lines_of(ax, LOGISTIC_LINE))
    assert ax.get_xlabel().startswith("along GDA's θ")


def test_two_columns_can_be_chosen_by_name_or_place(
    ax: Axes, flowers: tuple[pd.DataFrame, Array]
) -> None:
    found = load_iris(as_frame=True)
    draw_bridge(ax, found.data, found.target, columns=("petal width (cm)", 0), grid=40)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("petal width (cm)", "sepal length (cm)")
    for wrong in ((0,), (0, 0), (0, 9), ("petal", 0), (True, 0)):
        with pytest.raises(BadSetting, match="column"):
            draw_bridge(ax, found.data, found.target, columns=wrong)


def test_one_column_is_no_plane(ax: Axes) -> None:
    rows, labels = drawn("normal", 50, 2.0, np.random.default_rng(12), width=1)
    with pytest.raises(BadRows, match="a plane needs two"):
        draw_bridge(ax, rows, labels)
