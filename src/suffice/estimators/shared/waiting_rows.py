"""Single rows wait until someone looks: a stream of them costs what copying costs.

Reading, checking and merging one row takes a hundred times as long as copying it. So a row that is
certain to be learned without a refusal is put aside with its label, and all that wait are learned
as one batch as soon as anything is asked. Whatever is not certain is learned at once, as ever.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.estimators.shared.concurrency import LOCKS, lock_of
from suffice.estimators.shared.labelled_batch import FLOAT64
from suffice.estimators.shared.learned import Summarizing, kept
from suffice.estimators.shared.saving import StatisticsLeftOut
from suffice.estimators.shared.state import State, class_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.estimators.shared.learned import Accepts
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
    """Rows that have been put aside, each with its label; a buffer that belongs to one estimator.

    Labels are those of classes that are known, in the type they are known in, for other ones
    are refused or change what is known.
    """

    __slots__ = (
        "_accepts", "_classes", "_codes", "_dtype", "_key", "_most", "_places", "_rows", "_shape",
        "_text", "_types", "learner", "state",
    )  # fmt: skip

    def __init__(
        self, state: State, width: int, key: tuple[Any, ...], learner: Any, accepts: Accepts
    ) -> None:
        labels = state.statistics.labels
        self.learner = learner
        self.state = state
        self._key = key
        self._accepts = None if accepts is moderate else accepts  # `take` asks for that itself
        self._classes = class_array(labels, state.dtype)
        self._places = {label: code for code, label in enumerate(labels)}
        self._dtype = state.dtype
        self._text = state.kind == "text"
        self._types = label_types(state.dtype, state.kind)
        self._shape = (1, width)
        self._most = max(1, min(MOST_ROWS, MOST_CELLS // width))
        self._rows = np.empty((min(FIRST_ROWS, self._most), width))
        self._codes: list[int] = []

    def take(self, X: NDArray[Any], y: object, key: tuple[Any, ...]) -> bool:
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

    def given(self) -> tuple[FloatArray, NDArray[Any]]:
        """Return the rows and their labels, as a caller would give them.

        Another thread may be putting one more aside: what has a code is there.
        """
        codes = self._codes.copy()
        return self._rows[: len(codes)], self._classes[codes]


class SingleRows(Summarizing):
    """Puts single rows aside, and learns them before anyone looks at what was learned."""

    _waiting: WaitingRows | None = None

    def _set_aside(self, X: object, y: object) -> bool:
        """Let a row without a weight wait for others, if it may."""
        if type(X) is not ARRAY:
            return False
        lock = LOCKS.get(id(self)) or lock_of(self)
        lock.acquire()  # `with` takes 90 ns more, a twentieth of a row
        try:
            waiting = self._waiting
            if waiting is not None:
                return waiting.take(X, y, self._settings_key())
            waiting = self._prepared(X)
            if waiting is None or not waiting.take(X, y, self._settings_key()):
                return False
            self._waiting = waiting
        finally:
            lock.release()
        return True

    def _prepared(self, X: NDArray[Any]) -> WaitingRows | None:
        """Return a buffer for rows like this one, or None."""
        state = self._state
        if state is None or X.dtype is not FLOAT64 or X.ndim != 2 or len(X) != 1:
            return None
        if not state.statistics.labels or not label_types(state.dtype, state.kind):
            return None
        if isinstance(
            state.statistics, StatisticsLeftOut
        ):  # it learns nothing: refuse now, not later
            return None
        self._check_settings()
        learner = self._learner(state.chosen)
        accepts = self._single_rows(state, learner)
        if accepts is None:
            return None
        width = len(state.columns.columns)
        return WaitingRows(state, width, kept(self._settings_key()), learner, accepts)

    def _with_waiting(self, waiting: WaitingRows) -> State:
        """Return the state with the rows that wait, and keep it if nobody else is learning."""
        lock = lock_of(self)
        if not lock.acquire(blocking=False):
            return self._state_with(waiting)
        try:
            held = self._waiting
            if held is None:  # learned by somebody else, just now
                return self._state_with(waiting) if self._state is None else self._state
            state = self._state_with(held)
            self._keep(state)
        finally:
            lock.release()
        return state

    def _state_with(self, waiting: WaitingRows) -> State:
        """Learn what has waited as one batch, under the settings it came under."""
        view = self._with_state(waiting.state)  # without any that wait: what is called may look
        batch = view._read(*waiting.given(), None, waiting.state)
        return view._summarized(batch, waiting.state, waiting.learner)

    def _keep(self, state: State) -> None:
        """Let a state take the place of what was known, waiting rows included; under the lock."""
        self._become(state)  # first: who sees no row waiting must see the state that has it
        self.__dict__.pop("_waiting", None)

    def __getstate__(self) -> Any:
        """Travel, and be copied, with nothing waiting: a buffer belongs to one estimator."""
        return super(SingleRows, self._whole()).__getstate__()


def moderate(row: FloatArray) -> bool:
    """Whether all cells are finite, and small enough for sums of their squares."""
    # NumPy's own truth will do: it is sooner there. So is a method, beside a function.
    cells = row.ravel()
    return cells.dot(cells) < MOST_SQUARE  # type: ignore[no-any-return]


@cache
def label_types(dtype: np.dtype[Any], kind: str) -> frozenset[type]:
    """Return the types a label in a list may have, so that its array is of the known type.

    None where equal labels need not be of one type: among objects True is 1.
    """
    if kind == "text":
        return frozenset((str, np.str_))
    if dtype.kind not in "biuf":
        return frozenset()
    plain = [each for each in (bool, int, float) if np.array([each(1)]).dtype == dtype]
    return frozenset((dtype.type, *plain))
