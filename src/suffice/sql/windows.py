"""Where sums of a database are centred, and how far cells may lie from there.

Databases add doubles up one after the other, and a million roundings in one direction cost five
digits. Integers lose none: PostgreSQL and DuckDB add 64-bit integers up in 128 bits. So a cell v
enters as (v - centre)·scale with |v - centre|·scale ≤ 2³¹, and products of two such numbers,
rounded to integers, are added up exactly, in whatever order. Scales are powers of two. What the
rounding of single products costs is far below that of a double, as long as the window is not
thousands of standard deviations wide; where a first guess was poor, the extents of the cells give
a better one.
"""

# ruff: noqa: S608  every name and every text in these queries is quoted by the dialect
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from suffice.rows import FloatArray
    from suffice.sql.dialects import Cell, SqlRows

BITS = 31
"""Of one scaled cell; a product of two has 62."""
SAMPLE = 1_000
"""Rows from which the first centres and spreads are guessed."""
WIDE = 64.0
"""Standard deviations on either side that the first window holds."""
NARROWEST = 1_024.0
"""What the first window of whole numbers holds at least."""
COLUMNS = 400
"""Columns that one query tells the extents of."""
LEAST, MOST = -600, 1_000
"""Exponents of window bounds: beyond, squares and scales would leave the range of a double."""


class BeyondWindows(Exception):
    """Sums that lose digits in whole numbers; `str` says of what they are.

    Nothing is refused by it: whoever asked reads the rows instead.
    """

    def __init__(self, what: str = "cells of sizes that its whole numbers cannot hold") -> None:
        super().__init__(what)


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """Centres and scales, (1, d) for all classes or (k, d) for each.

    keys     the labels as text, in the order of the rows; None where there is one row for all
    bounds   powers of two: |v - centre| ≤ 2**bounds
    """

    centres: FloatArray
    bounds: NDArray[np.int64]
    keys: tuple[str, ...] | None = None

    @property
    def exponents(self) -> NDArray[np.int64]:
        """The scales, as powers of two."""
        return BITS - self.bounds

    def of(self, keys: Sequence[str]) -> tuple[FloatArray, NDArray[np.int64]]:
        """Return the centres and exponents of some classes, (k, d)."""
        if self.keys is None:
            places = [0] * len(keys)
        else:
            at = {key: place for place, key in enumerate(self.keys)}
            places = [at[key] for key in keys]
        return self.centres[places], self.exponents[places]

    def select(self, rows: SqlRows, cells: Sequence[Cell]) -> str:
        """Return the SELECT of y, k, w, all cells (v0, v1, …) and all scaled cells (z0, z1, …).

        A scaled cell is NULL where the cell is missing, outside the window, or not allowed.
        """
        number = rows.dialect.number
        given = f"({rows.base(cells)}{rows.dialect.fence}) AS b"
        kept = ["b.*"]
        if self.keys is not None:
            width = len(cells)
            titles = [f"c{j}" for j in range(width)] + [f"s{j}" for j in range(width)]
            values = ", ".join(
                f"({', '.join([rows.dialect.literal(key), *map(number, both)])})"
                for key, both in zip(self.keys, self._constants(), strict=True)
            )
            joined = f"(VALUES {values}) AS s(key, {', '.join(titles)})"
            given = f"{given} JOIN {joined} ON b.k = s.key"
        for j, cell in enumerate(cells):
            if self.keys is None:
                centre, bound = float(self.centres[0, j]), float(np.ldexp(1.0, self.bounds[0, j]))
                low, high = max(centre - bound, -_MAX), min(centre + bound, _MAX)
                inside = f"b.v{j} BETWEEN {number(low)} AND {number(high)}"
                c, s = number(centre), number(float(np.ldexp(1.0, self.exponents[0, j])))
            else:
                c, s = f"s.c{j}", f"s.s{j}"
                inside = f"b.v{j} IS NOT NULL"
            gap = f"(b.v{j} - {c})"
            if rows.dialect.underflows and not cell.exact:
                gap = _not_too_small(gap, s, number)
            if cell.allowed is not None:
                inside += f" AND ({cell.allowed.format(v=f'b.v{j}')})"
            kept.append(f"CASE WHEN {inside} THEN {gap} * {s} END AS z{j}")
        return f"SELECT {', '.join(kept)} FROM {given}{rows.dialect.fence}"

    def _constants(self) -> Iterator[list[float]]:
        scales = np.ldexp(1.0, self.exponents)
        for centres, own in zip(self.centres, scales, strict=True):
            yield [*centres.tolist(), *own.tolist()]


def _not_too_small(gap: str, scale: str, number: Callable[[float], str]) -> str:
    """Return a difference with 0 for what could not be squared: PostgreSQL makes that an error."""
    return f"(CASE WHEN abs{gap} > {number(2.0**-200)} / {scale} THEN {gap} ELSE {number(0.0)} END)"


