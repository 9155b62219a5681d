"""Ng and Jordan's comparison (NIPS 2001): naive Bayes and logistic regression over training sizes.

Their problems, as far as there are tables of them here. For each the error rates of naive Bayes
with shared variances and of logistic regression with the penalty of C = 1e4, at the smallest and
at the largest number of training rows, as scikit-learn has them over 25 random splits (five from
1,000 rows on): numbers are standardised, categories are one column a level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pandas import CategoricalDtype, get_dummies
from sklearn.linear_model import LogisticRegression as PeerLogistic
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from suffice import LogisticRegression, NaiveBayes
from suffice.evaluation import LabelledRows, learning_curves
from suffice.families import Binned
from tests.reference.data_sets import load

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from suffice.evaluation import LearningCurves

STEPS = (6, 10, 15, 20, 30, 50, 75, 100, 150, 200, 250, 300, 400, 600, 1000, 2000, 4000, 8000)
NAIVE_BAYES, LOGISTIC = "naive Bayes, shared variance", "logistic"
PENALTY = 1e-4
"""½·penalty·‖sβ‖² beside the sum of losses: C = 1e4 for standardised columns."""
WITHIN = 0.03


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: its table, and the errors (naive Bayes, logistic) at both ends."""

    table: str
    smallest: int
    first: tuple[float, float]
    largest: int
    last: tuple[float, float]
    most: int = 1_000_000
    """Rows that are taken of a larger table."""


PROBLEMS = {
    "lenses": Problem("lenses", 2, (0.177, 0.189), 7, (0.060, 0.000)),
    "promoters": Problem("promoters", 6, (0.306, 0.366), 75, (0.089, 0.079)),
    "pima": Problem("pima", 6, (0.377, 0.383), 600, (0.249, 0.223)),
    "bupa": Problem("bupa", 6, (0.481, 0.470), 250, (0.419, 0.325)),
    "vote": Problem("vote", 6, (0.135, 0.140), 250, (0.099, 0.050)),
    "breast_cancer": Problem("breast_cancer", 6, (0.384, 0.395), 150, (0.279, 0.336)),
    "lymphography": Problem("lymphography", 6, (0.297, 0.314), 100, (0.153, 0.167)),
    "boston_median": Problem("boston_median", 6, (0.282, 0.311), 400, (0.216, 0.143)),
    "optdigits 0, 1": Problem("optdigits", 6, (0.052, 0.059), 600, (0.007, 0.001)),
    "optdigits 2, 3": Problem("optdigits", 6, (0.179, 0.127), 600, (0.012, 0.005)),
    "sick, categories": Problem("sick", 6, (0.063, 0.161), 2000, (0.068, 0.060)),
    "adult, numbers": Problem("adult", 6, (0.366, 0.400), 8000, (0.202, 0.190), 12_000),
    "adult, categories": Problem("adult", 6, (0.285, 0.294), 8000, (0.207, 0.175), 12_000),
}


def rows_of(name: str) -> LabelledRows:
    """Return the two classes and the columns of one problem."""
    problem = PROBLEMS[name]
    table = load(problem.table).taken(problem.most)
    X, y = table.X, table.y
    pair: tuple[Any, ...] | None = None
    if name.startswith("optdigits"):
        pair = (0, 1) if name.endswith("0, 1") else (2, 3)
    elif name == "lymphography":
        pair = ("metastases", "malign_lymph")
    elif name == "lenses":
        X, pair = X.astype(str), (1, 2)  # hard and soft ones; columns are codes
    if pair is not None:
        kept = np.isin(y, pair)
        X, y = X[kept], y[kept]
    numbers = X.select_dtypes("number").columns
    if name.endswith("numbers"):
        X = X[numbers]
    elif name.endswith("categories"):
        X = X.drop(columns=numbers)
    # All levels are known from the start, as they are in the table: smoothing counts them.
    words = [column for column in X if column not in set(numbers)]
    return LabelledRows.read(X.astype(dict.fromkeys(words, "category")), y)


def naive_bayes(X: pd.DataFrame) -> Pipeline:
    """Return Ng and Jordan's naive Bayes: numbers normal with one variance, levels smoothed by 1.

    Levels count as bins of their codes, so that all of them are known from the start, also those
    that few training rows do not show: Laplace's rule counts them in the table as well.
    """
    kinds = {
        name: Binned(edges=tuple(np.arange(len(X[name].cat.categories) + 1) - 0.5))
        if isinstance(X[name].dtype, CategoricalDtype)
        else "shared-gaussian"
        for name in X
    }
    return make_pipeline(FunctionTransformer(codes_of), NaiveBayes(kinds))


def codes_of(X: pd.DataFrame) -> pd.DataFrame:
    """Return categories as the numbers of their levels; blank ones stay blank."""
    words = X.select_dtypes("category")
    found = words.apply(lambda column: column.cat.codes.astype(float)).where(words.notna())
    return X.assign(**found)


def peer_logistic() -> Pipeline:
    """Return scikit-learn's logistic regression with the same penalty, run to its end.

    With its usual tolerance it stops long before, where rows are few and separated, and errs
    otherwise: so it did in the table.
    """
    return make_pipeline(
        FunctionTransformer(indicators),
        StandardScaler(),
        PeerLogistic(C=1.0 / PENALTY, tol=1e-10, max_iter=100_000),
    )


def early_logistic() -> Pipeline:
    """Return scikit-learn's logistic regression as it comes: zeros and ones as they are.

    Where few rows are separated it stops at its usual tolerance, far from its maximum.
    """
    return make_pipeline(FunctionTransformer(indicators), PeerLogistic(C=1.0 / PENALTY))


def indicators(X: pd.DataFrame) -> NDArray[np.float64]:
    """Return one column a level, blank being one."""
    words = X.select_dtypes("category").columns
    coded: NDArray[np.float64] = get_dummies(X, columns=words, dummy_na=True).to_numpy(np.float64)
    return coded


def sizes_of(name: str) -> NDArray[np.intp]:
    """Return the training sizes of one problem."""
    smallest, largest = PROBLEMS[name].smallest, PROBLEMS[name].largest
    steps = (*range(smallest, STEPS[0]), *STEPS)
    return np.array([m for m in sorted({*steps, largest}) if m <= largest], dtype=np.intp)


def curves(
    name: str,
    repeats: int = 25,
    sizes: NDArray[np.intp] | None = None,
    others: dict[str, Any] | None = None,
) -> LearningCurves:
    """Return both learning curves of one problem, and those of others on the same splits."""
    rows = rows_of(name)
    models = {
        NAIVE_BAYES: naive_bayes(rows.X),
        LOGISTIC: LogisticRegression(PENALTY, standard_errors=False),
        **(others or {}),
    }
    return learning_curves(
        models,
        rows,
        sizes=sizes_of(name) if sizes is None else sizes,
        repeats=repeats,
        random_state=2001,
    )
