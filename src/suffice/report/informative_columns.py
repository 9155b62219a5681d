"""Which columns tell most about the class, each by itself."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import SufficeError
from suffice.estimators.naive_bayes import NaiveBayes
from suffice.evaluation import stratified_folds
from suffice.report.data_summary import column_names
from suffice.report.markup import bar, name, table
from suffice.rows import NUMBER, is_sparse, read_table

if TYPE_CHECKING:
    from suffice.evaluation import LabelledRows
    from suffice.rows import FloatArray, IntArray

MOST_ROWS = 3000
"""Rows that are looked at, at most. A choice."""
MOST_CELLS = 2_000_000
"""Rows · columns · classes that are looked at."""
SHOWN = 12
"""Columns that are listed, the most informative first. A choice: what is read at a glance."""
FOLDS = 4
"""Parts of cross-validation. A choice: three quarters of the rows are learned from, at four
fits."""


@dataclass(frozen=True, slots=True, eq=False)
class Informative:
    """What columns tell about the class, in bits.

    rows    those that were looked at
    model   naive Bayes of them: a law for every column in every class
    bits    by column: the mean of log₂ p(y | x_j) / p(y), held out; blank cells tell nothing
    whole   the entropy of the class: what would be told by a column that gives it away
    """

    rows: LabelledRows
    names: tuple[str, ...]
    model: Any
    bits: FloatArray
    whole: float

    @property
    def order(self) -> IntArray:
        """The places of columns, the most informative first."""
        return np.argsort(-self.bits, kind="stable")


def informative_columns(rows: LabelledRows) -> Informative | None:
    """Return what each column tells by itself; None where that cannot be asked.

    Numbers are cut into bins, so that no form of law is assumed of them.

    >>> from suffice.evaluation import LabelledRows
    >>> X = [[float(i > 20), float(i % 4)] for i in range(40)]
    >>> found = informative_columns(LabelledRows.read(X, ["a"] * 20 + ["b"] * 20))
    >>> [found.names[j] for j in found.order], bool(found.bits[0] > 0.5 > found.bits[1])
    (['x0', 'x1'], True)
    """
    if is_sparse(rows.X):
        return None
    names = column_names(rows)
    k = len(rows.classes)
    part = drawn(rows, min(MOST_ROWS, max(200, MOST_CELLS // (len(names) * k))))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = NaiveBayes().fit(part.X, part.y, part.weights)
            bits = _held_out_bits(part, len(names))
    except SufficeError:
        return None
    shares = part.counts[part.counts > 0.0] / part.counts.sum()
    return Informative(part, names, model, bits, float(-(shares * np.log2(shares)).sum()))


def drawn(rows: LabelledRows, most: int, seed: int = 0) -> LabelledRows:
    """Return at most so many rows, at random but in their order, some of every class."""
    if len(rows) <= most:
        return rows
    rng = np.random.default_rng(seed)
    lots = rng.random(len(rows))
    for c in range(len(rows.classes)):  # the first two of every class come before all others
        own = np.flatnonzero(rows.codes == c)
        lots[own[np.argsort(lots[own])[:2]]] = 0.0
    return rows.take(np.sort(np.argsort(lots, kind="stable")[:most]))


def _held_out_bits(rows: LabelledRows, width: int) -> FloatArray:
    """Return the bits of every column, each row judged by laws that have not seen it."""
    kinds = read_table(rows.X).kinds
    families: object = {j: "binned" for j, kind in enumerate(kinds) if kind == NUMBER}
    folds = stratified_folds(rows.codes, min(FOLDS, len(rows)), 0)
    found = np.zeros(width)
    total = 0.0
    for f in range(int(folds.max()) + 1):
        others, own = (rows.take(np.flatnonzero(chosen)) for chosen in (folds != f, folds == f))
        model = NaiveBayes(families or "auto").fit(others.X, others.y, others.weights)
        known = np.isin(own.classes, model.classes_)[own.codes]
        if known.any():
            part = own.take(np.flatnonzero(known))
            weight = float(part.counts.sum())
            found += weight * _bits(model, part, width)
            total += weight
    return np.maximum(found / max(total, 1.0), 0.0)


def _bits(model: Any, rows: LabelledRows, width: int) -> FloatArray:
    """Return log₂ p(y | x_j) / p(y), averaged over rows, for every column."""
    classes = model.classes_.tolist()
    logs = np.zeros((len(classes), len(rows), width))
    for c in range(1, len(classes)):
        found = model.explain(rows.X, of=classes[c], against=classes[0]).contributions
        logs[c] = np.nan_to_num(found, posinf=700.0, neginf=-700.0)
    prior = np.log(np.asarray(model.priors_, dtype=np.float64))[:, np.newaxis, np.newaxis]
    logs -= logs.max(axis=0)
    evidence = np.log(np.exp(logs + prior).sum(axis=0))
    places = {label: c for c, label in enumerate(classes)}
    own = np.array([places.get(label, 0) for label in rows.classes.tolist()])[rows.codes]
    told = logs[own, np.arange(len(rows))] - evidence
    # A law that fits a column badly can be surely wrong: one such row should not decide.
    told = np.maximum(told, np.log(1e-3))
    bits: FloatArray = np.average(told, axis=0, weights=rows.weights) / np.log(2.0)
    return bits


def informative_table(found: Informative) -> str:
    """Return the most informative columns as a table with bars."""
    order = found.order[:SHOWN]
    rows = [
        (
            name(found.names[j]),
            f"{found.bits[j]:.3f}",
            bar(float(found.bits[j] / found.whole) if found.whole else 0.0),
        )
        for j in order
    ]
    left = len(found.bits) - len(order)
    more = f'<p class="soft">… and {left:,} more columns.</p>' if left else ""
    return table(("column", "bits", f"of {found.whole:.2f}"), rows, figures=(1,)) + more
