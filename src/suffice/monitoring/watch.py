"""`suffice.watch`: whether a model still fits what comes in."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import stats

from suffice.errors import BadRows, BadSetting, SufficeError, listed
from suffice.learning.learned import Learned
from suffice.monitoring.column_facts import facts_of, facts_of_rows
from suffice.monitoring.drift_tests import (
    LEVEL,
    DriftTest,
    column_tests,
    holm,
    shape_tests,
    wilson,
)
from suffice.monitoring.kept_cells import (
    kept_labels,
    kept_numbers,
    left_out_gap,
    new_numbers,
)
from suffice.monitoring.streams import StreamBets
from suffice.printing.result_table import Significant, TableColumn, TextTable, p_value
from suffice.rows import read_labels, read_table

if TYPE_CHECKING:
    from suffice.models.label_shift import LabelShift
    from suffice.rows import FloatArray

STRANGE = 0.01
"""Typicality below which a row is like none of the classes: one in a hundred is anyway."""
FEW_ROWS = 30
"""Rows below which nothing is said about class shares: standard errors are for many."""
MOST_TYPICAL = 20_000
"""Rows of which it is asked how typical they are: a share is then known to a thousandth."""
ALARM = 20.0
"""The e-value of an alarm: reached by chance in one stream of twenty, at most, however long."""
MOST_LOOKED_AT = 50_000
"""Rows whose shape is looked at, from all over the batch: more say the same."""
MOST_FOR_SHARES = 5_000
"""Rows whose class shares are estimated: EM takes thousands of steps where classes look alike."""
MOST_STREAMED = 20_000
"""Rows of one batch that are bet on, one after the other."""
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
    moved_priors: tuple[object, ...]
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
        """Whether nothing has moved that these rows can show."""
        if self.stream:
            return self.e_value is None or self.e_value < ALARM
        strange = self.strange_p < OF_STRANGE
        return not (self.moved or self.moved_priors or strange or self.worse)

    @property
    def verdict(self) -> str:
        """What to think of it, in words."""
        if self.ok:
            return "no drift that these rows can show"
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

    def __str__(self) -> str:
        """Return the verdict, and what it rests on."""
        lines = [f"{self.rows:,.0f} rows: {self.verdict}"]
        if self.moved:
            lines += ["", str(TextTable("", self.table.columns, tuple(map(tuple, self.moved))))]
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
        return "\n".join([*lines, *self.notes])


def watch(
    model: Any,
    rows: Any,
    y: object = None,
    *,
    target: str | None = None,
    stream: bool = False,
) -> Watch:
    """Return whether a model still fits new rows: what has moved, and by how much.

    Parameters
    ----------
    model : estimator, path of a model file
        Of its statistics, and of the rows that it keeps (`calibration_rows`), if any.
    rows : rows, or another model
        New rows in the model's columns; or a model of them, whose statistics are compared.
    y, target : labels, or the name of their column, optional
        Where labels are known, the accuracy is compared with the expected one.
    stream : bool
        Let the verdict be that of e-values alone, for rows in the order in which they came: it may
        be asked for after every row, and is false in one stream of twenty at most, ever. Without
        it, one look at one batch is false with a chance of one in twenty. Needs kept rows.

    Returns
    -------
    Watch
        `verdict` in words and `ok`; `columns`, a frame of all tests; `priors`, `strange`,
        `expected` and `observed` accuracy, `e_value`, `notes`.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice import GaussianDiscriminant
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(400) % 2
    >>> X = rng.normal(size=(400, 2)) + 2 * y[:, None]
    >>> model = GaussianDiscriminant(calibration_rows=200).fit(X, y)
    >>> watch(model, X[100:300] + [0.0, 1.0]).verdict[:24]
    'columns have moved: x1; '
    """
    learned = _learned(model)
    old = facts_of(learned)
    if _is_model(rows):
        other = _learned(rows)
        tests = holm(column_tests(old, facts_of(other)))
        weight = float(other.model.weights.sum())
        note = "two models: columns by their means, levels and blanks; shape needs rows"
        return Watch(
            weight, tuple(tests), None, (), None, 1.0, None, None, False, None, (), (note,)
        )
    if target is not None and hasattr(rows, "columns") and target in list(rows.columns):
        y = rows[target]
        rows = rows[[name for name in rows.columns if name != target]]
    table = read_table(rows)
    if table.size < 1:
        raise BadRows("there are no rows to check", hint="give at least one row")
    notes = []
    posterior = np.asarray(
        learned.posterior(table)
    )  # first: a cell that is not a number is refused
    tests = column_tests(old, facts_of_rows(learned, table))
    kept, e_value = kept_numbers(learned), None
    named: tuple[str, ...] = ()
    if kept is None or not kept.cells.shape[1]:
        notes.append(
            "the model keeps no rows: only means, levels and blanks are compared; spread, shape, "
            "streams and expected "
            "accuracy need calibration_rows"
        )
    else:
        new = new_numbers(learned, table)
        both = [name for name in kept.names if name in new.names]
        was = kept.cells[:, [kept.names.index(name) for name in both]]
        now = new.cells[:, [new.names.index(name) for name in both]]
        tests += shape_tests(both, was, now[:: -(-len(now) // MOST_LOOKED_AT)])
        if stream:
            bets = StreamBets.against(both, was)
            e_value = bets.take(now[:MOST_STREAMED])
            named = tuple(bets.columns_at(LEVEL))
            if table.size > MOST_STREAMED:
                notes.append(f"the first {MOST_STREAMED:,} rows were tested as a stream")
    if stream and e_value is None:
        raise BadSetting(
            "testing a stream needs rows kept in the model, and this one keeps none",
            hint="fit with calibration_rows (--calibration-rows)",
        )
    priors, moved = _priors(learned, table)
    strange, by_chance, strange_p = _strange(learned, table)
    expected = _expected(learned, posterior)
    observed, worse = _observed(learned, posterior, y, expected)
    notes.append(
        "Rows without labels cannot show a change of p(y | x). These tests also miss slow drift "
        "that is part of the reference, and assume that rows do not depend on each other in time."
    )
    return Watch(
        float(table.size), tuple(holm(tests)), priors, moved, strange, strange_p,
        expected, observed, worse, e_value, named, tuple(notes), stream, by_chance,
    )  # fmt: skip


def _is_model(rows: object) -> bool:
    if isinstance(rows, Learned) or hasattr(rows, "learned_"):
        return True
    return isinstance(rows, (str, Path))


def _learned(model: object) -> Any:
    """Return what a model has learned, be it a file, an estimator or that itself."""
    if isinstance(model, (str, Path)):
        from suffice.estimators.load import load

        model = load(model)
    if isinstance(model, Learned):
        return model
    found = getattr(model, "learned_", None)
    if found is None:
        raise BadSetting(
            f"a {type(model).__name__} cannot be checked for drift",
            hint="give a classifier, or its file",
        )
    return found


def _priors(learned: Any, table: Any) -> tuple[LabelShift | None, tuple[Any, ...]]:
    """Return class priors of new rows, and classes whose old share is far outside."""
    if not learned.offers("estimate_priors") or len(learned.labels) < 2 or table.size < FEW_ROWS:
        return None, ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            step = -(-table.size // MOST_FOR_SHARES)
            some = table if step == 1 else table.rows(np.arange(0, table.size, step))
            found: LabelShift = learned.estimate_priors(some)
        except SufficeError:
            return None, ()
    weights = learned.model.weights
    total, moved = float(weights.sum()), []
    level = OF_PRIORS / len(learned.labels)
    for label, weight in zip(learned.labels, weights.tolist(), strict=True):
        share = weight / total
        error = found.standard_errors[label]
        error = np.sqrt(error * error + share * (1.0 - share) / total)
        gap = abs(found.priors[label] - share)
        if error > 0.0 and 2.0 * stats.norm.sf(gap / error) < level:
            moved.append(label)
    return found, tuple(moved)


def _strange(learned: Any, table: Any) -> tuple[float | None, float, float]:
    """Return the share of rows typical of no class, that of kept rows, and how far they differ.

    The last is a p-value; 1 where no kept rows tell how many there were: under heavy tails far more
    rows look strange than a normal law expects, before anything has moved.
    """
    if not learned.offers("typicality"):
        return None, STRANGE, 1.0
    some = table if table.size <= MOST_TYPICAL else table.rows(np.arange(MOST_TYPICAL))
    kept = kept_numbers(learned)
    plain = kept is not None and learned.columns.is_plain
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = np.asarray(learned.typicality(some)).max(axis=1)
            now = found < STRANGE
            if not plain or kept is None or kept.cells.shape[1] != len(learned.columns.names):
                return float(now.mean()), STRANGE, 1.0
            was = np.asarray(learned.typicality(kept.cells, kept_labels(learned))).max(axis=1)
        except SufficeError:
            return None, STRANGE, 1.0
    then = was < STRANGE
    table_of = [[int(now.sum()), int((~now).sum())], [int(then.sum()), int((~then).sum())]]
    p = float(stats.fisher_exact(table_of, alternative="greater")[1])
    return float(now.mean()), float(then.mean()), p


def _expected(learned: object, posterior: FloatArray) -> Interval | None:
    """Return the accuracy that posteriors promise, corrected by kept rows that were left out."""
    gap = left_out_gap(learned)
    if gap is None:
        return None
    gaps, _ = gap
    sure = posterior.max(axis=1)
    middle = float(sure.mean() + gaps.mean())
    spread = float((sure * (1.0 - sure)).mean()) / len(sure) + float(gaps.var()) / len(gaps)
    half = 1.96 * np.sqrt(spread)
    return Interval(min(max(middle, 0.0), 1.0), max(0.0, middle - half), min(1.0, middle + half))


def _observed(
    learned: Any, posterior: FloatArray, y: object, expected: Interval | None
) -> tuple[Interval | None, bool]:
    """Return the accuracy on labelled rows, and whether it is below the expected one."""
    if y is None:
        return None, False
    labels = read_labels(y)
    if len(labels.codes) != len(posterior):
        raise BadSetting(
            f"there are {len(labels.codes)} labels for {len(posterior)} rows",
            hint="give one label for each row",
        )
    known = {str(label): c for c, label in enumerate(learned.classes.tolist())}
    places = np.array([known.get(str(label), -1) for label in labels.classes.tolist()])
    right = posterior.argmax(axis=1) == places[labels.codes]
    low, high = wilson(float(right.sum()), float(len(right)))
    found = Interval(float(right.mean()), low, high)
    return found, expected is not None and high < expected.low
