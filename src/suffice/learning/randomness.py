"""One generator from whatever the caller gives as `random_state`."""

from __future__ import annotations

import numpy as np

from suffice.errors import BadSetting


def random_generator(random_state: object = None) -> np.random.Generator:
    """Return a NumPy generator: fresh for None, seeded by an int, itself if it is one already.

    A RandomState seeds a new generator by drawing from it, so that it moves on: two calls with
    the same object give different draws, as scikit-learn's users expect.

    >>> random_generator(0).integers(100) == random_generator(0).integers(100)
    np.True_
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint32))
    if random_state is None:
        return np.random.default_rng()
    check_seed(random_state)
    return np.random.default_rng(int(random_state))  # type: ignore[call-overload]


def check_seed(random_state: object) -> None:
    """Refuse what no generator is made of."""
    if random_state is None or isinstance(
        random_state, np.random.Generator | np.random.RandomState
    ):
        return
    seed = random_state if isinstance(random_state, int | np.integer) else -1
    if seed < 0 or isinstance(random_state, bool):
        raise BadSetting(
            f"random_state={random_state!r} is not a seed",
            hint="use None, a whole number ≥ 0, numpy.random.Generator or RandomState",
        )
