"""The rows that candidates are compared on: as they were given, with labels and weights read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from suffice.errors import BadLabels, BadRows, NotFinite
from suffice.learning.collect import frame_here, is_elsewhere, opened, spooled
from suffice.learning.labelled_batch import rows_with_weight, taken
from suffice.rows import (
    NUMBER,
    check_lengths,
    is_sparse,
    read_labels,
    read_table,
    read_weights,
)
from suffice.sources.arrow_frames import frame_of
from suffice.sources.samples import spread_rows

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray, Table


@dataclass(frozen=True, slots=True, eq=False)
class LabelledRows:
    """Rows with their labels and weights.

    Rows of weight zero are left out when it is made. `LabelledRows.read(X, y)` makes it of rows
    and labels.

    Parameters
    ----------
    X : array_like (n, d)
        Rows (n, d) of any kind.
    codes : ndarray of int
        The place (n,) of the label of each row among `classes`.
    classes : ndarray
        The different labels (k,), sorted.
    weights : ndarray of float or None
        Weights (n,) of the rows, or None.

    See Also
    --------
    held_out : Takes it.
    """

    X: Any
    codes: IntArray
    classes: NDArray[np.generic]
    weights: FloatArray | None

    @classmethod
    def read(cls, X: object, y: object, sample_weight: object = None) -> Self:
        """Read rows and labels; refuse those that leave nothing to compare."""
        kept = rows_with_weight(X, y, sample_weight)
        if kept is not None:
            X, y, sample_weight = taken(X, kept), taken(y, kept), taken(sample_weight, kept)
        if is_sparse(X):
            size = int(X.shape[0])  # type: ignore[attr-defined]
        else:
            table = read_table(X)
            size = table.size
            _refuse_infinite(table, kept)
        labels = read_labels(y)
        check_lengths(size, len(labels.codes))
        if len(labels.classes) < 2:
            raise BadLabels(
                f"there is only one class, {labels.classes.tolist()[0]!r}: at least two are needed",
                hint="give rows of two classes or more",
            )
        return cls(X, labels.codes, labels.classes, read_weights(sample_weight, size))

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.codes)

    @property
    def y(self) -> NDArray[np.generic]:
        """The labels, in their own type."""
        labels: NDArray[np.generic] = self.classes[self.codes]
        return labels

    @property
    def counts(self) -> FloatArray:
        """The weight of each class."""
        k = len(self.classes)
        return np.bincount(self.codes, weights=self.weights, minlength=k).astype(np.float64)

    def without(self, columns: Collection[str]) -> LabelledRows:
        """Return the same rows without some columns; where none is left, as they are."""
        if not columns:
            return self
        table = read_table(self.X)
        names = table.names or ()
        kept = [j for j, name in enumerate(names) if name not in columns]
        return replace(self, X=table.take(kept)) if kept else self

    def take(self, places: IntArray) -> LabelledRows:
        """Return some rows; classes stay those of all rows."""
        weights = None if self.weights is None else self.weights[places]
        return LabelledRows(taken(self.X, places), self.codes[places], self.classes, weights)


def _refuse_infinite(table: Table, kept: IntArray | None) -> None:
    """Refuse an infinite cell here, where its row has the number that the caller gave it."""
    for j, kind in enumerate(table.kinds):
        cells = table.column(j)
        if kind == NUMBER and np.isinf(cells).any():
            row = int(np.isinf(cells).argmax())
            name = f"x{j}" if table.names is None else table.names[j]
            raise NotFinite.of(int(row if kept is None else kept[row]), name, float(cells[row]))


MOST_CELLS = 1 << 25
"""Cells that are held; of a larger source, rows are drawn."""


class RowsHere(NamedTuple):
    """Rows as `fit` takes them, and what is to be said of where they come from."""

    X: Any
    y: Any
    weights: Any
    notes: list[str]


def rows_here(X: object, y: object, target: str | None, weight: object, seed: int) -> RowsHere:
    """Return rows and labels that are in memory, wherever they were.

    Of a source with more than `MOST_CELLS` cells, rows are drawn from all over it, and a note says
    how many.
    """
    if y is not None and target is not None:
        raise BadLabels(
            "labels are given twice: as y, and by the name of a column",
            hint='leave one out: compare(X, y), or compare(source, target="y")',
        )
    here = frame_here(X, target, weight)
    if here is not None:
        return RowsHere(*here, [])
    if target is None and not is_elsewhere(X, y):
        return RowsHere(X, y, weight, [])
    source, wanted = opened(X, target, weight)
    if source.once:
        source = spooled(source, wanted)
    found, whole = spread_rows(source, wanted, max(1, MOST_CELLS // len(wanted.all)), seed)
    if found is None or not found.table.size:
        raise BadRows(f"{source.name} has no rows", hint="there is nothing to compare models on")
    notes = []
    if not whole:
        size = source.size
        of = "" if size is None else f" of {size:,}"
        notes.append(
            f"{found.table.size:,}{of} rows of {source.name}, a random sample, were compared"
        )
    return RowsHere(frame_of(found.table), found.labels, found.weights, notes)
