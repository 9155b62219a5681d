"""How databases write names, texts and numbers: nothing else of a query differs between them."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isinf
from typing import TYPE_CHECKING

from suffice.errors import BadSetting, listed

if TYPE_CHECKING:
    from suffice.rows import Label


@dataclass(frozen=True, slots=True)
class Dialect:
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
                    f"{text!r:.60} holds a NUL, which PostgreSQL has no text for",
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
            f"{label!r} ({type(label).__name__}) has no form in SQL",
            hint="use text, numbers or truths as labels and levels",
        )

    def as_double(self, expression: str) -> str:
        """Return an expression turned into a double."""
        return f"CAST({expression} AS {self.double})"

    def is_nan(self, expression: str) -> str:
        """Return the condition that a double is no number, which is something else than NULL."""
        if self.name == "postgres":
            return f"{expression} = float8 'NaN'"
        return f"isnan({expression})"


DIALECTS = {
    "duckdb": Dialect("duckdb", "DOUBLE", "BIGINT", "VARCHAR"),
    "postgres": Dialect(
        "postgres",
        "float8",
        "bigint",
        "text",
        widest=1_664,
        longest=63,
        underflows=True,
        fence=" OFFSET 0",
    ),
    "spark": Dialect("spark", "DOUBLE", "BIGINT", "STRING", mark="`", backslashes=True),
}


def dialect_named(name: str) -> Dialect:
    """Return a dialect by its name, or refuse it.

    >>> dialect_named("postgres").double
    'float8'
    """
    if name not in DIALECTS:
        raise BadSetting(
            f"the SQL dialect {name!r} is not known", hint=f"choose one of {listed(DIALECTS)}"
        )
    return DIALECTS[name]
