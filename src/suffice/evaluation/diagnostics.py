"""What the generative models assume, looked at class by class."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import SufficeError, listed
from suffice.learning.learners.gaussian import GaussianClassifierLearner
from suffice.printing.result_table import Decimals, Significant, TableColumn, TextTable, p_value
from suffice.rows import CATEGORY, is_sparse, read_table

if TYPE_CHECKING:
    from suffice.evaluation.labelled_rows import LabelledRows
    from suffice.evaluation.normality import BoxM, Mardia
    from suffice.learning.learners.gaussian_answers import LearnedDiscriminant
    from suffice.rows import FloatArray, IntArray

OUTLYING = 0.001
"""A row is called an outlier of its class if its p-value is below this: one in a thousand is."""
MANY = 0.01
"""A share of outliers that is worth a word."""
MOST_COLUMNS = 300
"""Columns of numbers beyond which nothing is tested: it takes long, and needs many rows."""
MANY_ROWS = 500
"""Rows of a class from which on tests see what does not matter."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassDiagnostics:
    """One class: how many rows, how normal they look, and what share of them lies far out.

    complete   rows without a blank number: those that the tests are of
    mardia     skewness and kurtosis; None where there are too few rows
    outliers   the share of rows with a typicality below 0.001; None where there are too few rows
    """

    label: Any
    rows: float
    complete: float
    mardia: Mardia | None
    outliers: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Diagnostics:
    """Every class, and Box's test that all have one covariance.

    Parameters
    ----------
    classes : tuple of ClassDiagnostics
        The figures of each class.
    box : BoxM or None
        Box's test; None where rows are too few.
    columns : tuple of str
        The columns of numbers, which these figures are about; categories are not normal.
    failure : str, default=""
        Why there are no figures, where there could be some.

    See Also
    --------
    diagnose : Makes it.
    """

    classes: tuple[ClassDiagnostics, ...]
    box: BoxM | None
    columns: tuple[str, ...]
    failure: str = ""

    @property
    def table(self) -> TextTable:
        """The figures of every class, with a line on Box's M below."""
        cells = []
        for one in self.classes:
            found = one.mardia
            figures: tuple[object, ...] = (None,) * 5
            if found is not None:
                figures = (
                    found.skewness,
                    found.skewness_p,
                    found.kurtosis,
                    float(found.rank * (found.rank + 2)),
                    found.kurtosis_p,
                )
            outliers = None if one.outliers is None else 100.0 * one.outliers
            cells.append((one.label, one.rows, *figures, outliers))
        count = len(self.columns)
        title = f"Are the classes normal? {count:,} numeric column{'s' * (count != 1)}"
        return TextTable(title, COLUMNS, tuple(cells), self.notes)

    @property
    def notes(self) -> tuple[str, ...]:
        """What else is to be said of these figures."""
        if not self.columns:
            return ("There are no numeric columns, so normality does not apply.",)
        if self.failure:
            return (self.failure,)
        found = [
            (
                "Skewness and kurtosis are Mardia's: near 0 and near d(d + 2) for normal rows. "
                f"Outliers have a typicality below {OUTLYING:g}, like {100.0 * OUTLYING:.1f} % "
                "of normal rows."
            )
        ]
        if self.box is None:
            found.append("Box's M: too few rows for it, in all classes or all but one.")
        else:
            b = self.box
            left = len(self.classes) - b.groups
            without = f", without {left} class{'es' * (left > 1)} too small for it" if left else ""
            found.append(
                f"Box's M, that all classes have one covariance: {b.chi_square:.4g} on "
                f"{b.degrees_of_freedom:,} degrees of freedom, {chance(b.p_value)}{without}. "
                "The test is sensitive: it also rejects with many rows or heavy tails."
            )
        if any(one.complete < one.rows for one in self.classes):
            lost = sum(one.rows - one.complete for one in self.classes)
            found.append(f"Skewness, kurtosis and M leave out {lost:g} rows with blank cells.")
        return tuple(found)

    def __str__(self) -> str:
        """Return the table as text."""
        return str(self.table)


COLUMNS = (
    TableColumn("class"),
    TableColumn("rows", Decimals(0), name="rows"),
    TableColumn("skewness", Significant(3)),
    TableColumn("p", p_value, name="skewness_p"),
    TableColumn("kurtosis", Significant(4)),
    TableColumn("if normal", Significant(4), name="kurtosis_if_normal"),
    TableColumn("p", p_value, name="kurtosis_p"),
    TableColumn("outliers, %", Decimals(1), name="outliers_percent"),
)
"""The table. Digits are a choice: kurtosis has one more than skewness, for it is compared with its
value under a normal law, which is not 0."""


def diagnose(rows: LabelledRows) -> Diagnostics:
    """Test the numeric columns of every class for normality.

    Parameters
    ----------
    rows : LabelledRows
        Rows with labels.

    Returns
    -------
    Diagnostics
        Normality of every class, and whether they share a covariance.

    See Also
    --------
    mardia : The test of a class.
    box_m : The test of a shared covariance.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.evaluation.labelled_rows import LabelledRows
    >>> iris = load_iris()
    >>> found = diagnose(LabelledRows.read(iris.data, iris.target_names[iris.target]))
    >>> found.table.to_frame()[["class", "skewness_p", "kurtosis_p"]].round(3)
            class  skewness_p  kurtosis_p
    0      setosa       0.113       0.028
    1  versicolor       0.126       0.910
    2   virginica       0.098       0.434
    """
    matrix, names = _numbers(rows)
    if matrix is None:
        return _without_figures(rows, names)
    if len(names) > MOST_COLUMNS:
        return _without_figures(
            rows,
            names,
            f"Normality is not tested with more than {MOST_COLUMNS} numeric columns: it would "
            "take long.",
        )
    try:
        # Rows far out overflow on the way; what is not finite in the end is left out.
        with np.errstate(all="ignore"):
            return _diagnosed(matrix, names, rows)
    except (ArithmeticError, np.linalg.LinAlgError) as error:
        return _without_figures(rows, names, f"Normality could not be tested: {error}.")


