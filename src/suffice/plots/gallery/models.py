"""The gallery's pictures of models: what they believe of the classes, and how they are judged."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from suffice.errors import DegenerateData, SeparationWarning
from suffice.plots.axes import legend_below, new_figure, tidy
from suffice.plots.bridge import draw_bridge
from suffice.plots.calibration import draw_reliability
from suffice.plots.clusters import draw_clusters, draw_criteria, draw_mixture_density
from suffice.plots.columns import draw_column
from suffice.plots.curves import draw_learning_curves
from suffice.plots.gallery.digits import digits, two_ways
from suffice.plots.rates import draw_precision_recall, draw_roc
from suffice.plots.regions import draw_regions, region_lines, side_by_side
from suffice.plots.tables import draw_confusion, draw_explanation
from suffice.plots.typicality import draw_typicality

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure


def clusters() -> Figure:
    """Return iris without its species: the choice, three clusters, and the density of two columns.

    Of the forms, four are tried, for the sake of those who wait.
    """
    from sklearn.datasets import load_iris

    from suffice.estimators.mixtures.gaussian_mixture import GaussianMixture

    frame = load_iris(as_frame=True).data
    chosen = GaussianMixture(range(1, 7), ["EII", "EEE", "VEV", "VVV"]).fit(frame)
    three = GaussianMixture(3, "VEV").fit(frame)
    figure = new_figure(10.2, 4.1)
    left, middle, right = figure.subplots(1, 3)
    pair = "petal length (cm)", "sepal width (cm)"
    draw_criteria(left, chosen)
    draw_clusters(middle, three, frame, columns=pair)
    draw_mixture_density(right, three, frame, columns=pair)
    titles = ("two or three clusters", "three of form VEV", "their density")
    for ax, title in zip((left, middle, right), titles, strict=True):
        ax.set_title(title, fontsize=11)
    return figure


SIZES = (20, 40, 80, 160, 320, 640, 1280)
"""Rows that are learned from: doubled from step to step."""
REPETITIONS = 50
"""Times that each size is drawn. A choice: the mean of the errors has a seventh of their spread."""
WIDTH = 8
"""Columns. A choice."""
JUDGED = 4000
"""New rows that errors are counted on: a share is then uncertain by at most √(0.25/4000) < 0.01."""


def _normal(size: int, rng: np.random.Generator) -> tuple[object, object]:
    """Return rows of two normal classes with one covariance."""
    labels = np.arange(size) % 2
    return rng.normal(0.75 * labels[:, np.newaxis], 1.0, (size, WIDTH)), labels


def _exponential(size: int, rng: np.random.Generator) -> tuple[object, object]:
    """Return rows of two exponential classes: the posterior is logistic, the classes not normal."""
    labels = np.arange(size) % 2
    return rng.exponential(1.0 + 0.9 * labels[:, np.newaxis], (size, WIDTH)), labels


def _errors(draw: Callable[..., tuple[Any, Any]], repetitions: int) -> dict[str, Any]:
    """Return the error of both schools on new rows, (repetitions, sizes)."""
    from suffice.estimators.gaussian_discriminant import GaussianDiscriminant
    from suffice.estimators.linear.logistic_regression import LogisticRegression

    schools = {"GDA": GaussianDiscriminant, "logistic regression": LogisticRegression}
    found = {name: np.empty((repetitions, len(SIZES))) for name in schools}
    for i in range(repetitions):
        rng = np.random.default_rng([7, i])
        judged, truth = draw(JUDGED, rng)
        rows, labels = draw(SIZES[-1], rng)
        for j, size in enumerate(SIZES):
            for name, school in schools.items():
                model = school().fit(rows[:size], labels[:size])
                found[name][i, j] = (model.predict(judged) != truth).mean()
    return found


def learning() -> Figure:
    """Return two pictures of both schools: classes that are normal, and classes that are not."""
    figure = new_figure(10.2, 4.0)
    panels = figure.subplots(1, 2)
    with warnings.catch_warnings():
        # Twelve rows are easily parted by a plane: what logistic regression then says is judged.
        warnings.simplefilter("ignore", SeparationWarning)
        for ax, draw, title in (
            (panels[0], _normal, "normal classes, one Σ"),
            (panels[1], _exponential, "exponential classes"),
        ):
            found = _errors(draw, REPETITIONS)
            draw_learning_curves(
                ax, SIZES, found, measure="error on new rows", crossing=_crossing(*found.values())
            )
            ax.set_title(title, loc="left", fontsize=11)
    return figure


def _crossing(first: Any, second: Any) -> tuple[float, float] | None:
    """Return the sizes between which the other curve comes to lie lower, beyond two deviations."""
    apart = first - second
    lead, error = apart.mean(axis=0), apart.std(axis=0, ddof=1) / np.sqrt(len(apart))
    before, after = np.flatnonzero(lead < -2.0 * error), np.flatnonzero(lead > 2.0 * error)
    if len(before) == 0 or len(after) == 0 or before[-1] > after[0]:
        return None
    return SIZES[before[-1]], SIZES[after[0]]


def two_classes() -> tuple[Any, Any]:
    """Return rows of two normal classes with one covariance, and their labels."""
    rng = np.random.default_rng(3)
    covariance = [[1.0, 0.45], [0.45, 0.7]]
    rows = np.vstack([
        rng.multivariate_normal([0.0, 0.0], covariance, 90),
        rng.multivariate_normal([2.4, -1.5], covariance, 70),
    ])  # fmt: skip
    return rows, np.repeat([0, 1], [90, 70])


def gda() -> Figure:
    """Return GDA on two classes: rows, contours of each class, and the line p = ½."""
    from suffice.estimators.gaussian_discriminant import GaussianDiscriminant

    rows, labels = two_classes()
    figure = new_figure(6.4, 5.2)
    ax = figure.add_subplot()
    model = GaussianDiscriminant().fit(rows, labels)
    draw_regions(
        ax, model, rows, labels, columns=("x₁", "x₂"), classes=("y = 0", "y = 1"), legend=False
    )
    tidy(ax)
    handles, names = ax.get_legend_handles_labels()
    lines, said = region_lines()
    said[2] = "p(y = 1 | x) = ½"
    legend_below(ax, [*handles, *lines], [*names, *said], columns=3)
    return figure


def forms() -> Figure:
    """Return one covariance for all classes beside one for each."""
    from sklearn.datasets import load_iris

    from suffice.estimators.gaussian_discriminant import GaussianDiscriminant

    iris = load_iris()
    rows, labels = iris.data[:, [1, 3]], iris.target_names[iris.target]
    models = {
        "shared Σ: straight boundaries": GaussianDiscriminant("shared").fit(rows, labels),
        "a Σ for each class: curved ones": GaussianDiscriminant("per-class").fit(rows, labels),
    }
    figure = side_by_side(models, rows, labels, columns=("sepal width (cm)", "petal width (cm)"))
    figure.set_size_inches(10.2, 5.0)
    return figure


def schools() -> Figure:
    """Return the boundaries of both schools over the same rows."""
    rng = np.random.default_rng(5)
    rows = np.vstack([rng.exponential((1.0, 1.2), (80, 2)), rng.exponential((3.0, 3.4), (80, 2))])
    figure = new_figure(6.4, 5.4)
    ax = figure.add_subplot()
    draw_bridge(ax, rows, np.repeat(["early", "late"], 80))
    tidy(ax)
    return figure


# Breast cancer: benign or malignant, rows 0, 2, … learned from, the others judged


def tumours() -> tuple[Any, Any, Any]:
    """Return scikit-learn's breast-cancer data: rows, labels, and the names of the columns."""
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer()
    return found.data, found.target_names[found.target], found.feature_names


