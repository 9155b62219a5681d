"""Which model to fit: one that is named, or the best of those that are compared."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import click

from suffice.cli.remarks import note
from suffice.errors import BadSetting, SufficeError

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
    from sklearn.base import clone

    from suffice.evaluation.candidates import usual_candidates
    from suffice.evaluation.cross_validation import held_out, refusal
    from suffice.evaluation.labelled_rows import LabelledRows
    from suffice.evaluation.metrics import log_loss
    from suffice.evaluation.splits import stratified_folds

    rows = LabelledRows.read(X, y)
    folds = stratified_folds(rows.codes, min(FOLDS, len(rows)), seed)
    found: list[tuple[float, int, Any]] = []
    for candidate in usual_candidates(rows):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answer = held_out(candidate.estimator, rows, folds)
        except SufficeError as error:
            note(f"{candidate.name} cannot be fitted: {refusal(error)}")
            continue
        if answer.log_posterior is not None:
            loss = log_loss(answer.log_posterior, rows.codes, rows.weights)
            found.append((loss, candidate.rank, candidate))
    if not found:
        raise BadSetting("no model can be fitted to this table", hint="name one with --model")
    found.sort(key=lambda one: one[:2])
    loss, _, chosen = found[0]
    others = ", ".join(f"{one.name} {other:.4g}" for other, _, one in found[1:4])
    note(
        f"chose {chosen.name}: its {FOLDS}-fold log-loss is {loss:.4g}, the lowest"
        + (f" ({others})" if others else "")
    )
    return clone(chosen.estimator)
