"""Which model to fit, a named one or the best of those compared, and its fit."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import click

from suffice.cli.terminal.messages import ProgressLine, note
from suffice.errors import OneClass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from suffice.cli.rows.training_rows import TrainingRows
    from suffice.columns.filled import FilledColumns
    from suffice.rows.tables import Table


SETTINGS = {
    "gda": ("covariance", "pool", "shrink", "divisor", "priors"),
    "qda": ("pool", "shrink", "divisor", "priors"),
    "naive-bayes": ("families", "smoothing", "temperature", "priors"),
    "logistic": ("penalty", "l1_ratio", "correction"),
    "text": ("smoothing", "priors"),
}
"""The settings that each model takes."""
MODELS = (*SETTINGS, "auto")
MOST_COLUMNS = 5000
"""Columns, categories coded, whose covariance is tried."""


def named_model(name: str, settings: Mapping[str, Any]) -> Any:
    """Return the estimator of a name, with settings that are not None; others are refused."""
    given = {key: value for key, value in settings.items() if value is not None}
    strange = [key for key in given if key not in SETTINGS[name]]
    if strange:
        options, takes = map(option_names, (strange, SETTINGS[name]))
        raise click.UsageError(f"{options} does not belong to --model {name}, which takes {takes}")
    if name in ("gda", "qda"):
        from suffice.estimators.gaussian_discriminant import GaussianDiscriminant

        form = "per-class" if name == "qda" else "shared"
        return GaussianDiscriminant(**{"covariance": form, **given})
    if name == "naive-bayes":
        from suffice.estimators.naive_bayes import NaiveBayes

        return NaiveBayes(**given)
    if name == "text":
        from suffice.estimators.text.classifier import TextClassifier

        return TextClassifier(**given)
    from suffice.estimators.linear.logistic_regression import LogisticRegression

    return LogisticRegression(**given)


def option_names(settings: Iterable[str]) -> str:
    """Return settings as the options that they are on the command line."""
    return ", ".join(f"--{key.replace('_', '-')}" for key in settings)


def check_width(table: Table, name: str) -> None:
    """Refuse covariances of more columns than memory is likely to hold."""
    from suffice.columns import Columns
    from suffice.errors import BadSetting

    width = Columns.infer(table).width
    if width > MOST_COLUMNS:
        raise BadSetting(
            f"{name} needs the covariance of {width:,} columns, {8e-9 * width**2:.1f} GB at least",
            hint="--model naive-bayes or logistic needs none; --drop leaves columns out",
        )


def best_model(rows: TrainingRows, seed: int) -> tuple[Any, dict[str, float]]:
    """Return the estimator that `compare` recommends, and the log-losses of all.

    Which it is, and why, is said.
    """
    from sklearn.base import clone

    from suffice.cli.rows.compared_rows import sampled
    from suffice.errors import BadLabels
    from suffice.evaluation.comparison import compare
    from suffice.sources.arrow_frames import frame_of, some_rows

    table, y = rows.table, rows.labels
    if len(set(y.tolist())) == 1:
        raise BadLabels(
            f"models cannot be compared: {len(y):,} rows, from all over {rows.place}, are all of "
            f"class {y[0]!s}",
            hint="name one with --model",
        )
    some = sampled(table.size, table.width, seed)
    if some is not None:
        table, y = some_rows(table, some), y[some]
    if some is not None or not rows.whole:
        size = rows.table.size if rows.whole else rows.source.size
        of = "" if size is None else f" of {size:,}"
        note(f"models are compared on {len(y):,}{of} rows, drawn at random")
    found = compare(
        frame_of(table),
        y,
        curves=False,
        random_state=seed,
    )
    losses = {
        name: float(scores.log_loss.mean())
        for name, scores in found.scores.items()
        if scores.log_loss is not None
    }
    best = found.best
    loss = losses[best]
    others = sorted((pair for pair in losses.items() if pair[0] != best), key=lambda pair: pair[1])
    rest = "".join(f", {name} {other:.3f}" for name, other in others[:3])
    note(
        f"chose {best}: its log-loss on held-out rows is {loss:.3f}, the lowest of "
        f"{len(losses)}{rest and ' (then' + rest[1:] + ')'}"
    )
    return clone(found.candidate(best).estimator), losses


def learn(
    model: Any, rows: TrainingRows, filled: FilledColumns | None, checkpoint: Path | None
) -> None:
    """Fit a model; what it is learned from may be larger than memory."""
    from suffice.cli.rows.target_labels import check_classes
    from suffice.cli.rows.training_rows import tell_unlabelled
    from suffice.sources.arrow_frames import frame_of
    from suffice.sources.sql.source import SqlSource

    if rows.whole and checkpoint is None and not _adds_up(rows, filled):
        held = frame_of(rows.table)
        model.fit(held if filled is None else filled.transform(held), rows.labels)
        return
    how = {} if checkpoint is None else {"checkpoint": checkpoint}
    with warnings.catch_warnings():
        # A table that holds one class alone is refused below, where its place is known.
        warnings.simplefilter("ignore", OneClass)
        if isinstance(rows.source, SqlSource) and filled is None:
            rows.source.names = (*rows.names, rows.target)
            model.fit(rows.source, target=rows.target, **how)
        else:
            source = rows.labelled(filled)
            with ProgressLine(f"learning from {rows.place}", source.share) as source.progress:
                model.fit(source, target=rows.target, **how)
            if not rows.whole:
                tell_unlabelled(source)
    if len(model.classes_) == 1:
        check_classes(model.classes_, rows.place, rows.target)  # which refuses it


def _adds_up(rows: TrainingRows, filled: FilledColumns | None) -> bool:
    """Whether the rows are in a database that makes the sums itself."""
    from suffice.sources.sql.source import SqlSource

    return isinstance(rows.source, SqlSource) and rows.source.adds_up and filled is None
