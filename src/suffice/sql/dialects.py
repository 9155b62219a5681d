"""How databases write names, texts and numbers, and rows as their queries see them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite, isinf
from typing import TYPE_CHECKING, Any

from suffice.errors import BadSetting, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from suffice.rows import Label


@dataclass(frozen=True, slots=True)
class SqlDialect:
    """One way to write SQL.

    name         how it is called in settings
    double       the type of numbers, text that of text, integer that of 64-bit integers
    mark         what stands around names
    widest       columns of one SELECT, at most
    longest      bytes of a name, at most
    backslashes  whether a backslash means something in a plain text literal
    underflows   whether products that are too small for a double are errors
    fence        what ends a subquery, lest its expressions be copied to wherever they are named

    >>> DIALECTS["spark"].identifier("a `b` c")
    '`a ``b`` c`'
    """

    name: str
    double: str
    integer: str
    text: str
    mark: str = '"'
    widest: int = 100_000
    longest: int = 1_000_000
    backslashes: bool = False
    underflows: bool = False
    fence: str = ""

    def identifier(self, name: str) -> str:
        """Return a name as it is written, whatever characters it has."""
        if not name or "\x00" in name:
            raise BadSetting(
                f"{name!r} cannot be the name of a column or a table in {self.name}",
                hint="rename it",
            )
        return f"{self.mark}{name.replace(self.mark, 2 * self.mark)}{self.mark}"

    def table(self, name: str) -> str:
        """Return a table's name as it is written; a dot parts it from its schema."""
        return ".".join(self.identifier(part) for part in name.split("."))

    def literal(self, text: str) -> str:
        """Return a text as a literal: no character of it can end the literal."""
        if "\x00" in text:
            if self.name == "postgres":
                raise BadSetting(
                    f"{text!r:.60} contains the character NUL, which PostgreSQL cannot store",
                    hint="rename the class or the level",
                )
            parts = (f"({self.literal(part)})" for part in text.split("\x00"))
            return "(" + " || chr(0) || ".join(parts) + ")"
        if self.backslashes:
            escaped = text.replace("\\", "\\\\").replace("'", "\\'")
            return f"'{escaped}'"
        quoted = "'" + text.replace("'", "''") + "'"
        if self.name == "postgres" and "\\" in text:
            # Right whether or not the server takes backslashes literally.
            return "E" + quoted.replace("\\", "\\\\")
        return quoted

    def number(self, value: float) -> str:
        """Return a double, digit for digit.

        >>> DIALECTS["spark"].identifier("a `b` c")
        '`a ``b`` c`'
        """
        if not isfinite(value):
            word = ("-" if value < 0 else "") + "Infinity" if isinf(value) else "NaN"
            return f"CAST('{word}' AS {self.double})"
        if self.name == "postgres":
            return f"float8 '{value!r}'"
        text = repr(float(value))
        if "e" not in text:
            # Without an exponent it would be a decimal, and arithmetic with it another.
            text += "e0"
        return f"({text})" if text.startswith("-") else text

    def label(self, label: Label) -> str:
        """Return a label or a level as a literal of its own type."""
        if isinstance(label, bool):
            return "TRUE" if label else "FALSE"
        if isinstance(label, int):
            return str(label) if label >= 0 else f"({label})"
        if isinstance(label, float):
            return self.number(label)
        if isinstance(label, str):
            return self.literal(label)
        raise BadSetting(
            f"{label!r} ({type(label).__name__}) cannot be written as SQL",
            hint="use text, numbers or true/false as labels and levels",
        )

    def as_double(self, expression: str) -> str:
        """Return an expression turned into a double."""
        return f"CAST({expression} AS {self.double})"

    def is_nan(self, expression: str) -> str:
        """Return the condition that a double is not a number, which is something else than NULL."""
        if self.name == "postgres":
            return f"{expression} = float8 'NaN'"
        return f"isnan({expression})"


DIALECTS = {
    "duckdb": SqlDialect("duckdb", "DOUBLE", "BIGINT", "VARCHAR"),
    "postgres": SqlDialect(
        "postgres",
        "float8",
        "bigint",
        "text",
        widest=1_664,
        longest=63,
        underflows=True,
        fence=" OFFSET 0",
    ),
    "spark": SqlDialect("spark", "DOUBLE", "BIGINT", "STRING", mark="`", backslashes=True),
}
"""The databases that are known. PostgreSQL has at most 1,664 columns in a result and 63 bytes in a
name (its manual, appendix K)."""


def dialect_named(name: str) -> SqlDialect:
    """Return a dialect by its name, or refuse it.

    >>> dialect_named("postgres").double
    'float8'
    """
    if name not in DIALECTS:
        raise BadSetting(
            f"the SQL dialect {name!r} is not known", hint=f"choose one of {listed(DIALECTS)}"
        )
    return DIALECTS[name]


# ruff: noqa: S608  every name and every text in these queries is quoted by the dialect


@dataclass(frozen=True, slots=True)
class Cell:
    """A number in every row.

    value    the expression: a double, NULL where the cell is missing (NaN is missing too)
    allowed  what must hold of it, with {v} for the value; None where anything finite may be
    exact    whether cells are whole numbers of moderate size by their type
    fixed    the centre that sums are to be made about; None where it is found
    """

    value: str
    allowed: str | None = None
    exact: bool = False
    fixed: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SqlRows:
    """Some rows of a database, and how to ask about them.

    rows    what stands after FROM
    label   the expression of the label; weight that of the weight, a double
    where   a condition that rows must meet, None for all
    run     asks the database: from the text of a query to an Arrow table
    refuse  refuses rows that meet a condition, if there are any
    """

    dialect: SqlDialect
    rows: str
    label: str
    weight: str | None
    where: str | None
    run: Callable[[str], Any]
    refuse: Callable[[str], None]

    def narrowed(self, condition: str) -> SqlRows:
        """Return the rows that also meet a condition."""
        return replace(self, where=_both(self.where, condition))

    def base(self, cells: Sequence[Cell]) -> str:
        """Return the SELECT of labels (y, and k as text), weights (w) and cells (v0, v1, …)."""
        chosen = [f"{self.label} AS y", f"CAST({self.label} AS {self.dialect.text}) AS k"]
        if self.weight is not None:
            chosen.append(f"{self.weight} AS w")
        chosen += [f"{cell.value} AS v{j}" for j, cell in enumerate(cells)]
        return f"SELECT {', '.join(chosen)} FROM {self.rows}{self.filter()}"

    def filter(self) -> str:
        """Return the WHERE clause: rows of weight zero are not looked at."""
        positive = None if self.weight is None else f"{self.weight} > 0"
        condition = _both(self.where, positive)
        return "" if condition is None else f" WHERE {condition}"


def any_of(conditions: Sequence[str]) -> str:
    """Return that one of several conditions holds, joined in halves: long chains nest too deep.

    >>> any_of(["a", "b", "c"])
    '(a OR (b OR c))'
    """
    if len(conditions) == 1:
        return conditions[0]
    half = len(conditions) // 2
    return f"({any_of(conditions[:half])} OR {any_of(conditions[half:])})"


def _both(one: str | None, other: str | None) -> str | None:
    if one is None or other is None:
        return other if one is None else one
    return f"({one}) AND ({other})"
