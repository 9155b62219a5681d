"""JSON lines: one object a row; what an object does not mention is blank."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from suffice.columns.spellings.spelling import spelling_of
from suffice.errors import BadFile, BadRows
from suffice.rows.cells import CATEGORY
from suffice.tables.allowances import MOST_COLUMNS, too_wide
from suffice.tables.csv.chunks import LONGEST_RECORD, TextRows
from suffice.tables.json.nested_objects import flat

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from suffice.rows.tables import Table
    from suffice.tables.csv.chunks import Record, TextLines
    from suffice.tables.table_bytes import TableBytes


SPARSEST = 1000
"""Cells of the table for each one that is mentioned, at most: reading takes time for all."""
MANY_CELLS = 100_000_000
"""Cells of a table that may be as sparse as it likes."""


class JsonTable(TextRows):
    r"""A table of JSON lines. Cells are read as in CSV: `1`, `1.0` and `"1"` are one number.

    The columns are those of all rows, in the order in which they are first mentioned. With
    `expected`, where a stream cannot be read twice, they are these and those of the first row.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from suffice.tables.table_bytes import TableBytes
    >>> place = Path(tempfile.mkdtemp()) / "a.jsonl"
    >>> _ = place.write_text('{"size": 1.5}\n{"size": null, "colour": "red"}\n')
    >>> table = JsonTable(TableBytes(place))
    >>> table.names
    ('size', 'colour')
    >>> [chunk.columns for chunk in table.text_chunks(100)]
    [[['1.5', ''], ['', 'red']]]
    """

    def __init__(self, source: TableBytes, *, expected: Collection[str] | None = None) -> None:
        super().__init__(source)
        self._decoder = json.JSONDecoder(
            parse_constant=str,
            parse_int=_Digits,  # of any length
            object_pairs_hook=_names_once,
        )
        self._spelled: frozenset[str] = frozenset()  # columns whose texts are no plain numbers
        names: dict[str, None] = {}
        rows = mentioned = 0
        if expected is None:
            with source.open() as file:
                for found in self.objects(self.lines(file)):
                    if found is None:
                        continue
                    line, row = found
                    rows, mentioned = rows + 1, mentioned + len(row)
                    if not row.keys() <= names.keys():
                        names.update(dict.fromkeys(row))
                        if len(names) > MOST_COLUMNS:
                            raise too_wide(f"{self.name}, line {line}", len(names))
        else:
            names = dict.fromkeys((*_first_names(source), *expected))
        if not names:
            raise BadFile(f"{self.name} has no columns", hint="each line is an object with names")
        if rows * len(names) > max(MANY_CELLS, SPARSEST * mentioned):
            raise BadRows(
                f"{self.name}: {rows:,} rows mention {len(names):,} names, and each row few of "
                f"them: all but one cell in {rows * len(names) // mentioned:,} are blank",
                hint="are names and values swapped? A column has the same name in all rows",
            )
        self.names = tuple(names)

    def records(self, lines: TextLines) -> Iterator[Record | None]:
        """Yield each row and the line it ends on; None where the next may have to be waited for."""
        for found in self.objects(lines):
            if found is None:
                yield None
                continue
            line, row = found
            yield line, [self._text(row.get(name), line, name) for name in self.names]

    def tables(
        self, names: Sequence[str], kinds: Sequence[str], size: int, start: int = 0
    ) -> Iterator[Table]:
        """Yield the rows of some columns, `size` at a time, as these kinds, after `start` rows."""
        pairs = zip(names, kinds, strict=True)
        self._spelled = frozenset(
            name for name, kind in pairs if kind != CATEGORY and spelling_of(kind) is not None
        )
        yield from super().tables(names, kinds, size, start)

    def objects(
        self, blocks: Iterable[list[str]]
    ) -> Iterator[tuple[int, dict[str, object]] | None]:
        """Yield objects with their lines, and None after each block of lines."""
        line = 0
        for block in blocks:
            for line, given in enumerate(block, start=line + 1):  # noqa: B020
                if given.isspace():
                    continue
                try:
                    row = self._decoder.decode(given)
                except (ValueError, RecursionError) as error:
                    raise self.unreadable(line, error) from None
                if not isinstance(row, dict):
                    raise BadRows(
                        f"{self.name}, line {line}: {given.strip()!r:.40} is not an object",
                        hint='one row per line: {"size": 1.5, "colour": "red"}',
                    )
                yield line, self.whole_row(row, line, given)
            yield None

    def whole_row(self, row: dict[str, Any], line: int, given: str) -> dict[str, object]:
        """Return an object as a row, from the text that it was given as."""
        if given.count("{") > 1:  # or in a text: nothing changes then
            row = flat(row, f"{self.name}, line {line}")
        if "\\u" in given:
            self.refuse_halves(row, line)
        return row

    def unreadable(self, line: int, error: Exception) -> BadRows:
        """Return the refusal of what is not an object."""
        hint = (
            'one object per line, such as {"size": 1.5, "colour": "red"}, or one array of objects: '
            "[{…}, {…}]"
        )
        if isinstance(error, _NamedTwice):
            hint = "rename one of them: only one could be read"
        words = str(error).partition(":")[0]
        if isinstance(error, RecursionError):
            words = "lists or objects are nested too deeply"
        return BadRows(f"{self.name}, line {line}: {words}", hint=hint)

    def refuse_halves(self, row: dict[str, Any], line: int) -> None:
        """Refuse halves of characters, from U+D800 on: no text can hold them by themselves."""
        for text in (*row, *row.values()):
            if isinstance(text, str) and any("\ud800" <= letter <= "\udfff" for letter in text):
                raise BadRows(
                    f"{self.name}, line {line}: {text!a:.40} contains half a character",
                    hint="characters beyond \\uffff are written as two halves, or as themselves",
                )

    def _text(self, value: object, line: int, name: str) -> str:
        if value is None:
            return ""
        if isinstance(value, str):
            # A number is what it is, also where texts have decimal commas: exponents say so.
            # What leaves here is a plain text: labels of any other type could not be stored.
            spelled = name in self._spelled and type(value) is _Digits
            return f"{value}e0" if spelled else str(value)
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, float):
            text = repr(value)
            return f"{text}e0" if name in self._spelled and "e" not in text else text
        raise BadRows(
            f"{self.name}, line {line}, {name}: a {type(value).__name__} is not a cell",
            hint="a cell is a number, a text, true, false or null",
        )


class _Digits(str):
    """A whole number, as it is written."""

    __slots__ = ()


class _NamedTwice(ValueError):
    """An object says two things under one name."""


def _names_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object, unless it has a name more than once: nobody knows which is meant."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise _NamedTwice(f"the name {twice!r:.60} is repeated")
    return found


def _first_names(source: TableBytes) -> tuple[str, ...]:
    """Return the names that the first row mentions."""
    start = source.peek(1)[:LONGEST_RECORD].decode("utf-8-sig", errors="ignore").lstrip(" \t\r\n[")
    with suppress(ValueError, RecursionError, BadRows):  # the reader proper says what is wrong
        row, _ = json.JSONDecoder(parse_constant=str, parse_int=str).raw_decode(start)
        if isinstance(row, dict):
            return tuple(flat(row, ""))[: MOST_COLUMNS + 1]
    return ()
