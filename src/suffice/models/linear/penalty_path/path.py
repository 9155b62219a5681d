"""What is known of a path of penalties: how well each would do for rows that it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.printing.result_table import Significant, TableColumn, TextTable

if TYPE_CHECKING:
    from suffice.rows import FloatArray

LEFT_OUT, FOLDS, NOTHING = "left-out", "folds", "nothing"
"""How a penalty was judged: steps away from each row, by fits of other rows, or not at all."""


@dataclass(frozen=True, slots=True, eq=False)
class PenaltyPath:
    """Penalties from the strongest on, and the log-loss of rows that were left out of each fit.

    penalties  ½·penalty·Σ(s_jβ_j)² is added to the sum of losses (g,)
    losses     mean log-loss of the judged rows, each without itself (g,); 0 where none was judged
    errors     the standard error of each (g,)
    judged     "left-out": by a step or two away from each row; "folds": by fits of other rows;
               "nothing": no row has another one of its class
    shares     exp(-rows·loss), adding up to one: what each has in the average (g,)
    rows       how many rows were judged
    sampled    how many there were to learn from, where only some of them were looked at

    >>> path = PenaltyPath(np.array([10.0, 1.0]), np.array([0.5, 0.4]), np.array([0.1, 0.1]),
    ...                    ("left-out", "folds"), np.array([0.1, 0.9]), 50)
    >>> path.penalty
    1.0
    """

    penalties: FloatArray
    losses: FloatArray
    errors: FloatArray
    judged: tuple[str, ...]
    shares: FloatArray
    rows: int
    sampled: int | None = None

    @property
    def chosen(self) -> int:
        """The place of the penalty of least loss; of equal ones, the strongest."""
        return int(np.argmin(self.losses))

    @property
    def penalty(self) -> float:
        """The penalty of least loss."""
        return float(self.penalties[self.chosen])

    def table(self) -> TextTable:
        """Return the path as a table."""
        notes = [f"{self.rows:,} rows were judged, each by a fit without it"]
        if self.sampled is not None:
            notes.append(f"a sample: {self.sampled:,} rows were learned from")
        columns = (
            TableColumn("penalty", Significant(3)),
            TableColumn("log-loss", Significant(4), name="log_loss"),
            TableColumn("standard error", Significant(2), name="standard_error"),
            TableColumn("judged by", name="judged"),
            TableColumn("share", Significant(2)),
        )
        cells = zip(
            self.penalties.tolist(),
            self.losses.tolist(),
            self.errors.tolist(),
            self.judged,
            self.shares.tolist(),
            strict=True,
        )
        return TextTable("Penalties, from the strongest on", columns, tuple(cells), tuple(notes))

    def __str__(self) -> str:
        """Return the path as a table of text."""
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()
