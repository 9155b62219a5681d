"""Logistic and softmax regression against scikit-learn's solvers and glum.

Everyone is asked for the same: a gradient of at most 1e-6 of the one at θ = 0, relative to the
scale of each column, and that is checked for each answer. Nobody computes standard errors; ours
with them, and to its own tolerance, is a row of its own.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Peer

from benchmarks.contest import Contest
from suffice import LogisticRegression
from suffice.errors import DidNotConverge

if TYPE_CHECKING:
    from collections.abc import Iterator

ENOUGH = 1e-6
"""The largest gradient that an answer may have, relative to that at θ = 0."""


def normal(
    size: int, width: int, classes: int, apart: float, correlation: float = 0.6
) -> tuple[Any, Any]:
    """Return normal classes, `apart` standard deviations in all from the common mean.

    Each column is correlated with its neighbour, as columns of real tables are; 0 is the case in
    which plain gradients go straight to the goal.
    """
    rng = np.random.default_rng(4)
    y = rng.integers(0, classes, size)
    centres = rng.standard_normal((classes, width))
    centres *= apart / np.sqrt(width)
    X = rng.standard_normal((size, width))
    rest = np.sqrt(1.0 - correlation**2)
    for start in range(0, size, 10_000):
        some = slice(start, start + 10_000)
        X[some] += centres[y[some]]
        for j in range(1, width):
            X[some, j] = correlation * X[some, j - 1] + rest * X[some, j]
    return X, y


def uneven(size: int, width: int, classes: int, decades: float) -> tuple[Any, Any]:
    """Return heavy-tailed, binary and normal columns, scaled over several powers of ten."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((size, width))
    X[:, ::3] = np.exp(X[:, ::3])
    X[:, 1::3] = X[:, 1::3] > 0.5
    slopes = rng.standard_normal((width, classes)) * (1.5 / np.sqrt(width))
    scores = X @ slopes
    y = (scores - scores.mean(axis=0) + rng.gumbel(size=scores.shape)).argmax(axis=1)
    return X * 10.0 ** rng.uniform(-decades, decades, width), y


def relative_gradient(X: Any, y: Any, penalty: float, model: Any) -> float:
    """Return the largest entry of the gradient at an answer over that at θ = 0.

    In columns of standard deviation one: what is small in one unit is large in another.
    """
    deviations = np.asarray(X.std(axis=0)) if isinstance(X, np.ndarray) else _deviations(X)
    classes = np.unique(y)
    indicators = (y[:, np.newaxis] == classes).astype(np.float64)
    coef, intercept = np.atleast_2d(model.coef_), np.ravel(model.intercept_)
    if len(classes) == 2 and len(coef) == 1:
        scores = np.column_stack((np.zeros(len(y)), X @ coef[0] + intercept[0]))
    else:
        scores = X @ coef.T + intercept
    scores -= scores.max(axis=1, keepdims=True)
    shares = np.exp(scores)
    shares /= shares.sum(axis=1, keepdims=True)

    def slopes(residuals: Any) -> Any:
        sums = np.asarray(X.T @ residuals)
        means = np.asarray(X.mean(axis=0)).ravel()
        sums -= np.outer(means, residuals.sum(axis=0))
        return sums / np.where(deviations > 0.0, deviations, 1.0)[:, np.newaxis]

    here = slopes(shares - indicators)
    if penalty and len(coef) == 1:
        pull = penalty * coef[0] * deviations
        here = here[:, 1] + pull
    elif penalty:
        here = here + penalty * (coef * deviations).T
    there = slopes(indicators.mean(axis=0) - indicators)
    return float(np.abs(here).max() / np.abs(there).max())


def _deviations(X: Any) -> Any:
    mean = np.asarray(X.mean(axis=0)).ravel()
    return np.sqrt(np.maximum(np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2, 0.0))


def check(X: Any, y: Any, penalty: float, loose: bool, ours: Any, theirs: Any) -> None:
    """Refuse answers that are not at the optimum; a peer that says it gave up is let through."""
    mine = relative_gradient(X, y, penalty, ours)
    if not mine <= ENOUGH:
        raise AssertionError(f"our gradient is {mine:.2g}")
    other = relative_gradient(X, y, penalty, theirs)
    if not other <= ENOUGH and not loose:
        raise AssertionError(f"{theirs}: gradient {other:.2g}")


def peer(X: Any, y: Any, penalty: float, solver: str, tol: float, most: int = 500) -> Any:
    """Return scikit-learn's model, fitted by one of its solvers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        C = np.inf if penalty == 0.0 else 1.0 / penalty
        return Peer(C=C, solver=solver, tol=tol, max_iter=most).fit(X, y)


def _glum(X: Any, y: Any, penalty: float, tol: float) -> Any:
    from glum import GeneralizedLinearRegressor

    model = GeneralizedLinearRegressor(
        family="binomial", alpha=penalty / len(y), l1_ratio=0.0, gradient_tol=tol
    )
    return model.fit(X, y.astype(np.float64))


def ours(X: Any, y: Any, penalty: float, tolerance: float) -> Any:
    """Return our model, fitted as far as `tolerance`, without standard errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DidNotConverge)
        model = LogisticRegression(penalty, tolerance=tolerance, standard_errors=False)
        return model.fit(X, y)


def _has_glum() -> bool:
    from importlib.util import find_spec

    return find_spec("glum") is not None


def contests(quick: bool) -> Iterator[Contest]:
    """Yield the rows of PERFORMANCE, two classes first."""
    yield from _two_classes(quick)
    yield from _many_classes()
    yield from _sparse()


