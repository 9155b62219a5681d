"""Rows judged by a model that has not seen them, and what follows: error, log-loss, a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.printing.result_table import Significant, TableColumn, TextTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray, Label

COLUMNS = (
    TableColumn("row"),
    TableColumn("label"),
    TableColumn("predicted"),
    TableColumn("p(label)", Significant(3), name="p_label"),
    TableColumn("loss", Significant(3)),
    TableColumn("weight", Significant(3)),
    TableColumn("wrong"),
)
"""Of the table of judged rows."""
SHOWN = 10
"""Rows that are printed, those with the largest loss first: enough to see what they share."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LeaveOneOut:
    """Log posteriors (n, k) of rows left out, and what follows from them.

    Printed, and in a notebook, it shows error, log-loss and the rows it is most wrong about;
    `to_frame` has all rows.

    `vanished` marks rows that were all their class had: without them there is no such
    class, so they are errors, and the log-loss leaves them out. `approximate` says in words
    where exactness would have cost too much; it is empty when everything is exact. A row of
    weight zero whose label names no class has the code -1, and has vanished.
    """

    log_posterior: FloatArray
    codes: IntArray
    weights: FloatArray
    vanished: NDArray[np.bool_]
    approximate: str = ""
    labels: tuple[Label, ...] = ()

    def __repr__(self) -> str:
        return str(self.table(SHOWN))

    def _repr_html_(self) -> str:
        return self.table(SHOWN).to_html()

    def to_frame(self, library: str | None = None) -> object:
        """Return every row, in the order it was given, as a frame of pandas or polars.

        Its columns are the row's number, label and predicted class, p(label | x) by the model
        without the row, its loss, its weight, and whether it is wrong.
        """
        return self.table().to_frame(library)

    def table(self, most: int | None = None) -> TextTable:
        """Return the rows as a table; of `most` rows only, those with the largest loss first."""
        n = len(self.codes)
        names = [str(label) for label in self.labels or range(self.log_posterior.shape[1])]
        own = self.log_posterior[np.arange(n), self.codes]
        own = np.where(self.vanished, -np.inf, own)
        order = np.arange(n) if most is None else np.argsort(own, kind="stable")[:most]
        winners = self.log_posterior.argmax(axis=1)
        rows = tuple(
            (
                int(i),
                names[self.codes[i]] if self.codes[i] >= 0 else None,
                names[winners[i]],
                float(np.exp(own[i])),
                None if self.vanished[i] else float(-own[i]),
                float(self.weights[i]),
                bool(self.wrong[i]),
            )
            for i in order
        )
        title = (
            f"Leave-one-out: {n:,} rows, error {self.error:.1%}, log-loss {self.log_loss:.4g}"
            if self.weights.any()
            else f"Leave-one-out: {n:,} rows without weight"
        )
        notes = [self.approximate] if self.approximate else []
        if most is not None and n > most:
            notes.insert(0, f"The {most} rows with the largest loss; to_frame() has all of them.")
        return TextTable(title, COLUMNS, rows, tuple(notes))

    @classmethod
    def joined(cls, parts: Sequence[LeaveOneOut]) -> LeaveOneOut:
        """Return the judgements of several parts of the rows as one."""
        return cls(
            np.concatenate([part.log_posterior for part in parts]),
            np.concatenate([part.codes for part in parts]),
            np.concatenate([part.weights for part in parts]),
            np.concatenate([part.vanished for part in parts]),
            "; ".join(dict.fromkeys(part.approximate for part in parts if part.approximate)),
            parts[0].labels,
        )

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Which rows are classified wrongly when they are left out."""
        return np.asarray(self.log_posterior.argmax(axis=1) != self.codes) | self.vanished

    @property
    def error(self) -> float:
        """The share of rows classified wrongly, by weight."""
        return float(np.average(self.wrong, weights=self.weights))

    @property
    def log_loss(self) -> float:
        """The mean of -log p(y | x), by weight, over rows whose class is still there."""
        kept = ~self.vanished
        if not kept.any():
            return float("inf")
        found = self.log_posterior[np.arange(len(self.codes)), self.codes]
        return float(np.average(-found[kept], weights=self.weights[kept]))

    @property
    def excluded(self) -> int:
        """How many rows the log-loss leaves out."""
        return int(self.vanished.sum())
