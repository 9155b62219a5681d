"""Forgetting that is honest about the digits it leaves."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import ForgettingUnseen, LostDigits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

NOTICEABLE_LOSS = 1e-8
REFUSED_LOSS = 1e-3


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
