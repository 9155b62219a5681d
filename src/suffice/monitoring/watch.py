"""`suffice.watch`: whether a model still fits what comes in."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadRows, BadSetting, SufficeError, listed
from suffice.learning.learned import Learned
from suffice.monitoring.bin_tests import bin_tests, bins_of, bins_of_rows, coarse_columns
from suffice.monitoring.column_facts import ColumnFact, facts_of, facts_of_rows
from suffice.monitoring.drift_tests import (
    LEVEL,
    column_tests,
    holm,
    shape_tests,
    wilson,
)
from suffice.monitoring.expected_accuracy import expected_accuracy, share_tests
from suffice.monitoring.kept_cells import (
    kept_labels,
    kept_numbers,
    left_out_posteriors,
    new_numbers,
)
from suffice.monitoring.new_rows import names_model, rows_of_tables
from suffice.monitoring.p_values import of_counts
from suffice.monitoring.streams import StreamBets
from suffice.monitoring.watch_result import OF_PRIORS, STRANGE, Interval, Watch
from suffice.rows import read_labels, read_table
from suffice.tables.table_reading import TableReading
from suffice.training.saved_models import load_saved
from suffice.training.table_columns.typical_rows import calibrated

if TYPE_CHECKING:
    from suffice.models.label_shift import LabelShift
    from suffice.monitoring.kept_cells import LeftOut
    from suffice.rows import FloatArray, Table
    from suffice.statistics.quantile_bins import ColumnBins

FEW_ROWS = 30
"""Rows below which nothing is said about class shares: standard errors are for many."""
MOST_TYPICAL = 20_000
"""Rows of which it is asked how typical they are: a share is then known to a thousandth."""
MOST_LOOKED_AT = 50_000
"""Rows whose shape is looked at, from all over the batch: more say the same."""
MOST_FOR_SHARES = 5_000
"""Rows whose class shares are estimated: EM takes thousands of steps where classes look alike."""
MOST_STREAMED = 1_000_000
"""Rows of one batch that are bet on, in their order: with 50 columns that is most of a minute."""


def watch(
    model: object,
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
    rows : rows, path of a table, or another model
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

    See Also
    --------
    audit : Which labels are probably wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice import GaussianDiscriminant
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(400) % 2
    >>> X = rng.normal(size=(400, 2)) + 2 * y[:, None]
    >>> model = GaussianDiscriminant(calibration_rows=200).fit(X, y)
    >>> watch(model, X[100:300] + [0.0, 1.0]).verdict[:24]
    'columns have drifted: x1'
    """
    learned = _learned(model)
    old, bins = _facts(learned), bins_of(learned)
    if _is_model(rows):
        return between_models(learned, _learned(rows))
    notes: list[str] = []
    table, y = _rows_and_labels(learned, rows, y, target, notes)
    posterior = np.asarray(
        learned.posterior(table)
    )  # first: a cell that is not a number is refused
    tests = [] if old is None else column_tests(old, facts_of_rows(learned, table))
    if bins is not None:
        tests += bin_tests(bins, bins_of_rows(learned, bins, table), blanks=old is None)
        notes += _of_part(learned, bins)
    kept, e_value = kept_numbers(learned), None
    named: tuple[str, ...] = ()
    if kept is None or not kept.cells.shape[1]:
        notes.append(
            "the model keeps no rows: only means, levels and blanks are compared; spread, shape, "
            "streams and expected "
            "accuracy need calibration_rows"
            if bins is None
            else "no rows are kept: streams and expected accuracy need calibration_rows"
        )
    else:
        new = new_numbers(learned, table)
        both = [name for name in kept.names if name in new.names]
        was = kept.cells[:, [kept.names.index(name) for name in both]]
        now = new.cells[:, [new.names.index(name) for name in both]]
        if bins is None:  # the shares of levels say what indicators would
            some = [j for j, name in enumerate(both) if name in learned.columns.names]
            step = -(-len(now) // MOST_LOOKED_AT)
            tests += shape_tests([both[j] for j in some], was[:, some], now[::step, some])
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
    judged = left_out_posteriors(learned)
    priors, moved = _priors(learned, table), _moved_shares(learned, judged, posterior)
    if priors is not None and moved is None:
        notes.append(
            "class shares are estimated and not tested: kept rows (calibration_rows) would tell "
            "how far the model misses them where nothing has moved"
        )
    strange, by_chance, strange_p = _strange(learned, table)
    expected = None if judged is None else expected_accuracy(judged, posterior)
    if expected is not None:
        notes.append(
            "the expected accuracy assumes that p(y | x) is unchanged; its interval also covers an "
            "unchanged p(x | y) with other class shares"
        )
    observed, worse = _observed(learned, posterior, y, expected, notes)
    notes.append(
        "Rows without labels cannot show a change of p(y | x). These tests also miss slow drift "
        "that is part of the reference, and assume that rows do not depend on each other in time."
    )
    return Watch(
        float(table.size), tuple(holm(tests)), priors, moved or (), strange, strange_p,
        expected, observed, worse, e_value, named, tuple(notes), stream, by_chance,
    )  # fmt: skip


def _rows_and_labels(
    learned: Learned, rows: Any, y: object, target: str | None, notes: list[str]
) -> tuple[Table, object]:
    """Return new rows and their labels, wherever they are; what is to be said of them is noted."""
    if isinstance(rows, (str, Path)):
        rows, known = rows_of_tables(learned, [str(rows)], TableReading(), notes.append, target)
        return rows, known if y is None else y
    if target is not None and hasattr(rows, "columns") and target in list(rows.columns):
        y = rows[target]
        rows = rows[[name for name in rows.columns if name != target]]
    table = read_table(rows)
    if table.size < 1:
        raise BadRows("there are no rows to check", hint="give at least one row")
    return table, y


def _facts(learned: object) -> list[ColumnFact] | None:
    """Return what statistics say of columns; None where only the bins of a file do."""
    try:
        return facts_of(learned)
    except BadSetting:
        if bins_of(learned) is None:
            raise
        return None


def _of_part(learned: object, bins: ColumnBins) -> list[str]:
    """Say that bins hold some of the rows only, where they do."""
    total = _rows(learned, bins)
    if abs(total - bins.bins.weight) <= 1e-9 * total:
        return []
    return [f"spread and shape are known of {bins.bins.weight:,.6g} of {total:,.6g} rows"]


def _rows(learned: Any, bins: ColumnBins | None) -> float:
    """Return how many rows a model has learned, as far as it knows."""
    known = learned.about().get("rows")
    if known is None:
        return 0.0 if bins is None else bins.bins.weight
    return float(known)


def between_models(learned: Learned, other: Learned) -> Watch:
    """Return which columns have moved from one model to another, all classes together.

    By means, levels and blanks of their statistics, and by the bins of their files: no rows are
    needed. Rows that both have learned are taken for different ones.
    """
    facts, bins = (_facts(learned), _facts(other)), (bins_of(learned), bins_of(other))
    known = facts[0] is not None and facts[1] is not None
    tests = column_tests(facts[0] or (), facts[1] or ()) if known else []
    if bins[0] is None or bins[1] is None:
        notes = ["two models: columns by their means, levels and blanks; shape needs rows"]
    else:
        tests += bin_tests(bins[0], bins[1], blanks=not known)
        notes = [*_of_part(learned, bins[0]), *_of_part(other, bins[1])]
        coarse = coarse_columns(bins[0], bins[1])
        if coarse:
            notes.append(
                "bins differ between the two models, so only those that both have are compared: "
                f"{listed(coarse)}"
            )
    return Watch(
        _rows(other, bins[1]),
        tuple(holm(tests)),
        None,
        (),
        None,
        1.0,
        None,
        None,
        False,
        None,
        (),
        tuple(notes),
    )


def _is_model(rows: object) -> bool:
    return isinstance(rows, Learned) or hasattr(rows, "learned_") or names_model(rows)


def _learned(model: object) -> Any:
    """Return what a model has learned, be it a file, an estimator or that itself."""
    if isinstance(model, (str, Path)):
        return load_saved(Path(model)).model
    if isinstance(model, Learned):
        return model
    found = getattr(model, "learned_", None)
    if found is None:
        raise BadSetting(
            f"a {type(model).__name__} cannot be checked for drift",
            hint="give a classifier, or its file",
        )
    return found


def _priors(learned: Any, table: Any) -> LabelShift | None:
    """Return class priors of new rows, as far as the model can tell them."""
    if not learned.offers("estimate_priors") or len(learned.labels) < 2 or table.size < FEW_ROWS:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            step = -(-table.size // MOST_FOR_SHARES)
            some = table if step == 1 else table.rows(np.arange(0, table.size, step))
            found: LabelShift = learned.estimate_priors(some)
        except SufficeError:
            return None
    return found


def _moved_shares(
    learned: Any, judged: LeftOut | None, posterior: FloatArray
) -> tuple[Any, ...] | None:
    """Return classes that are more or less likely than among kept rows; None without any."""
    if judged is None or len(posterior) < FEW_ROWS or len(learned.labels) < 2:
        return None
    moved = share_tests(judged, posterior) < OF_PRIORS / len(learned.labels)
    return tuple(learned.classes[moved].tolist())


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
            if kept is None and learned.notes is not None and learned.notes.rates is not None:
                return _beyond(learned, some)
            found = np.asarray(learned.typicality(some)).max(axis=1)
            now = found < STRANGE
            if not plain or kept is None or kept.cells.shape[1] != len(learned.columns.names):
                return float(now.mean()), STRANGE, 1.0
            was = np.asarray(learned.typicality(kept.cells, kept_labels(learned))).max(axis=1)
        except SufficeError:
            return None, STRANGE, 1.0
    then = was < STRANGE
    table_of = [[int(now.sum()), int((~now).sum())], [int(then.sum()), int((~then).sum())]]
    p = of_counts(np.array(table_of, dtype=np.float64), more=True)
    return float(now.mean()), float(then.mean()), p


def _beyond(learned: Any, table: Table) -> tuple[float, float, float]:
    """Return the same by how far out training rows lay, each of a model of the others.

    The file has counted them: one in a hundred is expected, whatever the law.
    """
    now = calibrated(learned, table)[1] < STRANGE
    tried = learned.notes.rates.size
    then = round(STRANGE * tried)
    table_of = [[int(now.sum()), int((~now).sum())], [then, tried - then]]
    p = of_counts(np.array(table_of, dtype=np.float64), more=True)
    return float(now.mean()), STRANGE, p


def _observed(
    learned: Any,
    posterior: FloatArray,
    y: object,
    expected: Interval | None,
    notes: list[str],
) -> tuple[Interval | None, bool]:
    """Return the accuracy on labelled rows, and whether it is below the expected one.

    Labels that the model does not know are wrong, and noted.
    """
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
    strange = [label for label in labels.classes.tolist() if str(label) not in known]
    if strange:
        rows = int((places[labels.codes] < 0).sum())
        notes.append(f"labels that the model does not know: {listed(strange)} (rows: {rows:,})")
    right = posterior.argmax(axis=1) == places[labels.codes]
    low, high = wilson(float(right.sum()), float(len(right)))
    found = Interval(float(right.mean()), low, high)
    return found, expected is not None and high < expected.low
