"""All columns a model knows: coding, decoding, and the union of two schemas."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.columns.column import Column, coded_levels, encode_levels, numbers_of
from suffice.errors import BadRows, BadSetting, ColumnMismatch, DifferentKinds, listed
from suffice.rows import BOOLEAN, CATEGORY, NUMBER, sorted_levels
from suffice.rows.tables import warn_of_rounding

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.rows import IntArray, Table


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns a model knows.

    >>> from suffice.rows import read_table
    >>> table = read_table(np.array([[1.5, "red"], [2.0, "blue"], [0.5, ""]], dtype=object))
    >>> columns = Columns.infer(table)
    >>> columns.coded_names
    ('x0', 'x1=blue', 'x1=red', 'x1=blank')
    >>> columns.encode(table)
    array([[1.5, 0. , 1. , 0. ],
           [2. , 1. , 0. , 0. ],
           [0.5, 0. , 0. , 1. ]])
    >>> columns.decode(columns.encode(table))
    [array([1.5, 2. , 0.5]), array(['red', 'blue', None], dtype=object)]
    """

    columns: tuple[Column, ...]
    # Derived once, since predicting a single row asks for them and should cost microseconds.
    is_plain: bool = field(init=False, repr=False, compare=False)
    named: bool = field(init=False, repr=False, compare=False)
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    width: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        given = [column.name for column in self.columns]
        known = {name for name in given if name is not None}
        if known and len(known) < len(given):
            raise BadSetting(
                f"columns {listed(given)} do not have distinct names",
                hint="give every column a distinct name, or none of them",
            )
        derive = object.__setattr__
        derive(self, "is_plain", all(column.kind == NUMBER for column in self.columns))
        derive(self, "named", bool(known))
        derive(self, "names", tuple(f"x{j}" if n is None else n for j, n in enumerate(given)))
        derive(self, "width", sum(column.width for column in self.columns))

    @classmethod
    def infer(cls, table: Table) -> Self:
        """Read the schema off a table: levels as declared, else as seen, in sorted order."""
        columns = []
        for j, kind in enumerate(table.kinds):
            levels: tuple[Hashable, ...] = ()
            if kind == CATEGORY:
                seen = dict.fromkeys(table.column(j).tolist())
                declared = table.levels[j] if table.levels is not None else None
                blank = (None,) if None in seen else ()
                if declared is None:
                    found = [level for level in seen if level is not None]
                    declared = tuple(found[place] for place in sorted_levels(found))
                levels = (*declared, *blank)
            columns.append(Column(None if table.names is None else table.names[j], kind, levels))
        return cls(tuple(columns))

    @classmethod
    def of_kinds(cls, table: Table) -> Self:
        """Read names and kinds off a table, without looking at the levels of categories."""
        names = table.names or (None,) * table.width
        pairs = zip(names, table.kinds, strict=True)
        return cls(tuple(Column(name, kind) for name, kind in pairs))

    @property
    def coded_names(self) -> tuple[str, ...]:
        """Names of the coded columns: "age", "color=red", "color=blank"."""
        names: list[str] = []
        for name, column in zip(self.names, self.columns, strict=True):
            if column.kind == CATEGORY:
                names += [f"{name}={'blank' if v is None else v}" for v in column.levels]
            else:
                names.append(name)
        return tuple(names)

    @property
    def owners(self) -> IntArray:
        """For each coded column, the index of the column it belongs to."""
        return np.repeat(np.arange(len(self.columns)), [column.width for column in self.columns])

    @property
    def is_coded(self) -> NDArray[np.bool_]:
        """For each coded column, whether it holds zeros and ones that stand for something."""
        kinds = np.array([column.kind != NUMBER for column in self.columns], dtype=bool)
        return kinds[self.owners]

    @property
    def _starts(self) -> list[int]:
        """Where the coded columns of each column begin."""
        return list(accumulate((column.width for column in self.columns), initial=0))

    @property
    def coded_places(self) -> tuple[slice, ...]:
        """Where the coded columns of each category and truth are."""
        pairs = zip(self.columns, self._starts, strict=False)
        return tuple(
            slice(start, start + column.width)
            for column, start in pairs
            if column.kind != NUMBER and column.width
        )

    def encode(self, table: Table, reader: str = "the model") -> NDArray[np.floating]:
        """Return the table as numbers, one row of `width` for each of its rows.

        A plain matrix comes back as it is, without a copy. Frames are matched by name, in
        whatever order their columns come; arrays by position. `reader` is named in refusals.
        """
        matched = self.matched(table, reader)
        if matched.whole is not None and any(column.kind == NUMBER for column in self.columns):
            warn_of_rounding(matched)
        if self.is_plain and matched.matrix is not None:
            return matched.matrix
        coded = np.zeros((matched.size, self.width))
        starts = self._starts
        for j, column in enumerate(self.columns):
            kind, start = matched.kinds[j], starts[j]
            if column.kind == CATEGORY:
                encode_levels(column, kind, matched.exact(j), self.names[j], coded[:, start:])
            else:
                coded[:, start] = numbers_of(column, kind, matched.column(j), self.names[j])
        return coded

    def matched(self, table: Table, reader: str) -> Table:
        """Return the table with its columns in our order; others are refused by name."""
        names = getattr(table, "names", None)  # sparse rows have none
        if self.named and names is not None:
            if names == self.names:
                return table
            if set(names) != set(self.names):
                self._refuse_names(names)
            places = {name: place for place, name in enumerate(names)}
            return table.take([places[name] for name in self.names])
        if table.width != len(self.columns):
            raise ColumnMismatch(
                f"X has {table.width} features, but {reader} is expecting "
                f"{len(self.columns)} features as input",
                hint=f"the columns are {listed(self.names)}",
            )
        return table

    def _refuse_names(self, given: Sequence[str]) -> None:
        extra = sorted(set(given) - set(self.names))
        missing = sorted(set(self.names) - set(given))
        problem = ["The feature names should match those that were passed during fit."]
        for title, names in (
            ("Feature names unseen at fit time:", extra),
            ("Feature names seen at fit time, yet now missing:", missing),
        ):
            if names:
                problem += [title, *(f"- {name}" for name in names[:5])]
                problem += ["- ..."] if len(names) > 5 else []
        pairs = [(name, get_close_matches(name, missing, n=1)) for name in extra]
        meant = [f"{name!r}: did you mean {match[0]!r}?" for name, match in pairs if match]
        hint = listed(meant) if meant else f"the columns are {listed(self.names)}"
        raise ColumnMismatch("\n".join(problem), hint=hint)

    def decode(self, matrix: NDArray[np.floating]) -> list[NDArray[Any]]:
        """Return the columns that coded rows stand for, one array for each.

        Numbers come back as they are, booleans by > ½ (None where NaN), categories by their
        largest coded column, so that rows sampled from a model decode as well.
        """
        self._check_width(matrix)
        decoded: list[NDArray[np.generic]] = []
        for column, start in zip(self.columns, self._starts, strict=False):
            group = matrix[:, start : start + column.width]
            if column.kind == NUMBER:
                decoded.append(group[:, 0])
            elif column.kind == BOOLEAN:
                truth, blank = group[:, 0] > 0.5, np.isnan(group[:, 0])
                if blank.any():
                    truth = truth.astype(object)
                    truth[blank] = None
                decoded.append(truth)
            else:
                levels = np.fromiter(column.levels or (None,), dtype=object)
                best = group.argmax(axis=1) if column.width else np.zeros(len(group), np.intp)
                decoded.append(levels[best])
        return decoded

    def summed(self, values: NDArray[np.floating]) -> NDArray[np.floating]:
        """Add up what coded columns contribute, for each column they belong to."""
        self._check_width(values)
        if self.width == len(self.columns) and all(c.width == 1 for c in self.columns):
            return values
        starts = np.array(self._starts)
        filled = np.diff(starts) > 0  # a category without levels contributes nothing
        total = np.zeros((len(values), len(self.columns)), dtype=values.dtype)
        if filled.any():
            total[:, filled] = np.add.reduceat(values, starts[:-1][filled], axis=1)
        return total

    def _check_width(self, matrix: NDArray[np.floating]) -> None:
        if matrix.ndim != 2 or matrix.shape[1] != self.width:
            raise ColumnMismatch(
                f"coded rows have the shape {matrix.shape}, but {self.width} columns are coded",
                hint=f"they are {listed(self.coded_names)}",
            )

    def widened(self, other: Columns) -> tuple[Columns, IntArray, IntArray]:
        """Return the schema that knows the levels of both, and where each one's columns went.

        What was coded by `self` is, in the union's coding, `self`'s columns at the first places
        and zeros elsewhere; so statistics can be embedded without reading rows again.
        """
        if self == other:
            same = np.arange(self.width)
            return self, same, same
        theirs = {c.name if other.named else j: (c, j) for j, c in enumerate(other.columns)}
        if set(theirs) != {c.name if self.named else j for j, c in enumerate(self.columns)}:
            raise DifferentKinds(
                f"the columns are not the same: {listed(self.names)} and {listed(other.names)}",
                hint="merge models of the same columns, with the same names",
            )
        union: list[Column] = []
        ours_at: list[int] = []
        theirs_at: dict[int, list[int]] = {}
        start = 0
        for j, column in enumerate(self.columns):
            match, place = theirs[column.name if self.named else j]
            if match.kind != column.kind:
                raise DifferentKinds(
                    f"{self.names[j]} is a {column.kind} in one and a {match.kind} in the other",
                    hint="read the column as the same kind in both",
                )
            both = dict.fromkeys((*column.levels, *match.levels))
            levels = [v for v in both if v is not None] + [v for v in both if v is None]
            union.append(Column(column.name, column.kind, tuple(levels)))
            at = {level: start + code for code, level in enumerate(levels)} or {None: start}
            ours_at += [at[level] for level in coded_levels(column)]
            theirs_at[place] = [at[level] for level in coded_levels(match)]
            start += union[-1].width
        in_order = [at for place in range(len(theirs_at)) for at in theirs_at[place]]
        return (
            Columns(tuple(union)),
            np.array(ours_at, dtype=np.intp),
            np.array(in_order, dtype=np.intp),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as what JSON can hold, exactly."""
        for name, column in zip(self.names, self.columns, strict=True):
            for level in column.levels:
                if not (level is None or type(level) in (str, int, float, bool)):
                    raise BadRows(
                        f"{name}: the level {level!r} ({type(level).__name__}) cannot be written",
                        hint="turn the levels into strings before fitting",
                    )
        return {
            "columns": [
                {"name": c.name, "kind": c.kind, "levels": list(c.levels)} for c in self.columns
            ]
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Return the schema that `to_dict` wrote."""
        try:
            return cls(
                tuple(
                    Column(entry["name"], entry["kind"], tuple(entry["levels"]))
                    for entry in content["columns"]
                )
            )
        except (KeyError, TypeError) as error:
            raise BadSetting(
                f"no schema can be read from {content!r:.200}: {error!r}",
                hint="pass what to_dict() returned; a file may be damaged",
            ) from None


@dataclass(frozen=True, slots=True)
class PlainColumns:
    """Columns of an array or of sparse counts: a million words need no million objects.

    >>> PlainColumns(3).names
    ('x0', 'x1', 'x2')
    """

    width: int
    named = False
    is_plain = True

    @property
    def columns(self) -> Sequence[int]:
        """One entry for each column."""
        return range(self.width)

    @property
    def names(self) -> tuple[str, ...]:
        """Names to speak of columns by."""
        return tuple(f"x{j}" for j in range(self.width))

    def matched(self, table: Any, reader: str) -> Any:
        """Return the table if it has as many columns."""
        if table.width != self.width:
            raise ColumnMismatch(
                f"X has {table.width} features, but {reader} is expecting "
                f"{self.width} features as input",
                hint=f"pass rows of {self.width} columns",
            )
        return table


NAMED = 1000
"""Columns whose names are told in a file, for people; the schema has them all."""


def first_names(columns: Columns | PlainColumns) -> list[str]:
    """Return the names of the first columns, to be read by people.

    >>> from suffice.columns import PlainColumns
    >>> first_names(PlainColumns(10**9))[:2]
    ['x0', 'x1']
    """
    some = columns
    if isinstance(columns, PlainColumns):  # there may be millions
        some = PlainColumns(min(columns.width, NAMED))
    return list(some.names[:NAMED])
