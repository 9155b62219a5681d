"""The laws that statistics obey, published: for ours, and for your own.

Anything with `+`, `-`, `scaled`, `weight`, `to_arrays` and `from_arrays` can be held to them. A law
that does not hold is an AssertionError that names the law, the field and the two numbers.

>>> import numpy as np
>>> from dataclasses import dataclass
>>> @dataclass
... class Total:
...     weight: float
...     total: np.ndarray
...
...     @classmethod
...     def of(cls, rows, weights=None):
...         w = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)
...         return cls(float(w.sum()), w @ rows)
...
...     def __add__(self, other):
...         return type(self)(self.weight + other.weight, self.total + other.total)
...
...     def __sub__(self, other):
...         if other.weight > self.weight:
...             raise ValueError("nothing has negative weight")
...         return type(self)(self.weight - other.weight, self.total - other.total)
...
...     def scaled(self, factor):
...         return type(self)(self.weight * factor, self.total * factor)
...
...     def to_arrays(self):
...         return {"weight": np.asarray(self.weight), "total": self.total}
...
...     @classmethod
...     def from_arrays(cls, arrays):
...         return cls(float(arrays["weight"]), arrays["total"])
>>> rows = np.random.default_rng(0).normal(size=(20, 2))
>>> from suffice.testing import check_statistics
>>> check_statistics(Total.of, rows)

A sum of sums holds. An average of averages forgets how many rows each side had:

>>> class Careless(Total):
...     def __add__(self, other):
...         return type(self)(self.weight + other.weight, (self.total + other.total) / 2)
>>> check_statistics(Careless.of, rows)
Traceback (most recent call last):
AssertionError: nothing, added, changes nothing: total[0] is ...

Searches by Hypothesis (the extra `testing`) start from `batches` and `row_weights`: rows that
repeat, batches without rows, classes of one row, labels never seen, missing cells, weights of zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.facade import lazy

if TYPE_CHECKING:
    from suffice.testing.laws import (
        Batch,
        batches,
        check_arrays_round_trip,
        check_associative,
        check_batches_add_up,
        check_commutative,
        check_forgetting,
        check_forgetting_unseen,
        check_identity,
        check_leave_one_out,
        check_scaling,
        check_scaling_is_repetition,
        check_statistics,
        check_weights_are_repetitions,
        row_weights,
    )
    from suffice.testing.same import assert_same

__all__ = [
    "Batch",
    "assert_same",
    "batches",
    "check_arrays_round_trip",
    "check_associative",
    "check_batches_add_up",
    "check_commutative",
    "check_forgetting",
    "check_forgetting_unseen",
    "check_identity",
    "check_leave_one_out",
    "check_scaling",
    "check_scaling_is_repetition",
    "check_statistics",
    "check_weights_are_repetitions",
    "row_weights",
]

_find, __dir__ = lazy(
    __name__,
    {
        "suffice.testing.laws": [
            "Batch",
            "batches",
            "check_arrays_round_trip",
            "check_associative",
            "check_batches_add_up",
            "check_commutative",
            "check_forgetting",
            "check_forgetting_unseen",
            "check_identity",
            "check_leave_one_out",
            "check_scaling",
            "check_scaling_is_repetition",
            "check_statistics",
            "check_weights_are_repetitions",
            "row_weights",
        ],
        "suffice.testing.same": ["assert_same"],
    },
)

if not TYPE_CHECKING:  # a type checker knows the names above, and no others
    __getattr__ = _find
