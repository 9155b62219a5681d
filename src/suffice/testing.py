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

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from suffice.statistics.algebra import Statistics, leave_one_out, total
from suffice.statistics.by_class import KEPT
from suffice.statistics.moments.rounding import bound_of, implied_sum_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hypothesis.strategies import SearchStrategy
    from numpy.typing import NDArray

    Array = NDArray[Any]

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

RELATIVE = 1e-12
"""What the order of a few thousand additions may change, relative to what is added."""

TINY = 16.0 * float(np.finfo(np.float64).tiny)
"""Below the range of normal doubles digits are lost to underflow, whatever is done."""

ERRORS_OF_WEIGHTS = ("weight_error", "weights_error", "counts_error")
_PARTS = (
    "scatter_low", "sum_error", "anchor", "anchors", "weight_low", "weights_low", "counts_low",
    "usual", "unusual",
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
            _same_shape(f"{place}{name}", a[name], b[name], law)
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


def _same_shape(name: str, left: Array, right: Array, law: str) -> None:
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


def check_identity(a: A, empty: A, *, relative: float = RELATIVE) -> None:
    """Check that adding no rows, on either side, changes nothing."""
    law = "nothing, added, changes nothing"
    assert_same(a + empty, a, relative=relative, law=law)
    assert_same(empty + a, a, relative=relative, law=law)


def check_commutative(a: A, b: A, *, relative: float = RELATIVE) -> None:
    """Check that it does not matter who is merged into whom."""
    assert_same(a + b, b + a, relative=relative, law="a + b is b + a")


def check_associative(a: A, b: A, c: A, *, relative: float = RELATIVE) -> None:
    """Check that it does not matter which two are merged first."""
    assert_same((a + b) + c, a + (b + c), relative=relative, law="(a + b) + c is a + (b + c)")


def check_batches_add_up(
    summarize: Summarize[A], first: Array, second: Array, *, relative: float = RELATIVE
) -> None:
    """Check that merging summaries is summarizing the rows together."""
    together = summarize(np.concatenate([first, second]))
    law = "merging summaries is summarizing together"
    assert_same(summarize(first) + summarize(second), together, relative=relative, law=law)


def check_weights_are_repetitions(
    summarize: Summarize[A],
    rows: Array,
    times: Sequence[int],
    *,
    relative: float = RELATIVE,
) -> None:
    """Check that a row of weight 3 is three rows, and a row of weight 0 none."""
    counts = np.asarray(times, dtype=np.intp)
    weighted = summarize(rows, counts.astype(np.float64))
    law = "a weight counts repetitions"
    assert_same(weighted, summarize(np.repeat(rows, counts, axis=0)), relative=relative, law=law)


def check_forgetting(a: A, b: A, *, relative: float = RELATIVE) -> None:
    """Check that what was merged can be forgotten: (a + b) - b is a; all of it leaves nothing."""
    both = a + b
    law = "(a + b) - b is a"
    assert_same(both - b, a, held=[both], relative=relative, law=law)
    nothing = (both - both).weight
    if nothing != 0.0:
        raise AssertionError(f"forgetting everything leaves nothing: weight is {nothing!r}")


def check_forgetting_unseen(a: A, b: A) -> None:
    """Check that a - b, which was never merged, is refused or at least a number.

    With more weight in b than in a there is nothing that could be meant: it must be refused, by a
    ValueError. Statistics are no group; nothing has negative weight.
    """
    try:
        left = a - b
    except ValueError:
        return
    if b.weight > a.weight * (1.0 + RELATIVE):
        raise AssertionError(f"weight {b.weight:g} was forgotten from weight {a.weight:g}")
    for name, array in left.to_arrays().items():
        if np.asarray(array).dtype.kind == "f" and np.isnan(array).any():
            raise AssertionError(f"forgetting what was never merged leaves NaN in {name}")


def check_scaling(
    a: A, b: A, first: float = 0.5, second: float = 3.0, *, relative: float = RELATIVE
) -> None:
    """Check that scaling multiplies weights: it composes, distributes over +, and 0 leaves none."""
    held, composed = [a, b], a.scaled(first * second)
    assert_same(a.scaled(1.0), a, relative=relative, law="scaling by 1 changes nothing")
    law = "scaling by s, then by t, is scaling by st"
    assert_same(a.scaled(first).scaled(second), composed, held=held, relative=relative, law=law)
    apart = a.scaled(first) + b.scaled(first)
    law = "scaling distributes over +"
    assert_same((a + b).scaled(first), apart, held=held, relative=relative, law=law)
    law = "scaled by 0 nothing is left"
    assert_same(b + a.scaled(0.0), b, held=held, relative=relative, law=law)
    for factor in (0.0, first, second):
        found, meant = a.scaled(factor).weight, a.weight * factor
        if abs(found - meant) > relative * meant:
            raise AssertionError(
                f"scaling by {factor:g} multiplies weights: {found} is not {meant}"
            )


def check_scaling_is_repetition(
    summarize: Summarize[A], rows: Array, times: int = 3, *, relative: float = RELATIVE
) -> None:
    """Check that scaling by 3 is summarizing every row three times."""
    repeated = summarize(np.repeat(rows, times, axis=0))
    law = "scaling by a whole number is repeating the rows"
    assert_same(summarize(rows).scaled(float(times)), repeated, relative=relative, law=law)


def check_leave_one_out(parts: Sequence[A], *, relative: float = RELATIVE) -> None:
    """Check that leaving out each part in turn is adding up the others."""
    for i, others in enumerate(leave_one_out(parts)):
        rest = total([*parts[:i], *parts[i + 1 :]])
        assert_same(others, rest, relative=relative, law=f"all but part {i} are left")


def check_arrays_round_trip(a: A) -> None:
    """Check that plain arrays hold the whole state, bit for bit, and need no pickle."""
    law = "arrays hold the whole state"
    before = a.to_arrays()
    after = type(a).from_arrays(before).to_arrays()
    if before.keys() != after.keys():
        raise AssertionError(f"{law}: {sorted(before)} became {sorted(after)}")
    for name, array in before.items():
        one, other = np.asarray(array), np.asarray(after[name])
        if one.dtype.hasobject:
            raise AssertionError(f"{law}: {name} holds Python objects")
        _same_shape(name, one, other, law)
        if one.tobytes() != other.tobytes():
            raise AssertionError(f"{law}: {name} came back as {other}, not {one}")


def check_statistics(
    summarize: Summarize[A],
    rows: Array,
    *,
    weighted: bool = True,
    rounds: int = 20,
    seed: int = 0,
    relative: float = RELATIVE,
) -> None:
    """Check every law on random splits of the given rows, among them empty and one-row parts.

    `summarize(rows, weights)` turns an array of rows, one a line, into statistics; rows of labelled
    data may carry the label as a column. Without weights to test, say weighted=False.

    >>> from suffice.statistics import Moments
    >>> check_statistics(Moments.of, np.random.default_rng(0).normal(size=(30, 3)))
    """
    rows = np.asarray(rows)
    rng = np.random.default_rng(seed)
    empty = summarize(rows[:0])
    for turn in range(rounds):
        # Every other round draws rows with repetition, so that some are the same.
        drawn = rows[rng.integers(len(rows), size=len(rows))] if turn % 2 else rng.permutation(rows)
        edges = np.sort(rng.integers(0, len(rows) + 1, size=3))
        pieces = [*np.split(drawn, edges), drawn[:0], drawn[:1]]
        order = rng.permutation(len(pieces))
        parts = [summarize(pieces[i]) for i in order]
        a, b, c = parts[:3]
        check_identity(a, empty, relative=relative)
        check_commutative(a, b, relative=relative)
        check_associative(a, b, c, relative=relative)
        check_batches_add_up(summarize, pieces[order[0]], pieces[order[1]], relative=relative)
        check_forgetting(a, b, relative=relative)
        check_forgetting_unseen(a, b)
        check_scaling(a, b, *rng.uniform(0.1, 4.0, size=2).tolist(), relative=relative)
        check_scaling_is_repetition(summarize, pieces[order[0]], relative=relative)
        check_leave_one_out(parts, relative=relative)
        check_arrays_round_trip(total(parts))
        if weighted:
            times = rng.integers(0, 4, size=len(drawn)).tolist()
            check_weights_are_repetitions(summarize, drawn, times, relative=relative)


# What Hypothesis may draw


class Batch(NamedTuple):
    """Rows as they come: some repeated, perhaps none, with a class code each."""

    rows: NDArray[np.float64]
    codes: NDArray[np.intp]


def batches(
    width: int = 3, classes: int = 1, *, missing: bool = False, most: int = 10
) -> SearchStrategy[Batch]:
    """Return a strategy of batches of 0 … `most` rows: repeated rows, columns that never move.

    With `classes` > 1 some classes come out with one row and some with none. With `missing` some
    cells are NaN, also all cells of a row.
    """
    from hypothesis import strategies as st
    from hypothesis.extra.numpy import arrays

    # Nothing so small that its square would underflow: that loses digits by right.
    number = st.floats(-1e3, 1e3, width=32).map(lambda v: v if abs(v) > 1e-6 else 0.0)
    cell = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 0.1, *([np.nan] if missing else [])]), number)

    @st.composite
    def batch(draw: Any) -> Batch:
        size = draw(st.integers(0, most))
        kinds = draw(st.integers(min(1, size), size))
        rows = draw(arrays(np.float64, (kinds, width), elements=cell))
        if missing and kinds and draw(st.booleans()):
            rows[0] = np.nan
        codes = draw(arrays(np.intp, kinds, elements=st.integers(0, classes - 1)))
        # Fewer kinds of rows than rows: some are repeated.
        chosen = np.arange(size) % max(kinds, 1)
        return Batch(rows[chosen], codes[chosen])

    return batch()


def row_weights(size: int, *, whole: bool = False) -> SearchStrategy[NDArray[np.float64]]:
    """Return a strategy of weights for `size` rows: zeros, whole numbers, perhaps fractions."""
    from hypothesis import strategies as st
    from hypothesis.extra.numpy import arrays

    numbers = [0.0, 1.0, 2.0, 3.0] if whole else [0.0, 0.25, 0.5, 1.0, 1.7, 3.0]
    return arrays(np.float64, size, elements=st.sampled_from(numbers))
