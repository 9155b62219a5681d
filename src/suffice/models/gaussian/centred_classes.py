"""What all laws of normal classes have: centres, in units of their columns."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suffice.rows import FloatArray


class CentredClasses:
    """Classes whose centres are origin + (origin_low + means * scale): the base of their laws."""

    if TYPE_CHECKING:  # fields of each law; here they would come before all others in files

        @property
        def origin(self) -> FloatArray: ...  # noqa: D102
        @property
        def origin_low(self) -> FloatArray: ...  # noqa: D102
        @property
        def scale(self) -> FloatArray: ...  # noqa: D102
        @property
        def means(self) -> FloatArray: ...  # noqa: D102

    @property
    def size(self) -> int:
        """The number of classes."""
        return len(self.means)

    @cached_property
    def class_means(self) -> FloatArray:
        """The centre of every class (k, d), in the user's units."""
        return self.origin + (self.origin_low + self.means * self.scale)
