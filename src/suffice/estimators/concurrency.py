"""Estimators in several threads: one learns at a time, and whoever asks never waits.

Learning takes `lock_of(estimator)` from reading what is known to keeping what comes of it. Answers
are given by `snapshot(estimator)`: what was learned is never changed in place, so that a copy of
the attributes is one whole state, and the settings of one moment.

Locks are not attributes: an estimator is copied, pickled, cloned and shown without them.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from threading import RLock as Lock

T = TypeVar("T")

LOCKS: dict[int, Lock] = {}
"""By the id of the estimator, which is no other's until it is gone, and its entry with it."""
_ALIVE: dict[int, weakref.ref[object]] = {}
"""References that take an estimator's lock away when it is gone; nobody else holds them."""
_MAKING = threading.Lock()
"""Who makes a lock holds this one, so that no estimator gets two."""


def lock_of(estimator: object) -> Lock:
    """Return the lock of an estimator; who holds it may take it again."""
    found = LOCKS.get(id(estimator))
    return _made(estimator) if found is None else found


def _made(estimator: object) -> Lock:
    key = id(estimator)

    def forget(_: object) -> None:
        LOCKS.pop(key, None)
        _ALIVE.pop(key, None)

    with _MAKING:
        found = LOCKS.get(key)
        if found is None:
            _ALIVE[key] = weakref.ref(estimator, forget)
            found = LOCKS[key] = threading.RLock()
    return found


def snapshot(estimator: T) -> T:
    """Return an estimator with the attributes of this moment."""
    view = object.__new__(type(estimator))
    view.__dict__ = estimator.__dict__.copy()  # in one step: nobody comes between
    return view


def _after_fork() -> None:
    """Let a child begin with free locks: the threads that held them are not in it."""
    global _MAKING  # noqa: PLW0603
    _MAKING = threading.Lock()
    LOCKS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
