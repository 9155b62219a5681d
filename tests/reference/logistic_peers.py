"""The same maximum by statsmodels and scikit-learn, and how far apart the answers are."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice import LogisticRegression

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def standard(X: Floats) -> Floats:
    """Return columns with mean 0 and standard deviation 1; constant ones are left out."""
    spread = X.std(axis=0)
    kept = spread > 1e-14 * np.abs(X.mean(axis=0))
    found: Floats = (X[:, kept] - X[:, kept].mean(axis=0)) / spread[kept]
    return found


def scikit_learn(X: Floats, y: NDArray[Any], penalty: float) -> Any:
    """Return scikit-learn's best solver at its tightest, without a penalty or with the same."""
    from sklearn.linear_model import LogisticRegression as Theirs

    C = np.inf if penalty == 0.0 else 1.0 / penalty
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it cannot get any nearer
        return Theirs(C=C, solver="newton-cholesky", tol=1e-13, max_iter=1000).fit(X, y)


def statsmodels(X: Floats, y: NDArray[Any]) -> Any:
    """Return statsmodels' Logit, or MNLogit for more than two classes.

    It begins where scikit-learn ends: from 0 its undamped steps may end nowhere.
    """
    from statsmodels import api

    labels, codes = np.unique(y, return_inverse=True)
    begin = scikit_learn(X, y, 0.0)
    theta = np.column_stack([begin.intercept_, begin.coef_])
    start = (theta if len(theta) == 1 else theta[1:] - theta[0]).T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = (api.Logit if len(labels) == 2 else api.MNLogit)(codes, api.add_constant(X))
        start = start.ravel() if len(labels) == 2 else start.ravel(order="F")
        return model.fit(start_params=start, disp=0, method="newton", tol=1e-14, maxiter=200)


def statsmodels_apart(X: Floats, y: NDArray[Any]) -> tuple[float, float]:
    """Return how far apart θ is at most, in standard errors, and by what share these differ.

    Columns are standardised for statsmodels only: its steps do not survive some as they are.
    """
    Z, told = standard(X), LogisticRegression().fit(X, y).summary()
    peer = statsmodels(Z, y)
    slopes, spread = (np.atleast_2d(np.asarray(v).T)[:, 1:] for v in (peer.params, peer.bse))
    units = X.std(axis=0)
    far = np.abs(told.estimates[:, 1:] * units - slopes) / spread
    off = np.abs(told.standard_errors[:, 1:] * units / spread - 1.0)
    return float(far.max()), float(off.max())


def scikit_learn_apart(X: Floats, y: NDArray[Any], penalty: float) -> float:
    """Return how far apart slopes are at most, in standard errors, on the same penalty."""
    model = LogisticRegression(penalty, tolerance=1e-10).fit(X, y)
    peer = scikit_learn(standard(X), y, penalty).coef_
    others = peer if len(peer) == 1 else peer[1:] - peer[0]
    units = X.std(axis=0)
    told = model.summary()
    apart = np.abs(told.estimates[:, 1:] * units - others)
    return float((apart / (told.standard_errors[:, 1:] * units)).max())
