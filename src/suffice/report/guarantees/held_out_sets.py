"""Prediction sets of held-out rows: how many hold the true class, and how large they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.report.markup import name, quoted, table, text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.evaluation import Comparison
    from suffice.rows import FloatArray, IntArray

COVERAGES = (0.8, 0.9, 0.95)
"""What is asked of sets on the page; the middle one class by class."""
MOST_CLASSES = 20
"""Classes whose own coverage is listed, the largest first."""


@dataclass(frozen=True, slots=True)
class SetsAt:
    """Sets of one coverage: the share that holds the true class, and their sizes.

    single   share of sets that have one class
    several  share that cannot tell: more than one
    """

    coverage: float
    held: float
    size: float
    single: float
    several: float


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutSets:
    """What sets of the recommended model would have said of every row, left out."""

    model: str
    at: tuple[SetsAt, ...]
    classes: tuple[tuple[Any, float, float, float], ...]
    """Class, rows, share of its sets at the middle coverage that hold it, and their mean size."""

    def record(self) -> dict[str, object]:
        """Return it as plain values."""
        names = ("coverage", "held", "size", "single", "several")
        return {
            "model": self.model,
            "sets": [{name: float(getattr(one, name)) for name in names} for one in self.at],
        }


def held_out_sets(comparison: Comparison, model: str) -> HeldOutSets | None:
    """Return sets of held-out rows by the rule of CV+; None for a model without probabilities.

    A row is ranked by -log p(label) among the others, each by a model that has not seen it.
    """
    told = comparison.held_out.get(model)
    rows = comparison.rows
    if told is None or told.log_posterior is None or len(rows.classes) < 2:
        return None
    log_posterior = np.asarray(told.log_posterior)
    weights = np.ones(len(rows)) if rows.weights is None else np.asarray(rows.weights)
    p_values = _p_values(log_posterior, rows.codes, weights)
    likeliest = np.zeros_like(p_values, dtype=bool)
    likeliest[np.arange(len(rows)), log_posterior.argmax(axis=1)] = True
    total = weights.sum()
    found: list[SetsAt] = []
    own: tuple[tuple[object, float, float, float], ...] = ()
    for coverage in COVERAGES:
        sets = (p_values > 1.0 - coverage) | likeliest
        held, sizes = sets[np.arange(len(rows)), rows.codes], sets.sum(axis=1)
        found.append(
            SetsAt(
                coverage,
                float(weights @ held / total),
                float(weights @ sizes / total),
                float(weights @ (sizes == 1) / total),
                float(weights @ (sizes > 1) / total),
            )
        )
        if coverage == COVERAGES[1]:
            own = _by_class(rows.classes, rows.codes, weights, held, sizes)
    return HeldOutSets(model, tuple(found), own)


def _p_values(log_posterior: FloatArray, codes: IntArray, weights: FloatArray) -> FloatArray:
    """Return for every row and class (n, k) the share of rows that are at least as strange."""
    scores = -log_posterior
    own = scores[np.arange(len(codes)), codes]
    order = np.argsort(own, kind="stable")
    beyond = np.append(np.cumsum(weights[order][::-1])[::-1], 0.0)
    at_least = beyond[np.searchsorted(own[order], scores, side="left")]
    itself = weights[:, np.newaxis]
    others = at_least - np.where(own[:, np.newaxis] >= scores, itself, 0.0)
    return np.asarray((others + itself) / weights.sum())


def _by_class(
    classes: Any, codes: object, weights: FloatArray, held: NDArray[np.bool_], sizes: object
) -> tuple[tuple[Any, float, float, float], ...]:
    found = []
    for c, label in enumerate(classes):
        own = np.where(codes == c, weights, 0.0)
        total = float(own.sum())
        if total > 0.0:
            found.append((label, total, float(own @ held / total), float(own @ sizes / total)))
    return tuple(sorted(found, key=lambda one: -one[1])[:MOST_CLASSES])


def sets_section(found: HeldOutSets | None) -> str:
    """Return the section about prediction sets; nothing where there are none."""
    if found is None:
        return ""
    middle = COVERAGES[1]
    every = table(
        ["asked", "held", "classes a set", "one class", "several"],
        [
            [
                _percent(one.coverage), _percent(one.held, 1), f"{one.size:.2f}",
                _percent(one.single), _percent(one.several),
            ]
            for one in found.at
        ],
        figures=range(1, 5),
    )  # fmt: skip
    own = table(
        ["class", "rows", f"held at {_percent(middle)}", "classes a set"],
        [
            [name(label), f"{rows:,.6g}", _percent(held, 1), f"{size:.2f}"]
            for label, rows, held, size in found.classes
        ],
        figures=range(1, 4),
    )
    hard = min(found.classes, key=lambda one: one[2], default=None)
    least = (
        ""
        if hard is None or hard[2] >= middle - 0.05
        else f" Rows of {quoted(hard[0])} are held less often than the others: "
        "<code>suffice predict --coverage .9 --within class</code> promises the coverage in "
        "every class."
    )
    return (
        "<p>A prediction set holds the classes that cannot be ruled out: one where the model "
        "is sure, several where it is not. Every row was held out and compared with the others by "
        f"the model's probabilities ({name(found.model)}); “held” is the share of sets with the "
        f"true class in them.{least}</p>{every}"
        f"<details><summary>Class by class</summary>{own}</details>"
        '<p class="soft">The coverage is that of all rows together, and holds for new rows that '
        "are drawn as these were. <code>suffice predict --coverage .9</code> prints sets of new "
        "rows.</p>"
    )


def _percent(share: float, digits: int = 0) -> str:
    return text(f"{100.0 * share:.{digits}f} %")
