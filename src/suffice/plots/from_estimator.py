"""Pictures of how good a fitted classifier is on rows: its answers are computed, then drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting
from suffice.plots.calibration import draw_reliability
from suffice.plots.rates import draw_precision_recall, draw_roc
from suffice.plots.tables import draw_confusion

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray


def draw_confusion_from_estimator(ax: Axes | None, model: object, X: object, y: object) -> Axes:
    """Draw the confusion matrix of a fitted classifier.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw; None is the current Axes.
    model : classifier
        Fitted, of this package or of scikit-learn's kind.
    X : array_like (n, d)
        Rows, as `model.predict` takes them.
    y : array_like (n,)
        The labels of the rows.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that was drawn on.

    See Also
    --------
    draw_confusion : The same from predictions.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from suffice import GaussianDiscriminant
    >>> X, y = [[0.0], [1.0], [5.0], [6.0]], ["low", "low", "high", "high"]
    >>> model = GaussianDiscriminant("shared").fit(X, y)
    >>> ax = draw_confusion_from_estimator(Figure().add_subplot(), model, X, y)
    >>> [text.get_text() for text in ax.texts]
    ['2', '0', '0', '2']
    """
    predict = _method(model, "predict")
    return draw_confusion(ax, y, predict(X))


def draw_reliability_from_estimator(
    ax: Axes | None,
    model: object,
    X: object,
    y: object,
    *,
    positive: object = None,
    bins: int = 10,
    equal: str = "width",
) -> Axes:
    """Draw the observed frequency against the predicted probability of a fitted classifier.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw; None is the current Axes.
    model : classifier
        Fitted, with `predict_proba`.
    X : array_like (n, d)
        Rows, as `model.predict_proba` takes them.
    y : array_like (n,)
        The labels of the rows.
    positive : label, default=None
        The class whose probability is judged; None is the second of two classes, and of more
        classes the one that was predicted for each row.
    bins : int, default=10
        The number of bins.
    equal : {"width", "count"}, default="width"
        Whether bins are equally wide, or have equally many rows.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that was drawn on.

    See Also
    --------
    draw_reliability : The same from probabilities.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from suffice import LogisticRegression
    >>> X, y = [[0.0], [2.0], [1.0], [3.0]], ["low", "low", "high", "high"]
    >>> model = LogisticRegression().fit(X, y)
    >>> ax = draw_reliability_from_estimator(Figure().add_subplot(), model, X, y, positive="high")
    >>> ax.get_xlabel()
    'predicted probability of high'
    """
    probabilities = _method(model, "predict_proba")(X)
    classes = _classes(model)
    return draw_reliability(
        ax, y, probabilities, positive=positive, classes=classes, bins=bins, equal=equal
    )


def draw_roc_from_estimator(
    ax: Axes | None,
    model: object,
    X: object,
    y: object,
    *,
    positive: object = None,
    legend: bool = True,
) -> Axes:
    """Draw the ROC curve of a fitted classifier, or of several.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw; None is the current Axes.
    model : classifier or mapping of str to classifier
        Fitted, with `predict_proba` or `decision_function`; {name: model} draws one curve each.
    X : array_like (n, d)
        Rows, as the models take them.
    y : array_like (n,)
        The labels of the rows.
    positive : label, default=None
        The class that is looked for; None is the second of two classes, and of more classes each
        against the rest.
    legend : bool, default=True
        Whether to name the curves and their areas.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that was drawn on.

    See Also
    --------
    draw_roc : The same from scores.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from suffice import GaussianDiscriminant
    >>> X, y = [[0.0], [2.0], [1.0], [3.0]], ["low", "low", "high", "high"]
    >>> model = GaussianDiscriminant("shared").fit(X, y)
    >>> ax = draw_roc_from_estimator(Figure().add_subplot(), model, X, y, positive="high")
    >>> ax.get_legend().get_texts()[0].get_text()
    'area 0.750'
    """
    scores, classes = _scores(model, X, positive)
    return draw_roc(ax, y, scores, positive=positive, classes=classes, legend=legend)


def draw_precision_recall_from_estimator(
    ax: Axes | None,
    model: object,
    X: object,
    y: object,
    *,
    positive: object = None,
    legend: bool = True,
) -> Axes:
    """Draw precision against recall of a fitted classifier, or of several.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw; None is the current Axes.
    model : classifier or mapping of str to classifier
        Fitted, with `predict_proba` or `decision_function`; {name: model} draws one curve each.
    X : array_like (n, d)
        Rows, as the models take them.
    y : array_like (n,)
        The labels of the rows.
    positive : label, default=None
        The class that is looked for; None is the second of two classes, and of more classes each
        against the rest.
    legend : bool, default=True
        Whether to name the curves and their average precision.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that was drawn on.

    See Also
    --------
    draw_precision_recall : The same from scores.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from suffice import GaussianDiscriminant
    >>> X, y = [[0.0], [2.0], [1.0], [3.0]], ["low", "low", "high", "high"]
    >>> model = GaussianDiscriminant("shared").fit(X, y)
    >>> ax = draw_precision_recall_from_estimator(Figure().add_subplot(), {"GDA": model}, X, y)
    >>> ax.get_legend().get_texts()[0].get_text()
    'GDA: average precision 0.833'
    """
    scores, classes = _scores(model, X, positive)
    return draw_precision_recall(ax, y, scores, positive=positive, classes=classes, legend=legend)


def _method(model: object, name: str) -> Any:
    """Return a method of a classifier; refuse what has none."""
    found = getattr(model, name, None)
    if found is None:
        raise BadSetting(
            f"{type(model).__name__} has no {name}",
            hint="give a fitted classifier: GaussianDiscriminant, NaiveBayes, LogisticRegression",
        )
    return found


def _classes(model: object) -> list[object]:
    found: list[object] = np.asarray(_method(model, "classes_")).tolist()
    return found


def _scores(model: object, X: object, positive: object) -> tuple[object, list[object]]:
    """Return the scores of a model, a column for each class, or of several by name, and classes.

    Scores of several models are those of one class, which has to be known to all of them.
    """
    if not isinstance(model, Mapping):
        return _of_one(model, X), _classes(model)
    if not model:
        raise BadSetting("there are no models to draw", hint="give at least one: {name: model}")
    classes = _classes(next(iter(model.values())))
    for name, one in model.items():
        if _classes(one) != classes:
            raise BadSetting(
                f"{name!s} has other classes than {next(iter(model))!s}",
                hint="fit all models to the same classes",
            )
    if positive not in classes and not (positive is None and len(classes) == 2):
        return {str(name): np.empty(0) for name in model}, classes  # refused where labels are read
    k = classes.index(positive) if positive is not None else 1
    return {str(name): _of_one(one, X)[:, k] for name, one in model.items()}, classes


def _of_one(model: object, X: object) -> NDArray[np.float64]:
    """Return a column of scores for each class: probabilities, or what decides without them."""
    if hasattr(model, "predict_proba"):
        found: NDArray[np.float64] = np.asarray(_method(model, "predict_proba")(X))
        return found
    found = np.asarray(_method(model, "decision_function")(X))
    return np.stack([-found, found], axis=1) if found.ndim == 1 else found
