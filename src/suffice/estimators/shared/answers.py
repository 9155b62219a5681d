"""Samples, priors and the checks behind explanations and leave-one-out, for every kind of model."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import (
    Approximation,
    BadLabels,
    BadSetting,
    NotFinite,
    SufficeError,
    listed,
    meant,
    warn,
)
from suffice.estimators.shared.accuracy import Accuracy
from suffice.estimators.shared.labelled_batch import FLOAT64, naming_cells
from suffice.estimators.shared.learned import Learned, kept
from suffice.estimators.shared.randomness import random_generator
from suffice.estimators.shared.state import check_label_kinds, label_kind
from suffice.estimators.shared.zero_weights import taken
from suffice.models.gaussian.leave_one_out.leave_one_out import LeaveOneOut
from suffice.models.label_shift import LabelShift, estimate_priors
from suffice.rows import check_lengths, read_labels, read_weights

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol, TypeVar

    from numpy.typing import NDArray

    from suffice.estimators.shared.labelled_batch import LabelledBatch
    from suffice.rows import FloatArray, IntArray, Label

    Pair = tuple[IntArray, IntArray]
    T = TypeVar("T")

    class Lean(Protocol):
        """A model made ready for single rows of float64; None is no answer: take the usual way."""

        def predict(self, row: FloatArray) -> NDArray[Any] | None: ...  # noqa: D102
        def posterior(self, row: FloatArray) -> FloatArray | None: ...  # noqa: D102


class Predictions(Accuracy, Learned):
    """Bayes' rule, asked about rows; one row of floats has a way of its own."""

    # What a kind of model says about rows

    @abstractmethod
    def _rows(self, X: object) -> Any:
        """Return rows coded as at fit."""

    def _one_row(self) -> Lean | None:
        """Return the model made ready for single rows, or None where that does not pay."""
        return None

    def _asked(self, X: object, answer: Callable[[Any], T]) -> T:
        """Answer about rows; a cell that is not finite is refused by name."""
        rows = self._rows(X)
        try:
            return answer(rows)
        except NotFinite as error:
            raise naming_cells(error, rows, self._require().columns) from None

    # Posteriors

    def predict(self, X: object) -> NDArray[Any]:
        """Return the likeliest class of each row."""
        lean = self._lean(X)
        answer = None if lean is None else lean.predict(X)  # type: ignore[arg-type]
        if answer is not None:
            return answer
        whole = self._whole()
        model, classes = whole._fit.model, whole.classes_
        return whole._asked(X, lambda rows: model.chosen(rows, classes))

    def predict_proba(self, X: object) -> FloatArray:
        """Return p(y | x), one column a class."""
        lean = self._lean(X)
        answer = None if lean is None else lean.posterior(X)  # type: ignore[arg-type]
        if answer is not None:
            return answer
        whole = self._whole()
        posterior: Callable[[Any], FloatArray] = whole._fit.model.posterior
        return whole._asked(X, posterior)

    def _lean(self, X: object) -> Lean | None:
        """The model made ready for single rows, if X is one, under the settings of this moment."""
        if not (type(X) is np.ndarray and X.ndim == 2 and len(X) == 1 and X.dtype is FLOAT64):
            return None
        # A call less here is a fiftieth of a prediction.
        state = self._state if self._waiting is None else self._known()
        if state is None:
            return None
        key = self._settings_key()
        held, ready = state.lean
        try:
            if held == key:
                return ready  # type: ignore[no-any-return]
        except ValueError:
            pass  # as in `unchanged`
        ready = self._with_state(state)._one_row()  # whatever is learned meanwhile
        state.lean = (kept(key), ready)
        return ready

    def predict_log_proba(self, X: object) -> FloatArray:
        """Return log p(y | x); far away it stays finite and ordered."""
        whole = self._whole()
        posterior: Callable[..., FloatArray] = whole._fit.model.posterior
        return whole._asked(X, lambda rows: posterior(rows, log=True))

    def decision_function(self, X: object) -> FloatArray:
        """Return the log odds of the second class against the first, or scores (n, k).

        With more than two classes the scores are log p(y | x): differences are log odds.
        """
        log_posterior = self.predict_log_proba(X)
        if log_posterior.shape[1] != 2:
            return log_posterior
        with np.errstate(invalid="ignore"):
            odds: FloatArray = log_posterior[:, 1] - log_posterior[:, 0]
        return odds

    # Densities

    def log_joint(self, X: object) -> FloatArray:
        """Return log p(x, y), one column a class."""
        whole = self._whole()
        log_joint: Callable[[Any], FloatArray] = whole._fit.model.log_joint
        return whole._asked(X, log_joint)

    def log_density(self, X: object) -> FloatArray:
        """Return log p(x), the evidence."""
        whole = self._whole()
        log_density: Callable[[Any], FloatArray] = whole._fit.model.log_density
        return whole._asked(X, log_density)


