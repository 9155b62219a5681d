"""One row at a time: a stream that is learned as it comes, against scikit-learn's GaussianNB."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.naive_bayes import GaussianNB

from benchmarks.contest import Contest
from benchmarks.discriminant import drawn
from suffice import GaussianDiscriminant, NaiveBayes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CALLS = 1_000


def contests() -> Iterator[Contest]:
    """A thousand rows of 20 columns, each in a call of its own, and then one look.

    The look is part of the job: rows may wait until then, and have to be learned for it.
    """
    X, y = drawn(2 * CALLS, 20, 2)
    peer = GaussianNB().fit(X[:CALLS], y[:CALLS])

    def posteriors(model: Any) -> Any:
        return model.predict_proba(X[:5])

    for name, model, look in (
        ("naive Bayes", NaiveBayes(), posteriors),
        ("diagonal", GaussianDiscriminant("diagonal"), posteriors),
        ("shared", GaussianDiscriminant(), _means),
        ("per-class", GaussianDiscriminant("per-class"), _means),
    ):
        begun = model.fit(X[:CALLS], y[:CALLS])
        yield Contest(
            f"one row, {name} partial_fit ({CALLS:,} calls)",
            lambda begun=begun, look=look: streamed(begun, X, y, look),
            {"default": lambda look=look: streamed(peer, X, y, look)},
            _same,
            goal_default=50,
            note="the peer keeps variances only" if look is _means else "",
        )


def streamed(begun: Any, X: Any, y: Any, look: Callable[[Any], Any]) -> Any:
    """Let a copy learn the second half of the rows one by one, and look at it."""
    model = deepcopy(begun)
    for i in range(CALLS, 2 * CALLS):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    return look(model)


def _means(model: Any) -> Any:
    return model.theta_ if isinstance(model, GaussianNB) else model.means_


def _same(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)