def columns() -> Figure:
    """Return one column of every kind, and the law of each class."""
    from suffice.estimators.naive_bayes import NaiveBayes

    rng = np.random.default_rng(0)
    size, kinds = 120, ("plain", "fancy", "odd")
    late = np.repeat([0, 1, 2], size)
    rows = np.empty((3 * size, 3), dtype=object)
    rows[:, 0] = rng.normal(np.array([2.0, 5.0, 6.5])[late], np.array([1.0, 0.8, 1.6])[late])
    rows[:, 1] = rng.poisson(np.array([2.0, 4.5, 9.0])[late])
    shares = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]])
    rows[:, 2] = [kinds[rng.choice(3, p=shares[k])] for k in late]
    labels = np.array(["first", "second", "third"])[late]
    settings = {"x0": "gaussian", "x1": "poisson", "x2": "categorical"}
    model = NaiveBayes(settings).fit(rows, labels)
    figure = new_figure(10.2, 3.6)
    panels = figure.subplots(1, 3)
    for j, (ax, called) in enumerate(zip(panels, ("number", "count", "category"), strict=True)):
        draw_column(ax, model, j, rows, labels)
        ax.set_xlabel(f"a {called}")
        tidy(ax)
    return figure


def rates() -> Figure:
    """Return ROC and precision–recall of two models."""
    from suffice.estimators.gaussian_discriminant import GaussianDiscriminant
    from suffice.estimators.naive_bayes import NaiveBayes

    rows, labels, _ = tumours()
    rows = rows[:, :5]
    learned, judged = slice(0, None, 2), slice(1, None, 2)
    models: dict[str, Any] = {"GDA": GaussianDiscriminant(), "naive Bayes": NaiveBayes("gaussian")}
    scores = {
        name: model.fit(rows[learned], labels[learned]).predict_proba(rows[judged])
        for name, model in models.items()
    }
    figure = new_figure(9.4, 4.6)
    left, right = figure.subplots(1, 2)
    draw_roc(left, labels[judged], scores, positive="malignant")
    draw_precision_recall(right, labels[judged], scores, positive="malignant")
    return figure


