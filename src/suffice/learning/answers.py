"""What was learned of p(x | y): densities, samples, priors, and what stands behind the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.columns.shown import shown_within
from suffice.errors import (
    BadLabels,
    BadRows,
    BadSetting,
    SufficeError,
    listed,
    meant,
)
from suffice.learning.label_types import check_label_kinds, label_kind
from suffice.learning.labelled_batch import taken
from suffice.learning.learned import Learned
from suffice.learning.learner import F, S
from suffice.rows import check_lengths, read_labels, read_table, read_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from suffice.columns.shown import ColumnShown
    from suffice.learning.labelled_batch import LabelledBatch
    from suffice.models.label_shift import LabelShift
    from suffice.models.left_out import LeaveOneOut
    from suffice.rows import FloatArray, IntArray, Label

    Pair = tuple[IntArray, IntArray]


@dataclass(frozen=True, eq=False)
class LearnedDensity(Learned[S, F]):
    """What was learned of rows and labels together: it can be asked about p(x) too."""

    def log_joint(self, X: object) -> FloatArray:
        """Return log p(x, y), one column a class."""
        log_joint: Callable[[object], FloatArray] = self.model.log_joint
        return self.asked(X, log_joint)

    def log_density(self, X: object) -> FloatArray:
        """Return log p(x), the evidence."""
        log_density: Callable[[object], FloatArray] = self.model.log_density
        return self.asked(X, log_density)

    def given_back(self, rows: Any) -> object:
        """Return rows as the user gave them: a frame of the same library, categories decoded."""
        raise NotImplementedError

    @property
    def dated(self) -> tuple[str, ...]:
        """The columns of dates that the table has as numbers: in frames they come back as dates."""
        spellings = {} if self.notes is None else self.notes.spellings
        return tuple(name for name, one in spellings.items() if one.is_serial)

    def shown_within(self, within: object) -> Mapping[str, ColumnShown] | None:
        """Return what drawn numbers have to keep to, by column; None: to nothing.

        `within` is what `sample` is told: "auto", "training", None, or rows.
        """
        return shown_within(
            within,
            None if self.notes is None else self.notes.shown,
            lambda: self.columns.matched(self.as_learned(read_table(within)), self.learner.name),
        )

    def estimate_priors(self, X: object) -> LabelShift:
        """Return the class priors of unlabelled rows, with standard errors (Saerens' EM)."""
        from suffice.models.label_shift import estimate_priors

        return self.asked(X, lambda rows: estimate_priors(self.model, rows))

    # Labels

    def label_codes(self, y: object, size: int) -> IntArray | None:
        """Return the positions of labels in `classes_`; None when there are no labels."""
        if y is None:
            return None
        labels = read_labels(y)
        check_lengths(size, len(labels.codes))
        check_label_kinds(self.kind, label_kind(labels.classes))
        return self._codes(tuple(labels.classes.tolist()), labels.codes)

    def gone(self, y: object, sample_weight: object, size: int) -> FloatArray | None:
        """Return the weights with which rows were in the fit, None where that is 1."""
        weights = read_weights(sample_weight, size)
        if sample_weight is not None and y is None:
            raise BadSetting(
                "sample_weight is given without y: new rows have no weight",
                hint="give y, the labels of rows that were in the fit, or leave both out",
            )
        return weights

    def _codes(self, labels: tuple[Label, ...], codes: IntArray) -> IntArray:
        """Translate codes of a batch into positions in `classes_`."""
        known = {label: i for i, label in enumerate(self.labels)}
        unknown = [label for label in labels if label not in known]
        if unknown:
            raise BadLabels(
                f"{listed(map(repr, unknown))} is not a class of this model",
                hint=f"the classes are {listed(known)}",
            )
        found: IntArray = np.array([known[label] for label in labels], dtype=np.intp)[codes]
        return found

    # Each row as if never seen

    def codes_of_fit(self, batch: LabelledBatch) -> IntArray:
        """Return the classes of rows that may be those of the fit: their weight is."""
        check_label_kinds(self.kind, label_kind(batch.classes))
        if batch.columns != self.columns:
            raise BadRows(
                "these rows have categories that were never learned",
                hint="leave-one-out needs exactly the rows of the fit",
            )
        codes = self._codes(batch.labels, batch.codes)
        weight = float(len(codes) if batch.weights is None else batch.weights.sum())
        fitted = float(self.model.weights.sum())
        if abs(weight - fitted) > 1e-9 * weight:
            raise BadSetting(
                f"these rows have weight {weight:g}, the model was fitted on {fitted:g}",
                hint="leave-one-out needs exactly the rows of the fit",
            )
        return codes

    def with_weightless(
        self, found: LeaveOneOut, batch: LabelledBatch, X: object, y: object
    ) -> LeaveOneOut:
        """Return one judgement for every row that was given, also for those of weight zero.

        These are answered as new rows: there is nothing of them to take out. Where the label of
        such a row names no class of the model, its code is -1 and the row has `vanished`.
        """
        found = replace(found, labels=self.labels)
        if batch.places is None:
            return found
        from suffice.models.left_out import LeaveOneOut

        size = len(X) if isinstance(X, (list, tuple)) else int(X.shape[0])  # type: ignore[attr-defined]
        rest = np.setdiff1d(np.arange(size), batch.places)
        try:
            log_posterior = self.posterior(taken(X, rest), log=True)
        except SufficeError as error:
            raise error.filled(rows=rest) from None
        known = {label: i for i, label in enumerate(self.labels)}
        codes = np.array([_known(label, known) for label in taken(y, rest)], dtype=np.intp)
        new = LeaveOneOut(log_posterior, codes, np.zeros(len(rest)), codes < 0)
        joined = LeaveOneOut.joined([found, new])
        order = np.argsort(np.concatenate([batch.places, rest]))
        return replace(
            joined,
            log_posterior=joined.log_posterior[order],
            codes=joined.codes[order],
            weights=joined.weights[order],
            vanished=joined.vanished[order],
        )


def _known(label: object, known: dict[object, int]) -> int:
    """Return the place of a label's class, -1 if it names none."""
    plain = label.as_py() if hasattr(label, "as_py") else label  # Arrow's scalars
    try:
        return known.get(plain.item() if isinstance(plain, np.generic) else plain, -1)
    except TypeError:
        return -1


def comparison(
    labels: tuple[Label, ...], of: Label | None, against: Label | None
) -> Callable[[FloatArray], Pair]:
    """Return the function from scores (n, k) to the two classes that each row compares.

    By default the likeliest with the runner-up; a class named is the same for all rows.
    Refuses, before any row is read, what cannot be compared.
    """
    if len(labels) < 2:
        raise BadSetting("with one class there are no odds to explain", hint="learn a second class")
    for name in (of, against):
        if name is not None:
            place_of(name, labels)
    if of is not None and of == against:
        raise BadSetting(f"{of!r} against itself", hint="compare two different classes")

    def compared(scores: FloatArray) -> Pair:
        n = len(scores)
        first = np.full(n, -1) if of is None else np.full(n, labels.index(of))
        second = np.full(n, -1) if against is None else np.full(n, labels.index(against))
        order = np.argsort(-scores, axis=1, kind="stable")
        if of is None:
            first = np.where(order[:, 0] == second, order[:, 1], order[:, 0])
        if against is None:
            second = np.where(order[:, 0] == first, order[:, 1], order[:, 0])
        return first.astype(np.intp), second.astype(np.intp)

    return compared


def place_of(label: Label, labels: tuple[Label, ...]) -> int:
    """Return where a class stands, or refuse a name that is none."""
    if label not in labels:
        raise BadSetting(
            f"there is no class {label!r}",
            hint=f"{meant(label, labels)}the classes are {listed(labels)}",
        )
    return labels.index(label)


def checked_size(n: object) -> int:
    """Return how many rows to draw, or refuse what is not a number of rows."""
    if isinstance(n, Real) and not isinstance(n, bool):
        number = float(n)
        if 0.0 <= number < 2.0**53 and number.is_integer():
            return int(number)
    raise BadSetting(f"cannot draw {n!r} rows", hint="use a whole number of at least 0 for n")
