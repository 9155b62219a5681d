"""What to look at before relying on a recommendation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import listed
from suffice.rows import is_sparse, read_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suffice.evaluation.candidates import Candidate
    from suffice.evaluation.cross_validation import HeldOut
    from suffice.evaluation.labelled_rows import LabelledRows
    from suffice.evaluation.recommendation import Recommendation
    from suffice.evaluation.scores import Scores

SMALL_CLASS = 20.0
ROWS_PER_COLUMN = 5.0
ENOUGH = 100
"""Rows from which on a calibration error is more than chance."""
OFF = 0.05
"""A calibration error from which probabilities should not be taken at their word."""


def reservations(
    said: Recommendation,
    rows: LabelledRows,
    held: Mapping[str, HeldOut],
    scores: Mapping[str, Scores],
    asked: Sequence[Candidate],
) -> Recommendation:
    """Return the recommendation with what else there is to worry about."""
    found = [*_baseline(said, rows, scores), *_small(rows), *_calibration(said, rows, scores)]
    keys = {one.key: one.name for one in asked}
    found += _overfitting(keys, scores)
    warned = held[said.model].warned
    if warned:
        text, folds = max(warned, key=lambda one: one[1])
        found.append(f"{said.model} warned in {folds} fold{'s' * (folds > 1)}: {text}")
    return replace(said, worries=(*said.worries, *found))


def _baseline(said: Recommendation, rows: LabelledRows, scores: Mapping[str, Scores]) -> list[str]:
    """Compare with always naming the commonest class."""
    shares = rows.counts / rows.counts.sum()
    right = scores[said.model].accuracy
    error = right.std(ddof=1) / np.sqrt(len(right))
    if right.mean() - 2.0 * error > shares.max():
        return []
    label = rows.classes[shares.argmax()]
    return [
        (
            f"Always saying {label} is right in {100.0 * shares.max():.1f} % of rows, "
            f"{said.model} in {100.0 * right.mean():.1f} %: no clear gain."
        )
    ]


def _small(rows: LabelledRows) -> list[str]:
    found = []
    counts = rows.counts
    small = np.flatnonzero(counts < SMALL_CLASS)
    if len(small):
        named = listed(f"{rows.classes[c]} ({counts[c]:g})" for c in small)
        found.append(f"Small classes, about which little can be known: {named}.")
    width = rows.X.shape[1] if is_sparse(rows.X) else read_table(rows.X).width
    per = counts.sum() / width
    if per < ROWS_PER_COLUMN:
        found.append(f"There are only {per:.2g} rows for each column.")
    return found


def _calibration(
    said: Recommendation, rows: LabelledRows, scores: Mapping[str, Scores]
) -> list[str]:
    one = scores[said.model]
    if one.calibration is None or one.calibration <= OFF or len(rows) < ENOUGH:
        return []
    return [
        (
            f"Its probabilities are off by {one.calibration:.2f} on average "
            f"(± {one.calibration_error:.2f}): look at the reliability diagram before relying on "
            "them."
        )
    ]


def _overfitting(keys: Mapping[str, str], scores: Mapping[str, Scores]) -> list[str]:
    """Say where a penalty helps logistic regression much: its maximum is far out, or nowhere."""
    slight, real = (
        scores.get(keys.get("logistic", "")),
        scores.get(keys.get("logistic-penalty", "")),
    )
    if slight is None or real is None or slight.log_loss is None or real.log_loss is None:
        return []
    gaps = slight.log_loss - real.log_loss
    error = gaps.std(ddof=1) / np.sqrt(len(gaps))
    if gaps.mean() <= 2.0 * error or gaps.mean() < 0.1 * slight.log_loss.mean():
        return []
    return [
        (
            f"Without a penalty {keys['logistic']} loses {gaps.mean():.3f} more: the classes are "
            "nearly separated by a plane, or there are few rows for so many columns."
        )
    ]
