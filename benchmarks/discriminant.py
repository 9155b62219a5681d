"""Gaussian discriminant analysis against scikit-learn's LDA and QDA."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as LDA  # noqa: N817
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis as QDA  # noqa: N817

from benchmarks.contest import Contest
from suffice import GaussianDiscriminant
from suffice.families import Gaussian
from suffice.models import GaussianLearner, shrinkage_path
from suffice.statistics import leave_one_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIZES = {
    "1e6x20": (1_000_000, 20, 2),
    "1e6x100": (1_000_000, 100, 10),
    "2e5x100": (200_000, 100, 10),
    "2e5x500": (200_000, 500, 5),
}


def drawn(size: int, width: int, classes: int) -> tuple[Any, Any]:
    """Return correlated normal classes whose posteriors are neither 0 nor 1."""
    rng = np.random.default_rng(20)
    labels = rng.integers(0, classes, size)
    mixing = np.eye(width) + 0.3 * rng.standard_normal((width, width)) / np.sqrt(width)
    centres = rng.standard_normal((classes, width)) / np.sqrt(width)
    rows = rng.standard_normal((size, width)) @ mixing
    rows += centres[labels]
    return rows, labels


def _same_means(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(ours.means_, theirs.means_, rtol=1e-8, atol=1e-10)
    if hasattr(theirs, "covariance_") and not isinstance(theirs.covariance_, list):
        np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-7, atol=1e-9)


def _same_array(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)


def shared_fits(sizes: list[str]) -> Iterator[Contest]:
    """Fit with a shared covariance."""
    goals = {"1e6x20": (14, 60), "1e6x100": (6, 50), "2e5x500": (2.7, 20)}
    for size in sizes:
        X, y = drawn(*SIZES[size])
        large = X.size > 5e7
        yield Contest(
            f"shared fit {size}",
            lambda X=X, y=y: GaussianDiscriminant().fit(X, y),
            {
                "default svd": lambda X=X, y=y: LDA().fit(X, y),
                "lsqr": lambda X=X, y=y: LDA(solver="lsqr", store_covariance=True).fit(X, y),
            },
            _same_means,
            *goals[size],
            repeats=3 if large else 7,
            slow=frozenset({"default svd"}) if large else frozenset(),
        )


def class_fits(sizes: list[str]) -> Iterator[Contest]:
    """Fit with one covariance per class."""
    goals = {"1e6x20": (7, 45), "2e5x100": (2.8, 12)}
    for size in sizes:
        X, y = drawn(*SIZES[size])
        yield Contest(
            f"per-class fit {size}",
            lambda X=X, y=y: GaussianDiscriminant("per-class").fit(X, y),
            {
                "default svd": lambda X=X, y=y: QDA().fit(X, y),
                "eigen": lambda X=X, y=y: QDA(solver="eigen").fit(X, y),
            },
            _same_means,
            *goals[size],
            repeats=7,
        )


def posteriors(sizes: list[str]) -> Iterator[Contest]:
    """predict_proba of many rows."""
    goals = {
        ("shared", "1e6x20"): 2.5,
        ("shared", "2e5x100"): 2.0,
        ("per-class", "1e6x20"): 5.0,
        ("per-class", "2e5x100"): 3.7,
    }
    for size in sizes:
        X, y = drawn(*SIZES[size])
        for form, peer in (("shared", LDA(solver="lsqr")), ("per-class", QDA())):
            ours, theirs = GaussianDiscriminant(form).fit(X, y), peer.fit(X, y)
            yield Contest(
                f"{form} predict_proba {size}",
                lambda m=ours, X=X: m.predict_proba(X),
                {"default": lambda m=theirs, X=X: m.predict_proba(X)},
                _same_array,
                None,
                goals[form, size],
                repeats=7,
            )


def one_row() -> Iterator[Contest]:
    """Latency: a thousand predictions of one row each."""
    X, y = drawn(5_000, 20, 3)
    rows = [np.ascontiguousarray(X[i : i + 1]) for i in range(1000)]
    cases = (
        ("predict", "shared", LDA(), 40.0),
        ("predict_proba", "shared", LDA(), 22.0),
        ("predict", "per-class", QDA(), 16.0),
    )
    for method, form, peer, goal in cases:
        ours, theirs = GaussianDiscriminant(form).fit(X, y), peer.fit(X, y)
        yield Contest(
            f"one row, {form} {method} (1,000 calls)",
            _one_by_one(getattr(ours, method), rows),
            {"default": _one_by_one(getattr(theirs, method), rows)},
            _loosely_same,
            None,
            goal,
            repeats=9,
        )


def _one_by_one(answer: Callable[[Any], Any], rows: list[Any]) -> Callable[[], Any]:
    return lambda: np.concatenate([answer(row) for row in rows])


def _loosely_same(ours: Any, theirs: Any) -> None:
    """LDA divides by n - k and we by n here: probabilities differ in the third digit."""
    if ours.ndim == 1:
        assert (ours == theirs).mean() > 0.99
    else:
        np.testing.assert_allclose(ours, theirs, atol=2e-2)


def model_selection() -> Iterator[Contest]:
    """Leave-one-out and shrinkage paths, which a peer can only do by refitting."""
    X, y = drawn(5_000, 50, 5)
    model = GaussianDiscriminant().fit(X, y)
    chosen = np.arange(0, len(X), 100)

    def refits() -> Any:
        found = []
        for i in chosen:
            keep = np.arange(len(X)) != i
            found.append(LDA().fit(X[keep], y[keep]).predict_log_proba(X[i : i + 1])[0])
        return np.array(found)

    def same(ours: Any, theirs: Any) -> None:
        exact = []
        for i in chosen:
            keep = np.arange(len(X)) != i
            exact.append(
                GaussianDiscriminant().fit(X[keep], y[keep]).predict_log_proba(X[i : i + 1])[0]
            )
        np.testing.assert_allclose(
            ours.log_posterior[chosen], np.array(exact), rtol=1e-9, atol=1e-9
        )
        np.testing.assert_allclose(ours.log_posterior[chosen], theirs, atol=2e-2)

    yield Contest(
        "exact leave-one-out 5,000x50, 5 classes",
        lambda: model.leave_one_out(X, y),
        {"default": refits},
        same,
        None,
        1000.0,
        repeats=3,
        scale={"default": len(X) / len(chosen)},
        note=f"the peer's time is {len(chosen)} refits, scaled to {len(X):,}",
    )
    shrinks = np.linspace(0.0, 1.0, 100)

    def path() -> Any:
        return shrinkage_path(model.statistics_, shrinks).weights

    def as_refitted(ours: Any, _: Any) -> None:
        for s in (0, 40, 99):
            whole = GaussianDiscriminant(shrink=float(shrinks[s])).fit(X, y)
            np.testing.assert_allclose(ours[s], whole.model_.densities.linear[0], rtol=1e-7)

    yield Contest(
        "100 shrinkages from the same statistics",
        path,
        {"default": lambda: [LDA(solver="lsqr", shrinkage=0.5).fit(X, y) for _ in range(5)]},
        as_refitted,
        None,
        150.0,
        repeats=3,
        scale={"default": 20.0},
        note="the targets differ (diagonal, identity): times only; 5 of 100 refits, scaled",
    )
    folds = np.arange(len(X)) % 10

    def crossed() -> Any:
        learner = GaussianLearner(Gaussian("shared"))
        labels = list(range(5))
        parts = [learner.summarize(X[folds == f], y[folds == f], labels) for f in range(10)]
        losses = np.zeros(len(shrinks))
        for f, statistics in enumerate(leave_one_out(parts)):
            held, own = X[folds == f], y[folds == f]
            found = shrinkage_path(statistics, shrinks).log_posteriors(held)
            losses -= found[:, np.arange(len(own)), own].sum(axis=1)
        return losses

    def peer_crossed() -> Any:
        total = 0.0
        for f in range(10):
            fitted = LDA(solver="lsqr", shrinkage=0.5).fit(X[folds != f], y[folds != f])
            total += fitted.predict_log_proba(X[folds == f]).sum()
        return total

    def as_crossed_by_refits(ours: Any, _: Any) -> None:
        loss = 0.0
        for f in range(10):
            out = folds == f
            fitted = GaussianDiscriminant(shrink=float(shrinks[40])).fit(X[~out], y[~out])
            loss -= fitted.predict_log_proba(X[out])[np.arange(out.sum()), y[out]].sum()
        np.testing.assert_allclose(ours[40], loss, rtol=1e-9)

    yield Contest(
        "10-fold cross-validation of 100 shrinkages",
        crossed,
        {"default": peer_crossed},
        as_crossed_by_refits,
        None,
        150.0,
        repeats=3,
        scale={"default": 100.0},
        note="the peer's time is one of 100 shrinkages, scaled",
    )


def contests(quick: bool) -> Iterator[Contest]:
    """Yield every row of the table; `quick` leaves out the inputs of 800 MB."""
    warnings.simplefilter("ignore")
    yield from one_row()
    yield from model_selection()
    yield from shared_fits(["1e6x20"] if quick else ["1e6x20", "1e6x100", "2e5x500"])
    yield from class_fits(["1e6x20", "2e5x100"])
    yield from posteriors(["1e6x20", "2e5x100"])
