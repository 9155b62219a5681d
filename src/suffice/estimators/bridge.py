"""GDA and logistic regression on the same rows, and whether they disagree by more than chance."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadLabels, BadSetting, NotFinite, listed
from suffice.estimators.bridge_report import BridgeReport
from suffice.learning.learners.gaussian import GaussianClassifierLearner
from suffice.learning.randomness import random_generator
from suffice.models.bridge import bridge_of
from suffice.models.linear.logistic.fit import fit_logistic
from suffice.models.linear.logistic.inference import checked_level
from suffice.rows.bad_cells import refuse_blanks

if TYPE_CHECKING:
    from suffice.learning.labelled_batch import LabelledBatch
    from suffice.rows import Label


def bridge(
    X: object,
    y: object,
    sample_weight: object = None,
    *,
    pairs: object = None,
    level: float = 0.95,
    bootstrap: int = 0,
    random_state: object = None,
) -> BridgeReport:
    """Compare the θ that GDA implies with the θ that logistic regression fits, and test it.

    Normal classes with one covariance have a logistic posterior, whose θ can be written down;
    the converse is false. So if the two θ differ by more than chance allows, the classes are
    not normal with one covariance.

    Weights are repetitions: a row of weight 2 is two independent rows, also to the test. Columns
    of categories are coded by zeros and ones, as GaussianDiscriminant does. Missing cells are
    refused. Print the report, or take `to_frame()`, `test` and `verdict` from it;
    `plots.draw_bridge` draws it.

    Parameters
    ----------
    X : array-like
        Rows (n, d).
    y : array-like
        Labels (n,).
    sample_weight : array-like, optional
        Weights are repetitions: a row of weight 2 is two independent rows, also to the test.
    pairs : tuple or list of tuples, optional
        (a, b) or a list of such: θ of a against b; None is every pair.
    level : float, default 0.95
        Of the intervals: delta method for GDA, Wald for logistic.
    bootstrap : int, default 0
        Draws from the fitted GDA for the p-value; 0 is χ², 199 is good.
    random_state : int or Generator, optional
        Seeds these draws.

    Returns
    -------
    BridgeReport
        Both θ with intervals, and the test; print it, or take `to_frame()`, `test` and `verdict`.

    See Also
    --------
    GaussianDiscriminant : One normal law for each class; LDA and QDA are two of its settings.
    LogisticRegression : Fits p(y | x) directly, without a law of x.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True)
    >>> two = iris.target > 0
    >>> X = iris.data[two].iloc[:, [0, 3]].set_axis(["sepal length", "petal width"], axis=1)
    >>> report = bridge(X, iris.target_names[iris.target[two]])
    >>> print(report)
    GDA and logistic regression: 100 rows, 2 classes, 2 columns
    <BLANKLINE>
    column            GDA θ    2.5 %   97.5 %  logistic θ    2.5 %  97.5 %  difference/se
    θ of virginica against versicolor, Δ = 2.95
    (intercept)   -21.09     -30.08   -12.10     -22.87    -36.23   -9.514          -0.47
    sepal length    0.03930   -1.278    1.357      0.3064   -1.335   1.948           0.60
    petal width    12.44       8.423   16.45      12.84      7.213  18.48            0.23
    <BLANKLINE>
    Test that both aim at the same θ: T = 5.023 on 3 degrees of freedom, p = 0.1701 by χ².
    No sign (p = 0.1701) that the classes are not normal with one covariance, as far as θ ...
    >>> report.test.degrees_of_freedom, round(report.test.p_value, 4)
    (3, 0.1701)
    """
    checked_level(level)
    if isinstance(bootstrap, bool) or not isinstance(bootstrap, Integral) or bootstrap < 0:
        raise BadSetting(
            f"bootstrap={bootstrap!r} is not a number of draws",
            hint="use a whole number ≥ 0, such as 199",
        )
    rng = random_generator(random_state)
    learner = GaussianClassifierLearner()
    batch = learner.read(X, y, sample_weight)
    _refuse_blanks(batch)
    learned = learner.learned(batch)
    labels = learned.labels
    if len(labels) < 2:
        raise BadLabels(
            f"there is only one class, {labels[0]!r}: there is no pair to compare",
            hint="give rows of two classes or more",
        )
    compared = _pairs(pairs, labels)
    order = np.array([labels.index(label) for label in batch.labels], dtype=np.intp)
    codes = order[batch.codes]
    found = bridge_of(
        learned.fit, batch.rows, codes, batch.weights, bootstrap=int(bootstrap), rng=rng
    )
    learned.warn()
    logistic = fit_logistic(batch.rows, codes, labels, batch.weights, standard_errors=True)
    return BridgeReport(found, logistic, batch.columns.coded_names, compared, float(level))


def _refuse_blanks(batch: LabelledBatch) -> None:
    """Refuse cells that are missing: logistic regression has no law of x to do without them."""
    try:
        refuse_blanks(batch.rows, batch.columns.coded_names)
    except NotFinite as error:
        raise error.filled(rows=batch.places) from None


def _pairs(pairs: Any, labels: tuple[Label, ...]) -> tuple[tuple[int, int], ...]:
    """Return pairs by position among the labels: class, and class it is compared with."""
    if pairs is None:
        return tuple((a, b) for b in range(len(labels)) for a in range(b + 1, len(labels)))
    hint = f"name two different classes, such as pairs=({labels[1]!r}, {labels[0]!r})"
    places = {label: place for place, label in enumerate(labels)}

    def known(pair: Any) -> tuple[int, int]:
        unknown = [label for label in pair if label not in places]
        if unknown:
            raise BadSetting(
                f"there is no class {listed(map(repr, unknown))}",
                hint=f"the classes are {listed(labels)}",
            )
        if len(pair) != 2 or pair[0] == pair[1]:
            raise BadSetting(f"{tuple(pair)!r} is not a pair of classes", hint=hint)
        return places[pair[0]], places[pair[1]]

    try:
        given = list(pairs)
        one = all(isinstance(label, str) or not np.iterable(label) for label in given)
        found = [known(given)] if one else [known(list(pair)) for pair in given]
    except TypeError:
        raise BadSetting(f"pairs={pairs!r} names no classes", hint=hint) from None
    return tuple(dict.fromkeys(found))
