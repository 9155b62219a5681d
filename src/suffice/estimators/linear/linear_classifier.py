"""What linear classifiers answer, however their weights were found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadRows, BadSetting, NotFinite
from suffice.estimators.accuracy import Accuracy
from suffice.estimators.fitting_notes import NotFitted
from suffice.estimators.saving import Persistent
from suffice.learning.answers import comparison, place_of
from suffice.learning.label_types import class_array, restored_dtype, stored_dtype
from suffice.learning.labelled_batch import opened
from suffice.learning.learned import first_names
from suffice.learning.results import Contrasts, Explanation
from suffice.models.linear.averaged_form import AveragedForm
from suffice.places import Phrase, RowAt
from suffice.rows.bad_cells import refuse_blanks_of
from suffice.rows.sparse import SparseRows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.columns.design import Design
    from suffice.models.linear.form import LinearForm
    from suffice.rows import FloatArray, Label


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """What was learned, the classes in their own type, and how rows are read.

    form    scores rows: linear, or an average over some that are
    reader  turns X into the rows that θ multiplies, where that is not for the columns to do
    """

    form: LinearForm | AveragedForm
    classes: NDArray[Any]
    design: Design
    reader: Callable[[object], Any] | None = None


class LinearClassifier(Accuracy, Persistent):
    """Scores weights·x + intercept, one for each class: predictions, posteriors, explanations.

    `coef_` and `intercept_` are in the user's units: one row for two classes (the second against
    the first), else one row a class that adds up to zero over the classes, as scikit-learn has it.
    """

    _line: Line | None = None

    def _require(self) -> Line:
        if self._line is None:
            raise NotFitted.of(self)
        return self._line

    def _become(self, line: Line, **found: Any) -> None:
        """Know a line, and what else was found with it: in one step, for others may ask."""
        columns = line.design.columns
        found |= {"_line": line, "n_features_in_": len(columns.columns)}
        if columns.named:
            found["feature_names_in_"] = np.array(columns.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.__dict__.update(found)

    def _linear(self, what: str) -> LinearForm:
        """Return the one linear form that scores rows; an average of probabilities has none."""
        form = self._require().form
        if isinstance(form, AveragedForm):
            raise BadSetting(
                f"there is no {what}: probabilities are averaged over {len(form.members)} "
                "penalties, and an average of softmaxes is no linear form",
                hint='penalty="auto" chooses one penalty, and has coefficients',
            )
        return form

    def __sklearn_is_fitted__(self) -> bool:
        """Whether anything was learned."""
        return self._line is not None

    def _rows(self, X: object) -> FloatArray | SparseRows:
        line = self._require()
        if line.reader is not None:
            return line.reader(X)  # type: ignore[no-any-return]
        return line.design.rows(self._open(X), type(self).__name__)

    def _open(self, X: object) -> Any:
        """Return X as a table, or as sparse rows, by what a file says about the table."""
        return self._as_learned(opened(X))

    def _asked(self, X: object, answer: Callable[[Any], Any]) -> Any:
        """Answer about rows; a cell that is not finite is refused by name."""
        rows = self._rows(X)
        try:
            return answer(rows)
        except NotFinite:
            refuse_blanks_of(rows, self._require().design.names)
            raise

    # On disk

    def _stored_state(self, statistics: bool) -> dict[str, Any]:  # noqa: ARG002
        line = self._require()
        if line.reader is not None:
            raise BadSetting(
                "an implied model reads rows as the model it came from does: it has no file form",
                hint="save the naive Bayes model itself, and call to_logistic() after load",
            )
        return {
            "columns": line.design,
            "statistics": None,
            "labels": stored_dtype(line.classes.dtype),
            "model": line.form,
        }

    def _restore(self, state: dict[str, Any]) -> None:
        form = state["model"]
        classes = class_array(tuple(form.labels), restored_dtype(state["labels"]))
        self._become(Line(form, classes, state["columns"]))

    def _about(self) -> dict[str, Any]:
        line = self._require()
        return {
            "model": type(self).__name__,
            "classes": [str(label) for label in line.form.labels],
            "columns": first_names(line.design.columns),
        }

    # What was learned

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in order, in their own type."""
        return self._require().classes

    @property
    def schema(self) -> Any:
        """The columns that it knows: their names, kinds and levels."""
        return self._require().design.columns

    @property
    def coef_(self) -> FloatArray:
        """The weights of the columns, (1, d) for two classes, else (k, d)."""
        weights = self._attribute("coef_").weights
        if len(weights) == 2:
            return weights[1:] - weights[:1]
        found: FloatArray = weights - weights.mean(axis=0)
        return found

    @property
    def intercept_(self) -> FloatArray:
        """The scores at x = 0, (1,) for two classes, else (k,)."""
        at_zero = self._attribute("intercept_").intercepts
        if len(at_zero) == 2:
            return at_zero[1:] - at_zero[:1]
        found: FloatArray = at_zero - at_zero.mean()
        return found

    @property
    def coefficient_names_(self) -> tuple[str, ...]:
        """The names of the columns of `coef_`: "age", "color=red"."""
        return self._require().design.names

    def _attribute(self, name: str) -> LinearForm:
        """Return the linear form for an attribute: what has none has no such attribute either."""
        try:
            return self._linear(name)
        except BadSetting as error:
            raise AttributeError(str(error)) from None

    def against(self, reference: Label | None = None) -> Contrasts:
        """Return θ and θ₀ of every other class against one (the first, unless named)."""
        line, form = self._require(), self._linear("contrast of classes")
        place = 0 if reference is None else place_of(reference, form.labels)
        form = form.against(form.labels[place])
        others = [c for c in range(len(line.classes)) if c != place]
        return Contrasts(
            line.classes[place],
            line.classes[others],
            form.weights[others],
            form.intercepts[others],
            line.design.names,
        )

    # Predictions

    def predict(self, X: object) -> NDArray[Any]:
        """Return the best-scored class of each row."""
        whole = self._whole()
        line = whole._require()
        found: NDArray[Any] = line.classes[whole._asked(X, line.form.codes)]
        return found

    def decision_function(self, X: object) -> FloatArray:
        """Return the score of the second class against the first, or one score a class (n, k)."""
        whole = self._whole()
        found: FloatArray = whole._asked(X, whole._require().form.decisions)
        return found

    def explain(
        self, X: object, of: Label | None = None, against: Label | None = None
    ) -> Explanation:
        """Split the score of one class against another by column, row by row.

        Each column is compared with its mean among the rows of the fit: the baseline is the score
        of a row that is average everywhere. By default the predicted class is compared with the
        runner-up; `of` and `against` name others.
        """
        whole = self._whole()
        line = whole._require()
        form = whole._linear("split of a score by column")
        pair = comparison(form.labels, of, against)

        def answer(rows: Any) -> Explanation:
            first, second = pair(form.posterior(rows, log=True))
            filled = rows.toarray() if isinstance(rows, SparseRows) else rows
            with np.errstate(over="ignore"):
                parts = (filled - form.origin) * (form.weights[first] - form.weights[second])
            if not np.isfinite(parts).all():
                raise _too_far(parts)
            columns = line.design.columns
            summed = np.zeros((len(parts), len(columns.columns)))
            np.add.at(summed.T, line.design.owners, parts.T)
            return Explanation(
                line.classes[first],
                line.classes[second],
                form.offsets[first] - form.offsets[second],
                summed,
                None,
                tuple(columns.names),
            )

        found: Explanation = whole._asked(X, answer)
        return found


class Posteriors(LinearClassifier):
    """Linear scores that are log odds: their softmax is p(y | x)."""

    def predict_log_proba(self, X: object) -> FloatArray:
        """Return log p(y | x), one column a class."""
        whole = self._whole()
        form = whole._require().form
        found: FloatArray = whole._asked(X, lambda rows: form.posterior(rows, log=True))
        return found

    def predict_proba(self, X: object) -> FloatArray:
        """Return p(y | x), one column a class."""
        whole = self._whole()
        found: FloatArray = whole._asked(X, whole._require().form.posterior)
        return found


def _too_far(parts: FloatArray) -> BadRows:
    row = int(np.argmin(np.isfinite(parts).all(axis=1)))
    said = "{row} lies too far out: what its columns contribute leaves the range of a double"
    return BadRows(
        Phrase(said, row=RowAt(row)),
        hint="its class and its probabilities are still defined: predict, predict_proba",
    )