def undiagnosed(rows: LabelledRows) -> Diagnostics:
    """Return how many rows the classes have, and nothing that takes time."""
    names = () if is_sparse(rows.X) else read_table(rows.X).names or ()
    return _without_figures(rows, names, "Normality was not tested.")


def _without_figures(rows: LabelledRows, names: tuple[str, ...], failure: str = "") -> Diagnostics:
    classes = tuple(
        ClassDiagnostics(label, float(n), float(n), None, None)
        for label, n in zip(rows.classes.tolist(), rows.counts, strict=True)
    )
    return Diagnostics(classes, None, names, failure)


def _diagnosed(matrix: FloatArray, names: tuple[str, ...], rows: LabelledRows) -> Diagnostics:
    from suffice.evaluation.normality import box_m, mardia

    w = np.ones(len(rows)) if rows.weights is None else rows.weights
    counts = rows.counts
    whole = np.isfinite(matrix).all(axis=1)
    groups, weights, found = [], [], []
    far = _outlying(matrix, rows)
    for c, label in enumerate(rows.classes.tolist()):
        own = rows.codes == c
        part = own & whole
        groups.append(matrix[part])
        weights.append(w[part])
        known = own & np.isfinite(far)
        share = float(np.average(far[known] < OUTLYING, weights=w[known])) if known.any() else None
        complete = float(w[part].sum())
        tested = mardia(matrix[part], w[part]) if part.any() else None
        found.append(ClassDiagnostics(label, float(counts[c]), complete, tested, share))
    return Diagnostics(tuple(found), box_m(groups, weights), names)


def _numbers(rows: LabelledRows) -> tuple[FloatArray | None, tuple[str, ...]]:
    """Return the columns that hold numbers and vary, and their names."""
    if is_sparse(rows.X):
        return None, ()
    table = read_table(rows.X)
    kept: IntArray = np.array(
        [j for j in range(table.width) if table.kinds[j] != CATEGORY], dtype=np.intp
    )
    columns = [np.asarray(table.column(int(j)), dtype=np.float64) for j in kept]
    there = [np.isfinite(column) for column in columns]
    varies = [bool(t.any() and np.ptp(c[t]) > 0.0) for c, t in zip(columns, there, strict=True)]
    if not any(varies):
        return None, ()
    names = table.names or tuple(f"x{j}" for j in range(table.width))
    chosen = [(names[int(j)], c) for j, c, v in zip(kept, columns, varies, strict=True) if v]
    return np.column_stack([c for _, c in chosen]), tuple(name for name, _ in chosen)


def _outlying(matrix: FloatArray, rows: LabelledRows) -> FloatArray:
    """Return the typicality of each row in its own class; NaN where there are too few rows."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learner = GaussianClassifierLearner("per-class")
            batch = learner.read(matrix, rows.codes, rows.weights)
            learned: LearnedDiscriminant = learner.learned(batch)  # type: ignore[assignment]
            p = learned.typicality(matrix, rows.codes, rows.weights)
    except SufficeError:
        return np.full(len(rows), np.nan)
    own: FloatArray = p[np.arange(len(rows)), rows.codes]
    return own


def chance(p: float) -> str:
    """Return a p-value as one says it.

    >>> chance(0.04951), chance(0.0)
    ('p = 0.0495', 'p < 1e-99')
    """
    text = p_value(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def assumed(found: Diagnostics) -> list[str]:
    """Return what these figures say about normal classes and one covariance, in words."""
    if not found.columns or found.failure:
        return []
    said = []
    tested = [one for one in found.classes if one.mardia is not None]
    not_normal = [
        str(one.label)
        for one in tested
        if one.mardia is not None and min(one.mardia.skewness_p, one.mardia.kurtosis_p) < 0.005
    ]
    if not_normal:
        large = all(one.rows >= MANY_ROWS for one in tested)
        seen = (
            " With so many rows the test also detects differences that do not matter."
            if large
            else ""
        )
        said.append(
            f"Numeric columns not normal in class: {listed(not_normal)} (Mardia, p < 0.01).{seen}"
        )
    elif tested:
        said.append(
            f"No evidence against normal classes in {len(tested)} of {len(found.classes)} "
            "(Mardia, p ≥ 0.01); this is not a proof."
        )
    if found.box is not None:
        p = chance(found.box.p_value)
        if found.box.p_value < 0.01:
            said.append(f"The covariances of the classes differ (Box's M, {p}; a sensitive test).")
        else:
            said.append(f"No evidence against one shared covariance (Box's M, {p}).")
    many = [o for o in found.classes if o.outliers is not None and o.outliers > MANY]
    if many:
        shares = listed(f"{o.label} {100.0 * (o.outliers or 0.0):.1f} %" for o in many)
        said.append(f"Outliers: {shares}, where normal rows would have {100 * OUTLYING:.1f} %.")
    return said
