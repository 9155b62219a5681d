"""What an estimator has learned so far, and the labels it knows, in their own type."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from suffice.errors import BadLabels, SufficeError, listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import Label


class NotFitted(SufficeError, NotFittedError):
    """An estimator that has not learned anything yet (scikit-learn's error as well as ours)."""

    @classmethod
    def of(cls, estimator: object) -> Self:
        """Name the estimator."""
        return cls(
            f"This {type(estimator).__name__} instance is not fitted yet",
            hint="call fit or partial_fit with rows and labels first",
        )


@dataclass(slots=True, eq=False)
class State:
    """What an estimator has learned. `cache` holds estimates of `statistics`, by settings.

    columns     the schema: it has `columns`, `names` and `named`, whatever else it can do
    dtype, kind the type of the labels, and what they are called in a refusal
    frame       the library of the frame that was read first, None for arrays
    chosen      what was decided on the first batch, None where nothing is
    lean        the model made ready for single rows, with the settings it was made under
    """

    columns: Any
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
            hint="use labels of one type: all of them text, or all of them numbers",
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


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """The state of some rows of a source; states add up as the estimator says."""

    estimator: Any
    state: State

    def __add__(self, other: Self) -> Self:
        """Return the state of both."""
        return type(self)(self.estimator, self.estimator._joined(self.state, other.state))
