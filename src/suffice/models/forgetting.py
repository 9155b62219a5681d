"""Forgetting that is honest about the digits it leaves."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import ForgettingUnseen, LostDigits, listed
from suffice.statistics import ByClass, ByColumn, ByPattern
from suffice.statistics.folds import Folds
from suffice.statistics.with_rows import WithRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

NOTICEABLE_LOSS = 1e-8
REFUSED_LOSS = 1e-3
SMALL_DEVIATION = 1e-140
"""Standard deviations from which no digit of a square is lost below the range of a double."""


def forgotten(
    held: Any, gone: Any, names: Sequence[str] | None, exempt: NDArray[np.bool_] | None = None
) -> Any:
    """Return held - gone; refuse to leave a variance without digits, and say when few are left.

    `exempt` marks columns whose variance may vanish without anything being lost.
    """
    left = held - gone
    if left.weight == 0.0:
        return left
    losses = left.lost
    if exempt is not None:
        losses = np.where(exempt & np.isinf(losses), 0.0, losses)
    worst = int(np.argmax(losses)) if len(losses) else 0
    name = f"column {worst}" if names is None else names[worst]
    if len(losses) and losses[worst] > REFUSED_LOSS:
        raise ForgettingUnseen(
            f"forgetting these rows would leave no digits of the variance of {name}",
            hint="fit again on the rows that are to stay: the others were far wider",
        )
    if len(losses) and losses[worst] > NOTICEABLE_LOSS:
        warnings.warn(
            f"after forgetting, the variance of {name} is known to "
            f"{-np.log10(losses[worst]):.0f} digits",
            LostDigits,
            stacklevel=4,
        )
    return left


def vouched(statistics: Any) -> Any:
    """Return statistics whose bounds are counted anew, as if one batch had been summed just now.

    What their rounding was until now is not known any more: someone vouches for it.
    """
    if hasattr(statistics, "vouched"):
        return statistics.vouched()
    if isinstance(statistics, (ByClass, ByPattern)):
        groups: Any = {key: vouched(group) for key, group in statistics.groups.items()}
        changed: Any = {"groups": groups}
        return replace(statistics, **changed)
    if isinstance(statistics, (ByColumn, Folds)):
        changed = {"parts": tuple(map(vouched, statistics.parts))}
        return replace(statistics, **changed)
    if isinstance(statistics, WithRows):
        return replace(statistics, held=vouched(statistics.held))
    return statistics


def warn_of_small_squares(statistics: Any, names: Sequence[str], stacklevel: int) -> None:
    """Say which columns have cells so close together that their squares have lost digits."""
    losses = getattr(statistics, "lost", np.zeros(0))
    few = [j for j in np.flatnonzero(losses > NOTICEABLE_LOSS).tolist() if j < len(names)]
    if few:
        worst = max(losses[few])
        digits = "no" if worst >= 1.0 else f"no more than {-np.log10(worst):.0f}"
        warnings.warn(
            f"of the variance of {listed(names[j] for j in few)} {digits} digits are known: cells "
            "so close together have squares below the range of a double; multiply them by a power "
            "of ten",
            LostDigits,
            stacklevel=stacklevel,
        )
