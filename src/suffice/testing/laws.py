"""The laws of statistics, each a function that raises an AssertionError, and rows to try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.statistics.algebra import leave_one_out, total

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import SearchStrategy
    from numpy.typing import NDArray

    Array = NDArray[Any]

from suffice.testing.same import RELATIVE, A, Summarize, assert_same, check_shapes


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
        check_shapes(name, one, other, law)
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
