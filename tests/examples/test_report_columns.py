"""What the report shows of columns and of ranking: histograms, blanks, correlations, ROC."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from sklearn.datasets import load_iris
from sklearn.metrics import roc_auc_score

from suffice import GaussianDiscriminant, compare
from suffice.columns.spellings.spelling import Spelling
from suffice.evaluation import LabelledRows
from suffice.plots import draw_confusion_counts, draw_regions
from suffice.plots.rates import Ranking
from suffice.plots.regions import nudged
from suffice.plots.tables import _readable
from suffice.printing.level_order import level_order
from suffice.report import page
from suffice.report.associations import correlations
from suffice.report.column_strips import HIGH, ClassColours, number_strip
from suffice.report.contents import Contents
from suffice.report.data_summary import MOST_COLUMNS, glance, glance_section
from suffice.report.ranking import areas

# The order of levels


@given(st.lists(st.one_of(st.text(max_size=8), st.integers().map(str), st.none()), unique=True))
def test_levels_are_only_put_in_order(levels: list[Any]) -> None:
    found = level_order(levels)
    assert sorted(map(repr, found)) == sorted(map(repr, levels))
    assert level_order(reversed(levels)) == found


@given(st.lists(st.integers(-1000, 1000), unique=True, min_size=2))
def test_numbers_in_levels_decide(numbers: list[int]) -> None:
    levels = [f"{number} km" for number in numbers]
    assert level_order(levels) == [f"{number} km" for number in sorted(numbers)]


@pytest.mark.parametrize(
    "levels",
    [
        ["<0", "0<=X<200", ">=200", "no checking"],
        ["under 18", "18-25", "26-40", "65+"],
        ["< 1,000", "1,000-5,000", "> 5,000"],
        ["Mon", "Tue", "Wed", "Sun"],
        ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"],
        ["low", "medium", "high"],
        ["apple", "pear", "zucchini"],
    ],
)
def test_levels_come_in_the_order_people_read_them(levels: list[str]) -> None:
    assert level_order(sorted(levels, reverse=True)) == levels


# Histograms


def bars(svg: str) -> dict[str, float]:
    """Return the height of all bars of each colour."""
    return {
        fill: sum(float(found) for found in re.findall(r"v(-?[\d.e-]+)h", path))
        for fill, path in re.findall(r'<path fill="([^"]+)" d="([^"]+)"', svg)
    }


@given(
    st.lists(st.floats(-1e9, 1e9) | st.just(float("nan")), min_size=2, max_size=60),
    st.integers(2, 9),
)
def test_a_histogram_counts_every_row_of_every_class(cells: list[float], classes: int) -> None:
    labels = [f"c{i % classes}" for i in range(len(cells))]
    colours = ClassColours.of(LabelledRows.read([[0.0]] * len(cells), labels))
    numbers = np.array(cells)
    svg = number_strip(colours, "x", numbers)
    there = np.isfinite(numbers)
    assert bool(svg) == bool(there.any())
    if not svg:
        return
    counts = {
        colours.colour(k): float((there & (colours.codes == k)).sum())
        for k in range(len(colours.labels))
    }
    heights = bars(svg)
    assert set(heights) == {colour for colour, count in counts.items() if count}
    tallest = HIGH / max(np.histogram(numbers[there], 1)[0].max(), 1)
    assert sum(heights.values()) >= 0.99 * tallest  # something is drawn, and in proportion:
    whole, rows = sum(heights.values()), sum(counts.values())
    for colour, height in heights.items():
        assert height / whole == pytest.approx(counts[colour] / rows, abs=0.02)


def page_of(frame: pd.DataFrame, labels: Any) -> str:
    found = compare(frame, labels, models=["naive-bayes"], folds=2, curves=False)
    return page(found, pictures=False)


def test_every_column_has_a_histogram_split_by_class_without_matplotlib() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"size": rng.normal(size=60), "colour": rng.choice(["red", "blue"], 60), "old": [True] * 60}
    )
    html = page_of(frame, np.arange(60) % 3)
    assert html.count('<svg class="strip" role="img"') == 3
    for called in frame.columns:
        assert f'aria-label="{called} by class, a histogram"' in html


def data_of(frame: pd.DataFrame, labels: Any) -> str:
    rows = LabelledRows.read(frame, labels)
    return glance_section(rows, glance(rows), "y")


def test_five_hundred_columns_and_two_hundred_classes_are_all_there() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 500)), columns=[f"c{j}" for j in range(500)])
    html = data_of(frame, np.arange(40) % 2)
    assert f"<summary>{500 - MOST_COLUMNS} more columns</summary>" in html
    assert html.count('class="strip"') == 500
    assert len(html) < 2_500_000
    many = data_of(pd.DataFrame({"x": rng.normal(size=600)}), [f"k{i % 200}" for i in range(600)])
    assert "… and 160 more classes." in many
    assert "other classes" in many


# Blanks and correlations


def test_blanks_are_told_class_by_class() -> None:
    frame = pd.DataFrame({"a": [1.0, np.nan] * 20, "b": np.arange(40.0)})
    html = page_of(frame, ["yes", "no"] * 20)
    assert "20 of 40 rows are complete." in html
    row = re.search(r'<th scope="row"><bdi>a</bdi></th>(.*?)</tr>', html.split("Blanks")[1])
    assert row is not None
    shares = re.findall(r"([\d.]+) %", row[1].replace("&nbsp;", " "))
    assert shares == ["50.0", "100", "0"]  # of all, of no, of yes


@given(st.integers(0, 1000), st.floats(1e-9, 1e9), st.floats(-1e6, 1e6))
def test_correlations_are_those_of_numpy(seed: int, scale: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    cells = rng.normal(size=(30, 3)) @ rng.normal(size=(3, 3))
    found = correlations(LabelledRows.read(cells * scale + shift, ["a", "b"] * 15), None)
    assert found is not None
    spread = np.abs(cells * scale).std()
    if spread > 1e-6 * abs(shift):
        assert found.table == pytest.approx(np.corrcoef(cells.T), abs=1e-6)


def test_blank_and_constant_columns_have_the_correlations_they_can_have() -> None:
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(50, 4))
    cells[:, 1] += cells[:, 0]
    cells[::3, 1] = np.nan
    cells[:, 2] = 7.0
    cells[:, 3] = np.nan
    found = correlations(LabelledRows.read(cells, ["a", "b"] * 25), None)
    assert found is not None
    both = np.isfinite(cells[:, 1])
    expected = np.corrcoef(cells[both, 0], cells[both, 1])[0, 1]
    assert found.table[0, 1] == pytest.approx(expected)
    assert np.isnan(found.table[2]).all()
    assert np.isnan(found.table[3]).all()


# Ranking


@given(st.integers(0, 10_000), st.booleans())
def test_areas_are_those_of_scikit_learn_with_weights_too(seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 6, 30).astype(float)
    truth = np.arange(30) % 3 == 0
    weights = rng.uniform(0.1, 3.0, 30) if weighted else None
    found = Ranking.of(scores, truth, weights).area
    assert found == pytest.approx(roc_auc_score(truth, scores, sample_weight=weights))


@pytest.mark.slow
def test_the_page_and_its_record_have_the_area_of_every_class() -> None:
    X, y = load_iris(return_X_y=True)
    found = compare(X, y, models=["gda"], folds=3, curves=False)
    held = found.held_out[found.best].log_posterior
    assert held is not None
    expected = {c: roc_auc_score(y == c, held[:, c]) for c in range(3)}
    assert areas(found, found.best) == pytest.approx(expected, abs=1e-3)
    record = Contents.of(found).record()
    assert [one["class"] for one in record["auc"]] == [0, 1, 2]
    assert {"x2", "x3"} in [set(one["columns"]) for one in record["correlations"]]
    html = page(found)
    assert 'aria-label="ROC curve of' in html
    assert 'aria-label="precision and recall of' in html
    assert "area under the ROC curve (AUC), mean over classes" in html


# Pictures


def test_figures_in_a_confusion_matrix_can_be_read() -> None:
    shares = np.linspace(0, 1, 21)
    counts = np.array([[100 * share, 100 * (1 - share)] for share in shares[:2]])
    ax = draw_confusion_counts(Figure().add_subplot(), counts)
    picture = ax.images[0]
    for share in shares:
        background = picture.cmap(picture.norm(share))
        light = np.array(background[:3])
        linear = np.where(light <= 0.04045, light / 12.92, ((light + 0.055) / 1.055) ** 2.4)
        luminance = float(linear @ [0.2126, 0.7152, 0.0722])
        ink = 0.0 if _readable(background) == "black" else 1.0
        bright, dark = max(luminance, ink), min(luminance, ink)
        assert (bright + 0.05) / (dark + 0.05) >= 4.5


def test_names_of_nineteen_classes_do_not_overlap() -> None:
    figure = Figure(figsize=(7, 6), layout="constrained")
    counts = np.eye(19) * 30 + 1
    ax = draw_confusion_counts(
        figure.add_subplot(), counts, [f"a disease with number {k}" for k in range(19)]
    )
    figure.draw_without_rendering()
    for labels in (ax.get_xticklabels(), ax.get_yticklabels()):
        boxes = [label.get_window_extent() for label in labels]
        for one, other in pairwise(boxes):
            across = min(one.x1, other.x1) - max(one.x0, other.x0)
            up = min(one.y1, other.y1) - max(one.y0, other.y0)
            assert across <= 1.0 or up <= 1.0


def test_rows_with_equal_whole_numbers_are_drawn_beside_each_other() -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 4, (200, 2)).astype(float)
    labels = np.where(rows.sum(axis=1) + rng.normal(size=200) > 3, "b", "a")
    model = GaussianDiscriminant().fit(rows, labels)
    moved = draw_regions(Figure().add_subplot(), model, rows, labels, grid=20)
    still = draw_regions(Figure().add_subplot(), model, rows, labels, grid=20, jitter=False)
    places = [
        np.unique(
            np.vstack(
                [np.asarray(c.get_offsets()) for c in ax.collections if len(c.get_offsets()) > 1]
            ),
            axis=0,
        )
        for ax in (moved, still)
    ]
    assert len(places[0]) == 200
    assert len(places[1]) == 16
    assert (np.round(nudged(rows)) == rows).all()


def test_columns_are_shown_in_the_notation_that_they_have_in_the_table() -> None:
    days = np.array([[20089.0, 11.5, 0.05], [20090.0, 528.25, 0.1], [20688.0, 7182.0, 0.31]])
    rows = LabelledRows.read(days, ["a", "b", "a"])
    spellings = {
        "x0": Spelling("number", date="dmy"),
        "x1": Spelling("number", currency="$"),
        "x2": Spelling("number", percent=True),
    }
    found = glance(rows, spellings)
    assert [one.kind for one in found] == ["date", "number", "number"]
    assert found[0].words == "2025-01-01 … 2025-01-02 … 2026-08-23"
    assert found[1].words == "$11.5 … $528.2 … $7182"
    assert found[2].words == "5&nbsp;% … 10&nbsp;% … 31&nbsp;%"
    assert "1 date" in glance_section(rows, found, "y")
    assert [one.kind for one in glance(rows)] == ["whole number", "number", "number"]
