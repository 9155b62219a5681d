"""Rows of two columns: read, refused in words, and the grid they lie on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.errors import BadLabels, BadRows, BadSetting, NotANumber, NotFinite, listed
from suffice.rows import read_labels, read_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.intp]


class Plane(NamedTuple):
    """Rows of two columns, what these are called, and the ticks of a grid over them."""

    points: FloatArray
    names: tuple[str, str]
    x: FloatArray
    y: FloatArray

    @property
    def grid(self) -> FloatArray:
        """Every point of the grid, one a row, line by line."""
        return np.stack(np.meshgrid(self.x, self.y), axis=-1).reshape(-1, 2)

    def shaped(self, values: object) -> Any:
        """Return what was found for the points of the grid, laid out as the grid."""
        found = np.asarray(values)
        return found.reshape(len(self.y), len(self.x), *found.shape[1:])


def read_plane(rows: object, columns: Sequence[str] | None, grid: int) -> Plane:
    """Read rows that are to be dots in a plane, or refuse them by column or cell."""
    points, names = read_points(rows, columns)
    if grid < 2:
        raise BadSetting(
            f"grid={grid} is not a grid",
            hint="use a whole number such as 400, the points along each side",
        )
    return Plane(points, names, *(axis(values, grid) for values in points.T))


def read_points(rows: object, columns: Sequence[str] | None) -> tuple[FloatArray, tuple[str, str]]:
    """Return two finite columns that vary, and what they are called ("" if nothing is known)."""
    if hasattr(rows, "__len__") and len(rows) == 0:
        raise BadRows("there are no rows to draw", hint="give at least two different ones")
    table = read_table(rows)
    if table.width != 2:
        raise BadRows(
            f"a plane needs 2 columns, these rows have shape {(table.size, table.width)}",
            hint="fit on two columns and draw those, for instance X[:, [0, 3]]",
        )
    if table.matrix is None:
        raise BadRows(
            f"the columns are {listed(table.kinds)}, and a plane needs two numeric columns",
            hint="draw_column draws the categories of one column",
        )
    given = table.names if columns is None else tuple(columns)
    if given is not None and len(given) != 2:
        raise BadSetting(
            f"columns={given!r} names {len(given)} axes of 2", hint="name both or none"
        )
    points = table.matrix.astype(np.float64)
    refuse_unplaced(points, given)
    for j in range(2):
        if np.ptp(points[:, j]) == 0.0:
            raise BadRows(
                f"{place(j, given)} is {points[0, j]:g} in every row: it cannot be drawn",
                hint="choose a column that varies",
            )
    return points, ("", "") if given is None else (str(given[0]), str(given[1]))


def refuse_unplaced(points: FloatArray, names: Sequence[str] | None) -> None:
    """Refuse the first cell that has no place in a picture."""
    bad = ~np.isfinite(points)
    if bad.any():
        row, column = divmod(int(bad.argmax()), points.shape[1])
        raise NotFinite(
            f"row {row}, {place(column, names)}: {points[row, column]:g} cannot be drawn",
            hint="draw only rows with values in both columns",
        )


def place(column: int, names: Sequence[str] | None) -> str:
    """Return what a column is called in a refusal."""
    return f"column {column}" if names is None else str(names[column])


def read_numbers(values: object, what: str) -> FloatArray:
    """Return plain numbers as an array; `what` they are is named when they are none."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise NotANumber(
            f"{what} are not an array of numbers: {values!r:.60}",
            hint="give nested lists or arrays",
        ) from None


def axis(values: FloatArray, grid: int) -> FloatArray:
    """Return `grid` positions over the observed range and a little more."""
    low, high = float(values.min()), float(values.max())
    margin = 0.1 * (high - low) or 1.0
    return np.linspace(low - margin, high + margin, grid)


def class_codes(model: Any, labels: object, size: int) -> IntArray:
    """Return the place of each label among the classes; -1 for a label the model never saw."""
    found = read_labels(labels)
    if len(found.codes) != size:
        raise BadLabels(
            f"{len(found.codes)} labels for {size} rows", hint="give one label for each row"
        )
    known = {label: k for k, label in enumerate(np.asarray(model.classes_).tolist())}
    places = [known.get(label, -1) for label in found.classes.tolist()]
    codes: IntArray = np.array(places, dtype=np.intp)[found.codes]
    return codes


def class_names(model: Any, classes: Sequence[str] | None) -> list[str]:
    """Return what classes are called in a legend: as given, else by their labels."""
    known = [str(label) for label in np.asarray(model.classes_).tolist()]
    if classes is None:
        return known
    if len(classes) != len(known):
        raise BadSetting(
            f"{len(classes)} names for {len(known)} classes",
            hint=f"name each of {listed(known)}, in this order",
        )
    return [str(name) for name in classes]