def reliability() -> Figure:
    """Return what Gaussian naive Bayes claims, before and after a temperature."""
    from suffice.estimators.naive_bayes import NaiveBayes

    rows, labels, _ = tumours()
    figure = new_figure(9.6, 4.4)
    tempers: tuple[Literal["held-out"] | None, ...] = (None, "held-out")
    for ax, temperature in zip(figure.subplots(1, 2, sharey=True), tempers, strict=True):
        model = NaiveBayes("gaussian", temperature=temperature)
        model.fit(rows[::2], labels[::2])
        draw_reliability(ax, labels[1::2], model.predict_proba(rows[1::2]), positive="malignant")
        ax.set_title(f"β = {model.temperature_:.2g}", loc="left", fontsize=11)
    return figure


def explanation() -> Figure:
    """Return the log odds of one tumour, split by column."""
    from suffice.estimators.naive_bayes import NaiveBayes

    rows, labels, names = tumours()
    model = NaiveBayes("shared-gaussian").fit(rows[::2], labels[::2])
    found = replace(model.explain(rows[1::2]), columns=tuple(names))
    figure = new_figure(6.8, 4.4)
    # The row that was hardest to decide: reasons stand on both sides.
    draw_explanation(figure.add_subplot(), found, int(np.abs(found.log_odds).argmin()))
    return figure


def confusion() -> Figure:
    """Return what GDA takes handwritten digits for."""
    from sklearn.datasets import load_digits

    from suffice.estimators.gaussian_discriminant import GaussianDiscriminant

    found = load_digits()
    rows, labels = found.data, found.target
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateData)  # corners that nobody ever wrote in
        model = GaussianDiscriminant().fit(rows[::2], labels[::2])
    figure = new_figure(5.4, 5.0)
    draw_confusion(figure.add_subplot(), labels[1::2], model.predict(rows[1::2]))
    return figure


def typicality() -> Figure:
    """Return where wines are like some cultivar, and where like none."""
    from sklearn.datasets import load_wine

    from suffice.estimators.gaussian_discriminant import GaussianDiscriminant

    wine = load_wine()
    places = [list(wine.feature_names).index(name) for name in ("flavanoids", "color_intensity")]
    rows, labels = wine.data[:, places], wine.target
    figure = new_figure(6.6, 5.6)
    ax = figure.add_subplot()
    draw_typicality(
        ax, GaussianDiscriminant("per-class").fit(rows, labels), rows, labels,
        columns=("flavanoids", "colour intensity"),
        classes=("cultivar 1", "cultivar 2", "cultivar 3"),
    )  # fmt: skip
    tidy(ax)
    return figure


MODELS: dict[str, Callable[[], Figure]] = {
    "gda": gda,
    "gda-forms": forms,
    "digits": digits,
    "digits-two-ways": two_ways,
    "schools": schools,
    "columns": columns,
    "learning-curves": learning,
    "rates": rates,
    "reliability": reliability,
    "confusion": confusion,
    "explanation": explanation,
    "typicality": typicality,
    "clusters": clusters,
}
"""Pictures of models by the names of their files; each is drawn from data that comes with
scikit-learn, or is simulated."""
