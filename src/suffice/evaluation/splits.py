"""The folds of cross-validation: stratified by class, and the same for every candidate."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadSetting

if TYPE_CHECKING:
    from suffice.rows import IntArray


def stratified_folds(codes: IntArray, folds: int = 10, random_state: int = 0) -> IntArray:
    """Return the fold of every row: each fold has its share of each class.

    The same folds as scikit-learn's StratifiedKFold(folds, shuffle=True, random_state=seed), so
    that whoever checks a comparison by hand has the same rows in the same place. A class with
    fewer rows than folds is absent from some, which is no error here.

    >>> stratified_folds(np.array([0, 0, 0, 1, 1, 1]), 3).tolist()
    [2, 1, 0, 2, 0, 1]
    """
    folds = checked_folds(folds, len(codes))
    rng = np.random.RandomState(checked_seed(random_state))
    # Classes are taken in the order in which they appear: so are the draws for them.
    _, first, place = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))[place]
    by_class = np.sort(order)
    shares = np.array([np.bincount(by_class[f::folds], minlength=len(first)) for f in range(folds)])
    found = np.empty(len(codes), dtype=np.intp)
    for c in range(len(first)):
        drawn = np.arange(folds).repeat(shares[:, c])
        rng.shuffle(drawn)
        found[order == c] = drawn
    return found


def checked_folds(folds: object, rows: int) -> int:
    """Return a number of folds that rows can be cut into, or refuse it."""
    if isinstance(folds, bool) or not isinstance(folds, Integral) or int(folds) < 2:
        raise BadSetting(
            f"folds={folds!r} is no number of folds", hint="a whole number from 2 on, such as 10"
        )
    if int(folds) > rows:
        raise BadSetting(
            f"{rows} rows cannot be cut into {folds} folds",
            hint=f"folds={min(rows, 3)} or more rows",
        )
    return int(folds)


def checked_seed(random_state: object) -> int:
    """Return a seed, or refuse what is none: a comparison must be repeatable."""
    if (
        isinstance(random_state, bool)
        or not isinstance(random_state, Integral)
        or int(random_state) < 0
    ):
        raise BadSetting(
            f"random_state={random_state!r} is no seed",
            hint="a whole number of at least 0: the same folds must be drawn again for every model",
        )
    return int(random_state)
