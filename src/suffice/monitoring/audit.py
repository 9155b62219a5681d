"""`suffice.audit`: labels that are probably wrong, and what else is wrong with a table."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting, SufficeError
from suffice.estimators.naive_bayes import NaiveBayes
from suffice.evaluation.labelled_rows import LabelledRows, rows_here
from suffice.monitoring.judges import MANY, judged
from suffice.monitoring.label_noise import WrongLabels, label_noise
from suffice.monitoring.table_faults import (
    Conflict,
    Leak,
    NearDuplicate,
    conflicts,
    equal_rows,
    leaks,
    near_duplicates,
    without_names,
)
from suffice.printing.result_table import Significant, TableColumn, TextTable
from suffice.rows import is_sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray

LISTED = 0.1
"""Odds from which on a row is listed: one in eleven such labels is wrong, at least."""
STRANGE = 0.001
"""Typicality below which a row is called like none of the classes: of a thousand rows one is."""
MOST_STRANGE_ROWS = 20_000
"""Rows of which it is asked how typical they are; of more it takes long."""


@dataclass(frozen=True, slots=True, eq=False)
class Audit:
    """What was found in labelled rows; rows count from 0, as they were given.

    odds             (n,) that a label is wrong, against that it is right
    likely           (n,) the likeliest class of each row, given its label too
    wrong_labels     how many labels are wrong: (estimate, low, high), in rows
    identified       whether that can be known: classes that overlap look like wrong labels
    conflicts        groups of equal rows with different labels
    near_duplicates  rows that all but say the same in different parts of a split
    leaks            columns that name rows, or tell the label alone
    strangers        rows like none of the classes
    judges           the share of every judge in the probabilities
    """

    odds: FloatArray
    likely: NDArray[np.generic]
    labels: NDArray[Any]
    wrong_labels: WrongLabels
    identified: bool
    conflicts: list[Conflict]
    near_duplicates: list[NearDuplicate]
    leaks: list[Leak]
    strangers: list[int]
    judges: dict[str, float]
    notes: tuple[str, ...]
    table: TextTable

    @property
    def suspects(self) -> Any:
        """Rows whose label is probably wrong, the most suspect first, as a frame.

        Columns: row, label, likely, odds, reasons. Odds above 1: more probably wrong than right.
        """
        return self.table.to_frame()

    @property
    def suspect_rows(self) -> list[int]:
        """The rows of `suspects`, in their order."""
        return [int(row[0]) for row in self.table.rows]  # type: ignore[call-overload]

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        shown = replace(self.table, title=self.sentence, notes=tuple(self.findings()))
        return shown.to_html()

    def to_frame(self, library: str | None = None) -> Any:
        """Return the suspect rows as a frame of pandas or polars, the most suspect first."""
        return self.table.to_frame(library)

    def __str__(self) -> str:
        """Return the findings as text."""
        lines = [self.sentence]
        if self.table.rows:
            lines += ["", str(self.table)]
        lines += ["", *self.findings()] if self.findings() else []
        return "\n".join(lines)

    @property
    def sentence(self) -> str:
        """How many labels are wrong, in words."""
        found = self.wrong_labels
        n = len(self.odds)
        said = (
            f"about {found.estimate:.0f} of {n:,} labels are wrong "
            f"(95 % interval {found.low:.0f} to {found.high:.0f})"
        )
        if not self.identified:
            said += (
                "; the classes overlap, so the rate cannot be determined: wrong labels look like "
                "overlap, and overlap like wrong labels"
            )
        return said

    def findings(self) -> list[str]:
        """Return everything besides single labels, a sentence each."""
        found = []
        if self.conflicts:
            rows = sum(len(each.rows) for each in self.conflicts)
            found.append(
                f"{rows} rows in {len(self.conflicts)} groups equal others with a different "
                "label: no model can distinguish them"
            )
        if self.near_duplicates:
            equal = sum(pair.equal for pair in self.near_duplicates)
            found.append(
                f"{len(self.near_duplicates)} pairs of rows are nearly identical in different "
                f"parts of the split ({equal} exactly): results measured there are too optimistic"
            )
        found += [f"column {leak.column}: {leak.why}" for leak in self.leaks]
        if self.strangers:
            found.append(
                f"rows that look like none of the classes (p < {STRANGE:g}): "
                f"{len(self.strangers)}, {STRANGE * len(self.odds):.2g} expected"
            )
        return [*found, *self.notes]


def audit(
    X: object,
    y: object = None,
    *,
    target: str | None = None,
    split: object = None,
    most: int | None = None,
) -> Audit:
    """Return which labels are probably wrong, how many, and what else is wrong with the rows.

    Every row is judged by models that have not seen it: predictive normal classes with shared and
    with own covariances, naive Bayes, and nearest neighbours, calibrated and averaged. A model of
    how labels go wrong turns what they say into odds.

    Parameters
    ----------
    X : array-like, frame, path or source
        Rows (n, d), with the labels or without.
    y : array-like, optional
        Labels (n,), where they are not a column of X.
    target : str, optional
        The column of labels.
    split : sequence of n names, optional
        The part of every row, such as "train" and "test": near-duplicates across parts are found.
    most : int, optional
        List so many suspects at most.

    Returns
    -------
    Audit
        `suspects` (a frame: row, label, likely, odds, reasons; most suspect first) and
        `wrong_labels` (estimate, low, high); `conflicts`, `near_duplicates`, `leaks`, `strangers`.

    See Also
    --------
    watch : Whether a model still fits new rows.
    compare : Which model to use.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> y[7], y[90] = 2, 0
    >>> found = audit(X, y)
    >>> sorted(found.suspect_rows[:2])
    [7, 90]
    >>> found.wrong_labels.low <= 2 <= found.wrong_labels.high
    True
    """
    here = rows_here(X, y, target, None, 0)
    rows = LabelledRows.read(here.X, here.y)
    n, k = len(rows), len(rows.classes)
    if most is not None and (isinstance(most, bool) or not isinstance(most, Integral) or most < 0):
        raise BadSetting(
            f"most={most!r} is not a number of rows", hint="use a whole number, or None"
        )
    told = without_names(rows.X)
    bayes = _naive_bayes(told, rows.codes)
    posterior, judges = judged(told, rows.codes, k, bayes)
    noise = label_noise(posterior, rows.codes)
    odds = noise.chance / np.maximum(1.0 - noise.chance, 1e-12)
    same = equal_rows(rows.X)
    strangers, p_values = _strangers(bayes, told, rows.codes)
    groups = conflicts(same, rows.y)
    likely = noise.true.argmax(axis=1)
    other = noise.true.copy()
    other[np.arange(n), rows.codes] = -1.0
    # What a suspect row probably is: the likeliest class besides its label.
    instead = other.argmax(axis=1)
    order = np.lexsort((np.arange(n), posterior[np.arange(n), rows.codes], -odds))
    chosen = [int(i) for i in order if odds[i] >= LISTED][:most]
    twins, labels = _twins(groups), rows.y
    listed_rows = tuple(
        (
            i, labels[i], rows.classes[instead[i]], float(odds[i]),
            _reasons(i, posterior, rows, instead, twins, p_values),
        )
        for i in chosen
    )  # fmt: skip
    notes = [*here.notes]
    if n > MANY:
        notes.append(
            f"with more than {MANY:,} rows the effect of leaving one out is not computed: it "
            f"would be too small to see"
        )
    table = TextTable(
        "",
        (
            TableColumn("row"), TableColumn("label"), TableColumn("likely"),
            TableColumn("odds", Significant(3)), TableColumn("reasons"),
        ),
        listed_rows,
    )  # fmt: skip
    pairs = [] if split is None else near_duplicates(rows.X, same, _parts(split, n))
    return Audit(
        odds, rows.classes[likely], labels, noise.wrong, noise.identified, groups, pairs,
        leaks(rows.X, rows.codes, k), strangers, judges, tuple(notes), table,
    )  # fmt: skip


def _parts(split: object, n: int) -> NDArray[Any]:
    found = np.asarray(split)
    if found.shape != (n,):
        raise BadSetting(
            f"split has the shape {found.shape} for {n} rows",
            hint='name the part of every row, such as "train" or "test"',
        )
    return found.astype(str)


def _naive_bayes(X: object, codes: IntArray) -> NaiveBayes | None:
    """Return naive Bayes of all rows: a judge, and what tells rows like none of the classes."""
    if is_sparse(X):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return NaiveBayes().fit(X, codes)
        except SufficeError:
            return None


def _strangers(
    bayes: NaiveBayes | None, X: object, codes: IntArray
) -> tuple[list[int], FloatArray | None]:
    """Return rows that are typical of no class, and how typical each row is of its best."""
    if bayes is None or len(codes) > MOST_STRANGE_ROWS:
        return [], None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = np.asarray(bayes.typicality(X, codes)).max(axis=1)
        except SufficeError:
            return [], None
    places = np.flatnonzero(found < STRANGE)
    return [int(i) for i in places[np.argsort(found[places], kind="stable")]], found


def _twins(groups: list[Conflict]) -> dict[int, Conflict]:
    return {row: group for group in groups for row in group.rows}


def _reasons(
    i: int,
    posterior: FloatArray,
    rows: LabelledRows,
    instead: IntArray,
    twins: dict[int, Conflict],
    p_values: FloatArray | None,
) -> str:
    """Return why a row is suspect, in words."""
    own, other = float(posterior[i, rows.codes[i]]), float(posterior[i, instead[i]])
    there = rows.classes[instead[i]]
    said = [f"its label has probability {own:.2g}, {there} {other:.2g}"]
    group = twins.get(i)
    if group is not None:
        own_label = rows.classes[rows.codes[i]]
        others = sum(label != own_label for label in group.labels)
        said.append(f"{others} of {len(group.rows)} equal rows have another label")
    if p_values is not None and p_values[i] < STRANGE:
        said.append(f"like none of the classes (p = {p_values[i]:.2g})")
    return "; ".join(said)
