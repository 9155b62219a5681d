"""What only a shared covariance has: Fisher's coordinates, as a transformer of scikit-learn's."""

from __future__ import annotations

from typing import Any, TypeVar

from sklearn.utils.metaestimators import available_if

from suffice.models.gaussian.forms import letters_of

T = TypeVar("T")


def has_coordinates(estimator: Any) -> bool:
    """Say that an estimator has coordinates, or raise AttributeError with the reason."""
    if letters_of(estimator.covariance) == "EEE":
        if estimator.predictive is None:
            return True
        raise AttributeError(
            f"predictive={estimator.predictive!r} has no discriminant coordinates: Student's t "
            "has no flat boundaries\nHint: leave predictive out"
        )
    raise AttributeError(
        f'covariance="{estimator.covariance}" has no discriminant coordinates\n'
        'Hint: use covariance="shared"'
    )


def conditional_transform(kind: type[T]) -> type[T]:
    """Hide what only Fisher's coordinates have, unless the covariance is shared.

    scikit-learn wraps `transform` when the class is made, for `set_output`, and the wrapper is
    there for every instance: the condition has to be put around it afterwards.
    """
    for name in ("transform", "fit_transform", "set_output", "get_feature_names_out"):
        setattr(kind, name, available_if(has_coordinates)(getattr(kind, name)))
    return kind