def _two_classes(quick: bool) -> Iterator[Contest]:
    X, y = normal(1_000_000, 50, 2, 1.0)
    peers = {
        "default lbfgs": partial(peer, X, y, 0.0, "lbfgs", 1e-7),
        "newton-cholesky": partial(peer, X, y, 0.0, "newton-cholesky", 1e-7),
    }
    if _has_glum():
        peers["glum"] = partial(_glum, X, y, 0.0, 1e-7)
    checked = partial(check, X, y, 0.0, False)
    yield Contest(
        "logistic 1e6x50", partial(ours, X, y, 0.0, 1e-3), peers, checked, 12, 20, repeats=3
    )
    yield Contest(
        "logistic 1e6x50, certified to 1e-8, standard errors",
        lambda: LogisticRegression(standard_errors=True).fit(X, y),
        {name: peers[name] for name in peers if name != "default lbfgs"},
        checked,
        repeats=3,
        note="peers stop at 1e-6 and have no standard errors",
    )
    X, y = normal(1_000_000, 50, 2, 1.0, 0.0)
    yield Contest(
        "logistic 1e6x50, independent columns",
        partial(ours, X, y, 0.0, 1e-3),
        {"default lbfgs": partial(peer, X, y, 0.0, "lbfgs", 1e-7)},
        partial(check, X, y, 0.0, False),
        repeats=3,
        note="lbfgs needs a few iterations only",
    )
    X, y = uneven(100_000, 50, 2, 2.0)
    # No penalty: ours is in units of standard deviations, the peers' is not.
    yield Contest(
        "logistic ill-scaled 1e5x50",
        partial(ours, X, y, 0.0, 1e-3),
        {
            "default lbfgs": partial(peer, X, y, 0.0, "lbfgs", 1e-9),
            "newton-cholesky": partial(peer, X, y, 0.0, "newton-cholesky", 1e-9),
            **({"glum": partial(_glum, X, y, 0.0, 1e-9)} if _has_glum() else {}),
        },
        partial(check, X, y, 0.0, True),
        4,
        100,
        repeats=3,
        slow=frozenset({"default lbfgs"}),
        note="lbfgs stops at 500 iterations, not converged",
    )
    if quick:
        return
    X, y = normal(200_000, 500, 2, 1.0)
    yield Contest(
        "logistic 2e5x500",
        partial(ours, X, y, 0.0, 2e-4),
        {
            "default lbfgs": partial(peer, X, y, 0.0, "lbfgs", 3e-8),
        },
        partial(check, X, y, 0.0, False),
        3.5,
        4.5,
        repeats=3,
    )


def _many_classes() -> Iterator[Contest]:
    for name, size, apart, goals in (
        ("softmax 1e5x100x10", 100_000, 1.5, (3, 4.5)),
        ("softmax 1e5x100x10, strongly separated", 100_000, 3.0, (1, 1)),
        ("softmax 2e4x100x10, strongly separated", 20_000, 3.0, (1, 1)),
        ("softmax 2e3x20x5", 2_000, 2.0, (1, 1)),
    ):
        width, classes = (20, 5) if "x20x5" in name else (100, 10)
        X, y = normal(size, width, classes, apart)
        X /= X.std(axis=0)  # so that everyone's penalty is the same
        yield Contest(
            name,
            partial(ours, X, y, 1.0, 3e-4),
            {
                "default lbfgs": partial(peer, X, y, 1.0, "lbfgs", 5e-8),
                "newton-cg": partial(peer, X, y, 1.0, "newton-cg", 1e-7),
            },
            partial(check, X, y, 1.0, False),
            *goals,
            repeats=3,
        )
    X, y = uneven(100_000, 100, 10, 1.0)
    yield Contest(
        "softmax ill-scaled 1e5x100x10",
        partial(ours, X, y, 0.0, 3e-4),
        {"default lbfgs": partial(peer, X, y, 0.0, "lbfgs", 1e-8, 2000)},
        partial(check, X, y, 0.0, True),
        None,
        80,
        repeats=2,
        slow=frozenset({"default lbfgs"}),
    )


def _sparse() -> Iterator[Contest]:
    from scipy.sparse import csr_array

    rng = np.random.default_rng(6)
    size, width, stored = 20_000, 50_000, 1_350_000
    counts = rng.multinomial(stored, np.full(size, 1.0 / size))
    popular = 1.0 / (np.arange(width) + 20.0)
    columns = rng.choice(width, stored, p=popular / popular.sum())
    rows = np.repeat(np.arange(size), counts)
    X = csr_array((np.ones(stored), (rows, columns)), shape=(size, width))
    X.sum_duplicates()
    X.data = 1.0 + np.log(X.data)
    slopes = rng.standard_normal(width) * 0.5
    scores = X @ slopes
    y = (scores - np.median(scores) + rng.logistic(size=size) > 0.0).astype(int)
    kept = np.flatnonzero(np.diff(X.tocsc().indptr))
    X = csr_array(X.tocsc()[:, kept])
    X = csr_array(X.multiply(1.0 / _deviations(X)))  # so that everyone's penalty is the same
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    for penalty in (1.0, 100.0):
        yield Contest(
            f"logistic sparse 2e4x5e4, penalty {penalty:g}",
            partial(ours, X, y, penalty, 1e-4),
            {
                "default lbfgs": partial(peer, X, y, penalty, "lbfgs", 1e-8, 2000),
                "newton-cg": partial(peer, X, y, penalty, "newton-cg", 1e-8),
            },
            partial(check, X, y, penalty, True),
            1.5,
            repeats=3,
        )
