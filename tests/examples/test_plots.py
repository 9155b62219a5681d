"""Every picture: what it shows, what it refuses, and that nothing of it is cut off."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.image import imread
from sklearn.metrics import average_precision_score, confusion_matrix, roc_auc_score

from suffice import (
    GaussianDiscriminant,
    GaussianMixture,
    LogisticRegression,
    MultinomialNaiveBayes,
    MultivariateNormal,
    NaiveBayes,
    Perceptron,
    plots,
)
from suffice.errors import (
    BadLabels,
    BadMatrix,
    BadRows,
    BadSetting,
    NotADensity,
    NotANumber,
    NotFinite,
    SufficeError,
)
from suffice.families import Normal
from suffice.learning.results import Explanation
from suffice.plots.calibration import reliability
from suffice.plots.columns import column_law
from suffice.plots.gallery import __main__ as gallery
from suffice.plots.gallery import models as gallery_learning
from suffice.plots.palette import COLOURS, colour, dashes, hatch, marker
from suffice.plots.rates import Ranking
from tests.searches import quick

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

TALL = ([0.0, 0.0], [[1.0, 0.8], [0.8, 1.0]])


@pytest.fixture
def ax() -> Axes:
    return Figure().add_subplot()


@pytest.fixture
def solid() -> Any:
    return Figure().add_subplot(projection="3d")


@pytest.fixture
def many() -> tuple[Any, Any]:
    """Ten classes in a plane, with names that take room."""
    rng = np.random.default_rng(0)
    places = rng.uniform(0.0, 20.0, (10, 2))
    codes = np.arange(400) % 10
    rows = places[codes] + rng.normal(size=(400, 2))
    return rows, np.array([f"the class named {k}" for k in range(10)])[codes]


def cut_off(figure: Figure) -> float:
    """Return by how many inches something stands out of the figure."""
    figure.draw_without_rendering()
    drawn = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    return float(max(-drawn.x0, -drawn.y0, drawn.x1 - width, drawn.y1 - height))


# The gallery


@pytest.fixture
def few_repetitions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gallery_learning, "REPETITIONS", 2)
    monkeypatch.setattr(gallery_learning, "JUDGED", 50)


def pictures_of(root: Path) -> set[str]:
    page = (root / "docs" / "gallery.md").read_text("utf-8")
    return set(re.findall(r"\(images/gallery/([\w-]+)\.png\)", page))


@pytest.mark.parametrize("name", quick(gallery.PICTURES, *list(gallery.PICTURES)[::7]))
def test_the_command_draws_every_picture_and_nothing_is_cut_off(
    name: str, tmp_path: Path, few_repetitions: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = gallery.PICTURES[name]()
    assert cut_off(figure) < 0.02
    monkeypatch.setattr(gallery, "PICTURES", {name: lambda: figure})
    assert gallery.main(["-o", str(tmp_path), "--dpi", "20"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.png"]
    assert imread(tmp_path / f"{name}.png").std() > 0.01


def test_the_pictures_of_the_page_are_there_and_small(root: Path) -> None:
    folder = root / "docs" / "images" / "gallery"
    sizes = {path.stem: path.stat().st_size for path in folder.iterdir()}
    assert set(sizes) == pictures_of(root) == set(gallery.PICTURES)
    assert max(sizes.values()) < 150_000
    assert sum(sizes.values()) < 1_500_000


def test_pictures_can_be_chosen_by_name(tmp_path: Path) -> None:
    assert gallery.main(["--output", str(tmp_path / "new"), "--dpi", "20", "sigmoid"]) == 0
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["sigmoid.png"]
    (tmp_path / "file").touch()
    assert gallery.main(["--output", str(tmp_path / "file"), "sigmoid"]) == 1
    with pytest.raises(SystemExit):
        gallery.main(["--output", str(tmp_path), "sigmoids"])


@pytest.mark.process
def test_the_gallery_is_a_command(tmp_path: Path) -> None:
    words = [sys.executable, "-W", "error", "-m", "suffice.plots.gallery", "--help"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "normal-spread" in done.stdout


def test_a_palette_is_smaller_and_hardly_different(tmp_path: Path) -> None:
    draw = gallery.PICTURES["normal-spread"]
    whole = plots.save_figure(draw(), tmp_path / "whole.png", dpi=50)
    few = plots.save_figure(figure := draw(), tmp_path / "few.png", dpi=50, colours=256)
    assert few.stat().st_size < 0.6 * whole.stat().st_size
    assert np.abs(imread(few)[..., :3] - imread(whole)[..., :3]).mean() < 0.01
    for kind, colours in (("few.svg", 16), ("few.png", 1), ("few.png", 257)):
        with pytest.raises(BadSetting, match="for PNG alone"):
            plots.save_figure(figure, tmp_path / kind, colours=colours)


# The palette


def test_forty_classes_are_told_apart_without_colour_or_with_it() -> None:
    looks = [(colour(k), marker(k), dashes(k), hatch(k)) for k in range(40)]
    for first, second in combinations(looks, 2):
        assert first[:2] != second[:2]
        assert (first[0], first[2]) != (second[0], second[2])
    assert len({marker(k) for k in range(10)}) == 10
    assert len({(dashes(k), hatch(k)) for k in range(35)}) == 35


def test_colours_stay_apart_in_grey_or_have_another_marker() -> None:
    greys = [np.dot(to_rgb(c), [0.299, 0.587, 0.114]) for c in COLOURS]
    assert abs(greys[0] - greys[1]) > 0.2  # two classes are the common case


# Which Axes


def test_without_axes_the_current_ones_are_drawn_on() -> None:
    from matplotlib import pyplot as plt

    _, ax = plt.subplots()
    try:
        assert plots.draw_sigmoid(None) is ax
        assert plots.draw_contours(None, TALL) is ax
        assert plots.draw_surface(None, TALL).name == "3d"
    finally:
        plt.close("all")


def test_what_is_no_axes_is_refused(ax: Axes) -> None:
    with pytest.raises(BadSetting, match="list is not an Axes"):
        plots.draw_roc([0, 1], [0, 1], [0.2, 0.3])  # type: ignore[arg-type]
    with pytest.raises(BadSetting, match="this one is flat"):
        plots.draw_surface(ax, TALL)


def test_without_matplotlib_there_is_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SufficeError, match="pictures need matplotlib") as refused:
        plots.draw_sigmoid(None)
    assert "suffice[plots]" in refused.value.hint
    with pytest.raises(SufficeError, match="pictures need matplotlib"):
        plots.side_by_side({"a": object()}, [[0.0, 1.0]], ["a"])


@pytest.mark.slow
@pytest.mark.parametrize("size", [(6.4, 4.8), (4.0, 4.0)])
def test_legends_and_names_of_ten_classes_are_not_cut_off(
    many: tuple[Any, Any], size: tuple[float, float]
) -> None:
    rows, labels = many
    model = GaussianDiscriminant().fit(rows, labels)
    scores = model.predict_proba(rows)
    drawings: list[Any] = [
        lambda ax: plots.draw_regions(
            ax, model, rows, labels, grid=50, columns=("width", "height")
        ),
        lambda ax: plots.draw_typicality(ax, model, rows, labels, grid=50),
        lambda ax: plots.draw_column(ax, model, 0, rows, labels),
        lambda ax: plots.draw_confusion(ax, labels, model.predict(rows)),
        lambda ax: plots.draw_roc(ax, labels, scores),
        lambda ax: plots.draw_explanation(ax, model.explain(rows)),
    ]
    for draw in drawings:
        figure = Figure(figsize=size)
        draw(figure.add_subplot())
        assert cut_off(figure) < 0.02


def test_a_layout_that_was_chosen_is_kept() -> None:
    figure = Figure(layout="tight")
    engine = figure.get_layout_engine()
    plots.draw_roc(figure.add_subplot(), [0, 1], [0.2, 0.7])
    assert figure.get_layout_engine() is engine


# Normal laws


@pytest.mark.parametrize(
    "law", [TALL, Normal(*TALL), MultivariateNormal(*TALL, names=["width", "height"])]
)
def test_a_law_is_a_law_however_it_is_given(ax: Axes, solid: Any, law: Any) -> None:
    plots.draw_surface(solid, law)
    assert solid.get_zlim()[1] == pytest.approx(1.0 / (2.0 * np.pi * 0.6))
    plots.draw_contours(ax, law)
    named = isinstance(law, MultivariateNormal)
    assert ax.get_xlabel() == solid.get_xlabel() == ("width" if named else "x₁")


def test_contours_hold_their_mass_and_arrows_are_standard_deviations(ax: Axes) -> None:
    plots.draw_contours(ax, TALL, masses=(0.5, 0.9))
    law = Normal(*TALL)
    reached = sorted(float(law.mahalanobis(line.get_xydata())[0]) for line in ax.lines)
    assert reached == pytest.approx(np.sqrt(-2.0 * np.log([0.5, 0.1])))
    tips = sorted(np.hypot(*text.xy) for text in ax.texts if text.arrow_patch is not None)
    assert tips == pytest.approx(np.sqrt([0.2, 1.8]))
    assert ax.get_aspect() == 1.0


def test_degenerate_laws_have_contours_and_no_surface(ax: Axes, solid: Any) -> None:
    line: Any = ([0.0, 0.0], [[1.0, 2.0], [2.0, 4.0]])
    with pytest.raises(BadMatrix, match="rank 1"):
        plots.draw_surface(solid, line)
    plots.draw_contours(ax, line)
    assert np.ptp(ax.lines[0].get_xydata()[:, 0]) > 0.0
    plots.draw_contours(Figure().add_subplot(), ([1.0, 2.0], np.zeros((2, 2))))


def test_what_is_no_law_of_a_plane_is_refused(ax: Axes, solid: Any) -> None:
    with pytest.raises(BadSetting, match="this distribution has 3"):
        plots.draw_contours(ax, Normal(np.zeros(3), np.eye(3)))
    with pytest.raises(BadSetting, match="str is not a normal distribution"):
        plots.draw_surface(solid, "normal")
    with pytest.raises(BadMatrix):
        plots.draw_surface(solid, ([0, 0], [[1, 2], [2, 1]]))
    with pytest.raises(BadSetting, match="no contour"):
        plots.draw_contours(ax, TALL, masses=())
    with pytest.raises(BadSetting, match="are not a range"):
        plots.draw_contours(ax, TALL, limits=((1.0, -1.0), (0.0, 1.0)))
    with pytest.raises(BadSetting, match="not a height"):
        plots.draw_surface(solid, TALL, top=0.0)


# Regions


def test_models_without_ellipses_have_contours_or_none(ax: Axes) -> None:
    rng = np.random.default_rng(0)
    rows = np.exp(rng.normal(size=(60, 2)) + np.repeat([[0.0], [1.0]], 30, axis=0))
    labels = np.repeat(["low", "high"], 30)
    naive = NaiveBayes("lognormal").fit(rows, labels)
    plots.draw_regions(ax, naive, rows, labels, grid=60)
    other = Figure().add_subplot()
    plots.draw_regions(other, LogisticRegression().fit(rows, labels), rows, labels, grid=60)
    plots.draw_regions(
        third := Figure().add_subplot(), Perceptron().fit(rows, labels), rows, labels, grid=60
    )
    assert len(third.collections) == len(other.collections)
    assert len(ax.collections) - len(other.collections) == 2  # a pair of contours for each class
    unfit: Any = type("Plain", (), {"classes_": np.array(["low", "high"])})()
    with pytest.raises(BadSetting, match="neither probabilities nor scores"):
        plots.draw_regions(ax, unfit, rows, labels)


def test_ninety_five_percent_of_a_naive_class_lie_inside_its_contour(ax: Axes) -> None:
    rng = np.random.default_rng(1)
    rows = np.exp(rng.normal(size=(4000, 2)) * [0.5, 0.3])
    model = NaiveBayes("lognormal").fit(rows, np.repeat(["one", "other"], 2000))
    plots.draw_regions(ax, model, rows, np.repeat(["one", "other"], 2000), grid=300)
    lines = next(c for c in ax.collections if len(c.get_paths()) == 2 and c.get_zorder() == 2)
    inside = [path.contains_points(rows).mean() for path in lines.get_paths()]
    assert sorted(inside) == pytest.approx([0.5, 0.95], abs=0.02)


def test_ten_classes_are_named_where_they_lie(ax: Axes, many: tuple[Any, Any]) -> None:
    rows, labels = many
    model = GaussianDiscriminant().fit(rows, labels)
    plots.draw_regions(ax, model, rows, labels, grid=40)
    assert not ax.texts  # names as long as these would cover the rows
    plots.draw_regions(
        short := Figure().add_subplot(), model, rows, labels, classes=list("abcdefghij"), grid=40
    )
    assert [text.get_text() for text in short.texts] == list("abcdefghij")
    looks = {
        (tuple(dots.get_facecolor()[0]), dots.get_paths()[0].vertices.tobytes())
        for dots in ax.collections
        if dots.get_label().startswith("the class")
    }
    assert len(looks) == 10


@pytest.mark.parametrize("draw", [plots.draw_regions, plots.draw_typicality])
@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([[1.0, 2.0], [3.0, np.nan]], r"row 1, column 1: nan cannot be drawn"),
        ([[1.0, 2.0], [np.inf, 2.5]], r"row 1, column 0: inf cannot be drawn"),
        ([[1.0, 2.0], [1.0, 3.0]], r"column 0 is 1 in every row"),
        ([], "no rows to draw"),
        (np.empty((0, 2)), "no rows to draw"),
        ([[1.0], [2.0]], "a plane needs 2 columns"),
        ([[1.0, "red"], [2.0, "blue"]], "two numeric columns"),
    ],
)
def test_rows_without_a_place_are_refused(ax: Axes, draw: Any, rows: Any, problem: str) -> None:
    known = [[0.0, 0.1], [1.0, 0.0], [0.2, 1.0], [3.0, 3.2], [4.0, 3.0], [3.1, 4.0]]
    model = GaussianDiscriminant().fit(known, list("aaabbb"))
    with pytest.raises(BadRows, match=problem):
        draw(ax, model, rows, ["a"] * len(rows))
    assert not ax.collections  # nothing is half drawn


def test_names_that_do_not_fit_are_refused(ax: Axes, many: tuple[Any, Any]) -> None:
    rows, labels = many
    model = GaussianDiscriminant().fit(rows, labels)
    with pytest.raises(BadSetting, match="2 names for 10 classes"):
        plots.draw_regions(ax, model, rows, labels, classes=("a", "b"))
    with pytest.raises(BadSetting, match="names 1 axes of 2"):
        plots.draw_regions(ax, model, rows, labels, columns=("width",))
    with pytest.raises(BadSetting, match="not a grid"):
        plots.draw_regions(ax, model, rows, labels, grid=1)
    with pytest.raises(BadLabels, match="400 labels for 399 rows"):
        plots.draw_typicality(ax, model, rows[1:], labels)


def test_one_class_has_contours_and_no_boundary(ax: Axes) -> None:
    rows = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.warns(UserWarning, match="only one class"):
        model = GaussianDiscriminant().fit(rows, ["a"] * 20)
    plots.draw_regions(ax, model, rows, ["a"] * 20, grid=30)
    assert len(ax.lines) == 2
    assert len(ax.collections) == 2  # rows, and those on the wrong side: none


def test_columns_of_a_frame_name_the_axes(ax: Axes, many: tuple[Any, Any]) -> None:
    pandas = pytest.importorskip("pandas")
    rows, labels = many
    frame = pandas.DataFrame(rows, columns=["width", "height"])
    model = GaussianDiscriminant().fit(frame, labels)
    plots.draw_regions(ax, model, frame, labels, grid=30)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")


# Columns


def mixed() -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    late = np.arange(90) % 3
    rows = np.empty((90, 5), dtype=object)
    rows[:, 0] = rng.normal(late, 1.0)
    rows[:, 1] = rng.poisson(1.0 + 3.0 * late)
    rows[:, 2] = np.array(["red", "green", "blue"])[(late + rng.integers(0, 2, 90)) % 3]
    rows[:, 3] = rng.random(90) < 0.2 + 0.3 * late
    rows[:, 4] = np.exp(rng.normal(late, 0.5))
    return rows, np.array(["a", "b", "c"])[late]


FAMILIES = {"x0": "gaussian", "x1": "poisson", "x4": "lognormal"}


@pytest.mark.parametrize("column", range(5))
def test_the_law_of_a_column_is_that_of_the_model(ax: Axes, column: int) -> None:
    rows, labels = mixed()
    model = NaiveBayes(FAMILIES).fit(rows, labels)
    name, place, law = column_law(model, column)
    assert (name, place) == (f"x{column}", column)
    # A model of this column alone says the same as the whole one, cell by cell.
    alone = NaiveBayes(FAMILIES.get(name, "auto")).fit(rows[:, [column]], labels)
    at: Any = law.at[law.at > 0.0] if hasattr(law, "at") else np.array(law.known, dtype=object)
    heights = law.heights[law.at > 0.0] if hasattr(law, "at") else law.heights
    if column == 3:
        at = at.astype(bool)
    found = alone.log_joint(at[:, np.newaxis]) - np.log(alone.priors_)
    np.testing.assert_allclose(heights, np.exp(found), rtol=1e-9, atol=1e-300)
    plots.draw_column(ax, model, name, rows, labels)
    assert ax.get_xlabel() == name
    assert len(ax.get_legend().get_texts()) == 3


@pytest.mark.parametrize("family", ["gaussian", "shared-gaussian", "lognormal", "binned"])
def test_the_area_below_a_density_is_one(family: str) -> None:
    rows, labels = mixed()
    model = NaiveBayes(family).fit(rows[:, [4]].astype(np.float64), labels)
    law: Any = column_law(model, 0)[2]
    area = np.trapezoid(law.heights, law.at, axis=0)
    # The tails beyond what is drawn, and those of log-normal classes, are left out.
    assert area == pytest.approx(np.ones(3), abs=0.015)


def test_gaussian_discriminants_have_marginal_densities(ax: Axes, many: tuple[Any, Any]) -> None:
    rows, labels = many
    model = GaussianDiscriminant("per-class").fit(rows, labels)
    law: Any = column_law(model, -1)[2]
    expected = Normal(model.means_[3], model.covariances_[3]).marginal([1])
    np.testing.assert_allclose(law.heights[:, 3], expected.density(law.at[:, np.newaxis]))
    plots.draw_column(ax, model, "x1", rows, labels)
    assert len(ax.lines) == 10


def test_many_levels_become_a_table_with_the_rest_in_one_column(ax: Axes) -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 10, 3000)
    cells = np.array([f"level {k:02d}" for k in range(40)])[codes + rng.integers(0, 31, 3000)]
    model = NaiveBayes().fit(cells[:, np.newaxis].astype(object), codes)
    name, _, law = column_law(model, 0)
    assert len(law.names) == 12
    assert law.names[-1] == "other (29)"
    np.testing.assert_allclose(law.heights.sum(axis=0), 1.0, atol=0.02)
    plots.draw_column(ax, model, name)
    assert len(ax.texts) == 120
    assert ax.get_ylabel() == "class"


def test_columns_without_a_density_are_refused(ax: Axes) -> None:
    with pytest.warns(UserWarning, match="never vary"):
        model = GaussianDiscriminant().fit([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]], ["a", "a", "b"])
    with pytest.raises(BadRows, match="x1 does not vary within classes"):
        plots.draw_column(ax, model, 1)
    counted = MultinomialNaiveBayes().fit([[1, 0], [2, 3]], ["a", "b"])
    with pytest.raises(NotADensity, match="x1 is one of 2 counts that form one distribution"):
        plots.draw_column(ax, counted, 1)
    with pytest.raises(BadSetting, match="there is no column 'width'"):
        plots.draw_column(ax, model, "width")
    with pytest.raises(BadSetting, match="there is no column 7"):
        plots.draw_column(ax, model, 7)
    with pytest.raises(BadSetting, match="without their labels"):
        plots.draw_column(ax, model, 0, [[1.0, 5.0]])
    with pytest.raises(BadSetting, match="LogisticRegression has no densities"):
        plots.draw_column(ax, LogisticRegression(), 0)


# Curves of rates

scored = st.lists(
    st.tuples(st.booleans(), st.sampled_from([-2.0, -0.5, 0.0, 0.3, 0.5, 1.0, 7.0])), min_size=2
).filter(lambda pairs: len({truth for truth, _ in pairs}) == 2)


@given(scored)
def test_areas_are_exact_and_ties_count_half(pairs: list[tuple[bool, float]]) -> None:
    truth = np.array([pair[0] for pair in pairs])
    scores = np.array([pair[1] for pair in pairs])
    ranking = Ranking.of(scores, truth)
    gaps = [a - b for a, b in product(scores[truth], scores[~truth])]
    pairwise = np.mean([1.0 if gap > 0.0 else 0.5 if gap == 0.0 else 0.0 for gap in gaps])
    assert ranking.area == pytest.approx(pairwise)
    assert ranking.area == pytest.approx(roc_auc_score(truth, scores))
    assert ranking.average_precision == pytest.approx(average_precision_score(truth, scores))


@given(scored, st.randoms())
def test_the_order_of_rows_does_not_matter(pairs: list[tuple[bool, float]], random: Any) -> None:
    mixed_up = pairs.copy()
    random.shuffle(mixed_up)
    one, other = (
        Ranking.of([s for _, s in some], np.array([t for t, _ in some]))
        for some in (pairs, mixed_up)
    )
    np.testing.assert_array_equal(one.found, other.found)
    np.testing.assert_array_equal(one.wrongly, other.wrongly)


def test_scores_come_in_every_shape() -> None:
    labels = ["ham", "spam", "ham", "spam"]
    spam = np.array([0.1, 0.8, 0.4, 0.4])

    def said(scores: Any, **settings: Any) -> list[str]:
        found = plots.draw_roc(Figure().add_subplot(), labels, scores, **settings)
        return [text.get_text() for text in found.get_legend().get_texts()]

    assert said(spam) == said(np.column_stack([1.0 - spam, spam])) == ["area 0.875"]
    assert said(spam, positive="ham") == ["area 0.125"]
    assert said({"one": spam, "two": -spam}) == ["one: area 0.875", "two: area 0.125"]
    three = np.column_stack([spam, 1.0 - spam, spam])
    with pytest.raises(BadRows, match="3 columns of scores for 2 classes"):
        said(three)


def test_precision_falls_to_the_share_of_positives(ax: Axes) -> None:
    plots.draw_precision_recall(ax, [0, 1, 0, 1, 0], [0.1, 0.8, 0.4, 0.4, 0.2])
    curve = ax.lines[0].get_xydata()
    assert curve[-1].tolist() == [1.0, 0.4]
    assert ax.lines[1].get_ydata()[0] == 0.4  # the precision of a blind guess


@pytest.mark.parametrize("draw", [plots.draw_roc, plots.draw_precision_recall])
def test_scores_that_cannot_rank_are_refused(ax: Axes, draw: Any) -> None:
    with pytest.raises(BadLabels, match="every label is 'a'"):
        draw(ax, ["a", "a"], [0.1, 0.2])
    with pytest.raises(BadLabels, match="all 2 rows are positive"):
        draw(ax, ["a", "a"], [0.1, 0.2], positive="a")
    with pytest.raises(NotFinite, match="row 1 has no score"):
        draw(ax, ["a", "b"], [0.1, np.nan])
    with pytest.raises(BadRows, match=r"scores of shape \(3,\) for 2 labels"):
        draw(ax, ["a", "b"], [0.1, 0.2, 0.3])
    with pytest.raises(SufficeError):
        draw(ax, [], [])
    with pytest.raises(BadSetting, match="there are 3 classes"):
        draw(ax, ["a", "b", "c"], [0.1, 0.2, 0.3])
    with pytest.raises(BadSetting, match="there is no class 'd'"):
        draw(ax, ["a", "b"], [0.1, 0.2], positive="d")
    with pytest.raises(BadSetting, match="no scores"):
        draw(ax, ["a", "b"], {})
    with pytest.raises(NotANumber, match="scores are not an array of numbers"):
        draw(ax, ["a", "b"], ["high", "low"])


def test_infinite_scores_are_scores_and_tie() -> None:
    ranking = Ranking.of([np.inf, np.inf, 0.0, -np.inf], np.array([True, False, True, False]))
    assert ranking.found.tolist() == [0.0, 1.0, 2.0, 2.0]
    assert ranking.area == 0.625


# Learning curves


def test_bands_of_repetitions_are_two_standard_errors(ax: Axes) -> None:
    runs = np.random.default_rng(0).normal(size=(30, 3))
    plots.draw_learning_curves(ax, [10, 100, 1000], {"GDA": runs, "plain": [0.3, 0.2, 0.1]})
    band = ax.collections[0].get_paths()[0].vertices
    reach = 2.0 * runs.std(axis=0, ddof=1) / np.sqrt(30)
    middle = runs.mean(axis=0)
    for size, low, high in zip([10, 100, 1000], middle - reach, middle + reach, strict=True):
        at = band[band[:, 0] == size][:, 1]
        assert (at.min(), at.max()) == pytest.approx((low, high))
    assert len(ax.collections) == 1  # a single run has no band


def test_bands_and_crossings_that_are_known_are_drawn(ax: Axes) -> None:
    plots.draw_learning_curves(
        ax, [10, 100], {"GDA": [0.2, 0.1]}, bands={"GDA": ([0.1, 0.05], [0.3, 0.2])},
        crossing=(20, 40), measure="log-loss",
    )  # fmt: skip
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["GDA", "the curves cross"]
    assert ax.get_ylabel() == "log-loss"
    plots.draw_learning_curves(Figure().add_subplot(), [10], {"GDA": [0.2]}, crossing=12)


@pytest.mark.parametrize(
    ("sizes", "curves", "more", "problem"),
    [
        ([], {"a": []}, {}, "are not sizes"),
        ([0, 10], {"a": [1, 2]}, {}, "are not sizes"),
        ([10, 10], {"a": [1, 2]}, {}, "do not grow"),
        ([1, 2], {}, {}, "no curves"),
        ([1, 2], {"a": [1, 2, 3]}, {}, r"a: values of shape \(1, 3\) for 2 sizes"),
        ([1, 2], {"a": [1, np.nan]}, {}, "a has no finite value at 2 rows"),
        ([1, 2], {"a": [1, 2]}, {"bands": {"b": ([1, 2], [1, 2])}}, "a band of 'b'"),
        ([1, 2], {"a": [1, 2]}, {"crossing": (3.0, 2.0)}, "is not a size"),
    ],
)
def test_curves_that_cannot_be_drawn_are_refused(
    ax: Axes, sizes: Any, curves: Any, more: Any, problem: str
) -> None:
    with pytest.raises(SufficeError, match=problem):
        plots.draw_learning_curves(ax, sizes, curves, **more)


def test_the_sigmoid_is_a_half_in_the_middle(ax: Axes) -> None:
    plots.draw_sigmoid(ax)
    curve = max((line.get_xydata() for line in ax.lines), key=len)
    np.testing.assert_allclose(curve[:, 1] + curve[::-1, 1], 1.0)
    with pytest.raises(BadSetting, match="is too small to show a curve"):
        plots.draw_sigmoid(ax, reach=0.0)


# Calibration


def test_wilson_bands_are_those_of_statsmodels() -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    rng = np.random.default_rng(0)
    claims = rng.random(200)
    hits = rng.random(200) < claims**2
    found = reliability(claims, hits, 7)
    n = found.rows[found.rows > 0.0]
    low, high = proportion.proportion_confint(found.observed * n, n, method="wilson")
    np.testing.assert_allclose([found.low, found.high], [low, high], atol=1e-12)
    assert found.rows.sum() == 200


@pytest.mark.parametrize("equal", ["width", "count"])
def test_every_row_is_in_one_bin(ax: Axes, equal: str) -> None:
    rng = np.random.default_rng(1)
    claims = np.append(rng.random(98).round(2), [0.0, 1.0])
    found = reliability(claims, rng.random(100) < claims, 10, equal)
    n = found.rows[found.rows > 0.0]
    assert found.rows.sum() == 100
    assert (found.claimed @ n) == pytest.approx(claims.sum())
    if equal == "count":
        assert n.min() >= 5
    plots.draw_reliability(ax, rng.random(100) < claims, claims, equal=equal)


def test_of_several_classes_the_predicted_one_is_judged(ax: Axes) -> None:
    labels = np.array(["a", "b", "c", "a"])
    claims = np.array([[0.8, 0.1, 0.1], [0.1, 0.7, 0.2], [0.5, 0.4, 0.1], [0.2, 0.2, 0.6]])
    plots.draw_reliability(ax, labels, claims, bins=2)
    assert ax.get_xlabel() == "predicted probability of what was predicted"
    shares = np.concatenate([line.get_ydata() for line in ax.lines if line.get_marker() == "o"])
    assert shares.tolist() == [0.5]


def test_claims_that_are_no_probabilities_are_refused(ax: Axes) -> None:
    with pytest.raises(NotFinite, match=r"1.2 is not a probability"):
        plots.draw_reliability(ax, [0, 1], [0.2, 1.2])
    with pytest.raises(NotFinite, match="nan is not a probability"):
        plots.draw_reliability(ax, [0, 1], [0.2, np.nan])
    with pytest.raises(BadRows, match=r"shape \(3,\) for 2 labels"):
        plots.draw_reliability(ax, [0, 1], [0.2, 0.2, 0.3])
    with pytest.raises(BadLabels, match="the labels are 1"):
        plots.draw_reliability(ax, [1, 1], [0.2, 0.3])
    with pytest.raises(BadSetting, match="bins=0"):
        plots.draw_reliability(ax, [0, 1], [0.2, 0.3], bins=0)
    with pytest.raises(BadSetting, match="equal='size'"):
        plots.draw_reliability(ax, [0, 1], [0.2, 0.3], equal="size")
    with pytest.raises(SufficeError):
        plots.draw_reliability(ax, [], [])


# Tables


def test_confusion_counts_are_those_of_scikit_learn(ax: Axes) -> None:
    rng = np.random.default_rng(0)
    labels, predicted = rng.choice(list("abcd"), 200), rng.choice(list("abc"), 200)
    plots.draw_confusion(ax, labels, predicted)
    shown = [int(text.get_text()) for text in ax.texts]
    np.testing.assert_array_equal(
        np.reshape(shown, (4, 4)), confusion_matrix(labels, predicted, labels=list("abcd"))
    )


def test_tables_that_are_no_confusion_are_refused(ax: Axes) -> None:
    with pytest.raises(BadLabels, match="2 labels and 1 predictions"):
        plots.draw_confusion(ax, ["a", "b"], ["a"])
    with pytest.raises(BadRows, match="is square"):
        plots.draw_confusion_counts(ax, [[1, 2]])
    with pytest.raises(BadRows, match="is square"):
        plots.draw_confusion_counts(ax, np.empty((0, 0)))
    with pytest.raises(BadRows, match="counts rows"):
        plots.draw_confusion_counts(ax, [[1, -2], [0, 1]])
    with pytest.raises(BadSetting, match="3 names for 2 classes"):
        plots.draw_confusion_counts(ax, [[1, 2], [0, 1]], ["a", "b", "c"])


def test_the_parts_of_an_explanation_add_up_to_the_last_bar(ax: Axes) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 15)) + np.repeat([[0.0], [0.6]], 30, axis=0)
    found = GaussianDiscriminant().fit(rows, np.repeat(["low", "high"], 30)).explain(rows)
    plots.draw_explanation(ax, found, row=4, most=6)
    ticks = [tick.get_text() for tick in ax.get_yticklabels()]
    assert ticks[0] == "before any column"
    assert ticks[-2:] == ["9 other columns", "in all"]
    bars = {round(bar.get_y() + bar.get_height() / 2.0): bar.get_width() for bar in ax.patches}
    assert len(bars) == 9
    assert sum(bars[k] for k in range(8)) == pytest.approx(bars[8])
    assert bars[8] == pytest.approx(found.log_odds[4])


def test_explanations_that_cannot_be_drawn_are_refused(ax: Axes) -> None:
    parts = np.array([[np.inf, 1.0]])
    label = np.array(["a"])
    odd = Explanation(label, np.array(["b"]), np.zeros(1), parts, None, ("width", "height"))
    with pytest.raises(BadRows, match="infinite, by width"):
        plots.draw_explanation(ax, odd)
    with pytest.raises(BadSetting, match="there is no row 3 among 1"):
        plots.draw_explanation(ax, odd, 3)
    with pytest.raises(BadSetting, match="NoneType is not an explanation"):
        plots.draw_explanation(ax, None)  # type: ignore[arg-type]
    with pytest.raises(BadSetting, match="most=0"):
        plots.draw_explanation(ax, odd, most=0)


# Typicality


def test_rows_like_no_class_are_ringed(ax: Axes) -> None:
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(size=(50, 2)), rng.normal(4.0, 1.0, (50, 2)), [[14.0, -6.0]]])
    labels = np.repeat(["a", "b", "a"], [50, 50, 1])
    model = GaussianDiscriminant().fit(rows[:100], labels[:100])
    plots.draw_typicality(ax, model, rows, labels, grid=60)
    typical = model.typicality(rows).max(axis=1)
    ringed = [
        point
        for dots in ax.collections
        if dots.get_zorder() == 3 and np.allclose(dots.get_linewidth(), 1.3)
        for point in np.asarray(dots.get_offsets()).tolist()
    ]
    assert sorted(ringed) == sorted(rows[typical < 0.01].tolist())
    assert [14.0, -6.0] in ringed


def test_a_single_law_has_a_map_too(ax: Axes) -> None:
    rows = np.random.default_rng(0).normal(size=(40, 2))
    plots.draw_typicality(ax, MultivariateNormal.fit(rows), rows, grid=40)
    assert len(ax.get_legend().get_texts()) == 6
    with pytest.raises(BadSetting, match="LogisticRegression has no typicality"):
        plots.draw_typicality(ax, LogisticRegression(), rows)


def test_pictures_of_clusters_show_what_the_mixture_says() -> None:
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(size=(60, 3)), rng.normal(size=(40, 3)) + 6.0])
    rows[3, 1] = np.nan
    frame = pl.DataFrame(rows, schema=["a", "b", "c"])
    model = GaussianMixture(range(1, 4), ["EEE", "VVI"], noise=True).fit(frame)
    ax = plots.draw_criteria(Figure().add_subplot(), model)
    drawn = {line.get_label(): line.get_ydata() for line in ax.lines}
    for trial in model.trials_:
        found = np.asarray(drawn[trial["form"]])[trial["components"] - 1]
        np.testing.assert_equal(found, trial["criterion"])
    with pytest.raises(BadSetting, match="nothing to compare"):
        plots.draw_criteria(Figure().add_subplot(), GaussianMixture(2, "EEE").fit(frame))
    for columns in (("c", "a"), (2, 0)):
        ax = plots.draw_clusters(Figure().add_subplot(), model, frame, columns=columns)
        dots = np.vstack([np.asarray(one.get_offsets()) for one in ax.collections])
        assert len(dots) == 100
        assert {tuple(dot) for dot in dots} == {tuple(row) for row in rows[:, [2, 0]]}
        ring = np.asarray(ax.lines[0].get_xydata())
        np.testing.assert_allclose(ring[:-1].mean(axis=0), model.means_[0][[2, 0]], atol=1e-6)
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("c", "a")
    ax = plots.draw_clusters(Figure().add_subplot(), model, frame, columns=("a", "b"))
    assert sum(len(np.asarray(one.get_offsets())) for one in ax.collections) == 99
    ax = plots.draw_mixture_density(Figure().add_subplot(), model, frame, columns=("b", "c"))
    assert ax.get_xlabel() == "b"
    for wrong in (("a", "a"), ("a", "z"), (0, 7)):
        with pytest.raises(SufficeError):
            plots.draw_clusters(Figure().add_subplot(), model, frame, columns=wrong)