_MAX = float(np.finfo(np.float64).max)
"""The largest double, which bounds of windows stay within."""


def guessed(rows: SqlRows, cells: Sequence[Cell]) -> Windows:
    """Return one window for all classes, by some rows: the first that come."""
    found = rows.run(f"SELECT * FROM ({rows.base(cells)}) AS b LIMIT {SAMPLE}")
    centres, bounds = np.zeros(len(cells)), np.zeros(len(cells), dtype=np.int64)
    for j, cell in enumerate(cells):
        values = _numbers(found.column(f"v{j}"))
        values = values[np.isfinite(values)]
        centre, spread = _middle(values)
        if cell.fixed is not None:
            spread = float(np.abs(values - cell.fixed).max(initial=0.0))
            centre = cell.fixed
        bound = spread * WIDE if spread > 0.0 else max(abs(centre), 1.0)
        if cell.exact:
            bound = max(bound, NARROWEST)
        centres[j], bounds[j] = centre, _exponent(bound)
    return Windows(centres[np.newaxis], bounds[np.newaxis])


def _middle(values: FloatArray) -> tuple[float, float]:
    """Return a centre of few digits near the mean, and the standard deviation.

    Of few digits, so that differences to it are exact wherever they can be. A column that does not
    move has its own value for a centre: then all that follows is exactly zero.
    """
    if not len(values):
        return 0.0, 0.0
    low, high = float(values.min()), float(values.max())
    if low == high:
        return low, 0.0
    unit = float(np.ldexp(1.0, _exponent(high / 2.0 - low / 2.0) + 1))
    scaled = values / unit
    spread = float(scaled.std()) * unit
    return _rounded(float(scaled.mean()) * unit, spread), spread


def _rounded(value: float, unit: float) -> float:
    """Return the multiple of the power of two below `unit` that is nearest to a value."""
    grid = float(np.ldexp(1.0, max(_exponent(unit) - 1, -1_000)))
    found = round(value / grid) * grid if abs(value / grid) < 2.0**52 else value
    return found if np.isfinite(found) else value


def _exponent(value: float) -> int:
    """Return the exponent of the least power of two that is not below a positive number."""
    mantissa, exponent = np.frexp(value)
    return int(np.clip(exponent - (mantissa == 0.5), LEAST, MOST))


@dataclass(frozen=True, slots=True, eq=False)
class Extents:
    """The least, the largest and about the mean cell of every class and column, (k, d)."""

    keys: tuple[str, ...]
    low: FloatArray
    high: FloatArray
    mean: FloatArray

    def windows(self, cells: Sequence[Cell]) -> Windows:
        """Return a window for each class that holds all its cells, and not much more."""
        centres = np.zeros_like(self.low)
        bounds = np.zeros(centres.shape, dtype=np.int64)
        for c in range(len(self.keys)):
            for j, cell in enumerate(cells):
                low, high = float(self.low[c, j]), float(self.high[c, j])
                centre = low
                if cell.fixed is not None:
                    centre = cell.fixed
                elif low < high:
                    half = high / 2.0 - low / 2.0
                    mean = float(np.clip(self.mean[c, j], low, high))
                    centre = _rounded(mean, half / 2.0**12)
                reach = max(high / 2.0 - centre / 2.0, centre / 2.0 - low / 2.0, 0.0)
                # Twice the half, and a little more: the difference itself is rounded.
                bound = _exponent(reach) + 1 if reach > 0.0 else 0
                if bound > MOST:
                    raise BeyondWindows
                centres[c, j], bounds[c, j] = centre, bound
        return Windows(centres, bounds, self.keys)


def extents(rows: SqlRows, cells: Sequence[Cell]) -> Extents:
    """Return how far the cells of every class reach; zeros where there are none."""
    tables: dict[str, list[float]] = {}
    for start in range(0, len(cells), COLUMNS):
        some = cells[start : start + COLUMNS]
        told = ", ".join(
            f"min(v{j}) AS l{j}, max(v{j}) AS h{j}, sum(v{j}) / count(v{j}) AS m{j}"
            for j in range(len(some))
        )
        found = rows.run(f"SELECT k, {told} FROM ({rows.base(some)}) AS b GROUP BY k")
        columns = [_numbers(found.column(i)) for i in range(1, found.num_columns)]
        for place, key in enumerate(found.column(0).to_pylist()):
            held = tables.setdefault(key, [0.0] * (3 * start))
            held.extend(float(np.nan_to_num(column[place], nan=0.0)) for column in columns)
    keys = tuple(sorted(tables))
    whole = np.array([tables[key] for key in keys]).reshape(len(keys), len(cells), 3)
    return Extents(keys, whole[..., 0], whole[..., 1], whole[..., 2])


def _numbers(column: Any) -> FloatArray:
    """Return a column of an answer as doubles, NaN for NULL."""
    return np.array([np.nan if v is None else float(v) for v in column.to_pylist()])
