"""Fisher's discriminant coordinates as a scikit-learn transformer, where there are any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if

from suffice.errors import NotFinite
from suffice.estimators.batches import naming_cells
from suffice.models.gaussian.whitened_classes import Discriminants, discriminants

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.rows import FloatArray

T = TypeVar("T")


def _has_coordinates(estimator: Any) -> bool:
    if estimator.covariance == "shared":
        return True
    raise AttributeError(
        f'covariance="{estimator.covariance}" has no discriminant coordinates\n'
        'Hint: covariance="shared" has'
    )


def _conditional_transform(kind: type[T]) -> type[T]:
    """Hide what only Fisher's coordinates have, unless the covariance is shared.

    scikit-learn wraps `transform` when the class is made, for `set_output`, and the wrapper is
    there for every instance: the condition has to be put around it afterwards.
    """
    for name in ("transform", "fit_transform", "set_output", "get_feature_names_out"):
        setattr(kind, name, available_if(_has_coordinates)(getattr(kind, name)))
    return kind


@_conditional_transform
class FisherCoordinates(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """The few directions along which classes differ most, for a shared covariance only."""

    _fit: Any
    _require: Callable[[], Any]
    _whole: Callable[[], Any]
    _rows: Callable[[object], FloatArray]
    _filled: Callable[[FloatArray], FloatArray]

    def _discriminants(self) -> Discriminants:
        _has_coordinates(self)
        state, model = self._require(), self._fit.model
        held = state.cache.get("discriminants")
        if held is None or held[0] is not model:
            held = state.cache["discriminants"] = (model, discriminants(model))
        found: Discriminants = held[1]
        return found

    def transform(self, X: object) -> FloatArray:
        """Return Fisher's discriminant coordinates, at most k - 1; missing cells as expected."""
        self = self._whole()  # noqa: PLW0642  others may learn meanwhile
        rows = self._rows(X)
        if np.isnan(rows).any():
            rows = self._filled(rows)
        if not np.isfinite(rows).all():
            raise naming_cells(NotFinite.of_range(()), rows, self._require().columns)
        return self._discriminants().coordinates(rows)

    @property
    def scalings_(self) -> FloatArray:
        """The coordinates' loadings (d, k - 1), in the user's units."""
        return self._discriminants().scalings

    @property
    def explained_variance_ratio_(self) -> FloatArray:
        """The share of the differences between classes in each coordinate."""
        return self._discriminants().explained

    @property
    def _n_features_out(self) -> int:
        return int(self._discriminants().scalings.shape[1])
