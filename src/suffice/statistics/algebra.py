"""What all statistics have in common: they add up, and what was added can be taken back."""

from __future__ import annotations

from dataclasses import MISSING, fields
from itertools import accumulate
from operator import add
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

import numpy as np

from suffice.errors import BadSetting, ForgettingUnseen
from suffice.places import Phrase
from suffice.statistics.labels import labels_from_array, labels_to_array

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.rows import FloatArray

    Array = NDArray[np.generic]


ROUNDING = 1e-12
"""Relative size below which a difference of fractional weights counts as nothing."""

PART_ROUNDING = 1e-8
"""How much larger than the whole a part may be by rounding, relative to the whole."""
LEFTOVER = 1e-12
"""What subtracting may leave of a weight of nothing."""


class Statistics(Protocol):
    """What the data said: a commutative monoid under `+`, with a partial inverse `-`.

    `(a + b) - b` is `a`: exactly for counts, within a bound that the state carries for
    moments. It is *not* a group: nothing has negative weight.
    """

    @property
    def weight(self) -> float:
        """How many rows were summarized, each counted with its weight."""
        ...

    def __add__(self, other: Self) -> Self:
        """Merge."""
        ...

    def __sub__(self, other: Self) -> Self:
        """Forget what was merged before."""
        ...

    def scaled(self, factor: float) -> Self:
        """Multiply every weight: decay, importance."""
        ...

    def to_arrays(self) -> dict[str, Array]:
        """Return the whole state as plain arrays."""
        ...

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Self:
        """Return what `to_arrays` was called on, bit for bit."""
        ...


class ArraysOfFields:
    """Statistics that are dataclasses of arrays and numbers, and perhaps labels: so they are kept.

    A field that is as it is by default is left out.
    """

    __slots__ = ()

    def to_arrays(self) -> dict[str, Array]:
        """Return the whole state as plain arrays; parts that are not kept are not there."""
        found: dict[str, Array] = {}
        for field in fields(self):  # type: ignore[arg-type]
            part = getattr(self, field.name)
            if field.name == "labels":
                found[field.name] = labels_to_array(part)
            elif field.default is MISSING or np.ndim(part) > 0 or part != field.default:
                found[field.name] = np.asarray(part)
        return found

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Self:
        """Return what `to_arrays` was called on, bit for bit."""
        given: dict[str, Any] = {name: np.asarray(array) for name, array in arrays.items()}
        for field in fields(cls):  # type: ignore[arg-type]
            if field.type in ("float", "int") and field.name in given:
                given[field.name] = (float if field.type == "float" else int)(given[field.name])
        if "labels" in given:
            given["labels"] = labels_from_array(arrays["labels"])
        return cls(**given)


A = TypeVar("A", bound=Statistics)


def total(parts: Iterable[A]) -> A:
    """Return the sum of all parts, merged pairwise so that rounding grows with their logarithm.

    Parameters
    ----------
    parts : iterable of Statistics
        Statistics that can be added.

    Returns
    -------
    Statistics
        Their sum.

    See Also
    --------
    suffice.engines.collect : Makes and adds them.

    Examples
    --------
    >>> from suffice.statistics import Moments
    >>> total([Moments.of([[1.0]]), Moments.of([[2.0]]), Moments.of([[6.0]])]).mean
    array([3.])
    """
    waiting: list[tuple[int, A]] = []
    for part in parts:
        rank, merged = 0, part
        while waiting and waiting[-1][0] == rank:
            merged = waiting.pop()[1] + merged
            rank += 1
        waiting.append((rank, merged))
    if not waiting:
        raise BadSetting("there is nothing to add up", hint="give at least one part")
    result = waiting.pop()[1]
    while waiting:
        result = waiting.pop()[1] + result
    return result


def leave_one_out(parts: Sequence[A]) -> list[A]:
    """Return, for each part, the total of all the others.

    With one part per fold these are the training sets of cross-validation for the price
    of one pass. Prefixes meet suffixes: nothing is subtracted, so nothing cancels.

    Parameters
    ----------
    parts : sequence of Statistics
        Two statistics or more.

    Returns
    -------
    list of Statistics
        For each part, the total of all the others.

    See Also
    --------
    total : The sum of all.

    Examples
    --------
    >>> from suffice.statistics import Moments
    >>> parts = [Moments.of([[1.0]]), Moments.of([[2.0]]), Moments.of([[6.0]])]
    >>> [float(others.mean[0]) for others in leave_one_out(parts)]
    [4.0, 3.5, 1.5]
    """
    if len(parts) < 2:
        raise BadSetting(
            f"leaving one out of {len(parts)} part(s) leaves nothing to learn from",
            hint="give at least two parts",
        )
    before = list(accumulate(parts[:-1], add))
    after = list(accumulate(parts[:0:-1], lambda right, left: left + right))[::-1]
    inner = [left + right for left, right in zip(before, after[1:], strict=False)]
    return [after[0], *inner, before[-1]]


def checked_factor(factor: float) -> float:
    """Return a factor that statistics may be scaled by, or refuse it."""
    if not 0.0 <= factor < float("inf"):
        raise BadSetting(
            f"cannot scale statistics by {factor!r}",
            hint="use a finite factor of at least 0, for instance 0.99 to fade old rows",
        )
    return float(factor)


def differences(
    held: FloatArray, asked: FloatArray, place: Callable[[int], object], *, exact: bool
) -> FloatArray:
    """Return held - asked, never negative; what only rounding can have left is zero.

    Whole numbers below 2⁵³ subtract exactly, and `exact` says that these are such: then nothing
    is taken for rounding. A difference below zero was never merged in.
    """
    left: FloatArray = held - asked
    bound = 0.0 if exact else ROUNDING * held
    strange = left < -bound
    if strange.any():
        j = int(np.argmax(strange))
        raise ForgettingUnseen.of(float(held[j]), float(asked[j]), place(j))
    left[left <= bound] = 0.0
    return left


def are_whole(*arrays: FloatArray) -> bool:
    """Return whether all numbers are whole and small enough to add and subtract exactly."""
    return all(
        bool(np.all(array == np.floor(array))) and float(array.max(initial=0.0)) < 2.0**53
        for array in arrays
    )


def exceeds(part: object, whole: object) -> bool:
    """Whether a weight is larger than the one that it is a part of, by more than rounding."""
    return bool(np.any(_excess(part, whole)))


def _excess(part: Any, whole: Any) -> Any:
    return part > whole * (1.0 + PART_ROUNDING) + LEFTOVER


def refuse_excess(part: object, whole: object, said: str, place: Callable[[int], object]) -> None:
    """Refuse to leave parts that are larger than their whole: no rows have such sums.

    `said` completes "forgetting would leave {place}".
    """
    strange = _excess(part, whole)
    if np.any(strange):
        raise ForgettingUnseen(
            Phrase(
                f"forgetting would leave {{place}} {said}", place=place(int(np.argmax(strange)))
            ),
            hint="only rows that were learned before can be removed",
        )
