"""Which model to fit: one that is named, or the best of those that are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from suffice.cli.remarks import note

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

FOLDS = 10
SETTINGS = {
    "gda": ("covariance", "pool", "shrink", "divisor", "priors"),
    "qda": ("pool", "shrink", "divisor", "priors"),
    "naive-bayes": ("families", "smoothing", "temperature", "priors"),
    "logistic": ("penalty", "correction"),
}
"""The settings that each model takes."""
MODELS = (*SETTINGS, "auto")


def named_model(name: str, settings: Mapping[str, Any]) -> Any:
    """Return the estimator of a name, with settings that are not None; others are refused."""
    given = {key: value for key, value in settings.items() if value is not None}
    strange = [key for key in given if key not in SETTINGS[name]]
    if strange:
        options = ", ".join(f"--{key}" for key in strange)
        takes = ", ".join(f"--{key}" for key in SETTINGS[name])
        raise click.UsageError(f"{options} does not belong to --model {name}, which takes {takes}")
    if name in ("gda", "qda"):
        from suffice.estimators.gaussian_discriminant import GaussianDiscriminant

        form = "per-class" if name == "qda" else "shared"
        return GaussianDiscriminant(**{"covariance": form, **given})
    if name == "naive-bayes":
        from suffice.estimators.naive_bayes import NaiveBayes

        return NaiveBayes(**given)
    from suffice.estimators.logistic_regression import LogisticRegression

    return LogisticRegression(**given)


def best_model(X: Any, y: NDArray[Any], seed: int) -> Any:
    """Return the estimator of the lowest cross-validated log-loss, and say which and why."""
    from suffice.cli.compared_rows import sampled
    from suffice.estimators.weightless import taken
    from suffice.evaluation.comparison import compare

    some = sampled(len(y), X.shape[1], seed)
    if some is not None:
        note(f"models are compared on {len(some):,} of {len(y):,} rows, drawn at random")
    found = compare(
        X if some is None else taken(X, some),
        y if some is None else y[some],
        folds=min(FOLDS, len(y)),
        curves=False,
        random_state=seed,
    )
    table = [(row[0], row[3]) for row in found.table.rows if row[3] is not None]
    (best, loss), *others = table
    rest = "".join(f", {name} {other:.3f}" for name, other in others[:3])
    note(
        f"chose {best}: its log-loss on held-out rows is {loss:.3f}, the lowest of "
        f"{len(table)}{rest and ' (then' + rest[1:] + ')'}"
    )
    return found.estimator(str(best))
