"""What scikit-learn's users expect to be told, and methods that are not there."""

from __future__ import annotations

from functools import update_wrapper
from types import MethodType
from typing import TYPE_CHECKING, Any, Self

from sklearn.exceptions import DataConversionWarning, NotFittedError

from suffice.errors import SufficeError, warn

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.learning.unlabelled.record import Unlabelled


class NotFitted(SufficeError, NotFittedError):
    """An estimator that has not learned anything yet (scikit-learn's error as well as ours)."""

    @classmethod
    def of(cls, estimator: object) -> Self:
        """Name the estimator."""
        return cls(
            f"This {type(estimator).__name__} instance is not fitted yet",
            hint="call fit or partial_fit with rows and labels first",
        )


class offered:  # noqa: N801  a decorator
    """Hide a method from estimators whose learner is without what it gives.

    scikit-learn's `available_if` does the same, but has a sentence of its own: here the learner
    says why.
    """

    def __init__(self, what: str, words: str = "") -> None:
        self._what, self._words = what, words or what

    def __call__(self, method: Callable[..., Any]) -> Self:
        """Take the method."""
        self._method = method
        return update_wrapper(self, method)  # type: ignore[return-value]

    def __get__(self, estimator: object, kind: Any) -> Any:
        """Return the method of an estimator that has it."""
        if estimator is None:
            return self._method
        if self._what in kind.learner_kind.without:
            raise kind.learner_kind.lacking(self._words)
        return MethodType(self._method, estimator)


class offered_attribute(offered):  # noqa: N801  a decorator
    """Hide an attribute likewise."""

    def __get__(self, estimator: object, kind: object) -> Any:
        """Return the attribute of an estimator that has it."""
        found = super().__get__(estimator, kind)
        return property(found) if estimator is None else found()


def shorten_requests(kind: type) -> None:
    """Give scikit-learn's setters of metadata one line of help each, in the place of forty."""
    for name, made in list(vars(kind).items()):
        if not (name.startswith("set_") and name.endswith("_request")):
            continue
        above: Any = type(made)  # scikit-learn asks for its own class: it has no public name

        class ShortRequest(above):
            def __get__(self, estimator: object, owner: object) -> Any:
                found = super().__get__(estimator, owner)
                found.__doc__ = (
                    f"Say which arguments of `{self.name}` meta-estimators pass on: "
                    "scikit-learn's metadata routing."
                )
                return found

        setattr(kind, name, ShortRequest(made.name, made.keys))


def warn_of_shape() -> None:
    """Say, in scikit-learn's words, that labels came as a column."""
    warn(
        "A column-vector y was passed when a 1d array was expected. "
        "Please change the shape of y to (n_samples, ), for example using ravel().",
        DataConversionWarning,
    )


def unlabelled_of(estimator: Any) -> Unlabelled | None:
    """What became of rows without a label: how many, their weight, and whether they helped."""
    found: Unlabelled | None = estimator.learned_.unlabelled
    return found
