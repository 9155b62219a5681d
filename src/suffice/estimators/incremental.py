"""fit, partial_fit, forget and +: one state of columns and statistics behind an estimator."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from sklearn.exceptions import DataConversionWarning, NotFittedError

from suffice.columns import Columns
from suffice.errors import BadLabels, DifferentKinds, NotFinite, SufficeError, listed
from suffice.estimators.weightless import renumbered, rows_with_weight, taken
from suffice.rows import (
    check_lengths,
    read_labels,
    read_table,
    read_weights,
    refuse_infinite,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray, Label


class NotFitted(SufficeError, NotFittedError):
    """An estimator that has not learned anything yet (scikit-learn's error as well as ours)."""

    @classmethod
    def of(cls, estimator: object) -> Self:
        """Name the estimator."""
        return cls(
            f"This {type(estimator).__name__} instance is not fitted yet",
            hint="call fit or partial_fit with rows and labels first",
        )


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Labelled rows, read and coded; float32 rows stay float32, whatever the type says."""

    columns: Columns
    rows: FloatArray
    codes: IntArray
    classes: NDArray[Any]
    labels: tuple[Label, ...]
    weights: FloatArray | None
    frame: str | None = None
    places: IntArray | None = None
    """Where the rows stood among those given, if some of these had no weight."""


@dataclass(slots=True, eq=False)
class State:
    """What an estimator has learned. `cache` holds estimates of `statistics`, by settings."""

    columns: Columns
    statistics: Any
    dtype: np.dtype[Any]
    kind: str
    frame: str | None = None
    chosen: Any = None
    cache: dict[Any, Any] = field(default_factory=dict)
    lean: tuple[Any, Any] = (None, None)

    def __getstate__(self) -> tuple[Any, ...]:
        """Travel without estimates: they follow from the statistics."""
        return self.columns, self.statistics, self.dtype, self.kind, self.frame, self.chosen

    def __setstate__(self, held: tuple[Any, ...]) -> None:
        """Arrive with nothing estimated yet."""
        self.__init__(*held)  # type: ignore[misc]

    def with_statistics(self, statistics: Any, **changes: Any) -> State:
        """Return a state of other statistics, with nothing estimated yet."""
        return replace(self, statistics=statistics, cache={}, lean=(None, None), **changes)


def read_batch(
    estimator: object, X: object, y: object, sample_weight: object, known: Columns | None
) -> Batch:
    """Read rows, labels and weights; rows of weight zero are dropped before anything is seen."""
    kept = rows_with_weight(X, y, sample_weight)
    if kept is None:
        return _read(estimator, X, y, sample_weight, known)
    try:
        weights = taken(sample_weight, kept)
        batch = _read(estimator, taken(X, kept), taken(y, kept), weights, known)
        return replace(batch, places=kept)
    except SufficeError as error:
        raise renumbered(error, kept) from None


def _read(
    estimator: object, X: object, y: object, sample_weight: object, known: Columns | None
) -> Batch:
    table = read_table(X)
    labels = read_labels(y)
    if labels.ravelled:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. "
            "Please change the shape of y to (n_samples, ), for example using ravel().",
            DataConversionWarning,
            stacklevel=5,
        )
    check_lengths(table.size, len(labels.codes))
    weights = read_weights(sample_weight, table.size)
    columns = Columns.infer(table)
    if known is not None:
        try:
            columns = known.widened(columns)[0]
        except DifferentKinds:
            columns = known  # encode says what is wrong, in scikit-learn's words
    rows = cast("FloatArray", columns.encode(table, type(estimator).__name__))
    return Batch(
        columns,
        rows,
        labels.codes,
        labels.classes,
        tuple(_plain(labels.classes)),
        weights,
        frame_library(X),
    )


def _plain(classes: NDArray[Any]) -> list[Label]:
    return [v.item() if isinstance(v, np.generic) else v for v in classes.tolist()]


def label_kind(classes: NDArray[Any]) -> str:
    """Return what labels are: booleans, integers, floats, text, or the name of their type."""
    kinds = {"b": "booleans", "i": "integers", "u": "integers", "f": "floats", "U": "text"}
    if classes.dtype.kind in kinds:
        return kinds[classes.dtype.kind]
    names = {type(v).__name__ for v in classes.tolist()}
    return "text" if names == {"str"} else listed(sorted(names))


def check_label_kinds(known: str, new: str) -> None:
    """Refuse labels of another type than those learned so far: 1 and True are not the same."""
    if known != new:
        raise BadLabels(
            f"labels were {known} so far and are {new} now",
            hint="use labels of one type, for instance y.astype(str)",
        )


def class_array(labels: tuple[Label, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return labels as an array of their own type."""
    if dtype.kind in "US":
        return np.array(labels)
    result = np.empty(len(labels), dtype=dtype)
    for i, label in enumerate(labels):
        result[i] = label
    return result


def joined_dtype(left: np.dtype[Any], right: np.dtype[Any]) -> np.dtype[Any]:
    """Return a type for the labels of both."""
    return np.result_type(left, right) if left != right else left


def frame_library(X: Any) -> str | None:
    """Return the name of the library a frame came from, so that samples can be given back in kind.

    The name and not the module: what was learned is to be pickled.
    """
    if isinstance(X, (np.ndarray, list, tuple)):
        return None
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return str(frame.implementation.value) if isinstance(frame, nw.DataFrame) else None


def back_to_frame(columns: Columns, matrix: FloatArray, library: Any) -> Any:
    """Return coded rows as what the user gave: a frame of the same library, or an array."""
    if library is None or not columns.named:
        if columns.is_plain:
            return matrix
        decoded = columns.decode(matrix)
        result = np.empty((len(matrix), len(decoded)), dtype=object)
        for j, cells in enumerate(decoded):
            result[:, j] = cells
        return result
    import narwhals as nw

    data = {
        name: cells.tolist() if cells.dtype == object else cells
        for name, cells in zip(columns.names, columns.decode(matrix), strict=True)
    }
    return nw.from_dict(data, backend=library).to_native()


def naming_cells(
    error: NotFinite, rows: NDArray[Any], columns: Columns, places: IntArray | None = None
) -> NotFinite:
    """Return the refusal of a cell with the column's own name, and the caller's row."""
    try:
        refuse_infinite(rows, columns.coded_names)
    except NotFinite as named:
        return named if places is None else renumbered(named, places)
    return error


def merged_state(left: State, right: State, add: Any) -> State:
    """Return the state of both; the columns must be the same, their levels need not."""
    check_label_kinds(left.kind, right.kind)
    if left.chosen != right.chosen:
        raise DifferentKinds(
            f"the settings chosen from the data differ: {left.chosen} and {right.chosen}",
            hint="give pool and shrink explicitly to both, then they can be merged",
        )
    columns, ours, theirs = left.columns.widened(right.columns)
    a, b = left.statistics, right.statistics
    if columns.width != left.columns.width or not np.array_equal(ours, np.arange(len(ours))):
        a = a.embedded(ours, columns.width)
    if columns.width != right.columns.width or not np.array_equal(theirs, np.arange(len(theirs))):
        b = b.embedded(theirs, columns.width)
    return left.with_statistics(
        add(a, b), columns=columns, dtype=joined_dtype(left.dtype, right.dtype)
    )
