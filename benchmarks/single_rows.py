"""One row at a time: a stream that is learned as it comes, against scikit-learn's GaussianNB."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.naive_bayes import GaussianNB

from benchmarks.contest import Contest
from benchmarks.discriminant import drawn
from suffice import GaussianDiscriminant

if TYPE_CHECKING:
    from collections.abc import Iterator

CALLS = 1_000
FORMS = ("diagonal", "shared", "per-class")


def contests() -> Iterator[Contest]:
    """A thousand rows of 20 columns, each in a call of its own, and then one look at the means.

    The look is part of the job: rows may wait until then, and have to be learned for it.
    """
    X, y = drawn(2 * CALLS, 20, 2)
    peer = GaussianNB().fit(X[:CALLS], y[:CALLS])
    for form in FORMS:
        ours = GaussianDiscriminant(form).fit(X[:CALLS], y[:CALLS])
        yield Contest(
            f"one row, {form} partial_fit ({CALLS:,} calls)",
            lambda ours=ours: streamed(ours, X, y),
            {"default": lambda: streamed(peer, X, y)},
            _same_means,
            goal_default=50,
            note="GaussianNB keeps variances only, as our diagonal form does",
        )


def streamed(begun: Any, X: Any, y: Any) -> Any:
    """Let a copy learn the second half of the rows one by one, and return its class means."""
    model = deepcopy(begun)
    for i in range(CALLS, 2 * CALLS):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    return model.means_ if hasattr(model, "means_") else model.theta_


def _same_means(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)