class Answers(Predictions):
    """What every fitted model answers besides predictions: nothing here learns anything."""

    @abstractmethod
    def _given_back(self, rows: FloatArray) -> Any:
        """Return rows as the user gave them: a frame of the same library, categories decoded."""

    def sample(
        self, n: int = 1, y: Label | None = None, random_state: object = None
    ) -> tuple[Any, NDArray[Any]]:
        """Draw rows and their labels; of one class if `y` names it.

        Rows come back as they were given: as a frame of the same library, categories decoded.
        """
        size = checked_size(n)
        whole = self._whole()
        model = whole._fit.model
        rng = random_generator(random_state)
        rows, codes = model.sample(size, rng, y)
        return whole._given_back(rows), whole.classes_[codes]

    def estimate_priors(self, X: object) -> LabelShift:
        """Return the class priors of unlabelled rows, with standard errors (Saerens' EM)."""
        whole = self._whole()
        model = whole._fit.model
        return whole._asked(X, lambda rows: estimate_priors(model, rows))

    # Labels

    def _label_codes(self, y: object, size: int) -> IntArray | None:
        """Return the positions of labels in `classes_`; None when there are no labels."""
        if y is None:
            return None
        labels = read_labels(y)
        check_lengths(size, len(labels.codes))
        check_label_kinds(self._require().kind, label_kind(labels.classes))
        return self._codes(tuple(labels.classes.tolist()), labels.codes)

    def _gone(self, y: object, sample_weight: object, size: int) -> FloatArray | None:
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
        known = {label: i for i, label in enumerate(self._require().statistics.labels)}
        unknown = [label for label in labels if label not in known]
        if unknown:
            raise BadLabels(
                f"{listed(map(repr, unknown))} is no class of this model",
                hint=f"the classes are {listed(known)}",
            )
        found: IntArray = np.array([known[label] for label in labels], dtype=np.intp)[codes]
        return found

    # Each row as if never seen

    def _codes_of_fit(self, batch: LabelledBatch) -> IntArray:
        """Return the classes of rows that may be those of the fit: their weight is."""
        check_label_kinds(self._require().kind, label_kind(batch.classes))
        codes = self._codes(batch.labels, batch.codes)
        weight = float(len(codes) if batch.weights is None else batch.weights.sum())
        fitted = float(self._fit.model.weights.sum())
        if abs(weight - fitted) > 1e-9 * weight:
            raise BadSetting(
                f"these rows have weight {weight:g}, the model was fitted on {fitted:g}",
                hint="leave-one-out needs exactly the rows of the fit",
            )
        return codes

    def _with_weightless(
        self, found: LeaveOneOut, batch: LabelledBatch, X: object, y: object
    ) -> LeaveOneOut:
        """Return one judgement for every row that was given, also for those of weight zero.

        These are answered as new rows: there is nothing of them to take out. Where the label of
        such a row names no class of the model, its code is -1 and the row has `vanished`.
        """
        if batch.places is None:
            return found
        size = len(X) if isinstance(X, (list, tuple)) else int(X.shape[0])  # type: ignore[attr-defined]
        rest = np.setdiff1d(np.arange(size), batch.places)
        try:
            log_posterior = self.predict_log_proba(taken(X, rest))
        except SufficeError as error:
            raise error.filled(rows=rest) from None
        known = {label: i for i, label in enumerate(self._require().statistics.labels)}
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

    def _approximate(self, said: str) -> None:
        """Tell, from the method that was called, what was approximated."""
        if said:
            warn(said, Approximation)


def _known(label: Any, known: dict[Any, int]) -> int:
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
        raise BadSetting("one class has no odds to explain", hint="learn a second class")
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
    """Return how many rows to draw, or refuse what is no number of rows."""
    if isinstance(n, Real) and not isinstance(n, bool):
        number = float(n)
        if 0.0 <= number < 2.0**53 and number.is_integer():
            return int(number)
    raise BadSetting(f"cannot draw {n!r} rows", hint="n is a whole number of at least 0")
