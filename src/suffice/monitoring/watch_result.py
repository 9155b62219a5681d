"""What a watch has found: which columns moved, shares, accuracy, and a verdict in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from suffice.errors import listed
from suffice.printing.result_table import Significant, TableColumn, TextTable, p_value

if TYPE_CHECKING:
    from suffice.models.label_shift import LabelShift
    from suffice.monitoring.drift_tests import DriftTest

STRANGE = 0.01
"""Typicality below which a row is like none of the classes: one in a hundred is anyway."""
ALARM = 20.0
"""The e-value of an alarm: reached by chance in one stream of twenty, at most, however long."""
OF_COLUMNS, OF_PRIORS, OF_STRANGE = 0.03, 0.01, 0.01
"""How the chance of a false alarm, LEVEL in all, is shared out: columns, priors, strangers."""


class Interval(NamedTuple):
    """An estimate with a 95 % interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """What new rows say about a model.

    tests       every test of every column, the most telling first
    priors      class priors of the new rows, with intervals; None where there is no density
    moved_priors  classes whose share has moved
    strange     share of rows like none of the classes, None if unknown; of kept rows, left out,
                `expected_strange` are
    expected    accuracy without labels, with an interval; None where no rows were kept
    observed    accuracy where labels are there
    e_value     of a stream, the largest mean of bets so far: an alarm at 20
    stream      whether the verdict is that of the bets alone, which hold at any time
    notes       what could not be looked at, and what no rows can show
    """

    rows: float
    tests: tuple[DriftTest, ...]
    priors: LabelShift | None
    moved_priors: tuple[Any, ...]
    strange: float | None
    strange_p: float
    expected: Interval | None
    observed: Interval | None
    worse: bool
    e_value: float | None
    stream_columns: tuple[str, ...]
    notes: tuple[str, ...]
    stream: bool = False
    expected_strange: float = STRANGE

    @property
    def moved(self) -> tuple[DriftTest, ...]:
        """The tests that say that something has moved, corrected for how many there are."""
        return tuple(test for test in self.tests if test.adjusted < OF_COLUMNS)

    @property
    def columns(self) -> Any:
        """All tests as a frame: column, what, old, new, z, p, adjusted."""
        return self.table.to_frame()

    @property
    def ok(self) -> bool:
        """Whether no drift was detected."""
        if self.stream:
            return self.e_value is None or self.e_value < ALARM
        strange = self.strange_p < OF_STRANGE
        return not (self.moved or self.moved_priors or strange or self.worse)

    @property
    def verdict(self) -> str:
        """What to think of it, in words."""
        if self.ok:
            return "no drift detected"
        if self.stream:
            where = f": {listed(self.stream_columns)}" if self.stream_columns else ""
            return f"the rows differ from the training rows{where}"
        said = []
        if self.moved:
            names = dict.fromkeys(test.column for test in self.moved)
            said.append(f"columns have drifted: {listed(names)}")
        if self.moved_priors:
            said.append(f"the class shares have changed: {listed(map(str, self.moved_priors))}")
        if self.strange is not None and self.strange_p < OF_STRANGE:
            said.append(f"{self.strange:.1%} of the rows look like none of the classes")
        if self.worse:
            said.append("the model is right less often than before")
        return "; ".join(said)

    @property
    def table(self) -> TextTable:
        """All tests, the most telling first."""
        return TextTable(
            "",
            (
                TableColumn("column"), TableColumn("what"), TableColumn("old", Significant(4)),
                TableColumn("new", Significant(4)), TableColumn("errors", Significant(3), name="z"),
                TableColumn("p", p_value), TableColumn("corrected", p_value, name="adjusted"),
            ),
            tuple(tuple(test) for test in self.tests),
        )  # fmt: skip

    @property
    def moved_table(self) -> TextTable:
        """The tests that say that something has moved."""
        return TextTable("", self.table.columns, tuple(map(tuple, self.moved)))

    def __str__(self) -> str:
        """Return the verdict, and what it rests on."""
        lines = [self._title]
        if self.moved:
            lines += ["", str(self.moved_table)]
        return "\n".join([*lines, *self._below()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        shown = replace(self.moved_table, title=self._title, notes=tuple(self._below()))
        return shown.to_html()

    def to_frame(self, library: str | None = None) -> Any:
        """Return all tests as a frame of pandas or polars, the most telling first."""
        return self.table.to_frame(library)

    @property
    def _title(self) -> str:
        return f"{self.rows:,.0f} rows: {self.verdict}"

    def _below(self) -> list[str]:
        """Return what stands below the columns that have moved."""
        lines = []
        if self.expected is not None:
            e = self.expected
            lines.append(f"expected accuracy {e.estimate:.3f} ({e.low:.3f} to {e.high:.3f})")
        if self.observed is not None:
            o = self.observed
            lines.append(f"accuracy {o.estimate:.3f} ({o.low:.3f} to {o.high:.3f})")
        if self.priors is not None:
            shares = [
                f"{label} {p:.3f} ({self.priors.intervals[label][0]:.3f} to "
                f"{self.priors.intervals[label][1]:.3f})"
                for label, p in self.priors.priors.items()
            ]
            lines.append("class shares: " + ", ".join(shares))
        if self.strange is not None:
            lines.append(
                f"rows that look like none of the classes: {self.strange:.2%} "
                f"({self.expected_strange:.2%} expected)"
            )
        if self.stream and self.e_value is not None:
            lines.append(f"e-value of the stream: {self.e_value:.3g} (alarm at {ALARM:g})")
        return [*lines, *self.notes]
