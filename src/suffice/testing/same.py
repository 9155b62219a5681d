"""Whether two statistics are the same, within what rounding may do to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from suffice.statistics.algebra import Statistics
from suffice.statistics.by_class import KEPT
from suffice.statistics.moments.rounding import bound_of, implied_sum_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[Any]


RELATIVE = 1e-12
"""What the order of a few thousand additions may change, relative to what is added."""

TINY = 16.0 * float(np.finfo(np.float64).tiny)
"""Below the range of normal doubles digits are lost to underflow, whatever is done."""

ERRORS_OF_WEIGHTS = ("weight_error", "weights_error", "counts_error")
"""Fields that bound the rounding of weights, of which statistics have one."""
_PARTS = (
    "scatter_low", "sum_error", "anchor", "anchors", "weight_low", "weights_low", "counts_low",
    "usual", "unusual", "steps",
    *ERRORS_OF_WEIGHTS,
)  # fmt: skip
PRECISION = {*_PARTS, *(f"{name}{KEPT}" for name in _PARTS)}
"""Parts of moments that say how well the others are known, and which classes keep them."""

A = TypeVar("A", bound=Statistics)
A_co = TypeVar("A_co", bound=Statistics, covariant=True)


class Summarize(Protocol[A_co]):
    """Turns rows into statistics; `weights` are given by position, and only if they are tested."""

    def __call__(self, rows: Any, weights: Any = None, /) -> A_co:
        """Return the statistics of one batch."""
        ...


# The same, up to rounding


def assert_same(
    left: A,
    right: A,
    *,
    held: Sequence[A] = (),
    relative: float = RELATIVE,
    law: str = "these are the same",
) -> None:
    """Compare two statistics field by field, as closely as rounding allows and no closer.

    `held` are larger statistics that the two were computed from, if something was forgotten.
    Plain fields may differ by `relative` of the largest number of that field anywhere, in any
    class or fold. Where `mean`, `low`, `scatter` and `error` are kept, means may differ by
    `relative` of a standard deviation (times the weight ever held over the weight left), and
    scatters by `relative` of √(S_ii S_jj) plus the bounds that the states themselves carry
    (`Moments.bound`): √(bound_i bound_j). Parts that only say how well the others are known, such
    as `scatter_low` and `anchor`, may differ and be left out.
    """
    if type(left) is not type(right):
        raise AssertionError(f"{law}: {type(left).__name__} and {type(right).__name__}")
    ours, theirs = _groups(left.to_arrays()), _groups(right.to_arrays())
    others = [_groups(state.to_arrays()) for state in (left, right, *held)]
    heaviest = max(state.weight for state in (left, right, *held))
    for place in sorted(ours.keys() | theirs.keys()):
        a, b = ours.get(place, {}), theirs.get(place, {})
        if a.keys() != b.keys():
            raise AssertionError(f"{law}: {place}{sorted(a)} on one side, {sorted(b)} on the other")
        around = [state for groups in others for state in _alike(place, a or b, groups)]
        for name in a:
            check_shapes(f"{place}{name}", a[name], b[name], law)
        if a.keys() >= {"scatter", "error"} and _mean_of(a) is not None:
            _same_moments(place, a, b, around, heaviest, relative, law)
            continue
        for name in a:
            _same_field(f"{place}{name}", a[name], b[name], _scale(name, around) * relative, law)


def _groups(arrays: Mapping[str, Array]) -> dict[str, dict[str, Array]]:
    """Return arrays by what stands before the slash; patterns of missing cells by their names."""
    groups: dict[str, dict[str, Array]] = {"": {}}
    patterns = arrays.get("patterns")
    for name, array in arrays.items():
        place, _, field = name.rpartition("/")
        if place and patterns is not None and place.isdecimal():
            place = "".join("x" if seen else "?" for seen in patterns[int(place)])
        groups.setdefault(f"{place}/" if place else "", {})[field] = np.asarray(array)
    return {place: _with_bound(state) for place, state in groups.items()}


def _with_bound(state: dict[str, Array]) -> dict[str, Array]:
    """Return moments with what bounds the errors of their variances as their `error`, and no more.

    Other states are returned as they are.
    """
    mean = _mean_of(state)
    if mean is None or not state.keys() >= {"scatter", "error"}:
        return state
    weight = state["counts"] if "counts" in state else state.get("weight", state.get("weights"))
    weight = np.asarray(weight)
    slack = np.asarray(next((state[name] for name in ERRORS_OF_WEIGHTS if name in state), 0.0))
    if weight.ndim < mean.ndim - 1:
        weight = weight[..., np.newaxis]
        slack = slack[..., np.newaxis] if slack.ndim else slack
    anchor = state.get("anchor", state.get("anchors", mean[0]))
    away = np.abs((mean[0] - anchor) + mean[1])
    error = state["error"]
    sums = state.get("sum_error")
    if sums is None:
        sums = implied_sum_error(weight, _variances(state), error)
    held = np.where(weight > 0.0, weight, 1.0)
    more = np.where(weight > 0.0, bound_of(held, away, sums, slack), 0.0)
    bound = error + (more.sum(axis=0) if more.ndim > error.ndim else more)
    plain = {name: array for name, array in state.items() if name not in PRECISION}
    return plain | {"error": bound + 0.5 * np.finfo(np.float64).eps * _variances(state)}


def _alike(
    place: str, fields: Mapping[str, Array], groups: Mapping[str, dict[str, Array]]
) -> list[dict[str, Array]]:
    """Return what stands at a place, and at the same place of other classes and folds.

    Classes and folds are numbered, and a number says nothing: without "ham", "spam" is 0. Of
    `7/0/3/` (fold, class, columns) only the last number names the same in every state.
    """
    depth, last = place.count("/"), place.split("/")[-2:]
    of_columns = "kinds" not in fields  # else it is a class, of several kinds of columns
    return [
        state
        for at, state in groups.items()
        if at.count("/") == depth
        and state.keys() == fields.keys()
        and (at.split("/")[-2:] == last or not of_columns)
    ]


def check_shapes(name: str, left: Array, right: Array, law: str) -> None:
    """Raise an AssertionError if a field has another shape or type on either side."""
    if left.shape != right.shape or left.dtype != right.dtype:
        raise AssertionError(
            f"{law}: {name} is {left.shape} {left.dtype} on one side, "
            f"{right.shape} {right.dtype} on the other"
        )


def _same_field(name: str, left: Array, right: Array, allowed: Array | float, law: str) -> None:
    """Compare numbers within what is allowed, and anything else exactly."""
    if left.dtype.kind == "f":
        with np.errstate(invalid="ignore", over="ignore"):
            near = np.abs(left - right) <= np.asarray(allowed) + TINY
    else:
        near = np.zeros(left.shape, dtype=bool)
    differs = ~(near | (left == right))
    if differs.any():
        at = tuple(int(places[0]) for places in np.nonzero(np.atleast_1d(differs)))
        one, other = np.atleast_1d(left)[at], np.atleast_1d(right)[at]
        where = str(list(at)) if left.ndim else ""
        limit = np.broadcast_to(allowed, left.shape or (1,))[at]
        raise AssertionError(
            f"{law}: {name}{where} is {one!s} and {other!s}"
            + (f", off by {abs(one - other):.2g}; rounding allows {limit:.2g}"
               if left.dtype.kind == "f" else "")
        )  # fmt: skip


def _scale(name: str, around: Sequence[Mapping[str, Array]]) -> float:
    fields = [state[name] for state in around if name in state]
    sizes = [np.abs(field).max(initial=0.0) for field in fields if field.dtype.kind == "f"]
    return float(max(sizes, default=0.0))


def _mean_of(state: Mapping[str, Array]) -> Array | None:
    """Return mean + low, as two doubles side by side, or None where there are no moments."""
    for high, low in (("mean", "low"), ("means", "lows")):
        if high in state and low in state:
            return np.stack([state[high], state[low]])
    return None


def _variances(state: Mapping[str, Array]) -> Array:
    scatter = state["scatter"]
    return scatter if "counts" in state else np.diagonal(scatter, axis1=-2, axis2=-1)


def _same_moments(
    place: str,
    left: Mapping[str, Array],
    right: Mapping[str, Array],
    around: Sequence[Mapping[str, Array]],
    heaviest: float,
    relative: float,
    law: str,
) -> None:
    """Compare weights, means and scatters, each with the rounding that is its own."""
    for name in left.keys() - {"mean", "low", "means", "lows", "scatter", "error"}:
        _same_field(f"{place}{name}", left[name], right[name], _scale(name, around) * relative, law)
    a, b = _mean_of(left), _mean_of(right)
    assert a is not None
    assert b is not None
    # The widest class of each column, in any of the states: what rounding can have been of.
    widest = np.zeros(a.shape[-1])
    for state in around:
        if "scatter" in state:
            variances = _variances(state)
            widest = np.maximum(widest, variances.max(axis=tuple(range(variances.ndim - 1))))
    weight = left.get("counts", left.get("weight", left.get("weights")))
    assert weight is not None
    if weight.ndim < a.ndim - 1:
        weight = weight[..., np.newaxis]
    spread = np.sqrt(widest * heaviest) / np.where(weight > 0.0, weight, 1.0)
    _same_field(
        f"{place}mean", (a[0] - b[0]) + (a[1] - b[1]), np.zeros_like(a[0]), relative * spread, law
    )
    variances = np.maximum(np.maximum(_variances(left), _variances(right)), 0.0)
    error = left["error"] + right["error"]
    # A variance below its bound is set to zero, and takes its whole row of products with it.
    lost = np.where(np.minimum(_variances(left), _variances(right)) <= error, 2.0 * error, 0.0)
    allowed = relative * variances + error + lost
    if "counts" not in left:
        s, e, g = (np.sqrt(v) for v in (variances, error, lost))
        allowed = relative * _outer(s, s) + _outer(e, e)
        allowed = allowed + _outer(g, s + g) + _outer(s + g, g)
    _same_field(f"{place}scatter", left["scatter"], right["scatter"], allowed, law)


def _outer(left: Array, right: Array) -> Array:
    product: Array = left[..., :, np.newaxis] * right[..., np.newaxis, :]
    return product


# The laws
