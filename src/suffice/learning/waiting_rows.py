"""Single rows wait until someone looks: a stream of them costs what copying costs.

Reading, checking and merging one row takes a hundred times as long as copying it. So a row that is
certain to be learned without a refusal is put aside with its label, and all that wait are learned
as one batch as soon as anything is asked. Whatever is not certain is learned at once, as ever.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.learning.labelled_batch import FLOAT64
from suffice.learning.left_out import StatisticsLeftOut

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.learning.learned import Learned
    from suffice.learning.learner import Accepts, Learner
    from suffice.rows import FloatArray

ARRAY = np.ndarray
"""Looked up once: whoever learns row by row asks for it at every row."""
ONE = (1,)
"""The shape of the labels of one row."""
FIRST_ROWS = 256
"""Rows that the buffer begins with. A choice: it grows fourfold, and twice leads to the most."""
MOST_ROWS = 4096
"""Rows that wait at most, however few columns they have. A choice: what summing costs once for all
is shared by thousands of rows then."""
MOST_CELLS = 2**18
"""No more cells than this wait (2 MB); the buffer begins with few rows, and grows."""
MOST_SQUARE = 1e200
"""Rows whose squares add up to more may be refused when they are summed."""


class WaitingRows:
    """Rows that have been put aside, each with its label, and what was learned before they came.

    Labels are those of classes that are known, in the type they are known in, for other ones
    are refused or change what is known.
    """

    __slots__ = (
        "_accepts", "_classes", "_codes", "_dtype", "_key", "_most", "_places", "_rows", "_shape",
        "_text", "_types", "learned",
    )  # fmt: skip

    def __init__(self, learned: Learned, accepts: Accepts) -> None:
        self.learned = learned
        self._key = learned.learner.key
        self._accepts = None if accepts is moderate else accepts  # `take` asks for that itself
        self._classes = learned.classes
        self._places = {label: code for code, label in enumerate(learned.labels)}
        self._dtype = learned.dtype
        self._text = learned.kind == "text"
        self._types = label_types(learned.dtype, learned.kind)
        width = len(learned.columns.columns)
        self._shape = (1, width)
        self._most = max(1, min(MOST_ROWS, MOST_CELLS // width))
        self._rows = np.empty((min(FIRST_ROWS, self._most), width))
        self._codes: list[int] = []

    @classmethod
    def of(
        cls,
        known: Learned | None,
        X: NDArray[np.generic],
        key: tuple[object, ...],
        make: Callable[[], Learner],
    ) -> WaitingRows | None:
        """Return a buffer for rows like this one, beside what is known under the settings of a key.

        None where rows cannot wait.
        """
        if known is None or X.dtype is not FLOAT64 or X.ndim != 2 or len(X) != 1:
            return None
        if not known.labels or not label_types(known.dtype, known.kind):
            return None
        if isinstance(known.statistics, StatisticsLeftOut):  # it learns nothing: refuse now
            return None
        learned = known.under_key(key, make)
        accepts = learned.learner.waits(learned)
        return None if accepts is None else cls(learned, accepts)

    def take(self, X: NDArray[Any], y: object, key: tuple[object, ...]) -> bool:
        """Put one row aside, or say that it cannot wait; `key` are the settings of this moment."""
        if X.shape != self._shape or X.dtype is not FLOAT64:
            return False
        try:
            if self._key != key:
                return False
        except ValueError:  # as in `unchanged`, whose call would take as long as this
            return False
        if type(y) is ARRAY:
            dtype = y.dtype
            same = dtype is self._dtype or dtype == self._dtype
            if y.shape != ONE or not (same or (self._text and dtype.kind == "U")):
                return False
            label = y.item()
            if self._text and type(label) is not str:
                return False
        elif (type(y) is list or type(y) is tuple) and len(y) == 1:
            label = y[0]
            if type(label) not in self._types:
                return False
        else:
            return False
        code = self._places.get(label)
        cells = X.ravel()
        # As in `moderate`, whose call would cost a thirtieth of a row.
        if (
            code is None
            or not cells.dot(cells) < MOST_SQUARE
            or (self._accepts is not None and not self._accepts(X))
        ):
            return False
        size = len(self._codes)
        if size == len(self._rows):
            if size == self._most:
                return False
            grown = np.empty((min(4 * size, self._most), self._shape[1]))
            grown[:size] = self._rows
            self._rows = grown
        self._rows[size] = cells
        self._codes.append(code)
        return True

    def all_learned(self) -> Learned:
        """Return what was learned, with the rows that have waited as one batch."""
        learned = self.learned
        return learned.more(learned.learner.read(*self.given(), None, learned))

    def given(self) -> tuple[FloatArray, NDArray[np.generic]]:
        """Return the rows and their labels, as a caller would give them.

        Another thread may be putting one more aside: what has a code is there.
        """
        codes = self._codes.copy()
        return self._rows[: len(codes)], self._classes[codes]


def moderate(row: FloatArray) -> bool:
    """Whether all cells are finite, and small enough for sums of their squares."""
    # NumPy's own truth will do: it is sooner there. So is a method, beside a function.
    cells = row.ravel()
    return cells.dot(cells) < MOST_SQUARE  # type: ignore[no-any-return]


@cache
def label_types(dtype: np.dtype[np.generic], kind: str) -> frozenset[type]:
    """Return the types a label in a list may have, so that its array is of the known type.

    None where equal labels need not be of one type: among objects True is 1.
    """
    if kind == "text":
        return frozenset((str, np.str_))
    if dtype.kind not in "biuf":
        return frozenset()
    plain = [each for each in (bool, int, float) if np.array([each(1)]).dtype == dtype]
    return frozenset((dtype.type, *plain))
